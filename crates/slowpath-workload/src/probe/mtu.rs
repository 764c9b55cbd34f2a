//! The largest packet that gets through.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use slowpath_packet::mark::Dscp;
use slowpath_units::Duration;

use super::echo::{Access, Echo, Fragments, ProbeError};
use super::ping::RATION;
use crate::context::Context;

/// How to look for the path MTU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MtuConfig {
    /// Where to; the target must answer echo requests.
    pub target: IpAddr,
    /// Smallest IP packet to try, in bytes.
    pub from: u32,
    /// Largest IP packet to try, in bytes.
    pub to: u32,
    /// How long to wait for an answer.
    pub wait: Duration,
    /// Requests without answer before a size counts as lost.
    pub tries: u32,
}

impl MtuConfig {
    /// From the smallest MTU that IPv6 allows to Ethernet's.
    pub fn new(target: IpAddr) -> Self {
        Self {
            target,
            from: 576,
            to: 1500,
            wait: Duration::from_millis(1000),
            tries: 3,
        }
    }
}

/// The path MTU, and how it shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuReport {
    /// The largest IP packet that was answered; nothing if the smallest was not.
    pub path_mtu: Option<u32>,
    /// MTU that routers or the own kernel announced, with the router; each once.
    pub announced: Vec<(Option<IpAddr>, u32)>,
    /// Whether larger packets vanished without any router saying so: TCP then stalls on full segments.
    pub black_hole: bool,
    /// Requests sent.
    pub probes: u32,
    /// Kind of socket.
    pub access: Access,
}

/// Searches the largest IP packet with DF that the target answers.
///
/// # Errors
/// No access to ICMP sockets, or the context's end.
pub fn path_mtu(config: &MtuConfig, context: &Context) -> Result<MtuReport, ProbeError> {
    let mut search = Search {
        echo: Echo::open(config.target, Dscp::DEFAULT, Fragments::Forbidden)?,
        config,
        context,
        announced: Vec::new(),
        silent: false,
        probes: 0,
    };
    let (mut good, mut bad) = (None, config.to.max(config.from) + 1);
    let mut next = config.to.max(config.from);
    loop {
        if search.passes(next)? {
            good = Some(next);
        } else {
            bad = next;
        }
        match good {
            None if next == config.from => break,
            None => next = config.from,
            Some(good) if bad - good <= 1 => break,
            // What a router announced is the best guess; otherwise halve.
            Some(good) => {
                let told = search
                    .announced
                    .last()
                    .map(|(_, mtu)| *mtu)
                    .filter(|mtu| (good + 1..bad).contains(mtu));
                next = told.unwrap_or(u32::midpoint(good, bad));
            }
        }
    }
    Ok(MtuReport {
        path_mtu: good,
        black_hole: search.silent && search.announced.is_empty() && good.is_some(),
        announced: search.announced,
        probes: search.probes,
        access: search.echo.access,
    })
}

struct Search<'a> {
    echo: Echo,
    config: &'a MtuConfig,
    context: &'a Context,
    announced: Vec<(Option<IpAddr>, u32)>,
    silent: bool,
    probes: u32,
}

impl Search<'_> {
    fn passes(&mut self, size: u32) -> Result<bool, ProbeError> {
        let header = if self.config.target.is_ipv6() { 48 } else { 28 };
        let payload = vec![0x5a_u8; size.saturating_sub(header) as usize];
        for _ in 0..self.config.tries.max(1) {
            if self.probes > 0 && self.echo.is_rationed() {
                // What comes now is late and belongs to no question any more.
                let end = self.context.now() + RATION;
                while self
                    .echo
                    .receive(end.since(self.context.now()), self.context)?
                    .is_some()
                {}
            }
            self.probes += 1;
            let sequence = self.probes as u16;
            if self.echo.send(sequence, &payload).is_err() {
                // Larger than the own interface's MTU: the kernel tells by the error queue or by the call.
                while let Some(arrival) = self.echo.receive(Duration::ZERO, self.context)? {
                    if let Err(error) = arrival.what {
                        self.note(error.from, error.mtu);
                    }
                }
                return Ok(false);
            }
            let end = self.context.now() + self.config.wait;
            while let Some(arrival) = self.echo.receive(end.since(self.context.now()), self.context)? {
                match arrival.what {
                    Ok(_) if arrival.sequence == sequence => return Ok(true),
                    Err(error) if error.mtu.is_some() => {
                        self.note(error.from, error.mtu);
                        return Ok(false);
                    }
                    _ => {}
                }
            }
        }
        self.silent = true;
        Ok(false)
    }

    fn note(&mut self, from: Option<IpAddr>, mtu: Option<u32>) {
        if let Some(mtu) = mtu
            && !self.announced.contains(&(from, mtu))
        {
            self.announced.push((from, mtu));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_carries_what_was_asked() {
        let config = MtuConfig {
            to: 9000,
            ..MtuConfig::new("127.0.0.1".parse().unwrap())
        };
        match path_mtu(&config, &Context::new().with_timeout(Duration::from_secs(10))) {
            Ok(report) => {
                assert_eq!(
                    (report.path_mtu, report.black_hole, report.probes),
                    (Some(9000), false, 1)
                );
            }
            Err(error) => eprintln!("skipped: loopback_carries_what_was_asked: {error}"),
        }
    }
}
