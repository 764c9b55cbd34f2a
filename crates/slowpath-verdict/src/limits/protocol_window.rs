//! A protocol allows a fixed amount until it is answered: an SSH channel, requests of SFTP, parts of S3.

use slowpath_facts::words::{bytes, percent};

use super::send_buffer::fixed_amount;
use crate::case::{Case, WINDOW_SHARE};
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};

/// Share of bursts that a message of the peer's program releases.
const ANSWERED: f64 = 0.25;

/// Looks for messages of the other end's program, not its TCP, that release data.
pub(super) fn answered(case: &Case) -> Result<Finding, No> {
    let (facts, clocking) = (case.facts, &case.facts.clocking);
    let idle = case.share(facts.time.idle_s);
    let steady = facts.loss.episodes <= 1 && !case.inflated() && case.held() < WINDOW_SHARE;
    let messages = clocking.answers >= 20 && clocking.answer_bytes_share < 0.2;
    require(
        steady && messages && clocking.answer_share >= ANSWERED && facts.flight.rounds >= 8,
        Reason::FlightNotConstant,
        || {
            format!(
                "{} of bursts begin with one of {} messages of the other program",
                percent(clocking.answer_share),
                clocking.answers
            )
        },
    )?;
    let mut out = Finding::new(
        Limit::ProtocolWindow,
        1.0 - idle,
        0.6 + 0.35 * clocking.answer_share,
        format!(
            "The protocol allows {} until it is answered: {} of the bursts begin with the first acknowledgement of one of {} messages of the receiving program, without loss or queue, and with the TCP window open.",
            bytes(facts.flight.median_peak as f64),
            percent(clocking.answer_share),
            clocking.answers
        ),
    );
    out.parameters.flight_bytes = Some(facts.flight.median_peak);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// Looks for a fixed amount on a port of SSH, which is the protocol's.
pub(super) fn channel(case: &Case) -> Result<Finding, No> {
    let out = fixed_amount(case, Limit::ProtocolWindow)?;
    require(case.around.ssh, Reason::SmallerShare, || {
        "a constant flight has another cause here".to_owned()
    })?;
    Ok(out)
}

pub(super) use super::send_buffer::evidence;
