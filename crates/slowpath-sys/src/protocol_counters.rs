//! What a network namespace counted of UDP, all its programs together (`/proc/net/snmp` and `snmp6`, RFC 4113).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Datagrams of UDP since the namespace began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Datagrams {
    /// Given to programs.
    pub received: u64,
    /// Sent by programs.
    pub sent: u64,
}

/// The counters of one network namespace, which stay its own when the thread moves on.
#[derive(Debug)]
pub struct ProtocolCounters {
    files: Vec<File>,
}

impl ProtocolCounters {
    /// Those of the calling thread's network namespace.
    ///
    /// # Errors
    /// `ENOENT` where `/proc` does not show them.
    pub fn open() -> io::Result<Self> {
        let mut files = vec![File::open("/proc/thread-self/net/snmp")?];
        // A kernel without IPv6 has none.
        files.extend(File::open("/proc/thread-self/net/snmp6"));
        Ok(Self { files })
    }

    /// Datagrams so far, over IPv4 and IPv6.
    ///
    /// # Errors
    /// Those of reading a file.
    pub fn datagrams(&self) -> io::Result<Datagrams> {
        let mut sum = Datagrams::default();
        for file in &self.files {
            let one = parse(&whole(file)?);
            sum.received += one.received;
            sum.sent += one.sent;
        }
        Ok(sum)
    }
}

/// The text of a file of `/proc` from its begin.
fn whole(file: &File) -> io::Result<String> {
    let mut text = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = file.read_at(&mut part, text.len() as u64)?;
        if count == 0 {
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
        text.extend_from_slice(&part[..count]);
    }
}

/// IPv4's has a line of names and a line of values, IPv6's a line for each.
fn parse(text: &str) -> Datagrams {
    let mut udp = text.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let (names, values) = (udp.next().unwrap_or_default(), udp.next().unwrap_or_default());
    let in_columns: Vec<(&str, &str)> = (names.split_whitespace().zip(values.split_whitespace())).collect();
    let in_lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("Udp6")?.split_once(char::is_whitespace));
    let all: Vec<(&str, &str)> = in_columns.into_iter().chain(in_lines).collect();
    let of = |name: &str| {
        let found = all.iter().find(|(own, _)| *own == name);
        found
            .and_then(|(_, value)| value.trim().parse().ok())
            .unwrap_or(0)
    };
    Datagrams {
        received: of("InDatagrams"),
        sent: of("OutDatagrams"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn both_forms_are_read() {
        let four = "Tcp: RtoAlgorithm ActiveOpens\nTcp: 1 7\nUdp: InDatagrams NoPorts InErrors OutDatagrams\nUdp: 12 0 0 34\n";
        let six = "Ip6InReceives                   \t1\nUdp6InDatagrams                 \t5\nUdp6OutDatagrams                \t6\n";
        let counted = |received, sent| Datagrams { received, sent };
        assert_eq!(parse(four), counted(12, 34));
        assert_eq!(parse(six), counted(5, 6));
        for cut in 0..four.len() {
            parse(&four[..cut]);
        }
        assert_eq!(parse(""), counted(0, 0));
    }

    #[test]
    fn a_datagram_counts() {
        let counters = ProtocolCounters::open().unwrap();
        let before = counters.datagrams().unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
        socket.recv(&mut [0; 8]).unwrap();
        let after = counters.datagrams().unwrap();
        assert!(after.sent > before.sent && after.received > before.received);
    }
}
