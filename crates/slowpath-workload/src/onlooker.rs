//! Samples of `TCP_INFO` of connections that belong to other programs.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;

use slowpath_packet::flow::{FlowKey, Protocol};
use slowpath_sys::sock_diag::{SockDiag, TcpSocket};
use slowpath_units::Duration;

use crate::context::Context;
use crate::socket::SocketFacts;
use crate::watch::{ConnectionLog, TcpSample};

/// Which connections to look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Ports of either end; empty looks at every connection.
    pub ports: Vec<u16>,
}

/// Looks at the TCP sockets of a network namespace until it is finished.
///
/// Works on unmodified programs: an iperf3, an sshd, a vsftpd. A connection that opens and closes between two
/// looks is not seen, and the last sample of a connection is up to one interval older than its end.
#[derive(Debug)]
pub struct Onlooker {
    stop: Sender<()>,
    thread: JoinHandle<Vec<ConnectionLog>>,
}

impl Onlooker {
    /// Starts looking at the namespace of the calling thread, every `interval`.
    ///
    /// # Errors
    /// The kernel offers no socket diagnostics, or no thread can be started.
    pub fn start(filter: Filter, interval: Duration, context: &Context) -> io::Result<Self> {
        let mut diag = SockDiag::open()?;
        // A first look here tells at once whether the kernel can do it.
        diag.tcp_sockets()?;
        let (stop, stopped) = mpsc::channel();
        let context = context.clone();
        let thread = std::thread::Builder::new()
            .name("sock-diag".to_owned())
            .spawn(move || {
                let mut logs: BTreeMap<u64, ConnectionLog> = BTreeMap::new();
                loop {
                    look(&mut diag, &filter, &context, &mut logs);
                    match stopped.recv_timeout(interval.max(Duration::from_millis(1)).to_std()) {
                        Err(RecvTimeoutError::Timeout) => {}
                        Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
                look(&mut diag, &filter, &context, &mut logs);
                let mut logs: Vec<ConnectionLog> = logs.into_values().collect();
                logs.sort_by_key(|log| log.samples.first().map(|sample| sample.at));
                logs
            })?;
        Ok(Self { stop, thread })
    }

    /// Takes a last look and returns every connection that was seen, in the order of their appearance.
    pub fn finish(self) -> Vec<ConnectionLog> {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

fn look(diag: &mut SockDiag, filter: &Filter, context: &Context, logs: &mut BTreeMap<u64, ConnectionLog>) {
    // A failed look is a missing sample, nothing else.
    let Ok(sockets) = diag.tcp_sockets() else {
        return;
    };
    let at = context.now();
    for socket in sockets {
        let wanted = filter.ports.is_empty()
            || filter
                .ports
                .iter()
                .any(|port| *port == socket.local.port() || *port == socket.remote.port());
        let (Some(info), true) = (&socket.info, wanted && socket.remote.port() != 0) else {
            continue;
        };
        let log = logs.entry(socket.cookie).or_insert_with(|| begin(&socket));
        log.facts
            .congestion_control
            .clone_from(&socket.congestion_control);
        log.facts.mss = info.snd_mss;
        if let Some(memory) = &socket.memory {
            log.facts.receive_buffer = u64::from(memory.receive_buffer);
            log.facts.send_buffer = u64::from(memory.send_buffer);
        }
        log.samples.push(TcpSample::new(at, info));
    }
}

fn begin(socket: &TcpSocket) -> ConnectionLog {
    ConnectionLog {
        name: format!("{} > {}", socket.local, socket.remote),
        key: FlowKey::new(Protocol::TCP, socket.local, socket.remote),
        facts: SocketFacts::default(),
        samples: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn sees_both_ends_of_a_foreign_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let onlooker = match Onlooker::start(
            Filter { ports: vec![port] },
            Duration::from_millis(5),
            &Context::new(),
        ) {
            Ok(onlooker) => onlooker,
            Err(error) => {
                eprintln!("skipped: sees_both_ends_of_a_foreign_connection: {error}");
                return;
            }
        };
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[1; 10_000]).unwrap();
        let mut buffer = [0; 10_000];
        server.read_exact(&mut buffer).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let logs = onlooker.finish();
        assert_eq!(logs.len(), 2, "{logs:?}");
        let sender = logs.iter().find(|log| log.key.dst_port == port).unwrap();
        // The SYN counts as one byte.
        assert_eq!(sender.last().unwrap().bytes_acked, 10_001);
        let receiver = logs.iter().find(|log| log.key.src_port == port).unwrap();
        assert_eq!(receiver.last().unwrap().bytes_received, 10_000);
        assert!(!sender.facts.congestion_control.is_empty());
    }
}
