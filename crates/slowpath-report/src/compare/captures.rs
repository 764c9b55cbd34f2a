//! A good and a bad transfer of the same kind: what differs, and what that explains.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use slowpath_diagnose::response;
use slowpath_diagnose::situation::Situation;
use slowpath_verdict::Limit;
use slowpath_verdict::ledger::{CapacityIs, Ledger};

use crate::explain::{ExplainedConnection, Explanation};
use crate::facts::{facts, label, value};
use crate::quantity::{bit_rate, byte_rate, bytes, percent, seconds};
use crate::text::{Style, fold, left, wrap};
use slowpath_words::{english, english_word, word};

/// Two captures compared by their largest connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaptureComparison {
    /// Form of this document.
    pub schema: String,
    /// File names: good, bad.
    pub files: [String; 2],
    /// Goodput in bit/s: good, bad.
    pub goodput_bit_per_s: [f64; 2],
    /// Limits: good, bad.
    pub limits: [Limit; 2],
    /// The answer in a sentence or two.
    pub sentence: String,
    /// What differs and explains the difference in speed, the weightiest first.
    pub findings: Vec<String>,
    /// What differs and would by itself make the faster one slower.
    #[serde(default)]
    pub although: Vec<String>,
    /// Everything side by side.
    pub rows: Vec<Difference>,
}

/// One line of the side-by-side table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What it is.
    pub name: String,
    /// In the good capture.
    pub good: String,
    /// In the bad capture.
    pub bad: String,
    /// Whether the two differ by more than chance would explain.
    pub differs: bool,
}

impl CaptureComparison {
    /// Compares the largest connections; `None` if a capture has none.
    pub fn of(good: &Explanation, bad: &Explanation) -> Option<Self> {
        let pair = [good.connections.first()?, bad.connections.first()?];
        let goodput = pair.map(|c| c.connection.goodput_bit_per_s);
        let limits = pair.map(|c| c.connection.verdict.limit);
        let course = Course::of(goodput);
        let [mut findings, mut although] = course.sort(pair);
        let reasons = match course {
            Course::Alike => &mut although,
            Course::Slower | Course::Faster => &mut findings,
        };
        reasons.extend(marks(pair));
        let grown = crate::ledger::grown(
            pair.map(|c| &c.connection.ledger),
            pair.map(|c| c.connection.bytes_delivered),
            course == Course::Faster,
        );
        reasons.extend(grown);
        Some(Self {
            schema: "slowpath/compare-captures/1".to_owned(),
            files: [good, bad].map(|e| e.capture.file.clone()),
            goodput_bit_per_s: goodput,
            limits,
            sentence: sentence(goodput, limits, [&findings, &although]),
            findings,
            although,
            rows: rows(pair),
        })
    }

    /// Writes the comparison as text: the answer, the findings, the table with differences marked.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        for line in wrap(&self.sentence, style.width, "", "") {
            writeln!(out, "{}", style.bold(&line))?;
        }
        let because = (&self.findings, word!("compare-captures-because"));
        let although = (&self.although, word!("compare-captures-although"));
        for (reasons, word) in [because, although] {
            for reason in reasons {
                for line in wrap(reason, style.width, word, "          ") {
                    writeln!(out, "{line}")?;
                }
            }
        }
        writeln!(out)?;
        let names_width = 22.min(style.width / 3);
        let columns = Columns {
            label: names_width,
            cell: style.width.saturating_sub(names_width + 3) / 2,
        };
        let names = names(&self.files);
        columns.write([" ", "", &names[0], &names[1]], |line| style.bold(line), out)?;
        for row in &self.rows {
            let mark = if row.differs { "*" } else { " " };
            let [name, good, bad] = [label(&row.name), value(&row.good), value(&row.bad)];
            columns.write([mark, &name, &good, &bad], str::to_owned, out)?;
        }
        Ok(())
    }
}

/// Widths of a table with a name and two values.
#[derive(Clone, Copy)]
struct Columns {
    label: usize,
    cell: usize,
}

impl Columns {
    /// Writes a row: its mark, its name and both values, in as many lines as they need. Nothing is cut.
    fn write(
        self,
        [mark, name, good, bad]: [&str; 4],
        paint: impl Fn(&str) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let cells = [
            fold(name, self.label - 1),
            fold(good, self.cell),
            fold(bad, self.cell),
        ];
        let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
        for number in 0..lines {
            let [name, good, bad] = [0, 1, 2].map(|i: usize| cells[i].get(number).map_or("", String::as_str));
            let mark = if number == 0 { mark } else { " " };
            let line = format!("{mark} {}{} {bad}", left(name, self.label), left(good, self.cell));
            writeln!(out, "{}", paint(line.trim_end()))?;
        }
        Ok(())
    }
}

/// What two files are called beside each other: their names, or as much of their paths as tells them apart.
fn names(files: &[String; 2]) -> [String; 2] {
    let parts = files.each_ref().map(|file| file.split('/').rev());
    let [first, second] = parts;
    let alike = first.zip(second).take_while(|(a, b)| a == b).count();
    files.each_ref().map(|file| {
        let shown: Vec<&str> = file.rsplit('/').take(alike + 1).collect();
        shown.into_iter().rev().collect::<Vec<_>>().join("/")
    })
}

/// How fast the second transfer was, compared with the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    Slower,
    Alike,
    Faster,
}

impl Course {
    fn of(goodput: [f64; 2]) -> Self {
        let ratio = goodput[0] / goodput[1];
        if !ratio.is_finite() || (0.95..=1.05).contains(&ratio) {
            Self::Alike
        } else if ratio > 1.0 {
            Self::Slower
        } else {
            Self::Faster
        }
    }

    /// What explains this course, and what stands against it.
    fn sort(self, [first, second]: [&ExplainedConnection; 2]) -> [Vec<String>; 2] {
        let slower = reasons([first, second], Named::SlowSecond);
        let faster = reasons([second, first], Named::SlowFirst);
        match self {
            Self::Slower => [slower, faster],
            Self::Faster => [faster, slower],
            Self::Alike => [Vec::new(), slower.into_iter().chain(faster).collect()],
        }
    }
}

/// Which of two transfers is named first; sentences tell of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    SlowSecond,
    SlowFirst,
}

fn sentence(goodput: [f64; 2], limits: [Limit; 2], [because, although]: [&[String]; 2]) -> String {
    let ratio = goodput[0] / goodput[1];
    let course = Course::of(goodput);
    let times = |word, factor: f64| {
        english!(
            "compare-captures-second-transfer-times-against",
            factor = format_args!("{:.1}", factor),
            word = word,
            goodput = bit_rate(goodput[1]),
            goodput2 = bit_rate(goodput[0])
        )
    };
    let speed = match course {
        Course::Slower => times("slower", ratio),
        Course::Faster => times("faster", 1.0 / ratio),
        Course::Alike => english!(
            "compare-captures-both-transfers-about-equally-fast",
            goodput = bit_rate(goodput[0]),
            goodput2 = bit_rate(goodput[1])
        ),
    };
    let limit = if limits[0] == limits[1] {
        english!("compare-captures-both-limited-by", limits = limits[0])
    } else {
        english!(
            "compare-captures-limited-by-first-by",
            limits = limits[1],
            limits2 = limits[0]
        )
    };
    let nothing = if because.is_empty() && although.is_empty() {
        english_word!("compare-captures-nothing-else-matters-differs")
    } else if because.is_empty() && course != Course::Alike {
        english_word!("compare-captures-nothing-explains")
    } else {
        ""
    };
    format!("{speed}; {limit}{nothing}.")
}

fn rows(pair: [&ExplainedConnection; 2]) -> Vec<Difference> {
    let row = |name: &str, values: [String; 2], differs: bool| {
        let [good, bad] = values;
        Difference {
            name: name.to_owned(),
            good,
            bad,
            differs,
        }
    };
    let far = |values: [f64; 2], share: f64| {
        let larger = values[0].abs().max(values[1].abs());
        larger > 0.0 && (values[0] - values[1]).abs() > share * larger
    };
    let number = |of: fn(&ExplainedConnection) -> f64| pair.map(of);
    let goodput = number(|c| c.connection.goodput_bit_per_s);
    let limits = pair.map(|c| c.connection.verdict.limit.to_string());
    let rtt = number(|c| c.connection.rtt_s.median);
    let least = number(|c| c.connection.rtt_s.min);
    let known = pair.map(|c| Situation::of(&c.connection));
    let loss = [0, 1].map(|i: usize| known[i].lost / known[i].segments.max(1.0));
    let window = [0, 1].map(|i: usize| known[i].window.unwrap_or(0.0));
    let mut rows = vec![
        row("goodput", goodput.map(bit_rate), far(goodput, 0.1)),
        row("limit", limits.clone(), limits[0] != limits[1]),
        row(
            english_word!("compare-captures-round-trip-median"),
            rtt.map(seconds),
            far(rtt, 0.2),
        ),
        row(
            english_word!("compare-captures-round-trip-least"),
            least.map(seconds),
            far(least, 0.2),
        ),
        row(
            english_word!("compare-captures-lost-on-way"),
            loss.map(percent),
            far(loss, 0.6) && loss.iter().any(|l| *l > 1e-4),
        ),
        row(
            english_word!("compare-captures-largest-window"),
            window.map(bytes),
            far(window, 0.25),
        ),
    ];
    let told = [
        "client",
        "server",
        english_word!("compare-captures-round-trip"),
        "lost",
    ];
    let [first, second] = pair.map(|one| facts(&one.connection));
    for ((name, a), (_, b)) in first.into_iter().zip(second) {
        if !told.contains(&name) {
            let counted = [
                english_word!("compare-captures-sent-again"),
                english_word!("compare-captures-these-vain"),
                english_word!("compare-captures-out-order"),
                english_word!("compare-captures-window-closed"),
            ]
            .contains(&name);
            let differs = a != b && !counted;
            rows.push(row(name, [a, b], differs));
        }
    }
    rows
}

/// What makes one transfer slower than another, with what it comes to in figures: first the fast one, then the slow.
fn reasons(pair: [&ExplainedConnection; 2], named: Named) -> Vec<String> {
    let [fast, slow] = pair.map(|c| &c.connection);
    let [was, is] = [Situation::of(fast), Situation::of(slow)];
    let mut found = Vec::new();
    // Where both fill a link, its rate is what makes them as fast as they are.
    if [&was, &is].iter().all(|s| s.fills_the_link())
        && let [Some(more), Some(less)] = [fast, slow].map(|c| measured_capacity(&c.ledger))
        && less < more * 0.95
    {
        let [more, less] = [more, less].map(bit_rate);
        found.push(match named {
            Named::SlowSecond => english!("compare-captures-slower-link", now = less, was = more),
            Named::SlowFirst => english!("compare-captures-faster-link", now = more, was = less),
        });
    }
    let receiver = slow.data_from.other().index();
    let scales = [fast, slow].map(|c| c.handshake.window_scale[receiver]);
    if let [Some(shift), None] = scales {
        let max = byte_rate(response::window(65_535.0, is.mss, is.rtt_min_s.max(1e-6)));
        found.push(match named {
            Named::SlowSecond => english!(
                "compare-captures-receiver-offers-no-window-scaling",
                shift = shift,
                max = max
            ),
            Named::SlowFirst => english!("compare-captures-window-scaling-now", shift = shift, max = max),
        });
    }
    if let (Some(a), Some(b)) = (was.window, is.window)
        && b < a * 0.75
        && is.rtt_min_s > 0.0
    {
        // A window that allows far more than was used is a consequence of the low rate, not its cause.
        let most = response::window(b, is.mss, is.rtt_min_s);
        if most < 2.0 * slow.goodput_bit_per_s / 8.0 {
            let (second, first) = (bytes(b), bytes(a));
            found.push(match named {
                Named::SlowSecond => english!(
                    "compare-captures-receivers-largest-window-instead-most",
                    b = second,
                    a = first,
                    most = byte_rate(most)
                ),
                Named::SlowFirst => english!(
                    "compare-captures-larger-window",
                    now = first,
                    was = second,
                    most = byte_rate(most)
                ),
            });
        }
    }
    if [&was, &is].iter().any(|s| waits_for_round_trips(s))
        && was.rtt_min_s > 0.0
        && is.rtt_min_s > was.rtt_min_s * 1.25
    {
        let [shorter, longer] = [&was, &is].map(|s| seconds(s.rtt_min_s));
        found.push(match named {
            Named::SlowSecond => english!(
                "compare-captures-path-itself-longer-instead-whatever",
                rtt_min_s = longer,
                rtt_min_s2 = shorter
            ),
            Named::SlowFirst => english!("compare-captures-shorter-path", now = shorter, was = longer),
        });
    }
    let queue = [&was, &is].map(|s| (s.rtt_s - s.rtt_min_s).max(0.0));
    if queue[1] > 0.02 && queue[1] > 2.0 * queue[0] {
        let [short, long] = queue.map(seconds);
        found.push(match named {
            Named::SlowSecond => english!(
                "compare-captures-packets-wait-queue-instead",
                queue = long,
                max = short
            ),
            Named::SlowFirst => english!("compare-captures-shorter-queue", now = short, was = long),
        });
    }
    let (low, _) = response::loss_interval(is.lost, is.segments);
    let (_, high) = response::loss_interval(was.lost, was.segments);
    if low > high {
        let [few, many] = [&was, &is].map(|s| s.lost / s.segments.max(1.0));
        let most = response::cubic(many, is.mss, is.rtt_min_s.max(1e-6));
        // What losses by chance allow says nothing of a policer or an overflow, nor of a control that does not heed them.
        let by_chance = slow.verdict.limit == Limit::RandomLoss && is.goodput <= HEEDS * most;
        let allowed = by_chance.then(|| byte_rate(most));
        let [few, many] = [few, many].map(percent);
        found.push(match (named, allowed) {
            (Named::SlowSecond, None) => english!("compare-captures-more-lost", share = many, max = few),
            (Named::SlowFirst, None) => english!("compare-captures-less-lost", now = few, was = many),
            (Named::SlowSecond, Some(most)) => english!(
                "compare-captures-segments-lost-instead-about-cubic",
                share = many,
                max = few,
                max2 = most
            ),
            (Named::SlowFirst, Some(most)) => {
                english!("compare-captures-fewer-lost", now = few, was = many, most = most)
            }
        });
    }
    for (name, of) in [
        (
            "SACK",
            (|c| c.handshake.sack.iter().all(|s| *s == Some(true)))
                as fn(&slowpath_verdict::Connection) -> bool,
        ),
        ("timestamps", |c| {
            c.handshake.timestamps.iter().all(|s| *s == Some(true))
        }),
    ] {
        if fast.handshake.seen && slow.handshake.seen && of(fast) && !of(slow) {
            found.push(match named {
                Named::SlowSecond => english!("compare-captures-not-agreed-on-any-more", name = name),
                Named::SlowFirst => english!("compare-captures-agreed-now", name = name),
            });
        }
    }
    let sizes = [&was, &is].map(|s| s.mss);
    if sizes[1] < sizes[0] * 0.97 {
        let [large, small] = sizes.map(bytes);
        found.push(match named {
            Named::SlowSecond => english!(
                "compare-captures-segments-carry-instead",
                sizes = small,
                sizes2 = large
            ),
            Named::SlowFirst => english!("compare-captures-larger-segments", now = large, was = small),
        });
    }
    found
}

/// How many times as fast as losses let CUBIC be a sender still heeds them.
const HEEDS: f64 = 1.5;

/// Whether its limit may let more through where round trips are shorter: one that is a rate of its own does not.
fn waits_for_round_trips(transfer: &Situation) -> bool {
    let rate_of_its_own = matches!(
        transfer.limit,
        Limit::SenderApplication | Limit::ReceiverApplication | Limit::DeviceLimit | Limit::HostCpu
    );
    !transfer.fills_the_link() && !rate_of_its_own
}

/// What the path carries, in bit/s of payload, where more is known than that it carried what it did.
fn measured_capacity(ledger: &Ledger) -> Option<f64> {
    ledger
        .capacity_bit_per_s
        .filter(|_| ledger.capacity_is != CapacityIs::AtLeast)
}

/// What other marks of the data may have done; which of two is the better one, no capture tells.
fn marks(pair: [&ExplainedConnection; 2]) -> Option<String> {
    let marks = pair.map(|c| match c.connection.data_from {
        slowpath_facts::Side::Client => &c.connection.dscp.client,
        slowpath_facts::Side::Server => &c.connection.dscp.server,
    });
    let words = |m: &[u8]| m.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    (marks[0] != marks[1]).then(|| {
        english!(
            "compare-captures-data-carries-dscp-instead-some",
            marks = words(marks[1]),
            marks2 = words(marks[0])
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(files: [&str; 2], width: usize) -> String {
        let comparison = CaptureComparison {
            schema: String::new(),
            files: files.map(str::to_owned),
            goodput_bit_per_s: [1e6, 1e6],
            limits: [Limit::RandomLoss; 2],
            sentence: "Both are equally fast.".to_owned(),
            findings: Vec::new(),
            although: Vec::new(),
            rows: vec![Difference {
                name: "window in the last round trip".to_owned(),
                good: "reno, with timestamps, SACK and a window scale of 7".to_owned(),
                bad: "reno, with timestamps, SACK and a window scale of 8".to_owned(),
                differs: true,
            }],
        };
        let style = Style {
            width,
            ..Style::default()
        };
        let mut out = Vec::new();
        comparison.write(style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_differs_at_its_end_is_not_cut_to_look_alike() {
        for width in [40, 60, 80, 100] {
            let shown = table(["transfer-of-the-large-backup-monday.pcapng", "b.pcap"], width);
            let longest = shown.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width, "{longest} columns:\n{shown}");
            let end = shown.lines().last().unwrap();
            assert!(shown.contains('7') && shown.contains('8'), "{end}");
            assert!(!shown.contains('…'), "{shown}");
            // The first column's pieces make the name again.
            let (label, cell) = (22.min(width / 3), (width - 22.min(width / 3) - 3) / 2);
            let heads = shown.lines().skip(2).take_while(|line| !line.starts_with('*'));
            let name: String = heads
                .flat_map(|line| line.chars().skip(label + 2).take(cell).filter(|c| *c != ' '))
                .collect();
            assert_eq!(name, "transfer-of-the-large-backup-monday.pcapng");
        }
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_their_folders() {
        let files = ["monday/a/x.pcap".to_owned(), "tuesday/a/x.pcap".to_owned()];
        assert_eq!(names(&files), ["monday/a/x.pcap", "tuesday/a/x.pcap"]);
        let files = ["one/x.pcap".to_owned(), "/two/y.pcap".to_owned()];
        assert_eq!(names(&files), ["x.pcap", "y.pcap"]);
        assert_eq!(names(&["x".to_owned(), "x".to_owned()]), ["x", "x"]);
    }
}
