//! A good and a bad transfer of the same kind: what differs, and what that explains.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use slowpath_diagnose::response;
use slowpath_diagnose::situation::Situation;
use slowpath_verdict::Limit;

use crate::explain::{ExplainedConnection, Explanation};
use crate::facts::facts;
use crate::quantity::{bit_rate, byte_rate, bytes, percent, seconds};
use crate::text::{Style, fold, left, wrap};
use slowpath_words::{english, english_word};

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
    /// What differs and matters, the weightiest first.
    pub findings: Vec<String>,
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
        let mut findings = findings(pair);
        let ledgers = pair.map(|c| &c.connection.ledger);
        findings.extend(crate::ledger::grown(
            ledgers,
            pair.map(|c| c.connection.bytes_delivered),
        ));
        Some(Self {
            schema: "slowpath/compare-captures/1".to_owned(),
            files: [good, bad].map(|e| e.capture.file.clone()),
            goodput_bit_per_s: goodput,
            limits,
            sentence: sentence(goodput, limits, &findings),
            findings,
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
        for finding in &self.findings {
            for line in wrap(
                finding,
                style.width,
                english_word!("compare-captures-because"),
                "          ",
            ) {
                writeln!(out, "{line}")?;
            }
        }
        writeln!(out)?;
        let label = 22.min(style.width / 3);
        let cell = style.width.saturating_sub(label + 3) / 2;
        let columns = Columns { label, cell };
        let names = names(&self.files);
        columns.write([" ", "", &names[0], &names[1]], |line| style.bold(line), out)?;
        for row in &self.rows {
            let mark = if row.differs { "*" } else { " " };
            columns.write([mark, &row.name, &row.good, &row.bad], str::to_owned, out)?;
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

fn sentence(goodput: [f64; 2], limits: [Limit; 2], findings: &[String]) -> String {
    let ratio = goodput[0] / goodput[1];
    let speed = if !(0.95..=1.05).contains(&ratio) && ratio.is_finite() {
        let (word, factor) = if ratio > 1.0 {
            ("slower", ratio)
        } else {
            ("faster", 1.0 / ratio)
        };
        english!(
            "compare-captures-second-transfer-times-against",
            factor = format_args!("{:.1}", factor),
            word = word,
            goodput = bit_rate(goodput[1]),
            goodput2 = bit_rate(goodput[0])
        )
    } else {
        english!(
            "compare-captures-both-transfers-about-equally-fast",
            goodput = bit_rate(goodput[0]),
            goodput2 = bit_rate(goodput[1])
        )
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
    let nothing = if findings.is_empty() {
        english_word!("compare-captures-nothing-else-matters-differs")
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

/// What differs and bears on the speed, with what it comes to in figures.
fn findings(pair: [&ExplainedConnection; 2]) -> Vec<String> {
    let [good, bad] = pair.map(|c| &c.connection);
    let [was, is] = [Situation::of(good), Situation::of(bad)];
    let mut found = Vec::new();
    let receiver = bad.data_from.other().index();
    let scales = [good, bad].map(|c| c.handshake.window_scale[receiver]);
    if let [Some(shift), None] = scales {
        found.push(english!(
            "compare-captures-receiver-offers-no-window-scaling",
            shift = shift,
            max = byte_rate(response::window(65_535.0, is.mss, is.rtt_min_s.max(1e-6)))
        ));
    }
    if let (Some(a), Some(b)) = (was.window, is.window)
        && b < a * 0.75
        && is.rtt_min_s > 0.0
    {
        // A window that allows far more than was used is a consequence of the low rate, not its cause.
        let most = response::window(b, is.mss, is.rtt_min_s);
        if most < 2.0 * bad.goodput_bit_per_s / 8.0 {
            found.push(english!(
                "compare-captures-receivers-largest-window-instead-most",
                b = bytes(b),
                a = bytes(a),
                most = byte_rate(most)
            ));
        }
    }
    if was.rtt_min_s > 0.0 && is.rtt_min_s > was.rtt_min_s * 1.25 {
        found.push(english!(
            "compare-captures-path-itself-longer-instead-whatever",
            rtt_min_s = seconds(is.rtt_min_s),
            rtt_min_s2 = seconds(was.rtt_min_s)
        ));
    }
    let queue = [&was, &is].map(|s| s.rtt_s - s.rtt_min_s);
    if queue[1] > 0.02 && queue[1] > 2.0 * queue[0] {
        found.push(english!(
            "compare-captures-packets-wait-queue-instead",
            queue = seconds(queue[1]),
            max = seconds(queue[0].max(0.0))
        ));
    }
    let (low, _) = response::loss_interval(is.lost, is.segments);
    let (_, high) = response::loss_interval(was.lost, was.segments);
    if low > high {
        let share = is.lost / is.segments.max(1.0);
        found.push(english!(
            "compare-captures-segments-lost-instead-about-cubic",
            share = percent(share),
            max = percent(was.lost / was.segments.max(1.0)),
            max2 = byte_rate(response::cubic(share, is.mss, is.rtt_min_s.max(1e-6)))
        ));
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
        if good.handshake.seen && bad.handshake.seen && of(good) && !of(bad) {
            found.push(english!("compare-captures-not-agreed-on-any-more", name = name));
        }
    }
    let sizes = [&was, &is].map(|s| s.mss);
    if sizes[1] < sizes[0] * 0.97 {
        found.push(english!(
            "compare-captures-segments-carry-instead",
            sizes = bytes(sizes[1]),
            sizes2 = bytes(sizes[0])
        ));
    }
    let marks = [good, bad].map(|c| match c.data_from {
        slowpath_facts::Side::Client => c.dscp.client.clone(),
        slowpath_facts::Side::Server => c.dscp.server.clone(),
    });
    if marks[0] != marks[1] {
        let words = |m: &[u8]| m.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
        found.push(english!(
            "compare-captures-data-carries-dscp-instead-some",
            marks = words(&marks[1]),
            marks2 = words(&marks[0])
        ));
    }
    found
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
