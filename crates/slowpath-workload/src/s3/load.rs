//! Many requests over a number of connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use slowpath_record::TransferResult;
use slowpath_units::{ByteCount, Duration, Time};

use super::client::{Client, Endpoint, S3Error, Timing};
use crate::content::Content;
use crate::context::Context;
use crate::socket::SocketError;
use crate::watch::{ConnectionLog, Sampler};

/// What each request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Store objects.
    Put,
    /// Read objects that an earlier [`Operation::Put`] with the same settings stored.
    Get,
}

/// Many requests.
#[derive(Debug, Clone)]
pub struct LoadConfig {
    /// Where to.
    pub endpoint: Endpoint,
    /// PUT or GET.
    pub operation: Operation,
    /// Beginning of the objects' names; a number follows.
    pub prefix: String,
    /// Size of each object.
    pub object_size: ByteCount,
    /// Size of the parts of a multipart upload or of ranged reads; whole objects if absent.
    pub part_size: Option<ByteCount>,
    /// Objects.
    pub requests: u32,
    /// Connections: parts or objects under way at the same time.
    pub concurrency: u32,
    /// Whether each connection has the same number of parts or objects from the start, a remainder being left out, as
    /// s3tester does it; otherwise whichever is free takes the next.
    pub fixed_shares: bool,
    /// Whether read objects are compared with what was stored.
    pub verify: bool,
    /// Seed of the content; object n has the seed plus n.
    pub seed: u64,
    /// How often `TCP_INFO` is sampled.
    pub sample_every: Duration,
}

/// One request's part in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestResult {
    /// Number of the object.
    pub object: u32,
    /// Number of the part, from 1; 0 for a whole object.
    pub part: u32,
    /// Number of the worker, which has one connection at a time.
    pub worker: u32,
    /// When it was begun.
    pub start: Time,
    /// When the answer's first line had come.
    pub first_byte: Time,
    /// When the answer's last byte had come.
    pub end: Time,
    /// Content bytes moved.
    pub bytes: u64,
    /// Why it failed.
    pub error: Option<String>,
}

/// What came of the requests.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// Every request, in the order of their ends.
    pub requests: Vec<RequestResult>,
    /// From the first request's begin ...
    pub start: Time,
    /// ... to the last answer's end.
    pub end: Time,
    /// Connections of all workers; one worker has several when the server closed some.
    pub connections: Vec<ConnectionLog>,
}

impl LoadReport {
    /// Content bytes of successful requests.
    pub fn bytes(&self) -> u64 {
        self.good().map(|request| request.bytes).sum()
    }

    /// Content bytes per second of successful requests over the whole time, as s3tester defines throughput.
    pub fn byte_per_s(&self) -> f64 {
        per_second(self.bytes() as f64, self.start, self.end)
    }

    /// Successful requests per second.
    pub fn requests_per_s(&self) -> f64 {
        per_second(self.good().count() as f64, self.start, self.end)
    }

    /// Requests that failed.
    pub fn failures(&self) -> usize {
        self.requests.len() - self.good().count()
    }

    /// The latency, from begin to the answer's end, that the given share of the successful requests did not exceed.
    pub fn latency_quantile(&self, share: f64) -> Option<Duration> {
        quantile(
            self.good()
                .map(|request| request.end.since(request.start))
                .collect(),
            share,
        )
    }

    /// The same up to the answer's first line.
    pub fn first_byte_quantile(&self, share: f64) -> Option<Duration> {
        quantile(
            self.good()
                .map(|request| request.first_byte.since(request.start))
                .collect(),
            share,
        )
    }

    /// Each worker's bytes and rate while it was at work.
    pub fn workers(&self) -> Vec<(u64, f64)> {
        let count = self
            .requests
            .iter()
            .map(|request| request.worker + 1)
            .max()
            .unwrap_or(0);
        (0..count)
            .map(|worker| {
                let own: Vec<_> = self.good().filter(|request| request.worker == worker).collect();
                let bytes: u64 = own.iter().map(|request| request.bytes).sum();
                let start = own.iter().map(|request| request.start).min().unwrap_or_default();
                let end = own.iter().map(|request| request.end).max().unwrap_or_default();
                (bytes, per_second(bytes as f64, start, end))
            })
            .collect()
    }

    /// The whole as one transfer for the run record.
    pub fn transfer(&self, name: &str) -> TransferResult {
        let error = self.requests.iter().find_map(|request| request.error.clone());
        TransferResult {
            name: name.to_owned(),
            bytes: self.bytes(),
            start: self.start,
            end: self.end,
            complete: error.is_none(),
            error,
            retransmitted_segments: None,
            sender: None,
        }
    }

    fn good(&self) -> impl Iterator<Item = &RequestResult> {
        self.requests.iter().filter(|request| request.error.is_none())
    }
}

fn per_second(amount: f64, start: Time, end: Time) -> f64 {
    let seconds = end.since(start).seconds();
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

fn quantile(mut all: Vec<Duration>, share: f64) -> Option<Duration> {
    all.sort_unstable();
    let last = all.len().checked_sub(1)?;
    // The share is clamped, so the product is within the list.
    #[allow(clippy::cast_sign_loss)]
    let index = (last as f64 * share.clamp(0.0, 1.0)).round() as usize;
    all.get(index).copied()
}

/// One thing for a worker to do.
#[derive(Debug, Clone, Copy)]
struct Task {
    object: u32,
    /// 0 for a whole object.
    part: u32,
    offset: u64,
    len: u64,
}

/// A multipart upload under way.
#[derive(Debug, Default, Clone)]
struct Upload {
    id: Option<String>,
    tags: Vec<Option<String>>,
}

/// Makes all requests and reports on them; the time ends with the last answer.
///
/// Failed requests are in the report. The context's end makes the rest of them fail; so does a used-up cap. Uploads whose
/// parts did not all arrive are given up, so that the store keeps no parts.
///
/// # Errors
/// No permission, settings without sense, or uploads that cannot be begun.
pub fn run(config: &LoadConfig, context: &Context) -> Result<LoadReport, S3Error> {
    context.admit(config.endpoint.address.ip())?;
    let tasks = tasks(config)?;
    let mut uploads = vec![Upload::default(); config.requests as usize];
    let multipart = config.operation == Operation::Put && config.part_size.is_some();
    let start = context.now();
    if multipart {
        let mut client = Client::new(&config.endpoint, context);
        let begun = (0..).zip(&mut uploads).try_for_each(|(object, upload)| {
            upload.id = Some(client.begin_upload(&name(&config.prefix, object))?);
            let parts = tasks.iter().filter(|task| task.object == object).count();
            upload.tags = vec![None; parts];
            Ok::<(), S3Error>(())
        });
        if let Err(error) = begun {
            let begun = (0..)
                .zip(uploads)
                .filter_map(|(object, upload)| Some((object, upload.id?)));
            abandon(config, context, begun);
            return Err(error);
        }
    }
    let (results, uploads) = (Mutex::new(Vec::new()), Mutex::new(uploads));
    let work = Shares::new(&tasks, config);
    let sampler = Sampler::start(context, config.sample_every);
    std::thread::scope(|scope| {
        for worker in 0..config.concurrency {
            let (work, results, uploads, sampler) = (&work, &results, &uploads, &sampler);
            scope.spawn(move || {
                let mut next = work.of(worker);
                let mut worker = Worker {
                    number: worker,
                    config,
                    context,
                    client: Client::new(&config.endpoint, context),
                    uploads,
                    sampler,
                    watched: Vec::new(),
                };
                while let Some(task) = next() {
                    let result = worker.result(task);
                    results
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(result);
                }
                worker.end();
            });
        }
    });
    let mut requests = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    if multipart {
        complete(
            config,
            context,
            uploads.into_inner().unwrap_or_else(PoisonError::into_inner),
            &mut requests,
        );
    }
    requests.sort_by_key(|request| request.end);
    let end = requests.last().map_or(start, |request| request.end);
    Ok(LoadReport {
        requests,
        start,
        end,
        connections: sampler.finish(),
    })
}

fn tasks(config: &LoadConfig) -> Result<Vec<Task>, S3Error> {
    if config.concurrency == 0 || config.concurrency > 1024 || config.requests == 0 {
        return Err(S3Error::Config(
            "an S3 load needs 1 to 1024 connections and at least one request",
        ));
    }
    let size = config.object_size.bytes();
    let part_size = match config.part_size {
        None => size,
        Some(part) if part.bytes() == 0 || size.div_ceil(part.bytes()) > 10_000 => {
            return Err(S3Error::Config("an object has 1 to 10,000 parts"));
        }
        Some(part) => part.bytes(),
    };
    let mut tasks = Vec::new();
    for object in 0..config.requests {
        if config.part_size.is_none() {
            tasks.push(Task {
                object,
                part: 0,
                offset: 0,
                len: size,
            });
            continue;
        }
        let mut offset = 0;
        for part in 1.. {
            let len = part_size.min(size - offset);
            tasks.push(Task {
                object,
                part,
                offset,
                len,
            });
            offset += len;
            if offset >= size {
                break;
            }
        }
    }
    Ok(tasks)
}

/// Which task a connection does next.
struct Shares<'a> {
    tasks: &'a [Task],
    next: AtomicUsize,
    /// Tasks of each connection, where that is decided at the start.
    share: Option<usize>,
}

impl<'a> Shares<'a> {
    fn new(tasks: &'a [Task], config: &LoadConfig) -> Self {
        let share = config
            .fixed_shares
            .then(|| tasks.len() / config.concurrency.max(1) as usize);
        Self {
            tasks,
            next: AtomicUsize::new(0),
            share,
        }
    }

    /// The tasks of connection `worker`, one at each call.
    fn of(&self, worker: u32) -> impl FnMut() -> Option<Task> + '_ {
        let share = self.share.unwrap_or(0);
        let mut own = worker as usize * share..(worker as usize + 1) * share;
        move || {
            let index = match self.share {
                Some(_) => own.next()?,
                None => self.next.fetch_add(1, Ordering::Relaxed),
            };
            self.tasks.get(index).copied()
        }
    }
}

/// The name of an object of a load.
pub fn name(prefix: &str, object: u32) -> String {
    format!("{prefix}{object:06}")
}

/// Completes the uploads whose parts all arrived, which is part of the load's time, and gives the others up.
fn complete(config: &LoadConfig, context: &Context, uploads: Vec<Upload>, requests: &mut Vec<RequestResult>) {
    let mut client = Client::new(&config.endpoint, context);
    let mut given_up = Vec::new();
    for (object, upload) in (0..).zip(uploads) {
        let Some(id) = upload.id else {
            continue;
        };
        let Some(tags) = upload.tags.into_iter().collect::<Option<Vec<String>>>() else {
            given_up.push((object, id));
            continue;
        };
        let start = context.now();
        let done = client.complete_upload(&name(&config.prefix, object), &id, &tags);
        let part = u32::try_from(tags.len()).unwrap_or(u32::MAX).saturating_add(1);
        if done.is_err() {
            given_up.push((object, id));
        }
        requests.push(request_result(object, part, 0, start, context, 0, done));
    }
    abandon(config, context, given_up);
}

/// Gives uploads up, also after the context's end.
fn abandon(config: &LoadConfig, context: &Context, uploads: impl IntoIterator<Item = (u32, String)>) {
    let after = context.afterwards(TIDY);
    let mut client = Client::new(&config.endpoint, &after);
    for (object, id) in uploads {
        match client.abort_upload(&name(&config.prefix, object), &id) {
            // The store may know it no more: the answer to its completion was lost.
            Ok(()) | Err(S3Error::Status { .. }) => {}
            // A store that cannot be reached keeps its parts; the errors of the requests say why.
            Err(_) => return,
        }
    }
}

fn request_result(
    object: u32,
    part: u32,
    worker: u32,
    start: Time,
    context: &Context,
    bytes: u64,
    done: Result<Timing, S3Error>,
) -> RequestResult {
    let now = context.now();
    let (timing, bytes, error) = match done {
        Ok(timing) => (timing, bytes, None),
        Err(error) => (
            Timing {
                start,
                first_byte: now,
                end: now,
            },
            0,
            Some(error.to_string()),
        ),
    };
    RequestResult {
        object,
        part,
        worker,
        start: timing.start,
        first_byte: timing.first_byte,
        end: timing.end,
        bytes,
        error,
    }
}

struct Worker<'a> {
    number: u32,
    config: &'a LoadConfig,
    context: &'a Context,
    client: Client<'a>,
    uploads: &'a Mutex<Vec<Upload>>,
    sampler: &'a Sampler,
    watched: Vec<crate::watch::Watched>,
}

impl Worker<'_> {
    fn result(&mut self, task: Task) -> RequestResult {
        let start = self.context.now();
        let done = self.perform(task);
        self.watch();
        let timing = done.map(|(_, timing)| timing);
        request_result(
            task.object,
            task.part,
            self.number,
            start,
            self.context,
            task.len,
            timing,
        )
    }

    fn perform(&mut self, task: Task) -> Result<(u64, Timing), S3Error> {
        self.context
            .may_load()
            .map_err(|stop| SocketError::stopped("making a request", stop))?;
        self.client.open()?;
        self.watch();
        let key = name(&self.config.prefix, task.object);
        let content = Content::new(self.config.seed.wrapping_add(u64::from(task.object)));
        match (self.config.operation, task.part) {
            (Operation::Put, 0) => self
                .client
                .put(&key, content, task.len)
                .map(|timing| (task.len, timing)),
            (Operation::Put, part) => {
                let id = {
                    let uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
                    uploads[task.object as usize].id.clone()
                };
                let id = id.ok_or(S3Error::Config("an upload without id"))?;
                let (tag, timing) =
                    self.client
                        .put_part(&key, &id, part, content, (task.offset, task.len))?;
                let mut uploads = self.uploads.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(slot) = uploads[task.object as usize].tags.get_mut(part as usize - 1) {
                    *slot = Some(tag);
                }
                Ok((task.len, timing))
            }
            (Operation::Get, part) => {
                let range = (part != 0).then_some((task.offset, task.len));
                let (received, timing) =
                    self.client
                        .get(&key, range, self.config.verify.then_some(content))?;
                if received == task.len {
                    return Ok((received, timing));
                }
                // A server that ignores the range sends the whole object with status 200.
                Err(S3Error::Config(
                    "the store sent another amount than was asked for",
                ))
            }
        }
    }

    /// Adds connections that were opened since the last time to the sampler.
    fn watch(&mut self) {
        while let Some(stream) = self.client.opened.get(self.watched.len()) {
            let label = format!("worker {}", self.number);
            self.watched
                .push(self.sampler.watch(&label, stream, &self.config.endpoint.socket));
        }
    }

    fn end(&self) {
        for watched in &self.watched {
            self.sampler.sample_now(*watched);
        }
    }
}

/// Time for giving up what cannot be completed.
const TIDY: Duration = Duration::from_secs(10);
