//! What held a simulated transfer back, instant by instant, as the model itself knows it: the sender's own window and
//! queue, the reader's, the link's, and why each packet was dropped.
//!
//! Nothing here looks at a packet's bytes or at the ledger's code; the states of the model are read between two steps of
//! the simulation, so a run without this is the same run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use slowpath_endpoint::tcp::{Info, RecoveryState, State};
use slowpath_endpoint::wire::Ends;
use slowpath_path::{DropCause, ElementId, ElementKind, PacketId};
use slowpath_sim::{Point, Recorder, Sighting, Simulation, Sink};
use slowpath_units::{Duration, Time};
use slowpath_verdict::Limit;

use crate::draw::Path;

/// Time held by each limit, seconds.
pub(crate) type Held = BTreeMap<Limit, f64>;

/// What held a transfer.
#[derive(Default, Clone)]
pub(crate) struct Truth {
    pub(crate) held: Held,
    /// What of that the link stood idle for, or carried others' packets: what would be saved without the cause, if nothing
    /// took its place.
    pub(crate) lost: Held,
    /// The same over time: since when, for how long, by what.
    pub(crate) series: Vec<(f64, f64, Limit)>,
    /// When how many bytes had been acknowledged, seconds from the connection's first packet.
    pub(crate) progress: Vec<(f64, u64)>,
}

impl Truth {
    /// How long so many bytes took, seconds from the connection's first packet; `None` if so many never arrived.
    pub(crate) fn time_of(&self, bytes: u64) -> Option<f64> {
        let place = self.progress.partition_point(|(_, done)| *done < bytes);
        self.progress.get(place).map(|(at, _)| *at)
    }
}

/// Records what the sender and the receiver see, and the fates that only the model knows.
pub(crate) struct Watcher {
    pub(crate) sender: Recorder,
    pub(crate) receiver: Recorder,
    own: BTreeSet<PacketId>,
    /// Drops of the sender's packets not yet reacted to.
    drops: VecDeque<(Time, DropCause)>,
    /// Bytes of others' packets that arrived anywhere behind the link.
    others: f64,
}

impl Watcher {
    pub(crate) fn new(sender: u16, receiver: u16) -> Self {
        Self {
            sender: Recorder::at_host(sender),
            receiver: Recorder::at_host(receiver),
            own: BTreeSet::new(),
            drops: VecDeque::new(),
            others: 0.0,
        }
    }
}

impl Sink for Watcher {
    fn seen(&mut self, sighting: &Sighting<'_>) {
        if sighting.point == Point::Sent(SENDER) {
            self.own.insert(sighting.id);
        } else if let Point::Received(host) = sighting.point
            && host != SENDER
            && !self.own.contains(&sighting.id)
        {
            self.others += f64::from(sighting.payload.len());
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

/// A millisecond of one connection, or longer where nothing happened.
struct Slot {
    from: Time,
    /// What held the sender and for how long, seconds, the link apart.
    held: Vec<(Limit, f64)>,
    link: Link,
}

/// What a link had done before a moment.
#[derive(Clone, Copy)]
struct Link {
    /// Seconds for which it had worked for packets that no policer behind it dropped.
    worked: f64,
    /// Bytes that it had carried.
    carried: f64,
    /// Payload of others that had arrived.
    others: f64,
}

/// One connection's past.
struct Past {
    slots: Vec<Slot>,
    /// Since when what held the sender, by shares.
    holding: (Time, Vec<(Limit, f64)>),
    acknowledged: u64,
    /// When the last byte so far was acknowledged.
    done: Time,
    opened: Time,
    progress: Vec<(f64, u64)>,
    /// Who owes how many segments of what the path holds, the oldest first.
    owed: Vec<(Limit, f64)>,
    starting: bool,
    /// Window, threshold and state at the last look.
    window: (f64, Option<u32>, RecoveryState),
    /// The last reduction's cause.
    last: Option<(Time, Limit)>,
}

/// Runs to the end and says what held the largest transfer.
pub(crate) fn run(
    mut simulation: Simulation,
    path: &Path,
    watcher: &mut Watcher,
    (link, up, receiver): (ElementId, &[ElementId], u16),
) -> Truth {
    let mut pasts: BTreeMap<Ends, Past> = BTreeMap::new();
    let (mut before, mut works, mut worked) = (Time::ZERO, false, 0.0);
    let (mut turns, mut due) = (0, Time::ZERO);
    let policers: Vec<ElementId> = up
        .iter()
        .copied()
        .filter(|element| polices(&simulation, *element))
        .collect();
    while simulation.step(watcher) {
        let now = simulation.now();
        if works {
            worked += now.since(before).seconds();
        }
        before = now;
        let Some(counters) = simulation.network().passed(link) else {
            break;
        };
        works = counters.packets_left() > 0;
        let (Some(host), Some(reader)) = (simulation.host(SENDER), simulation.host(receiver)) else {
            break;
        };
        // Where nothing has happened at the sender, every connection is as it was at the last look; a slow reader's memory is looked at
        // besides.
        let ended = now > LONGEST || simulation.has_ended();
        let turn = host.turns() + if path.slow_reader { reader.turns() } else { 0 };
        if turn == turns && now < due && !ended {
            continue;
        }
        turns = turn;
        let policed: u64 = policers
            .iter()
            .filter_map(|element| simulation.network().passed(*element))
            .map(|counters| counters.dropped(DropCause::Policed).bytes)
            .sum();
        let link = Link {
            // What a policer drops, the link carried for nothing.
            worked: worked - policed as f64 * 8.0 / (path.kbit as f64 * 1e3),
            carried: counters.delivered.bytes as f64,
            others: watcher.others,
        };
        due = Time::MAX;
        for (_, ends, info) in host.connections() {
            let peer = path.slow_reader.then(|| {
                reader.connection(&Ends {
                    local: ends.remote,
                    remote: ends.local,
                })
            });
            let past = pasts.entry(ends).or_insert_with(|| Past::new(path, &info, now));
            past.look(now, &info, peer.flatten().as_ref(), path, watcher, link);
            due = due.min(past.slots.last().map_or(now, |slot| slot.from) + EVERY);
        }
        if ended {
            break;
        }
    }
    let largest = pasts.into_values().max_by_key(|past| past.acknowledged);
    largest.map(|past| past.held(path)).unwrap_or_default()
}

/// Whether an element drops what is beyond a rate.
fn polices(simulation: &Simulation, element: ElementId) -> bool {
    let elements = &simulation.network().spec().elements;
    matches!(elements[usize::from(element.0)].does, ElementKind::Police(_))
}

/// Segments that the path holds.
fn holds(path: &Path, info: &Info) -> f64 {
    let mss = f64::from(info.mss.max(1));
    path.kbit as f64 / 8.0 * path.rtt_ms as f64 / (mss + 70.0)
}

impl Past {
    fn new(path: &Path, info: &Info, now: Time) -> Self {
        Self {
            slots: Vec::new(),
            holding: (now, Vec::new()),
            acknowledged: 0,
            done: now,
            opened: now,
            progress: Vec::new(),
            owed: vec![(
                Limit::SlowStart,
                (holds(path, info) - f64::from(info.cwnd)).max(0.0),
            )],
            starting: true,
            window: (f64::from(info.cwnd), info.ssthresh, info.recovery),
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
        link: Link,
    ) {
        self.reductions(now, info, path, watcher);
        if self.slots.last().is_none_or(|slot| now >= slot.from + EVERY) {
            self.slots.push(Slot {
                from: now,
                held: Vec::new(),
                link,
            });
        }
        self.spend(now);
        self.holding.1.clear();
        let shares = std::mem::take(&mut self.holding.1);
        self.holding = (now, self.holders(info, peer, path, shares));
        if info.acknowledged > self.acknowledged {
            self.acknowledged = info.acknowledged;
            self.done = now;
            self.progress
                .push((now.since(self.opened).seconds(), info.acknowledged));
        }
    }

    /// Books the time since the last look to what held the sender then: in the slot in which it began.
    fn spend(&mut self, now: Time) {
        let (from, shares) = &self.holding;
        let span = now.since(*from).seconds();
        let slot = self.slots.iter_mut().rev().find(|slot| slot.from <= *from);
        let Some(slot) = slot.filter(|_| span > 0.0) else {
            return;
        };
        for (limit, share) in shares {
            match slot.held.iter_mut().find(|(who, _)| who == limit) {
                Some((_, time)) => *time += share * span,
                None => slot.held.push((*limit, share * span)),
            }
        }
    }

    /// Follows the sender's window: who made it small, and who still owes for it.
    fn reductions(&mut self, now: Time, info: &Info, path: &Path, watcher: &mut Watcher) {
        let window = f64::from(info.cwnd);
        let (before, threshold, state) = self.window;
        let repairs = |state| {
            matches!(
                state,
                RecoveryState::Recovery | RecoveryState::Loss | RecoveryState::Cwr
            )
        };
        // One reaction, however many steps the window takes down.
        let reacts = repairs(info.recovery) && (info.recovery != state || info.ssthresh != threshold);
        let by_itself = window < before && !repairs(info.recovery) && !repairs(state);
        if reacts || by_itself {
            let cause = if reacts {
                self.cause(now, info, path, watcher)
            } else if path.bbr {
                // It empties the queue on purpose, to see the path.
                Limit::BottleneckBandwidth
            } else {
                Limit::SenderApplication
            };
            if reacts || !path.bbr {
                self.last = Some((now, cause));
            }
            if self.starting && reacts {
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
            let who = match self.last {
                _ if by_itself && path.bbr => Limit::BottleneckBandwidth,
                Some((_, cause)) => cause,
                None => Limit::SlowStart,
            };
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
        self.window = (window, info.ssthresh, info.recovery);
    }

    /// Why the window was reduced: the first of this sender's packets that was dropped since it last reacted, or what
    /// else the path does.
    fn cause(&self, now: Time, info: &Info, path: &Path, watcher: &mut Watcher) -> Limit {
        let rtt = Duration::from_millis(path.rtt_ms);
        let srtt = info.srtt.unwrap_or(rtt).max(rtt);
        let memory = if info.recovery == RecoveryState::Loss {
            srtt * 2 + info.rto * 2
        } else {
            srtt * 2 + Duration::from_millis(20)
        };
        let reacted = self.last.map_or(Time::ZERO, |(at, _)| at);
        while watcher
            .drops
            .front()
            .is_some_and(|(at, _)| now.since(*at) > memory)
        {
            watcher.drops.pop_front();
        }
        let known = |at: Time| now.since(at) >= rtt / 2;
        let fresh = watcher
            .drops
            .iter()
            .find(|(at, _)| known(*at) && *at + srtt > reacted);
        let drop = fresh.or(watcher.drops.iter().rev().find(|(at, _)| known(*at)));
        match drop.map(|(_, cause)| *cause) {
            Some(DropCause::Loss) => Limit::RandomLoss,
            Some(DropCause::Policed) => Limit::Policed,
            Some(DropCause::BlackHole | DropCause::TooBig) => Limit::MtuBlackHole,
            Some(DropCause::ReceiveOverload) => Limit::DeviceLimit,
            Some(_) if self.others(now, path) => Limit::SharedBottleneck,
            Some(_) => Limit::BottleneckBandwidth,
            None if path.marks => Limit::EcnCongestion,
            None if path.disorder => Limit::Reordering,
            None => Limit::SenderApplication,
        }
    }

    /// Whether others had part of the link during the last two round trips.
    fn others(&self, now: Time, path: &Path) -> bool {
        let since = now - Duration::from_millis(path.rtt_ms * 2).min(now.since(Time::ZERO));
        let first = self.slots.partition_point(|slot| slot.from < since);
        match (self.slots.get(first), self.slots.last()) {
            (Some(low), Some(high)) => path.others && shared(low.link, high.link),
            _ => false,
        }
    }

    /// What held the sender at this look, if the link did not: limits and their shares.
    fn holders(
        &self,
        info: &Info,
        peer: Option<&Info>,
        path: &Path,
        mut out: Vec<(Limit, f64)>,
    ) -> Vec<(Limit, f64)> {
        if let Some(limit) = self.holder(info, peer, path) {
            out.push((limit, 1.0));
            return out;
        }
        let total: f64 = self.owed.iter().map(|(_, segments)| segments).sum();
        if total > 0.5 {
            for (who, segments) in &self.owed {
                match out.iter_mut().find(|(limit, _)| limit == who) {
                    Some((_, share)) => *share += segments / total,
                    None => out.push((*who, segments / total)),
                }
            }
        } else {
            out.push((self.last.map_or(Limit::SlowStart, |(_, cause)| cause), 1.0));
        }
        out
    }

    /// What held the sender, the congestion window apart.
    fn holder(&self, info: &Info, peer: Option<&Info>, path: &Path) -> Option<Limit> {
        if matches!(info.state, State::SynSent | State::SynReceived) {
            return Some(Limit::ProtocolWindow);
        }
        let mss = u64::from(info.mss.max(1));
        let flight = u64::from(info.in_flight) * mss;
        if matches!(info.recovery, RecoveryState::Recovery | RecoveryState::Loss) {
            return Some(self.last.map_or(Limit::Unknown, |(_, cause)| cause));
        }
        if info.queued < flight + mss {
            return Some(match path.buffer {
                Some(_) if info.write_blocked => Limit::SendBuffer,
                _ if path.asks => Limit::ProtocolWindow,
                _ => Limit::SenderApplication,
            });
        }
        let window = u64::from(info.cwnd) * mss;
        // Linux leaves the room of a segment or two unused until there is room for more: then the smaller of the two
        // windows is what it waits for.
        let open = info.recovery == RecoveryState::Open;
        let smaller = open && !path.bbr && flight + mss <= window && info.peer_window <= window;
        if smaller || info.peer_window < flight + mss {
            let slow = path.slow_reader && peer.is_some_and(|peer| peer.unread * 4 > peer.window);
            return Some(if slow || info.peer_window == 0 {
                Limit::ReceiverApplication
            } else {
                Limit::ReceiverWindow
            });
        }
        // BBR paces by what arrived: a buffer or window that holds less than BBR's own window, and than what it puts into the
        // path when it probes for more, made that rate.
        if path.bbr && flight + mss <= window {
            let most = window.min((PROBE * holds(path, info) * mss as f64) as u64);
            let buffer = path.buffer.unwrap_or(u64::MAX);
            if info.write_blocked && buffer <= most.min(info.peer_window) {
                return Some(Limit::SendBuffer);
            }
            if info.peer_window <= most {
                return Some(Limit::ReceiverWindow);
            }
        }
        None
    }

    /// Time by limit; the link's wherever it never was idle for a round trip around an instant.
    fn held(mut self, path: &Path) -> Truth {
        let done = self.done;
        self.slots.retain(|slot| slot.from < done);
        let mut out = Truth {
            progress: std::mem::take(&mut self.progress),
            ..Truth::default()
        };
        let around = Duration::from_millis(path.rtt_ms.max(4)) / 2;
        let (mut low, mut high) = (0, 0);
        for place in 0..self.slots.len() {
            let slot = &self.slots[place];
            let to = self.slots.get(place + 1).map_or(done, |next| next.from);
            let middle = slot.from + to.since(slot.from) / 2;
            while low + 1 < place && self.slots[low + 1].from + around <= middle {
                low += 1;
            }
            while high + 1 < self.slots.len() && self.slots[high].from < middle + around {
                high += 1;
            }
            let (first, last) = (&self.slots[low], &self.slots[high.max(low)]);
            let could = last.from.since(first.from).seconds();
            let full = could > 0.0 && last.link.worked - first.link.worked >= FULL * could;
            let wide = self.slots.partition_point(|slot| slot.from + SHARES <= middle);
            let wide = &self.slots[wide.min(low)];
            let span = to.since(slot.from).seconds();
            let all: f64 = slot.held.iter().map(|(_, time)| time).sum();
            let worked = (last.link.worked - first.link.worked) / could.max(1e-9);
            let own = (worked * (1.0 - part(wide.link, last.link))).clamp(0.0, 1.0);
            let mut book = |limit: Limit, time: f64| {
                *out.held.entry(limit).or_default() += time;
                *out.lost.entry(limit).or_default() += time * (1.0 - own);
                out.series
                    .push((slot.from.since(Time::ZERO).seconds(), time, limit));
            };
            if full && path.others && shared(wide.link, last.link) {
                book(Limit::SharedBottleneck, span);
            } else if full {
                book(Limit::BottleneckBandwidth, span);
            } else {
                for (limit, time) in &slot.held {
                    book(*limit, time * span / all.max(1e-12));
                }
            }
        }
        out
    }
}

/// Whether others had a tenth or more of what the link carried between two moments.
fn shared(before: Link, after: Link) -> bool {
    part(before, after) >= OTHERS
}

/// Others' share of what the link carried between two moments.
fn part(before: Link, after: Link) -> f64 {
    let (all, others) = (after.carried - before.carried, after.others - before.others);
    if all > 0.0 { (others / all).min(1.0) } else { 0.0 }
}

/// The number of the sending host in the order of the plan.
pub(crate) const SENDER: u16 = 0;
/// How finely time is told apart.
const EVERY: Duration = Duration::from_millis(1);
/// Share of what the link could carry around an instant from which it is full.
const FULL: f64 = 0.95;
/// What BBR puts into the path when it probes for more, over what that holds.
const PROBE: f64 = 1.25;
/// Share of what the link carries from which others have part of it.
const OTHERS: f64 = 0.1;
/// Over how long others' part of a full link is looked at.
const SHARES: Duration = Duration::from_millis(100);
/// No drawn transfer takes longer.
const LONGEST: Time = Time::from_nanos(60_000_000_000);
