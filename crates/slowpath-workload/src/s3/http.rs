//! HTTP/1.1 (RFC 9112), as much of it as object stores need: bodies with a length or in chunks.
//!
//! `httparse` reads heads and the sizes of chunks; which socket they come from, and when, stays ours.

use super::error::HttpError;
use super::tls::Wire;
use crate::context::Context;

/// The first line and the headers of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Head {
    /// Of a request; empty in an answer.
    pub(super) method: String,
    pub(super) target: String,
    /// Of an answer; 0 in a request.
    pub(super) status: u16,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
}

/// What kind of message is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Answer,
}

impl Head {
    /// Reads a head from the beginning of `held`, with its length; nothing while it is not complete.
    fn parse(kind: Kind, held: &[u8]) -> Result<Option<(Self, usize)>, HttpError> {
        let mut space = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let malformed = |error: httparse::Error| HttpError::Malformed(error.to_string());
        let (mut head, used) = match kind {
            Kind::Request => {
                let mut request = httparse::Request::new(&mut space);
                let status = request.parse(held).map_err(malformed)?;
                let httparse::Status::Complete(used) = status else {
                    return Ok(None);
                };
                let head = Self {
                    method: request.method.unwrap_or_default().to_owned(),
                    target: request.path.unwrap_or_default().to_owned(),
                    ..Self::default()
                };
                (head, used)
            }
            Kind::Answer => {
                let mut answer = httparse::Response::new(&mut space);
                let status = answer.parse(held).map_err(malformed)?;
                let httparse::Status::Complete(used) = status else {
                    return Ok(None);
                };
                let head = Self {
                    status: answer.code.unwrap_or_default(),
                    ..Self::default()
                };
                (head, used)
            }
        };
        let given = space.iter().filter(|header| !header.name.is_empty());
        head.headers = given
            .map(|header| {
                let value = String::from_utf8_lossy(header.value).trim().to_owned();
                (header.name.to_ascii_lowercase(), value)
            })
            .collect();
        Ok(Some((head, used)))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
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
    pub(super) fn head(
        &mut self,
        kind: Kind,
        stream: &mut Wire,
        context: &Context,
    ) -> Result<Option<Head>, HttpError> {
        loop {
            let held = &self.buffer[self.start..self.end];
            if let Some((head, used)) = Head::parse(kind, held)? {
                self.start += used;
                return Ok(Some(head));
            }
            if held.len() > MAX_HEAD {
                return Err(HttpError::Malformed(format!(
                    "a head of more than {MAX_HEAD} bytes"
                )));
            }
            let empty = held.is_empty();
            if self.fill(stream, context)? == 0 {
                return if empty {
                    Ok(None)
                } else {
                    Err(HttpError::Closed("within the headers"))
                };
            }
        }
    }

    /// The size of the next chunk, from the line before it.
    fn chunk_size(&mut self, stream: &mut Wire, context: &Context) -> Result<u64, HttpError> {
        loop {
            let held = &self.buffer[self.start..self.end];
            let read = httparse::parse_chunk_size(held)
                .map_err(|error| HttpError::Malformed(format!("the size of a chunk: {error}")))?;
            if let httparse::Status::Complete((used, size)) = read {
                self.start += used;
                return Ok(size);
            }
            if held.len() > MAX_LINE || self.fill(stream, context)? == 0 {
                return Err(HttpError::Closed("between chunks"));
            }
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
                    let size = self.chunk_size(stream, context)?;
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
const MAX_HEAD: usize = 64 * 1024;
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
            .head(Kind::Answer, &mut stream, &context)?
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
        assert_eq!((head.status, body.as_slice()), (200, b"hello".as_slice()));
        let (_, body) =
            read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nT: 1\r\n\r\n")
                .unwrap();
        assert_eq!(body, b"hello");
        let (head, body) = read(b"HTTP/1.0 404 Not Found\nConnection: close\n\nhello").unwrap();
        assert_eq!(
            (head.status, head.closes(), body.as_slice()),
            (404, true, b"hello".as_slice())
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
