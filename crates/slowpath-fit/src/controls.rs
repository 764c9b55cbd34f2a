//! Which congestion control a sender shows by how it answers losses: how far it reduces what is in flight, and how that grows
//! until the next loss.
//!
//! Each stretch from the end of a repair to the next loss is predicted by each control from what was in flight when the loss was
//! noticed. A replay of the whole transfer has to lose the same packets for that; here every loss is taken from the capture. The
//! laws of growth are those of RFC 5681 (Reno), RFC 9438 with Linux's multiplicative decrease and convergence (CUBIC), and Xu,
//! Harfoush and Rhee, INFOCOM 2004, with Linux's parameters (BIC); BBR version 1 does not answer losses.

use slowpath_verdict::{Connection, Limit};

use crate::model::CONTROLS;

/// What the answers to losses say of each control.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Answers {
    /// Stretches between losses that could be used.
    pub stretches: usize,
    /// For each of [`CONTROLS`], how far the flight is from what it predicts, the mean of the stretches: 1 is as far as a law that
    /// holds is off, in squares.
    pub off: [f64; CONTROLS.len()],
    /// Share of the round trips that are longer than BBR version 1 makes them: it keeps twice what the path holds in flight at most,
    /// and two and a half times that when it starts. 0 where others share the path, who make them long as well.
    pub long: f64,
}

impl Answers {
    /// The controls that the round trips leave possible.
    pub fn possible(&self) -> impl Iterator<Item = &'static str> {
        let no_bbr = self.long > OFTEN;
        CONTROLS
            .into_iter()
            .filter(move |name| !(no_bbr && *name == "bbr"))
    }

    /// How much less likely a control makes the answers than the likeliest one does: twice as much is the square of it.
    ///
    /// The noise is not known and is taken from the control that explains most, as in a regression. Stretches hang together, so
    /// many count as a few.
    pub fn against(&self, control: &str) -> f64 {
        let Some(place) = CONTROLS.iter().position(|name| *name == control) else {
            return 0.0;
        };
        if self.stretches == 0 {
            return 0.0;
        }
        let least = self.off.iter().copied().fold(f64::INFINITY, f64::min);
        self.stretches.min(INDEPENDENT) as f64 * ((self.off[place] + NOISE) / (least + NOISE)).ln()
    }
}

/// What the answers to losses in a capture at the sender say.
pub fn of(connection: &Connection) -> Answers {
    let trace = Trace::of(connection);
    let alone = connection.verdict.limit != Limit::SharedBottleneck && connection.parallel_flows <= 1;
    let long = trace
        .trips
        .iter()
        .filter(|trip| trip.1 > trace.least_trip * BBR_MOST)
        .count();
    let mut out = Answers {
        long: if alone {
            long as f64 / trace.trips.len().max(1) as f64
        } else {
            0.0
        },
        ..Answers::default()
    };
    let mut sums = [[0.0; CONTROLS.len()]; UNUSED.len()];
    let mut before = None;
    for (place, repair) in trace.repairs.iter().enumerate() {
        let window = trace.peak(repair.from - 1.2 * trace.round_trip(repair.from), repair.from);
        let next = trace.repairs.get(place + 1).map(|next| next.from);
        if let Some(off) = stretch(&trace, *repair, next, window, before) {
            out.stretches += 1;
            for (sum, off) in sums.as_flattened_mut().iter_mut().zip(off.as_flattened()) {
                *sum += off;
            }
        }
        before = Some(window);
    }
    if out.stretches > 0 {
        for (place, off) in out.off.iter_mut().enumerate() {
            let least = sums.iter().map(|sums| sums[place]).fold(f64::INFINITY, f64::min);
            *off = least / out.stretches as f64;
        }
    }
    out
}

/// How far off each control is between one repair and the next, for each of [`UNUSED`]; `None` where the stretch tells nothing.
fn stretch(
    trace: &Trace,
    repair: Repair,
    next: Option<f64>,
    window: f64,
    before: Option<f64>,
) -> Option<[[f64; CONTROLS.len()]; UNUSED.len()]> {
    let end = repair.to?;
    if repair.timeout || window < LEAST_WINDOW {
        return None;
    }
    let first_trip = trace.round_trip(repair.from);
    let mut stop = match next {
        Some(next) => next - 0.5 * trace.round_trip(next),
        None => trace.last - 2.0 * first_trip,
    };
    // A program that paused left the window alone.
    if let Some(pause) = trace
        .pauses
        .iter()
        .find(|pause| pause.0 >= end && pause.1 - pause.0 > 1.5 * trace.round_trip(pause.0) + LEAST_PAUSE)
    {
        stop = stop.min(pause.0 - 0.5 * trace.round_trip(pause.0));
    }
    if stop - end < 1.5 * first_trip {
        return None;
    }
    let mut laws =
        UNUSED.map(|unused| CONTROLS.map(|control| Law::after_loss(control, window + unused, before)));
    let mut sums = [[0.0; CONTROLS.len()]; UNUSED.len()];
    let mut count = 0;
    let mut at = end + 0.5 * first_trip;
    let noise = LAW * LAW + (ROUNDING / window).powi(2);
    while count < MOST_ROUNDS {
        let trip = trace.round_trip(at);
        if at + trip > stop {
            break;
        }
        let seen = trace.peak(at, at + trip);
        if seen > 0.0 {
            for ((sums, laws), unused) in sums.iter_mut().zip(&mut laws).zip(UNUSED) {
                for (sum, law) in sums.iter_mut().zip(laws) {
                    // What is left unused is between nothing and as much as when the loss came.
                    let expected = (law.round(trip) - 0.5 * unused).max(1.0);
                    let off = (seen / expected).ln();
                    *sum += (off * off / noise).min(MOST);
                }
            }
            count += 1;
        }
        at += trip;
    }
    (count > 0).then(|| sums.map(|sums| sums.map(|sum| sum / f64::from(count))))
}

/// The window of a congestion control after a loss, in segments.
enum Law {
    Reno {
        window: f64,
    },
    Cubic {
        window: f64,
        origin: f64,
        inflection: f64,
        since: f64,
        friendly: f64,
    },
    Bic {
        window: f64,
        most: f64,
    },
    Steady {
        window: f64,
    },
}

impl Law {
    fn after_loss(control: &str, at_loss: f64, before: Option<f64>) -> Self {
        let again = before.is_some_and(|before| at_loss < before);
        match control {
            "reno" => Self::Reno {
                window: (at_loss * 0.5).max(2.0),
            },
            "cubic" => {
                let most = if again {
                    at_loss * f64::midpoint(1.0, CUBIC_BETA)
                } else {
                    at_loss
                };
                let window = (at_loss * CUBIC_BETA).max(2.0);
                Self::Cubic {
                    window,
                    origin: most.max(window),
                    inflection: ((most - window).max(0.0) / CUBIC_C).cbrt(),
                    since: 0.0,
                    friendly: window,
                }
            }
            "bic" => Self::Bic {
                window: (at_loss * if at_loss <= BIC_LOW { 0.5 } else { BIC_BETA }).max(2.0),
                most: if again {
                    at_loss * f64::midpoint(1.0, BIC_BETA)
                } else {
                    at_loss
                },
            },
            _ => Self::Steady { window: at_loss },
        }
    }

    /// The window a round trip of so many seconds later.
    fn round(&mut self, trip: f64) -> f64 {
        match self {
            Self::Reno { window } => {
                *window += 1.0;
                *window
            }
            Self::Cubic {
                window,
                origin,
                inflection,
                since,
                friendly,
            } => {
                *since += trip;
                *friendly += 3.0 * (1.0 - CUBIC_BETA) / (1.0 + CUBIC_BETA);
                let target = *origin + CUBIC_C * (*since + trip - *inflection).powi(3);
                *window = target.max(*friendly).max(*window).min(*window * 1.5);
                *window
            }
            Self::Bic { window, most } => {
                let distance = (*most - *window) / BIC_BINARY;
                let beyond = *window - *most;
                *window += if *window <= BIC_LOW {
                    1.0
                } else if distance > BIC_MOST {
                    BIC_MOST
                } else if distance > 1.0 {
                    distance
                } else if beyond < BIC_BINARY {
                    BIC_BINARY / BIC_SMOOTH
                } else if beyond < BIC_MOST * (BIC_BINARY - 1.0) {
                    beyond / (BIC_BINARY - 1.0)
                } else {
                    BIC_MOST
                };
                *window
            }
            Self::Steady { window } => *window,
        }
    }
}

/// Losses that were repaired together.
#[derive(Debug, Clone, Copy)]
struct Repair {
    /// When the first segment was sent again.
    from: f64,
    /// When everything was acknowledged that was sent until then; `None` if the capture ends before.
    to: Option<f64>,
    /// Highest byte sent until then.
    point: u64,
    /// Whether the sender had waited for its timer.
    timeout: bool,
}

/// What was in flight over time, and what befell it. Seconds and segments.
struct Trace {
    flight: Vec<(f64, f64)>,
    trips: Vec<(f64, f64)>,
    least_trip: f64,
    repairs: Vec<Repair>,
    pauses: Vec<(f64, f64)>,
    last: f64,
}

impl Trace {
    fn of(connection: &Connection) -> Self {
        let graphs = &connection.graphs;
        let segment = f64::from(connection.facts.segment_size.max(1));
        let mut trips: Vec<(f64, f64)> = graphs.rtt.iter().map(|point| (point.at_s, point.value)).collect();
        trips.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut trace = Self {
            flight: Vec::with_capacity(graphs.segments.len() + graphs.acks.len()),
            least_trip: trips.iter().map(|trip| trip.1).fold(f64::INFINITY, f64::min),
            trips,
            repairs: Vec::new(),
            pauses: Vec::new(),
            last: 0.0,
        };
        let (mut acks, mut sacks) = (graphs.acks.iter().peekable(), graphs.sacks.iter().peekable());
        let first = graphs.segments.first().map_or(0, |segment| segment.from);
        let (mut next, mut held) = (first, Held::new(first));
        let mut last_sent: Option<f64> = None;
        for sent in &graphs.segments {
            // What came before this was sent, acknowledgements with the blocks that came with them.
            while let Some(ack) = acks.next_if(|ack| ack.at_s <= sent.at_s) {
                while let Some(block) = sacks.next_if(|block| block.at_s <= ack.at_s) {
                    held.block(block.from, block.to.min(next));
                }
                trace.acknowledged(ack.at_s, ack.value as u64, next, &mut held, segment);
            }
            if sent.from >= next {
                if let Some(last) = last_sent.filter(|last| sent.at_s - last > LEAST_PAUSE) {
                    trace.pauses.push((last, sent.at_s));
                }
                next = sent.to;
            } else {
                let waited = last_sent.is_some_and(|last| sent.at_s - last > LEAST_TIMEOUT);
                trace.sent_again(sent.at_s, next, waited);
            }
            last_sent = Some(sent.at_s);
            trace.note(sent.at_s, next, &held, segment);
        }
        for ack in acks {
            trace.acknowledged(ack.at_s, ack.value as u64, next, &mut held, segment);
        }
        trace
    }

    fn acknowledged(&mut self, at: f64, to: u64, next: u64, held: &mut Held, segment: f64) {
        held.acknowledged(to);
        if let Some(repair) = self.repairs.last_mut().filter(|repair| repair.to.is_none())
            && held.all >= repair.point
        {
            repair.to = Some(at);
        }
        self.note(at, next, held, segment);
    }

    fn sent_again(&mut self, at: f64, next: u64, timeout: bool) {
        match self.repairs.last_mut().filter(|repair| repair.to.is_none()) {
            Some(repair) => repair.timeout |= timeout,
            None => self.repairs.push(Repair {
                from: at,
                to: None,
                point: next,
                timeout,
            }),
        }
    }

    fn note(&mut self, at: f64, next: u64, held: &Held, segment: f64) {
        let flight = next.saturating_sub(held.all).saturating_sub(held.sacked()) as f64 / segment;
        self.flight.push((at, flight));
        self.last = at;
    }

    /// The most that was in flight in a stretch of time, its end left out.
    fn peak(&self, from: f64, to: f64) -> f64 {
        let first = self.flight.partition_point(|point| point.0 < from);
        let inside = self.flight[first..].iter().take_while(|point| point.0 < to);
        inside.map(|point| point.1).fold(0.0, f64::max)
    }

    /// The round trip at a time: the median of a few samples around it.
    fn round_trip(&self, at: f64) -> f64 {
        let place = self.trips.partition_point(|trip| trip.0 < at);
        let around = place.saturating_sub(3)..(place + 3).min(self.trips.len());
        let mut few: Vec<f64> = self.trips[around].iter().map(|trip| trip.1).collect();
        few.sort_unstable_by(f64::total_cmp);
        few.get(few.len() / 2)
            .copied()
            .unwrap_or(0.0)
            .max(self.least_trip)
            .clamp(1e-4, 10.0)
    }
}

/// What the receiver holds.
struct Held {
    /// Everything below.
    all: u64,
    /// Blocks above, in order and apart.
    blocks: Vec<(u64, u64)>,
}

impl Held {
    const fn new(from: u64) -> Self {
        Self {
            all: from,
            blocks: Vec::new(),
        }
    }

    fn block(&mut self, from: u64, to: u64) {
        let (mut from, mut to) = (from.max(self.all), to);
        if from >= to {
            return;
        }
        self.blocks.retain(|&(left, right)| {
            let apart = right < from || left > to;
            if !apart {
                from = from.min(left);
                to = to.max(right);
            }
            apart
        });
        let place = self.blocks.partition_point(|block| block.0 < from);
        self.blocks.insert(place, (from, to));
    }

    fn acknowledged(&mut self, to: u64) {
        self.all = self.all.max(to);
        let all = self.all;
        self.blocks.retain_mut(|block| {
            block.0 = block.0.max(all);
            block.0 < block.1
        });
    }

    fn sacked(&self) -> u64 {
        self.blocks.iter().map(|block| block.1 - block.0).sum()
    }
}

/// Multiplicative decrease of CUBIC in Linux (717/1024), and its constant of growth.
const CUBIC_BETA: f64 = 717.0 / 1024.0;
const CUBIC_C: f64 = 0.4;
/// The same of BIC (819/1024); below so many segments it does as Reno; its steps.
const BIC_BETA: f64 = 819.0 / 1024.0;
const BIC_LOW: f64 = 14.0;
const BIC_BINARY: f64 = 4.0;
const BIC_MOST: f64 = 16.0;
const BIC_SMOOTH: f64 = 20.0;
/// The longest round trip that BBR makes, in shortest ones, with what acknowledgements that come together add.
const BBR_MOST: f64 = 4.0;
/// Share of round trips from which they are no start.
const OFTEN: f64 = 0.2;
/// Segments in flight from which a reduction can be measured.
const LEAST_WINDOW: f64 = 4.0;
/// Segments of the window that a sender may leave unused because it sends two and more at a time (in Linux `tcp_tso_should_defer`):
/// what is in flight is that much less than the window.
const UNUSED: [f64; 3] = [0.0, 1.0, 2.0];
/// Shortest pause of a program, seconds.
const LEAST_PAUSE: f64 = 0.02;
/// Silence from which a retransmission is a timer's: Linux's shortest timeout is 200 ms.
const LEAST_TIMEOUT: f64 = 0.19;
/// Round trips of a stretch that are compared.
const MOST_ROUNDS: u32 = 60;
/// What a round trip counts at most: five times as far off says no more.
const MOST: f64 = 25.0;
/// By what share a flight is off from a law that holds.
const LAW: f64 = 0.07;
/// By how many segments it is, beside that: a flight is whole segments.
const ROUNDING: f64 = 0.5;
/// The least noise, in squares of these.
const NOISE: f64 = 1.0;
/// Stretches that count at most.
const INDEPENDENT: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn after(control: &str, window: f64, trip: f64, rounds: u32) -> f64 {
        let mut law = Law::after_loss(control, window, None);
        (0..rounds).fold(0.0, |_, _| law.round(trip))
    }

    #[test]
    fn reno_halves_and_adds_a_segment_each_round() {
        assert!((after("reno", 100.0, 0.05, 10) - 60.0).abs() < 1e-9);
    }

    #[test]
    fn cubic_is_back_where_it_was_after_the_time_of_its_formula() {
        // K = cbrt(W (1 - beta) / C), RFC 9438, section 4.2: 4.2 s for 100 segments.
        let trip = 0.1;
        let inflection = (100.0 * (1.0 - CUBIC_BETA) / CUBIC_C).cbrt();
        let rounds = (inflection / trip).round() as u32;
        assert!((after("cubic", 100.0, trip, rounds) - 100.0).abs() < 0.5);
        assert!(after("cubic", 100.0, trip, 2) < 77.0);
    }

    #[test]
    fn cubic_with_a_short_round_trip_grows_as_reno_does() {
        let grown = after("cubic", 20.0, 0.005, 20);
        assert!((grown - (14.0 + 20.0 * 0.53)).abs() < 0.5, "{grown}");
    }

    #[test]
    fn bic_goes_a_part_of_the_way_each_round() {
        // From 80 towards 100: a quarter of the distance.
        assert!((after("bic", 100.0, 0.05, 1) - 84.9).abs() < 0.3);
        let soon = after("bic", 100.0, 0.05, 12);
        assert!((96.0..101.0).contains(&soon), "{soon}");
        assert!((after("bic", 12.0, 0.05, 1) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn blocks_are_joined_and_swallowed() {
        let mut held = Held::new(0);
        held.block(100, 200);
        held.block(300, 400);
        held.block(200, 300);
        assert_eq!((held.sacked(), held.blocks.len()), (300, 1));
        held.acknowledged(150);
        assert_eq!(held.sacked(), 250);
        held.acknowledged(500);
        assert_eq!(held.sacked(), 0);
    }

    #[test]
    fn what_is_far_from_all_controls_tells_none_apart() {
        let clear = Answers {
            stretches: 4,
            off: [0.2, 18.0, 28.0, 4.0],
            long: 0.0,
        };
        assert!(clear.against("cubic").abs() < 1e-9 && clear.against("bic") > 5.0);
        let unclear = Answers {
            stretches: 4,
            off: [30.0, 36.0, 38.0, 28.0],
            long: 0.0,
        };
        assert!(CONTROLS.iter().all(|name| unclear.against(name) < 1.5));
        assert!(Answers::default().against("reno").abs() < 1e-9);
        let bloated = Answers {
            long: 0.8,
            ..Answers::default()
        };
        assert!(bloated.possible().eq(["cubic", "reno", "bic"]));
        assert!(Answers::default().possible().eq(CONTROLS));
    }
}
