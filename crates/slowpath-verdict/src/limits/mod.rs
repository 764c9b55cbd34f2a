//! What can limit a transfer: one limit, one file, each in the same order.
//!
//! What the limit means; its cut-offs; its looks, each of which gives a [`Finding`](crate::finding::Finding) or the reason
//! why not, and decides nothing that stands elsewhere; its evidence; how sure it is. Codes and colours stand in
//! [`limit`](crate::limit), sentences in [`catalogue`](crate::catalogue). A limit that can show in several ways has several
//! looks.
//!
//! | limit | file |
//! |---|---|
//! | a window of the receiver | `receiver_window`, `receiver_application`; both lean on `window` |
//! | the sender and its program | `sender_application`, `send_buffer`, `protocol_window`; all lean on `constant` |
//! | a link, shaper or policer | `bottleneck_bandwidth` and `shared_bottleneck`, which lean on `full_link`, `varying` and `own_backlog`; `policed`, `ecn_congestion` |
//! | what the path does whatever the load | `random_loss`, which leans on `losses`; `reordering`, `mtu_black_hole` |
//! | too little to see | `slow_start`, `capture_loss`, `unknown` |

pub(crate) mod bottleneck_bandwidth;
pub(crate) mod capture_loss;
pub(crate) mod constant;
pub(crate) mod ecn_congestion;
pub(crate) mod full_link;
mod losses;
pub(crate) mod mtu_black_hole;
mod own_backlog;
pub(crate) mod policed;
pub(crate) mod protocol_window;
pub(crate) mod random_loss;
pub(crate) mod receiver_application;
pub(crate) mod receiver_window;
pub(crate) mod reordering;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod seen;
pub(crate) mod send_buffer;
pub(crate) mod sender_application;
pub(crate) mod shared_bottleneck;
pub(crate) mod slow_start;
pub(crate) mod unknown;
pub(crate) mod varying;
pub(crate) mod window;

use crate::cut::Cut;
use crate::look::Look;

/// All looks. What counts of several findings is the one on the firmest ground
/// ([`Certainty`](crate::look::Certainty)); on the same ground it is the first of this list.
pub(crate) const ORDER: &[Look] = &[
    unknown::UNUSABLE,
    mtu_black_hole::LOOK,
    unknown::TOO_SHORT,
    receiver_application::LOOK,
    receiver_window::LOOK,
    sender_application::IDLE,
    sender_application::SCHEDULED,
    policed::LOOK,
    ecn_congestion::LOOK,
    reordering::LOOK,
    shared_bottleneck::CROWDED,
    shared_bottleneck::LOOK,
    bottleneck_bandwidth::VARYING,
    bottleneck_bandwidth::LOOK,
    capture_loss::LOOK,
    unknown::QUEUE_OR_BUCKET,
    unknown::CROWDED_AFAR,
    unknown::FEW_BURSTS,
    bottleneck_bandwidth::DESPITE_LOSSES,
    random_loss::LOOK,
    protocol_window::LOOK,
    sender_application::IDLE_ALONE,
    sender_application::EVEN,
    protocol_window::CHANNEL,
    send_buffer::LOOK,
    sender_application::OWN_RHYTHM,
    unknown::HELD_BY_SENDER,
    slow_start::LOOK,
    slow_start::GREW_ALL_THE_TIME,
];

/// Cut-offs of several limits.
pub(crate) const SHARED: &[&[Cut]] = &[
    crate::case::CUTS,
    window::CUTS,
    constant::CUTS,
    full_link::CUTS,
    losses::CUTS,
    varying::CUTS,
    seen::CUTS,
];
