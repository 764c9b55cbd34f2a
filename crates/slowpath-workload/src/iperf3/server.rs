//! Several clients at a time, with limits.
//!
//! One thread accepts, reads cookies without ever blocking on one client, and hands streams to their tests; each
//! test has a thread of its own, and one for every stream.

mod config;
mod door;
mod shared;
mod test;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use self::door::Door;
use self::shared::{Shared, lock, open_udp};
use crate::context::{Cancel, Context};
use crate::service::Service;
use crate::socket::SocketError;

pub use config::{Limits, ServerConfig, TestRecord};

/// A server that runs until it is stopped or its context ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    service: Service,
}

impl Server {
    /// Listens and serves from threads of its own, which live in the caller's network namespace.
    ///
    /// # Errors
    /// The address cannot be listened on, or no thread can be started.
    pub fn start(config: ServerConfig, context: &Context) -> Result<Self, SocketError> {
        let (listener, udp, address) = config.options.listen_both(config.listen, 512, open_udp)?;
        let cancel = Cancel::new();
        // Either flag stops the server; sessions look at its own, which follows the run's.
        let own = context.clone().with_cancel(cancel.clone());
        let shared = Arc::new(Shared {
            config,
            context: own,
            waiting: Mutex::default(),
            records: Mutex::default(),
        });
        let run = context.clone();
        let service = Service::spawn("iperf3-server", cancel, {
            let shared = Arc::clone(&shared);
            move || Door::new(&shared, listener, udp).keep(&run)
        })
        .map_err(|source| SocketError::io("starting a thread to listen on", address, source))?;
        Ok(Self {
            address,
            shared,
            service,
        })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes the records of the tests that have ended so far.
    pub fn take_records(&self) -> Vec<TestRecord> {
        std::mem::take(&mut lock(&self.shared.records))
    }

    /// Ends all tests and returns the records that were not taken yet.
    pub fn stop(mut self) -> Vec<TestRecord> {
        self.service.end();
        self.take_records()
    }
}
