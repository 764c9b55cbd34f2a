//! The comparison as a page.

use std::fmt::Write as _;

use slowpath_diagnose::stats;
use slowpath_verdict::Limit;

use super::{Compared, Side, within};
use crate::cells::{self, Cell};
use crate::explained;

/// The page `docs/validation/twin.md`.
pub fn page(compared: &[Compared]) -> String {
    let mut text = String::new();
    let count = |holds: &dyn Fn(&Compared) -> bool| compared.iter().filter(|one| holds(one)).count();
    let done = count(&|one| one.ratio.is_some());
    let close = count(&Compared::is_close);
    let near = count(&Compared::is_near);
    let judged = count(&|one| one.same_verdict().is_some());
    let same = count(&|one| one.same_verdict() == Some(true));
    let low = count(&|one| one.cell.expected_utilisation() < 0.9);
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let _ = writeln!(
        text,
        "# The same path in two clocks\n\n\
         Written by `cargo run --release -p slowpath-validate --example standing -- twin`.\n\n\
         One file over FTP from a kernel host to a kernel host over slowpath's wire, and the same plan with model hosts\n\
         in simulated time. Random loss hits the same numbered packets in both. The list of cells is a rule, fixed\n\
         before the first comparison (module `slowpath_validate::cells`); {low} of {} cells should use less than 90 % of their\n\
         path. The ratio is simulated over lab goodput: geometric mean over pairs of equal seeds, with its 95 % interval.\n\n\
         * {done} of {} cells were run in both clocks{}.\n\
         * Within 10 %, the interval no wider than 10 % either way: **{close} of {done} ({:.0} %)**, {:.0} % of all.\n\
         * Within 20 %: **{near} of {done} ({:.0} %)**.\n\
         * Same verdict in both clocks: **{same} of {judged} ({:.0} %)**.\n",
        compared.len(),
        compared.len(),
        if done < compared.len() {
            "; of the others this machine carried no two lab runs that their health accepts, they do not count below"
        } else {
            ""
        },
        percent(close, done),
        percent(close, compared.len()),
        percent(near, done),
        percent(same, judged),
    );
    groups(&mut text, compared);
    rows(&mut text, compared);
    misses(&mut text, compared);
    text
}

/// Where the model errs as a whole: geometric means over everything that has a property.
fn groups(text: &mut String, compared: &[Compared]) {
    let _ = writeln!(
        text,
        "| cells with | number | within 10 % | mean ratio |\n|---|---|---|---|"
    );
    let mut row = |name: String, holds: &dyn Fn(&Cell) -> bool| {
        let own: Vec<&Compared> = compared
            .iter()
            .filter(|one| holds(&one.cell) && one.ratio.is_some())
            .collect();
        if own.is_empty() {
            return;
        }
        let logs: Vec<f64> = own
            .iter()
            .filter_map(|one| one.ratio.map(|ratio| ratio.mean.ln()))
            .collect();
        let close = own.iter().filter(|one| one.is_close()).count();
        let _ = writeln!(
            text,
            "| {name} | {} | {close} | {:.3} |",
            own.len(),
            stats::mean(&logs).exp()
        );
    };
    for congestion in cells::Congestion::ALL {
        row(congestion.name().to_owned(), &|cell| {
            cell.congestion == congestion
        });
    }
    for tenths in [1, 10, 40] {
        row(format!("a queue of {} BDP", f64::from(tenths) / 10.0), &|cell| {
            cell.queue_tenths == tenths
        });
    }
    for loss in [0, 1, 10, 100] {
        row(format!("{} % loss", f64::from(loss) / 100.0), &|cell| {
            cell.loss_e4 == loss
        });
    }
    for rtt in [1, 20, 100, 250] {
        row(format!("{rtt} ms"), &|cell| cell.rtt_ms == rtt);
    }
    for rate in [10, 50, 200, 1_000] {
        row(format!("{rate} Mbit/s"), &|cell| cell.rate_mbit_per_s == rate);
    }
    text.push('\n');
}

fn rows(text: &mut String, compared: &[Compared]) {
    let _ = writeln!(
        text,
        "## Every cell\n\n\
         Lab / simulated; loss is the path's random loss, `again` retransmitted over needed segments, `queue` the mean of\n\
         the smoothed round-trip time beyond the empty path's.\n\n\
         | path | control | n | Mbit/s | ratio | interval | again % | queue ms | time s | verdict |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    for one in compared {
        let cell = &one.cell;
        let verdict = |side: &Side| side.verdict.map_or("-", Limit::name);
        let ratio = one.ratio.map_or("-".to_owned(), |ratio| {
            format!("{:.3}{}", ratio.mean, if one.is_close() { "" } else { " !" })
        });
        let interval = one.ratio.map_or("-".to_owned(), |ratio| {
            format!("{:.3} to {:.3}", ratio.low, ratio.high)
        });
        let (lab, twin) = (&one.lab, &one.simulated);
        let verdicts = if lab.verdict == twin.verdict {
            verdict(lab).to_owned()
        } else {
            format!("**{} / {}**", verdict(lab), verdict(twin))
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {ratio} | {interval} | {} | {} | {} | {verdicts} |",
            path(cell),
            cell.congestion.name(),
            one.ratio.map_or(0, |ratio| ratio.pairs),
            both(lab.goodput_bit_per_s, twin.goodput_bit_per_s, 1e-6, 2),
            both(lab.retransmitted, twin.retransmitted, 100.0, 2),
            both(lab.queue_s, twin.queue_s, 1e3, 1),
            both(lab.duration_s, twin.duration_s, 1.0, 1),
        );
    }
    text.push('\n');
}

/// A figure of both clocks times `factor`, a dash where it is not known.
fn both(lab: Option<f64>, twin: Option<f64>, factor: f64, digits: usize) -> String {
    let show = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{:.digits$}", v * factor));
    format!("{} / {}", show(lab), show(twin))
}

fn path(cell: &Cell) -> String {
    format!(
        "{} Mbit/s, {} ms, {} %, {} BDP",
        cell.rate_mbit_per_s,
        cell.rtt_ms,
        f64::from(cell.loss_e4) / 100.0,
        f64::from(cell.queue_tenths) / 10.0
    )
}

fn misses(text: &mut String, compared: &[Compared]) {
    let _ = writeln!(text, "## Cells that miss\n");
    let mut told: Vec<(String, &str)> = Vec::new();
    for one in compared
        .iter()
        .filter(|one| !one.is_close() || one.same_verdict() == Some(false))
    {
        let mut what = Vec::new();
        match one.ratio {
            None => what.push(format!(
                "not compared: {} lab runs ({} refused by their health), {} simulated",
                one.lab.runs, one.refused, one.simulated.runs
            )),
            Some(ratio) if !within(ratio.mean, 0.1) => what.push(format!("the ratio is {:.3}", ratio.mean)),
            Some(ratio) if !one.is_close() => what.push(format!(
                "the interval is too wide for a judgement ({:.3} to {:.3})",
                ratio.low, ratio.high
            )),
            Some(_) => {}
        }
        if one.same_verdict() == Some(false) {
            what.push("the verdicts differ".to_owned());
        }
        what.extend(one.differences());
        let name = one.cell.name();
        let why = explained::reason(&name).map_or(String::new(), |why| {
            if let Some((first, _)) = told.iter().find(|(_, known)| *known == why) {
                return format!(" As with `{first}`.");
            }
            told.push((name.clone(), why));
            format!(" {why}")
        });
        let _ = writeln!(text, "* `{name}`: {}.{why}", what.join("; "));
    }
}
