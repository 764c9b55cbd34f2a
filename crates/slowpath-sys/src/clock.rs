//! Clocks and precise sleeping.

use std::io;

use crate::cvt;

/// Nanoseconds of `CLOCK_MONOTONIC` (stops while the machine is suspended).
pub fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of `CLOCK_BOOTTIME` (runs on while the machine is suspended).
///
/// A growing difference to [`monotonic`] means that the machine slept.
pub fn boot_time() -> u64 {
    read(libc::CLOCK_BOOTTIME)
}

/// Nanoseconds since 1970 of `CLOCK_REALTIME`, which may be set and slewed.
pub fn real_time() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// Nanoseconds of processor time that the calling thread has used.
pub fn thread_cpu() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Nanoseconds of processor time that the whole process has used.
pub fn process_cpu() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Sleeps until [`monotonic`] has reached `deadline` nanoseconds; signals do not end the sleep early.
pub fn sleep_until(deadline: u64) {
    let at = timespec(deadline);
    loop {
        // SAFETY: `at` outlives the call; an absolute sleep writes no remaining time, so null is allowed.
        let code = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const at,
                std::ptr::null_mut(),
            )
        };
        if code != libc::EINTR {
            return;
        }
    }
}

/// Sets the calling thread's timer slack, the time by which the kernel may delay its wake-ups.
///
/// The default is 50 us; 1 ns is the least.
///
/// # Errors
/// Those of `prctl(PR_SET_TIMERSLACK)`.
pub fn set_timer_slack(nanos: u64) -> io::Result<()> {
    // SAFETY: PR_SET_TIMERSLACK takes one integer and touches no memory of ours.
    cvt(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanos.max(1), 0, 0, 0) })?;
    Ok(())
}

pub(crate) fn timespec(nanos: u64) -> libc::timespec {
    // Nanoseconds divided by a billion always fit in 63 bits.
    #[allow(clippy::cast_possible_wrap)]
    libc::timespec {
        tv_sec: (nanos / 1_000_000_000) as _,
        tv_nsec: (nanos % 1_000_000_000) as i64,
    }
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec that the call fills; these clocks exist on every Linux we support.
    let code = unsafe { libc::clock_gettime(clock, &raw mut now) };
    debug_assert_eq!(code, 0);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_reaches_its_deadline() {
        set_timer_slack(1).unwrap();
        let start = monotonic();
        sleep_until(start + 2_000_000);
        assert!(monotonic() - start >= 2_000_000);
        assert!(real_time() > 1_600_000_000_000_000_000);
        assert!(boot_time() >= start);
        assert!(process_cpu() >= thread_cpu());
    }
}
