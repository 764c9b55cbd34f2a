//! What is known about a transfer and its path, as far as a prediction needs it.

use serde::{Deserialize, Serialize};
use slowpath_verdict::ledger::{Entry, Faster, Without};
use slowpath_verdict::{Connection, Flag, Ledger, Limit};

use crate::{response, stats};

/// A transfer as measured: the input of every prediction. Comes from a capture, never from a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Situation {
    /// What limited it.
    pub limit: Limit,
    /// Other limits that held for a part of the time, the longest first.
    pub alternatives: Vec<Limit>,
    /// How sure the verdict is, 0 to 1.
    pub confidence: f64,
    /// Payload delivered, byte/s.
    pub goodput: f64,
    /// Payload bytes delivered.
    pub bytes: f64,
    /// Smallest round-trip time in seconds: that of the empty path.
    pub rtt_min_s: f64,
    /// Median round-trip time in seconds: that under this load.
    pub rtt_s: f64,
    /// Payload of a full segment.
    pub mss: f64,
    /// Headers of IP and TCP in each packet.
    pub headers: f64,
    /// The greatest window the receiver advertised.
    pub window: Option<f64>,
    /// What the receiver's window lets through by the ledger, payload byte/s: while it held, or where it stayed the same all the time;
    /// absent where it never held and grows.
    #[serde(default)]
    pub window_rate: Option<f64>,
    /// The most that the receiver's window can let through however it grows, payload byte/s: 65,535 bytes at the scale of its handshake
    /// (RFC 7323) for each round trip of the empty path.
    #[serde(default)]
    pub window_most: Option<f64>,
    /// The most that a channel of OpenSSH lets through, payload byte/s: [`OPENSSH_WINDOW`] for each round trip of the empty path; absent
    /// on other ports, and where more than that was seen in flight.
    #[serde(default)]
    pub channel_most: Option<f64>,
    /// Whether a queue stands on the way of the acknowledgements, that of the data or not.
    #[serde(default)]
    pub acks_wait: bool,
    /// How many transfers there are between the same hosts the same way, this one included.
    #[serde(default = "one")]
    pub siblings: f64,
    /// What the path and the sender make of a link of twice its rate: see [`Ledger::with_link`].
    #[serde(default)]
    pub twice: Option<Faster>,
    /// Whether the receiver is known not to acknowledge selectively: repair then takes a round trip for each loss, however a sender paces.
    #[serde(default)]
    pub without_sack: bool,
    /// The queue before the link as far as packets filled it, payload bytes; absent where the link's rate is not known.
    #[serde(default)]
    pub queue: Option<f64>,
    /// The constant flight that a buffer or a protocol allowed.
    pub flight: Option<f64>,
    /// Rate of the link, shaper or policer in payload byte/s, if the transfer reached it.
    pub bottleneck: Option<f64>,
    /// Rate at which the receiving program took the data.
    pub drain: Option<f64>,
    /// Bytes that the receiving program took at a time.
    pub drain_unit: Option<f64>,
    /// Rate at which the sending program gave data.
    pub source: Option<f64>,
    /// Segments sent.
    pub segments: f64,
    /// Segments lost.
    pub lost: f64,
    /// Highest rate of delivery seen for at least a few round trips, byte/s.
    pub peak: Option<f64>,
    /// How many connections carried the data at a time, on average: 1 for a single one.
    #[serde(default = "one")]
    pub parallel: f64,
    /// How many connections were open together for at least a tenth of the time: 1 for a single one.
    #[serde(default = "one")]
    pub at_once: f64,
    /// Rate at which datagrams or frames were given to the network, byte/s, where nothing waits for acknowledgements.
    #[serde(default)]
    pub offered: Option<f64>,
    /// Share of the datagrams or frames that was lost elsewhere than where most were.
    #[serde(default)]
    pub elsewhere: f64,
    /// What each cause costs, as shares of the duration, the costliest first; empty where the path's capacity is only bounded.
    #[serde(default)]
    pub costs: Vec<Cost>,
    /// By how much shorter the transfer would be without each cause that cost a tenth or more, as shares of the duration: what events cost may
    /// come otherwise then. Empty where no ledger tells.
    #[serde(default)]
    pub saved: Vec<Saved>,
    /// How long the transfer lasts, whatever it moves in that time, seconds; absent where its bytes end it.
    #[serde(default)]
    pub lasts_s: Option<f64>,
    /// What the link itself takes for the bytes, as a share of the duration; absent where the path's capacity is only bounded.
    #[serde(default)]
    pub link: Option<f64>,
    /// Share of the duration in which overflows of a queue were made good that is short for the path.
    #[serde(default)]
    pub short_queue: f64,
}

/// What a transfer without one cause would save.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The cause.
    pub limit: Limit,
    /// By how much shorter it would be, as a share of the duration.
    pub share: f64,
    /// At least; with `most` in nine of ten transfers. Below zero where it may take longer.
    pub least: f64,
    /// At most.
    pub most: f64,
}

/// What one cause costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The cause.
    pub limit: Limit,
    /// Whether it is the congestion window's growth after slow start had ended early.
    pub early_exit: bool,
    /// Whether it is a time in which the path let nothing through, and what made that good.
    #[serde(default)]
    pub outage: bool,
    /// Share of the duration that would be saved without it.
    pub share: f64,
}

impl Cost {
    /// Whether it is the link's, such as overflows of its short queue.
    pub const fn is_link(&self) -> bool {
        matches!(self.limit, Limit::BottleneckBandwidth | Limit::SharedBottleneck) && !self.outage
    }

    /// Whether segments that were lost by chance made it.
    pub const fn is_random_loss(&self) -> bool {
        matches!(self.limit, Limit::RandomLoss) && !self.outage
    }

    /// Whether both are of one kind.
    fn is_like(&self, other: &Self) -> bool {
        self.limit == other.limit && self.early_exit == other.early_exit && self.outage == other.outage
    }

    /// Adds it to those of its kind.
    pub(crate) fn add_to(self, costs: &mut Vec<Self>) {
        match costs.iter_mut().find(|own| own.is_like(&self)) {
            Some(own) => own.share += self.share,
            None => costs.push(self),
        }
    }
}

impl Situation {
    /// What the path carries by the ledger, payload in byte/s: where the capacity is more than a bound, the link's share of the
    /// duration tells it.
    pub fn carries(&self) -> Option<f64> {
        self.link
            .filter(|share| *share > 0.0)
            .map(|share| self.goodput / share)
    }

    /// Reads a connection's facts and verdict.
    pub fn of(connection: &Connection) -> Self {
        let sender = connection.data_from.index();
        let parameters = &connection.verdict.parameters;
        let offered = connection.handshake.mss[connection.data_from.other().index()].map(f64::from);
        let timestamps = connection.handshake.timestamps.iter().all(|t| *t == Some(true));
        let headers = if timestamps { 52.0 } else { 40.0 };
        let mss = offered.unwrap_or(1460.0) - if timestamps { 12.0 } else { 0.0 };
        let counters = &connection.counters;
        let facts = &connection.facts;
        let mss = if facts.segment_size > 0 {
            f64::from(facts.segment_size)
        } else {
            mss
        };
        let segments = (counters[sender].data_bytes as f64 / mss).ceil();
        let mut alternatives: Vec<(Limit, f64)> = Vec::new();
        for interval in &connection.intervals {
            let span = interval.to_s - interval.from_s;
            match alternatives
                .iter_mut()
                .find(|(limit, _)| *limit == interval.limit)
            {
                Some((_, sum)) => *sum += span,
                None => alternatives.push((interval.limit, span)),
            }
        }
        alternatives.sort_by(|a, b| b.1.total_cmp(&a.1));
        let peak = connection
            .graphs
            .goodput
            .iter()
            .map(|p| p.value)
            .fold(0.0, f64::max);
        Self {
            limit: connection.verdict.limit,
            alternatives: alternatives
                .into_iter()
                .map(|(limit, _)| limit)
                .filter(|l| *l != connection.verdict.limit && !l.is_undecided())
                .collect(),
            confidence: connection.verdict.confidence,
            goodput: connection.goodput_bit_per_s / 8.0,
            bytes: connection.bytes_delivered as f64,
            rtt_min_s: connection.rtt_s.min,
            rtt_s: connection.rtt_s.median.max(connection.rtt_s.min),
            mss,
            headers,
            window: window_of(connection),
            window_rate: window_rate(connection),
            window_most: window_most(connection),
            channel_most: channel_most(connection),
            queue: queue(connection),
            acks_wait: connection.acks_wait_too(),
            siblings: f64::from(connection.flows_beside()),
            twice: connection.ledger.with_link(2.0),
            without_sack: connection.handshake.sack.contains(&Some(false)),
            flight: parameters.flight_bytes.map(|f| f as f64),
            bottleneck: parameters.rate_bit_per_s.map(|r| response::link(r, mss, headers)),
            drain: parameters.drain_byte_per_s,
            drain_unit: parameters.drain_step_bytes.map(|s| s as f64),
            source: parameters.source_byte_per_s,
            segments,
            lost: connection.lost_segments as f64,
            peak: (peak > 0.0).then_some(peak),
            parallel: 1.0,
            at_once: 1.0,
            offered: None,
            elsewhere: 0.0,
            costs: costs(&[connection]),
            saved: saved(&connection.ledger),
            link: link(&[connection]),
            short_queue: short_queue(&[connection]),
            lasts_s: None,
        }
    }

    /// Reads all connections of a job that carry its data together, such as uploads to an object store.
    ///
    /// `job_s` is how long the whole job took, seconds. What only one connection can say is taken from the one with most bytes.
    pub fn of_job(connections: &[Connection], job_s: f64) -> Option<Self> {
        let main = connections.first()?;
        let carries = |connection: &&Connection| {
            connection.bytes_delivered as f64 >= LEAST_PART * main.bytes_delivered as f64
        };
        let own: Vec<&Connection> = connections.iter().filter(carries).collect();
        let first = Self::of(main);
        if own.len() < 2 || job_s <= 0.0 {
            return Some(first);
        }
        let each: Vec<Self> = own.iter().map(|connection| Self::of(connection)).collect();
        let sum = |value: fn(&Self) -> f64| each.iter().map(value).sum::<f64>();
        let seconds: f64 = own.iter().map(|connection| connection.duration_s).sum();
        Some(Self {
            bytes: sum(|s| s.bytes),
            segments: sum(|s| s.segments),
            lost: sum(|s| s.lost),
            parallel: (seconds / job_s).max(1.0),
            at_once: open_together(&own),
            costs: costs(&own),
            saved: Vec::new(),
            siblings: 1.0,
            twice: None,
            link: link(&own),
            short_queue: short_queue(&own),
            lasts_s: None,
            peak: None,
            ..first
        })
    }

    /// Takes what a job of several connections was judged as, instead of what its main connection was.
    ///
    /// `capacity` is what the path carries, byte/s, where the job itself does not show it and others over the same links do.
    #[must_use]
    pub fn judged(self, limit: Limit, ledger: &Ledger, capacity: Option<f64>) -> Self {
        let judged = Self { limit, ..self };
        if ledger.duration_s <= 0.0 {
            return judged;
        }
        if let Some(link_s) = seconds_of(judged.bytes, ledger) {
            return Self {
                costs: by_cause(&ledger.entries, ledger.duration_s, |entry| {
                    entry.lost_s.unwrap_or(0.0)
                }),
                saved: saved(ledger),
                link: Some((link_s / ledger.duration_s).min(1.0)),
                ..judged
            };
        }
        let Some(capacity) = capacity.filter(|capacity| *capacity > 0.0) else {
            return judged;
        };
        // Of the time for which the link held the job, all beyond what its bytes take is lost.
        let link = (judged.bytes / capacity / ledger.duration_s).min(1.0);
        let mut costs = by_cause(&ledger.entries, ledger.duration_s, |entry| entry.time_s);
        let mut left = link;
        for cost in costs.iter_mut().filter(|cost| cost.is_link()) {
            let own = cost.share.min(left);
            cost.share -= own;
            left -= own;
        }
        costs.retain(|cost| cost.share > 0.0);
        costs.sort_by(|a, b| b.share.total_cmp(&a.share));
        Self {
            costs,
            saved: Vec::new(),
            link: Some(link),
            ..judged
        }
    }

    /// Reads the flows of datagrams or generated frames of a run: what was sent, what arrived, and the limit that the path's
    /// counters told.
    ///
    /// `arrived` is the share of the packets that arrived, `elsewhere` the share that was lost elsewhere than where most were,
    /// `byte_per_s` what arrived.
    pub fn of_flows(limit: Limit, arrived: f64, elsewhere: f64, byte_per_s: f64) -> Self {
        Self {
            limit,
            alternatives: Vec::new(),
            confidence: 1.0,
            goodput: byte_per_s,
            bytes: 0.0,
            rtt_min_s: 0.0,
            rtt_s: 0.0,
            mss: 0.0,
            headers: 0.0,
            window: None,
            window_rate: None,
            window_most: None,
            channel_most: None,
            queue: None,
            acks_wait: false,
            siblings: 1.0,
            twice: None,
            without_sack: false,
            flight: None,
            bottleneck: None,
            drain: None,
            drain_unit: None,
            source: None,
            segments: 0.0,
            lost: 0.0,
            peak: None,
            parallel: 1.0,
            at_once: 1.0,
            offered: (arrived > 0.0).then(|| byte_per_s / arrived),
            elsewhere,
            costs: Vec::new(),
            saved: Vec::new(),
            link: None,
            short_queue: 0.0,
            lasts_s: None,
        }
    }

    /// What it would save without this cause; `None` where no ledger tells, or an outage is in it.
    pub fn saved_without(&self, limit: Limit) -> Option<Saved> {
        let outage = self.costs.iter().any(|cost| cost.limit == limit && cost.outage);
        let saved = self.saved.iter().find(|saved| saved.limit == limit);
        saved.filter(|_| !outage).copied()
    }

    /// Whether the transfer filled the link, alone or with others.
    pub const fn fills_the_link(&self) -> bool {
        matches!(self.limit, Limit::BottleneckBandwidth | Limit::SharedBottleneck)
    }

    /// Share of the duration that would be saved without these causes.
    pub fn cost_of(&self, wanted: impl Fn(&Cost) -> bool) -> f64 {
        self.costs
            .iter()
            .filter(|cost| wanted(cost))
            .map(|cost| cost.share)
            .sum()
    }
}

/// How long these connections took, each by itself, seconds.
fn durations(connections: &[&Connection]) -> f64 {
    connections.iter().map(|c| c.ledger.duration_s).sum()
}

/// See [`Situation::saved`].
fn saved(ledger: &Ledger) -> Vec<Saved> {
    let shorter = |left_s: f64| 1.0 - left_s / ledger.duration_s.max(1e-9);
    let of = |without: &Without| Saved {
        limit: without.cause,
        share: shorter(without.duration_s),
        least: shorter(without.high90_s),
        most: shorter(without.low90_s),
    };
    ledger.without.iter().map(of).collect()
}

/// See [`Situation::queue`].
fn queue(connection: &Connection) -> Option<f64> {
    let reached = connection.facts.timeline.reached_s();
    let course = connection.ledger.course.filter(|_| reached > 0.0)?;
    Some(course.rate * reached)
}

/// See [`Situation::window_rate`]. What held it for a while at a lower rate than the mean has grown since.
fn window_rate(connection: &Connection) -> Option<f64> {
    let ceilings = connection.ledger.ceilings.iter();
    let of_window = ceilings.filter(|(limit, _)| *limit == Limit::ReceiverWindow);
    let rate = of_window.map(|(_, rate)| *rate).next()?;
    (rate >= connection.goodput_bit_per_s / 8.0).then_some(rate)
}

/// See [`Situation::window_most`]; `None` where the handshake was not seen.
fn window_most(connection: &Connection) -> Option<f64> {
    let window = &connection.facts.window;
    let rtt_s = connection.rtt_s.min;
    let known = window.scale_known == KNOWN && rtt_s > 0.0;
    known.then(|| f64::from(u32::from(u16::MAX) << window.shift) / rtt_s)
}

/// See [`Situation::channel_most`].
fn channel_most(connection: &Connection) -> Option<f64> {
    let rtt_s = connection.rtt_s.min;
    let is_ssh = [&connection.client, &connection.server]
        .iter()
        .any(|end| end.ends_with(":22"));
    let within = connection.facts.flight.max as f64 <= OPENSSH_WINDOW;
    (is_ssh && within && rtt_s > 0.0).then(|| OPENSSH_WINDOW / rtt_s)
}

/// Bytes that OpenSSH lets a channel have in flight, and its sftp by 64 requests of 32 KiB (`CHAN_SES_WINDOW_DEFAULT` in
/// `channels.h`, `DEFAULT_NUM_REQUESTS` and `DEFAULT_COPY_BUFLEN` in `sftp-client.c`).
pub const OPENSSH_WINDOW: f64 = 2_097_152.0;

/// A window's scale that the handshake told.
const KNOWN: u8 = 2;

/// What each cause costs these connections together, as shares of their durations; nothing unless all capacities are told.
fn costs(connections: &[&Connection]) -> Vec<Cost> {
    let seconds = durations(connections);
    let told = |connection: &&Connection| connection.ledger.floor_s.is_some();
    if seconds <= 0.0 || !connections.iter().all(told) {
        return Vec::new();
    }
    let entries = connections
        .iter()
        .flat_map(|connection| &connection.ledger.entries);
    by_cause(entries, seconds, |entry| entry.lost_s.unwrap_or(0.0))
}

/// What each cause costs, as shares of `seconds`, the costliest first.
fn by_cause<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    seconds: f64,
    of: impl Fn(&Entry) -> f64,
) -> Vec<Cost> {
    let mut out: Vec<Cost> = Vec::new();
    for entry in entries {
        let cost = Cost {
            limit: entry.cause,
            early_exit: entry.flags.contains(&Flag::EarlyExit),
            outage: entry.is_outage(),
            share: of(entry) / seconds,
        };
        cost.add_to(&mut out);
    }
    out.retain(|cost| cost.share > 0.0);
    out.sort_by(|a, b| b.share.total_cmp(&a.share));
    out
}

/// What the link itself takes for the bytes of these connections, as a share of their durations; nothing unless all capacities
/// are told.
fn link(connections: &[&Connection]) -> Option<f64> {
    let seconds = durations(connections);
    let taken = |connection: &&Connection| seconds_of(connection.bytes_delivered as f64, &connection.ledger);
    let link_s: f64 = connections.iter().map(taken).sum::<Option<f64>>()?;
    (seconds > 0.0).then(|| (link_s / seconds).min(1.0))
}

/// For how long these connections made good what a short queue of a link dropped, as a share of their durations.
fn short_queue(connections: &[&Connection]) -> f64 {
    let seconds = durations(connections);
    let entries = connections.iter().flat_map(|c| &c.ledger.entries);
    let after = entries.filter(|entry| entry.follows_a_short_queue());
    let time: f64 = after.map(|entry| entry.time_s).sum();
    if seconds > 0.0 {
        (time / seconds).min(1.0)
    } else {
        0.0
    }
}

/// How many of these connections were open together for at least a tenth of the time that any was; at least 1.
///
/// The greatest number would count twice what one connection hands over to the next.
fn open_together(connections: &[&Connection]) -> f64 {
    let mut events: Vec<(f64, f64)> = connections
        .iter()
        .flat_map(|c| [(c.start_s, 1.0), (c.start_s + c.duration_s, -1.0)])
        .collect();
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut open = 0.0_f64;
    // How long so many were open.
    let mut spans: Vec<(f64, f64)> = Vec::new();
    for pair in events.windows(2) {
        open += pair[0].1;
        if open > 0.0 {
            spans.push((open, pair[1].0 - pair[0].0));
        }
    }
    spans.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all: f64 = spans.iter().map(|(_, lasts_s)| lasts_s).sum();
    let mut sum = 0.0;
    let reached = spans.iter().find(|(_, lasts_s)| {
        sum += lasts_s;
        sum >= OFTEN * all
    });
    reached.map_or(1.0, |(open, _)| open.max(1.0))
}

/// Share of the time for which so many connections were open at least, to be called the number of a job.
const OFTEN: f64 = 0.1;

/// How long bytes take at the capacity that a ledger tells, seconds.
fn seconds_of(bytes: f64, ledger: &Ledger) -> Option<f64> {
    ledger.floor_s?;
    let capacity = ledger.capacity_bit_per_s.filter(|capacity| *capacity > 0.0)?;
    Some(bytes * 8.0 / capacity)
}

const fn one() -> f64 {
    1.0
}

/// So many transfers that filled a link show what another one makes of it.
const ENOUGH: u32 = 3;

/// The least doubt of what a transfer makes of a link, as a share: equal runs of a model do not show how others differ.
const LEAST_DOUBT: f64 = 0.02;

/// A connection with less than this share of the bytes of the one with most is none that carries the job's data.
const LEAST_PART: f64 = 0.01;

/// The window that held the sender; for a slow reader, whose window shrinks, the greatest that it offered.
fn window_of(connection: &Connection) -> Option<f64> {
    let receiver = &connection.counters[connection.data_from.other().index()];
    let greatest = match connection.facts.window.max {
        0 => (receiver.window_samples > 0).then_some(receiver.max_window),
        max => Some(max),
    };
    let held = connection.verdict.parameters.window_bytes;
    let window = if connection.verdict.limit == Limit::ReceiverApplication {
        greatest.or(held)
    } else {
        held.or(greatest)
    };
    window.map(|w| w as f64)
}

/// The rates of transfers that filled a link, as the mean of their logarithms and the spread around it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Filled {
    /// How many transfers.
    pub count: u32,
    /// Mean of the natural logarithms of their rates in byte/s.
    pub mean_ln: f64,
    /// Sum of the squared distances from that mean.
    pub squares: f64,
}

impl Filled {
    /// Adds a transfer's rate, byte/s; one that is not positive says nothing.
    pub fn add(&mut self, rate: f64) {
        if rate <= 0.0 {
            return;
        }
        self.count += 1;
        let off = rate.ln() - self.mean_ln;
        self.mean_ln += off / f64::from(self.count);
        self.squares += off * (rate.ln() - self.mean_ln);
    }

    /// Where the rate of one more such transfer lies, byte/s: at least, most likely, at most; `None` for too few to tell.
    ///
    /// It is the 95 % prediction interval of Student's t distribution over the logarithms, and never closer than two per cent.
    pub fn range(&self) -> Option<(f64, f64, f64)> {
        if self.count < ENOUGH {
            return None;
        }
        let (count, freedom) = (f64::from(self.count), f64::from(self.count - 1));
        let spread = (self.squares / freedom).sqrt();
        let half = stats::t_quantile(0.975, freedom) * spread * (1.0 + 1.0 / count).sqrt();
        let half = half.max(LEAST_DOUBT);
        let mean = self.mean_ln.exp();
        Some((mean * (-half).exp(), mean, mean * half.exp()))
    }
}

/// What several transfers over the same path say about it together.
///
/// One transfer that a small window holds back cannot see the link's rate and sees few losses; others over the
/// same path can.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PathEvidence {
    /// Segments sent by all transfers.
    pub segments: f64,
    /// Segments lost that the transfers' own load does not explain.
    pub lost: f64,
    /// Highest payload rate that any transfer kept up, byte/s.
    pub peak: Option<f64>,
    /// The bottleneck's payload rate, if a transfer filled it, byte/s.
    pub bottleneck: Option<f64>,
    /// What those transfers made of it that filled it.
    #[serde(default)]
    pub filled: Filled,
    /// The payload rate of a policer that a transfer ran into, byte/s.
    #[serde(default)]
    pub policer: Option<f64>,
    /// Least round-trip time seen, seconds.
    pub rtt_min_s: Option<f64>,
}

impl PathEvidence {
    /// Adds one transfer.
    pub fn add(&mut self, s: &Situation) {
        // Losses of a transfer that fills the bottleneck are its own doing and say nothing about the path.
        let own_doing = matches!(
            s.limit,
            Limit::BottleneckBandwidth | Limit::SharedBottleneck | Limit::Policed
        );
        if !own_doing {
            self.segments += s.segments;
            self.lost += s.lost;
        }
        let peak = s.peak.unwrap_or(s.goodput);
        self.peak = Some(self.peak.map_or(peak, |p| p.max(peak)));
        if s.fills_the_link() {
            self.filled.add(s.goodput);
        }
        // What a transfer made of a link that it filled is known better than the link's rate.
        let made = |rate: f64| if s.fills_the_link() { s.goodput } else { rate };
        if let Some(rate) = s.bottleneck.map(made) {
            let known = if s.limit == Limit::Policed {
                &mut self.policer
            } else {
                &mut self.bottleneck
            };
            *known = Some(known.map_or(rate, |b| b.max(rate)));
        }
        if s.rtt_min_s > 0.0 {
            self.rtt_min_s = Some(self.rtt_min_s.map_or(s.rtt_min_s, |r| r.min(s.rtt_min_s)));
        }
    }

    /// The evidence of all these transfers.
    pub fn of<'a>(situations: impl IntoIterator<Item = &'a Situation>) -> Self {
        let mut evidence = Self::default();
        for situation in situations {
            evidence.add(situation);
        }
        evidence
    }

    /// The share of segments that the path loses by itself: low, expected, high.
    pub fn loss(&self) -> (f64, f64, f64) {
        let (low, high) = response::loss_interval(self.lost, self.segments);
        let expected = if self.segments > 0.0 {
            self.lost / self.segments
        } else {
            0.0
        };
        (low, expected, high)
    }
}
