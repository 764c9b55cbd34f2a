//! What one sender's data did on its way: the facts a verdict is made from.

use serde::{Deserialize, Serialize};

use super::chronographs::Chronographs;
use super::distribution::Distribution;
use super::queue::QueueFit;
use super::timeline::Timeline;
use crate::ends::{EcnMode, Side, Tap};

/// Facts about the data of one direction of one connection. Times in seconds, sizes in bytes of payload.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowFacts {
    /// The end that sent the data.
    pub from: Side,
    /// Payload acknowledged.
    pub bytes: u64,
    /// Segments sent, super-segments counted as what they become.
    pub segments: u64,
    /// Payload of a full segment.
    pub segment_size: u32,
    /// Largest payload seen in one packet of the capture.
    pub largest_packet: u32,
    /// From the first data to its last acknowledgement.
    pub active_s: f64,
    /// Where the tap is.
    pub tap: Tap,
    /// Smallest time from data to its acknowledgement at the tap.
    pub to_receiver_s: f64,
    /// Smallest time from an acknowledgement to the data it releases at the tap.
    pub to_sender_s: f64,
    /// Round-trip times of data.
    pub rtt: Distribution,
    /// Round-trip time of the handshake; 0 if not seen.
    pub handshake_rtt_s: f64,
    /// Whether acknowledgements were seen.
    pub acknowledged: bool,
    /// Whether the handshake was seen.
    pub handshake_seen: bool,
    /// How time was spent.
    pub time: TimeUse,
    /// The advertised window.
    pub window: WindowFacts,
    /// Bytes in flight.
    pub flight: FlightFacts,
    /// Loss and its repair.
    pub loss: LossFacts,
    /// Congestion marks.
    pub ecn: EcnFacts,
    /// What releases data: acknowledgements, or the program's own rhythm.
    pub clocking: Clocking,
    /// Payload delivered per round trip, bytes per second, over round trips with data in flight.
    pub rate: Distribution,
    /// Highest rate over trains of packets at the tap (95th percentile), bits of Ethernet frames per second.
    pub arrival_peak_bit_per_s: f64,
    /// Share of the time that the data would take at that rate; near 1 behind a link that is always busy.
    pub arrival_busy: f64,
    /// Rate at which the median byte passed the tap, from one train of packets to the next.
    pub arrival_local_bit_per_s: f64,
    /// Share of acknowledged bytes that the capture did not show.
    pub capture_loss_fraction: f64,
    /// Bytes acknowledged and not shown.
    pub capture_missed_bytes: u64,
    /// The virtual queue fitted to this flow alone.
    pub queue: Option<QueueFit>,
    /// ICMP "too big" messages: frame number and next-hop MTU.
    pub too_big: Vec<(u64, u16)>,
    /// Round trips, or longer spans where there are very many; in order.
    #[serde(skip)]
    pub rounds: Vec<Round>,
    /// The transfer over time, in steps of the least round trip.
    #[serde(skip)]
    pub timeline: Timeline,
    /// The virtual queue fitted to what left a link of [`Timeline::train_rate`], or of the rate that explains the delays, as
    /// a policer behind that link sees it; `None` where neither is known or the fit of [`Self::queue`] explains the losses.
    #[serde(skip)]
    pub queue_behind: Option<QueueFit>,
    /// Beside the receiver, share of the variance of the one-way delays that a queue explains which this flow fills alone; 0
    /// where that cannot be told.
    #[serde(skip)]
    pub own_load_explains: f64,
    /// Beside the sender, by how much longer acknowledgements took than the fastest, by the receiver's own clock: the 95th percentile,
    /// seconds; 0 where that clock tells nothing.
    #[serde(default, skip_serializing_if = "no_time")]
    pub acks_wait_s: f64,
    /// Beside the sender, what Linux would count were its congestion control BBR; `None` where the capture has not every packet.
    #[serde(skip)]
    pub with_bbr: Option<Chronographs>,
}

/// How the time from the first data to the last acknowledgement was spent, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TimeUse {
    /// All of it.
    pub total_s: f64,
    /// Less than one segment fitted into the advertised window, which was open.
    pub window_full_s: f64,
    /// As above, and the window was much smaller than it had been (weighted by how much smaller).
    pub window_shrunk_s: f64,
    /// The window was closed.
    pub window_closed_s: f64,
    /// Nothing was in flight and the window was open.
    pub idle_s: f64,
    /// Lost data was being repaired.
    pub recovery_s: f64,
    /// Nothing got through the path, whatever else held the sender.
    #[serde(default, skip_serializing_if = "no_time")]
    pub outage_s: f64,
    /// Data was in flight, the window had room, nothing was being repaired.
    pub busy_s: f64,
    /// Longest pause of the sender with nothing in flight.
    pub longest_idle_s: f64,
    /// Pauses with nothing in flight longer than a round trip.
    pub idle_pauses: u64,
    /// Times the window closed.
    pub closures: u64,
    /// Longest silence with data in flight: a retransmission timeout.
    pub longest_stall_s: f64,
}

/// Whether that is no time at all.
#[expect(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn no_time(seconds: &f64) -> bool {
    *seconds <= 0.0
}

/// The advertised window, scaled.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct WindowFacts {
    /// Whether the scale is known: 0 no, 1 inferred, 2 from the handshake.
    pub scale_known: u8,
    /// The shift in force.
    pub shift: u8,
    /// Smallest.
    pub min: u64,
    /// Median of acknowledgements.
    pub median: u64,
    /// Largest.
    pub max: u64,
    /// Median while it was full.
    pub full_median: u64,
    /// Mean of the window relative to the largest advertised until then, while it was full or closed.
    pub full_ratio: f64,
    /// Acknowledged bytes by which the right edge did not move on, as a share of acknowledged bytes.
    pub eaten_fraction: f64,
    /// Largest window update: bytes by which the edge moved without an acknowledgement.
    pub largest_reopening: u64,
    /// Median of the slack (edge less highest byte sent) after a burst.
    pub slack_median: f64,
    /// Frame numbers of acknowledgements with a closed window.
    pub closed_frames: [u64; 2],
    /// Frame numbers of packets that filled the window.
    pub full_frames: [u64; 2],
    /// Rate at which the edge moved on from the first to the last time that the window held the sender, bytes per second.
    pub edge_rate: f64,
    /// Typical period of the window's openings, seconds; 0 if it has no rhythm.
    pub period_s: f64,
}

/// Bytes in flight as the sender knew them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FlightFacts {
    /// Largest.
    pub max: u64,
    /// Median over round trips of the largest in the round trip.
    pub median_peak: u64,
    /// The most common peak.
    pub plateau: u64,
    /// Share of busy round trips whose peak is within a segment of the plateau.
    pub plateau_share: f64,
    /// Longest run of such round trips.
    pub plateau_run: u64,
    /// Round trips during which the flight grew by at least 1.5.
    pub growing_rounds: u64,
    /// Round trips with data.
    pub rounds: u64,
}

/// Loss and its repair.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LossFacts {
    /// Transmissions that did not arrive, in segments, without those of `disturbed_segments`.
    pub lost_segments: u64,
    /// The same of those sent while the capture's machine held packets up, or into the crowd that this made: they are no
    /// evidence of what the path does, and no other field of the loss counts them.
    #[serde(default)]
    pub disturbed_segments: u64,
    /// The same in bytes.
    pub lost_bytes: u64,
    /// Lost before the tap of a sender: in its own queues, or missed by the capture.
    pub local_segments: u64,
    /// Lost segments over segments sent.
    pub fraction: f64,
    /// Segments with bytes sent before.
    pub retransmitted_segments: u64,
    /// Retransmissions that were not needed.
    pub spurious: u64,
    /// Reports of the receiver that bytes arrived twice (D-SACK, RFC 2883).
    #[serde(default)]
    pub told_twice: u64,
    /// Segments that were overtaken.
    pub reordered: u64,
    /// Round trips with at least one loss.
    pub rounds_with_loss: u64,
    /// Times the sender fell silent for long with data in flight and then sent again.
    pub timeouts: u64,
    /// Loss episodes: losses less than a round trip apart are one.
    pub episodes: u64,
    /// Where the delay stood just before losses: the median over episodes of the share of delays that were no longer.
    /// Near 1 where a full queue drops, whoever filled it; 0 without a sample.
    pub delay_rank: f64,
    /// Episodes with a delay sample before them.
    pub ranked_episodes: u64,
    /// Lost bytes that were in full-size segments.
    pub lost_full_size: u64,
    /// Most transmissions of one segment beyond the first.
    pub max_retransmissions: u64,
    /// Bytes sent several times and never acknowledged.
    pub stuck_bytes: u64,
    /// Largest payload that was acknowledged.
    pub largest_delivered: u32,
    /// Frames of the first retransmissions.
    pub frames: [u64; 3],
}

/// Congestion marks.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct EcnFacts {
    /// As negotiated.
    pub mode: EcnMode,
    /// Data packets marked CE as seen at the tap.
    pub ce_packets: u64,
    /// Data packets that could be marked.
    pub capable_packets: u64,
    /// Marks that the receiver reported, in packets (accurate) or acknowledgements (classic).
    pub reported: u64,
    /// Marked bytes that the receiver reported in the option (accurate).
    pub reported_bytes: u64,
    /// Data packets with CWR (classic).
    pub window_reductions: u64,
    /// Round trips in which marks were reported.
    pub rounds_with_marks: u64,
    /// Frames of the first reports.
    pub frames: [u64; 3],
}

/// What releases data.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Clocking {
    /// Share of bursts that follow an acknowledgement at once.
    pub ack_share: f64,
    /// Share that would do so by chance.
    pub chance_share: f64,
    /// Pauses between new data, longer than a twentieth of a round trip.
    pub pauses: u64,
    /// Share of these that end with an acknowledgement, on a clock that does not bend: whatever paces what follows, an
    /// acknowledgement let it go.
    pub pause_ack_share: f64,
    /// Share of the time that stands so closely behind an acknowledgement.
    pub pause_chance_share: f64,
    /// Share of the time in which new data leaves at one pace, train behind train, once the sender has found it; 0 where that cannot be
    /// told.
    #[serde(default)]
    pub even_pace_share: f64,
    /// Share of data packets with PSH.
    pub push_share: f64,
    /// Share of data packets smaller than a segment.
    pub short_share: f64,
    /// Share of bursts that end with a short segment.
    pub short_burst_share: f64,
    /// Share of bursts that begin with the first acknowledgement of a message of the peer's program: its answer, not
    /// TCP's, released them.
    pub answer_share: f64,
    /// Messages of the peer's program.
    pub answers: u64,
    /// Their bytes over those of the data.
    pub answer_bytes_share: f64,
}

/// One round trip of a flow, or a longer span.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Round {
    /// Start, seconds after the start of the capture.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
    /// Payload sent.
    pub sent: u64,
    /// Payload newly acknowledged or selectively acknowledged.
    pub delivered: u64,
    /// Payload lost of what was sent.
    pub lost: u64,
    /// Largest flight.
    pub flight: u64,
    /// Smallest RTT sample; NaN for none.
    pub rtt_s: f64,
    /// Seconds with a full window.
    pub full_s: f64,
    /// Seconds with a full window much smaller than before.
    pub shrunk_s: f64,
    /// Seconds with a closed window.
    pub closed_s: f64,
    /// Seconds with nothing in flight.
    pub idle_s: f64,
    /// Seconds of repair.
    pub recovery_s: f64,
    /// Marks reported.
    pub marks: u64,
    /// Payload of full-size segments sent again.
    pub resent: u64,
}
