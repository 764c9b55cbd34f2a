//! The standing cells of the twin: which paths are run in both clocks.
//!
//! The list is a rule, not a choice by results, and was fixed before the first comparison. Every rate and round-trip
//! time of the low rates meets every loss and every queue once; which congestion control meets them rotates, so that
//! each algorithm sees each loss and each queue. The high rates, which have the machine for themselves, are a list.
//!
//! How long a transfer is follows from [`Cell::expected_utilisation`]: about the same time for every cell, whatever
//! its goodput, so a cell with much loss transfers little.

use slowpath_scenario::plan::PlanError;
use slowpath_scenario::{Clock, Diagnostics, Experiment, Fragments, Plan, PlanOptions};
use slowpath_units::ByteCount;

/// One path with one congestion control, run with several seeds in both clocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Rate of the bottleneck in Mbit/s, counted on Ethernet frames without FCS.
    pub rate_mbit_per_s: u32,
    /// Round-trip time of the empty path in milliseconds.
    pub rtt_ms: u32,
    /// Share of data packets that are lost before the bottleneck, in hundredths of a per cent.
    pub loss_e4: u32,
    /// Queue of the bottleneck in tenths of a bandwidth-delay product.
    pub queue_tenths: u32,
    /// The sender's congestion control.
    pub congestion: Congestion,
}

/// The sender's congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Congestion {
    /// Reno with SACK.
    Reno,
    /// CUBIC.
    Cubic,
    /// BBR, version 1.
    Bbr,
}

impl Congestion {
    /// All, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Reno, Self::Cubic, Self::Bbr];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

/// Every cell, low rates first.
pub fn all() -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut turn = 0;
    for rate_mbit_per_s in [10, 50] {
        for rtt_ms in [20, 100, 250] {
            for (l, loss_e4) in LOSSES.into_iter().enumerate() {
                for (q, queue_tenths) in QUEUES.into_iter().enumerate() {
                    cells.push(Cell {
                        rate_mbit_per_s,
                        rtt_ms,
                        loss_e4,
                        queue_tenths,
                        congestion: Congestion::ALL[(l + q + turn) % 3],
                    });
                }
            }
            turn += 1;
        }
    }
    cells.extend(ALONE.iter().map(
        |&(rate_mbit_per_s, rtt_ms, loss_e4, queue_tenths, congestion)| Cell {
            rate_mbit_per_s,
            rtt_ms,
            loss_e4,
            queue_tenths,
            congestion,
        },
    ));
    cells
}

impl Cell {
    /// The name in results and tables.
    pub fn name(&self) -> String {
        format!(
            "r{}-d{}-l{}-q{}-{}",
            self.rate_mbit_per_s,
            self.rtt_ms,
            self.loss_e4,
            self.queue_tenths,
            self.congestion.name()
        )
    }

    /// Random loss as a share.
    pub fn loss(&self) -> f64 {
        f64::from(self.loss_e4) / 1e4
    }

    /// Payload bytes per second when the bottleneck is full.
    pub fn ceiling_byte_per_s(&self) -> f64 {
        f64::from(self.rate_mbit_per_s) * 1e6 / 8.0 * PAYLOAD / FRAME
    }

    /// Bandwidth-delay product in full frames.
    fn product(&self) -> f64 {
        f64::from(self.rate_mbit_per_s) * 1e6 / 8.0 * f64::from(self.rtt_ms) / 1e3 / FRAME
    }

    /// Bytes of the bottleneck's queue; never less than four full frames, which no real device has less of.
    pub fn queue_bytes(&self) -> u64 {
        let wanted = self.product() * FRAME * f64::from(self.queue_tenths) / 10.0;
        whole(wanted.max(4.0 * FRAME))
    }

    /// The share of the bottleneck that a long transfer should use, by published formulas.
    ///
    /// Random loss: Mathis for Reno, RFC 9438 section 5.1 for CUBIC, none for BBR, which ignores loss of this size.
    /// A short queue: the mean of a straight saw between the window after and before a loss.
    pub fn steady_utilisation(&self) -> f64 {
        let (product, queue) = (self.product(), self.queue_bytes() as f64 / FRAME);
        let decrease = match self.congestion {
            Congestion::Bbr => return BBR_UTILISATION,
            Congestion::Reno => 0.5,
            Congestion::Cubic => 0.7,
        };
        let most = (product + queue) / product;
        let least = decrease * most;
        let saw = if least >= 1.0 {
            1.0
        } else {
            ((1.0 - least * least) / 2.0 + (most - 1.0)) / (most - least)
        };
        if self.loss_e4 == 0 {
            return saw;
        }
        let loss = self.loss();
        let reno = (1.5 / loss).sqrt();
        let window = match self.congestion {
            Congestion::Cubic => {
                let seconds = f64::from(self.rtt_ms) / 1e3;
                reno.max(1.054 * (seconds / loss).powf(0.75))
            }
            _ => reno,
        };
        saw.min(window / product)
    }

    /// The share of the bottleneck that this cell's transfer should use, its beginning included.
    pub fn expected_utilisation(&self) -> f64 {
        let seconds = self.bytes() as f64 / (self.steady_utilisation() * self.ceiling_byte_per_s());
        self.bytes() as f64 / ((seconds + self.beginning_s()) * self.ceiling_byte_per_s())
    }

    /// Time that the handshake, the commands and slow start cost.
    fn beginning_s(&self) -> f64 {
        let window = (self.product() * self.steady_utilisation()).max(20.0);
        f64::from(self.rtt_ms) / 1e3 * (3.0 + (window / 10.0).log2() - 1.0)
    }

    /// Payload bytes of the transfer.
    pub fn bytes(&self) -> u64 {
        let goodput = self.steady_utilisation() * self.ceiling_byte_per_s();
        let seconds = match self.rate_mbit_per_s {
            1_000.. => 5.0,
            200.. => 7.0,
            _ if self.needs_more() => 20.0,
            _ => 10.0,
        };
        let bytes = goodput * (seconds - self.beginning_s()).max(seconds / 2.0);
        whole(bytes / 1e5).max(2) * 100_000
    }

    /// Whether chance decides much: then the transfer is longer and the seeds are more.
    fn needs_more(&self) -> bool {
        self.loss_e4 >= 10 && self.congestion != Congestion::Bbr
    }

    /// How many runs in each clock at first; more follow where their ratio's interval is too wide, see [`MOST_SEEDS`].
    pub fn seeds(&self) -> u32 {
        if self.needs_more() { 10 } else { 5 }
    }

    /// Whether several such cells can run side by side without disturbing each other.
    pub const fn is_slow(&self) -> bool {
        self.rate_mbit_per_s < 100
    }

    /// How many of [`PLACES`] a run takes that is not alone: what it gives the machine to do.
    ///
    /// Two runs that fill 50 Mbit/s, seven that fill 10 Mbit/s, or fourteen that loss holds at a trickle. With
    /// fourteen whatever their rate, two processors were busy to 91 %, wires stood still for 20 to 50 ms, and a third
    /// of the runs were invalid.
    ///
    /// A queue that empties in a few milliseconds has the machine for itself: what a busy one hands over late overflows
    /// it (50 Mbit/s, 2 ms: the model's goodput is 2.9 times the lab's with fourteen runs, 1.4 times with one to three).
    pub fn places(&self) -> usize {
        if self.queue_bytes() as f64 * 8e-3 / f64::from(self.rate_mbit_per_s) < ALONE_BELOW_MS {
            return PLACES;
        }
        let goodput = self.steady_utilisation() * self.ceiling_byte_per_s() * 8e-6;
        if goodput < 2.5 {
            1
        } else if goodput < 12.0 {
            2
        } else {
            6
        }
    }

    /// The cell as an experiment file.
    pub fn document(&self) -> String {
        let half = f64::from(self.rtt_ms) / 2.0;
        let loss = if self.loss_e4 == 0 {
            String::new()
        } else {
            format!("{{ loss = \"{} %\" }}, ", f64::from(self.loss_e4) / 100.0)
        };
        format!(
            r#"title = "The same path in two clocks"
captures = "hosts"

[network]
up = [{{ delay = "{half} ms" }}]
down = [{loss}{{ rate = "{rate} Mbit/s", queue = "{queue} B" }}, {{ delay = "{half} ms" }}]

[workload]
kind = "ftp-get"
size = "{bytes} B"
deadline = "{DEADLINE_S} s"

[hosts.server]
system = "linux"
congestion_control = "{congestion}"
wmem = ["4096 B", "16384 B", "{BUFFER} B"]

[hosts.client]
system = "linux"
congestion_control = "{congestion}"
rmem = ["4096 B", "131072 B", "{BUFFER} B"]

[[variants]]
name = "{name}"
"#,
            rate = self.rate_mbit_per_s,
            queue = self.queue_bytes(),
            bytes = self.bytes(),
            congestion = self.congestion.name(),
            name = self.name(),
        )
    }

    /// The plan of one run.
    ///
    /// # Errors
    /// [`CellError`]; for a cell of [`all`] that is a mistake in this program.
    pub fn plan(&self, clock: Clock, repeat: u32, seed: u64) -> Result<Plan, CellError> {
        self.plan_of(clock, repeat, seed, None)
    }

    /// The plan of the first run with another size of the transfer.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn short_plan(&self, clock: Clock, seed: u64, size: ByteCount) -> Result<Plan, CellError> {
        self.plan_of(clock, 0, seed, Some(size))
    }

    fn plan_of(
        &self,
        clock: Clock,
        repeat: u32,
        seed: u64,
        size: Option<ByteCount>,
    ) -> Result<Plan, CellError> {
        let name = self.name();
        let experiment = Experiment::read(&name, &self.document(), &[])
            .map_err(|mistakes| CellError::Document(Box::new(mistakes)))?;
        let options = PlanOptions {
            variant: name,
            repeat,
            seed,
            clock,
            quick: false,
            size,
        };
        Ok(experiment.plan(&options, &Fragments::new())?)
    }
}

/// Why a cell cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    /// Its experiment has mistakes.
    #[error("{0}")]
    Document(Box<Diagnostics>),
    /// It cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// The nearest whole number of something that is never negative.
#[expect(clippy::cast_sign_loss, reason = "bytes and frames are not negative")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// Random loss in hundredths of a per cent.
const LOSSES: [u32; 4] = [0, 1, 10, 100];

/// Queues in tenths of a bandwidth-delay product.
const QUEUES: [u32; 3] = [1, 10, 40];

/// Cells that run alone: rate, round-trip time, loss, queue, congestion control.
const ALONE: &[(u32, u32, u32, u32, Congestion)] = &[
    (200, 1, 0, 40, Congestion::Cubic),
    (200, 20, 0, 1, Congestion::Bbr),
    (200, 20, 1, 10, Congestion::Cubic),
    (200, 100, 10, 10, Congestion::Cubic),
    (200, 100, 1, 10, Congestion::Reno),
    (200, 250, 100, 10, Congestion::Bbr),
    (1_000, 1, 0, 10, Congestion::Reno),
    (1_000, 20, 1, 10, Congestion::Cubic),
    (1_000, 20, 10, 10, Congestion::Bbr),
    (1_000, 100, 1, 10, Congestion::Cubic),
];

/// Cells whose queue empties in less time than this many milliseconds run alone.
const ALONE_BELOW_MS: f64 = 5.0;

/// How many runs a cell gets at most, however wide its interval stays.
pub const MOST_SEEDS: u32 = 40;

/// How many places there are for runs side by side on two processors.
pub const PLACES: usize = 14;

/// Payload and frame of a full segment with timestamps.
const PAYLOAD: f64 = 1_448.0;
const FRAME: f64 = 1_514.0;

/// What BBR reaches where nothing disturbs it: it drains its queue and probes for the round-trip time.
const BBR_UTILISATION: f64 = 0.95;

/// Largest receive and send buffer in both clocks: more than any cell can use.
const BUFFER: u64 = 128 << 20;

/// When a run is given up, in seconds.
const DEADLINE_S: u32 = 90;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use slowpath_scenario::Stack;

    use super::*;

    #[test]
    fn the_list_has_what_it_must_have() {
        let cells = all();
        assert!(cells.len() >= 60, "{}", cells.len());
        let names: BTreeSet<String> = cells.iter().map(Cell::name).collect();
        assert_eq!(names.len(), cells.len());
        assert!(cells.iter().all(|cell| cell.seeds() >= 5));
        let below = cells
            .iter()
            .filter(|cell| cell.expected_utilisation() < 0.9)
            .count();
        assert!(below * 2 >= cells.len(), "{below} of {}", cells.len());
        for congestion in Congestion::ALL {
            for loss in LOSSES {
                let met = |cell: &&Cell| cell.congestion == congestion && cell.loss_e4 == loss;
                assert!(cells.iter().any(|cell| met(&cell)), "{congestion:?} {loss}");
            }
            for queue in QUEUES {
                let met = |cell: &&Cell| cell.congestion == congestion && cell.queue_tenths == queue;
                assert!(cells.iter().any(|cell| met(&cell)), "{congestion:?} {queue}");
            }
        }
        for rate in [10, 50, 200, 1_000] {
            assert!(cells.iter().any(|cell| cell.rate_mbit_per_s == rate));
        }
        for rtt in [1, 20, 100, 250] {
            assert!(cells.iter().any(|cell| cell.rtt_ms == rtt));
        }
    }

    #[test]
    fn the_whole_matrix_fits_into_its_time() {
        let span = |cell: &Cell| {
            let seconds =
                cell.bytes() as f64 / (cell.expected_utilisation() * cell.ceiling_byte_per_s()) + 1.5;
            seconds * f64::from(cell.seeds())
        };
        let slow: f64 = all()
            .iter()
            .filter(|cell| cell.is_slow())
            .map(|cell| span(cell) * cell.places() as f64 / PLACES as f64)
            .sum();
        let alone: f64 = all().iter().filter(|cell| !cell.is_slow()).map(span).sum();
        let whole = slow + alone;
        assert!(
            whole < 45.0 * 60.0,
            "{whole} s: {slow} s side by side, {alone} s alone"
        );
    }

    #[test]
    fn both_clocks_get_the_same_path_and_the_same_dice() {
        for cell in all() {
            let lab = cell.plan(Clock::Lab, 3, 1).unwrap_or_else(|e| panic!("{e}"));
            let simulated = cell
                .plan(Clock::Simulated, 3, 1)
                .unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(lab.network, simulated.network);
            assert_eq!(lab.seed, simulated.seed);
            assert_eq!(lab.jobs, simulated.jobs);
            let Some(Stack::Kernel(kernel)) = lab.host("server").map(|host| &host.stack) else {
                panic!("{}: the server is no kernel", cell.name());
            };
            assert_eq!(kernel.congestion_control.as_deref(), Some(cell.congestion.name()));
        }
    }
}
