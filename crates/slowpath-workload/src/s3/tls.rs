//! TLS settings of both ends (rustls with ring), and a connection with or without it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};

use slowpath_units::Duration;

use super::error::HttpError;
use crate::context::Context;
use crate::socket;

/// What a client needs to speak TLS with a store.
#[derive(Debug, Clone)]
pub struct ClientTls {
    config: Arc<rustls::ClientConfig>,
    name: ServerName<'static>,
}

/// What an endpoint needs to speak TLS: its certificate and key.
#[derive(Debug, Clone)]
pub struct ServerTls(Arc<rustls::ServerConfig>);

/// Whom a client believes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorities {
    /// The certificate authorities of this system.
    System,
    /// Those in this PEM text alone.
    Pem(Vec<u8>),
}

/// TLS that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The store's name is none.
    #[error("\"{0}\" is neither a host name nor an address; a certificate is checked against one of them")]
    Name(String),
    /// There is no certificate authority.
    #[error("no certificate authority was found {place}; give the one of the store as PEM file")]
    Authorities {
        /// Where it was looked for.
        place: &'static str,
    },
    /// A PEM text cannot be read.
    #[error("reading {what} from PEM text: {problem}; expected \"-----BEGIN ...\" blocks")]
    Pem {
        /// A certificate or a key.
        what: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// Certificate or key cannot be used.
    #[error("setting up TLS: {0}")]
    Setup(#[from] rustls::Error),
}

impl ClientTls {
    /// Settings for a store called `name`, a host name or an address, TLS 1.2 or 1.3.
    ///
    /// # Errors
    /// No such name, or no authorities.
    pub fn new(name: &str, authorities: &Authorities) -> Result<Self, TlsError> {
        let name = ServerName::try_from(name.to_owned()).map_err(|_| TlsError::Name(name.to_owned()))?;
        let (certificates, place) = match authorities {
            Authorities::System => (
                rustls_native_certs::load_native_certs().certs,
                "in this system's store (Debian package ca-certificates)",
            ),
            Authorities::Pem(text) => (certificates(text)?, "in the PEM file"),
        };
        let mut roots = rustls::RootCertStore::empty();
        if roots.add_parsable_certificates(certificates).0 == 0 {
            return Err(TlsError::Authorities { place });
        }
        let config = rustls::ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            config: Arc::new(config),
            name,
        })
    }
}

impl ServerTls {
    /// An endpoint with the certificate chain and the private key in these PEM texts.
    ///
    /// # Errors
    /// A text that is not PEM, or a key that does not fit.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Pem {
            what: "a private key",
            problem: error.to_string(),
        })?;
        let config = rustls::ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(certificates(chain)?, key)?;
        Ok(Self(Arc::new(config)))
    }
}

fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    CertificateDer::pem_slice_iter(text)
        .collect::<Result<_, _>>()
        .map_err(|error| TlsError::Pem {
            what: "certificates",
            problem: error.to_string(),
        })
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A connection that carries HTTP.
#[derive(Debug)]
pub(super) struct Wire {
    stream: Arc<TcpStream>,
    tls: Option<Box<rustls::Connection>>,
}

impl Wire {
    pub(super) const fn plain(stream: Arc<TcpStream>) -> Self {
        Self { stream, tls: None }
    }

    /// A client's connection, with the handshake done.
    pub(super) fn client(
        stream: Arc<TcpStream>,
        tls: Option<&ClientTls>,
        context: &Context,
    ) -> Result<Self, HttpError> {
        let Some(tls) = tls else {
            return Ok(Self::plain(stream));
        };
        let session = rustls::ClientConnection::new(Arc::clone(&tls.config), tls.name.clone())
            .map_err(|error| failed(&stream, error))?;
        Self::with_handshake(stream, session.into(), context)
    }

    /// An endpoint's connection, with the handshake done.
    pub(super) fn server(
        stream: Arc<TcpStream>,
        tls: Option<&ServerTls>,
        context: &Context,
    ) -> Result<Self, HttpError> {
        let Some(ServerTls(config)) = tls else {
            return Ok(Self::plain(stream));
        };
        let session =
            rustls::ServerConnection::new(Arc::clone(config)).map_err(|error| failed(&stream, error))?;
        Self::with_handshake(stream, session.into(), context)
    }

    fn with_handshake(
        stream: Arc<TcpStream>,
        mut tls: rustls::Connection,
        context: &Context,
    ) -> Result<Self, HttpError> {
        let patience = context.clone().within(HANDSHAKE_WAIT);
        let mut step = || -> Result<bool, HttpError> {
            flush(&mut tls, &stream, HANDSHAKE, &patience)?;
            if tls.is_handshaking() && pull(&mut tls, &stream, HANDSHAKE, &patience)? == 0 {
                return Err(HttpError::Closed("within the TLS handshake"));
            }
            Ok(tls.is_handshaking() || tls.wants_write())
        };
        loop {
            match step() {
                Ok(true) => {}
                Ok(false) => break,
                // The other side says nothing, but there is time for more.
                Err(HttpError::Socket(_)) if patience.check().is_err() && context.check().is_ok() => {
                    return Err(HttpError::NoTls(socket::peer(&stream), HANDSHAKE_WAIT));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            stream,
            tls: Some(Box::new(tls)),
        })
    }

    /// Reads some bytes; 0 at the end of the stream.
    ///
    /// A TLS connection that ends without a farewell ends like any other: HTTP's own lengths tell what is missing.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        doing: &'static str,
        context: &Context,
    ) -> Result<usize, HttpError> {
        let Some(tls) = &mut self.tls else {
            return Ok(socket::read(&self.stream, buffer, doing, context)?);
        };
        loop {
            match tls.reader().read(buffer) {
                Ok(len) => return Ok(len),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Ok(0),
            }
            pull(tls, &self.stream, doing, context)?;
        }
    }

    /// Writes all bytes.
    pub(super) fn write_all(
        &mut self,
        mut bytes: &[u8],
        doing: &'static str,
        context: &Context,
    ) -> Result<(), HttpError> {
        let Some(tls) = &mut self.tls else {
            return Ok(socket::write_all(&self.stream, bytes, doing, context)?);
        };
        while !bytes.is_empty() {
            // Into memory, as much as rustls buffers; it cannot fail.
            let taken = tls.writer().write(bytes).unwrap_or(0);
            bytes = &bytes[taken..];
            flush(tls, &self.stream, doing, context)?;
        }
        Ok(())
    }
}

/// Sends what the session has to send.
fn flush(
    tls: &mut rustls::Connection,
    stream: &TcpStream,
    doing: &'static str,
    context: &Context,
) -> Result<(), HttpError> {
    while tls.wants_write() {
        socket::again(stream, doing, context, |mut stream| tls.write_tls(&mut stream))?;
    }
    Ok(())
}

/// Gives the session what has arrived; 0 at the end of the stream.
fn pull(
    tls: &mut rustls::Connection,
    stream: &TcpStream,
    doing: &'static str,
    context: &Context,
) -> Result<usize, HttpError> {
    let len = socket::again(stream, doing, context, |mut stream| tls.read_tls(&mut stream))?;
    if let Err(error) = tls.process_new_packets() {
        // The other side should hear why.
        let _ = flush(tls, stream, doing, context);
        return Err(failed(stream, error));
    }
    Ok(len)
}

fn failed(stream: &TcpStream, source: rustls::Error) -> HttpError {
    HttpError::Tls {
        peer: socket::peer(stream),
        source,
    }
}

const HANDSHAKE: &str = "the TLS handshake with";
const HANDSHAKE_WAIT: Duration = Duration::from_secs(10);
