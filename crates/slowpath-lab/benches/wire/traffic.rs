//! Bulk traffic as plain as it gets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use slowpath_sys::{message, sockopt};

const PIECE: usize = 128 * 1024;

pub(crate) fn listen() -> TcpListener {
    TcpListener::bind("10.77.0.2:0").expect("a namespace of its own has room")
}

/// Sends for `span`.
pub(crate) fn send(to: SocketAddr, span: Duration) {
    let mut stream = TcpStream::connect(to).expect("the far host listens");
    let piece = vec![7_u8; PIECE];
    let start = Instant::now();
    while start.elapsed() < span {
        stream.write_all(&piece).expect("the far host reads");
    }
}

/// Receives one connection; bits per second from the first byte to the last.
pub(crate) fn receive(listener: &TcpListener) -> f64 {
    let (mut stream, _) = listener.accept().expect("a connection comes");
    let mut buffer = vec![0_u8; PIECE];
    let (mut total, mut first) = (0_u64, None);
    while let Ok(length) = stream.read(&mut buffer) {
        if length == 0 {
            break;
        }
        first.get_or_insert_with(Instant::now);
        total += length as u64;
    }
    total as f64 * 8.0 / first.map_or(1.0, |first| first.elapsed().as_secs_f64())
}

pub(crate) fn datagram_socket() -> UdpSocket {
    let socket = UdpSocket::bind("10.77.0.2:0").expect("a namespace of its own has room");
    let _ = sockopt::set_receive_buffer(&socket, 64 << 20);
    socket
        .set_read_timeout(Some(Duration::from_millis(300)))
        .expect("a timeout can be set");
    socket
}

/// Sends datagrams of 1400 bytes for `span`; how many, and in how many seconds.
pub(crate) fn send_datagrams(to: SocketAddr, span: Duration) -> (u64, f64) {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a namespace of its own has room");
    socket.connect(to).expect("a route leads there");
    let data = vec![7_u8; 1400 * 32];
    let start = Instant::now();
    let mut sent = 0;
    let rate: f64 = std::env::var("SLOWPATH_BENCH_PPS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(450_000.0);
    while start.elapsed() < span {
        // Paced in bursts of 32, as a program that sends at a rate does.
        let due = start.elapsed().as_secs_f64() * rate;
        if sent as f64 > due {
            std::hint::spin_loop();
            continue;
        }
        sent += message::send_many(&socket, &data, 1400).unwrap_or(0) as u64;
    }
    (sent, start.elapsed().as_secs_f64())
}

pub(crate) fn receive_datagrams(socket: &UdpSocket) -> u64 {
    let mut buffer = [0; 2048];
    let mut count = 0;
    // The first may take its time.
    for _ in 0..10 {
        if socket.recv(&mut buffer).is_ok() {
            count += 1;
            break;
        }
    }
    while socket.recv(&mut buffer).is_ok() {
        count += 1;
    }
    count
}
