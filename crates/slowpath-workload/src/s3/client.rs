//! Single requests on one connection.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use slowpath_units::Time;

use super::error::HttpError;
use super::http::{Head, Kind, Length, Reader};
use super::sign::{self, Credentials, PayloadHash, Request};
use super::tls::{ClientTls, Wire};
use crate::content::Content;
use crate::context::Context;
use crate::socket::{SocketError, SocketOptions};

/// Where the objects are.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The server.
    pub address: SocketAddr,
    /// Value of the `host` header; the address if absent.
    pub host: Option<String>,
    /// The bucket; requests address it by path.
    pub bucket: String,
    /// Who asks.
    pub credentials: Credentials,
    /// Whether content is part of the signature.
    pub payload_hash: PayloadHash,
    /// Options of the connections.
    pub socket: SocketOptions,
    /// TLS; plain HTTP if absent.
    pub tls: Option<ClientTls>,
}

/// A request that failed.
#[derive(Debug, thiserror::Error)]
pub enum S3Error {
    /// The address may not be loaded.
    #[error(transparent)]
    Refused(#[from] crate::guard::Refused),
    /// The connection failed or brought no HTTP.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The server refused.
    #[error("the object store answered {status} to {request}: {message}")]
    Status {
        /// Method and path.
        request: String,
        /// HTTP status.
        status: u16,
        /// The beginning of its answer.
        message: String,
    },
    /// The object is not what was stored.
    #[error("byte {0} of the object differs from what was stored")]
    Corrupt(u64),
    /// The settings make no sense.
    #[error("{0}")]
    Config(&'static str),
}

impl From<SocketError> for S3Error {
    fn from(error: SocketError) -> Self {
        Self::Http(HttpError::Socket(error))
    }
}

/// What a request sends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body<'a> {
    Bytes(&'a [u8]),
    /// A part of the stream of a seed.
    Content {
        content: Content,
        offset: u64,
        len: u64,
    },
}

impl Body<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Content { len, .. } => *len,
        }
    }
}

/// When the parts of a request happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// The request was begun.
    pub start: Time,
    /// The answer's first line had come.
    pub first_byte: Time,
    /// The answer's last byte had come.
    pub end: Time,
}

/// What a request brought.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
    pub(super) received: u64,
    pub(super) timing: Timing,
}

/// What is done with the content of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Take {
    /// Kept, up to a megabyte: XML.
    Keep,
    /// Counted.
    Discard,
    /// Compared with a stream from this offset on.
    Verify(Content, u64),
}

/// One connection to an object store, opened when it is first needed and again after the server closed it.
#[derive(Debug)]
pub struct Client<'a> {
    endpoint: &'a Endpoint,
    context: &'a Context,
    connection: Option<(Wire, Reader)>,
    /// Connections opened so far.
    pub(super) opened: Vec<Arc<TcpStream>>,
}

impl<'a> Client<'a> {
    /// A client without connection.
    pub fn new(endpoint: &'a Endpoint, context: &'a Context) -> Self {
        Self {
            endpoint,
            context,
            connection: None,
            opened: Vec::new(),
        }
    }

    /// Creates the bucket; one that exists already is no error.
    ///
    /// # Errors
    /// The request failed.
    pub fn create_bucket(&mut self) -> Result<(), S3Error> {
        match self.request("PUT", "", &[], &[], Body::Bytes(b""), Take::Keep) {
            Err(S3Error::Status { status: 409, .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Stores an object of `len` bytes from the stream of `content`.
    ///
    /// # Errors
    /// The request failed.
    pub fn put(&mut self, key: &str, content: Content, len: u64) -> Result<Timing, S3Error> {
        let body = Body::Content {
            content,
            offset: 0,
            len,
        };
        self.request("PUT", key, &[], &[], body, Take::Keep)
            .map(|answer| answer.timing)
    }

    /// Reads an object, or `len` bytes from `offset` of it; returns the bytes received.
    ///
    /// # Errors
    /// The request failed, or the content is not that of `expected`.
    pub fn get(
        &mut self,
        key: &str,
        range: Option<(u64, u64)>,
        expected: Option<Content>,
    ) -> Result<(u64, Timing), S3Error> {
        let header = range.map(|(offset, len)| {
            (
                "range",
                format!("bytes={offset}-{}", offset + len.saturating_sub(1)),
            )
        });
        let offset = range.map_or(0, |(offset, _)| offset);
        let take = expected.map_or(Take::Discard, |content| Take::Verify(content, offset));
        let headers: Vec<_> = header.into_iter().collect();
        let answer = self.request("GET", key, &[], &headers, Body::Bytes(b""), take)?;
        Ok((answer.received, answer.timing))
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// The request failed.
    pub fn delete(&mut self, key: &str) -> Result<(), S3Error> {
        self.request("DELETE", key, &[], &[], Body::Bytes(b""), Take::Keep)
            .map(drop)
    }

    /// Begins a multipart upload; returns its id.
    ///
    /// # Errors
    /// The request failed, or the answer has no id.
    pub fn begin_upload(&mut self, key: &str) -> Result<String, S3Error> {
        let answer = self.request(
            "POST",
            key,
            &[("uploads", String::new())],
            &[],
            Body::Bytes(b""),
            Take::Keep,
        )?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        element(&text, "UploadId")
            .map(str::to_owned)
            .ok_or_else(|| S3Error::Http(HttpError::Malformed("no UploadId in the answer".to_owned())))
    }

    /// Uploads part `number` (from 1); returns its entity tag.
    ///
    /// # Errors
    /// The request failed, or the answer has no tag.
    pub fn put_part(
        &mut self,
        key: &str,
        upload: &str,
        number: u32,
        content: Content,
        range: (u64, u64),
    ) -> Result<(String, Timing), S3Error> {
        let query = [
            ("partNumber", number.to_string()),
            ("uploadId", upload.to_owned()),
        ];
        let body = Body::Content {
            content,
            offset: range.0,
            len: range.1,
        };
        let answer = self.request("PUT", key, &query, &[], body, Take::Keep)?;
        let tag = answer.head.header("etag").map(str::to_owned);
        let tag =
            tag.ok_or_else(|| S3Error::Http(HttpError::Malformed("no ETag in the answer".to_owned())))?;
        Ok((tag, answer.timing))
    }

    /// Completes a multipart upload from the tags of its parts, in order.
    ///
    /// # Errors
    /// The request failed.
    pub fn complete_upload(&mut self, key: &str, upload: &str, tags: &[String]) -> Result<Timing, S3Error> {
        use std::fmt::Write;
        let mut text = String::from("<CompleteMultipartUpload>");
        for (number, tag) in (1..).zip(tags) {
            let tag = tag.replace('"', "&quot;");
            let written = write!(
                text,
                "<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"
            );
            debug_assert!(written.is_ok(), "writing to a String cannot fail");
        }
        text.push_str("</CompleteMultipartUpload>");
        let query = [("uploadId", upload.to_owned())];
        let answer = self.request("POST", key, &query, &[], Body::Bytes(text.as_bytes()), Take::Keep)?;
        // The store may answer 200 and then fail.
        let text = String::from_utf8_lossy(&answer.body);
        if text.contains("<Error>") {
            return Err(status_error("POST", key, 200, &answer.body));
        }
        Ok(answer.timing)
    }

    /// Gives a multipart upload up, with the parts that it has.
    ///
    /// # Errors
    /// The request failed.
    pub fn abort_upload(&mut self, key: &str, upload: &str) -> Result<(), S3Error> {
        let query = [("uploadId", upload.to_owned())];
        self.request("DELETE", key, &query, &[], Body::Bytes(b""), Take::Keep)
            .map(drop)
    }

    /// Opens the connection, if there is none; with TLS up to the end of the handshake.
    pub(super) fn open(&mut self) -> Result<(), S3Error> {
        if self.connection.is_none() {
            let stream = Arc::new(
                self.endpoint
                    .socket
                    .connect(self.endpoint.address, self.context)?,
            );
            self.opened.push(Arc::clone(&stream));
            let wire = Wire::client(stream, self.endpoint.tls.as_ref(), self.context)?;
            self.connection = Some((wire, Reader::new()));
        }
        Ok(())
    }

    pub(super) fn request(
        &mut self,
        method: &str,
        key: &str,
        query: &[(&str, String)],
        headers: &[(&str, String)],
        body: Body<'_>,
        take: Take,
    ) -> Result<Answer, S3Error> {
        let reused = self.connection.is_some();
        let start = self.context.now();
        match self.attempt(method, key, query, headers, body, take, start) {
            // A server may close an idle connection at the moment of the next request (RFC 9112, section 9.5).
            Err(S3Error::Http(HttpError::Closed("before its answer"))) if reused => {
                self.connection = None;
                self.attempt(method, key, query, headers, body, take, start)
            }
            other => other,
        }
        .inspect_err(|_| self.connection = None)
    }

    #[allow(clippy::too_many_arguments)] // the parts of one request
    fn attempt(
        &mut self,
        method: &str,
        key: &str,
        query: &[(&str, String)],
        headers: &[(&str, String)],
        body: Body<'_>,
        take: Take,
        start: Time,
    ) -> Result<Answer, S3Error> {
        self.context.admit(self.endpoint.address.ip())?;
        let context = self.context;
        let head = self.head(method, key, query, headers, body);
        self.open()?;
        let Some((stream, reader)) = &mut self.connection else {
            return Err(S3Error::Config("no connection"));
        };
        let doing = "sending a request to";
        let sent = stream
            .write_all(head.as_bytes(), doing, context)
            .and_then(|()| send_body(stream, body, context));
        let sent = match sent {
            // Our own end, such as a used-up cap: the server waits for the rest and will not answer.
            Err(HttpError::Socket(error)) if error.stop().is_some() => return Err(error.into()),
            sent => sent,
        };
        // A server that refuses may answer and close before it has read everything: its answer counts.
        let answer = reader.head(Kind::Answer, stream, context);
        let first_byte = context.now();
        let head = match (answer, sent) {
            (Ok(Some(head)), _) => head,
            (_, Err(error)) | (Err(error), Ok(())) => return Err(error.into()),
            (Ok(None), Ok(())) => return Err(HttpError::Closed("before its answer").into()),
        };
        let status = head.status;
        let length = if method == "HEAD" || status == 204 {
            Length::Known(0)
        } else {
            Length::of_response(&head)?
        };
        let good = (200..300).contains(&status);
        let mut kept = Vec::new();
        let mut at = 0_u64;
        let mut corrupt = None;
        let received = reader.body(length, stream, context, &mut |bytes| {
            let spent = context.spend(bytes.len() as u64);
            spent.map_err(|stop| SocketError::stopped("receiving an object from", stop))?;
            match take {
                Take::Verify(content, offset) if good => {
                    corrupt = corrupt.or(content.first_difference(offset + at, bytes));
                    at += bytes.len() as u64;
                }
                Take::Discard if good => {}
                _ => {
                    let room = MAX_KEPT - kept.len().min(MAX_KEPT);
                    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
                }
            }
            Ok(())
        })?;
        let end = context.now();
        if head.closes() || length == Length::UntilClose {
            self.connection = None;
        }
        if !good {
            return Err(status_error(method, key, status, &kept));
        }
        if let Some(at) = corrupt {
            return Err(S3Error::Corrupt(at));
        }
        Ok(Answer {
            head,
            body: kept,
            received,
            timing: Timing {
                start,
                first_byte,
                end,
            },
        })
    }

    /// The request line and the headers, signed.
    fn head(
        &self,
        method: &str,
        key: &str,
        query: &[(&str, String)],
        headers: &[(&str, String)],
        body: Body<'_>,
    ) -> String {
        use std::fmt::Write;
        let bucket = sign::encode(&self.endpoint.bucket, false);
        let path = if key.is_empty() {
            format!("/{bucket}")
        } else {
            format!("/{bucket}/{}", sign::encode(key, true))
        };
        let hash = match (self.endpoint.payload_hash, body) {
            (PayloadHash::Sha256, Body::Bytes(bytes)) => PayloadHash::Sha256.of(bytes),
            (PayloadHash::Sha256, Body::Content { content, offset, len }) => {
                let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
                content.fill(offset, &mut bytes);
                PayloadHash::Sha256.of(&bytes)
            }
            (PayloadHash::Unsigned, _) => PayloadHash::Unsigned.of(b""),
        };
        let date = slowpath_units::calendar::basic(slowpath_sys::clock::real_time() / 1_000_000_000);
        let host = self
            .endpoint
            .host
            .clone()
            .unwrap_or_else(|| self.endpoint.address.to_string());
        let mut signed = vec![
            ("host", host),
            ("x-amz-content-sha256", hash.clone()),
            ("x-amz-date", date.clone()),
        ];
        signed.extend(headers.iter().cloned());
        let authorization = self.endpoint.credentials.authorization(&Request {
            method,
            path: &path,
            query,
            headers: &signed,
            payload_hash: &hash,
            date: &date,
        });
        let query = sign::query_string(query);
        let mark = if query.is_empty() { "" } else { "?" };
        let mut text = format!("{method} {path}{mark}{query} HTTP/1.1\r\n");
        for (name, value) in &signed {
            let written = write!(text, "{name}: {value}\r\n");
            debug_assert!(written.is_ok(), "writing to a String cannot fail");
        }
        let written = write!(
            text,
            "authorization: {authorization}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        debug_assert!(written.is_ok(), "writing to a String cannot fail");
        text
    }
}

fn send_body(stream: &mut Wire, body: Body<'_>, context: &Context) -> Result<(), HttpError> {
    let doing = "sending an object to";
    match body {
        Body::Bytes(bytes) => stream.write_all(bytes, doing, context),
        Body::Content { content, offset, len } => {
            let mut buffer = vec![0_u8; BLOCK.min(usize::try_from(len).unwrap_or(BLOCK)).max(1)];
            let mut at = 0;
            while at < len {
                let count = buffer.len().min(usize::try_from(len - at).unwrap_or(usize::MAX));
                content.fill(offset + at, &mut buffer[..count]);
                stream.write_all(&buffer[..count], doing, context)?;
                context
                    .spend(count as u64)
                    .map_err(|stop| SocketError::stopped(doing, stop))?;
                at += count as u64;
            }
            Ok(())
        }
    }
}

fn status_error(method: &str, key: &str, status: u16, body: &[u8]) -> S3Error {
    let text = String::from_utf8_lossy(body);
    let message = element(&text, "Code")
        .unwrap_or(&text)
        .chars()
        .take(200)
        .collect();
    S3Error::Status {
        request: format!("{method} {key}"),
        status,
        message,
    }
}

/// The text of the first element with this name.
pub(super) fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let from = text.find(&format!("<{name}>"))? + name.len() + 2;
    let to = text[from..].find(&format!("</{name}>"))?;
    Some(&text[from..from + to])
}

const BLOCK: usize = 128 * 1024;
const MAX_KEPT: usize = 1 << 20;
