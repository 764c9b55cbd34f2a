//! Whether a run may be believed.

use serde::{Deserialize, Serialize};
use slowpath_units::Duration;

use crate::code::Code;

/// Health of a run: the state, its reasons, and the numbers behind them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Health {
    /// The judgement.
    pub state: HealthState,
    /// What was found: why the run is not valid, and notes (of state valid) that a reader may want.
    pub reasons: Vec<Reason>,
    /// How late packets left the wire, against model time.
    #[serde(default)]
    pub release_lateness: Option<Lateness>,
    /// Upper bound of the error of arrival stamps.
    #[serde(default)]
    pub ingress_error: Option<Duration>,
    /// Packets lost outside the model (interface rings, socket buffers).
    #[serde(default)]
    pub unexplained_drops: u64,
    /// Share of processor time taken by other guests of the same machine during the run.
    #[serde(default)]
    pub steal_fraction: f64,
    /// Share of processor time in use by anything during the run.
    #[serde(default)]
    pub processor_fraction: f64,
    /// What the machine did to each figure of the run, by replaying its disturbances; empty where that cannot be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// What the size of the machine's disturbances alone would have said, where their effect is known instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_size: Vec<Reason>,
    /// Codes of what limits the same run in simulated time without disturbances, as its own packets say. A disturbed run
    /// that says otherwise cannot tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undisturbed_limits: Vec<String>,
}

impl Health {
    /// Whether the machine disturbed the run so much that it shows, whatever that did to the figures.
    pub fn is_disturbed(&self) -> bool {
        let by_size = self.by_size.iter().map(|reason| reason.state).max();
        self.state.max(by_size.unwrap_or_default()) > HealthState::Valid
    }
}

impl Health {
    /// A run about which there is nothing to complain, as every simulated run is.
    pub fn valid() -> Self {
        Self::default()
    }

    /// Adds a reason and lowers the state accordingly; a state never rises.
    pub fn add(&mut self, reason: Reason) {
        self.state = self.state.max(reason.state);
        self.reasons.push(reason);
    }
}

/// What the machine did to one figure of a run.
///
/// The run is simulated several times as planned, and as often with packets held up when the machine held them up; the
/// difference is the machine's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Which figure.
    pub figure: FigureKind,
    /// Its mean over the simulations as planned: bytes per second, seconds, segments, or a share.
    pub planned: f64,
    /// Its mean over the simulations with the disturbances.
    pub disturbed: f64,
    /// The change that this makes: of the planned figure, or of all packets where the figure is a share.
    pub change: f64,
    /// How far the mean of the change may be off, either way (95 %).
    pub uncertainty: f64,
    /// Low end of what one run like this one may be changed by, chance on the path included (95 %).
    pub low: f64,
    /// High end of the same.
    pub high: f64,
    /// Number of pairs of simulations.
    pub replays: u32,
    /// What this alone says about the figure.
    pub state: HealthState,
}

/// A figure of a run that its health may speak about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Application bytes per second at the receiver.
    Goodput,
    /// From asking to the last byte.
    Duration,
    /// Packets that the path dropped, of all sent.
    Loss,
    /// Median round trip of an echo.
    DelayMedian,
    /// Round trip that 95 % of the echoes do not exceed.
    DelayP95,
}

/// The judgement on a run. Ordered: later is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HealthState {
    /// Nothing to complain about.
    #[default]
    Valid,
    /// Usable with care; the reasons say for what.
    Degraded,
    /// Not to be used; no verdict is given.
    Invalid,
}

impl HealthState {
    /// The name in JSON and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Degraded => "degraded",
            Self::Invalid => "invalid",
        }
    }
}

/// One reason for a run to be less than valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What was found, as a stable code.
    pub code: Code,
    /// The state it causes.
    pub state: HealthState,
    /// What was found and what to do, as a sentence with the value.
    pub text: String,
}

/// A summary of a lateness histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lateness {
    /// Number of releases.
    pub count: u64,
    /// Half of the releases were at most this late.
    pub p50: Duration,
    /// 99 % were at most this late.
    pub p99: Duration,
    /// 99.9 % were at most this late.
    pub p999: Duration,
    /// The latest.
    pub max: Duration,
}
