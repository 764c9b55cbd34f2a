//! A plain copy over one TCP connection, as netcat makes it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use slowpath_record::{Series, TransferResult};
use slowpath_units::Duration;

use crate::context::{Cancel, Context};
use crate::drain::Drain;
use crate::guard::Refused;
use crate::payload::{self, PayloadError, Sink, Source};
use crate::progress::Progress;
use crate::socket::{self, SocketError, SocketOptions};
use crate::watch::{self, ConnectionLog, Sampler};

/// A copy to make.
#[derive(Debug, Clone)]
pub struct CopyConfig {
    /// Where to.
    pub to: SocketAddr,
    /// What.
    pub source: Source,
    /// Options of the connection.
    pub socket: SocketOptions,
    /// How often `TCP_INFO` is sampled.
    pub sample_every: Duration,
}

/// What came of a copy, on either side.
#[derive(Debug, Clone)]
pub struct CopyReport {
    /// The transfer: on the sending side it ends when the other side has closed, which it does when it has read
    /// everything; on the receiving side with the last byte read.
    pub transfer: TransferResult,
    /// Rate per second at this application.
    pub progress: Series,
    /// The connection.
    pub connection: Option<ConnectionLog>,
}

/// A copy that could not begin.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The address may not be loaded.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The connection or the source could not be opened.
    #[error(transparent)]
    Payload(#[from] PayloadError),
}

impl From<SocketError> for CopyError {
    fn from(error: SocketError) -> Self {
        Self::Payload(error.into())
    }
}

/// Sends a source over a fresh connection and waits until the receiver has it all.
///
/// # Errors
/// No permission, or the connection or source cannot be opened. A copy that breaks off is reported as incomplete.
pub fn copy(config: &CopyConfig, context: &Context) -> Result<CopyReport, CopyError> {
    context.admit(config.to.ip())?;
    let mut source = config.source.open(0)?;
    let start = context.now();
    let sampler = Sampler::start(context, config.sample_every);
    let stream = Arc::new(config.socket.connect(config.to, context)?);
    let watched = sampler.watch("copy", &stream, &config.socket);
    let mut progress = Progress::per_second(start);
    let done = payload::send(&stream, &mut source, &mut progress, context).and_then(|()| {
        let io = |source| SocketError::io("ending the data to", config.to, source);
        stream.shutdown(std::net::Shutdown::Write).map_err(io)?;
        // The receiver closes when it has read the end.
        let mut rest = [0_u8; 512];
        while socket::read(&stream, &mut rest, "waiting for the end of the copy to", context)? > 0 {}
        Ok(())
    });
    let end = context.now();
    sampler.sample_now(watched);
    let connection = sampler.finish().pop();
    let last = connection.as_ref().and_then(ConnectionLog::last);
    Ok(CopyReport {
        transfer: TransferResult {
            name: "copy".to_owned(),
            bytes: progress.total(),
            start,
            end,
            complete: done.is_ok(),
            error: done.err().map(|error| error.to_string()),
            retransmitted_segments: last.map(|sample| u64::from(sample.retransmitted_segments)),
            sender: None,
        },
        progress: progress.series("copy/sent"),
        connection,
    })
}

/// Receives copies until it is stopped.
#[derive(Debug)]
pub struct CopySink {
    address: SocketAddr,
    cancel: Cancel,
    reports: Arc<Mutex<Vec<CopyReport>>>,
    thread: Option<JoinHandle<()>>,
}

impl CopySink {
    /// Listens on `at` from a thread of its own; one copy at a time, port 0 takes a free one.
    ///
    /// # Errors
    /// The address cannot be listened on, or no thread can be started.
    pub fn start(
        at: SocketAddr,
        options: SocketOptions,
        drain: Option<Drain>,
        context: &Context,
    ) -> Result<Self, SocketError> {
        let listener = options.listen(at, 8)?;
        let io = |source| SocketError::io("receiving copies on", at, source);
        let address = listener.local_addr().map_err(io)?;
        let (cancel, reports) = (Cancel::new(), Arc::new(Mutex::new(Vec::new())));
        let thread = std::thread::Builder::new()
            .name("copy-sink".to_owned())
            .spawn({
                let (cancel, reports, run) = (cancel.clone(), Arc::clone(&reports), context.clone());
                move || {
                    let own = run.clone().with_cancel(cancel.clone());
                    while run.check().is_ok() && !cancel.is_cancelled() {
                        let slice = own.clone().with_timeout(Duration::from_millis(200));
                        if let Ok((stream, _)) = socket::accept(&listener, address, &slice) {
                            let report = receive(Arc::new(stream), &options, drain, &own);
                            reports
                                .lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .push(report);
                        }
                    }
                }
            })
            .map_err(io)?;
        Ok(Self {
            address,
            cancel,
            reports,
            thread: Some(thread),
        })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops and returns a report of every copy.
    pub fn stop(mut self) -> Vec<CopyReport> {
        self.end();
        std::mem::take(&mut self.reports.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn end(&mut self) {
        self.cancel.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has already ended the sink.
            let _ = thread.join();
        }
    }
}

impl Drop for CopySink {
    fn drop(&mut self) {
        self.end();
    }
}

fn receive(
    stream: Arc<std::net::TcpStream>,
    options: &SocketOptions,
    drain: Option<Drain>,
    context: &Context,
) -> CopyReport {
    let start = context.now();
    let sampler = Sampler::start(context, Duration::from_millis(100));
    let watched = sampler.watch("copy", &stream, options);
    let mut progress = Progress::per_second(start);
    let done = Sink::Discard
        .open(0)
        .and_then(|mut sink| payload::receive(&stream, &mut sink, drain, &mut progress, context));
    let _ = stream.shutdown(std::net::Shutdown::Write);
    watch::linger(&stream, Duration::from_secs(1), context);
    sampler.sample_now(watched);
    drop(stream);
    CopyReport {
        transfer: TransferResult {
            name: "copy".to_owned(),
            bytes: progress.total(),
            start,
            end: done.as_ref().copied().unwrap_or_else(|_| context.now()),
            complete: done.is_ok(),
            error: done.err().map(|error| error.to_string()),
            retransmitted_segments: None,
            sender: None,
        },
        progress: progress.series("copy/received"),
        connection: sampler.finish().pop(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_units::ByteCount;

    #[test]
    fn a_copy_arrives_in_full() {
        let context = Context::new().with_timeout(Duration::from_secs(20));
        let at = SocketAddr::from(([127, 0, 0, 1], 0));
        let sink = CopySink::start(at, SocketOptions::default(), None, &context).unwrap();
        let config = CopyConfig {
            to: sink.address(),
            source: Source::Synthetic {
                size: ByteCount::new(5_000_001),
                seed: 1,
            },
            socket: SocketOptions::default(),
            sample_every: Duration::from_millis(10),
        };
        let sent = copy(&config, &context).unwrap();
        assert_eq!((sent.transfer.bytes, &sent.transfer.error), (5_000_001, &None));
        let received = sink.stop();
        assert_eq!(received.len(), 1);
        assert_eq!(
            (received[0].transfer.bytes, received[0].transfer.complete),
            (5_000_001, true)
        );
    }
}
