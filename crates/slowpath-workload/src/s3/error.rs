//! Why an exchange of HTTP messages failed.

use crate::socket::SocketError;

/// A message that is not HTTP, or more of it than is sensible.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The connection failed or the context ended.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The two sides do not agree on TLS, or the certificate is not believed.
    #[error("TLS with {peer}: {source}; {}", tls_hint(source))]
    Tls {
        /// The other end.
        peer: std::net::SocketAddr,
        /// What rustls found.
        source: rustls::Error,
    },
    /// The other side does not speak TLS.
    #[error("{0} did not finish a TLS handshake within {1}; does the store speak TLS on this port?")]
    NoTls(std::net::SocketAddr, slowpath_units::Duration),
    /// The other side closed the connection in the middle.
    #[error("the other side closed the connection {0}")]
    Closed(&'static str),
    /// The message cannot be read.
    #[error("not an HTTP message: {0}")]
    Malformed(String),
}

fn tls_hint(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidCertificate(
            rustls::CertificateError::UnknownIssuer | rustls::CertificateError::BadSignature,
        ) => "its authority is not among those believed: give the authority's certificate",
        rustls::Error::InvalidCertificate(_) => {
            "the certificate must be valid now, and for the name in the address"
        }
        rustls::Error::InvalidMessage(_) => "does the store speak TLS on this port?",
        _ => "the store's own log may say more",
    }
}
