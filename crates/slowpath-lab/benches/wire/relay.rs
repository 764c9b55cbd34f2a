//! The yardstick: two TUN devices, one thread per direction, read and write and nothing else.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use slowpath_sys::clock;
use slowpath_sys::namespace::NetworkNamespace;
use slowpath_sys::netlink::{Address, LinkChange, Netlink, Route, RouteMetrics};
use slowpath_sys::poll::PollSet;
use slowpath_sys::tun::Tun;

use crate::traffic;

pub(crate) struct Relay {
    namespaces: [NetworkNamespace; 2],
    stops: Vec<UnixStream>,
    threads: Vec<JoinHandle<u64>>,
}

impl Relay {
    pub(crate) fn start(congestion_control: &str) -> io::Result<Self> {
        Self::holding(congestion_control, 0)
    }

    /// The same, but whatever is read is written so many nanoseconds later: what delay itself costs a machine.
    pub(crate) fn holding(congestion_control: &str, nanos: u64) -> io::Result<Self> {
        let namespaces = [NetworkNamespace::create()?, NetworkNamespace::create()?];
        let mut tuns = Vec::new();
        for (number, namespace) in namespaces.iter().enumerate() {
            let last = u8::try_from(number + 1).unwrap_or(0);
            tuns.push(Arc::new(inside(namespace, || {
                set_up([10, 77, 0, last], congestion_control)
            })?));
        }
        let (mut stops, mut threads) = (Vec::new(), Vec::new());
        for (from, to) in [(0, 1), (1, 0)] {
            let (from, to) = (tuns[from].clone(), tuns[to].clone());
            let (stop, stopped) = UnixStream::pair()?;
            stops.push(stop);
            threads.push(std::thread::spawn(move || match nanos {
                0 => copy(&from, &to, &stopped),
                nanos => hold(&from, &to, &stopped, nanos),
            }));
        }
        Ok(Self {
            namespaces,
            stops,
            threads,
        })
    }

    /// Bits per second of one TCP connection.
    pub(crate) fn tcp(&self, span: Duration) -> f64 {
        let [near, far] = &self.namespaces;
        let listener = inside(far, || traffic::listen([10, 77, 0, 2]));
        let address = listener.local_addr().expect("it listens");
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| inside(far, || traffic::receive(&listener)));
            inside(near, || traffic::send(address, span));
            receiver.join().expect("the receiver counts")
        })
    }
}

impl Relay {
    /// The near and the far host's; the far one's address is 10.77.0.2.
    #[allow(dead_code)] // for programs over the relay
    pub(crate) const fn namespaces(&self) -> &[NetworkNamespace; 2] {
        &self.namespaces
    }

    /// Ends the relay; processor time of each direction in seconds.
    pub(crate) fn end(mut self) -> Vec<f64> {
        self.stops.clear();
        let ended = self
            .threads
            .drain(..)
            .map(|thread| thread.join().expect("the relay does not panic"));
        ended.map(|nanos| nanos as f64 / 1e9).collect()
    }
}

pub(crate) fn inside<T: Send>(namespace: &NetworkNamespace, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            namespace.enter().expect("it was made by this process");
            work()
        });
        thread.join().expect("the work does not panic")
    })
}

fn set_up(ip: [u8; 4], congestion_control: &str) -> io::Result<Tun> {
    let tun = Tun::create("wire0", true)?;
    let mut netlink = Netlink::open()?;
    let link = netlink.link("wire0")?.index;
    let change = LinkChange {
        up: Some(true),
        queue_length: Some(50_000),
        ..LinkChange::default()
    };
    netlink.change_link(link, &change)?;
    netlink.add_address(
        link,
        Address {
            ip: ip.into(),
            prefix: 32,
        },
    )?;
    netlink.set_route(&Route {
        destination: Address {
            ip: [0; 4].into(),
            prefix: 0,
        },
        link,
        gateway: None,
        source: Some(ip.into()),
        metrics: RouteMetrics {
            congestion_control: Some(congestion_control.to_owned()),
            ..RouteMetrics::default()
        },
    })?;
    Ok(tun)
}

fn copy(from: &Tun, to: &Tun, stopped: &UnixStream) -> u64 {
    let mut set = PollSet::new();
    set.add_readable(from.as_fd());
    let stopping = set.add_readable(stopped.as_fd());
    let mut buffer = vec![0; 1 << 17];
    loop {
        match from.file().read(&mut buffer) {
            Ok(length) => {
                let _ = to.file().write(&buffer[..length]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if set.wait(None).is_err() || set.is_ready(stopping) {
                    return clock::thread_cpu();
                }
            }
            Err(_) => return clock::thread_cpu(),
        }
    }
}

/// As [`copy`], with each train held for a time in a buffer of its own.
fn hold(from: &Tun, to: &Tun, stopped: &UnixStream, nanos: u64) -> u64 {
    let _ = clock::set_timer_slack(1);
    let mut set = PollSet::new();
    set.add_readable(from.as_fd());
    let stopping = set.add_readable(stopped.as_fd());
    let mut held: VecDeque<(u64, usize, Vec<u8>)> = VecDeque::new();
    let mut spare: Vec<Vec<u8>> = Vec::new();
    loop {
        while held.front().is_some_and(|(due, ..)| *due <= clock::monotonic())
            && let Some((_, length, buffer)) = held.pop_front()
        {
            let _ = to.file().write(&buffer[..length]);
            spare.push(buffer);
        }
        let mut buffer = spare.pop().unwrap_or_else(|| vec![0; LARGEST]);
        match from.file().read(&mut buffer) {
            Ok(length) => held.push_back((clock::monotonic() + nanos, length, buffer)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                spare.push(buffer);
                let left = held
                    .front()
                    .map(|(due, ..)| due.saturating_sub(clock::monotonic()));
                if set.wait(left).is_err() || set.is_ready(stopping) {
                    return clock::thread_cpu();
                }
            }
            Err(_) => return clock::thread_cpu(),
        }
    }
}

/// A train of 64 KiB with the header of trains.
const LARGEST: usize = 65_536 + 64;
