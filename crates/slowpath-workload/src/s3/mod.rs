//! S3: PUT, GET, multipart upload and ranged download over connections that we know one by one.
//!
//! Start with [`run`]. Each worker has one connection at a time, so concurrency is the number of connections, and
//! every connection's `TCP_INFO` and share of the bytes is in the report. Throughput is defined as s3tester defines
//! it: bytes of successful requests over the time from the first request to the last answer; each connection's own
//! rate stands beside it.
//!
//! * [`load`]: many requests; [`client`]: single ones on one connection.
//! * [`sign`]: AWS Signature Version 4; `http`: HTTP/1.1, as much of it as object stores need.
//! * [`server`]: a small endpoint in memory, for tests and for experiments without storage behind them.
//! * [`tls`]: TLS for both, with rustls.
//!
//! Not here: virtual-hosted addressing (path style only), retries (a failed request is a
//! result, not something to hide).

pub mod client;
mod error;
mod http;
pub mod load;
pub mod server;
pub mod sign;
pub mod tls;

pub use client::{Client, Endpoint, S3Error};
pub use load::{LoadConfig, LoadReport, Operation, RequestResult, run};
pub use server::{MemoryServer, ServerConfig};
pub use sign::{Credentials, PayloadHash};
pub use tls::{Authorities, ClientTls, ServerTls, TlsError};
