//! What held a simulated transfer back, instant by instant, as the model itself knows it: the sender's own window and
//! queue, the reader's, the link's, and why each packet was dropped.
//!
//! Nothing here looks at a packet's bytes or at the ledger's code; the states of the model are read between two steps of
//! the simulation, so a run without this is the same run.

use std::collections::{BTreeMap, VecDeque};

use slowpath_endpoint::Host;
use slowpath_endpoint::tcp::{Connection, RecoveryState, Standing, State};
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
    /// The same over time: since when, for how many seconds, by what.
    pub(crate) series: Vec<(Time, f64, Limit)>,
    /// When how many bytes had been acknowledged, from the connection's first packet.
    pub(crate) progress: Vec<(Duration, u64)>,
}

impl Truth {
    /// How long so many bytes took, seconds from the connection's first packet; `None` if so many never arrived.
    pub(crate) fn time_of(&self, bytes: u64) -> Option<f64> {
        let place = self.progress.partition_point(|(_, done)| *done < bytes);
        self.progress.get(place).map(|(at, _)| at.seconds())
    }
}

/// Records what the sender and the receiver see, and nothing else.
pub(crate) struct Both(Recorder, Recorder);

impl Both {
    pub(crate) fn of(sender: u16, receiver: u16) -> Self {
        Self(Recorder::at_host(sender), Recorder::at_host(receiver))
    }
}

impl Sink for Both {
    const WATCHES_DROPS: bool = false;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        self.0.seen(sighting);
        self.1.seen(sighting);
    }
}

/// Records what the sender and the receiver see, and the fates that only the model knows.
pub(crate) struct Watcher {
    pub(crate) sender: Recorder,
    pub(crate) receiver: Recorder,
    own: Own,
    /// Drops of the sender's packets not yet reacted to.
    drops: VecDeque<(Time, DropCause)>,
    /// Bytes of others' packets that arrived anywhere behind the link.
    others: u64,
}

/// The packets that the sender sent: a bit for each of the network's numbers, which count up.
#[derive(Default)]
struct Own(Vec<u64>);

impl Own {
    #[inline]
    fn insert(&mut self, id: PacketId) {
        let (word, bit) = (id.0 as usize / 64, id.0 % 64);
        if word >= self.0.len() {
            self.0.resize((2 * word).max(1_024), 0);
        }
        self.0[word] |= 1 << bit;
    }

    #[inline]
    fn contains(&self, id: PacketId) -> bool {
        let (word, bit) = (id.0 as usize / 64, id.0 % 64);
        self.0.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }
}

impl Watcher {
    pub(crate) fn new(sender: u16, receiver: u16) -> Self {
        Self {
            sender: Recorder::at_host(sender),
            receiver: Recorder::at_host(receiver),
            own: Own::default(),
            drops: VecDeque::new(),
            others: 0,
        }
    }
}

impl Sink for Watcher {
    // A drop matters half a round trip later.
    const WATCHES_DROPS: bool = false;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        if sighting.point == Point::Sent(SENDER) {
            self.own.insert(sighting.id);
        } else if let Point::Received(host) = sighting.point
            && host != SENDER
            && !self.own.contains(sighting.id)
        {
            self.others += u64::from(sighting.payload.len());
        }
        self.sender.seen(sighting);
        self.receiver.seen(sighting);
    }

    fn dropped(&mut self, id: PacketId, _element: ElementId, cause: DropCause, at: Time) {
        if self.own.contains(id) {
            self.drops.push_back((at, cause));
        }
    }
}

/// A millisecond of one connection, or longer where nothing happened.
struct Slot {
    from: Time,
    /// Where its spans begin among those of all slots.
    first: usize,
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

/// What held the sender, the link apart.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    Nothing,
    One(Limit),
    /// Several, by their shares.
    Several,
}

/// One connection's past.
struct Past {
    ends: Ends,
    slots: Vec<Slot>,
    /// What held the sender and for how long, seconds, the link apart: by slot, one after the other.
    spans: Vec<(Limit, f64)>,
    /// Since when what holds the sender.
    holding: (Time, Holds),
    /// Their shares where there are several.
    shares: Vec<(Limit, f64)>,
    acknowledged: u64,
    /// When the last byte so far was acknowledged.
    done: Time,
    opened: Time,
    /// When it was last looked at.
    looked: Time,
    progress: Vec<(Duration, u64)>,
    /// Who owes how many segments of what the path holds, the oldest first.
    owed: Vec<(Limit, f64)>,
    starting: bool,
    /// Window, threshold and state at the last look.
    window: (f64, Option<u32>, RecoveryState),
    /// Segments that the path holds, of so many bytes each.
    holds: (u32, f64),
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
    let mut pasts: Vec<Past> = Vec::new();
    let (mut turns, mut due) = (0, Time::ZERO);
    let policers: Vec<ElementId> = up
        .iter()
        .copied()
        .filter(|element| polices(&simulation, *element))
        .collect();
    simulation.time_occupied(link);
    while simulation.stride(due.min(LONGEST + Duration::from_nanos(1)), watcher) {
        let now = simulation.now();
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
        // Only its time has come: what holds every sender is what held it at the last look.
        let quiet = turn == turns;
        turns = turn;
        let others = watcher.others;
        let link = || Link::of(&simulation, path, link, &policers, others);
        let reader = path.slow_reader.then_some(reader);
        due = Time::MAX;
        for connection in host.each_connection() {
            let ends = connection.ends();
            let place = pasts.iter().position(|past| past.ends == *ends);
            let place = place.unwrap_or_else(|| {
                pasts.push(Past::new(path, connection, now));
                pasts.len() - 1
            });
            let past = &mut pasts[place];
            if quiet {
                past.slot(now, &link);
            } else {
                past.look(now, connection, reader, path, watcher, &link);
            }
            due = due.min(past.slots.last().map_or(now, |slot| slot.from) + EVERY);
        }
        if ended {
            break;
        }
    }
    pasts.sort_by_key(|past| past.ends);
    let largest = pasts.into_iter().max_by_key(|past| past.acknowledged);
    largest.map(|past| past.held(path)).unwrap_or_default()
}

impl Link {
    fn of(
        simulation: &Simulation,
        path: &Path,
        link: ElementId,
        policers: &[ElementId],
        others: u64,
    ) -> Self {
        let network = simulation.network();
        let policed: u64 = policers
            .iter()
            .filter_map(|element| network.passed(*element))
            .map(|counters| counters.dropped(DropCause::Policed).bytes)
            .sum();
        let worked = network.occupied(link).map_or(0.0, Duration::seconds);
        let carried = network
            .passed(link)
            .map_or(0, |counters| counters.delivered.bytes);
        Self {
            // What a policer drops, the link carried for nothing.
            worked: worked - policed as f64 * 8.0 / (path.kbit as f64 * 1e3),
            carried: carried as f64,
            others: others as f64,
        }
    }
}

/// Whether an element drops what is beyond a rate.
fn polices(simulation: &Simulation, element: ElementId) -> bool {
    let elements = &simulation.network().spec().elements;
    matches!(elements[usize::from(element.0)].does, ElementKind::Police(_))
}

/// Segments that the path holds.
fn holds(path: &Path, mss: u32) -> f64 {
    let mss = f64::from(mss.max(1));
    path.kbit as f64 / 8.0 * path.rtt_ms as f64 / (mss + 70.0)
}

impl Past {
    fn new(path: &Path, connection: &Connection, now: Time) -> Self {
        let standing = connection.standing();
        let holds = holds(path, standing.mss);
        let window = f64::from(standing.cwnd);
        Self {
            ends: *connection.ends(),
            slots: Vec::new(),
            spans: Vec::new(),
            holding: (now, Holds::Nothing),
            shares: Vec::new(),
            acknowledged: 0,
            done: now,
            opened: now,
            looked: now,
            progress: Vec::new(),
            owed: vec![(Limit::SlowStart, (holds - window).max(0.0))],
            starting: true,
            window: (window, standing.ssthresh, standing.recovery),
            holds: (standing.mss, holds),
            last: None,
        }
    }

    /// Begins the next slot when its time has come.
    fn slot(&mut self, now: Time, link: &impl Fn() -> Link) {
        self.looked = now;
        if self.slots.last().is_none_or(|slot| now >= slot.from + EVERY) {
            self.spend(now);
            self.slots.push(Slot {
                from: now,
                first: self.spans.len(),
                link: link(),
            });
        }
    }

    fn look(
        &mut self,
        now: Time,
        connection: &Connection,
        reader: Option<&Host>,
        path: &Path,
        watcher: &mut Watcher,
        link: &impl Fn() -> Link,
    ) {
        let standing = connection.standing();
        if standing.mss != self.holds.0 {
            self.holds = (standing.mss, holds(path, standing.mss));
        }
        self.reductions(now, &standing, connection, path, watcher);
        self.slot(now, link);
        let holds = self.holders(&standing, reader, path);
        if holds != self.holding.1 || holds == Holds::Several {
            self.spend(now);
            self.holding.1 = holds;
        }
        if holds == Holds::Several {
            self.share();
        }
        if standing.acknowledged > self.acknowledged {
            self.acknowledged = standing.acknowledged;
            self.done = now;
            self.progress
                .push((now.since(self.opened), standing.acknowledged));
        }
    }

    /// Books the time for which something has held the sender to the slot.
    fn spend(&mut self, now: Time) {
        let (from, holds) = &mut self.holding;
        let span = now.since(*from).seconds();
        *from = now;
        let Some(slot) = self.slots.last().filter(|_| span > 0.0) else {
            return;
        };
        let (first, spans) = (slot.first, &mut self.spans);
        let mut book =
            |limit: Limit, time: f64| match spans[first..].iter_mut().find(|(who, _)| *who == limit) {
                Some((_, all)) => *all += time,
                None => spans.push((limit, time)),
            };
        match holds {
            Holds::Nothing => {}
            Holds::One(limit) => book(*limit, span),
            Holds::Several => self
                .shares
                .iter()
                .for_each(|(limit, share)| book(*limit, share * span)),
        }
    }

    /// Follows the sender's window: who made it small, and who still owes for it.
    fn reductions(
        &mut self,
        now: Time,
        info: &Standing,
        connection: &Connection,
        path: &Path,
        watcher: &mut Watcher,
    ) {
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
                self.cause(now, connection, path, watcher)
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
        // What makes the window smaller by a share makes smaller by it what any larger window would have been.
        if window < before && !path.bbr {
            let left = info
                .ssthresh
                .map_or(window, |threshold| window.max(f64::from(threshold)));
            let left = (left / before).min(1.0);
            self.owed.iter_mut().for_each(|(_, segments)| *segments *= left);
        }
        let total: f64 = self.owed.iter().map(|(_, segments)| segments).sum();
        let missing = (self.holds.1 - window).max(0.0);
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
    fn cause(&self, now: Time, connection: &Connection, path: &Path, watcher: &mut Watcher) -> Limit {
        let info = connection.info();
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

    /// What held the sender at this look, if the link did not.
    fn holders(&self, info: &Standing, reader: Option<&Host>, path: &Path) -> Holds {
        if let Some(limit) = self.holder(info, reader, path) {
            return Holds::One(limit);
        }
        let total: f64 = self.owed.iter().map(|(_, segments)| segments).sum();
        if total <= 0.5 {
            return Holds::One(self.last.map_or(Limit::SlowStart, |(_, cause)| cause));
        }
        match self.owed.split_first() {
            Some(((first, _), rest)) if rest.iter().all(|(who, _)| who == first) => Holds::One(*first),
            _ => Holds::Several,
        }
    }

    /// Shares of those who owe.
    fn share(&mut self) {
        let total: f64 = self.owed.iter().map(|(_, segments)| segments).sum();
        self.shares.clear();
        for (who, segments) in &self.owed {
            match self.shares.iter_mut().find(|(limit, _)| limit == who) {
                Some((_, share)) => *share += segments / total,
                None => self.shares.push((*who, segments / total)),
            }
        }
    }

    /// What held the sender, the congestion window apart.
    fn holder(&self, info: &Standing, reader: Option<&Host>, path: &Path) -> Option<Limit> {
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
            return Some(
                if info.peer_window == 0 || reader.is_some_and(|reader| self.is_slow(reader)) {
                    Limit::ReceiverApplication
                } else {
                    Limit::ReceiverWindow
                },
            );
        }
        // BBR paces by what arrived: a buffer or window that holds less than BBR's own window, and than what it puts into the
        // path when it probes for more, made that rate.
        if path.bbr && flight + mss <= window {
            let most = window.min((PROBE * self.holds.1 * mss as f64) as u64);
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

    /// Whether the reading program leaves a quarter of its window unread.
    fn is_slow(&self, reader: &Host) -> bool {
        let ends = Ends {
            local: self.ends.remote,
            remote: self.ends.local,
        };
        let peer = reader.connection(&ends);
        peer.is_some_and(|peer| peer.unread * 4 > peer.window)
    }

    /// Time by limit; the link's wherever it never was idle for a round trip around an instant.
    fn held(mut self, path: &Path) -> Truth {
        self.spend(self.looked);
        let done = self.done;
        let count = self.slots.partition_point(|slot| slot.from < done);
        let end = self.slots.get(count).map_or(self.spans.len(), |slot| slot.first);
        let slots = &self.slots[..count];
        let mut series = Vec::with_capacity(count);
        // By limit, how long it held the transfer and what that cost.
        let mut held: Vec<(Limit, f64, f64)> = Vec::new();
        let around = Duration::from_millis(path.rtt_ms.max(4)) / 2;
        let (mut low, mut high, mut wide) = (0, 0, 0);
        for (place, slot) in slots.iter().enumerate() {
            let next = slots.get(place + 1);
            let (to, last) = next.map_or((done, end), |next| (next.from, next.first));
            let spans = &self.spans[slot.first..last];
            let middle = slot.from + to.since(slot.from) / 2;
            while low + 1 < place && slots[low + 1].from + around <= middle {
                low += 1;
            }
            while high + 1 < slots.len() && slots[high].from < middle + around {
                high += 1;
            }
            while wide < slots.len() && slots[wide].from + SHARES <= middle {
                wide += 1;
            }
            let (first, last) = (&slots[low], &slots[high.max(low)]);
            let could = last.from.since(first.from).seconds();
            let full = could > 0.0 && last.link.worked - first.link.worked >= FULL * could;
            let wide = &slots[wide.min(low)];
            let span = to.since(slot.from).seconds();
            let worked = (last.link.worked - first.link.worked) / could.max(1e-9);
            let own = (worked * (1.0 - part(wide.link, last.link))).clamp(0.0, 1.0);
            let mut book = |limit: Limit, time: f64| {
                let place = held.iter().position(|(known, ..)| *known == limit);
                let place = place.unwrap_or_else(|| {
                    held.push((limit, 0.0, 0.0));
                    held.len() - 1
                });
                held[place].1 += time;
                held[place].2 += time * (1.0 - own);
                series.push((slot.from, time, limit));
            };
            if full && path.others && shared(wide.link, last.link) {
                book(Limit::SharedBottleneck, span);
            } else if full {
                book(Limit::BottleneckBandwidth, span);
            } else {
                let all: f64 = spans.iter().map(|(_, time)| time).sum();
                for (limit, time) in spans {
                    book(*limit, time * span / all.max(1e-12));
                }
            }
        }
        Truth {
            held: held.iter().map(|(limit, time, _)| (*limit, *time)).collect(),
            lost: held.iter().map(|(limit, _, lost)| (*limit, *lost)).collect(),
            series,
            progress: self.progress,
        }
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
