//! Cut-offs, each between what the two sides of it show in labelled captures; see the crate's `tests/corpus.rs` for
//! how far the margin is and how it was checked.

/// Fewest payload bytes, in segments, for a verdict about a limit.
pub(crate) const SEGMENTS: u64 = 30;
/// Share of the time that the window must hold the sender.
pub(crate) const WINDOW_SHARE: f64 = 0.5;
/// Share of the time with a closed window that is a limit whatever held the rest.
pub(crate) const CLOSED_SHARE: f64 = 0.25;
/// Share of the time with a full window far below its largest that is a limit whatever held the rest.
pub(crate) const SHRUNK_SHARE: f64 = 0.3;
/// Mean window while it holds, relative to its largest, below which the reader is slow.
pub(crate) const WINDOW_RATIO: f64 = 0.8;
/// Share of the time with nothing in flight that makes the program the limit.
pub(crate) const IDLE_SHARE: f64 = 0.6;
/// The same when nothing else explains the rest.
pub(crate) const IDLE_SHARE_ALONE: f64 = 0.3;
/// Error of the virtual-queue fit up to which losses follow the flow's own load.
pub(crate) const FIT_ERROR: f64 = 0.35;
/// Spread of the backlog at losses up to which there is one size.
pub(crate) const FIT_SPREAD: f64 = 0.6;
/// Spread that tells by itself, with [`SHARP_ERROR`].
pub(crate) const SHARP_SPREAD: f64 = 0.08;
/// Error up to which a small spread tells by itself.
pub(crate) const SHARP_ERROR: f64 = 0.6;
/// Delay step up to which there is no queue.
pub(crate) const NO_QUEUE: f64 = 0.2;
/// Delay step from which there is one.
pub(crate) const QUEUE: f64 = 0.4;
/// Smallest bucket: one that cannot hold three frames lets no transfer pass.
pub(crate) const BUCKET: f64 = 4_500.0;
/// Losses for a fit.
pub(crate) const FIT_LOSSES: u64 = 10;
/// Share of the delay's variance that a queue must explain.
pub(crate) const EXPLAINED: f64 = 0.7;
/// Rate over the queue's rate from which the flow fills it.
pub(crate) const UTILISATION: f64 = 0.5;
/// Share of round trips at the largest flight that makes it a ceiling.
pub(crate) const CEILING: f64 = 0.4;
/// Share of the delay's variance up to which the flow's own load does not explain it.
pub(crate) const OWN_QUEUE: f64 = 0.35;
/// Rank of the delay before losses from which a full queue drops.
pub(crate) const FULL_RANK: f64 = 0.8;
/// Share of the time at the link's rate below which others use the link too.
pub(crate) const WHOLE_LINK: f64 = 0.78;
/// Share of bursts that a message of the peer's program releases.
pub(crate) const ANSWERED: f64 = 0.25;
/// Share of round trips on the plateau of the flight.
pub(crate) const PLATEAU: f64 = 0.75;
/// Share of round trips on the plateau that leaves no doubt that the flight is constant.
pub(crate) const CONSTANT: f64 = 0.9;
/// Pauses that tell what ends them.
pub(crate) const PAUSES: u64 = 20;
/// Share of the pauses that end with an acknowledgement, of those that would not by chance, from which acknowledgements
/// end them; below half of that they do not.
pub(crate) const CLOCKED: f64 = 0.5;
/// Share of the episodes of losses that must begin at the full backlog where the load explains them.
pub(crate) const FULL_EPISODES: f64 = 0.5;
/// Error of the virtual-queue fit from which losses come at any backlog.
pub(crate) const ANY_BACKLOG: f64 = 0.5;
/// Use of a link from which the overflows of its own short queue make it the limit.
pub(crate) const SHORT_QUEUE: f64 = 0.25;
/// Use of a link below which losses that come at any backlog, not the link, are the limit.
pub(crate) const LOSSY_LINK: f64 = 0.75;
/// How many times the rate that congestion control makes of losses a sender may reach that they hold.
pub(crate) const HOLDS: f64 = 3.0;
/// Share of late segments from which the spacing of packets says nothing of a link.
pub(crate) const DISORDER: f64 = 0.05;
/// Half of the round trips come as close to the highest rate behind one link.
pub(crate) const ONE_RATE: f64 = 0.85;
/// The rate of a sender that losses do not slow stays within this share of its highest.
pub(crate) const UNSLOWED: f64 = 0.8;
/// Share of lost segments with which congestion control that heeds losses keeps no more than a handful in flight.
pub(crate) const HEAVY_LOSS: f64 = 0.05;
/// Variation of the delay, seconds, that no empty path makes.
pub(crate) const WAVERS: f64 = 0.003;
/// Segments that are no queue.
pub(crate) const HANDFUL: f64 = 5.0;
