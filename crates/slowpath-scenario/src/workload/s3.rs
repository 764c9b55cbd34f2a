//! Requests to an object store.

use serde::{Deserialize, Serialize};
use slowpath_units::{ByteCount, Duration};

use crate::diagnostic::Diagnostic;
use crate::fields::Fields;

use super::program::{Program, program};
use super::size::size;

/// Many requests to an object store, as a load generator makes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct S3Load {
    /// PUT or GET.
    pub operation: S3Operation,
    /// Size of each object.
    pub object_size: ByteCount,
    /// Size of each part of a multipart upload or ranged download; `None` is one request per object.
    pub part_size: Option<ByteCount>,
    /// Number of objects.
    pub requests: u32,
    /// Requests under way at a time, each on its own connection.
    pub concurrency: u32,
    /// Whether the connections are encrypted.
    pub tls: bool,
    /// Whether a connection is used again for the next request.
    #[serde(default = "reused")]
    pub reuse: bool,
    /// Whether each connection does the same number of requests, decided at the start and with a remainder left out, as
    /// s3tester does; otherwise whichever is free takes the next.
    #[serde(default)]
    pub fixed_shares: bool,
    /// Time between a request's last byte and the answer, as the store takes it to write the object away.
    #[serde(default)]
    pub service_time: Duration,
    /// Who serves.
    pub server: Program,
}

/// Load generators keep their connections.
const fn reused() -> bool {
    true
}

/// What an object store is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum S3Operation {
    /// Upload.
    Put,
    /// Download.
    Get,
}

pub(super) fn read(fields: &Fields<'_>, operation: S3Operation) -> Option<S3Load> {
    let requests = fields.integer("requests", 1, 1_000_000).map_or(1, |n| n.value);
    let concurrency = fields.integer("concurrency", 1, 256);
    let part_size = fields.positive::<ByteCount>("part_size");
    let load = S3Load {
        operation,
        part_size: part_size.map(|p| p.value),
        requests: u32::try_from(requests).unwrap_or(1),
        concurrency: concurrency.map_or(1, |n| u32::try_from(n.value).unwrap_or(1)),
        tls: fields.flag("tls").is_some_and(|t| t.value),
        reuse: fields.flag("reuse").is_none_or(|reuse| reuse.value),
        fixed_shares: fields.flag("fixed_shares").is_some_and(|fixed| fixed.value),
        service_time: fields
            .quantity("service_time")
            .map_or(Duration::ZERO, |time| time.value),
        server: program(fields, "server_program", &["builtin", "versitygw", "s3s-fs"]),
        object_size: size(fields)?,
    };
    if let Some(concurrency) = concurrency
        && part_size.is_none()
        && concurrency.value > requests
    {
        fields.issues().push(
            Diagnostic::error(
                concurrency.span,
                format!(
                    "only {requests} of {} connections would have work",
                    concurrency.value
                ),
            )
            .help("raise `requests`, or lower `concurrency`"),
        );
    }
    if load.fixed_shares
        && let Some(part_size) = part_size
    {
        fields.issues().push(
            Diagnostic::error(part_size.span, "`fixed_shares` are of whole objects".to_owned())
                .help("leave out `part_size`, or `fixed_shares`"),
        );
    }
    Some(load)
}
