//! Numbers that decide: cut-offs, each with the nearest values that were measured on its two sides.
//!
//! A rule compares only through these, so that whoever wants to know how near a decision was can watch. The values on both
//! sides were measured on simulated transfers, seen from three places, and on labelled captures; whose they are stands in
//! `docs/validation/cut-offs.md`, which is written together with them.

use std::cell::RefCell;

/// A number that decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The module and the name of the constant, for instance `slowpath_verdict::limits::policed::BUCKET`.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// The nearest value below it among transfers whose limit is known and was found; NaN where none came.
    pub below: f64,
    /// The nearest value at or above it, likewise.
    pub above: f64,
}

/// One comparison of a rule: a cut-off and the value that was held against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The cut-off.
    pub cut: Cut,
    /// The value; where a rule compares with a multiple of another figure, the quotient.
    pub value: f64,
}

/// Where comparisons are written down.
pub(crate) type Watch = RefCell<Vec<Compared>>;

/// No value was seen on this side.
pub(crate) const NONE: f64 = f64::NAN;

/// A figure that a cut-off judges.
pub(crate) trait Figure: Copy {
    /// The figure as a number.
    fn number(self) -> f64;
}

impl Figure for f64 {
    fn number(self) -> f64 {
        self
    }
}

impl Figure for u64 {
    fn number(self) -> f64 {
        self as f64
    }
}

impl Figure for u32 {
    fn number(self) -> f64 {
        f64::from(self)
    }
}

/// Declares cut-offs: `NAME: value between NEAREST_BELOW, NEAREST_ABOVE;`, the nearest values of transfers that are judged
/// rightly: simulated ones from three places (`slowpath/tests/transfers`) and labelled captures. [`NONE`] where none came.
macro_rules! cuts {
    ($($(#[$doc:meta])* $show:vis $name:ident: $value:literal between $below:expr, $above:expr;)+) => {
        $(
            $(#[$doc])*
            $show const $name: $crate::cut::Cut = $crate::cut::Cut {
                name: concat!(module_path!(), "::", stringify!($name)),
                value: $value,
                below: {
                    #[allow(unused_imports)]
                    use $crate::cut::NONE;
                    $below
                },
                above: {
                    #[allow(unused_imports)]
                    use $crate::cut::NONE;
                    $above
                },
            };
        )+

        /// The cut-offs of this file.
        pub(crate) const CUTS: &[$crate::cut::Cut] = &[$($name),+];
    };
}

pub(crate) use cuts;
