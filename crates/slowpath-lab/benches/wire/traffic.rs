//! Bulk traffic as plain as it gets.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use slowpath_sys::{message, sockopt};

const PIECE: usize = 128 * 1024;
/// What arrives earlier is start-up and not counted.
pub(crate) const WARM: Duration = Duration::from_millis(300);
/// After so long without a datagram the last one has come.
const SILENCE: Duration = Duration::from_millis(900);
/// Bytes of data in each datagram.
pub(crate) const DATAGRAM: usize = 1400;

pub(crate) fn listen(address: [u8; 4]) -> TcpListener {
    TcpListener::bind((IpAddr::from(address), 0)).expect("a namespace of its own has room")
}

/// Sends for `span`; CUBIC where the route says nothing else.
pub(crate) fn send(to: SocketAddr, span: Duration) {
    let mut stream = TcpStream::connect(to).expect("the far host listens");
    if std::env::var("SLOWPATH_BENCH_SEND").is_ok() {
        let _ = sockopt::set_congestion_control(&stream, "cubic");
    }
    let piece = vec![7_u8; PIECE];
    let start = Instant::now();
    while start.elapsed() < span {
        stream.write_all(&piece).expect("the far host reads");
    }
}

/// Receives one connection; bits of data per second from 0.3 s after the first byte to the last.
pub(crate) fn receive(listener: &TcpListener) -> f64 {
    let (mut stream, _) = listener.accept().expect("a connection comes");
    let mut buffer = vec![0_u8; PIECE];
    // A peer may take its devices away before the last packets have arrived.
    stream
        .set_read_timeout(Some(Duration::from_secs(3)))
        .expect("a timeout can be set");
    let (mut total, mut first, mut counted) = (0_u64, None, None);
    let mut latest = Instant::now();
    while let Ok(length) = stream.read(&mut buffer) {
        if length == 0 {
            break;
        }
        latest = Instant::now();
        let first = *first.get_or_insert(latest);
        if counted.is_none() && latest - first > WARM {
            counted = Some(latest);
        } else if counted.is_some() {
            total += length as u64;
        }
    }
    counted.map_or(0.0, |from| total as f64 * 8.0 / (latest - from).as_secs_f64())
}

/// Receives one connection to its end; bits of data per second between the two times.
///
/// What several flows carry together is counted over one span for all of them: each flow's own span begins and ends
/// elsewhere, and the sum of such rates exceeds what the path carried at any time.
pub(crate) fn receive_between(listener: &TcpListener, from: Instant, to: Instant) -> f64 {
    let (mut stream, _) = listener.accept().expect("a connection comes");
    let mut buffer = vec![0_u8; PIECE];
    let mut total = 0_u64;
    while let Ok(length) = stream.read(&mut buffer) {
        if length == 0 {
            break;
        }
        if (from..to).contains(&Instant::now()) {
            total += length as u64;
        }
    }
    total as f64 * 8.0 / (to - from).as_secs_f64()
}

pub(crate) fn datagram_socket(address: [u8; 4]) -> UdpSocket {
    let socket = UdpSocket::bind((IpAddr::from(address), 0)).expect("a namespace of its own has room");
    let _ = sockopt::set_receive_buffer(&socket, 64 << 20);
    socket
        .set_read_timeout(Some(SILENCE))
        .expect("a timeout can be set");
    socket
}

/// Sends `rate` datagrams per second for `span`; how many, and in how many seconds.
pub(crate) fn send_datagrams(to: SocketAddr, span: Duration, rate: f64) -> (u64, f64) {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a namespace of its own has room");
    socket.connect(to).expect("a route leads there");
    // Paced in bursts of 32, or of 0.2 ms, as a program that sends at a rate does.
    let burst = if rate > 160_000.0 { 32 } else { 1 };
    let data = vec![7_u8; DATAGRAM * burst];
    let start = Instant::now();
    let mut sent = 0;
    while start.elapsed() < span {
        let due = start.elapsed().as_secs_f64() * rate;
        if sent as f64 > due {
            if burst == 1 {
                std::thread::sleep(Duration::from_micros(200));
            } else {
                // On two processors the wire and the receiver share one with whoever watches the clock.
                std::thread::yield_now();
            }
            continue;
        }
        sent += message::send_many(&socket, &data, DATAGRAM).unwrap_or(0) as u64;
    }
    (sent, start.elapsed().as_secs_f64())
}

/// Receives until nothing comes any more: how many, and how many per second from 0.3 s after the first on.
///
/// Of many datagrams a second a `patient` receiver takes what has gathered in 0.2 ms: being woken for each one would
/// cost the wire more than handing it over.
pub(crate) fn receive_datagrams(socket: &UdpSocket, patient: bool) -> (u64, f64) {
    let mut room = vec![0; 64 * 2048];
    let (mut count, mut first, mut counted) = (0_u64, None, None);
    let mut latest = Instant::now();
    loop {
        let received = if patient {
            message::receive_many(socket, &mut room, 2048)
        } else {
            socket.recv(&mut room).map(|_| 1)
        };
        let Ok(more) = received else {
            if !patient || latest.elapsed() > SILENCE {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
            continue;
        };
        latest = Instant::now();
        count += more as u64;
        let first = *first.get_or_insert(latest);
        if counted.is_none() && latest - first > WARM {
            counted = Some((latest, count));
        }
    }
    let rate = counted.map_or(0.0, |(from, before)| {
        (count - before) as f64 / (latest - from).as_secs_f64()
    });
    (count, rate)
}

/// Mean and largest round-trip time of `count` pings in microseconds, from the calling thread's namespace.
pub(crate) fn ping(to: [u8; 4], count: u16) -> (f64, f64) {
    let socket = message::ping_socket(false).expect("the lab permits pings");
    socket
        .set_read_timeout(Some(Duration::from_secs(1)))
        .expect("a timeout can be set");
    let mut times = Vec::new();
    for sequence in 0..count {
        let mut request = [0_u8; 64];
        request[0] = 8;
        request[6..8].copy_from_slice(&sequence.to_be_bytes());
        let start = Instant::now();
        socket
            .send_to(&request, (IpAddr::from(to), 0))
            .expect("a route leads there");
        let mut reply = [0_u8; 128];
        while let Ok(length) = socket.recv(&mut reply) {
            if length >= 8 && reply[6..8] == sequence.to_be_bytes() {
                times.push(start.elapsed().as_secs_f64() * 1e6);
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
    (mean, times.iter().copied().fold(0.0, f64::max))
}
