//! The `[workload]` table and the `[[background]]` tables of an experiment file.

use slowpath_units::{ByteCount, Duration};

use crate::diagnostic::Diagnostic;
use crate::fields::Fields;
use crate::span::Span;

use super::direction::Direction;
use super::job::Workload;
use super::s3::S3Operation;
use super::ssh::SshMethod;
use super::{ftp, iperf3, s3, ssh, streams};

/// What a document says about one job.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadDocument {
    /// Name in the results.
    pub name: String,
    /// Where the job's table begins.
    pub span: Span,
    /// The job.
    pub workload: Workload,
    /// The host that asks.
    pub client: String,
    /// The host that answers.
    pub server: String,
    /// When it starts, from the start of the run.
    pub start: Duration,
}

/// How often and how long a variant is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// Number of runs.
    pub runs: u32,
    /// Size to use with `--quick`.
    pub quick_size: Option<ByteCount>,
    /// When a run is given up.
    pub deadline: Option<Duration>,
}

/// Reads `workload` and `background`; the first of the list is the one that is measured.
pub(crate) fn read_workloads(fields: &Fields<'_>) -> (Vec<WorkloadDocument>, Repeats) {
    let mut repeats = Repeats {
        runs: 1,
        quick_size: None,
        deadline: None,
    };
    let mut jobs = Vec::new();
    match fields.table("workload") {
        Some(inner) => {
            repeats.runs = inner
                .integer("repeats", 1, 10_000)
                .map_or(1, |n| u32::try_from(n.value).unwrap_or(1));
            repeats.quick_size = inner.positive::<ByteCount>("quick_size").map(|s| s.value);
            repeats.deadline = inner.positive::<Duration>("deadline").map(|d| d.value);
            if let (Some(quick), Some(Some(full))) = (
                repeats.quick_size,
                read_one(&inner, "main").map(|job| {
                    let size = job.workload.size();
                    jobs.push(job);
                    size
                }),
            ) && quick > full
            {
                let span = inner.entry("quick_size").map_or(inner.span(), |e| e.node.span);
                fields.issues().push(
                    Diagnostic::error(
                        span,
                        format!("`quick_size` of {quick} is larger than the full {full}"),
                    )
                    .help("make it smaller than `size`"),
                );
            }
            inner.finish();
        }
        None if !fields.has("workload") => {
            fields.missing(
                "workload",
                "add a table [workload] with kind = \"ftp-get\" and size = \"50 MiB\"",
            );
        }
        None => {}
    }
    if let Some(list) = fields.list("background") {
        for (index, (path, node)) in list.value.iter().enumerate() {
            let Some(inner) = Fields::of(node, path.clone(), fields.issues()) else {
                continue;
            };
            jobs.extend(read_one(&inner, &format!("background{}", index + 1)));
            inner.finish();
        }
    }
    duplicates(fields, &jobs);
    (jobs, repeats)
}

fn read_one(fields: &Fields<'_>, default_name: &str) -> Option<WorkloadDocument> {
    let name = fields
        .text("name")
        .map_or(default_name, |name| name.value)
        .to_owned();
    let client = fields
        .text("client")
        .map_or("client", |host| host.value)
        .to_owned();
    let server = fields
        .text("server")
        .map_or("server", |host| host.value)
        .to_owned();
    if client == server {
        fields.issues().push(
            Diagnostic::error(
                fields.span(),
                format!("client and server are the same host \"{client}\""),
            )
            .help("name two hosts"),
        );
    }
    let start = fields
        .quantity("start")
        .map_or(Duration::ZERO, |start| start.value);
    let Some(kind) = fields.choice("kind", KINDS) else {
        if !fields.has("kind") {
            fields.missing(
                "kind",
                format!(
                    "one of {}",
                    crate::fields::words(KINDS.iter().map(|(word, _)| *word))
                ),
            );
        }
        // Which other keys belong here depends on the kind.
        fields.excuse_rest();
        return None;
    };
    let workload = match kind.value {
        Kind::FtpGet => ftp::read(fields, Direction::Download).map(Workload::Ftp),
        Kind::FtpPut => ftp::read(fields, Direction::Upload).map(Workload::Ftp),
        Kind::Iperf3 => Some(Workload::Iperf3(iperf3::read(fields))),
        Kind::Ssh(method) => ssh::read(fields, method).map(Workload::Ssh),
        Kind::S3(operation) => s3::read(fields, operation).map(Workload::S3),
        Kind::Udp => streams::read_udp(fields).map(Workload::Udp),
        Kind::Ping => Some(Workload::Ping(streams::read_ping(fields))),
        Kind::Frames => streams::read_frames(fields, &name).map(Workload::Frames),
        Kind::Command => streams::read_command(fields).map(Workload::Command),
    }?;
    Some(WorkloadDocument {
        name,
        span: fields.span(),
        workload,
        client,
        server,
        start,
    })
}

fn duplicates(fields: &Fields<'_>, jobs: &[WorkloadDocument]) {
    for (index, job) in jobs.iter().enumerate() {
        if jobs[..index].iter().any(|earlier| earlier.name == job.name) {
            fields.issues().push(
                Diagnostic::error(job.span, format!("two jobs are named \"{}\"", job.name))
                    .help("give each its own `name`"),
            );
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    FtpGet,
    FtpPut,
    Iperf3,
    Ssh(SshMethod),
    S3(S3Operation),
    Udp,
    Ping,
    Frames,
    Command,
}

const KINDS: &[(&str, Kind)] = &[
    ("ftp-get", Kind::FtpGet),
    ("ftp-put", Kind::FtpPut),
    ("iperf3", Kind::Iperf3),
    ("scp", Kind::Ssh(SshMethod::Scp)),
    ("scp-legacy", Kind::Ssh(SshMethod::ScpLegacy)),
    ("sftp", Kind::Ssh(SshMethod::Sftp)),
    ("ssh-pipe", Kind::Ssh(SshMethod::Pipe)),
    ("ssh-tunnel-iperf3", Kind::Ssh(SshMethod::TunnelIperf3)),
    ("ssh-tunnel-copy", Kind::Ssh(SshMethod::TunnelCopy)),
    ("ssh-tunnel-scp", Kind::Ssh(SshMethod::TunnelScp)),
    ("s3-put", Kind::S3(S3Operation::Put)),
    ("s3-get", Kind::S3(S3Operation::Get)),
    ("udp", Kind::Udp),
    ("ping", Kind::Ping),
    ("frames", Kind::Frames),
    ("command", Kind::Command),
];
