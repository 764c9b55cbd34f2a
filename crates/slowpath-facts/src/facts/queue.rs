//! The virtual-queue fit: which rate and which backlog explain the losses, and does delay follow the backlog.
//!
//! A token bucket of size B at rate r drops a packet exactly when the bytes let through, drained at r, exceed B. A
//! drop-tail queue of size B at rate r drops under the same condition *but adds the delay Q/r*. So one virtual queue
//! fits both, and delay tells them apart; losses that fit no rate are not explained by the flow's own load.
//! (Compare the published detector: Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016.)

use serde::{Deserialize, Serialize};

use super::distribution::quantile;

/// A queue or token bucket fitted to the transmissions of one flow or of all flows between two hosts.
///
/// Bytes are those of Ethernet frames with FCS.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct QueueFit {
    /// Rate at which the virtual queue drains.
    pub rate_bit_per_s: f64,
    /// Backlog at which packets are dropped.
    pub size_bytes: f64,
    /// Share of losses below that backlog plus share of deliveries above it; 0 is a perfect fit.
    pub error: f64,
    /// Seconds of delay per second of backlog: 0 for a bucket, 1 for a queue.
    pub delay_slope: f64,
    /// Correlation of delay with backlog.
    pub delay_correlation: f64,
    /// Delay samples in the regression.
    pub delay_samples: u64,
    /// Losses that were fitted.
    pub losses: u64,
    /// Deliveries that were fitted.
    pub deliveries: u64,
    /// Episodes of losses: those less than a round trip apart are one.
    pub episodes: u64,
    /// Episodes that begin with the backlog nearly at `size_bytes`: those that the load explains. One overflow may make
    /// more losses than everything else.
    pub full_episodes: u64,
    /// Mean rate of what was let through.
    pub mean_bit_per_s: f64,
    /// Median delay at a nearly full backlog less that at a low one, relative to the time the full backlog drains.
    pub delay_step: f64,
    /// Spread of the backlog at losses: interquartile range over `size_bytes`.
    pub spread: f64,
    /// Losses at a backlog of nearly `size_bytes` or more, deliveries there, and deliveries above `size_bytes`.
    #[serde(skip)]
    pub at_full: [u64; 3],
    /// The queue that explains the delays best, without looking at losses.
    pub delay: DelayFit,
}

/// The queue whose backlog explains the delays best: delay = backlog / rate.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DelayFit {
    /// Rate at which the queue drains.
    pub rate_bit_per_s: f64,
    /// Share of the delay's variance that the backlog explains with a slope of exactly 1.
    pub explained: f64,
    /// Correlation of delay with backlog.
    pub correlation: f64,
    /// Largest backlog.
    pub backlog_bytes: f64,
    /// 95th percentile of the delay above the smallest, seconds.
    pub delay_p95_s: f64,
    /// Samples.
    pub samples: u64,
}

/// One transmission for the fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Item {
    /// Nanoseconds.
    pub(crate) at: i64,
    /// Frame bytes that arrived.
    pub(crate) passed: u32,
    /// Frame bytes that were lost.
    pub(crate) lost: u32,
    /// The loss shows as a gap only: it stands at the time of the packet before.
    pub(crate) gap: bool,
    /// Delay above the smallest, seconds; NaN for none.
    pub(crate) delay: f32,
}

impl Item {
    /// How long a link of this rate, bytes per second, works for it, nanoseconds.
    pub(crate) fn takes(&self, rate: f64) -> i64 {
        ((f64::from(self.passed) + f64::from(self.lost)) * 1e9 / rate) as i64
    }
}

/// Most items that a fit looks at; of a longer transfer it takes a [`STRETCH`] of it. Merging items instead would blur
/// at which packet a bucket is empty.
const ITEMS: usize = 45_000;
/// Items of a longer transfer: those with the most losses.
const STRETCH: usize = 16_000;
/// Most items while the rates of a long transfer are only searched for.
const FEW_ITEMS: usize = 4_000;
/// Rates of that search that are tried on all items.
const LIKELY: usize = 24;
/// Fewest losses that are fitted.
const LOSSES: usize = 3;
/// Rates that are tried side by side.
const LANES: usize = 8;
/// Share of the size from which a backlog is nearly full.
const NEARLY_FULL: f64 = 0.75;
/// Share of the size from which a backlog is full.
const FULL: f64 = 0.95;
/// Bins of backlog.
const BINS: usize = 1024;

/// Fits a virtual queue. `rtt` in seconds separates episodes. `None` without time or data.
pub(crate) fn fit(items: &[Item], rtt: f64) -> Option<QueueFit> {
    let long = items.len() > ITEMS;
    let items = if long { stretch(items, STRETCH) } else { items };
    let (first, last) = (items.first()?.at, items.last()?.at);
    let span = (last - first) as f64 / 1e9;
    let passed: f64 = items.iter().map(|item| f64::from(item.passed)).sum();
    if span <= 0.0 || passed <= 0.0 {
        return None;
    }
    let mean = passed * 8.0 / active(items, rtt).max(span * 0.02);
    let losses = items.iter().filter(|item| item.lost > 0).count();
    let mut out = QueueFit {
        mean_bit_per_s: mean,
        losses: losses as u64,
        deliveries: items.iter().filter(|item| item.passed > 0).count() as u64,
        episodes: episodes(items, rtt),
        delay_samples: items.iter().filter(|item| item.delay.is_finite()).count() as u64,
        error: 1.0,
        ..QueueFit::default()
    };
    let few = if long { stretch(items, FEW_ITEMS) } else { items };
    out.delay = fit_delay(items, few, mean, rtt);
    if losses >= LOSSES {
        fit_losses(items, few, mean, rtt, &mut out);
    }
    Some(out)
}

/// The backlog of a fitted queue at each loss, as a share of its size, with the time of the item.
pub(crate) fn at_losses(items: &[Item], fit: &QueueFit) -> Vec<(i64, f64)> {
    if fit.size_bytes <= 0.0 || fit.rate_bit_per_s <= 0.0 {
        return Vec::new();
    }
    let mut levels = Levels::default();
    levels.run(items, [fit.rate_bit_per_s]);
    let losses = items.iter().filter(|item| item.lost > 0);
    losses
        .zip(&levels.at_loss)
        .map(|(item, [level])| (item.at, level / fit.size_bytes))
        .collect()
}

fn fit_losses(items: &[Item], few: &[Item], mean: f64, rtt: f64, out: &mut QueueFit) {
    let mut best = (f64::INFINITY, mean, 0.0, 1.0);
    let delayed = (out.delay.explained > 0.3)
        .then_some(out.delay.rate_bit_per_s)
        .into_iter()
        .flat_map(|rate| (-8..=8).map(move |step| rate * 1.0005_f64.powi(step)));
    // Delay is the more sensitive measure: where a queue explains it, its rate is the rate.
    let queued = out.delay.explained >= 0.7 && mean >= 0.5 * out.delay.rate_bit_per_s;
    let free = (!queued).then(|| candidates(mean).chain(between_losses(items)));
    let mut rates: Vec<f64> = free.into_iter().flatten().chain(delayed).collect();
    if few.len() < items.len() {
        rates = most_likely(few, &rates);
    }
    let mut levels = Levels::<LANES>::default();
    levels.each(items, &rates, |_, rate, (error, size), _| {
        if error < best.0 {
            best = (error, rate, size, error);
        }
    });
    // Around the best coarse rate finer grids, and among equally good rates the one whose losses lie closest.
    for width in [0.001, 0.0002] {
        let coarse = best.1;
        best.0 = f64::INFINITY;
        let around: Vec<f64> = (-10..=10)
            .map(|step| coarse * (1.0 + width * f64::from(step)))
            .collect();
        levels.each(items, &around, |_, rate, (error, size), spread| {
            let cost = error + 0.2 * spread().min(1.0);
            if cost < best.0 {
                best = (cost, rate, size, error);
            }
        });
    }
    let (_, rate, size, error) = best;
    let mut levels = Levels::default();
    levels.run(items, [rate]);
    out.rate_bit_per_s = rate;
    out.size_bytes = size;
    let above = |levels: &[[f64; 1]], share: f64| {
        levels.iter().filter(|[level]| *level >= share * size).count() as u64
    };
    out.at_full = [
        above(&levels.at_loss, FULL),
        above(&levels.at_pass, FULL),
        above(&levels.at_pass, 1.0),
    ];
    let losses = items.iter().filter(|item| item.lost > 0);
    out.full_episodes = losses
        .zip(&levels.at_loss)
        .scan(None, |last: &mut Option<i64>, (item, [level])| {
            let first = begins_episode(last, item.at, rtt);
            Some(first && *level >= NEARLY_FULL * size)
        })
        .filter(|full| *full)
        .count() as u64;
    out.error = error;
    out.spread = levels.loss_spread(0);
    let delays = delays(items, rate);
    let (slope, correlation) = regress(&delays);
    out.delay_slope = slope;
    out.delay_correlation = correlation;
    out.delay_step = delay_step(&delays, size * 8.0 / rate);
}

/// Those of `rates` that separate losses from deliveries best, in their order.
fn most_likely(items: &[Item], rates: &[f64]) -> Vec<f64> {
    let mut scored: Vec<(f64, usize, f64)> = Vec::with_capacity(rates.len());
    Levels::<LANES>::default().each(items, rates, |place, rate, (error, _), _| {
        scored.push((error, place, rate));
    });
    scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    scored.truncate(LIKELY);
    scored.sort_by_key(|&(_, place, _)| place);
    scored.into_iter().map(|(_, _, rate)| rate).collect()
}

/// The `most` neighbouring items with the most losses, or in the middle if nothing was lost.
fn stretch(items: &[Item], most: usize) -> &[Item] {
    if items.len() <= most {
        return items;
    }
    let step = (most / 16).max(1);
    let losses = |part: &[Item]| part.iter().filter(|item| item.lost > 0).count();
    let blocks: Vec<usize> = items.chunks(step).map(losses).collect();
    let inside = most / step;
    let best = (0..=blocks.len().saturating_sub(inside))
        .map(|from| {
            (
                blocks[from..(from + inside).min(blocks.len())]
                    .iter()
                    .sum::<usize>(),
                from,
            )
        })
        .max_by_key(|&(count, from)| (count, std::cmp::Reverse(from)))
        .filter(|&(count, _)| count > 0);
    let from = best
        .map_or((items.len() - most) / 2, |(_, block)| block * step)
        .min(items.len() - most);
    &items[from..from + most]
}

/// Rates to try: closely spaced around the mean, where a saturated limiter lies and where a small error of the rate
/// lets the backlog drift away, and widely above it, where a small bucket keeps the flow far below its rate.
fn candidates(mean: f64) -> impl Iterator<Item = f64> {
    let close = (-120..=120).map(move |step| mean * 1.004_f64.powi(step));
    let far = (0..60).map(move |step| mean * 1.65 * 1.05_f64.powi(step));
    close.chain(far)
}

/// Rates at which bytes got through from one loss to a later one: at each loss the bucket is empty (or the queue
/// full), so what got through between two of them is what the limiter let through.
fn between_losses(items: &[Item]) -> Vec<f64> {
    let mut passed = 0_u64;
    let mut marks = Vec::new();
    for item in items {
        passed += u64::from(item.passed);
        if item.lost > 0 {
            marks.push((item.at, passed));
        }
    }
    let count = marks.len();
    let places = [0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0].map(|share| {
        let index = ((count as f64 - 1.0) * share).max(0.0) as usize;
        marks.get(index).copied()
    });
    let mut out = Vec::new();
    for (index, from) in places.iter().enumerate() {
        for to in &places[index + 1..] {
            if let (Some((from_at, from_bytes)), Some((to_at, to_bytes))) = (*from, *to)
                && to_at - from_at > 100_000_000
                && to_bytes - from_bytes > 20_000
            {
                let rate = (to_bytes - from_bytes) as f64 * 8e9 / (to_at - from_at) as f64;
                out.extend([0.9985, 0.999, 0.9995, 1.0, 1.0005, 1.001, 1.0015].map(|factor| rate * factor));
            }
        }
    }
    out
}

/// Backlogs of virtual queues at several rates side by side: each step of one waits for its last, so one alone leaves a
/// processor idle most of the time.
#[derive(Debug)]
struct Levels<const N: usize> {
    at_loss: Vec<[f64; N]>,
    at_pass: Vec<[f64; N]>,
    /// How many of them are in each bin of backlog.
    losses: Vec<[i32; N]>,
    passes: Vec<[i32; N]>,
}

impl<const N: usize> Default for Levels<N> {
    fn default() -> Self {
        Self {
            at_loss: Vec::new(),
            at_pass: Vec::new(),
            losses: Vec::new(),
            passes: Vec::new(),
        }
    }
}

impl<const N: usize> Levels<N> {
    /// Runs a queue at each of the rates over the items.
    fn run(&mut self, items: &[Item], rates: [f64; N]) {
        self.at_loss.clear();
        self.at_pass.clear();
        self.at_pass.reserve(items.len());
        let mut queues = Queues::new(items, rates);
        for item in items {
            queues.drain(item.at);
            if item.passed > 0 {
                self.at_pass.push(queues.add(item.passed));
            }
            if item.lost > 0 {
                // Directly behind a packet any loss would stand above it; so what a gap stands for adds nothing.
                let own = f64::from(if item.gap { 0 } else { item.lost.min(1518) });
                self.at_loss.push(queues.level.map(|level| level + own));
            }
        }
    }

    /// Runs a queue at every rate over the items, and hands out each in the order of the rates: its place, the rate, the
    /// error and size that separate losses from deliveries best, and what gives the spread of the backlog at losses.
    fn each(
        &mut self,
        items: &[Item],
        rates: &[f64],
        mut take: impl FnMut(usize, f64, (f64, f64), &dyn Fn() -> f64),
    ) {
        let mut place = 0;
        for some in rates.chunks(N) {
            self.run(items, in_lanes(some));
            let separated = self.separate();
            for (lane, (&rate, found)) in some.iter().zip(separated).enumerate() {
                take(place, rate, found, &|| self.loss_spread(lane));
                place += 1;
            }
        }
    }

    /// In each lane the error that the backlog makes which separates losses from deliveries best, and that backlog.
    fn separate(&mut self) -> [(f64, f64); N] {
        let mut top = [0.0_f64; N];
        for levels in &self.at_loss {
            for (top, level) in top.iter_mut().zip(levels) {
                *top = top.max(*level);
            }
        }
        let top = top.map(|top| top * 1.02 + 1.0);
        let scale = top.map(|top| BINS as f64 / top);
        count(&self.at_loss, &scale, &mut self.losses);
        count(&self.at_pass, &scale, &mut self.passes);
        let (all_losses, all_passes) = (self.at_loss.len().max(1) as f64, self.at_pass.len().max(1) as f64);
        // Shares with one denominator, whole numbers far below 2^53, so that equal ones are equal.
        let (mut below, mut above) = ([0.0; N], [all_passes; N]);
        let mut best = [(all_losses * all_passes, 0.0); N];
        for (index, (losses, passes)) in self.losses.iter().zip(&self.passes).enumerate() {
            for lane in 0..N {
                let error = below[lane] * all_passes + above[lane] * all_losses;
                if error < best[lane].0 {
                    best[lane] = (error, index as f64);
                }
                below[lane] += f64::from(losses[lane]);
                above[lane] = (above[lane] - f64::from(passes[lane])).max(0.0);
            }
        }
        std::array::from_fn(|lane| {
            let (error, index) = best[lane];
            (error / (all_losses * all_passes), index * top[lane] / BINS as f64)
        })
    }

    fn loss_spread(&self, lane: usize) -> f64 {
        let mut at_loss: Vec<f64> = self.at_loss.iter().map(|levels| levels[lane]).collect();
        at_loss.sort_unstable_by(f64::total_cmp);
        let (low, middle, high) = (
            quantile(&at_loss, 0.25),
            quantile(&at_loss, 0.5),
            quantile(&at_loss, 0.75),
        );
        if middle > 0.0 { (high - low) / middle } else { 1.0 }
    }
}

/// Counts levels by bins, in all lanes side by side: one after the other, each would wait for the last one's number in the same bin.
fn count<const N: usize>(levels: &[[f64; N]], scale: &[f64; N], bins: &mut Vec<[i32; N]>) {
    bins.clear();
    bins.resize(BINS, [0; N]);
    for levels in levels {
        for lane in 0..N {
            // A number of 32 bits is what a processor makes of a fraction in one step.
            let bin = ((levels[lane] * scale[lane]) as u32 as usize).min(BINS - 1);
            bins[bin][lane] += 1;
        }
    }
}

/// A virtual queue in each lane.
struct Queues<const N: usize> {
    /// Bytes in each.
    level: [f64; N],
    /// Bytes that leave each in a nanosecond.
    drain: [f64; N],
    /// Seconds that a byte takes to leave each.
    per_byte_s: [f64; N],
    now: i64,
}

impl<const N: usize> Queues<N> {
    fn new(items: &[Item], rates_bit_per_s: [f64; N]) -> Self {
        Self {
            level: [0.0; N],
            drain: rates_bit_per_s.map(|rate| rate / 8e9),
            per_byte_s: rates_bit_per_s.map(|rate| 8.0 / rate),
            now: items.first().map_or(0, |item| item.at),
        }
    }

    /// Lets out what leaves until `at`.
    #[inline]
    fn drain(&mut self, at: i64) {
        let passed_ns = (at - self.now) as f64;
        self.now = at;
        for (level, drain) in self.level.iter_mut().zip(&self.drain) {
            *level = (*level - passed_ns * drain).max(0.0);
        }
    }

    /// Lets a packet in; the levels with it.
    #[inline]
    fn add(&mut self, bytes: u32) -> [f64; N] {
        let bytes = f64::from(bytes);
        for level in &mut self.level {
            *level += bytes;
        }
        self.level
    }

    /// How long what is in each takes to leave, seconds.
    #[inline]
    fn queued_s(&self) -> [f64; N] {
        let mut out = self.level;
        for (level, per_byte_s) in out.iter_mut().zip(&self.per_byte_s) {
            *level *= per_byte_s;
        }
        out
    }
}

/// Rates, at most as many as there are lanes, with the first one in the lanes that are left.
fn in_lanes<const N: usize>(rates: &[f64]) -> [f64; N] {
    let mut lanes = [rates[0]; N];
    lanes[..rates.len()].copy_from_slice(rates);
    lanes
}

/// Queueing time of the virtual queue and the delay measured, seconds, of each item that has a delay.
fn delays(items: &[Item], rate_bit_per_s: f64) -> Vec<(f64, f64)> {
    let mut queue = Queues::new(items, [rate_bit_per_s]);
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        queue.drain(item.at);
        if item.delay.is_finite() {
            out.push((queue.queued_s()[0], f64::from(item.delay)));
        }
        queue.add(item.passed);
    }
    out
}

/// Median delay with the queue nearly full less that with a low one, relative to `full` seconds.
fn delay_step(delays: &[(f64, f64)], full: f64) -> f64 {
    let median = |keep: &dyn Fn(f64) -> bool| {
        let mut delays: Vec<f64> = delays
            .iter()
            .filter(|(queued, _)| keep(*queued))
            .map(|(_, delay)| *delay)
            .collect();
        delays.sort_unstable_by(f64::total_cmp);
        (delays.len() >= 5).then(|| quantile(&delays, 0.5))
    };
    match (
        median(&|queued| queued >= full * 0.75),
        median(&|queued| queued <= full * 0.3),
    ) {
        (Some(high), Some(low)) if full > 0.0 => (high - low) / full,
        _ => 0.0,
    }
}

/// The most bytes in a queue of this rate.
fn most_backlog(items: &[Item], rate_bit_per_s: f64) -> f64 {
    let mut queue = Queues::new(items, [rate_bit_per_s]);
    let levels = items.iter().map(|item| {
        queue.drain(item.at);
        queue.add(item.passed)[0]
    });
    levels.fold(0.0, f64::max)
}

/// What the delays leave unexplained by the queueing time at each rate: the sum of the squares of what they differ by, the
/// base delay being free; seconds squared.
fn unexplained<const N: usize>(items: &[Item], rates_bit_per_s: [f64; N]) -> [f64; N] {
    let mut queues = Queues::new(items, rates_bit_per_s);
    let (mut count, mut sums, mut squares) = (0.0, [0.0; N], [0.0; N]);
    for item in items {
        queues.drain(item.at);
        if item.delay.is_finite() {
            let delay = f64::from(item.delay);
            let queued = queues.queued_s();
            for lane in 0..N {
                let differs = delay - queued[lane];
                sums[lane] += differs;
                squares[lane] += differs * differs;
            }
            count += 1.0;
        }
        queues.add(item.passed);
    }
    let mut out = squares;
    for (rest, sum) in out.iter_mut().zip(&sums) {
        *rest = (*rest - sum * sum / count).max(0.0);
    }
    out
}

/// Slope and correlation of the second value on the first.
fn regress(pairs: &[(f64, f64)]) -> (f64, f64) {
    let count = pairs.len() as f64;
    if pairs.len() < 5 {
        return (0.0, 0.0);
    }
    let (x_mean, y_mean) = (
        pairs.iter().map(|pair| pair.0).sum::<f64>() / count,
        pairs.iter().map(|pair| pair.1).sum::<f64>() / count,
    );
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (dx, dy) = (x - x_mean, y - y_mean);
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    if xx <= 0.0 || yy <= 0.0 {
        return (0.0, 0.0);
    }
    (xy / xx, xy / (xx * yy).sqrt())
}

fn fit_delay(items: &[Item], few: &[Item], mean: f64, rtt: f64) -> DelayFit {
    let mut measured: Vec<f64> = items
        .iter()
        .filter(|item| item.delay.is_finite())
        .map(|item| f64::from(item.delay))
        .collect();
    if measured.len() < 10 {
        return DelayFit {
            samples: measured.len() as u64,
            ..DelayFit::default()
        };
    }
    measured.sort_unstable_by(f64::total_cmp);
    let mut out = DelayFit {
        delay_p95_s: quantile(&measured, 0.95),
        samples: measured.len() as u64,
        ..DelayFit::default()
    };
    let average = measured.iter().sum::<f64>() / measured.len() as f64;
    let total: f64 = measured.iter().map(|delay| (delay - average).powi(2)).sum();
    if total <= 0.0 || out.delay_p95_s < 0.01 * rtt {
        return out;
    }
    let best = |items: &[Item], rates: &[f64]| {
        let mut best = (f64::NEG_INFINITY, mean);
        for some in rates.chunks(LANES) {
            let rest = unexplained::<LANES>(items, in_lanes(some));
            for (rest, rate) in rest.iter().zip(some) {
                // The base delay is free, the slope is 1.
                let explained = 1.0 - rest / total;
                if explained > best.0 {
                    best = (explained, *rate);
                }
            }
        }
        best
    };
    let close = (-60..=60).map(|step| mean * 1.005_f64.powi(step));
    let far = (0..30).map(|step| mean * 1.36 * 1.06_f64.powi(step));
    let (_, coarse) = best(few, &close.chain(far).collect::<Vec<_>>());
    let around: Vec<f64> = (-6..=6).map(|step| coarse * 1.0008_f64.powi(step)).collect();
    (out.explained, out.rate_bit_per_s) = best(items, &around);
    out.correlation = regress(&delays(items, out.rate_bit_per_s)).1;
    out.backlog_bytes = most_backlog(items, out.rate_bit_per_s);
    out
}

/// Seconds in which something was sent: pauses much longer than a round trip are left out.
fn active(items: &[Item], rtt: f64) -> f64 {
    let pause = (rtt * 3.0).max(0.3);
    items
        .windows(2)
        .map(|pair| ((pair[1].at - pair[0].at) as f64 / 1e9).min(pause))
        .sum()
}

fn episodes(items: &[Item], rtt: f64) -> u64 {
    let mut last = None;
    let losses = items.iter().filter(|item| item.lost > 0);
    losses
        .filter(|item| begins_episode(&mut last, item.at, rtt))
        .count() as u64
}

/// Whether a loss at `at` is more than a round trip behind the `last` one, which it becomes.
fn begins_episode(last: &mut Option<i64>, at: i64, rtt: f64) -> bool {
    let apart = (rtt.max(0.001) * 1e9) as i64;
    last.replace(at).is_none_or(|last| at - last > apart)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: u32 = 1_518;

    fn item(at: i64, lost: bool) -> Item {
        Item {
            at,
            passed: if lost { 0 } else { FRAME },
            lost: if lost { FRAME } else { 0 },
            gap: false,
            delay: f32::NAN,
        }
    }

    /// A burst of 400 packets at once, of which what exceeds 150 kB is lost, and then a packet each millisecond of which
    /// every 700th is lost, with nothing in any queue.
    #[test]
    fn one_overflow_does_not_explain_losses_that_come_at_any_backlog() {
        let burst = (0..400).map(|number| item(number * 1_000, number >= 100));
        let rest = (0..7_000).map(|number| item((300 + number) * 1_000_000, number % 700 == 699));
        let items: Vec<Item> = burst.chain(rest).collect();
        let fit = fit(&items, 0.05).unwrap();
        assert_eq!((fit.losses, fit.episodes), (310, 11), "{fit:?}");
        assert!(fit.full_episodes * 2 < fit.episodes, "{fit:?}");
    }

    /// A queue of 60 kB at 12.144 Mbit/s into which a sender puts a tenth more than it drains, and then pauses.
    #[test]
    fn every_overflow_of_one_queue_begins_with_it_full() {
        let (mut level, mut items) = (0.0_f64, Vec::new());
        for cycle in 0..8_i64 {
            for number in 0..800_i64 {
                let lost = level + f64::from(FRAME) > 60_000.0;
                items.push(item(cycle * 2_000_000_000 + number * 900_000, lost));
                level = (level - 0.9 * f64::from(FRAME)).max(0.0) + if lost { 0.0 } else { f64::from(FRAME) };
            }
            level = 0.0;
        }
        let fit = fit(&items, 0.05).unwrap();
        assert!(fit.episodes >= 8, "{fit:?}");
        assert!(fit.full_episodes * 10 >= fit.episodes * 9, "{fit:?}");
    }
}
