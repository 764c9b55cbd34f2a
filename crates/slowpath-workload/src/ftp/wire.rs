//! The control connection: lines, replies, and the three ways to write an address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;

use crate::context::Context;
use crate::socket::{self, SocketError};

/// A server's answer (RFC 959, section 4.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The three digits.
    pub code: u16,
    /// The text after the code, lines joined by line feeds.
    pub text: String,
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {}",
            self.code,
            self.text.lines().next().unwrap_or_default()
        )
    }
}

/// Reads lines that end in LF or CR LF, with a bound on their length.
#[derive(Debug)]
pub(super) struct Lines {
    stream: Arc<TcpStream>,
    buffered: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error(transparent)]
    Socket(#[from] SocketError),
    #[error("the other side closed the control connection")]
    Closed,
    #[error("a line of more than {MAX_LINE} bytes on the control connection")]
    TooLong,
}

impl Lines {
    pub(super) fn new(stream: Arc<TcpStream>) -> Self {
        Self {
            stream,
            buffered: Vec::new(),
        }
    }

    /// The next line without its end.
    pub(super) fn next(&mut self, context: &Context) -> Result<String, LineError> {
        loop {
            if let Some(end) = self.buffered.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffered.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line);
                return Ok(text.trim_end_matches(['\r', '\n']).to_owned());
            }
            if self.buffered.len() > MAX_LINE {
                return Err(LineError::TooLong);
            }
            let mut chunk = [0_u8; 512];
            let len = socket::read(
                &self.stream,
                &mut chunk,
                "reading the control connection of",
                context,
            )?;
            if len == 0 {
                return Err(LineError::Closed);
            }
            self.buffered.extend_from_slice(&chunk[..len]);
        }
    }
}

/// Puts the lines of replies together.
#[derive(Debug, Default)]
pub(super) struct ReplyParser {
    code: Option<u16>,
    text: String,
}

impl ReplyParser {
    /// Takes one line; gives the reply when it is complete, and an error for what is no reply.
    pub(super) fn line(&mut self, line: &str) -> Result<Option<Reply>, NotAReply> {
        let (head, rest) = line.split_at_checked(3).unwrap_or((line, ""));
        let code = head.parse::<u16>().ok().filter(|code| (100..700).contains(code));
        if let Some(open) = self.code {
            if code == Some(open) && !rest.starts_with('-') {
                self.push(rest.strip_prefix(' ').unwrap_or(rest));
                self.code = None;
                return Ok(Some(Reply {
                    code: open,
                    text: std::mem::take(&mut self.text),
                }));
            }
            self.push(line);
            if self.text.len() > MAX_REPLY {
                return Err(NotAReply(line.to_owned()));
            }
            return Ok(None);
        }
        let code = code.ok_or_else(|| NotAReply(line.to_owned()))?;
        if let Some(first) = rest.strip_prefix('-') {
            self.code = Some(code);
            self.push(first);
            return Ok(None);
        }
        Ok(Some(Reply {
            code,
            text: rest.strip_prefix(' ').unwrap_or(rest).to_owned(),
        }))
    }

    fn push(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

/// A line that is no FTP reply.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no FTP reply; is this an FTP server?")]
pub struct NotAReply(pub String);

/// The address in a 227 reply or a PORT argument: six numbers (RFC 959, section 5.3.2).
pub(super) fn parse_six(text: &str) -> Option<SocketAddr> {
    // Servers differ in what surrounds the numbers (RFC 1123, section 4.1.2.6): take the first that fit.
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let mut numbers = text[start..].splitn(6, ',');
    let mut next = || {
        let field = numbers.next()?.trim();
        let end = field.find(|c: char| !c.is_ascii_digit()).unwrap_or(field.len());
        field[..end].parse::<u8>().ok()
    };
    let ip = Ipv4Addr::new(next()?, next()?, next()?, next()?);
    let port = u16::from_be_bytes([next()?, next()?]);
    Some(SocketAddr::from((ip, port)))
}

/// The six numbers of an IPv4 address.
pub(super) fn print_six(address: SocketAddr) -> Option<String> {
    let IpAddr::V4(ip) = address.ip().to_canonical() else {
        return None;
    };
    let [a, b, c, d] = ip.octets();
    let [high, low] = address.port().to_be_bytes();
    Some(format!("{a},{b},{c},{d},{high},{low}"))
}

/// The port in a 229 reply: `(|||port|)` with any delimiter (RFC 2428, section 3).
pub(super) fn parse_extended_port(text: &str) -> Option<u16> {
    let inside = text.split_once('(')?.1.split_once(')')?.0;
    let delimiter = inside.chars().next().filter(|c| !c.is_ascii_digit())?;
    let fields: Vec<&str> = inside.split(delimiter).collect();
    match fields[..] {
        ["", "", "", port, ""] => port.parse().ok().filter(|port| *port != 0),
        _ => None,
    }
}

/// The address in an EPRT argument: `|1|192.0.2.1|6446|` (RFC 2428, section 2).
pub(super) fn parse_extended(text: &str) -> Option<SocketAddr> {
    let delimiter = text.chars().next().filter(|c| !c.is_ascii_alphanumeric())?;
    let fields: Vec<&str> = text.split(delimiter).collect();
    let ["", family, ip, port, ""] = fields[..] else {
        return None;
    };
    let ip: IpAddr = ip.parse().ok()?;
    let family_fits = match ip {
        IpAddr::V4(_) => family == "1",
        IpAddr::V6(_) => family == "2",
    };
    let port: u16 = port.parse().ok().filter(|port| *port != 0)?;
    family_fits.then(|| SocketAddr::new(ip, port))
}

/// An address as EPRT wants it.
pub(super) fn print_extended(address: SocketAddr) -> String {
    let ip = address.ip().to_canonical();
    format!("|{}|{ip}|{}|", if ip.is_ipv4() { 1 } else { 2 }, address.port())
}

const MAX_LINE: usize = 8 * 1024;
const MAX_REPLY: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn replies_of_one_and_many_lines() {
        let mut parser = ReplyParser::default();
        assert_eq!(
            parser.line("220 ready").unwrap(),
            Some(Reply {
                code: 220,
                text: "ready".to_owned()
            })
        );
        assert_eq!(parser.line("211-Features:").unwrap(), None);
        assert_eq!(parser.line(" EPSV").unwrap(), None);
        assert_eq!(parser.line("220 looks like an end").unwrap(), None);
        let reply = parser.line("211 End").unwrap().unwrap();
        assert_eq!(
            (reply.code, reply.text.as_str()),
            (211, "Features:\n EPSV\n220 looks like an end\nEnd")
        );
        assert_eq!(parser.line("226").unwrap().unwrap().text, "");
        assert!(parser.line("SSH-2.0-OpenSSH_9.2").is_err());
        assert!(parser.line("é20 x").is_err());
    }

    #[test]
    fn addresses_in_three_forms() {
        let v4: SocketAddr = "192.0.2.7:50000".parse().unwrap();
        let v6: SocketAddr = "[2001:db8::1]:21".parse().unwrap();
        assert_eq!(print_six(v4).unwrap(), "192,0,2,7,195,80");
        assert_eq!(print_six(v6), None);
        assert_eq!(parse_six("Entering Passive Mode (192,0,2,7,195,80)."), Some(v4));
        assert_eq!(parse_six("192,0,2,7,195,80"), Some(v4));
        for wrong in ["", "(1,2,3,4,5)", "(256,0,0,1,1,1)", "no numbers", "1,2,,4,5,6"] {
            assert_eq!(parse_six(wrong), None, "{wrong}");
        }
        assert_eq!(
            parse_extended_port("Entering Extended Passive Mode (|||6446|)"),
            Some(6446)
        );
        for wrong in ["(|||0|)", "(|||70000|)", "(||6446|)", "(6446)", "(|||6446)", ")("] {
            assert_eq!(parse_extended_port(wrong), None, "{wrong}");
        }
        for address in [v4, v6] {
            assert_eq!(parse_extended(&print_extended(address)), Some(address));
        }
        for wrong in [
            "|2|192.0.2.7|1|",
            "|1|192.0.2.7|0|",
            "1|192.0.2.7|1|",
            "|1|192.0.2.7|1",
        ] {
            assert_eq!(parse_extended(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn nothing_in_a_reply_panics(lines in proptest::collection::vec(".{0,40}", 0..20)) {
            let mut parser = ReplyParser::default();
            for line in &lines {
                let _ = parser.line(line);
                let _ = parse_six(line);
                let _ = parse_extended_port(line);
                let _ = parse_extended(line);
            }
        }
    }
}
