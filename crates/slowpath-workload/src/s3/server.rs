//! A small endpoint in memory.
//!
//! It stores sizes and the content that it must, checks every signature, and can be slow on purpose. Not a product:
//! one bucket namespace, no listing beyond names, nothing survives its end.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use slowpath_units::Duration;

use super::client::element;
use super::error::HttpError;
use super::http::{Head, Kind, Length, Reader};
use super::sign::{Credentials, Request};
use super::tls::{ServerTls, Wire};
use crate::context::{Cancel, Context};
use crate::service::Service;
use crate::socket::{self, SocketError, SocketOptions};

/// How the endpoint behaves.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Who may ask; everybody if absent.
    pub credentials: Option<Credentials>,
    /// Options of the connections.
    pub socket: SocketOptions,
    /// TLS; plain HTTP if absent.
    pub tls: Option<ServerTls>,
    /// Delay before each answer.
    pub think: Duration,
    /// Whether every connection ends with its first answer.
    pub close: bool,
    /// Bytes that may be stored; more is answered with 507.
    pub capacity: u64,
    /// Connections at a time.
    pub connections: usize,
}

impl ServerConfig {
    /// A quick endpoint for `credentials` with a gibibyte of room.
    pub fn new(listen: SocketAddr, credentials: Option<Credentials>) -> Self {
        Self {
            listen,
            credentials,
            socket: SocketOptions {
                no_delay: true,
                ..SocketOptions::default()
            },
            tls: None,
            think: Duration::ZERO,
            close: false,
            capacity: 1 << 30,
            connections: 1100,
        }
    }
}

/// An endpoint that runs until it is dropped or its context ends.
#[derive(Debug)]
pub struct MemoryServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Ends the threads with this value.
    _service: Service,
}

#[derive(Debug)]
struct Shared {
    config: ServerConfig,
    store: Mutex<Store>,
}

#[derive(Debug, Default)]
struct Store {
    objects: BTreeMap<String, Arc<Vec<u8>>>,
    uploads: BTreeMap<String, BTreeMap<u32, Arc<Vec<u8>>>>,
    used: u64,
    counter: u64,
}

impl MemoryServer {
    /// Listens and serves from threads of its own, which live in the caller's network namespace.
    ///
    /// # Errors
    /// The address cannot be listened on, or no thread can be started.
    pub fn start(config: ServerConfig, context: &Context) -> Result<Self, SocketError> {
        let at = config.listen;
        let listener = config.socket.listen(at, 1024)?;
        let io = |source| SocketError::io("starting an S3 endpoint on", at, source);
        let address = listener.local_addr().map_err(io)?;
        let cancel = Cancel::new();
        let shared = Arc::new(Shared {
            config,
            store: Mutex::default(),
        });
        let service = Service::spawn("s3-server", cancel.clone(), {
            let (shared, context) = (Arc::clone(&shared), context.clone());
            move || accept_all(&shared, &listener, &cancel, &context)
        })
        .map_err(io)?;
        Ok(Self {
            address,
            shared,
            _service: service,
        })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Names and sizes of the stored objects, as `bucket/key`.
    pub fn objects(&self) -> Vec<(String, u64)> {
        let store = self.shared.lock();
        store
            .objects
            .iter()
            .map(|(name, object)| (name.clone(), object.len() as u64))
            .collect()
    }
}

fn accept_all(shared: &Arc<Shared>, listener: &TcpListener, cancel: &Cancel, run: &Context) {
    let own = run.clone().with_cancel(cancel.clone());
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    while run.check().is_ok() && !cancel.is_cancelled() {
        let slice = own.clone().with_timeout(Duration::from_millis(200));
        let Ok((stream, peer)) = socket::accept(listener, shared.config.listen, &slice) else {
            continue;
        };
        threads.retain(|thread| !thread.is_finished());
        if threads.len() >= shared.config.connections {
            continue;
        }
        let (shared, context) = (Arc::clone(shared), own.clone());
        let serve = move || {
            // A client that is gone or does not speak HTTP: nobody is left to be told.
            let _ = serve(&shared, stream, peer, &context);
        };
        if let Ok(thread) = std::thread::Builder::new()
            .name("s3-connection".to_owned())
            .spawn(serve)
        {
            threads.push(thread);
        }
    }
    cancel.cancel();
    for thread in threads {
        let _ = thread.join();
    }
}

/// What is answered.
struct Response {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Arc<Vec<u8>>,
    range: std::ops::Range<usize>,
}

impl Response {
    fn empty(status: u16) -> Self {
        Self::bytes(status, Arc::default())
    }

    fn text(status: u16, text: String) -> Self {
        Self::bytes(status, Arc::new(text.into_bytes()))
    }

    fn error(status: u16, code: &str) -> Self {
        Self::text(
            status,
            format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>"),
        )
    }

    fn bytes(status: u16, body: Arc<Vec<u8>>) -> Self {
        let range = 0..body.len();
        Self {
            status,
            headers: Vec::new(),
            body,
            range,
        }
    }

    fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

fn serve(shared: &Shared, stream: TcpStream, peer: SocketAddr, context: &Context) -> Result<(), HttpError> {
    let patience = context.clone().with_timeout(IDLE);
    let mut wire = Wire::server(Arc::new(stream), shared.config.tls.as_ref(), &patience)?;
    let stream = &mut wire;
    let mut reader = Reader::new();
    loop {
        let idle = context.clone().with_timeout(IDLE);
        let Some(head) = reader.head(Kind::Request, stream, &idle)? else {
            return Ok(());
        };
        if head
            .header("expect")
            .is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
        {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n", "answering", context)?;
        }
        let mut body = Vec::new();
        let mut too_much = false;
        let room = shared.config.capacity.saturating_sub(shared.lock().used);
        reader.body(Length::of_request(&head)?, stream, context, &mut |bytes| {
            too_much |= body.len() as u64 + bytes.len() as u64 > room;
            if !too_much {
                body.extend_from_slice(bytes);
            }
            Ok(())
        })?;
        // Nothing is sent to an address that may not be loaded.
        let response = if too_much {
            Response::error(507, "InsufficientStorage")
        } else if context.admit(peer.ip()).is_err() {
            Response::error(403, "AccessDenied")
        } else {
            shared.answer(&head, body)
        };
        if shared.config.think > Duration::ZERO {
            context
                .sleep(shared.config.think)
                .map_err(|stop| SocketError::stopped("thinking", stop))?;
        }
        let closing = shared.config.close || head.closes();
        let is_head = head.method == "HEAD";
        send(stream, &response, closing, is_head, context)?;
        if closing {
            return Ok(());
        }
    }
}

fn send(
    stream: &mut Wire,
    response: &Response,
    close: bool,
    is_head: bool,
    context: &Context,
) -> Result<(), HttpError> {
    let reason = match response.status {
        200 => "OK",
        204 => "No Content",
        206 => "Partial Content",
        _ => "Error",
    };
    let content = &response.body[response.range.clone()];
    let mut text = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-length: {}\r\n",
        response.status,
        content.len()
    );
    for (name, value) in &response.headers {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push_str("\r\n");
    }
    text.push_str(if close {
        "connection: close\r\n\r\n"
    } else {
        "\r\n"
    });
    let doing = "answering";
    stream.write_all(text.as_bytes(), doing, context)?;
    if !is_head {
        stream.write_all(content, doing, context)?;
    }
    Ok(())
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, head: &Head, body: Vec<u8>) -> Response {
        let (method, target) = (head.method.as_str(), head.target.as_str());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query: Vec<(String, String)> = query
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| part.split_once('=').unwrap_or((part, "")))
            .map(|(name, value)| (decode(name), decode(value)))
            .collect();
        if !self.is_signed(head, method, path, &query, &body) {
            return Response::error(403, "SignatureDoesNotMatch");
        }
        let parameter = |name: &str| {
            query
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| value.as_str())
        };
        let name = decode(path.trim_start_matches('/'));
        let is_bucket = !name.trim_end_matches('/').contains('/');
        match (
            method,
            parameter("uploadId"),
            parameter("partNumber"),
            parameter("uploads"),
        ) {
            ("PUT", _, _, _) if is_bucket => Response::empty(200),
            ("GET", _, _, _) if is_bucket => self.list(name.trim_end_matches('/')),
            ("POST", None, _, Some(_)) => self.begin(&name),
            ("POST", Some(id), _, _) => self.complete(&name, id, &String::from_utf8_lossy(&body)),
            ("PUT", Some(id), Some(part), _) => self.put_part(id, part, body),
            ("PUT", None, _, _) => self.put(name, body),
            ("GET" | "HEAD", _, _, _) => self.get(&name, head.header("range")),
            ("DELETE", Some(id), _, _) => {
                self.forget_upload(id);
                Response::empty(204)
            }
            ("DELETE", None, _, _) => {
                let mut store = self.lock();
                if let Some(object) = store.objects.remove(&name) {
                    store.used -= object.len() as u64;
                }
                Response::empty(204)
            }
            _ => Response::error(405, "MethodNotAllowed"),
        }
    }

    /// Recomputes the signature from what arrived.
    fn is_signed(
        &self,
        head: &Head,
        method: &str,
        path: &str,
        query: &[(String, String)],
        body: &[u8],
    ) -> bool {
        let Some(credentials) = &self.config.credentials else {
            return true;
        };
        let (Some(given), Some(date), Some(hash)) = (
            head.header("authorization"),
            head.header("x-amz-date"),
            head.header("x-amz-content-sha256"),
        ) else {
            return false;
        };
        let body_fits = hash == "UNSIGNED-PAYLOAD" || hash == super::sign::PayloadHash::Sha256.of(body);
        let field = |name: &str| {
            given
                .split([',', ' '])
                .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
        };
        let names = field("SignedHeaders").unwrap_or_default();
        let headers: Vec<(&str, String)> = names
            .split(';')
            .map(|name| (name, head.header(name).unwrap_or_default().to_owned()))
            .collect();
        let query: Vec<(&str, String)> = query
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let request = Request {
            method,
            path,
            query: &query,
            headers: &headers,
            payload_hash: hash,
            date,
        };
        let own = credentials.authorization(&request);
        let signature = |text: &str| text.rsplit("Signature=").next().map(str::to_owned);
        body_fits && signature(given) == signature(&own)
    }

    fn put(&self, name: String, body: Vec<u8>) -> Response {
        let mut store = self.lock();
        store.counter += 1;
        let tag = format!("\"{:016x}\"", store.counter);
        store.used += body.len() as u64;
        if let Some(old) = store.objects.insert(name, Arc::new(body)) {
            store.used -= old.len() as u64;
        }
        Response::empty(200).with("etag", tag)
    }

    fn get(&self, name: &str, range: Option<&str>) -> Response {
        let Some(object) = self.lock().objects.get(name).cloned() else {
            return Response::error(404, "NoSuchKey");
        };
        let size = object.len();
        let Some(range) = range else {
            return Response::bytes(200, object);
        };
        let wanted = range.strip_prefix("bytes=").and_then(|range| {
            let (from, to) = range.split_once('-')?;
            let from: usize = from.parse().ok()?;
            let to: usize = if to.is_empty() {
                size.checked_sub(1)?
            } else {
                to.parse().ok()?
            };
            (from <= to && from < size).then(|| from..(to + 1).min(size))
        });
        match wanted {
            Some(wanted) => {
                let told = format!("bytes {}-{}/{size}", wanted.start, wanted.end - 1);
                Response {
                    range: wanted,
                    ..Response::bytes(206, object)
                }
                .with("content-range", told)
            }
            None => Response::error(416, "InvalidRange"),
        }
    }

    fn list(&self, bucket: &str) -> Response {
        let store = self.lock();
        let prefix = format!("{bucket}/");
        let mut text = String::from("<?xml version=\"1.0\"?><ListBucketResult>");
        for (name, object) in store
            .objects
            .range(prefix.clone()..)
            .take_while(|(name, _)| name.starts_with(&prefix))
        {
            let key = name[prefix.len()..].replace('&', "&amp;").replace('<', "&lt;");
            text.push_str(
                &[
                    "<Contents><Key>",
                    &key,
                    "</Key><Size>",
                    &object.len().to_string(),
                    "</Size></Contents>",
                ]
                .concat(),
            );
        }
        text.push_str("</ListBucketResult>");
        Response::text(200, text)
    }

    fn begin(&self, name: &str) -> Response {
        let mut store = self.lock();
        if store.uploads.len() >= MOST_UPLOADS {
            return Response::error(503, "SlowDown");
        }
        store.counter += 1;
        let id = format!("{:016x}", store.counter);
        store.uploads.insert(id.clone(), BTreeMap::new());
        let text = format!(
            "<?xml version=\"1.0\"?><InitiateMultipartUploadResult><Key>{name}</Key><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
        );
        Response::text(200, text)
    }

    fn put_part(&self, id: &str, part: &str, body: Vec<u8>) -> Response {
        let mut store = self.lock();
        let len = body.len() as u64;
        let part = part.parse().ok().filter(|part| (1..=10_000).contains(part));
        let (Some(part), Some(upload)) = (part, store.uploads.get_mut(id)) else {
            return Response::error(404, "NoSuchUpload");
        };
        let old = upload
            .insert(part, Arc::new(body))
            .map_or(0, |old| old.len() as u64);
        store.used += len;
        store.used -= old;
        Response::empty(200).with("etag", format!("\"{id}-{part}\""))
    }

    fn complete(&self, name: &str, id: &str, list: &str) -> Response {
        let mut store = self.lock();
        let Some(parts) = store.uploads.get(id) else {
            return Response::error(404, "NoSuchUpload");
        };
        let mut object = Vec::new();
        for entry in list.split("<Part>").skip(1) {
            let number = element(entry, "PartNumber").and_then(|number| number.parse().ok());
            let Some(part) = number.and_then(|number: u32| parts.get(&number)) else {
                return Response::error(400, "InvalidPart");
            };
            object.extend_from_slice(part);
        }
        let freed: u64 = parts.values().map(|part| part.len() as u64).sum();
        store.uploads.remove(id);
        store.used = store.used + object.len() as u64 - freed;
        if let Some(old) = store.objects.insert(name.to_owned(), Arc::new(object)) {
            store.used -= old.len() as u64;
        }
        Response::text(
            200,
            format!("<CompleteMultipartUploadResult><Key>{name}</Key></CompleteMultipartUploadResult>"),
        )
    }

    fn forget_upload(&self, id: &str) {
        let mut store = self.lock();
        if let Some(parts) = store.uploads.remove(id) {
            store.used -= parts.values().map(|part| part.len() as u64).sum::<u64>();
        }
    }
}

/// Undoes percent-encoding; what is no encoding stays as it is.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = code {
            decoded.push(byte);
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

const IDLE: Duration = Duration::from_secs(60);
const MOST_UPLOADS: usize = 10_000;
