//! The other end: an iperf3-compatible server, the reflector of sweeps, and on request an FTP and an S3 server.

use std::net::{IpAddr, SocketAddr};

use slowpath_units::{ByteCount, Duration};
use slowpath_workload::iperf3::{self, Server};
use slowpath_workload::s3::{Credentials, MemoryServer};
use slowpath_workload::sweep::Reflector;
use slowpath_workload::{Cancel, Context, Permission, SocketError, ftp, s3};

pub use slowpath_workload::Network;
pub use slowpath_workload::iperf3::{Limits, TestRecord};

/// What to serve, to whom, and how much.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Address to listen on.
    pub address: IpAddr,
    /// iperf3's port, TCP and UDP.
    pub port: u16,
    /// The sweep reflector's port, TCP and UDP; none if absent.
    pub reflector: Option<u16>,
    /// FTP port, with one made-up file of this size called `data`; uploads are counted and forgotten.
    pub ftp: Option<(u16, ByteCount)>,
    /// S3 port: objects in memory, at most so many bytes.
    pub s3: Option<(u16, ByteCount, Credentials)>,
    /// Clients that are served, by every service; everybody if empty.
    pub allowed: Vec<Network>,
    /// What iperf3 clients may ask for.
    pub limits: Limits,
    /// End after this many iperf3 tests.
    pub tests: Option<u32>,
}

/// What happens at a server.
#[derive(Debug)]
pub enum Event {
    /// A service listens.
    Listening(&'static str, SocketAddr),
    /// An iperf3 test has ended.
    Test(Box<TestRecord>),
    /// An FTP transfer has ended.
    Ftp(Box<ftp::ServerTransfer>),
}

/// Serves until `tests` have ended or `cancel` is raised.
///
/// # Errors
/// An address cannot be listened on.
pub fn serve(spec: &Spec, cancel: &Cancel, each: &mut dyn FnMut(Event)) -> Result<(), SocketError> {
    // A server sends only what a client of an allowed address asks for, within the limits.
    let context = Context::new()
        .with_cancel(cancel.clone())
        .with_permission(Permission::OwnNamespace)
        .with_clients(spec.allowed.clone());
    let at = |port| SocketAddr::new(spec.address, port);
    let mut config = iperf3::ServerConfig::new(at(spec.port));
    config.limits = spec.limits.clone();
    let server = Server::start(config, &context)?;
    each(Event::Listening("iperf3", server.address()));
    let mut reflector = None;
    if let Some(port) = spec.reflector {
        let started = Reflector::start(at(port), &context)?;
        each(Event::Listening("sweep", started.address()));
        reflector = Some(started);
    }
    let mut files = None;
    if let Some((port, size)) = spec.ftp {
        let started = ftp::Server::start(ftp::ServerConfig::synthetic(at(port), "data", size, 1), &context)?;
        each(Event::Listening("ftp", started.address()));
        files = Some(started);
    }
    let mut store = None;
    if let Some((port, capacity, credentials)) = &spec.s3 {
        let mut config = s3::ServerConfig::new(at(*port), Some(credentials.clone()));
        config.capacity = capacity.bytes();
        let started = MemoryServer::start(config, &context)?;
        each(Event::Listening("s3", started.address()));
        store = Some(started);
    }
    let mut ended = 0;
    let mut transfers = 0;
    while !cancel.is_cancelled() && spec.tests.is_none_or(|tests| ended < tests) {
        // The end of the context is the only other way out, and that is the flag above.
        let _ = context.sleep(Duration::from_millis(50));
        for record in server.take_records() {
            ended += 1;
            each(Event::Test(Box::new(record)));
        }
        if let Some(files) = &files {
            for transfer in files.transfers().into_iter().skip(transfers) {
                transfers += 1;
                each(Event::Ftp(Box::new(transfer)));
            }
        }
    }
    drop((reflector, store));
    if let Some(files) = files {
        files.stop();
    }
    server.stop();
    Ok(())
}

/// Where `slowpath serve` reflects the probes of sweeps.
pub const REFLECTOR_PORT: u16 = 5202;
