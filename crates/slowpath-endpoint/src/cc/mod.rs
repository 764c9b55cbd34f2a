//! Congestion control.
//!
//! The sender owns the [`Window`]; an algorithm changes it through the hooks of [`Algorithm`]. Windows
//! count segments, as in Linux. [`Controller`] dispatches to the built-in algorithms.
//!
//! Most are Linux's, integer by integer. `reno_rfc5681` and `cubic_rfc9438` are what their RFCs say, in real numbers:
//! what differs between the two kinds is Linux's arithmetic.

mod bbr;
mod bic;
mod cubic;
mod cubic_rfc9438;
mod hooks;
mod real;
mod reno;
mod reno_rfc5681;

use slowpath_units::BitRate;

pub(crate) use bbr::Bbr;
pub(crate) use bic::Bic;
pub(crate) use cubic::Cubic;
pub(crate) use cubic_rfc9438::CubicRfc9438;
pub use hooks::State;
pub(crate) use hooks::{Algorithm, INFINITE, LARGEST, RateSample, View, Window};
pub(crate) use reno::Reno;
pub(crate) use reno_rfc5681::RenoRfc5681;

use crate::tcp::CongestionControl;

/// The algorithm of one connection.
#[derive(Debug, Clone)]
pub(crate) enum Controller {
    Reno(Reno),
    Bic(Bic),
    Cubic(Cubic),
    Bbr(Box<Bbr>),
    RenoRfc5681(RenoRfc5681),
    CubicRfc9438(Box<CubicRfc9438>),
}

impl Controller {
    pub(crate) fn new(which: CongestionControl, seed: u64) -> Self {
        match which {
            CongestionControl::Reno => Self::Reno(Reno),
            CongestionControl::Bic => Self::Bic(Bic::new()),
            CongestionControl::Cubic => Self::Cubic(Cubic::new(true)),
            CongestionControl::CubicWithoutHystart => Self::Cubic(Cubic::new(false)),
            CongestionControl::Bbr => Self::Bbr(Box::new(Bbr::new(seed))),
            CongestionControl::RenoRfc5681 => Self::RenoRfc5681(RenoRfc5681::new()),
            CongestionControl::CubicRfc9438 => Self::CubicRfc9438(Box::new(CubicRfc9438::new())),
        }
    }

    /// BBR sets window and pacing rate itself at each acknowledgement, recovery or not.
    pub(crate) fn bbr(&mut self) -> Option<&mut Bbr> {
        match self {
            Self::Bbr(bbr) => Some(bbr),
            _ => None,
        }
    }

    /// The rate that the algorithm itself paces at, if it has one.
    pub(crate) fn pacing_rate(&self) -> Option<BitRate> {
        match self {
            Self::Bbr(bbr) => Some(bbr.pacing_rate()),
            _ => None,
        }
    }

    pub(crate) const fn is_bbr(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// The hooks of the algorithm.
    pub(crate) fn hooks(&mut self) -> &mut dyn Algorithm {
        match self {
            Self::Reno(a) => a,
            Self::Bic(a) => a,
            Self::Cubic(a) => a,
            Self::Bbr(a) => a.as_mut(),
            Self::RenoRfc5681(a) => a,
            Self::CubicRfc9438(a) => a.as_mut(),
        }
    }
}
