//! Rewriting of marks: remarkers, bleachers, the type-of-service rewriting of routers.

use serde::{Deserialize, Serialize};
use slowpath_packet::{Dscp, Ecn};
use slowpath_units::Time;

use super::classify::Match;
use crate::context::{Context, Step};
use crate::outcome::Edit;
use crate::packet::Packet;

/// Rewrites the mark of each packet by the first rule that matches; others pass unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// The rules, in order.
    pub rules: Vec<RemarkRule>,
}

/// One rule of a remarker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemarkRule {
    /// What it matches.
    #[serde(default)]
    pub matches: Match,
    /// What it does.
    pub set: SetMark,
}

/// What a remarker writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetMark {
    /// Nothing: what matches is exempt from later rules.
    Keep,
    /// This code point; the ECN field stays.
    Dscp(Dscp),
    /// This ECN field; the code point stays. Clearing it is what some old middleboxes do.
    Ecn(Ecn),
    /// The four type-of-service bits of RFC 1349 (0 to 15) and, if given, the precedence.
    ///
    /// The lowest but one bit of the byte belongs to both TOS and ECN: with `spares_ecn` it stays as it is,
    /// without, writing TOS may turn ECT(0) into not-ECT or CE into ECT(1).
    Tos {
        /// The type of service.
        tos: u8,
        /// The precedence, 0 to 7; nothing leaves it.
        #[serde(default)]
        precedence: Option<u8>,
        /// Whether the ECN bit is left alone.
        #[serde(default)]
        spares_ecn: bool,
    },
}

impl Remark {
    /// Sets every code point to zero.
    pub fn bleach() -> Self {
        Self {
            rules: vec![RemarkRule {
                matches: Match::default(),
                set: SetMark::Dscp(Dscp::DEFAULT),
            }],
        }
    }
}

impl SetMark {
    /// What becomes of a mark.
    pub const fn apply(self, dscp: Dscp, ecn: Ecn) -> (Dscp, Ecn) {
        match self {
            Self::Keep => (dscp, ecn),
            Self::Dscp(new) => (new, ecn),
            Self::Ecn(new) => (dscp, new),
            Self::Tos {
                tos,
                precedence,
                spares_ecn,
            } => {
                let old = dscp.tos(ecn);
                let top = match precedence {
                    Some(precedence) => precedence << 5,
                    None => old & 0xe0,
                };
                let byte = top | (tos & 0xf) << 1 | old & 1;
                let ecn = if spares_ecn { ecn } else { Ecn::from_tos(byte) };
                (Dscp::from_tos(byte), ecn)
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct State {
    rules: Vec<RemarkRule>,
}

impl State {
    pub(crate) fn new(config: &Remark) -> Self {
        Self {
            rules: config.rules.clone(),
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        let key = context.shared.flows.key(packet.flow);
        let matching = key.and_then(|key| {
            self.rules
                .iter()
                .find(|rule| rule.matches.matches(key, packet.dscp, packet.ecn))
                .map(|rule| rule.set)
        });
        if let Some(set) = matching {
            write(at, packet, set.apply(packet.dscp, packet.ecn), context);
        }
        Step::Pass(0)
    }
}

/// Writes a mark and reports what changed.
pub(crate) fn write(at: Time, packet: &mut Packet, mark: (Dscp, Ecn), context: &mut Context<'_>) {
    if packet.dscp != mark.0 {
        packet.dscp = mark.0;
        context.edit(at, packet, Edit::Dscp(mark.0));
    }
    if packet.ecn != mark.1 {
        packet.ecn = mark.1;
        context.edit(at, packet, Edit::Ecn(mark.1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_of_service_follows_the_bits() {
        let tos = |tos, precedence, spares_ecn| SetMark::Tos {
            tos,
            precedence,
            spares_ecn,
        };
        for (set, before, after) in [
            // `normal` alone leaves cs1 as cs1; zeroing needs precedence 0.
            (
                tos(0, None, false),
                (Dscp::CS1, Ecn::NotEct),
                (Dscp::CS1, Ecn::NotEct),
            ),
            (
                tos(0, Some(0), false),
                (Dscp::CS1, Ecn::NotEct),
                (Dscp::DEFAULT, Ecn::NotEct),
            ),
            // DSCP D is precedence D >> 3 with TOS (D & 7) * 2: af21 = 18 is precedence 2 with TOS 4.
            (
                tos(4, Some(2), false),
                (Dscp::DEFAULT, Ecn::NotEct),
                (Dscp::AF21, Ecn::NotEct),
            ),
            // The overlap with ECN: ECT(0) is cleared and CE becomes ECT(1), unless spared.
            (
                tos(0, Some(0), false),
                (Dscp::CS1, Ecn::Ect0),
                (Dscp::DEFAULT, Ecn::NotEct),
            ),
            (
                tos(0, Some(0), false),
                (Dscp::CS1, Ecn::Ce),
                (Dscp::DEFAULT, Ecn::Ect1),
            ),
            (
                tos(0, Some(0), true),
                (Dscp::CS1, Ecn::Ce),
                (Dscp::DEFAULT, Ecn::Ce),
            ),
            (SetMark::Dscp(Dscp::EF), (Dscp::CS1, Ecn::Ce), (Dscp::EF, Ecn::Ce)),
            (
                SetMark::Ecn(Ecn::NotEct),
                (Dscp::CS1, Ecn::Ce),
                (Dscp::CS1, Ecn::NotEct),
            ),
            (SetMark::Keep, (Dscp::CS1, Ecn::Ce), (Dscp::CS1, Ecn::Ce)),
        ] {
            assert_eq!(set.apply(before.0, before.1), after, "{set:?} on {before:?}");
        }
    }
}
