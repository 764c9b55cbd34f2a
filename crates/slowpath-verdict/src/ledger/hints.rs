//! What the whole of a transfer's facts says, for the parts to lean on.

use crate::limit::Limit;

/// What is known of a transfer beside its timeline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hints {
    /// Payload bytes of a full segment.
    pub segment: u32,
    /// Unit of the capture clock, seconds.
    pub clock_s: f64,
    /// Whether the tap shows what only the sender knows.
    pub at_sender: bool,
    /// Whether the tap is beside the receiver.
    pub at_receiver: bool,
    /// Whether the advertised window's scale is known.
    pub window_known: bool,
    /// A token bucket explains the losses: its rate in payload bytes per second.
    pub policed: Option<f64>,
    /// What that bucket holds, bytes of frames.
    pub bucket: f64,
    /// That bucket was empty at every loss, and hardly ever else.
    pub policer_took_all: bool,
    /// It was empty at each of many losses, without exception.
    pub policer_took_each: bool,
    /// A token bucket that was empty at some of the losses, though others came otherwise: its rate in payload bytes per second and
    /// what it holds. It may be the next limit, and is held to be none of this transfer's.
    pub policer_of_some: Option<(f64, f64)>,
    /// The link's rate varies, and nobody shares it.
    pub varies: bool,
    /// The whole of the transfer looks like one that fills a link of its own.
    pub fills: bool,
    /// The reader of the data is slow: a full window is its doing.
    pub slow_reader: bool,
    /// What holds a flight that stays constant.
    pub constant: Option<Limit>,
    /// That flight, bytes; 0 where it is no fixed amount.
    pub constant_bytes: u64,
    /// Whether acknowledgements end the sender's pauses, or something else does; `None` where that cannot be told.
    pub released: Option<bool>,
    /// Whether acknowledgements begin most of what the sender sends, over the whole of the transfer: one with a clock of its own
    /// (BBR) sends when that says so.
    pub follows_acks: bool,
    /// The other end's program answers about as often as the sender pauses.
    pub answered: bool,
    /// Data leaves at one even pace that nothing of the path sets.
    pub paces_itself: bool,
    /// The sending program goes on at set times: what it gives then, payload bytes per second.
    pub scheduled: Option<f64>,
    /// How many messages the other end sent: what a program waits for that asks.
    pub answers: u64,
    /// Packets overtake each other, and the sender takes that for loss.
    pub disorder: bool,
    /// Packets overtake each other, whether the sender takes that for loss or not.
    pub overtakes: bool,
    /// The receiver says what came twice (D-SACK, RFC 2883).
    pub tells_repeats: bool,
    /// Other traffic fills the queue, or other flows of these hosts share the link.
    pub shared: bool,
    /// Other flows of these hosts are in the capture for most of the time.
    pub others_seen: bool,
    /// Payload rate of the link that explains the delays of all flows of these hosts together, bytes per second.
    pub link_of_all: Option<f64>,
    /// Payload rate of the queue that explains the delays, bytes per second.
    pub delay_rate: Option<f64>,
    /// The flow's own load explains its losses.
    pub losses_follow_load: bool,
    /// Losses come at any backlog.
    pub losses_ignore_load: bool,
    /// The losses of all connections of its job come in bursts that chance does not make: bursts are overflows of a queue,
    /// though it may be too short to show as delay.
    pub bursts: bool,
    /// What makes the whole of the transfer untellable, or is it: a capture that misses too much, a black hole.
    pub whole: Option<Limit>,
}

impl Hints {
    /// The rate in payload bytes per second, and what the bucket holds, of a policer that drops all of the losses or some.
    pub(super) fn policer(&self) -> Option<(f64, f64)> {
        let of_all = self.policed.map(|rate| (rate, self.bucket));
        of_all.or(self.policer_of_some)
    }
}
