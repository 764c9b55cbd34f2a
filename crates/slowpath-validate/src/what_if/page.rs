//! The page `docs/validation/what-if.md`.

use std::fmt::Write as _;

use super::factual::{Factual, Figures};
use super::pairs::{Pair, Told};

/// Pairs of one kind and how they were drawn.
#[derive(Debug)]
pub struct Drawn<'a> {
    /// The pairs.
    pub pairs: &'a [Pair],
    /// The seed that drew them.
    pub seed: u64,
    /// [`digest`](super::drawn::digest) of the whole list.
    pub list: String,
    /// Runs that do not count, each with the reason.
    pub left_out: &'a [String],
}

/// The page.
pub fn page(factual: &[Factual], simulated: &Drawn<'_>, lab: &Drawn<'_>) -> String {
    let mut out = format!(
        "# Fitted paths: how well they explain and predict\n\nWritten by `cargo run --release -p slowpath-validate --example standing -- what-if`{}. No label reaches a fit.\n\n",
        if cfg!(debug_assertions) {
            "; this page by a development build, on processors that did other work as well: its seconds are upper bounds"
        } else {
            ""
        }
    );
    write_factual(&mut out, factual);
    write_controls(&mut out, factual, simulated, lab);
    write_captures(&mut out, factual);
    write_all(&mut out, simulated, lab);
    write_pairs(&mut out, "both in simulated time", simulated);
    write_pairs(&mut out, "both in the lab, by iperf3 over the kernel's TCP", lab);
    out
}

fn share(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of.max(1) as f64
}

fn fitted(factual: &[Factual]) -> impl Iterator<Item = (&Factual, &Figures)> {
    factual
        .iter()
        .filter_map(|one| Some((one, one.fit.as_ref().ok()?)))
}

fn write_factual(out: &mut String, factual: &[Factual]) {
    let near = fitted(factual)
        .filter(|(_, fit)| (fit.ratio - 1.0).abs() <= 0.1)
        .count();
    let explains = fitted(factual).filter(|(_, fit)| fit.explains).count();
    let hits = |by_lab: bool| {
        let of: Vec<f64> = fitted(factual)
            .filter(|(_, fit)| fit.known_by_lab || !by_lab)
            .flat_map(|(_, fit)| fit.parameters.iter().map(|known| known.1))
            .collect();
        let hit = of.iter().filter(|ratio| (**ratio - 1.0).abs() <= 0.15).count();
        format!("{hit} of {}", of.len())
    };
    let mut seconds: Vec<f64> = factual.iter().map(|one| one.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let _ = writeln!(
        out,
        "## Factual: labelled captures of more than a second\n\n| | |\n|---|---|\n| captures | {} |\n| goodput within 10 % | {near} |\n| model near enough to answer by | {explains} |\n| parameters that the lab knows, within 15 % | {} |\n| parameters that any label knows, within 15 % | {} |\n| seconds per fit, median and most | {:.1}, {:.1} |\n",
        factual.len(),
        hits(true),
        hits(false),
        seconds.get(seconds.len() / 2).copied().unwrap_or(0.0),
        seconds.last().copied().unwrap_or(0.0)
    );
}

/// Which captures belong to a row, by their loss episodes.
type Belongs<'a> = &'a dyn Fn(u64) -> bool;

/// The congestion control, by how much of it a capture shows.
fn write_controls(out: &mut String, factual: &[Factual], simulated: &Drawn<'_>, lab: &Drawn<'_>) {
    out.push_str(
        "## Which congestion control\n\nTransfers whose sender's congestion control is known, by the number of their loss episodes. Where a window or a program held the sender the answer is \"cannot tell\", and the set is of no use.\n\n| transfers | loss episodes | how many | true one in the set | set of one | set of one, and true | cannot tell |\n|---|---|---|---|---|---|---|\n",
    );
    let labelled: Vec<Told> = fitted(factual)
        .filter_map(|(one, fit)| {
            Some(Told {
                truth: one.congestion.clone()?,
                fits: fit.controls.clone(),
                events: fit.events,
                cannot_tell: fit.cannot_tell.is_some(),
            })
        })
        .collect();
    write_told(out, "labelled captures", &labelled.iter().collect::<Vec<_>>());
    for (name, drawn) in [
        ("drawn, in simulated time", simulated),
        ("drawn, in the lab", lab),
    ] {
        let told = drawn.pairs.iter().filter_map(|pair| pair.congestion.as_ref());
        write_told(out, name, &told.collect::<Vec<_>>());
    }
    out.push('\n');
}

fn write_told(out: &mut String, name: &str, told: &[&Told]) {
    let rows: [(&str, Belongs<'_>); 5] = [
        ("0", &|events| events == 0),
        ("1 or 2", &|events| (1..3).contains(&events)),
        ("3 to 9", &|events| (3..10).contains(&events)),
        ("10 and more", &|events| events >= 10),
        ("all", &|_| true),
    ];
    for (episodes, belongs) in rows {
        let all: Vec<&&Told> = told.iter().filter(|one| belongs(one.events)).collect();
        let has = |one: &Told| one.fits.contains(&one.truth);
        let single: Vec<_> = all
            .iter()
            .filter(|one| !one.cannot_tell && one.fits.len() == 1)
            .collect();
        let _ = writeln!(
            out,
            "| {name} | {episodes} | {} | {} | {} | {} | {} |",
            all.len(),
            all.iter().filter(|one| has(one)).count(),
            single.len(),
            single.iter().filter(|one| has(one)).count(),
            all.iter().filter(|one| one.cannot_tell).count()
        );
    }
}

fn write_captures(out: &mut String, factual: &[Factual]) {
    let _ = writeln!(
        out,
        "## Each capture\n\n| capture | label | verdict | goodput, fitted over captured | off by | explains | parameters, fitted over true | loss episodes | congestion control | s |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    for one in factual {
        let _ = match &one.fit {
            Err(why) => writeln!(
                out,
                "| {} | {} | refused: {why} | | | | | | | {:.1} |",
                one.file, one.cause, one.seconds
            ),
            Ok(fit) => {
                let parameters: Vec<String> = fit
                    .parameters
                    .iter()
                    .map(|(parameter, ratio)| format!("{parameter} {ratio:.2}"))
                    .collect();
                writeln!(
                    out,
                    "| {} | {} | {} | {:.3} | {:.1} | {} | {} | {} | {}{} | {:.1} |",
                    one.file,
                    one.cause,
                    fit.verdict,
                    fit.ratio,
                    fit.off,
                    if fit.explains { "yes" } else { "no" },
                    parameters.join(", "),
                    fit.events,
                    fit.controls.join(" "),
                    if fit.cannot_tell.is_some() {
                        " (cannot tell)"
                    } else {
                        ""
                    },
                    one.seconds
                )
            }
        };
    }
    out.push('\n');
}

/// All pairs together, and those in which the change matters.
fn write_all(out: &mut String, simulated: &Drawn<'_>, lab: &Drawn<'_>) {
    let _ = writeln!(
        out,
        "## Counterfactual: fitted under A, predicted for B\n\nA change matters where it moves the duration by more than a tenth: one that changes nothing is easily predicted.\n\n| pairs | drawn | refused | answered | median error | 90th percentile | 90 % intervals that hold |\n|---|---|---|---|---|---|---|"
    );
    let both: Vec<&Pair> = simulated.pairs.iter().chain(lab.pairs).collect();
    let rows = [
        ("simulated time", simulated.pairs.iter().collect()),
        ("lab", lab.pairs.iter().collect()),
        ("all", both),
    ];
    for (name, pairs) in rows {
        write_row(out, name, &pairs);
        let hard: Vec<&Pair> = pairs.into_iter().filter(|pair| pair.matters()).collect();
        write_row(out, &format!("{name}, where the change matters"), &hard);
    }
    out.push('\n');
}

fn write_row(out: &mut String, name: &str, pairs: &[&Pair]) {
    let mut errors: Vec<f64> = pairs.iter().filter_map(|pair| pair.error()).collect();
    errors.sort_by(f64::total_cmp);
    let answered = errors.len();
    let held = pairs
        .iter()
        .filter(|pair| pair.is_covered() == Some(true))
        .count();
    let error = |place: usize| errors.get(place).map_or(0.0, |error| error * 100.0);
    let _ = writeln!(
        out,
        "| {name} | {} | {} ({:.0} %) | {answered} | {:.1} % | {:.1} % | {held} ({:.0} %) |",
        pairs.len(),
        pairs.len() - answered,
        share(pairs.len() - answered, pairs.len()),
        error(answered / 2),
        error(answered * 9 / 10),
        share(held, answered)
    );
}

fn write_pairs(out: &mut String, how: &str, drawn: &Drawn<'_>) {
    let mut seconds: Vec<f64> = drawn.pairs.iter().map(|pair| pair.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let _ = writeln!(
        out,
        "## Pairs, {how}\n\nDrawn by seed {} (list {}). Fit and answer took {:.1} s in the median, {:.1} s at most.\n",
        drawn.seed,
        drawn.list,
        seconds.get(seconds.len() / 2).copied().unwrap_or(0.0),
        seconds.last().copied().unwrap_or(0.0)
    );
    if !drawn.left_out.is_empty() {
        let _ = writeln!(out, "Left out: {}.\n", drawn.left_out.join("; "));
    }
    let _ = writeln!(
        out,
        "| # | path A | change | before, s | in truth, s | predicted, s | covered |\n|---|---|---|---|---|---|---|"
    );
    for pair in drawn.pairs {
        let predicted = match (pair.predicted, &pair.refused) {
            (Some((value, low, high)), _) => format!("{value:.2} ({low:.2} to {high:.2})"),
            (None, why) => format!("refused: {}", why.as_deref().unwrap_or("")),
        };
        let covered = match pair.is_covered() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.2} | {:.2} | {predicted} | {covered} |",
            pair.number, pair.path, pair.change, pair.before_s, pair.truth_s
        );
    }
    out.push('\n');
}
