//! Lines of a configuration, what became of each, and what a reader collects on its way through them.

use std::fmt;

use serde::{Deserialize, Serialize};
use slowpath_scenario::HostSettings;
use slowpath_scenario::host::SettingOrigin;

use crate::finding::{Finding, Trap};

/// What became of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineState {
    /// The reader does not know the command.
    Unrecognised,
    /// Known, and without effect on throughput.
    Ignored,
    /// Known and of consequence, but not part of the model: read before trusting a result.
    NotModelled,
    /// Modelled, but doubtful in this use: read before trusting a result.
    Doubtful,
    /// Modelled.
    Modelled,
}

impl LineState {
    /// All states, from worst to best.
    pub const ALL: [Self; 5] = [
        Self::Unrecognised,
        Self::Ignored,
        Self::NotModelled,
        Self::Doubtful,
        Self::Modelled,
    ];
}

impl fmt::Display for LineState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Unrecognised => "unrecognised",
            Self::Ignored => "ignored",
            Self::NotModelled => "not modelled",
            Self::Doubtful => "doubtful",
            Self::Modelled => "modelled",
        })
    }
}

/// One line of a configuration. Empty lines and comments are not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// The line without the blanks around it.
    pub text: String,
    /// What the line belongs to, such as `tunnel 1` or `interface GigabitEthernet1`; empty at the top.
    pub context: String,
    /// What became of it.
    pub state: LineState,
    /// What it means for throughput, as a sentence without its full stop.
    pub meaning: String,
}

/// What a reader collects while it goes through the lines.
pub(crate) struct Notes {
    pub(crate) name: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) settings: HostSettings,
}

impl Notes {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            lines: Vec::new(),
            findings: Vec::new(),
            settings: HostSettings::default(),
        }
    }

    /// Keeps a line with what became of it.
    pub(crate) fn line(&mut self, number: usize, text: &str, context: &str, outcome: Outcome) {
        self.lines.push(Line {
            number,
            text: text.trim().to_owned(),
            context: context.to_owned(),
            state: outcome.state,
            meaning: outcome.meaning,
        });
        for trap in outcome.traps {
            self.finding(Some(number), trap);
        }
        for setting in outcome.settings {
            self.settings.origins.push(SettingOrigin {
                setting: setting.to_owned(),
                line: text.trim().to_owned(),
                place: format!("{}:{number}", self.name),
            });
        }
    }

    /// The number of the last line that starts with `start`, in any case.
    pub(crate) fn find(&self, start: &str) -> Option<usize> {
        let starts = |line: &&Line| {
            line.text
                .get(..start.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
        };
        self.lines.iter().rev().find(starts).map(|line| line.number)
    }

    /// The number of the last line that starts with `start` and has `number` among its words.
    pub(crate) fn find_with(&self, start: &str, number: u32) -> Option<usize> {
        let word = number.to_string();
        let fits = |line: &&Line| {
            line.text
                .get(..start.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
                && line.text.split_whitespace().any(|part| part == word)
        };
        self.lines.iter().rev().find(fits).map(|line| line.number)
    }

    /// Takes back what was said of a line: it has no effect, and why.
    pub(crate) fn hidden(&mut self, number: usize, why: &str) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.number == number) {
            line.state = LineState::Doubtful;
            why.clone_into(&mut line.meaning);
        }
    }

    /// Takes back what was said of a line, its findings and what it sets: a later one of the same setting holds.
    pub(crate) fn without_effect(&mut self, number: usize, option: &str, winner: usize) {
        self.hidden(number, &format!("no effect: line {winner} holds"));
        self.findings.retain(|finding| finding.line != Some(number));
        let place = format!("{}:{number}", self.name);
        self.settings.origins.retain(|origin| origin.place != place);
        self.finding(
            Some(number),
            Trap::NoEffect {
                option: option.to_owned(),
                winner,
                first_wins: false,
            },
        );
    }

    /// Takes back what was said of a line: the model leaves it out, and why.
    pub(crate) fn left_out(&mut self, number: usize, why: &str) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.number == number) {
            line.state = LineState::NotModelled;
            why.clone_into(&mut line.meaning);
        }
    }

    /// The number of the last line of a section that starts with `start`.
    pub(crate) fn find_in(&self, context: &str, start: &str) -> Option<usize> {
        let mut lines = self.lines.iter().rev();
        lines
            .find(|line| line.context == context && line.text.starts_with(start))
            .map(|line| line.number)
    }

    /// Keeps a finding; `line` is where it shows.
    pub(crate) fn finding(&mut self, line: Option<usize>, trap: Trap) {
        self.findings.push(Finding { line, trap });
    }
}

/// What became of one line, as its reader says it.
pub(crate) struct Outcome {
    state: LineState,
    meaning: String,
    traps: Vec<Trap>,
    settings: Vec<&'static str>,
}

impl Outcome {
    pub(crate) fn new(state: LineState, meaning: impl Into<String>) -> Self {
        Self {
            state,
            meaning: meaning.into(),
            traps: Vec::new(),
            settings: Vec::new(),
        }
    }

    pub(crate) const fn state(&self) -> LineState {
        self.state
    }

    /// Whether the line has an effect on throughput that the device does not refuse.
    pub(crate) fn takes_effect(&self) -> bool {
        let refused =
            |trap: &Trap| matches!(trap, Trap::Refused { .. } | Trap::UnknownCongestionControl { .. });
        !matches!(self.state, LineState::Ignored | LineState::Unrecognised) && !self.traps.iter().any(refused)
    }

    pub(crate) fn modelled(meaning: impl Into<String>) -> Self {
        Self::new(LineState::Modelled, meaning)
    }

    pub(crate) fn doubtful(meaning: impl Into<String>) -> Self {
        Self::new(LineState::Doubtful, meaning)
    }

    pub(crate) fn not_modelled(meaning: impl Into<String>) -> Self {
        Self::new(LineState::NotModelled, meaning)
    }

    pub(crate) fn ignored() -> Self {
        Self::new(LineState::Ignored, "no effect on throughput")
    }

    pub(crate) fn unrecognised() -> Self {
        Self::new(LineState::Unrecognised, "not understood; kept as it is")
    }

    /// A known command with a value that the device would refuse.
    pub(crate) fn refused(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::new(
            LineState::Doubtful,
            format!("the device refuses this line: {why}"),
        )
        .trap(Trap::Refused { why })
    }

    pub(crate) fn trap(mut self, trap: Trap) -> Self {
        self.traps.push(trap);
        self
    }

    pub(crate) fn sets(mut self, setting: &'static str) -> Self {
        self.settings.push(setting);
        self
    }
}
