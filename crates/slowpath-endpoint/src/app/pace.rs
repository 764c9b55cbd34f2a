//! The clock of a slow reader or writer.

use slowpath_units::{Duration, Time};

use super::Pace;
use crate::tcp::Connection;

/// Runs a [`Pace`]: says how much may be taken now, or when to ask again.
#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    pace: Pace,
    ready: Time,
    in_unit: u64,
    carry: u64,
    /// Busy time of a whole unit in nanoseconds, its pause left out.
    busy: u64,
}

impl Pacer {
    pub(crate) fn new(pace: Pace) -> Self {
        let busy = match pace {
            Pace::Unlimited => 0,
            Pace::Units {
                unit,
                bytes_per_s,
                pause,
                ..
            } => {
                let whole = u64::from(unit.max(1)) * 1_000_000_000 / bytes_per_s.max(1);
                whole.saturating_sub(pause.nanos())
            }
        };
        Self {
            pace,
            ready: Time::ZERO,
            in_unit: 0,
            carry: 0,
            busy,
        }
    }

    /// How many bytes may be taken at `now`; 0 means not before [`ready`](Self::ready).
    pub(crate) fn allowance(&self, now: Time) -> u64 {
        match self.pace {
            Pace::Unlimited => u64::MAX,
            Pace::Units { .. } if now < self.ready => 0,
            Pace::Units { unit, chunk, .. } => {
                u64::from(chunk.max(1)).min(u64::from(unit).max(1) - self.in_unit)
            }
        }
    }

    /// When more may be taken.
    pub(crate) const fn ready(&self) -> Time {
        self.ready
    }

    /// `bytes` were taken at `now`: the program is busy with them for a while.
    pub(crate) fn taken(&mut self, now: Time, bytes: u64) {
        let Pace::Units { unit, pause, .. } = self.pace else {
            return;
        };
        let unit = u64::from(unit).max(1);
        // The remainder is carried, so the mean is exact.
        let scaled = u128::from(self.busy) * u128::from(bytes) + u128::from(self.carry);
        let (span, carry) = match u64::try_from(scaled) {
            Ok(scaled) => (scaled / unit, scaled % unit),
            Err(_) => (
                u64::try_from(scaled / u128::from(unit)).unwrap_or(u64::MAX),
                u64::try_from(scaled % u128::from(unit)).unwrap_or(0),
            ),
        };
        self.carry = carry;
        let start = self.ready.max(now);
        self.ready = start + Duration::from_nanos(span);
        self.in_unit += bytes;
        if self.in_unit >= unit {
            self.in_unit = 0;
            self.ready += pause;
        }
    }

    /// Writes up to `want` bytes of a program; how many the send buffer took. They keep it busy first, whatever did not fit: until then
    /// it does not wait for room.
    pub(crate) fn write(&mut self, now: Time, connection: &mut Connection, want: u64) -> u64 {
        let taken = connection.write_synthetic(now, want);
        self.taken(now, taken);
        if self.ready > now {
            connection.sleeps();
        }
        taken
    }

    /// When everything taken so far is dealt with; a last, incomplete unit is stored as well.
    pub(crate) fn settled(&self, now: Time) -> Time {
        let pause = match self.pace {
            Pace::Units { unit, pause, .. } if self.in_unit > 0 => {
                // The pause of a part of a unit is in proportion.
                Duration::from_nanos(
                    u64::try_from(
                        u128::from(pause.nanos()) * u128::from(self.in_unit) / u128::from(unit.max(1)),
                    )
                    .unwrap_or(0),
                )
            }
            _ => Duration::ZERO,
        };
        self.ready.max(now) + pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::{Config, SendBuffer};
    use crate::wire::Ends;

    #[test]
    fn who_sleeps_for_what_was_written_does_not_wait_for_room() {
        let paced = Pace::Units {
            unit: 16_384,
            bytes_per_s: 16_384,
            pause: Duration::ZERO,
            chunk: 16_384,
        };
        for (pace, waits) in [(paced, false), (Pace::Unlimited, true)] {
            let config = Config {
                send_buffer: SendBuffer::Fixed { bytes: 10_000 },
                ..Config::linux()
            };
            let [local, remote] = ["10.0.0.1:1", "10.0.0.2:2"].map(|end| end.parse().unwrap());
            let mut connection = Connection::connect(&config, Ends { local, remote }, Time::ZERO, 1500, 1);
            let taken = Pacer::new(pace).write(Time::ZERO, &mut connection, 16_384);
            assert!(taken > 0 && taken < 16_384, "{taken}");
            assert_eq!(connection.standing().write_blocked, waits);
        }
    }

    #[test]
    fn a_unit_takes_its_time_and_ends_in_a_pause() {
        let pause = Duration::from_millis(100);
        let mut pacer = Pacer::new(Pace::Units {
            unit: 65_536,
            bytes_per_s: 65_536,
            pause,
            chunk: 16_384,
        });
        let mut now = Time::ZERO;
        for _ in 0..4 {
            assert_eq!(pacer.allowance(now), 16_384);
            pacer.taken(now, 16_384);
            assert_eq!(pacer.allowance(now), 0);
            now = pacer.ready();
        }
        assert_eq!(now, Time::from_nanos(1_000_000_000));
        assert_eq!(pacer.settled(now), now);
    }
}
