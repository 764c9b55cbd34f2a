//! Round trips, one echo request at a time or many on their way.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use slowpath_packet::mark::Dscp;
use slowpath_units::{Duration, Time};

use super::echo::{Access, Echo, Fragments, ProbeError};
use super::icmp::IcmpError;
use crate::content::Content;
use crate::context::Context;

/// Which echo requests to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PingConfig {
    /// Where to.
    pub target: IpAddr,
    /// How many; sequence numbers wrap after 65,536.
    pub count: u32,
    /// Time from one to the next, whether or not answers have come.
    pub interval: Duration,
    /// Payload bytes; the IP packet is 28 bytes longer over IPv4 and 48 over IPv6.
    pub size: usize,
    /// Whether routers may not fragment.
    pub dont_fragment: bool,
    /// Mark of the requests; most systems answer with the same one.
    pub dscp: Dscp,
    /// How long to wait for answers after the last request.
    pub wait: Duration,
}

impl PingConfig {
    /// Ten requests of the usual size, ten a second.
    pub fn new(target: IpAddr) -> Self {
        Self {
            target,
            count: 10,
            interval: Duration::from_millis(100),
            size: 56,
            dont_fragment: false,
            dscp: Dscp::DEFAULT,
            wait: Duration::from_secs(2),
        }
    }
}

/// One answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingReply {
    /// Number of the request, from 0, modulo 65,536.
    pub sequence: u16,
    /// When the request was sent.
    pub sent_at: Time,
    /// From just before the send call to the kernel's receive stamp.
    pub rtt: Duration,
    /// TTL of the answer on arrival.
    pub ttl: Option<u8>,
    /// Type-of-service byte of the answer on arrival.
    pub tos: Option<u8>,
}

/// All answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingReport {
    /// Where to.
    pub target: IpAddr,
    /// Requests that left this host.
    pub sent: u32,
    /// Answers in the order of arrival, each request once.
    pub replies: Vec<PingReply>,
    /// Answers to requests that had been answered already.
    pub duplicates: u32,
    /// Errors, with the number of the request.
    pub errors: Vec<(u16, IcmpError)>,
    /// Requests that the own kernel refused, because of their size for example.
    pub refused: u32,
    /// Kind of socket.
    pub access: Access,
}

impl PingReport {
    /// Share of the requests without answer.
    pub fn loss_fraction(&self) -> f64 {
        if self.sent == 0 {
            0.0
        } else {
            1.0 - self.replies.len() as f64 / f64::from(self.sent)
        }
    }

    /// The smallest round trip.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.replies.iter().map(|reply| reply.rtt).min()
    }

    /// The mean round trip.
    pub fn mean_rtt(&self) -> Option<Duration> {
        let sum: u64 = self.replies.iter().map(|reply| reply.rtt.nanos()).sum();
        (!self.replies.is_empty()).then(|| Duration::from_nanos(sum / self.replies.len() as u64))
    }

    /// The round trip that the given share of the answers did not exceed.
    pub fn rtt_quantile(&self, share: f64) -> Option<Duration> {
        let mut all: Vec<Duration> = self.replies.iter().map(|reply| reply.rtt).collect();
        all.sort_unstable();
        let last = all.len().checked_sub(1)?;
        // The share is clamped, so the product is within the list.
        #[allow(clippy::cast_sign_loss)]
        let index = (last as f64 * share.clamp(0.0, 1.0)).round() as usize;
        all.get(index).copied()
    }
}

/// Sends echo requests and collects what comes back.
///
/// # Errors
/// No permission, no access to ICMP sockets, or the context's end.
pub fn ping(config: &PingConfig, context: &Context) -> Result<PingReport, ProbeError> {
    // Ten ordinary requests a second are no load; more needs permission as any load does.
    let bits = (config.size as f64 + 28.0) * 8.0 / config.interval.seconds().max(1e-9);
    if bits > HARMLESS {
        context.admit(config.target)?;
    }
    let fragments = if config.dont_fragment {
        Fragments::Forbidden
    } else {
        Fragments::Allowed
    };
    let mut echo = Echo::open(config.target, config.dscp, fragments)?;
    let mut report = PingReport {
        target: config.target,
        sent: 0,
        replies: Vec::new(),
        duplicates: 0,
        errors: Vec::new(),
        refused: 0,
        access: echo.access,
    };
    let interval = if echo.is_rationed() {
        config.interval.max(RATION)
    } else {
        config.interval
    };
    let mut payload = vec![0_u8; config.size];
    Content::new(u64::from(std::process::id())).fill(0, &mut payload);
    let mut waiting: BTreeMap<u16, (u64, Time)> = BTreeMap::new();
    let mut due = Instant::now();
    for number in 0..config.count {
        let sequence = number as u16;
        while Instant::now() < due {
            let left = due.saturating_duration_since(Instant::now());
            collect(&mut echo, left.into(), context, &mut waiting, &mut report)?;
        }
        due += interval.to_std();
        context.spend(config.size as u64)?;
        let at = context.now();
        match echo.send(sequence, &payload) {
            Ok(stamp) => {
                report.sent += 1;
                waiting.insert(sequence, (stamp, at));
            }
            Err(_) => report.refused += 1,
        }
    }
    let end = context.now() + config.wait;
    while !waiting.is_empty() && context.now() < end {
        collect(
            &mut echo,
            end.since(context.now()),
            context,
            &mut waiting,
            &mut report,
        )?;
    }
    Ok(report)
}

fn collect(
    echo: &mut Echo,
    within: Duration,
    context: &Context,
    waiting: &mut BTreeMap<u16, (u64, Time)>,
    report: &mut PingReport,
) -> Result<(), ProbeError> {
    let Some(arrival) = echo.receive(within, context)? else {
        return Ok(());
    };
    match (arrival.what, waiting.remove(&arrival.sequence)) {
        (Ok(_), Some((sent, sent_at))) => report.replies.push(PingReply {
            sequence: arrival.sequence,
            sent_at,
            rtt: Duration::from_nanos(arrival.at_real_time.saturating_sub(sent)),
            ttl: arrival.ttl,
            tos: arrival.tos,
        }),
        (Ok(_), None) => report.duplicates += 1,
        (Err(error), _) => report.errors.push((arrival.sequence, error)),
    }
    Ok(())
}

/// Time between requests to a host that answers about one a second.
pub(super) const RATION: Duration = Duration::from_millis(1_050);
/// Rate in bit/s up to which a ping is no load.
const HARMLESS: f64 = 200_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_answers_with_the_same_mark() {
        for target in ["127.0.0.1", "::1"] {
            let mut config = PingConfig::new(target.parse().unwrap());
            (config.count, config.interval) = (5, Duration::from_millis(10));
            config.dscp = Dscp::CS1;
            config.size = 1000;
            let report = match ping(&config, &Context::new().with_timeout(Duration::from_secs(10))) {
                Ok(report) => report,
                Err(error) => {
                    eprintln!("skipped: loopback_answers_with_the_same_mark/{target}: {error}");
                    continue;
                }
            };
            assert_eq!(
                (report.sent, report.replies.len(), report.duplicates),
                (5, 5, 0),
                "{report:?}"
            );
            assert!(report.errors.is_empty());
            assert!(
                report.replies.iter().all(|reply| reply.tos == Some(0x20)),
                "{report:?}"
            );
            assert!(report.min_rtt() <= report.mean_rtt() && report.mean_rtt() <= report.rtt_quantile(1.0));
            assert!(report.loss_fraction().abs() < 1e-9);
        }
    }

    #[test]
    fn a_fast_ping_elsewhere_is_load() {
        let mut config = PingConfig::new("192.0.2.1".parse().unwrap());
        config.size = 65_507;
        assert!(matches!(
            ping(&config, &Context::new()),
            Err(ProbeError::Refused(_))
        ));
    }
}
