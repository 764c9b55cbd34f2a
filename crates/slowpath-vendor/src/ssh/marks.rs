//! `IPQoS`: what the words mean, the defaults by version, and which of the two a connection gets.

use std::fmt;

use slowpath_packet::{Dscp, Ecn};

use crate::finding::Trap;
use crate::ssh::version::{Packager, Version};
use crate::text::number;

/// The marks of the two kinds of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IpQos {
    /// Of sessions with a terminal.
    pub interactive: Mark,
    /// Of transfers.
    pub bulk: Mark,
}

/// What `IPQoS` puts into a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// The operating system's own choice, which is no mark.
    None,
    /// The whole type-of-service byte.
    Tos(u8),
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Tos(0x10) => f.write_str("lowdelay (DSCP 4)"),
            Self::Tos(0x08) => f.write_str("throughput (DSCP 2)"),
            Self::Tos(tos) => write!(f, "{} (DSCP {})", Dscp::from_tos(*tos), tos >> 2),
        }
    }
}

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Session {
    /// A login shell or X11, alone.
    Terminal,
    /// A login shell with a forwarding that carries data (`ssh -L`).
    TerminalWithForward,
    /// scp, sftp, a remote command, a pipe.
    Transfer,
    /// Forwarding alone (`ssh -N -L`).
    ForwardOnly,
}

/// The marks when nothing is configured: upstream changed them in 7.8 and in 10.1.
///
/// Distributions keep their patch over new releases: what `ssh -G` prints is to be preferred.
pub fn defaults(version: &Version) -> IpQos {
    let old = IpQos {
        interactive: Mark::Tos(0x10),
        bulk: Mark::Tos(0x08),
    };
    match version.packager {
        Packager::Debian | Packager::Suse if version.at_least(7, 8) => old,
        _ if version.at_least(10, 1) => IpQos {
            interactive: Mark::Tos(Dscp::EF.tos(Ecn::NotEct)),
            bulk: Mark::Tos(0),
        },
        _ if version.at_least(7, 8) => IpQos {
            interactive: Mark::Tos(Dscp::AF21.tos(Ecn::NotEct)),
            bulk: Mark::Tos(Dscp::CS1.tos(Ecn::NotEct)),
        },
        _ => old,
    }
}

/// The mark that the client's packets get, by the use of the connection.
///
/// To 10.0 the client decides once: a terminal makes everything in the connection interactive, forwarded data
/// included. From 10.1 any channel without a terminal makes it bulk while it is open.
pub fn kind_of(version: &Version, marks: IpQos, session: Session) -> Mark {
    let follows_channels = version.at_least(10, 1);
    match session {
        Session::Terminal => marks.interactive,
        Session::TerminalWithForward if follows_channels => marks.bulk,
        Session::TerminalWithForward => marks.interactive,
        Session::Transfer => marks.bulk,
        Session::ForwardOnly if follows_channels => marks.bulk,
        Session::ForwardOnly if version.at_least(6, 3) => marks.interactive,
        Session::ForwardOnly => Mark::None,
    }
}

/// Reads one word of `IPQoS`; what should be known about it goes to `traps`.
pub(super) fn parse(word: &str, version: &Version, traps: &mut Vec<Trap>) -> Option<Mark> {
    let lower = word.to_lowercase();
    let legacy = match lower.as_str() {
        "lowdelay" => Some(0x10),
        "throughput" => Some(0x08),
        "reliability" => Some(0x04),
        _ => None,
    };
    if let Some(tos) = legacy {
        traps.push(Trap::IpQosLegacyWord { word: lower });
        // Ignored from 10.1, which is none.
        let ignored =
            version.release.is_some() && version.at_least(10, 1) && version.packager == Packager::Upstream;
        return Some(if ignored { Mark::None } else { Mark::Tos(tos) });
    }
    if lower == "none" {
        return version.at_least(7, 6).then_some(Mark::None);
    }
    if let Some(hex) = lower.strip_prefix("0x") {
        let tos = u8::from_str_radix(hex, 16).ok()?;
        traps.push(Trap::IpQosHex {
            word: word.to_owned(),
            decimal: tos,
        });
        let refused = version.release.is_some() && version.at_least(9, 8);
        return (!refused).then_some(Mark::Tos(tos));
    }
    if lower.starts_with(|c: char| c.is_ascii_digit()) {
        return number::<u8>(&lower).map(Mark::Tos);
    }
    if (lower == "le" && !version.at_least(8, 2)) || (lower == "va" && !version.at_least(10, 3)) {
        return None;
    }
    lower
        .parse::<Dscp>()
        .ok()
        .map(|dscp| Mark::Tos(dscp.tos(Ecn::NotEct)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    /// Version, interactive and bulk byte (openssh-portable's history; Debian 12 prints lowdelay throughput itself).
    #[test]
    fn defaults_follow_version_and_packager() {
        let cases = [
            ("OpenSSH_5.3", 0x10, 0x08),
            ("OpenSSH_7.7p1", 0x10, 0x08),
            ("OpenSSH_7.8p1", 0x48, 0x20),
            ("OpenSSH_10.0p2", 0x48, 0x20),
            ("OpenSSH_10.1p1", 0xb8, 0x00),
            ("OpenSSH_9.2p1 Debian-2+deb12u10", 0x10, 0x08),
            ("OpenSSH_8.9p1 Ubuntu-3", 0x10, 0x08),
            ("OpenSSH_10.2p1 SUSE", 0x10, 0x08),
        ];
        for (text, interactive, bulk) in cases {
            let marks = defaults(&version(text));
            assert_eq!(
                (marks.interactive, marks.bulk),
                (Mark::Tos(interactive), Mark::Tos(bulk)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_tunnel_with_a_login_shell_is_interactive_until_10_0() {
        let old = version("OpenSSH_8.7p1");
        let marks = defaults(&old);
        assert_eq!(
            kind_of(&old, marks, Session::TerminalWithForward),
            Mark::Tos(0x48)
        );
        assert_eq!(kind_of(&old, marks, Session::Transfer), Mark::Tos(0x20));
        assert_eq!(kind_of(&old, marks, Session::ForwardOnly), Mark::Tos(0x48));
        assert_eq!(
            kind_of(&version("OpenSSH_6.2"), marks, Session::ForwardOnly),
            Mark::None
        );
        let new = version("OpenSSH_10.1p1");
        assert_eq!(
            kind_of(&new, defaults(&new), Session::TerminalWithForward),
            Mark::Tos(0)
        );
    }

    #[test]
    fn words_are_read_as_their_version_does() {
        let read = |word: &str, text: &str| parse(word, &version(text), &mut Vec::new());
        assert_eq!(read("af21", "OpenSSH_9.2p1"), Some(Mark::Tos(0x48)));
        assert_eq!(read("CS1", "OpenSSH_9.2p1"), Some(Mark::Tos(0x20)));
        assert_eq!(read("32", "OpenSSH_9.2p1"), Some(Mark::Tos(0x20)));
        assert_eq!(read("0x20", "OpenSSH_9.7p1"), Some(Mark::Tos(0x20)));
        assert_eq!(read("0x20", "OpenSSH_9.8p1"), None);
        assert_eq!(read("throughput", "OpenSSH_10.1p1"), Some(Mark::None));
        assert_eq!(read("le", "OpenSSH_8.1p1"), None);
        assert_eq!(read("256", "OpenSSH_9.2p1"), None);
        assert_eq!(read("none", "OpenSSH_7.5p1"), None);
        let mut traps = Vec::new();
        parse("0x20", &Version::default(), &mut traps);
        assert_eq!(
            traps,
            [Trap::IpQosHex {
                word: "0x20".to_owned(),
                decimal: 32
            }]
        );
    }
}
