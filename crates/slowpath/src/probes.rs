//! Figures measured on a transfer, by the names under which experiments publish them.

use slowpath_facts::Point;
use slowpath_verdict::Connection;

/// A figure that can be measured on one connection.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Its name in experiment files.
    pub id: &'static str,
    /// What it is, for the reader.
    pub title: &'static str,
    /// Unit of its value, spelled out.
    pub unit: &'static str,
    measure: Measure,
}

#[derive(Debug, Clone, Copy)]
enum Measure {
    /// What the connection shows, whatever was published.
    Alone(fn(&Connection) -> Option<f64>),
    /// What the connection shows of several values, nearest to the published one.
    Nearest(fn(&Connection, f64) -> Option<f64>),
}

impl Probe {
    /// The figure on `connection`; `None` where the connection does not show it.
    ///
    /// `published` is what it will be compared with, in the probe's unit.
    pub fn measure(&self, connection: &Connection, published: f64) -> Option<f64> {
        match self.measure {
            Measure::Alone(measure) => measure(connection),
            Measure::Nearest(measure) => measure(connection, published),
        }
    }
}

/// The probe called `id`.
pub fn probe(id: &str) -> Option<&'static Probe> {
    PROBES.iter().find(|probe| probe.id == id)
}

/// All probes.
pub const PROBES: &[Probe] = &[
    Probe {
        id: "steady-window",
        title: "window in steady state",
        unit: "byte",
        measure: Measure::Alone(steady_window),
    },
    Probe {
        id: "frequent-window",
        title: "frequent window",
        unit: "byte",
        measure: Measure::Nearest(frequent_window),
    },
    Probe {
        id: "initial-window",
        title: "largest window",
        unit: "byte",
        measure: Measure::Alone(largest_window),
    },
    Probe {
        id: "window-collapse",
        title: "time until the window has collapsed",
        unit: "s",
        measure: Measure::Alone(window_collapse),
    },
    Probe {
        id: "plateau",
        title: "wire rate in steady state",
        unit: "bit/s",
        measure: Measure::Alone(plateau),
    },
    Probe {
        id: "initial-plateau",
        title: "wire rate in the first 4 s",
        unit: "bit/s",
        measure: Measure::Alone(initial_plateau),
    },
    Probe {
        id: "rhythm",
        title: "time from stall to stall",
        unit: "s",
        measure: Measure::Alone(rhythm),
    },
];

/// The window advertised most often, after the first tenth of the transfer.
fn steady_window(connection: &Connection) -> Option<f64> {
    most_frequent(later(&connection.graphs.window).map(|point| point.value))
}

/// Of the windows that at least one acknowledgement in twenty advertises, after the first tenth of the transfer, the one
/// nearest to `published`.
///
/// A slow reader leaves whole segments unread, so its windows take few values, several of them as often as one another:
/// which comes second or third says nothing.
fn frequent_window(connection: &Connection, published: f64) -> Option<f64> {
    nearest_frequent(
        later(&connection.graphs.window)
            .map(|point| point.value)
            .collect(),
        published,
    )
}

fn nearest_frequent(mut values: Vec<f64>, published: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values
        .chunk_by(|a, b| a.total_cmp(b).is_eq())
        .filter(|group| group.len() * 20 >= values.len())
        .map(|group| group[0])
        .min_by(|a, b| (a - published).abs().total_cmp(&(b - published).abs()))
}

fn largest_window(connection: &Connection) -> Option<f64> {
    connection
        .graphs
        .window
        .iter()
        .map(|point| point.value)
        .reduce(f64::max)
}

/// From the first data to the first window below a hundredth of the largest.
fn window_collapse(connection: &Connection) -> Option<f64> {
    let largest = largest_window(connection)?;
    let begin = connection.graphs.segments.first()?.at_s;
    let collapsed = connection
        .graphs
        .window
        .iter()
        .find(|point| point.at_s > begin && point.value < largest / 100.0)?;
    Some(collapsed.at_s - begin)
}

/// Median over the bins of the I/O graph, without the first and last tenth of the transfer.
fn plateau(connection: &Connection) -> Option<f64> {
    let bin = connection.graphs.io_bin_s;
    if bin <= 0.0 {
        return None;
    }
    // Spans of a second, as people read the graph, or of one bin where bins are longer.
    let least = 1.0 - bin / 2.0;
    let mut rates = Vec::new();
    let (mut bytes, mut span) = (0, 0.0);
    for one in &connection.graphs.io {
        bytes += one.bytes;
        span += bin;
        if span >= least {
            rates.push(std::mem::take(&mut bytes) as f64 * 8.0 / std::mem::take(&mut span));
        }
    }
    let skip = rates.len() / 10;
    median(rates.get(skip..rates.len() - skip)?.to_vec())
}

fn initial_plateau(connection: &Connection) -> Option<f64> {
    let begin = connection.graphs.segments.first()?.at_s;
    let bytes: u64 = connection
        .graphs
        .io
        .iter()
        .filter(|bin| bin.at_s >= begin && bin.at_s < begin + 4.0)
        .map(|bin| bin.bytes)
        .sum();
    Some(bytes as f64 * 8.0 / 4.0)
}

/// Time from one stall to the next: the span from the first to the last of them over their number.
///
/// A burst comes each round trip, so a stall that is more than waiting for acknowledgements leaves one out: it is
/// a pause longer than one and a half round trips.
fn rhythm(connection: &Connection) -> Option<f64> {
    let begins: Vec<f64> = stalls(connection).collect();
    let (first, last) = (begins.first()?, begins.last()?);
    (begins.len() > 2).then(|| (last - first) / (begins.len() - 1) as f64)
}

/// When each pause of the data longer than one and a half of the shortest round trips begins.
fn stalls(connection: &Connection) -> impl Iterator<Item = f64> + '_ {
    let least = connection.rtt_s.min * 1.5;
    connection
        .graphs
        .segments
        .windows(2)
        .map(|pair| (pair[0].at_s, pair[1].at_s))
        .filter(move |(begin, end)| end - begin > least)
        .map(|(begin, _)| begin)
}

/// The points after the first tenth of the time.
fn later(points: &[Point]) -> impl Iterator<Item = &Point> {
    let begin = points.first().map_or(0.0, |point| point.at_s);
    let end = points.last().map_or(0.0, |point| point.at_s);
    points
        .iter()
        .filter(move |point| point.at_s >= begin + (end - begin) / 10.0)
}

fn most_frequent(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let mut best: Option<(f64, usize)> = None;
    for group in sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()) {
        if best.is_none_or(|(_, count)| group.len() > count) {
            best = Some((group[0], group.len()));
        }
    }
    best.map(|(value, _)| value)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::nearest_frequent;

    #[test]
    fn a_rare_window_is_not_taken_for_a_frequent_one() {
        let windows: Vec<f64> = [(14_924.0, 50), (12_004.0, 24), (13_464.0, 24), (10_544.0, 2)]
            .iter()
            .flat_map(|(value, times)| std::iter::repeat_n(*value, *times))
            .collect();
        assert_eq!(nearest_frequent(windows.clone(), 12_004.0), Some(12_004.0));
        assert_eq!(nearest_frequent(windows.clone(), 14_000.0), Some(13_464.0));
        // Two of a hundred acknowledgements are not frequent.
        assert_eq!(nearest_frequent(windows, 10_544.0), Some(12_004.0));
        assert_eq!(nearest_frequent(Vec::new(), 10_544.0), None);
    }
}
