//! What a run says about its own trustworthiness.
//!
//! | reason | degraded from | invalid from |
//! |---|---|---|
//! | `release-late`: 99 % of the packets were handed over at most so late | 1 ms, or *h* if that is more | ten times that |
//! | `wire-stalled`: the wire stood still, or a packet was this late | 20 ms, if it matters (see below) | 100 ms |
//! | `arrival-uncertain`: 99 % of the arrival stamps are at most so uncertain | 2 ms, or *h* if that is more | ten times that |
//! | `queue-bunched`: where a queue overflowed, 99.9 % were at most so late | 1/4 of the slowest link's queue, at least 0.25 ms | all of it, at least 1 ms |
//! | `path-longer`: what both add to the mean round trip, of the shortest one | 10 % and 0.5 ms; a note from 1 % and 0.2 ms | – |
//! | `wire-starved`: share of its time that a wire waited for a processor, waits above 0.5 ms each | 10 %; a note from 0.5 % | – |
//! | `crowded`: processors that programs outside the lab left free, on average | below 1.25, or 3/4 of all | – |
//! | `tun-drops`: packets lost between a host and the wire | – | 1 packet |
//! | `socket-drops`: datagrams that a host's own sockets had no room for | 1 packet | – |
//! | `refused`: packets that a host's device did not take | – | 1 packet |
//! | `capture-lost`: packets that the captures lack | 1 packet | – |
//! | `memory`, `device`: the wire ended before the run | – | always |
//! | `steal`: share of processor time taken by other guests | 2 % | 20 % |
//! | `busy`: share of processor time in use by anything | 95 % | – |
//! | `clock-jump`: the time of day moved against the clock | 100 ms | – |
//! | `suspended`: the machine slept | – | 1 ms |
//!
//! # How late is too late
//!
//! That depends on the path. A packet that waits for the wire for a time *l*, to be read or to be handed over, does to
//! a connection what a path longer by *l* does: an acknowledgement clock, a window and a loss-limited sender all go
//! with 1/(round trip + *l*), on average; and packets that were held up together reach the next queue together, which
//! they find longer by *l*. So *h*, what does no harm, is 1/50 of the shortest round trip that any packet made in
//! model time, but at most a quarter of the time in which the slowest link's queue empties. The times in the table
//! are what a good machine keeps with paths of any length: there the hosts' own wake-ups are as late.
//!
//! The mean counts for rates; where 99 % are late by *l* at most, the mean is a small part of *l*. It is measured on
//! its own (`path-longer`), so that a note says by how much a figure that goes with the round trip is off.
//!
//! The rare ones count where the queue is short: with a thousand packets a second, one in a thousand makes one bunch a
//! second, and if the queue has no room for it, one loss more a second (`queue-bunched`). `docs/validation/wire.md` has
//! the measurement behind both rules: with a queue of one bandwidth-delay product or more, goodput stayed within 1 % at
//! a 99th percentile of 1 to 3 ms; with a tenth of that, it fell by up to a half.
//!
//! Waiting for a processor (`wire-starved`) is how packets become late, not a second error: how late they became is
//! known for each. It names the culprit, and is a reason of its own only where the wire waited for a tenth of the run.
//!
//! # What one stall does to a result
//!
//! Virtual machines stand still for 20 to 100 ms now and then, so that every run of minutes meets a stall. It loses no
//! packet: all that is on the way arrives later by at most its length *S*, and model time goes on meanwhile. So a rate
//! measured over a run of length *T* is off by at most *S/T*, unless something answers to the stall itself:
//!
//! * A sender's retransmission timer expires: not before its minimum, which is 200 ms in Linux. From half of that on
//!   the run is invalid, however long it is.
//! * What hosts sent meanwhile reaches the first queue all at once and overflows it. The wire counts what queues,
//!   policers and devices drop right after a stall; one such packet makes the run degraded.
//!
//! Where neither happened and stalls took less than 0.1 % of the run (and fewer than 0.1 % of the packets were late by
//! 5 ms), the promised long-run error of 0.1 % holds: the stall is told with the state *valid*, as a note, since the
//! largest round-trip times and jitters of the run still contain it.

use hdrhistogram::Histogram;
use slowpath_record::health::Lateness;
use slowpath_record::{Code, Disturbances, ElementCounters, Health, HealthState, Reason, WireDisturbances};
use slowpath_units::Duration;

use crate::machine::Change;
use crate::scales::Scales;
use crate::wire::{Fault, STALL, WireStats};

/// What a finished lab leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct LabReport {
    /// Whether the run may be believed, by the table of this module alone.
    pub health: Health,
    /// When the machine held packets up.
    pub disturbances: Disturbances,
    /// What went through each element of the network.
    pub elements: Vec<ElementCounters>,
    /// What happened to all packets.
    pub totals: Totals,
    /// Longest time for which the lab ran.
    pub duration: Duration,
    /// Bytes of memory that packets on the way took at most, per wire.
    pub peak_bytes: Vec<u64>,
    /// Processor time that each wire used.
    pub wire_cpu: Vec<Duration>,
    /// What the programs of model hosts achieved.
    pub reports: Vec<(String, slowpath_endpoint::Report)>,
}

/// Counts over all wires. `sent + made = delivered + dropped + inside`, where fragments and copies count as made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Wire packets that hosts sent into the network.
    pub sent: u64,
    /// Handed to hosts.
    pub delivered: u64,
    /// Dropped by the network, each with its element and cause.
    pub dropped: u64,
    /// On the way when the lab ended.
    pub inside: u64,
    /// Reads from hosts: trains.
    pub trains: u64,
    /// Writes to hosts: trains put together again.
    pub writes: u64,
    /// Not the network's business: multicast, neighbour discovery.
    pub ignored: u64,
    /// Lost between hosts and wire, outside the model.
    pub lost_outside: u64,
    /// Datagrams that a host's own sockets had no room for.
    pub socket_drops: u64,
    /// Packets that the captures lack.
    pub capture_lost: u64,
}

/// Everything that health is judged by.
pub(crate) struct Inputs<'a> {
    pub(crate) wires: &'a [WireStats],
    pub(crate) machine: Change,
    pub(crate) elapsed: Duration,
    pub(crate) device_drops: u64,
    pub(crate) socket_drops: u64,
    pub(crate) scales: Scales,
}

/// Judges a run.
pub(crate) fn judge(inputs: &Inputs<'_>) -> Health {
    let mut lateness = new_histogram();
    let mut ingress = new_histogram();
    for wire in inputs.wires {
        lateness.add(&wire.lateness).expect("equal bounds");
        ingress.add(&wire.ingress_error).expect("equal bounds");
    }
    let late = summary(&lateness);
    let arrival = Duration::from_nanos(ingress.value_at_quantile(0.99));
    let longest = |pick: fn(&WireStats) -> Duration| inputs.wires.iter().map(pick).max().unwrap_or_default();
    let sum = |pick: fn(&WireStats) -> u64| inputs.wires.iter().map(pick).sum::<u64>();
    let refused = sum(|wire| wire.refused);
    let mut health = Health {
        release_lateness: (late.count > 0).then_some(late),
        ingress_error: Some(arrival),
        unexplained_drops: inputs.device_drops + refused,
        steal_fraction: inputs.machine.steal,
        processor_fraction: inputs.machine.busy,
        ..Health::valid()
    };
    let mut judge = Judge(&mut health);
    let at_least = |millis| Duration::from_millis(millis).max(inputs.scales.harmless());
    judge.span(Code::ReleaseLate, late.p99, at_least(1), |found| {
        format!("1 % of the packets left the wire more than {found} late; give the machine less to do, or slow the path")
    });
    judge.stall(
        longest(|wire| wire.stall).max(late.max),
        affected(inputs, &lateness),
        sum(|wire| wire.stall_drops),
    );
    judge.span(Code::ArrivalUncertain, arrival, at_least(2), |found| {
        format!(
            "1 % of the packets may have been sent {found} before they were seen; give the machine less to do"
        )
    });
    if let Some(queue) = inputs.scales.queue.filter(|_| sum(|wire| wire.queue_drops) > 0) {
        judge.bunched(late.p999, queue);
    }
    judge.longer(added(inputs.wires), inputs.scales.round_trip);
    let starved = inputs
        .wires
        .iter()
        .map(|wire| wire.long_waits as f64 / inputs.elapsed.nanos().max(1) as f64)
        .fold(0.0, f64::max);
    judge.starved(starved);
    let free = inputs.machine.processors - inputs.machine.others;
    if free < 1.25_f64.min(inputs.machine.processors * 0.75) {
        let text = format!(
            "other programs used {:.1} of {:.0} processors; end them",
            inputs.machine.others, inputs.machine.processors
        );
        judge.add(Code::Crowded, HealthState::Degraded, text);
    }
    judge.count(Code::TunDrops, inputs.device_drops, HealthState::Invalid, |found| {
        format!("{found} packets were lost between a host and the wire, outside the model; lengthen the device's queue or slow the sender")
    });
    let answer = inputs
        .wires
        .iter()
        .find_map(|wire| wire.last_refusal.as_deref())
        .unwrap_or_default();
    judge.count(Code::Refused, refused, HealthState::Invalid, |found| {
        format!("{found} packets were refused by a host's device ({answer}); their size or the device's state is wrong")
    });
    judge.count(Code::SocketDrops, inputs.socket_drops, HealthState::Degraded, |found| {
        format!("{found} datagrams found no room in the receiver's socket: that loss is the host's, not the path's")
    });
    judge.count(
        Code::CaptureLost,
        sum(|wire| wire.capture_lost),
        HealthState::Degraded,
        |found| {
            format!(
                "the captures lack {found} packets: writing them was too slow; capture less of each packet"
            )
        },
    );
    judge.share(Code::Steal, inputs.machine.steal, (0.02, Some(0.20)), |found| {
        format!("other guests of this machine took {found} of its processors")
    });
    judge.share(Code::Busy, inputs.machine.busy, (0.95, None), |found| {
        format!("{found} of the processors were in use: the programs may have been the limit, not the path")
    });
    judge.at_least(
        Code::ClockJump,
        Duration::from_nanos(inputs.machine.clock_jump),
        100,
        HealthState::Degraded,
    );
    judge.at_least(
        Code::Suspended,
        Duration::from_nanos(inputs.machine.suspended),
        1,
        HealthState::Invalid,
    );
    for fault in inputs.wires.iter().filter_map(|wire| wire.fault.as_ref()) {
        judge.fault(fault);
    }
    health
}

/// What one wire did to the packets of the hosts `from` and `to`.
pub(crate) fn disturbances(wire: WireStats, from: Vec<String>, to: Vec<String>) -> WireDisturbances {
    let least = wire.pauses.least();
    WireDisturbances {
        from,
        to,
        least,
        release: mean_below(&wire.lateness, least),
        entry: mean_below(&wire.ingress_error, least),
        spans: wire.pauses.into_spans(),
    }
}

/// The mean of what is shorter than `least`.
fn mean_below(histogram: &Histogram<u64>, least: Duration) -> Duration {
    let (mut count, mut sum) = (0_u64, 0_u128);
    let below = histogram
        .iter_recorded()
        .take_while(|step| step.value_iterated_to() < least.nanos());
    for step in below {
        count += step.count_at_value();
        sum += u128::from(step.value_iterated_to()) * u128::from(step.count_at_value());
    }
    let mean = sum / u128::from(count.max(1));
    Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
}

/// Share of the run that stalls took, or of its packets that were as late as a stall makes them.
fn affected(inputs: &Inputs<'_>, lateness: &Histogram<u64>) -> f64 {
    let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    let stalled = inputs.wires.iter().map(|wire| wire.stalled.nanos()).max();
    let late = lateness.count_between(STALL.nanos(), u64::MAX);
    share(stalled.unwrap_or(0), inputs.elapsed.nanos()).max(share(late, lateness.len()))
}

/// What waiting for the wire added to the mean round trip: to be read and to be handed over, there and back.
fn added(wires: &[WireStats]) -> Duration {
    let of = |wire: &WireStats| wire.lateness.mean() + wire.ingress_error.mean();
    let worst = wires
        .iter()
        .filter(|wire| !wire.lateness.is_empty())
        .map(of)
        .fold(0.0, f64::max);
    Duration::from(std::time::Duration::from_secs_f64(2.0 * worst / 1e9))
}

struct Judge<'a>(&'a mut Health);

impl Judge<'_> {
    fn add(&mut self, code: Code, state: HealthState, text: String) {
        self.0.add(Reason { code, state, text });
    }

    /// Degraded from `limit` on, invalid from ten times that.
    fn span(&mut self, code: Code, found: Duration, limit: Duration, text: impl Fn(String) -> String) {
        let state = if found >= limit * 10 {
            HealthState::Invalid
        } else if found >= limit {
            HealthState::Degraded
        } else {
            return;
        };
        self.add(code, state, text(milliseconds(found)));
    }

    /// How late the rarest were, against the queue that they had to find room in together.
    fn bunched(&mut self, late: Duration, queue: Duration) {
        let state = if late >= queue.max(Duration::from_millis(1)) {
            HealthState::Invalid
        } else if late >= (queue / 4).max(Duration::from_micros(250)) {
            HealthState::Degraded
        } else {
            return;
        };
        let text = format!(
            "0.1 % of the packets left the wire more than {} late, and the slowest link's queue holds {}: what gathered meanwhile may have overflowed it; give the machine less to do, or lengthen the queue",
            milliseconds(late),
            milliseconds(queue)
        );
        self.add(Code::QueueBunched, state, text);
    }

    /// By how much round trips were longer than the model says.
    fn longer(&mut self, added: Duration, round_trip: Duration) {
        if round_trip == Duration::ZERO {
            return;
        }
        let share = added.nanos() as f64 / round_trip.nanos() as f64;
        let state = if share >= 0.1 && added >= Duration::from_micros(500) {
            HealthState::Degraded
        } else if share >= 0.01 && added >= Duration::from_micros(200) {
            HealthState::Valid
        } else {
            return;
        };
        let text = format!(
            "waiting for the wire made the mean round trip longer by {}, of at least {}: what goes with the round trip is off by as much",
            milliseconds(added),
            milliseconds(round_trip)
        );
        self.add(Code::PathLonger, state, text);
    }

    /// The share of the run for which a wire waited for a processor.
    fn starved(&mut self, share: f64) {
        let state = if share >= 0.10 {
            HealthState::Degraded
        } else if share >= 0.005 {
            HealthState::Valid
        } else {
            return;
        };
        let text = format!(
            "a wire waited for a processor for {:.1} % of the run; end other programs",
            share * 100.0
        );
        self.add(Code::WireStarved, state, text);
    }

    /// The longest stall, the share of the run that all of them affected, and the packets dropped right after one.
    fn stall(&mut self, longest: Duration, affected: f64, drops: u64) {
        let (state, effect) = if longest >= Duration::from_millis(100) {
            let effect = "long enough for retransmission timers; nothing else should run on this machine";
            (HealthState::Invalid, effect.to_owned())
        } else if longest < Duration::from_millis(20) {
            return;
        } else if drops > 0 {
            let effect =
                format!("and {drops} packets that it had bunched together were dropped; repeat the run");
            (HealthState::Degraded, effect)
        } else if affected >= 0.001 {
            let effect = format!(
                "and stalls affected {:.2} % of the run; nothing else should run on this machine",
                affected * 100.0
            );
            (HealthState::Degraded, effect)
        } else {
            let effect = "which changes averages of the run by less than 0.1 %, but is in its largest round-trip times";
            (HealthState::Valid, effect.to_owned())
        };
        let longest = milliseconds(longest);
        self.add(
            Code::WireStalled,
            state,
            format!("the wire stood still for up to {longest}, {effect}"),
        );
    }

    fn share(&mut self, code: Code, found: f64, limits: (f64, Option<f64>), text: impl Fn(String) -> String) {
        let state = if limits.1.is_some_and(|limit| found >= limit) {
            HealthState::Invalid
        } else if found >= limits.0 {
            HealthState::Degraded
        } else {
            return;
        };
        self.add(code, state, text(format!("{:.1} %", found * 100.0)));
    }

    fn count(&mut self, code: Code, found: u64, state: HealthState, text: impl Fn(u64) -> String) {
        if found > 0 {
            self.add(code, state, text(found));
        }
    }

    fn at_least(&mut self, code: Code, found: Duration, limit_ms: u64, state: HealthState) {
        if found >= Duration::from_millis(limit_ms) {
            let text = if code == Code::Suspended {
                format!("the machine was suspended for {}", milliseconds(found))
            } else {
                format!("the time of day moved by {} during the run", milliseconds(found))
            };
            self.add(code, state, text);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        let (code, text) = match fault {
            Fault::Memory { at, limit } => (
                Code::Memory,
                format!(
                    "at {at} more than {limit} bytes were on the way and the wire ended; give it more memory, or the path less rate x delay"
                ),
            ),
            Fault::Device(text) => (Code::Device, format!("a device of the lab failed: {text}")),
        };
        self.add(code, HealthState::Invalid, text);
    }
}

fn milliseconds(span: Duration) -> String {
    format!("{:.3} ms", span.nanos() as f64 / 1e6)
}

fn summary(histogram: &Histogram<u64>) -> Lateness {
    let at = |quantile| Duration::from_nanos(histogram.value_at_quantile(quantile));
    Lateness {
        count: histogram.len(),
        p50: at(0.5),
        p99: at(0.99),
        p999: at(0.999),
        max: Duration::from_nanos(histogram.max()),
    }
}

fn new_histogram() -> Histogram<u64> {
    WireStats::default().lateness
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(change: impl FnOnce(&mut WireStats, &mut Inputs<'static>)) -> Health {
        let mut wire = WireStats::default();
        wire.lateness.record_n(20_000, 1000).unwrap();
        let mut inputs = Inputs {
            wires: &[],
            machine: Change::default(),
            elapsed: Duration::from_secs(10),
            device_drops: 0,
            socket_drops: 0,
            scales: Scales::default(),
        };
        change(&mut wire, &mut inputs);
        let wires = [wire];
        judge(&Inputs {
            wires: &wires,
            ..inputs
        })
    }

    #[test]
    fn lateness_is_judged_by_what_the_path_does_itself() {
        // One per cent of the packets 3 ms late: 1/50 of 150 ms.
        let late = |round_trip: u64, queue: Option<u64>| {
            health(|wire, inputs| {
                wire.lateness.record_n(3_000_000, 11).unwrap();
                inputs.scales = Scales {
                    round_trip: Duration::from_millis(round_trip),
                    queue: queue.map(Duration::from_millis),
                };
            })
            .state
        };
        assert_eq!(late(20, None), HealthState::Degraded);
        assert_eq!(late(100, None), HealthState::Degraded);
        assert_eq!(late(160, Some(100)), HealthState::Valid);
        assert_eq!(late(160, Some(8)), HealthState::Degraded, "a short queue");
        // 0.2 % of the packets 3 ms late, and a queue that overflows.
        let bunched = |queue, drops| {
            health(|wire, inputs| {
                wire.lateness.record_n(3_000_000, 2).unwrap();
                wire.queue_drops = drops;
                inputs.scales = Scales {
                    round_trip: Duration::from_millis(20),
                    queue: Some(Duration::from_millis(queue)),
                };
            })
            .state
        };
        assert_eq!(bunched(2, 1), HealthState::Invalid);
        assert_eq!(bunched(10, 1), HealthState::Degraded);
        assert_eq!(bunched(20, 1), HealthState::Valid);
        assert_eq!(bunched(2, 0), HealthState::Valid, "nothing overflowed");
        // All of them 0.3 ms late, there and back.
        let longer = |round_trip: u64| {
            let found = health(|wire, inputs| {
                wire.lateness.record_n(300_000, 100_000).unwrap();
                inputs.scales.round_trip = Duration::from_millis(round_trip);
            });
            let codes: Vec<_> = found.reasons.into_iter().map(|reason| reason.code).collect();
            (found.state, codes)
        };
        let code = vec![Code::PathLonger];
        assert_eq!(longer(2), (HealthState::Degraded, code.clone()));
        assert_eq!(longer(20), (HealthState::Valid, code));
        assert_eq!(longer(100), (HealthState::Valid, Vec::new()));
    }

    #[test]
    fn thresholds_make_states() {
        let codes = |health: &Health| {
            health
                .reasons
                .iter()
                .map(|reason| reason.code.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(health(|_, _| {}).state, HealthState::Valid);
        let late = health(|wire, _| wire.lateness.record_n(2_000_000, 100).unwrap());
        assert_eq!(
            (late.state, codes(&late)),
            (HealthState::Degraded, vec![Code::ReleaseLate])
        );
        let stalled = health(|wire, _| wire.stall = Duration::from_millis(150));
        assert_eq!(
            (stalled.state, codes(&stalled)),
            (HealthState::Invalid, vec![Code::WireStalled])
        );
        let stall = |millis: u64, seconds: u64, drops: u64| {
            let found = health(|wire, inputs| {
                wire.stall = Duration::from_millis(millis);
                wire.stalled = Duration::from_millis(millis);
                wire.stall_drops = drops;
                inputs.elapsed = Duration::from_secs(seconds);
            });
            assert_eq!(
                codes(&found),
                if millis < 20 {
                    vec![]
                } else {
                    vec![Code::WireStalled]
                }
            );
            found.state
        };
        assert_eq!(stall(19, 1, 0), HealthState::Valid, "too short");
        assert_eq!(stall(50, 60, 0), HealthState::Valid, "a note: 0.08 % of the run");
        assert_eq!(stall(50, 40, 0), HealthState::Degraded, "0.13 % of the run");
        assert_eq!(stall(50, 60, 1), HealthState::Degraded, "it overflowed a queue");
        assert_eq!(
            stall(100, 600, 0),
            HealthState::Invalid,
            "timers may have expired"
        );
        let starved = |nanos| health(|wire, _| wire.long_waits = nanos);
        assert_eq!(codes(&starved(100_000_000)), [Code::WireStarved]);
        assert_eq!(starved(100_000_000).state, HealthState::Valid, "a note: 1 %");
        assert_eq!(starved(1_000_000_000).state, HealthState::Degraded);
        let hog = health(|_, inputs| {
            inputs.machine.processors = 2.0;
            inputs.machine.others = 1.0;
        });
        assert_eq!(codes(&hog), [Code::Crowded]);
        let drops = health(|_, inputs| inputs.device_drops = 1);
        assert_eq!((drops.state, drops.unexplained_drops), (HealthState::Invalid, 1));
        let stolen = health(|_, inputs| inputs.machine.steal = 0.5);
        assert_eq!(stolen.state, HealthState::Invalid);
        let memory = health(|wire, _| {
            wire.fault = Some(Fault::Memory {
                at: slowpath_units::Time::ZERO,
                limit: 1000,
            });
        });
        assert_eq!(codes(&memory), [Code::Memory]);
        assert!(memory.reasons[0].text.contains("1000 bytes"));
    }
}
