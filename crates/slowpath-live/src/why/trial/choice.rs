//! What is worth trying where nothing is named: what could lift the limit that the watch sees, and can be taken back.

use std::io;

use slowpath_packet::mark::Dscp;
use slowpath_sys::{message, shared_socket, sockopt};
use slowpath_units::ByteCount;
use slowpath_verdict::Limit;
use slowpath_words::english;

use super::change::Change;
use crate::why::facts::Facts;

/// What a socket has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// Its congestion control.
    pub congestion_control: String,
    /// Its mark.
    pub mark: Dscp,
    /// Whether the program bounds its rate.
    pub paced: bool,
}

/// Changes worth trying, the most telling first.
///
/// `permitted` says whether this user may choose a congestion control, `growing` whether the kernel lets a buffer that was
/// fixed grow again.
pub fn worth_trying(
    limit: Limit,
    facts: &Facts,
    now: &Present,
    permitted: &dyn Fn(&str) -> bool,
    growing: bool,
) -> Vec<Change> {
    let mut out = Vec::new();
    let goodput = facts.bytes as f64 / facts.seconds.max(1e-9);
    let wanted = (goodput * facts.mean_rtt_s * BUFFER_TIMES).clamp(LEAST_BUFFER, MOST_BUFFER);
    let wanted = ByteCount::new((wanted as u64).next_multiple_of(1 << 16));
    if facts.receiving {
        if limit == Limit::ReceiverWindow && growing {
            out.push(Change::ReceiveBuffer(wanted));
        }
        return out;
    }
    if now.paced {
        out.push(Change::PacingRate(None));
    }
    if limit == Limit::SendBuffer && growing {
        out.push(Change::SendBuffer(wanted));
    }
    // The programs or the receiver hold these, whatever the window does.
    let of_the_path = !matches!(
        limit,
        Limit::SenderApplication
            | Limit::HostCpu
            | Limit::ProtocolWindow
            | Limit::ReceiverApplication
            | Limit::ReceiverWindow
            | Limit::SendBuffer
            | Limit::MtuBlackHole
    );
    let other = if now.congestion_control == "bbr" {
        "cubic"
    } else {
        "bbr"
    };
    if of_the_path && !now.paced && permitted(other) {
        out.push(Change::CongestionControl(other.to_owned()));
    }
    if of_the_path && now.mark != Dscp::DEFAULT {
        out.push(Change::Mark(Dscp::DEFAULT));
    }
    out
}

/// Whether this user may choose a congestion control: a fresh socket is asked.
///
/// # Errors
/// What the kernel says: there is none of that name, or it is not for this user.
pub fn may_choose(name: &str) -> std::io::Result<()> {
    sockopt::set_congestion_control(message::tcp_socket(false)?, name)
}

/// Why this user cannot choose a congestion control, a clause.
pub(in crate::why) fn not_permitted(name: &str, error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::PermissionDenied {
        english!("why-trial-not-allowed", name = name)
    } else if error.kind() == io::ErrorKind::NotFound {
        english!("why-trial-no-control", name = name)
    } else {
        english!("why-trial-refused-name", name = name, error = error)
    }
}

/// Why a change cannot be made by this user on any connection, a clause; known before there is one.
pub fn refusal(change: &Change) -> Option<String> {
    match change {
        Change::CongestionControl(name) => may_choose(name).err().map(|error| not_permitted(name, &error)),
        _ => None,
    }
}

/// Whether the kernel can let a buffer that was fixed grow again (Linux 5.14).
pub fn buffers_grow_again() -> bool {
    message::tcp_socket(false).is_ok_and(|socket| shared_socket::fixed_buffers(&socket).is_ok())
}

/// A buffer that no longer holds a transfer: so many times what it had on its way.
const BUFFER_TIMES: f64 = 8.0;
/// Smallest buffer worth asking for, bytes,
const LEAST_BUFFER: f64 = 1_048_576.0;
/// and the largest.
const MOST_BUFFER: f64 = 67_108_864.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::facts::facts;
    use crate::why::sample::ConnectionSample;
    use crate::why::track::Track;

    fn tried(limit: Limit, now: &Present, permitted: bool) -> Vec<String> {
        let facts = facts(&Track::new(ConnectionSample::default()));
        worth_trying(limit, &facts, now, &|_| permitted, true)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn what_is_tried_fits_the_limit() {
        let plain = Present {
            congestion_control: "cubic".to_owned(),
            mark: Dscp::DEFAULT,
            paced: false,
        };
        assert_eq!(tried(Limit::RandomLoss, &plain, true), ["congestion-control=bbr"]);
        assert!(tried(Limit::RandomLoss, &plain, false).is_empty());
        assert!(tried(Limit::SenderApplication, &plain, true).is_empty());
        assert_eq!(tried(Limit::SendBuffer, &plain, true), ["send-buffer=1 MiB"]);
        let marked = Present {
            congestion_control: "bbr".to_owned(),
            mark: Dscp::CS1,
            paced: false,
        };
        assert_eq!(tried(Limit::Policed, &marked, true).len(), 2);
        let paced = Present { paced: true, ..plain };
        assert_eq!(tried(Limit::SenderApplication, &paced, true), ["pacing-rate=off"]);
    }
}
