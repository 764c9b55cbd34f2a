//! What every workload needs besides its settings: a clock, an end, and a permission.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use slowpath_units::{Duration, Time};

use crate::guard::{Network, Permission, Refused};

/// Tells running workloads to stop. Clones share one flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that nobody has raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks every workload that holds a clone to stop; takes effect within [`Context::SLICE`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a workload stopped before its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Somebody raised the [`Cancel`] flag.
    #[error("cancelled")]
    Cancelled,
    /// The [`Context::deadline`] passed.
    #[error("the deadline passed")]
    Deadline,
    /// The byte cap of the [`Permission`] is used up.
    #[error("the cap of {bytes} bytes for load on addresses that are not local is used up")]
    Cap {
        /// The cap.
        bytes: u64,
    },
}

/// The circumstances of a run: run clock, deadline, cancel flag and permission for load.
///
/// Clones share clock, flag, permission and the count of bytes spent. All stamps of results are taken from
/// [`Context::now`], so records of several workloads of one run share one time line.
#[derive(Debug, Clone)]
pub struct Context {
    epoch: Instant,
    deadline: Option<Instant>,
    cancel: Cancel,
    permission: Permission,
    clients: Arc<[Network]>,
    spent: Arc<AtomicU64>,
}

impl Context {
    /// The longest time for which a workload does not look at its cancel flag.
    pub const SLICE: std::time::Duration = std::time::Duration::from_millis(100);

    /// A context whose run starts now, without deadline, with load on loopback addresses only.
    pub fn new() -> Self {
        Self::starting(Instant::now())
    }

    /// As [`Context::new`], with [`Time::ZERO`] at `epoch`: the run's start as others see it.
    pub fn starting(epoch: Instant) -> Self {
        Self {
            epoch,
            deadline: None,
            cancel: Cancel::new(),
            permission: Permission::default(),
            clients: Arc::default(),
            spent: Arc::default(),
        }
    }

    /// The same context, which ends `span` from now.
    #[must_use]
    pub fn with_timeout(mut self, span: Duration) -> Self {
        self.deadline = Instant::now().checked_add(span.to_std());
        self
    }

    /// The same context, which ends `span` from now, or when it would have ended if that is earlier.
    #[must_use]
    pub fn within(self, span: Duration) -> Self {
        let at = Instant::now() + span.to_std();
        let at = self.deadline.map_or(at, |deadline| deadline.min(at));
        self.with_deadline(at)
    }

    /// The same context, which ends at `at`.
    #[must_use]
    pub fn with_deadline(mut self, at: Instant) -> Self {
        self.deadline = Some(at);
        self
    }

    /// The same context, stopped by `cancel`.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// The same context with another permission for load.
    #[must_use]
    pub fn with_permission(mut self, permission: Permission) -> Self {
        self.permission = permission;
        self
    }

    /// The same context, in which servers serve clients of these networks only; everybody if there are none.
    #[must_use]
    pub fn with_clients(mut self, clients: Vec<Network>) -> Self {
        self.clients = clients.into();
        self
    }

    /// A context for tidying up after this one has ended: the same permission, but a cancel flag of its own that nobody
    /// has raised, `span` of time, and a count of its own towards the cap.
    #[must_use]
    pub fn afterwards(&self, span: Duration) -> Self {
        let after = Self {
            cancel: Cancel::new(),
            spent: Arc::default(),
            ..self.clone()
        };
        after.with_timeout(span)
    }

    /// Time since the start of the run.
    pub fn now(&self) -> Time {
        self.at(Instant::now())
    }

    /// The run's time at `instant`; [`Time::ZERO`] for instants before the run.
    pub fn at(&self, instant: Instant) -> Time {
        let nanos = instant.saturating_duration_since(self.epoch).as_nanos();
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// When the context ends.
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The flag that stops the workload.
    pub const fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// What load is allowed.
    pub const fn permission(&self) -> &Permission {
        &self.permission
    }

    /// Whether the workload may go on.
    ///
    /// # Errors
    /// The reason to stop: cancel flag or deadline.
    pub fn check(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        match self.deadline {
            Some(at) if Instant::now() >= at => Err(Stop::Deadline),
            _ => Ok(()),
        }
    }

    /// How long one blocking call may take so that flag and deadline are honoured; at least a millisecond.
    pub fn slice(&self) -> std::time::Duration {
        let left = self
            .deadline
            .map_or(Self::SLICE, |at| at.saturating_duration_since(Instant::now()));
        left.clamp(std::time::Duration::from_millis(1), Self::SLICE)
    }

    /// Sleeps for `span` or until the workload must stop.
    ///
    /// # Errors
    /// The reason to stop, as soon as there is one.
    pub fn sleep(&self, span: Duration) -> Result<(), Stop> {
        self.sleep_until(Instant::now() + span.to_std())
    }

    /// Sleeps until `at` or until the workload must stop.
    ///
    /// # Errors
    /// The reason to stop, as soon as there is one.
    pub fn sleep_until(&self, at: Instant) -> Result<(), Stop> {
        loop {
            self.check()?;
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(self.slice()));
        }
    }

    /// Whether load may be sent to `address` at all.
    ///
    /// # Errors
    /// What is missing for that address: see [`Permission`].
    pub fn admit(&self, address: std::net::IpAddr) -> Result<(), Refused> {
        self.permission.admit(address, self.deadline.is_some())
    }

    /// Whether a server serves a client at `address`.
    pub fn serves(&self, address: std::net::IpAddr) -> bool {
        self.clients.is_empty() || self.clients.iter().any(|network| network.contains(address))
    }

    /// Whether more load may be begun: as [`Context::check`], and the cap is not used up. A workload of many parts asks
    /// before each of them.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn may_load(&self) -> Result<(), Stop> {
        self.check()?;
        match self.permission {
            Permission::Remote { bytes: cap, .. } if self.spent() > cap.bytes() => {
                Err(Stop::Cap { bytes: cap.bytes() })
            }
            _ => Ok(()),
        }
    }

    /// Application bytes moved so far under this context, by all of its clones: for progress displays.
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Counts `bytes` of load, against the permission's cap where there is one.
    ///
    /// # Errors
    /// [`Stop::Cap`] once the cap is passed.
    pub fn spend(&self, bytes: u64) -> Result<(), Stop> {
        let before = self.spent.fetch_add(bytes, Ordering::Relaxed);
        let Permission::Remote { bytes: cap, .. } = self.permission else {
            return Ok(());
        };
        if before.saturating_add(bytes) > cap.bytes() {
            return Err(Stop::Cap { bytes: cap.bytes() });
        }
        Ok(())
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_units::{BitRate, ByteCount};

    #[test]
    fn sleep_ends_with_the_cancel_flag() {
        let cancel = Cancel::new();
        let context = Context::new().with_cancel(cancel.clone());
        let begun = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                cancel.cancel();
            });
            assert_eq!(context.sleep(Duration::from_secs(60)), Err(Stop::Cancelled));
        });
        assert!(begun.elapsed() < std::time::Duration::from_secs(30));
    }

    #[test]
    fn deadline_and_cap_stop() {
        let context = Context::new().with_timeout(Duration::from_millis(1));
        assert_eq!(context.sleep(Duration::from_secs(60)), Err(Stop::Deadline));
        let context = Context::new().with_permission(Permission::Remote {
            bytes: ByteCount::new(100),
            rate: BitRate::new(1_000_000),
        });
        assert_eq!(context.spend(100), Ok(()));
        assert_eq!(context.may_load(), Ok(()));
        assert_eq!(context.clone().spend(1), Err(Stop::Cap { bytes: 100 }));
        assert_eq!(context.may_load(), Err(Stop::Cap { bytes: 100 }));
        context.cancel().cancel();
        let after = context.afterwards(Duration::from_secs(60));
        assert_eq!((after.may_load(), after.spent()), (Ok(()), 0));
        assert_eq!(after.permission(), context.permission());
    }

    #[test]
    fn clients_are_those_of_the_list_or_everybody() {
        let network = |text: &str, prefix| Network {
            address: text.parse().unwrap(),
            prefix,
        };
        let inside = "192.0.2.7".parse().unwrap();
        let outside = "198.51.100.7".parse().unwrap();
        assert!(Context::new().serves(outside));
        let context = Context::new().with_clients(vec![network("192.0.2.0", 24), network("2001:db8::", 32)]);
        assert!(context.clone().serves(inside) && !context.serves(outside));
    }
}
