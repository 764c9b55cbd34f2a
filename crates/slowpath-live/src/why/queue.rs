//! Whether packets queue on the path, by how the round trip goes with what is under way.
//!
//! A round trip that is longer than the least known is no proof of a queue. Jitter on a path that keeps the order of packets makes
//! the round trip of a dense stream longer than that of single packets by nearly all that it adds, and steadily so: each packet waits
//! for the one before. Two things tell them apart. A queue is what is under way beyond what the path holds, so that the round trip
//! grows as that does and the rate stays; jitter lengthens every round trip alike, so that the rate grows. And the mean
//! deviation of the round trip is small beside a queue, not beside what jitter adds.

use super::track::{State, Stretch};

/// What the round trip of a stretch says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// It grows with what is under way: a queue stands.
    Stands,
    /// It is the same with more and with less under way, so that more gets through with more: no queue.
    Absent,
    /// What is under way is the same all the time, or the round trip goes with something else.
    Open,
}

/// What was under way in a stretch, and how long it took.
#[derive(Debug, Clone, Copy)]
struct Point {
    /// Logarithm of the bytes.
    flight: f64,
    /// Logarithm of the round trip.
    round_trip: f64,
}

/// What each stretch of a sender says.
pub(super) fn at_sender(stretches: &[Stretch]) -> Vec<Queue> {
    let points = stretches.iter().map(|one| {
        let path = [State::Queue, State::Growth, State::SlowStart];
        (one.times.sum(&path) > 0.5 * one.times.total()).then_some((one.flight, one.rtt))
    });
    tell(points, &AROUND, LEAST_SPREAD)
}

/// What each stretch of a receiver says, whose rate and round trip tell what is under way.
pub(super) fn at_receiver(stretches: &[Stretch]) -> Vec<Queue> {
    let points = stretches.iter().map(|one| {
        (one.received > 0 && one.out_of_order == 0)
            .then_some((one.rate() * one.receiver_rtt, one.receiver_rtt))
    });
    tell(points, &[AROUND_RECEIVER], LEAST_SPREAD_RECEIVER)
}

/// Whether the round trip is longer than the least by so many times its own deviation that no jitter makes it so.
pub(super) fn is_beyond_jitter(stretch: &Stretch, least_rtt: f64) -> bool {
    stretch.rtt - least_rtt >= BEYOND * stretch.rtt_deviation
}

fn tell(points: impl Iterator<Item = Option<(f64, f64)>>, around: &[f64], spread: f64) -> Vec<Queue> {
    let points: Vec<Option<Point>> = points
        .map(|point| {
            let (flight, round_trip) = point.filter(|&(flight, rtt)| flight > 0.0 && rtt > 0.0)?;
            Some(Point {
                flight: flight.ln(),
                round_trip: round_trip.ln(),
            })
        })
        .collect();
    let line = Line::new(points.iter().flatten().copied().collect());
    let of = |point: &Point| {
        let each = around
            .iter()
            .map(|factor| line.around(point.flight, *factor, spread));
        each.into_iter()
            .find(|queue| *queue != Queue::Open)
            .unwrap_or(Queue::Open)
    };
    points
        .iter()
        .map(|point| point.as_ref().map_or(Queue::Open, of))
        .collect()
}

/// Sums over the points up to each, in the order of what was under way: count, x, y, their squares, and their product.
struct Line {
    points: Vec<Point>,
    sums: Vec<[f64; 6]>,
}

impl Line {
    fn new(mut points: Vec<Point>) -> Self {
        points.sort_by(|a, b| a.flight.total_cmp(&b.flight));
        let mut sums = vec![[0.0; 6]];
        for point in &points {
            let (x, y) = (point.flight, point.round_trip);
            let mut sum = sums[sums.len() - 1];
            for (all, one) in sum.iter_mut().zip([1.0, x, y, x * x, y * y, x * y]) {
                *all += one;
            }
            sums.push(sum);
        }
        Self { points, sums }
    }

    /// By the points with as much under way as `flight`, up to `factor` times more or less.
    fn around(&self, flight: f64, factor: f64, least_spread: f64) -> Queue {
        let from = self
            .points
            .partition_point(|one| one.flight < flight - factor.ln());
        let to = self
            .points
            .partition_point(|one| one.flight <= flight + factor.ln());
        let mut sum = self.sums[to];
        for (all, before) in sum.iter_mut().zip(self.sums[from]) {
            *all -= before;
        }
        let [count, x, y, xx, yy, xy] = sum;
        if count < FEWEST {
            return Queue::Open;
        }
        let (xx, yy, xy) = (xx - x * x / count, yy - y * y / count, xy - x * y / count);
        if xx < count * least_spread * least_spread {
            return Queue::Open;
        }
        let slope = xy / xx;
        let rest = (yy - slope * xy).max(0.0) / (count - 2.0);
        let unsure = ERRORS * (rest / xx).sqrt();
        if slope - unsure >= HALF {
            Queue::Stands
        } else if slope + unsure <= HALF {
            Queue::Absent
        } else {
            Queue::Open
        }
    }
}

/// A queue makes the round trip grow as what is under way does (slope 1), an empty path not at all (0).
const HALF: f64 = 0.5;
/// Standard errors by which the slope has to be on one side.
const ERRORS: f64 = 2.0;
/// Fewer stretches tell no slope.
const FEWEST: f64 = 5.0;
/// How much more or less may be under way in the stretches that a stretch is held against, the nearest first: a path that fills
/// meanwhile is empty with little under way and full with much.
const AROUND: [f64; 3] = [1.25, 1.6, 2.0];
/// Standard deviation of the logarithm of what is under way, below which that is the same all the time.
const LEAST_SPREAD: f64 = 0.04;
/// The same of a receiver, whose rate over a tenth of a second is known to a tenth.
const AROUND_RECEIVER: f64 = 3.0;
const LEAST_SPREAD_RECEIVER: f64 = 0.2;
/// Jitter of 3 to 8 ms on paths of 20 ms that keep the order adds up to 12 deviations to the least round trip; queues of a full link are
/// 20 to 500 deviations long.
const BEYOND: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn told(points: &[(f64, f64)]) -> Vec<Queue> {
        tell(points.iter().copied().map(Some), &AROUND, LEAST_SPREAD)
    }

    /// Flight in kB and smoothed round trip in ms, measured each tenth of a second: 100 Mbit/s, 20 ms each way, jitter of 8 ms. The
    /// link is full from 625 kB on.
    #[test]
    fn jitter_is_no_queue_until_the_link_is_full() {
        let points = [
            (86.6, 49.0),
            (96.0, 50.2),
            (106.3, 51.2),
            (117.2, 51.3),
            (128.4, 51.4),
            (141.3, 51.7),
            (155.5, 52.6),
            (171.1, 51.5),
            (186.9, 55.2),
            (204.5, 53.2),
            (224.0, 51.7),
            (245.2, 54.3),
            (269.3, 51.3),
            (295.9, 52.2),
            (325.4, 52.6),
            (355.2, 55.5),
            (389.6, 54.2),
            (429.3, 52.4),
            (468.8, 54.3),
            (514.3, 54.0),
            (564.1, 54.2),
            (616.4, 54.5),
            (674.2, 56.6),
            (733.2, 57.7),
            (794.1, 63.4),
            (856.8, 67.0),
            (920.0, 74.5),
            (979.5, 77.3),
            (1042.0, 82.9),
            (1104.8, 87.4),
            (1166.5, 91.2),
            (1225.4, 97.4),
        ];
        for (point, queue) in points.iter().zip(told(&points)) {
            match point.0 {
                flight if flight < 550.0 => assert_ne!(queue, Queue::Stands, "{point:?}"),
                flight if flight > 850.0 => assert_eq!(queue, Queue::Stands, "{point:?}"),
                _ => {}
            }
        }
        let absent = |queue: &&Queue| **queue == Queue::Absent;
        assert!(told(&points).iter().filter(absent).count() >= 18);
    }

    /// 20 Mbit/s, 20 ms each way, from the first queue on.
    #[test]
    fn a_queue_grows_with_what_is_under_way() {
        let points: Vec<(f64, f64)> = (0..20)
            .map(|step| f64::from(step) * 12.0 + 120.0)
            .map(|flight| (flight, flight / 2.39))
            .collect();
        assert!(told(&points).iter().all(|queue| *queue == Queue::Stands));
    }

    #[test]
    fn nothing_is_told_where_as_much_is_under_way_all_the_time() {
        let points: Vec<(f64, f64)> = (0..20).map(|step| (100.0 + f64::from(step % 3), 50.0)).collect();
        assert!(told(&points).iter().all(|queue| *queue == Queue::Open));
        assert_eq!(told(&[(1.0, 2.0), (0.0, 1.0)]), [Queue::Open; 2]);
    }
}
