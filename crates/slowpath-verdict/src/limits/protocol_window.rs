//! A protocol allows a fixed amount until it is answered: an SSH channel, requests of SFTP, parts of S3.

use super::send_buffer::{evidence, fixed_amount};
use crate::case::{Case, WINDOW_SHARE};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, Share, Size};

cuts! {
    /// Share of bursts that a message of the peer's program releases.
    ANSWERED: 0.25 between NONE, 0.695;
    /// Messages from which they can be called answers.
    ANSWERS: 20.0 between 0.0, 100.0;
    /// Their bytes over those of the data, below which they are answers and no data.
    pub(crate) ANSWER_BYTES: 0.2 between 0.012_1, NONE;
    /// Episodes of losses up to which losses are not in the way.
    EPISODES: 1.0 between 0.0, NONE;
    /// Round trips with data from which a rhythm shows.
    ROUNDS: 8.0 between NONE, 101.0;
}

/// Answers of the other end's program release data.
pub(crate) const LOOK: Look = Look {
    limit: Limit::ProtocolWindow,
    plainest: true,
    certainty: Certainty::Left,
    at: answered,
    evidence,
    cuts: CUTS,
};

/// A fixed amount on a port of SSH.
pub(crate) const CHANNEL: Look = LOOK.other(Certainty::Left, channel);

/// Looks for messages of the other end's program, not its TCP, that release data.
fn answered(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let (facts, clocking) = (case.facts, &case.facts.clocking);
    let idle = case.share(facts.time.idle_s);
    let steady = case.within(EPISODES, facts.loss.episodes)
        && !case.inflated()
        && case.below(WINDOW_SHARE, case.held());
    let messages =
        case.reaches(ANSWERS, clocking.answers) && case.below(ANSWER_BYTES, clocking.answer_bytes_share);
    require(
        steady
            && messages
            && case.reaches(ANSWERED, clocking.answer_share)
            && case.reaches(ROUNDS, facts.flight.rounds),
        Reason::FlightNotConstant,
        || {
            if clocking.answers == 0 {
                Message::NothingAnswered {}
            } else {
                Message::HardlyAnswered {
                    share: Share(clocking.answer_share),
                    answers: Count(clocking.answers),
                }
            }
        },
    )?;
    let mut out = Finding::new(
        Limit::ProtocolWindow,
        1.0 - idle,
        DOUBTFUL + RISES * clocking.answer_share,
        Message::ProtocolWaits {
            flight: Size(facts.flight.median_peak as f64),
            share: Share(clocking.answer_share),
            answers: Count(clocking.answers),
        },
    );
    out.parameters.flight_bytes = Some(facts.flight.median_peak);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// Looks for a fixed amount on a port of SSH, which is the protocol's.
fn channel(case: &Case) -> Result<Finding, No> {
    let out = fixed_amount(case, Limit::ProtocolWindow)?;
    require(case.around.ssh, Reason::SmallerShare, || Message::OtherCause {})?;
    Ok(out)
}

/// Confidence where hardly a burst is answered; chosen.
const DOUBTFUL: f64 = 0.6;
/// How much it rises to where each is.
const RISES: f64 = 0.35;
