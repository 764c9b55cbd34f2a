//! HTTP/1.1 (RFC 9112), as much of it as object stores need: bodies with a length or in chunks.

use super::tls::Wire;
use crate::context::Context;
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

/// The first line and the headers of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Head {
    /// Request line or status line.
    pub(super) first: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
}

impl Head {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    /// The status code of an answer.
    pub(super) fn status(&self) -> Option<u16> {
        let mut words = self.first.split(' ');
        words.next().filter(|version| version.starts_with("HTTP/1."))?;
        words.next()?.parse().ok()
    }

    /// Method and target of a request.
    pub(super) fn request(&self) -> Option<(&str, &str)> {
        let mut words = self.first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        version.starts_with("HTTP/1.").then_some((method, target))
    }

    /// Whether the connection ends with this message.
    pub(super) fn closes(&self) -> bool {
        self.header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// How long a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    Known(u64),
    Chunked,
    UntilClose,
}

impl Length {
    /// Of a request (RFC 9112, section 6.3): without a header there is no body.
    pub(super) fn of_request(head: &Head) -> Result<Self, HttpError> {
        match Self::of_response(head)? {
            Self::UntilClose => Ok(Self::Known(0)),
            known => Ok(known),
        }
    }

    /// Of an answer.
    pub(super) fn of_response(head: &Head) -> Result<Self, HttpError> {
        if head
            .header("transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
        {
            return Ok(Self::Chunked);
        }
        match head.header("content-length") {
            None => Ok(Self::UntilClose),
            Some(text) => text
                .parse()
                .map(Self::Known)
                .map_err(|_| HttpError::Malformed(format!("content-length {text}"))),
        }
    }
}

/// A connection with what has been read and not yet used.
#[derive(Debug)]
pub(super) struct Reader {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
        }
    }

    /// Reads more; 0 at the end of the stream.
    fn fill(&mut self, stream: &mut Wire, context: &Context) -> Result<usize, HttpError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let len = stream.read(&mut self.buffer[self.end..], "reading from", context)?;
        self.end += len;
        Ok(len)
    }

    fn line(&mut self, stream: &mut Wire, context: &Context) -> Result<Option<String>, HttpError> {
        loop {
            let held = &self.buffer[self.start..self.end];
            if let Some(at) = held.iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&held[..at])
                    .trim_end_matches('\r')
                    .to_owned();
                self.start += at + 1;
                return Ok(Some(line));
            }
            if held.len() > MAX_LINE {
                return Err(HttpError::Malformed(format!(
                    "a line of more than {MAX_LINE} bytes"
                )));
            }
            let empty = held.is_empty();
            if self.fill(stream, context)? == 0 {
                return if empty {
                    Ok(None)
                } else {
                    Err(HttpError::Closed("within a line"))
                };
            }
        }
    }

    /// The next message's head; nothing if the other side closed before it.
    pub(super) fn head(&mut self, stream: &mut Wire, context: &Context) -> Result<Option<Head>, HttpError> {
        let Some(first) = self.line(stream, context)? else {
            return Ok(None);
        };
        let mut head = Head {
            first,
            headers: Vec::new(),
        };
        loop {
            let line = self
                .line(stream, context)?
                .ok_or(HttpError::Closed("within the headers"))?;
            if line.is_empty() {
                return Ok(Some(head));
            }
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| HttpError::Malformed(format!("header {line:?}")))?;
            if head.headers.len() >= MAX_HEADERS {
                return Err(HttpError::Malformed(format!("more than {MAX_HEADERS} headers")));
            }
            head.headers
                .push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// Reads a body and hands it over piece by piece; returns its length.
    pub(super) fn body(
        &mut self,
        length: Length,
        stream: &mut Wire,
        context: &Context,
        take: &mut dyn FnMut(&[u8]) -> Result<(), HttpError>,
    ) -> Result<u64, HttpError> {
        match length {
            Length::Known(bytes) => self.bytes(bytes, stream, context, take),
            Length::UntilClose => {
                let mut total = 0;
                loop {
                    let held = &self.buffer[self.start..self.end];
                    take(held)?;
                    total += held.len() as u64;
                    self.start = self.end;
                    if self.fill(stream, context)? == 0 {
                        return Ok(total);
                    }
                }
            }
            Length::Chunked => {
                let mut total = 0;
                loop {
                    let line = self
                        .line(stream, context)?
                        .ok_or(HttpError::Closed("between chunks"))?;
                    let size = line.split(';').next().unwrap_or_default().trim();
                    let size = u64::from_str_radix(size, 16)
                        .map_err(|_| HttpError::Malformed(format!("chunk size {line:?}")))?;
                    if size == 0 {
                        // Trailers, up to the empty line.
                        while self.line(stream, context)?.is_some_and(|line| !line.is_empty()) {}
                        return Ok(total);
                    }
                    total += self.bytes(size, stream, context, take)?;
                    self.line(stream, context)?;
                }
            }
        }
    }

    fn bytes(
        &mut self,
        wanted: u64,
        stream: &mut Wire,
        context: &Context,
        take: &mut dyn FnMut(&[u8]) -> Result<(), HttpError>,
    ) -> Result<u64, HttpError> {
        let mut left = wanted;
        while left > 0 {
            if self.start == self.end && self.fill(stream, context)? == 0 {
                return Err(HttpError::Closed("within a body"));
            }
            let held = (self.end - self.start).min(usize::try_from(left).unwrap_or(usize::MAX));
            take(&self.buffer[self.start..self.start + held])?;
            self.start += held;
            left -= held as u64;
        }
        Ok(wanted)
    }
}

const BUFFER: usize = 128 * 1024;
const MAX_LINE: usize = 16 * 1024;
const MAX_HEADERS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(text: &[u8]) -> Result<(Head, Vec<u8>), HttpError> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let mut stream = Wire::plain(std::sync::Arc::new(stream));
        sender.write_all(text).unwrap();
        drop(sender);
        let context = Context::new().with_timeout(slowpath_units::Duration::from_secs(5));
        let mut reader = Reader::new();
        let head = reader
            .head(&mut stream, &context)?
            .ok_or(HttpError::Closed("at once"))?;
        let mut body = Vec::new();
        reader.body(Length::of_response(&head)?, &mut stream, &context, &mut |bytes| {
            body.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok((head, body))
    }

    #[test]
    fn reads_every_kind_of_body() {
        let (head, body) = read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
        assert_eq!((head.status(), body.as_slice()), (Some(200), b"hello".as_slice()));
        let (_, body) =
            read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nT: 1\r\n\r\n")
                .unwrap();
        assert_eq!(body, b"hello");
        let (head, body) = read(b"HTTP/1.0 404 Not Found\nConnection: close\n\nhello").unwrap();
        assert_eq!(
            (head.status(), head.closes(), body.as_slice()),
            (Some(404), true, b"hello".as_slice())
        );
    }

    #[test]
    fn refuses_what_is_not_http() {
        for text in [
            &b""[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
        assert!(read(&vec![b'A'; 20_000]).is_err());
    }

    #[test]
    fn mutated_answers_end_in_a_result() {
        let good = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n\r\n";
        for at in 0..good.len() {
            for byte in [0, b'\n', b':', b'f', 0xff] {
                let mut mutated = good.to_vec();
                mutated[at] = byte;
                // Any result will do, as long as there is one.
                let _ = read(&mutated);
            }
        }
    }
}
