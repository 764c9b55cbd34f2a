//! Objects of a store: PUT and GET, whole or in parts, with a chosen number of connections.

use std::io::{self, Write};

use serde_json::{Value, json};
use slowpath_record::{Origin, RunRecord, TransferResult};
use slowpath_units::{ByteCount, Duration};
use slowpath_workload::s3::{self, Client, ClientTls, Endpoint, LoadConfig, LoadReport, Operation};
use slowpath_workload::{Context, SocketOptions};

pub use slowpath_workload::s3::{Authorities, Credentials, PayloadHash};

use super::address::Address;
use super::answer::{Answer, MeasureError};
use super::text;

/// Which requests to make.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `s3://HOST[:PORT]/BUCKET`; the bucket is made if it is not there.
    pub target: String,
    /// Who asks.
    pub credentials: Credentials,
    /// Store objects.
    pub put: bool,
    /// Read objects: those just stored, or those of an earlier run with the same settings and [`Spec::keep`].
    pub get: bool,
    /// Size of each object.
    pub size: ByteCount,
    /// Size of the parts of multipart uploads and ranged reads; whole objects if absent.
    pub part_size: Option<ByteCount>,
    /// Objects.
    pub requests: u32,
    /// Connections.
    pub concurrency: u32,
    /// Beginning of the objects' names.
    pub prefix: String,
    /// Whether content is part of the signature.
    pub payload_hash: PayloadHash,
    /// TLS with these authorities; plain HTTP if absent.
    pub tls: Option<Authorities>,
    /// Leave the objects in the store.
    pub keep: bool,
    /// Compare what is read with what was stored.
    pub verify: bool,
    /// Options of the connections.
    pub socket: SocketOptions,
}

struct Outcome {
    target: String,
    tls: bool,
    concurrency: u32,
    loads: Vec<(Operation, LoadReport)>,
    /// Why objects are left in the store.
    left: Option<String>,
}

/// Makes the requests.
pub(super) fn run(spec: &Spec, context: &Context) -> Result<impl Answer + use<>, MeasureError> {
    let address = Address::parse(&spec.target, FORM)?;
    let bucket = address.path.trim_end_matches('/');
    if bucket.is_empty() || bucket.contains('/') {
        return Err(super::address::AddressError::Form {
            target: spec.target.clone(),
            problem: "it names no bucket, or more than that".to_owned(),
            form: FORM,
        }
        .into());
    }
    if !spec.put && !spec.get {
        return Err(MeasureError::Settings(
            "neither PUT nor GET: nothing to do".to_owned(),
        ));
    }
    let failed = |error| MeasureError::tool("s3", &spec.target, error);
    let endpoint = endpoint(
        &spec.target,
        &address,
        &spec.credentials,
        spec.payload_hash,
        spec.tls.as_ref(),
        &spec.socket,
    )?;
    let load = |operation| LoadConfig {
        endpoint: endpoint.clone(),
        operation,
        prefix: spec.prefix.clone(),
        object_size: spec.size,
        part_size: spec.part_size,
        requests: spec.requests,
        concurrency: spec.concurrency,
        fixed_shares: false,
        verify: spec.verify,
        seed: 1,
        sample_every: Duration::from_millis(100),
    };
    let mut loads = Vec::new();
    let mut left = None;
    if spec.put {
        Client::new(&endpoint, context).create_bucket().map_err(failed)?;
        // An error, unlike failed requests, means that nothing was stored.
        let report = s3::run(&load(Operation::Put), context).map_err(failed)?;
        loads.push((Operation::Put, report));
    }
    let mut read = Ok(());
    if spec.get {
        match s3::run(&load(Operation::Get), context) {
            Ok(report) => loads.push((Operation::Get, report)),
            Err(error) => read = Err(failed(error)),
        }
    }
    if spec.put && !spec.keep {
        // Also after failures, Ctrl-C, the deadline and the cap: nothing of ours stays behind.
        let after = context.afterwards(CLEAN_UP);
        let mut client = Client::new(&endpoint, &after);
        for object in 0..spec.requests {
            if let Err(error) = client.delete(&s3::load::name(&spec.prefix, object)) {
                left = Some(error.to_string());
                break;
            }
        }
    }
    read?;
    Ok(Outcome {
        target: spec.target.clone(),
        tls: spec.tls.is_some(),
        concurrency: spec.concurrency,
        loads,
        left,
    })
}

/// The bucket that an address names, and how to speak to its server.
pub(crate) fn endpoint(
    target: &str,
    address: &Address,
    credentials: &Credentials,
    payload_hash: PayloadHash,
    tls: Option<&Authorities>,
    socket: &SocketOptions,
) -> Result<Endpoint, MeasureError> {
    let usual = if tls.is_some() { 443 } else { 80 };
    let server = address.resolve(usual)?;
    let tls = tls
        .map(|authorities| ClientTls::new(&address.host, authorities))
        .transpose()
        .map_err(|error| MeasureError::tool("s3", &target, error))?;
    let bracketed = if address.host.contains(':') {
        format!("[{}]", address.host)
    } else {
        address.host.clone()
    };
    let host = if server.port() == usual {
        bracketed
    } else {
        format!("{bracketed}:{}", server.port())
    };
    Ok(Endpoint {
        address: server,
        host: Some(host),
        bucket: address.path.trim_end_matches('/').to_owned(),
        credentials: credentials.clone(),
        payload_hash,
        socket: socket.clone(),
        tls,
    })
}

impl Answer for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for (operation, report) in &self.loads {
            let verb = verb(*operation);
            writeln!(
                out,
                "{verb} {}, {} requests/s",
                text::rate(report.byte_per_s() * 8.0),
                slowpath_report::quantity::significant(report.requests_per_s())
            )?;
            text::paragraph(
                out,
                "  ",
                &format!(
                    "{} in {}, {} connection{}{}, {}",
                    text::amount(report.bytes()),
                    text::span(report.end.since(report.start)),
                    self.concurrency,
                    if self.concurrency == 1 { "" } else { "s" },
                    if self.tls { " with TLS" } else { "" },
                    self.target
                ),
            )?;
            let row = |name: &str, value: &dyn Fn(f64) -> Option<Duration>| {
                let cell = |share| value(share).map_or("–".to_owned(), text::span);
                vec![
                    name.to_owned(),
                    cell(0.0),
                    cell(0.5),
                    cell(0.9),
                    cell(0.99),
                    cell(1.0),
                ]
            };
            text::table(
                out,
                &[
                    ["", "least", "median", "90 %", "99 %", "most"]
                        .map(str::to_owned)
                        .to_vec(),
                    row("  first byte", &|share| report.first_byte_quantile(share)),
                    row("  whole request", &|share| report.latency_quantile(share)),
                ],
            )?;
            let mut rates: Vec<f64> = report.workers().iter().map(|(_, rate)| rate * 8.0).collect();
            rates.sort_by(f64::total_cmp);
            if let (Some(least), Some(most)) = (rates.first(), rates.last())
                && rates.len() > 1
            {
                writeln!(
                    out,
                    "  each connection: {} to {}",
                    text::rate(*least),
                    text::rate(*most)
                )?;
            }
            if *operation == Operation::Put {
                text::where_time_went(out, "sending: ", &report.connections)?;
            }
            text::table(out, &text::connection_rows(&report.connections))?;
        }
        if let Some(why) = self.incomplete() {
            text::note(out, &why)?;
        }
        if let Some(why) = &self.left {
            text::note(
                out,
                &format!("objects are left in the store: deleting them failed: {why}"),
            )?;
        }
        Ok(())
    }

    fn record(&self) -> RunRecord {
        let requests = self.loads.iter().flat_map(|(operation, load)| {
            load.requests.iter().map(move |request| TransferResult {
                name: format!("{operation:?} {} part {}", request.object, request.part).to_lowercase(),
                bytes: request.bytes,
                start: request.start,
                end: request.end,
                complete: request.error.is_none(),
                error: request.error.clone(),
                retransmitted_segments: None,
                sender: None,
            })
        });
        RunRecord {
            transfers: requests.collect(),
            ..RunRecord::new(Origin::Live, "s3")
        }
    }

    fn json(&self) -> Value {
        let loads: Vec<Value> = self
            .loads
            .iter()
            .map(|(operation, report)| {
                let seconds = |span: Option<Duration>| span.map(Duration::seconds);
                let quantiles = |value: &dyn Fn(f64) -> Option<Duration>| {
                    json!({"min": seconds(value(0.0)), "p50": seconds(value(0.5)), "p90": seconds(value(0.9)),
                        "p99": seconds(value(0.99)), "max": seconds(value(1.0))})
                };
                json!({
                    "operation": operation,
                    "bytes": report.bytes(),
                    "byte_per_s": report.byte_per_s(),
                    "requests_per_s": report.requests_per_s(),
                    "failures": report.failures(),
                    "first_byte_s": quantiles(&|share| report.first_byte_quantile(share)),
                    "latency_s": quantiles(&|share| report.latency_quantile(share)),
                    "workers": report.workers().iter().map(|(bytes, rate)| json!({"bytes": bytes, "byte_per_s": rate}))
                        .collect::<Vec<_>>(),
                    "requests": report.requests,
                    "connections": text::connections_json(&report.connections),
                })
            })
            .collect();
        json!({"tool": "s3", "target": self.target, "tls": self.tls, "connections": self.concurrency, "loads": loads,
            "left_in_store": self.left})
    }

    fn incomplete(&self) -> Option<String> {
        let (operation, report) = self.loads.iter().find(|(_, report)| report.failures() > 0)?;
        let first = report
            .requests
            .iter()
            .find_map(|request| request.error.as_ref())?;
        Some(format!(
            "{} of {} {} requests failed, the first: {first}",
            report.failures(),
            report.requests.len(),
            verb(*operation)
        ))
    }
}

const fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Put => "PUT",
        Operation::Get => "GET",
    }
}

pub(crate) const FORM: &str = "s3://HOST/BUCKET or s3://HOST:PORT/BUCKET";
/// Time for deleting what was stored.
const CLEAN_UP: Duration = Duration::from_secs(60);
