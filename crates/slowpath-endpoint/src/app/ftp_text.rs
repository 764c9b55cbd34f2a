//! The text of FTP replies and addresses.

use std::net::{Ipv4Addr, SocketAddr};

/// Collects the lines of a reply (RFC 959, section 4.2).
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// Code of a reply of several lines that is not complete.
    open: Option<u16>,
}

impl Reply {
    /// Takes a line; the result is the code and last text of a complete reply.
    pub(crate) fn line(&mut self, line: &str) -> Option<(u16, String)> {
        let code = line.get(..3).and_then(|code| code.parse::<u16>().ok());
        let rest = line.get(3..).unwrap_or("");
        match (self.open, code) {
            (Some(open), Some(code)) if code == open && rest.starts_with(' ') => {
                self.open = None;
                Some((code, rest.trim().to_owned()))
            }
            (None, Some(code)) if rest.starts_with('-') => {
                self.open = Some(code);
                None
            }
            (None, Some(code)) => Some((code, rest.trim().to_owned())),
            _ => None,
        }
    }
}

/// The address in a reply to PASV or an argument of PORT: the first six numbers joined by commas.
pub(crate) fn parse_pasv(text: &str) -> Option<SocketAddr> {
    let first = text.find(|c: char| c.is_ascii_digit())?;
    let list: String = text[first..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',' || *c == ' ')
        .collect();
    let numbers: Vec<u8> = list
        .split(',')
        .map_while(|part| part.trim().parse().ok())
        .collect();
    let [a, b, c, d, high, low] = numbers[..] else {
        return None;
    };
    Some(SocketAddr::new(
        Ipv4Addr::new(a, b, c, d).into(),
        u16::from_be_bytes([high, low]),
    ))
}

/// The port in a reply to EPSV: `(|||port|)` with any delimiter.
pub(crate) fn parse_epsv(text: &str) -> Option<u16> {
    let inside = text.split_once('(')?.1.split_once(')')?.0;
    let delimiter = inside.chars().next()?;
    inside.split(delimiter).nth(3)?.parse().ok()
}

/// The argument of EPRT: `|family|address|port|`.
pub(crate) fn parse_eprt(text: &str) -> Option<SocketAddr> {
    let delimiter = text.chars().next()?;
    let mut parts = text.split(delimiter).skip(2);
    let address = parts.next()?.parse().ok()?;
    let port = parts.next()?.parse().ok()?;
    Some(SocketAddr::new(address, port))
}

/// An address and port as PASV and PORT write them.
pub(crate) fn host_port(address: Ipv4Addr, port: u16) -> String {
    let [a, b, c, d] = address.octets();
    let [high, low] = port.to_be_bytes();
    format!("{a},{b},{c},{d},{high},{low}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_several_lines_end_with_their_code() {
        let mut reply = Reply::default();
        assert_eq!(reply.line("220-Welcome"), None);
        assert_eq!(reply.line("221 not yet"), None);
        assert_eq!(reply.line("220 ready"), Some((220, "ready".to_owned())));
        assert_eq!(reply.line("331 Password?"), Some((331, "Password?".to_owned())));
    }

    #[test]
    fn addresses_are_read_as_servers_write_them() {
        let expected: SocketAddr = "192.168.100.196:45059".parse().unwrap();
        for text in [
            "Entering Passive Mode (192,168,100,196,176,3).",
            "192,168,100,196,176,3",
        ] {
            assert_eq!(parse_pasv(text), Some(expected), "{text}");
        }
        assert_eq!(
            host_port(Ipv4Addr::new(192, 168, 100, 196), 45_059),
            "192,168,100,196,176,3"
        );
        assert_eq!(
            parse_epsv("Entering Extended Passive Mode (|||6446|)"),
            Some(6446)
        );
        assert_eq!(
            parse_eprt("|1|132.235.1.2|6275|"),
            "132.235.1.2:6275".parse().ok()
        );
        for text in ["", "()", "(1,2,3,4,5)", "(1,2,3,4,5,600)"] {
            assert_eq!(parse_pasv(text), None, "{text}");
        }
        assert_eq!(parse_epsv("(|||)"), None);
    }
}
