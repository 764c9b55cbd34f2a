//! Which transfers are meant.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use slowpath_sys::process_table;

/// Which transfers to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Those of a program that is started for it, and of its children.
    Command(Vec<String>),
    /// Those of a running process and its children, by its number in `/proc`.
    Process(u32),
    /// Those with this port at either end.
    Port(u16),
    /// Those with this peer.
    Peer(Peer),
}

impl Target {
    /// Those of the process that has this number for the caller, who may be in another PID namespace than that of `/proc`.
    pub fn process(pid: u32) -> Self {
        Self::Process(process_table::number_in_proc(pid))
    }

    /// A short name, as for a record.
    pub fn name(&self) -> String {
        match self {
            Self::Command(words) => words.first().cloned().unwrap_or_default(),
            Self::Process(pid) => format!("process {}", process_table::number_here(*pid)),
            Self::Port(port) => format!("port {port}"),
            Self::Peer(peer) => peer.text.clone(),
        }
    }
}

/// The other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// As it was typed.
    pub text: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// Its port, if only that is meant.
    pub port: Option<u16>,
}

impl Peer {
    /// Reads `HOST`, `HOST:PORT` or `[IPv6]:PORT` and looks the name up.
    ///
    /// # Errors
    /// A sentence, when it cannot be read or the name is not known.
    pub fn resolve(text: &str) -> Result<Self, String> {
        let (host, port) = split(text)?;
        let addresses: Vec<IpAddr> = match host.parse() {
            Ok(address) => vec![address],
            Err(_) => (host, 0)
                .to_socket_addrs()
                .map_err(|error| {
                    format!(
                        "finding the address of {host}: {error}; check the spelling, or write its address"
                    )
                })?
                .map(|address| address.ip())
                .collect(),
        };
        Ok(Self {
            text: text.to_owned(),
            addresses,
            port,
        })
    }

    /// Whether a connection with these ends is meant.
    pub fn matches(&self, remote: SocketAddr) -> bool {
        self.addresses.contains(&remote.ip()) && self.port.is_none_or(|port| port == remote.port())
    }
}

fn split(text: &str) -> Result<(&str, Option<u16>), String> {
    let wrong = || {
        format!(
            "reading --to \"{text}\": that names no peer; write HOST, HOST:PORT or [IPv6]:PORT, such as 192.0.2.1:443"
        )
    };
    if text.is_empty() {
        return Err(wrong());
    }
    if text.parse::<IpAddr>().is_ok() {
        return Ok((text, None));
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or_else(wrong)?;
        return match rest.strip_prefix(':') {
            None if rest.is_empty() => Ok((host, None)),
            None => Err(wrong()),
            Some(port) => Ok((host, Some(port.parse().map_err(|_| wrong())?))),
        };
    }
    match text.split_once(':') {
        None if !text.is_empty() => Ok((text, None)),
        Some((host, port)) if !host.is_empty() => Ok((host, Some(port.parse().map_err(|_| wrong())?))),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_peer() {
        assert_eq!(split("10.0.0.1:22"), Ok(("10.0.0.1", Some(22))));
        assert_eq!(split("backup"), Ok(("backup", None)));
        assert_eq!(split("2001:db8::1"), Ok(("2001:db8::1", None)));
        assert_eq!(split("[2001:db8::1]:443"), Ok(("2001:db8::1", Some(443))));
        for wrong in ["", ":22", "a:b", "[::1]22", "[::1", "a:70000"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
        let peer = Peer::resolve("[::1]:22").unwrap();
        assert!(peer.matches("[::1]:22".parse().unwrap()));
        assert!(!peer.matches("[::1]:23".parse().unwrap()));
    }
}
