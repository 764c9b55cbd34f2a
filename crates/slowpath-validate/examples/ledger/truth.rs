//! What held a simulated transfer back, instant by instant, as the model itself knows it: the sender's own window and
//! queue, the reader's, the link's, and why each packet was dropped.
//!
//! Nothing here looks at a packet's bytes or at the ledger's code; the states of the model are read between two steps of
//! the simulation, so a run without this is the same run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slowpath_endpoint::tcp::{Info, RecoveryState, State};
use slowpath_endpoint::wire::Ends;
use slowpath_path::{DropCause, ElementId, PacketId};
use slowpath_sim::{Point, Recorder, Sighting, Simulation, Sink};
use slowpath_units::{Duration, Time};
use slowpath_verdict::Limit;

use crate::draw::Path;

/// Time held by each limit, seconds.
pub(crate) type Held = BTreeMap<Limit, f64>;

/// Records what the sender and the receiver see, and the fates that only the model knows.
pub(crate) struct Watcher {
    pub(crate) sender: Recorder,
    pub(crate) receiver: Recorder,
    own: BTreeSet<PacketId>,
    /// Drops of the sender's packets not yet reacted to.
    drops: VecDeque<(Time, DropCause)>,
}

impl Watcher {
    pub(crate) fn new(sender: u16, receiver: u16) -> Self {
        Self {
            sender: Recorder::at_host(sender),
            receiver: Recorder::at_host(receiver),
            own: BTreeSet::new(),
            drops: VecDeque::new(),
        }
    }
}

impl Sink for Watcher {
    fn seen(&mut self, sighting: &Sighting<'_>) {
        if sighting.point == Point::Sent(SENDER) {
            self.own.insert(sighting.id);
        }
        self.sender.seen(sighting);
        self.receiver.seen(sighting);
    }

    fn dropped(&mut self, id: PacketId, _element: ElementId, cause: DropCause, at: Time) {
        if self.own.contains(&id) {
            self.drops.push_back((at, cause));
        }
    }
}

/// One look at the model.
struct Look {
    at: Time,
    /// What held the sender, the link apart.
    held: Limit,
    /// Bits of frames that the link has carried so far.
    carried: f64,
}

/// One connection's past.
struct Past {
    looks: Vec<Look>,
    acknowledged: u64,
    /// Looks up to the one that saw the last byte acknowledged.
    done: usize,
    /// Who owes how many segments of what the path holds, the oldest first.
    owed: Vec<(Limit, f64)>,
    starting: bool,
    /// Window and threshold at the last look.
    window: (f64, Option<u32>),
    /// The last reduction's cause.
    last: Option<(Time, Limit)>,
}

/// Runs to the end and says what held the largest transfer.
pub(crate) fn run(
    mut simulation: Simulation,
    path: &Path,
    watcher: &mut Watcher,
    (link, receiver): (ElementId, u16),
) -> Held {
    let mut pasts: BTreeMap<Ends, Past> = BTreeMap::new();
    let mut next = Time::ZERO;
    while simulation.step(watcher) {
        let now = simulation.now();
        if now < next {
            continue;
        }
        next = now + EVERY;
        let carried = simulation.network().counters(link).map_or(0.0, |counters| {
            8.0 * (counters.delivered.bytes + FRAME * counters.delivered.packets) as f64
        });
        let (Some(host), Some(reader)) = (simulation.host(SENDER), simulation.host(receiver)) else {
            break;
        };
        for (_, ends, info) in host.connections() {
            let peer = reader.connection(&Ends {
                local: ends.remote,
                remote: ends.local,
            });
            let past = pasts.entry(ends).or_insert_with(|| Past::new(path, &info));
            past.look(now, &info, peer.as_ref(), path, watcher, carried);
        }
        if now > LONGEST || simulation.has_ended() {
            break;
        }
    }
    let largest = pasts.into_values().max_by_key(|past| past.acknowledged);
    largest.map(|past| past.held(path)).unwrap_or_default()
}

/// Segments that the path holds.
fn holds(path: &Path, info: &Info) -> f64 {
    let mss = f64::from(info.mss.max(1));
    path.kbit as f64 / 8.0 * path.rtt_ms as f64 / (mss + 70.0)
}

impl Past {
    fn new(path: &Path, info: &Info) -> Self {
        Self {
            looks: Vec::new(),
            acknowledged: 0,
            done: 0,
            owed: vec![(
                Limit::SlowStart,
                (holds(path, info) - f64::from(info.cwnd)).max(0.0),
            )],
            starting: true,
            window: (f64::from(info.cwnd), info.ssthresh),
            last: None,
        }
    }

    fn look(
        &mut self,
        now: Time,
        info: &Info,
        peer: Option<&Info>,
        path: &Path,
        watcher: &mut Watcher,
        carried: f64,
    ) {
        self.reductions(now, info, path, watcher);
        let held = self.holder(info, peer, path);
        self.looks.push(Look {
            at: now,
            held,
            carried,
        });
        if info.acknowledged > self.acknowledged {
            self.acknowledged = info.acknowledged;
            self.done = self.looks.len();
        }
    }

    /// Follows the sender's window: who made it small, and who still owes for it.
    fn reductions(&mut self, now: Time, info: &Info, path: &Path, watcher: &mut Watcher) {
        let rtt = Duration::from_millis(path.rtt_ms);
        let memory = info.srtt.unwrap_or(rtt) * 2 + info.rto;
        while watcher
            .drops
            .front()
            .is_some_and(|(at, _)| now.since(*at) > memory * 4)
        {
            watcher.drops.pop_front();
        }
        let window = f64::from(info.cwnd);
        let (before, threshold) = self.window;
        let reduced = window < before || info.ssthresh != threshold;
        if reduced && (info.recovery != RecoveryState::Open || window < before) {
            let cause = Self::cause(now, path, watcher);
            self.last = Some((now, cause));
            if self.starting {
                self.starting = false;
                for (who, _) in &mut self.owed {
                    *who = cause;
                }
            }
        } else if info.ssthresh.is_some() && self.starting {
            self.starting = false;
        }
        let total: f64 = self.owed.iter().map(|(_, segments)| segments).sum();
        let missing = (holds(path, info) - window).max(0.0);
        if missing > total {
            let who = self.last.map_or(Limit::Unknown, |(_, cause)| cause);
            self.owed.push((who, missing - total));
        } else {
            let mut paid = total - missing;
            while paid > 0.0
                && let Some((_, newest)) = self.owed.last_mut()
            {
                let part = newest.min(paid);
                *newest -= part;
                paid -= part;
                if *newest <= 0.0 {
                    self.owed.pop();
                }
            }
        }
        self.window = (window, info.ssthresh);
    }

    /// Why the window was reduced: the last drop of this sender's packets, or what else the path does.
    fn cause(now: Time, path: &Path, watcher: &Watcher) -> Limit {
        let recent = Duration::from_millis(path.rtt_ms * 4 + 1_500);
        let drop = watcher.drops.iter().rev().find(|(at, _)| now.since(*at) < recent);
        match drop.map(|(_, cause)| *cause) {
            Some(DropCause::Loss) => Limit::RandomLoss,
            Some(DropCause::Policed) => Limit::Policed,
            Some(DropCause::BlackHole | DropCause::TooBig) => Limit::MtuBlackHole,
            Some(DropCause::ReceiveOverload) => Limit::DeviceLimit,
            Some(_) if path.others => Limit::SharedBottleneck,
            Some(_) => Limit::BottleneckBandwidth,
            None if path.marks => Limit::EcnCongestion,
            None if path.disorder => Limit::Reordering,
            None => Limit::SenderApplication,
        }
    }

    /// What held the sender at this look, if the link did not.
    fn holder(&self, info: &Info, peer: Option<&Info>, path: &Path) -> Limit {
        if matches!(info.state, State::SynSent | State::SynReceived) {
            return Limit::ProtocolWindow;
        }
        let mss = u64::from(info.mss.max(1));
        let flight = u64::from(info.in_flight) * mss;
        if matches!(info.recovery, RecoveryState::Recovery | RecoveryState::Loss) {
            return self.last.map_or(Limit::Unknown, |(_, cause)| cause);
        }
        if info.peer_window < flight + mss {
            let slow = path.slow_reader && peer.is_some_and(|peer| peer.unread * 4 > peer.window);
            return if slow || info.peer_window == 0 {
                Limit::ReceiverApplication
            } else {
                Limit::ReceiverWindow
            };
        }
        if info.queued < flight + mss {
            return match path.buffer {
                Some(buffer) if info.queued * 2 > buffer => Limit::SendBuffer,
                _ if path.asks => Limit::ProtocolWindow,
                _ => Limit::SenderApplication,
            };
        }
        match self.owed.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((who, segments)) if *segments > 0.5 => *who,
            _ => self.last.map_or(Limit::BottleneckBandwidth, |(_, cause)| cause),
        }
    }

    /// Time by limit; the link's wherever it never was idle for a round trip around an instant.
    fn held(mut self, path: &Path) -> Held {
        self.looks.truncate(self.done);
        let mut out = Held::new();
        let around = (path.rtt_ms.max(4) / 2).max(2) as usize;
        for (place, pair) in self.looks.windows(2).enumerate() {
            let low = &self.looks[place.saturating_sub(around)];
            let high = &self.looks[(place + around).min(self.looks.len() - 1)];
            let could = path.kbit as f64 * 1e3 * high.at.since(low.at).seconds();
            let full = high.carried - low.carried >= FULL * could;
            let limit = if !full {
                pair[0].held
            } else if path.others {
                Limit::SharedBottleneck
            } else {
                Limit::BottleneckBandwidth
            };
            *out.entry(limit).or_default() += pair[1].at.since(pair[0].at).seconds();
        }
        out
    }
}

/// The number of the sending host in the order of the plan.
pub(crate) const SENDER: u16 = 0;
/// How often the model is looked at.
const EVERY: Duration = Duration::from_millis(1);
/// Share of what the link could carry around an instant from which it is full.
const FULL: f64 = 0.95;
/// Ethernet header and frame check sequence, bytes.
const FRAME: u64 = 18;
/// No drawn transfer takes longer.
const LONGEST: Time = Time::from_nanos(60_000_000_000);
