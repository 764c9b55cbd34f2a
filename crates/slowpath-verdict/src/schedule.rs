//! Programs that send on a schedule: as much as before at set times, however the path carried it.
//!
//! Between two such times the link may be full for most of it, or losses may be made good. That costs nothing: the program
//! goes on no sooner.

use slowpath_facts::Timeline;

/// What a program sends, and when; and what shows that it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    /// From one time that it sends to the next, seconds.
    pub(crate) period_s: f64,
    /// Payload that it sends each time, bytes.
    pub(crate) bytes: u64,
    /// Times seen at which it went on with nothing left to send.
    pub(crate) times: usize,
    /// How far nine of ten of these are from their places at most, as a share of the period.
    pub(crate) off: f64,
    /// By how much its pauses differ, as a share of the period; `None` where it goes on before all that it sent has arrived.
    pub(crate) pauses: Option<f64>,
    /// Share of what it had to send by its schedule which was sent.
    pub(crate) kept: f64,
}

impl Schedule {
    /// What it sends in the mean, bytes per second.
    pub(crate) fn byte_per_s(&self) -> f64 {
        self.bytes as f64 / self.period_s
    }

    /// The schedules on which a program may go on: what it had sent until then differs by multiples of the same bytes, and the
    /// times by the same multiples of a period.
    ///
    /// First that of one that goes on behind pauses with nothing in flight, then that of one that goes on while what it sent before is
    /// under way, and that sent nothing else: a buffer that is full again and again lets go as much each time, but what was sent until
    /// then began otherwise.
    pub(crate) fn candidates(line: &Timeline) -> impl Iterator<Item = Self> {
        let (beats, paused) = beats(line);
        let with = Self::fit(line, &beats, &paused, true).map(|(schedule, _)| schedule);
        let without = Self::fit(line, &beats, &beats, false).filter(|(_, before)| *before == 0);
        with.into_iter().chain(without.map(|(schedule, _)| schedule))
    }

    /// The schedule that fits the most of these times, of those on which `some` of them lie one behind the other; and what had been
    /// sent before it began, bytes.
    fn fit(line: &Timeline, all: &[Beat], some: &[Beat], paused: bool) -> Option<(Self, u64)> {
        let fits = |one: &Beat, bytes: u64| all.iter().filter(|beat| beat.is_beside(one, bytes)).count();
        let pairs = some
            .windows(2)
            .map(|pair| (&pair[0], pair[1].sent.saturating_sub(pair[0].sent)));
        let pairs = pairs.filter(|(_, bytes)| *bytes > 0).take(TRIED);
        let (one, bytes) = pairs.max_by_key(|(one, bytes)| (fits(one, *bytes), *bytes))?;
        let whole: Vec<&Beat> = all.iter().filter(|beat| beat.is_beside(one, bytes)).collect();
        let (from, to) = (*whole.first()?, *whole.last()?);
        let periods = |from: &Beat, to: &Beat| (to.sent.saturating_sub(from.sent) / bytes) as f64;
        let period_s = (to.at_s - from.at_s) / periods(from, to);
        let mut off: Vec<f64> = whole
            .iter()
            .map(|beat| (beat.at_s - from.at_s - periods(from, beat) * period_s).abs() / period_s)
            .collect();
        off.sort_by(f64::total_cmp);
        let idle = |from: &Beat, to: &Beat| -> f64 {
            let steps = &line.steps[from.place..to.place.max(from.place)];
            steps.iter().map(|step| step.idle_s).sum()
        };
        let pauses = whole
            .windows(2)
            .map(|pair| idle(pair[0], pair[1]) / periods(pair[0], pair[1]) / period_s);
        let sent: u64 = line.steps.iter().map(|step| step.fresh).sum();
        let due = bytes as f64 * (line.to_s - line.from_s) / period_s;
        let schedule = Self {
            period_s,
            bytes,
            times: whole.len(),
            off: off[((off.len() - 1) as f64 * MOST).ceil() as usize],
            pauses: paused.then(|| span(pauses)),
            kept: sent as f64 / due,
        };
        (period_s > 0.0).then_some((schedule, from.sent))
    }
}

/// A time at which a program went on that had nothing left to send.
#[derive(Debug, Clone, Copy)]
struct Beat {
    at_s: f64,
    /// Payload sent before it, bytes.
    sent: u64,
    /// The step of the timeline that it is in.
    place: usize,
}

impl Beat {
    /// Whether what was sent from the one to the other is a multiple of so many bytes.
    const fn is_beside(&self, other: &Self, bytes: u64) -> bool {
        self.sent.abs_diff(other.sent).is_multiple_of(bytes)
    }
}

/// When nothing was left to send of what had been, and how much that was.
pub(crate) fn dry(line: &Timeline) -> impl Iterator<Item = &(f64, u64)> {
    let moments = line.dry.iter();
    moments.filter(|(at, sent)| *at > line.from_s && *sent > 0)
}

/// The start and all such times; and of these the ones shortly before which nothing was in flight.
fn beats(line: &Timeline) -> (Vec<Beat>, Vec<Beat>) {
    if line.steps.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut all: Vec<Beat> = [(line.from_s, 0)]
        .iter()
        .chain(dry(line))
        .map(|&(at_s, sent)| Beat {
            at_s,
            sent,
            place: line.step_at(at_s),
        })
        .collect();
    all.dedup_by_key(|beat| beat.sent);
    let pauses = |beat: &&Beat| {
        let before = &line.steps[beat.place.saturating_sub(1)..=beat.place];
        before.iter().any(|step| step.idle_s > 0.0)
    };
    let paused = all.iter().filter(pauses).copied().collect();
    (all, paused)
}

/// From the least of several values to the largest.
fn span(values: impl Iterator<Item = f64>) -> f64 {
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    (most - least).max(0.0)
}

/// Pairs of times from which a schedule is tried.
const TRIED: usize = 64;
/// Share of the times that are no farther from their places than is said.
const MOST: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_facts::Step;

    /// Ten seconds in steps of 10 ms, in which data come anew at these times behind so many bytes, with a pause of so many
    /// steps before.
    fn line(times: impl Iterator<Item = (f64, u64, usize)>) -> Timeline {
        let mut line = Timeline {
            to_s: 10.0,
            step_s: 0.01,
            steps: vec![Step::default(); 1_000],
            ..Timeline::default()
        };
        for (at_s, sent, pause) in times {
            let place = line.step_at(at_s);
            line.steps[place - pause..place]
                .iter_mut()
                .for_each(|step| step.idle_s = 0.01);
            line.dry.push((at_s, sent));
        }
        let all = line.dry.last().map_or(0, |(_, sent)| *sent);
        line.steps[0].fresh = all + 100_000;
        line
    }

    #[test]
    fn the_same_bytes_at_set_times_are_a_schedule_however_long_they_took() {
        // The second and the sixth took longer than a period.
        let on_time = [1, 3, 4, 5, 7, 8, 9_u32];
        let line = line(
            on_time
                .map(|beat| (f64::from(beat), u64::from(beat) * 100_000, 10 + beat as usize))
                .into_iter(),
        );
        let schedule = Schedule::candidates(&line).next().unwrap();
        assert_eq!((schedule.bytes, schedule.times), (100_000, 8));
        assert!(
            (schedule.period_s - 1.0).abs() < 1e-9 && schedule.off < 1e-9,
            "{schedule:?}"
        );
        assert!((schedule.kept - 1.0).abs() < 1e-9, "{schedule:?}");
        // Its pauses are a tenth of a second to two.
        assert!(schedule.pauses.unwrap() > 0.05, "{schedule:?}");
    }

    #[test]
    fn times_that_are_not_set_are_off() {
        // As long a pause each time that it is done, which took longer at first.
        let (mut at_s, mut sent) = (0.0, 0);
        let line = line((1..9).map(|beat| {
            at_s += if beat < 4 { 1.4 } else { 0.9 };
            sent += 100_000;
            (at_s, sent, 20)
        }));
        let schedule = Schedule::candidates(&line).next().unwrap();
        assert!(
            schedule.off > 0.1 && schedule.pauses.unwrap() < 0.1,
            "{schedule:?}"
        );
    }

    #[test]
    fn a_program_that_goes_on_before_all_has_arrived_is_found_by_its_writes() {
        let beats = || (1..20).map(|beat| (f64::from(beat) * 0.5, u64::from(beat as u32) * 7_828, 0));
        let line = line(beats());
        let candidates: Vec<Schedule> = Schedule::candidates(&line).collect();
        let [schedule] = candidates.as_slice() else {
            panic!("{candidates:?}");
        };
        assert_eq!(
            (schedule.bytes, schedule.times, schedule.pauses),
            (7_828, 20, None)
        );
        // A buffer lets go as much each time once it is full, behind what was sent before.
        let after = self::line(beats().map(|(at_s, sent, pause)| (at_s, sent + 5_000, pause)));
        assert_eq!(Schedule::candidates(&after).count(), 0);
        assert_eq!(Schedule::candidates(&Timeline::default()).count(), 0);
    }
}
