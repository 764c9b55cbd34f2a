//! What a configuration says, line by line.

use serde::{Deserialize, Serialize};
use slowpath_scenario::HostSettings;

use crate::finding::Finding;
use crate::notes::Notes;
pub use crate::notes::{Line, LineState};
use crate::{cisco, rtx, ssh, sysctl, tc, text};

/// A language that device configurations are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// Yamaha RTX and its kin.
    Rtx,
    /// Cisco IOS and IOS-XE.
    Ios,
    /// OpenSSH: `ssh_config`, `sshd_config`, and what `ssh -G` and `sshd -T` print.
    Ssh,
    /// Linux sysctl files and the output of `sysctl -a`.
    Sysctl,
    /// The output of Linux `tc qdisc` and `tc class`.
    Tc,
}

impl Language {
    /// All languages with their names on the command line.
    pub const ALL: &[(&'static str, Self)] = &[
        ("rtx", Self::Rtx),
        ("ios", Self::Ios),
        ("ssh", Self::Ssh),
        ("sysctl", Self::Sysctl),
        ("tc", Self::Tc),
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, language)| *language == self)
            .map_or("", |(name, _)| *name)
    }

    /// The language called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, language)| *language)
    }
}

/// Number of lines in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Lines with unknown commands.
    pub unrecognised: usize,
    /// Lines without effect on throughput.
    pub ignored: usize,
    /// Lines of consequence that are not part of the model.
    pub not_modelled: usize,
    /// Lines that are modelled but doubtful in their use.
    pub doubtful: usize,
    /// Lines that are modelled.
    pub modelled: usize,
}

impl Counts {
    /// The number of lines in `state`.
    pub const fn of(&self, state: LineState) -> usize {
        match state {
            LineState::Unrecognised => self.unrecognised,
            LineState::Ignored => self.ignored,
            LineState::NotModelled => self.not_modelled,
            LineState::Doubtful => self.doubtful,
            LineState::Modelled => self.modelled,
        }
    }

    /// All lines.
    pub const fn total(&self) -> usize {
        self.unrecognised + self.ignored + self.not_modelled + self.doubtful + self.modelled
    }
}

/// A configuration that has been read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its language.
    pub language: Language,
    /// The name of the file, for messages.
    pub name: String,
    /// How its bytes were decoded.
    pub encoding: text::Encoding,
    /// Its lines.
    pub lines: Vec<Line>,
    /// What a reader of the configuration should know.
    pub findings: Vec<Finding>,
    /// What it says.
    pub config: Config,
    /// What it sets on a host, with the line of each setting.
    pub settings: HostSettings,
}

/// What a configuration says, in the terms of its own language.
#[derive(Debug, Clone, PartialEq)]
pub enum Config {
    /// Cisco IOS and IOS-XE.
    Ios(Box<cisco::Config>),
    /// Yamaha RTX.
    Rtx(Box<rtx::Config>),
    /// OpenSSH.
    Ssh(Box<ssh::Config>),
    /// Linux sysctl.
    Sysctl(sysctl::Config),
    /// Linux traffic control.
    Tc(tc::Config),
}

impl Reading {
    /// How many lines are in each state.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for line in &self.lines {
            match line.state {
                LineState::Unrecognised => counts.unrecognised += 1,
                LineState::Ignored => counts.ignored += 1,
                LineState::NotModelled => counts.not_modelled += 1,
                LineState::Doubtful => counts.doubtful += 1,
                LineState::Modelled => counts.modelled += 1,
            }
        }
        counts
    }

    /// The line with that number.
    pub fn line(&self, number: usize) -> Option<&Line> {
        self.lines.iter().find(|line| line.number == number)
    }
}

/// Reads a configuration. Nothing in it is fatal; what is not understood is kept and counted.
pub fn read(language: Language, name: &str, bytes: &[u8]) -> Reading {
    read_for(language, None, name, bytes)
}

/// Reads a configuration of a given model or version, where they differ: `rtx2000`, or what `ssh -V` prints.
pub fn read_for(language: Language, model: Option<&str>, name: &str, bytes: &[u8]) -> Reading {
    let (text, encoding) = text::decode(bytes);
    let mut notes = Notes::new(name);
    let config = match language {
        Language::Rtx => {
            let model = model.map(rtx::Model::named);
            Config::Rtx(Box::new(rtx::read(&text, model, &mut notes)))
        }
        Language::Ios => Config::Ios(Box::new(cisco::read(&text, &mut notes))),
        Language::Ssh => Config::Ssh(Box::new(ssh::read(&text, model, &mut notes))),
        Language::Sysctl => Config::Sysctl(sysctl::read(&text, &mut notes)),
        Language::Tc => Config::Tc(tc::read(&text, &mut notes)),
    };
    notes
        .findings
        .sort_by_key(|finding| finding.line.unwrap_or(usize::MAX));
    Reading {
        language,
        name: name.to_owned(),
        encoding,
        lines: notes.lines,
        findings: notes.findings,
        config,
        settings: notes.settings,
    }
}

/// The language in which a text is probably written; `None` if it could be any.
pub fn guess(bytes: &[u8]) -> Option<Language> {
    let (text, _) = text::decode(bytes);
    let mut scores = [0_usize; 5];
    for line in text.lines().map(str::trim) {
        for (index, (marks, _)) in MARKS.iter().enumerate() {
            if marks.iter().any(|mark| line.starts_with(mark)) {
                scores[index] += 1;
            }
        }
        let dotted = line
            .split('=')
            .next()
            .is_some_and(|key| key.trim().matches('.').count() >= 2);
        if line.contains('=') && dotted && !line.contains("://") {
            scores[3] += 1;
        }
    }
    let best = scores.iter().max().copied().filter(|best| *best > 0)?;
    let mut winners = scores.iter().enumerate().filter(|(_, score)| **score == best);
    let (winner, _) = winners.next()?;
    winners.next().is_none().then_some(MARKS[winner].1)
}

/// Beginnings of lines that only one language has.
const MARKS: [(&[&str], Language); 5] = [
    (
        &[
            "queue lan",
            "queue tunnel",
            "queue pp",
            "queue class",
            "speed lan",
            "tunnel select",
            "pp select",
            "ip lan",
            "ipsec sa policy",
            "ip pp ",
            "pppoe use",
            "ip tos supersede",
            "ip dscp supersede",
            "description lan",
        ],
        Language::Rtx,
    ),
    (
        &[
            "ip tcp ",
            "ip ftp ",
            "ip ssh ",
            "interface Gig",
            "interface Ten",
            "interface Fast",
            "interface Eth",
            "policy-map",
            "class-map",
            "service-policy",
            "hostname ",
            "version 1",
            "service timestamps",
            "boot-start-marker",
            "line vty",
        ],
        Language::Ios,
    ),
    (
        &[
            "Host ",
            "Match ",
            "IPQoS",
            "ipqos",
            "Ciphers",
            "ciphers",
            "HostName",
            "hostkey",
            "Subsystem",
            "subsystem",
            "PermitRootLogin",
            "permitrootlogin",
            "UsePAM",
            "identityfile",
            "SendEnv",
            "ControlMaster",
        ],
        Language::Ssh,
    ),
    (
        &["net.", "net/", "kernel.", "vm.", "fs.", "dev."],
        Language::Sysctl,
    ),
    (
        &[
            "qdisc ",
            "class htb",
            "class fq",
            "class tbf",
            "class hfsc",
            "tc qdisc ",
            "tc class ",
            "tc filter ",
            "sudo tc ",
            "tc -",
        ],
        Language::Tc,
    ),
];
