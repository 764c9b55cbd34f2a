//! OpenSSH: `ssh_config`, `sshd_config`, and what `ssh -G` and `sshd -T` print.
//!
//! Keywords are case-insensitive, and a value may be joined by `=`. In the client's files the first value
//! of an option wins; sshd took the last `IPQoS` until 10.3 and takes the first from then on. What the two
//! programs print themselves is the truth, distribution patches included, and is to be preferred.
//!
//! Source: `readconf.c`, `servconf.c` and `packet.c` of openssh-portable up to 10.5p1.

mod marks;
mod version;

pub use marks::{IpQos, Mark, Session, defaults, kind_of};
pub use version::{Packager, Version};

use crate::finding::Trap;
use crate::notes::{Notes, Outcome};
use crate::text::words;

/// Which program a configuration is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Side {
    /// `ssh`, `scp`, `sftp`.
    #[default]
    Client,
    /// `sshd`.
    Server,
}

/// What an OpenSSH configuration says about throughput.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Which program it is for.
    pub side: Side,
    /// The version, as far as the caller says.
    pub version: Version,
    /// Whether it is the output of `ssh -G` or `sshd -T`, which are the values in force.
    pub effective: bool,
    /// Every `IPQoS`, in order.
    pub ip_qos: Vec<Marking>,
    /// `Ciphers`, the first of the list.
    pub cipher: Option<String>,
    /// `Compression`.
    pub compression: Option<bool>,
    /// `RekeyLimit` in bytes.
    pub rekey_bytes: Option<u64>,
}

/// One `IPQoS` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marking {
    /// The number of its line, from 1.
    pub line: usize,
    /// The block in which it stands (`Host *`); empty outside.
    pub block: String,
    /// What it asks for.
    pub marks: IpQos,
}

impl Marking {
    /// Whether it holds for every destination.
    fn for_all(&self) -> bool {
        matches!(self.block.as_str(), "" | "Host *" | "Match all")
    }
}

impl Config {
    /// The marks in force outside any block, or the defaults of the version.
    pub fn marks(&self) -> IpQos {
        self.marking()
            .map_or_else(|| defaults(&self.version), |marking| marking.marks)
    }

    /// The `IPQoS` line in force outside any block; `None` where the version's defaults are.
    pub fn marking(&self) -> Option<&Marking> {
        let mut all = self.ip_qos.iter().filter(|marking| marking.for_all());
        if self.last_wins() {
            all.next_back()
        } else {
            all.next()
        }
    }

    /// The marks of every kind of destination that a line decides on, with the block (`Host a`; empty for all): those for all
    /// first, where a line has them or no line has any.
    pub fn in_force(&self) -> Vec<(&str, IpQos)> {
        let hidden: Vec<usize> = self.without_effect().iter().map(|(line, _)| *line).collect();
        let mut found: Vec<(&str, IpQos)> = self
            .ip_qos
            .iter()
            .filter(|marking| !marking.for_all() && !hidden.contains(&marking.line))
            .map(|marking| (marking.block.as_str(), marking.marks))
            .collect();
        if found.is_empty() || self.marking().is_some() {
            found.insert(0, ("", self.marks()));
        }
        found
    }

    /// `IPQoS` lines that no connection gets, each with the line that holds instead.
    ///
    /// A line for every destination hides what stands behind it (for an sshd that takes the last value: before it), in
    /// its own block or in another; a line in a block hides the rest of that block.
    pub fn without_effect(&self) -> Vec<(usize, usize)> {
        let hides = |winner: &&Marking, loser: &Marking| winner.for_all() || winner.block == loser.block;
        let mut found = Vec::new();
        for (index, loser) in self.ip_qos.iter().enumerate() {
            let winner = if self.last_wins() {
                self.ip_qos[index + 1..]
                    .iter()
                    .rev()
                    .find(|winner| hides(winner, loser))
            } else {
                self.ip_qos[..index].iter().find(|winner| hides(winner, loser))
            };
            found.extend(winner.map(|winner| (loser.line, winner.line)));
        }
        found
    }

    fn last_wins(&self) -> bool {
        self.side == Side::Server && self.version.last_ip_qos_wins()
    }
}

/// Reads a configuration; `version` as `ssh -V` prints it.
pub(crate) fn read(text: &str, version: Option<&str>, notes: &mut Notes) -> Config {
    let mut config = Config {
        version: version.and_then(Version::parse).unwrap_or_default(),
        side: side(text),
        effective: is_dump(text),
        ..Config::default()
    };
    let mut block = String::new();
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, arguments) = split(line);
        if matches!(key.as_str(), "host" | "match") {
            let name = if key == "host" { "Host" } else { "Match" };
            block = format!("{name} {}", arguments.join(" "));
            notes.line(index + 1, line, "", Outcome::ignored());
            continue;
        }
        let outcome = option(&key, &arguments, (index + 1, &block), &mut config);
        notes.line(index + 1, line, &block, outcome);
    }
    settle(&config, notes);
    config
}

/// A keyword in lower case and its arguments.
fn split(line: &str) -> (String, Vec<String>) {
    let end = line
        .find(|c: char| c.is_whitespace() || c == '=')
        .unwrap_or(line.len());
    let (key, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    (key.to_lowercase(), words(rest))
}

fn option(key: &str, arguments: &[String], place: (usize, &str), config: &mut Config) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match (key, arguments.as_slice()) {
        ("ipqos", [one]) => ip_qos(one, one, place, config),
        ("ipqos", [interactive, bulk]) => ip_qos(interactive, bulk, place, config),
        ("ipqos", _) => Outcome::refused("IPQoS takes one or two marks"),
        ("ciphers", [list]) => {
            let first = list
                .trim_start_matches(['+', '-', '^'])
                .split(',')
                .next()
                .unwrap_or("")
                .to_owned();
            let meaning = match first.as_str() {
                name if name.contains("gcm") || name.contains("aes") => {
                    "AES is fast where the processor has instructions for it"
                }
                name if name.starts_with("chacha20") => {
                    "ChaCha20 is slower than AES-GCM on processors with AES instructions"
                }
                name if name.starts_with("3des") => "3DES is very slow on every processor",
                _ => "which cipher is used decides the processor time per byte",
            };
            config.cipher = Some(first);
            Outcome::not_modelled(meaning)
        }
        ("compression", [word]) => {
            // sshd prints `yes` and means that it accepts the client's wish.
            let on = *word == "yes" || *word == "delayed";
            config.compression = Some(on);
            match (on, config.side) {
                (true, Side::Client) => {
                    Outcome::not_modelled("compression costs processor time and slows fast paths")
                }
                (true, Side::Server) => {
                    Outcome::not_modelled("compression is used if the client asks for it")
                }
                (false, _) => Outcome::ignored(),
            }
        }
        ("rekeylimit", [bytes, ..]) => {
            let limit = crate::text::binary(bytes);
            config.rekey_bytes = limit.filter(|bytes| *bytes > 0);
            match config.rekey_bytes {
                Some(bytes) if bytes < 100_000_000 => Outcome::not_modelled(format!(
                    "new keys every {bytes} bytes: a pause of a round trip or more each time"
                )),
                _ => Outcome::ignored(),
            }
        }
        ("controlmaster" | "controlpath" | "controlpersist", _) => {
            Outcome::not_modelled("later sessions share the first one's connection, its window and its mark")
        }
        ("proxyjump" | "proxycommand", [word, ..]) if *word != "none" => {
            Outcome::not_modelled("the connection goes through another host: two paths, and two encryptions")
        }
        ("macs", _) => {
            Outcome::not_modelled("which integrity check is used decides the processor time per byte")
        }
        ("tunnel", [word]) if !matches!(*word, "no" | "false") => {
            Outcome::not_modelled("packets are carried inside the connection")
        }
        ("host" | "match", _) => Outcome::ignored(),
        (key, _) if KNOWN.binary_search(&key).is_ok() => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

fn ip_qos(interactive: &str, bulk: &str, (line, block): (usize, &str), config: &mut Config) -> Outcome {
    let mut traps = Vec::new();
    let mut read = |word: &str| marks::parse(word, &config.version, &mut traps);
    let (first, second) = (read(interactive), read(bulk));
    let (Some(interactive), Some(bulk)) = (first, second) else {
        return traps.into_iter().fold(
            Outcome::refused("a mark is a DSCP name, lowdelay, throughput, none, or a byte in decimal"),
            Outcome::trap,
        );
    };
    let marks = IpQos { interactive, bulk };
    config.ip_qos.push(Marking {
        line,
        block: block.to_owned(),
        marks,
    });
    let who = match config.side {
        Side::Client => "packets of the client",
        Side::Server => "packets of the server",
    };
    traps.dedup();
    traps.into_iter().fold(
        Outcome::modelled(format!(
            "{who} are marked {interactive} in sessions with a terminal and {bulk} in transfers; the other end marks by its own settings"
        )),
        Outcome::trap,
    )
}

/// What follows from all lines together.
fn settle(config: &Config, notes: &mut Notes) {
    let marks = config.marks();
    let line = config.marking().map(|marking| marking.line);
    for (loser, winner) in config.without_effect() {
        notes.hidden(
            loser,
            &format!("no effect: line {winner} holds for the same connections"),
        );
        notes.finding(
            Some(loser),
            Trap::NoEffect {
                option: "IPQoS".to_owned(),
                winner,
                first_wins: !config.last_wins(),
            },
        );
    }
    if let Mark::Tos(tos) = marks.bulk
        && tos != 0
    {
        let mark = if line.is_none() {
            format!("{} (the default)", marks.bulk)
        } else {
            marks.bulk.to_string()
        };
        notes.finding(line, Trap::MarkedTransfer { mark });
    }
    let hidden = config.without_effect();
    for marking in config.ip_qos.iter().filter(|marking| !marking.for_all()) {
        if let Mark::Tos(tos) = marking.marks.bulk
            && tos != 0
            && hidden.iter().all(|(loser, _)| *loser != marking.line)
        {
            let mark = format!("{} ({})", marking.marks.bulk, marking.block);
            notes.finding(Some(marking.line), Trap::MarkedTransfer { mark });
        }
    }
    // What a program sends follows from the kind of its connection; the settings of a host hold one mark.
    if let Mark::Tos(tos) = marks.bulk {
        notes.settings.dscp = Some(slowpath_packet::Dscp::from_tos(tos));
    }
}

/// Whether a text is for sshd.
fn side(text: &str) -> Side {
    let server = text.lines().any(|line| {
        let (key, _) = split(line.trim());
        SERVER_ONLY.contains(&key.as_str())
    });
    if server { Side::Server } else { Side::Client }
}

/// What `ssh -G` and `sshd -T` print: keywords that begin in lower case, no comments, and many lines.
fn is_dump(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    text.lines().count() > 30 && lines.all(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Keywords that only sshd has.
const SERVER_ONLY: &[&str] = &[
    "permitrootlogin",
    "subsystem",
    "usepam",
    "allowusers",
    "authorizedkeysfile",
    "maxsessions",
    "maxstartups",
    "hostkey",
    "printmotd",
    "x11useforwarding",
    "clientaliveinterval",
    "listenaddress",
    "logingracetime",
    "x11forwarding",
];

/// Keywords without effect on throughput, sorted.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "acceptenv", "addkeystoagent", "addressfamily", "allowagentforwarding", "allowgroups",
    "allowstreamlocalforwarding", "allowtcpforwarding", "allowusers", "authenticationmethods",
    "authorizedkeyscommand", "authorizedkeyscommanduser", "authorizedkeysfile", "authorizedprincipalscommand",
    "authorizedprincipalscommanduser", "authorizedprincipalsfile", "banner", "batchmode", "bindaddress",
    "bindinterface", "canonicaldomains", "canonicalizefallbacklocal", "canonicalizehostname",
    "canonicalizemaxdots", "canonicalizepermittedcnames", "casignaturealgorithms", "certificatefile",
    "challengeresponseauthentication", "channeltimeout", "checkhostip", "chrootdirectory",
    "clearallforwardings", "clientalivecountmax", "clientaliveinterval", "connectionattempts",
    "connecttimeout", "debianbanner", "denygroups", "denyusers", "disableforwarding", "dynamicforward",
    "enableescapecommandline", "enablesshkeysign", "escapechar", "exitonforwardfailure", "exposeauthinfo",
    "fingerprinthash", "forcecommand", "forkafterauthentication", "forwardagent", "forwardx11",
    "forwardx11timeout", "forwardx11trusted", "gatewayports", "globalknownhostsfile", "gssapiauthentication",
    "gssapicleanupcredentials", "gssapiclientidentity", "gssapidelegatecredentials", "gssapikexalgorithms",
    "gssapikeyexchange", "gssapirenewalforcesrekey", "gssapiserveridentity", "gssapistorecredentialsonrekey",
    "gssapistrictacceptorcheck", "gssapitrustdns", "hashknownhosts", "hostbasedacceptedalgorithms",
    "hostbasedauthentication", "hostbasedusesnamefrompacketonly", "hostcertificate", "hostkey",
    "hostkeyagent", "hostkeyalgorithms", "hostkeyalias", "hostname", "identitiesonly", "identityagent",
    "identityfile", "ignorerhosts", "ignoreunknown", "ignoreuserknownhosts", "include",
    "kbdinteractiveauthentication", "kbdinteractivedevices", "kerberosauthentication", "kerberosgetafstoken",
    "kerberosorlocalpasswd", "kerberosticketcleanup", "kexalgorithms", "knownhostscommand", "listenaddress",
    "localcommand", "localforward", "logingracetime", "loglevel", "logverbose", "maxauthtries", "maxsessions",
    "maxstartups", "modulifile", "nohostauthenticationforlocalhost", "numberofpasswordprompts",
    "obscurekeystroketiming", "passwordauthentication", "permitemptypasswords", "permitlisten",
    "permitlocalcommand", "permitopen", "permitremoteopen", "permitrootlogin", "permittty", "permittunnel",
    "permituserenvironment", "permituserrc", "persourcemaxstartups", "persourcenetblocksize",
    "persourcepenalties", "persourcepenaltyexemptlist", "pidfile", "pkcs11provider", "port",
    "preferredauthentications", "printlastlog", "printmotd", "proxycommand", "proxyjump", "proxyusefdpass",
    "pubkeyacceptedalgorithms", "pubkeyacceptedkeytypes", "pubkeyauthentication", "pubkeyauthoptions",
    "rdomain", "refuseconnection", "remotecommand", "remoteforward", "requesttty", "requiredrsasize",
    "revokedhostkeys", "revokedkeys", "securitykeyprovider", "sendenv", "serveralivecountmax", "serveraliveinterval",
    "sessiontype", "setenv", "sshdauthpath", "sshdsessionpath", "stdinnull", "streamlocalbindmask",
    "streamlocalbindunlink", "stricthostkeychecking", "strictmodes", "subsystem", "syslogfacility", "tag",
    "tcpkeepalive", "trustedusercakeys", "tunnel", "tunneldevice", "unusedconnectiontimeout",
    "updatehostkeys", "usedns", "usekeychain", "usepam", "useprivilegedport", "user", "userknownhostsfile",
    "verifyhostkeydns", "versionaddendum", "visualhostkey", "warnweakcrypto", "x11displayoffset",
    "x11forwarding", "x11maxdisplays", "x11uselocalhost", "xauthlocation",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keywords_are_sorted() {
        assert!(
            KNOWN.is_sorted(),
            "{:?}",
            KNOWN.windows(2).find(|pair| pair[0] > pair[1])
        );
    }
}
