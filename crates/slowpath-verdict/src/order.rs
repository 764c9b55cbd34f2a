//! Which of several findings counts: the first of this list.
//!
//! The order is that of certainty: what the window field says outright comes before what is inferred from losses, and that
//! before what is inferred from their absence.

use crate::limits::Look;

/// Looks in the order in which their findings count.
pub(crate) const ORDER: [Look; 25] = [
    Look::Unusable,
    Look::BlackHole,
    Look::TooShort,
    Look::SlowReader,
    Look::FullWindow,
    Look::Idle,
    Look::Policed,
    Look::Marked,
    Look::Reordered,
    Look::Crowded,
    Look::SharedLink,
    Look::OwnLink,
    Look::CaptureLoss,
    Look::QueueOrBucket,
    Look::CrowdedAfar,
    Look::FewBursts,
    Look::DespiteLosses,
    Look::RandomLoss,
    Look::Answered,
    Look::IdleAlone,
    Look::Channel,
    Look::SendBuffer,
    Look::OwnRhythm,
    Look::HeldBySender,
    Look::SlowStart,
];
