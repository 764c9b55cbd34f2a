//! From [`Results`] to what the report's template shows.

use serde::Serialize;
use slowpath_diagnose::stats::{Beside, median};
use slowpath_record::HealthState;
use slowpath_verdict::Limit;
use slowpath_verdict::ledger::Ledger;

use super::axis::LogAxis;
use super::curves::CurvePlot;
use super::shared::{SetView, Toned, VerdictPart};
use super::times::TimesView;
use super::wire::{LoadView, MarkView};
use crate::graphs::GraphSet;
use crate::quantity::{RateUnit, bytes, grouped, loss, seconds};
use crate::results::Answer;
use crate::results::{
    Basis, CaptureRow, Figure, FlowRow, NEVER, Note, NoteKind, Proof, ProofOutcome, Results, RunResult, Twin,
    Variant,
};
use crate::terminal::{shows_flows, write_summary};
use crate::text::Style;
use slowpath_words::word;

#[derive(Debug, Serialize)]
pub(super) struct ReportView {
    experiment: String,
    title: String,
    question: Option<String>,
    answer: Option<String>,
    answers: Vec<Answer>,
    scaled: Option<String>,
    meta: Vec<String>,
    health: Vec<Toned>,
    source: Option<String>,
    /// What the rates of variants were: measured, or simulated, as the head of a column and within a line.
    found_head: &'static str,
    found: &'static str,
    has_published: bool,
    /// A 95 % interval is drawn for some variant.
    has_interval: bool,
    /// The range of the runs stands in the place of some interval.
    has_range: bool,
    ticks: Vec<(f64, String)>,
    times: Option<TimesView>,
    variants: Vec<VariantView>,
    figures: Vec<FigureView>,
    comparisons: Vec<String>,
    twins: Vec<TwinView>,
    proofs: Vec<ProofView>,
    notes: Vec<NoteGroup>,
    /// Nothing was drawn by a seed, and nothing can be made again.
    live: bool,
    seed: u64,
    reproduce: Vec<String>,
    setup: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    /// How much there is to search in: variants or runs.
    count: usize,
    /// The answer as a terminal shows it.
    text: String,
}

pub(super) fn view(results: &Results, graphs: &[GraphSet]) -> ReportView {
    let axis = LogAxis::over(results.variants.iter().flat_map(rates), 1.0);
    let figures = results.variants.iter().flat_map(|v| {
        v.figures
            .iter()
            .map(move |f| FigureView::of(&results.label(v), f))
    });
    ReportView {
        experiment: results.experiment.clone(),
        title: results.title.clone(),
        question: results.question.clone(),
        answer: results.answer.clone(),
        answers: results.answers.clone(),
        scaled: results.scaled.clone(),
        meta: meta(results),
        health: health_notices(results),
        source: results.source.as_ref().map(|s| {
            let parts = [Some(s.title.clone()), s.place.clone(), s.published.clone()];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }),
        found_head: if results.is_simulated() {
            word!("page-simulated-head")
        } else {
            word!("page-measured-head")
        },
        found: if results.is_simulated() {
            word!("page-simulated")
        } else {
            word!("page-measured")
        },
        has_published: results.variants.iter().any(|v| v.reference.is_some()),
        has_interval: results.variants.iter().any(|v| drawn_interval(v).is_some()),
        has_range: results
            .variants
            .iter()
            .any(|v| matches!(beside(v), Some(Beside::Runs(..)))),
        ticks: axis.ticks(results.rate_unit),
        times: TimesView::of(
            results
                .variants
                .iter()
                .flat_map(|variant| ledgers(results, variant)),
        ),
        variants: results
            .variants
            .iter()
            .map(|v| VariantView::of(v, results, axis, graphs))
            .collect(),
        figures: figures.collect(),
        comparisons: results.comparisons.iter().map(|c| c.sentence.clone()).collect(),
        twins: results
            .twins
            .iter()
            .map(|twin| TwinView::of(twin, results.rate_unit))
            .collect(),
        proofs: results
            .proofs
            .iter()
            .map(|proof| ProofView::of(proof, results.rate_unit))
            .collect(),
        notes: note_groups(&results.notes),
        live: results.is_live(),
        seed: results.seed,
        reproduce: results.reproduce.clone(),
        setup: results.setup.clone(),
        environment: results.environment.clone(),
        count: results
            .variants
            .len()
            .max(results.variants.iter().map(|v| v.runs.len()).sum()),
        text: text(results),
    }
}

/// The answer as a terminal of 80 columns shows it.
fn text(results: &Results) -> String {
    let mut text = Vec::new();
    write_summary(results, Style::default(), None, &mut text).expect("writing to memory does not fail");
    String::from_utf8_lossy(&text).into_owned()
}

/// The ledgers of a variant's complete runs, by variant and number where there are several, with the variant's anchor.
fn ledgers<'a>(
    results: &'a Results,
    variant: &'a Variant,
) -> impl Iterator<Item = (String, String, &'a Ledger)> + 'a {
    let name = results.label(variant);
    let several = variant.runs.len() > 1;
    let runs = variant.runs.iter().enumerate().filter(|(_, run)| run.complete);
    runs.filter_map(move |(place, run)| {
        let label = if several {
            format!("{name}, run {}", place + 1)
        } else {
            name.clone()
        };
        Some((label, anchor(&name), run.ledger.as_ref()?))
    })
}

fn rates(variant: &Variant) -> impl Iterator<Item = f64> + '_ {
    let goodput = variant.goodput_byte_per_s.as_ref();
    let reference = variant.reference.as_ref().map(|r| r.goodput_byte_per_s);
    let published = variant
        .reference
        .iter()
        .flat_map(|r| r.runs_byte_per_s.iter().copied());
    let runs = counted(variant).map(|r| r.goodput_byte_per_s);
    goodput
        .map(|g| g.mean)
        .into_iter()
        .chain(reference)
        .chain(published)
        .chain(runs)
}

/// What stands beside a variant's mean.
fn beside(variant: &Variant) -> Option<Beside> {
    variant.goodput_byte_per_s.as_ref()?.beside()
}

/// The ends of a variant's 95 % interval where it tells something.
fn drawn_interval(variant: &Variant) -> Option<(f64, f64)> {
    let goodput = variant.goodput_byte_per_s.as_ref()?;
    let told = !matches!(goodput.beside()?, Beside::Runs(..));
    told.then_some((goodput.low95?, goodput.high95?))
}

/// The runs that count: complete, and not invalid.
fn counted(variant: &Variant) -> impl Iterator<Item = &RunResult> {
    variant
        .runs
        .iter()
        .filter(|r| r.complete && r.health.state != HealthState::Invalid)
}

/// Why a variant has no verdict, if its runs say so.
fn no_verdict(variant: &Variant) -> Option<String> {
    if variant.verdict.is_some() {
        return None;
    }
    let reasons = variant.runs.iter().filter_map(|r| {
        let worst = r
            .health
            .reasons
            .iter()
            .find(|why| why.state == HealthState::Invalid);
        worst.map(|why| &why.text).or(r.errors.first())
    });
    let reason = reasons.into_iter().next()?;
    Some(format!("No verdict is given: {reason}"))
}

fn meta(results: &Results) -> Vec<String> {
    let runs: usize = results.variants.iter().map(|v| v.runs.len()).sum();
    let word = if runs == 1 { "run" } else { "runs" };
    let mut meta = vec![match results.variants.len() {
        1 => format!("1 variant, {runs} {word}"),
        count => format!("{count} variants, {runs} {word}"),
    }];
    if let Some(written) = &results.written {
        meta.push(written.clone());
    }
    if !results.is_live() {
        meta.push(format!("seed {}", results.seed));
    }
    meta
}

/// What a reader must know about the runs' health before believing them.
fn health_notices(results: &Results) -> Vec<Toned> {
    let mut notices = Vec::new();
    for (state, tone, what) in [
        (
            HealthState::Invalid,
            "bad",
            "invalid: they count for nothing and get no verdict",
        ),
        (
            HealthState::Degraded,
            "care",
            "degraded: read them with the reasons given under the variant",
        ),
    ] {
        let names: Vec<String> = results
            .variants
            .iter()
            .filter_map(|v| {
                let count = v.runs.iter().filter(|r| r.health.state == state).count();
                (count > 0).then(|| format!("{} ({count} of {})", v.name, v.runs.len()))
            })
            .collect();
        if !names.is_empty() {
            notices.push(Toned {
                text: format!("Runs {what}. {}.", names.join(", ")),
                tone,
            });
        }
    }
    notices
}

#[derive(Debug, Serialize)]
struct Track {
    published: Option<f64>,
    mean: Option<f64>,
    ci: Option<(f64, f64)>,
    runs: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct VariantView {
    name: String,
    anchor: String,
    title: Option<String>,
    clock: String,
    sentence: Option<String>,
    /// Absent where no run was fit for a verdict.
    limit: Option<&'static str>,
    measured: String,
    half: Option<String>,
    interval: String,
    /// The interval is the range of the runs.
    is_range: bool,
    published: Option<String>,
    /// The reference figure is arithmetic on published ones.
    derived: bool,
    ratio: String,
    basis: &'static str,
    basis_class: &'static str,
    basis_note: Option<String>,
    scaled: Option<String>,
    run_count: usize,
    health: Toned,
    duration: String,
    bytes: String,
    track: Track,
    verdict: Option<VerdictPart>,
    runs: Vec<RunView>,
    flows: Vec<FlowView>,
    curves: Vec<CurvePlot>,
    /// Its flows are counted rather than captured.
    counted: bool,
    configuration: Vec<(String, String)>,
    marks: Vec<MarkView>,
    loads: Vec<LoadView>,
    captures: Vec<CaptureView>,
    sets: Vec<SetView>,
    /// What is known of the first run's connection.
    connection: Vec<(&'static str, String)>,
}

impl VariantView {
    fn of(variant: &Variant, results: &Results, axis: LogAxis, graphs: &[GraphSet]) -> Self {
        let unit = results.rate_unit;
        let goodput = variant.goodput_byte_per_s.as_ref();
        let reference = variant.reference.as_ref();
        let interval = drawn_interval(variant);
        let beside = beside(variant);
        let first = variant.runs.first();
        let durations: Vec<f64> = variant.runs.iter().map(|r| r.duration_s).collect();
        let outliers = goodput.map(|g| g.outliers.clone()).unwrap_or_default();
        let several = variant.runs.len() > 1;
        // In the unit in which the source prints its figure, so that the two can be compared as they stand.
        let printed = variant.headline().and_then(|figure| figure.label.unit());
        let show = |rate: f64| match printed.filter(|printed| printed.is_rate()) {
            Some(printed) => format!("{} {}", printed.show_byte_rate(rate), printed.name),
            None => unit.show(rate),
        };
        let own = || graphs.iter().filter(|g| g.variant == results.label(variant));
        Self {
            name: results.label(variant),
            anchor: anchor(&results.label(variant)),
            title: variant.title.clone(),
            clock: variant.clock.to_string(),
            sentence: variant
                .sentence()
                .map(str::to_owned)
                .or_else(|| no_verdict(variant)),
            limit: variant.verdict.as_ref().map(|v| v.limit.name()),
            measured: goodput.map_or(variant.without_rate().into(), |g| show(g.mean)),
            half: match beside {
                Some(Beside::Half(half)) => Some(show(half)),
                _ => None,
            },
            interval: match (interval, beside) {
                (Some((low, high)), _) | (None, Some(Beside::Runs(low, high))) => {
                    format!("{} – {}", show(low), show(high))
                }
                _ => "–".into(),
            },
            is_range: matches!(beside, Some(Beside::Runs(..))),
            published: variant
                .headline()
                .and_then(|figure| figure.shown().0)
                .map(|text| grouped_digits(&text)),
            derived: reference.is_some_and(|r| r.label.formula.is_some()),
            ratio: reference.and_then(|r| r.ratio).map_or("–".into(), ratio_text),
            basis: variant.basis.word(),
            basis_class: basis_class(variant.basis),
            basis_note: {
                let label = reference.map(|r| r.label.sentences()).unwrap_or_default();
                let said: Vec<String> = label.into_iter().chain(variant.basis_note.clone()).collect();
                (!said.is_empty()).then(|| said.join(" "))
            },
            scaled: variant.scaled.clone(),
            run_count: variant.runs.len(),
            health: if variant.runs.is_empty() {
                Toned {
                    text: "not run".into(),
                    tone: "care",
                }
            } else {
                Toned::health(variant.health())
            },
            duration: if durations.is_empty() {
                "–".into()
            } else {
                seconds(median(&durations))
            },
            bytes: first.map_or("–".into(), |r| {
                let size = bytes(r.bytes as f64);
                if several { format!("{size}, median") } else { size }
            }),
            track: Track {
                published: reference.map(|r| axis.place(r.goodput_byte_per_s)),
                mean: goodput.map(|g| axis.place(g.mean)),
                ci: interval.map(|(l, h)| (axis.place(l), axis.place(h))),
                runs: variant
                    .runs
                    .iter()
                    .filter(|r| !r.never_finished())
                    .map(|r| axis.place(r.goodput_byte_per_s))
                    .collect(),
            },
            verdict: variant.verdict.as_ref().map(VerdictPart::of),
            runs: (0..)
                .zip(&variant.runs)
                .map(|(i, r)| RunView::of(r, outliers.contains(&i), unit))
                .collect(),
            flows: first
                .map(|r| r.flows.iter().map(|flow| FlowView::of(flow, unit)).collect())
                .unwrap_or_default(),
            counted: first.is_some_and(shows_flows),
            curves: first.map(|r| super::curves::plots(&r.curves)).unwrap_or_default(),
            configuration: variant.configuration.clone(),
            marks: super::wire::marks(variant),
            loads: super::wire::loads(variant),
            captures: variant
                .runs
                .iter()
                .flat_map(|r| &r.captures)
                .map(CaptureView::of)
                .collect(),
            sets: own().map(SetView::of).collect(),
            connection: own().next().map(|set| set.facts.clone()).unwrap_or_default(),
        }
    }
}

#[derive(Debug, Serialize)]
struct RunView {
    number: u32,
    duration: String,
    goodput: String,
    again: String,
    limit: Option<&'static str>,
    health: Toned,
    reasons: Vec<String>,
    outlier: bool,
}

impl RunView {
    fn of(run: &RunResult, outlier: bool, unit: RateUnit) -> Self {
        let mut reasons: Vec<String> = run.health.reasons.iter().map(|r| r.text.clone()).collect();
        reasons.extend(run.errors.iter().cloned());
        reasons.extend(run.notes.iter().cloned());
        Self {
            number: run.repeat + 1,
            duration: seconds(run.duration_s),
            goodput: if run.never_finished() {
                NEVER.to_owned()
            } else {
                unit.show(run.goodput_byte_per_s)
            },
            again: run
                .retransmitted_segments
                .map_or("–".into(), |n| grouped(n as f64, 0)),
            limit: run.verdict.as_ref().map(|v| v.limit.name()),
            health: Toned::health(run.health.state),
            reasons,
            outlier,
        }
    }
}

#[derive(Debug, Serialize)]
struct FlowView {
    name: String,
    sent: String,
    received: String,
    reference: Option<String>,
    goodput: String,
    lost: String,
    jitter: String,
}

impl FlowView {
    fn of(flow: &FlowRow, unit: RateUnit) -> Self {
        Self {
            name: flow.name.clone(),
            sent: grouped(flow.sent_packets as f64, 0),
            received: grouped(flow.received_packets as f64, 0),
            reference: flow.reference.get("received_packets").map(|r| grouped(*r, 0)),
            goodput: unit.show(flow.goodput_byte_per_s),
            lost: loss(flow.loss_fraction),
            jitter: flow.jitter_s.map_or("–".into(), seconds),
        }
    }
}

#[derive(Debug, Serialize)]
struct CaptureView {
    file: String,
    href: String,
    text: String,
    warnings: Vec<String>,
}

impl CaptureView {
    fn of(capture: &CaptureRow) -> Self {
        let whole = if capture.missed == 0 {
            "complete".to_owned()
        } else {
            format!("{} packets missed", grouped(capture.missed as f64, 0))
        };
        Self {
            file: capture.file.clone(),
            href: href(&capture.file),
            text: format!(
                "at {}, {} packets, {whole}",
                capture.point,
                grouped(capture.packets as f64, 0)
            ),
            warnings: capture.warnings.clone(),
        }
    }
}

#[derive(Debug, Serialize)]
struct FigureView {
    variant: String,
    name: String,
    published: String,
    /// `published` or `derived`.
    origin: &'static str,
    measured: String,
    ratio: String,
    basis: &'static str,
    basis_class: &'static str,
    note: Option<String>,
    missed: bool,
    absent: bool,
}

impl FigureView {
    fn of(variant: &str, figure: &Figure) -> Self {
        let (published, measured) = figure.shown();
        let show = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        Self {
            variant: variant.to_owned(),
            name: figure.name.clone(),
            published: show(published.map(|text| grouped_digits(&text))),
            measured: show(measured),
            origin: figure.label.origin(),
            ratio: figure.ratio().map_or("–".into(), ratio_text),
            basis: figure.basis.word(),
            basis_class: basis_class(figure.basis),
            note: {
                let said: Vec<String> = figure
                    .note
                    .iter()
                    .cloned()
                    .chain(figure.label.sentences())
                    .collect();
                (!said.is_empty()).then(|| said.join(" "))
            },
            missed: figure.met() == Some(false) && figure.measured.is_some(),
            absent: figure.measured.is_none(),
        }
    }
}

/// A variant in both clocks.
#[derive(Debug, Serialize)]
struct TwinView {
    variant: String,
    published: String,
    lab: String,
    simulated: String,
    ratio: String,
    interval: String,
    lab_limit: &'static str,
    simulated_limit: &'static str,
    same: bool,
}

impl TwinView {
    fn of(twin: &Twin, unit: RateUnit) -> Self {
        let limit = |limit: Option<Limit>| limit.map_or("–", Limit::name);
        Self {
            variant: twin.variant.clone(),
            published: twin
                .published_byte_per_s
                .map_or("–".into(), |rate| unit.show(rate)),
            lab: unit.show(twin.lab.mean),
            simulated: unit.show(twin.simulated.mean),
            ratio: ratio_text(twin.ratio),
            interval: match (twin.low95, twin.high95) {
                (Some(low), Some(high)) => format!("{} – {}", ratio_text(low), ratio_text(high)),
                _ => "one run a side".to_owned(),
            },
            lab_limit: limit(twin.lab_limit),
            simulated_limit: limit(twin.simulated_limit),
            same: twin.lab_limit == twin.simulated_limit,
        }
    }
}

#[derive(Debug, Serialize)]
struct ProofPlaces {
    before: f64,
    before_anchor: &'static str,
    low: f64,
    width: f64,
    expected: f64,
    after: Option<f64>,
    after_anchor: &'static str,
}

#[derive(Debug, Serialize)]
struct ProofView {
    variant: String,
    change: String,
    hypothesis: String,
    outcome: &'static str,
    tone: &'static str,
    before: String,
    predicted: String,
    measured: String,
    next_limit: Option<&'static str>,
    measured_limit: Option<&'static str>,
    sentence: String,
    x: ProofPlaces,
}

impl ProofView {
    fn of(proof: &Proof, unit: RateUnit) -> Self {
        let p = &proof.predicted_byte_per_s;
        let known = [
            Some(proof.before_byte_per_s),
            Some(p.low),
            Some(p.expected),
            p.high,
            proof.measured_byte_per_s,
        ];
        let axis = LogAxis::over(known.into_iter().flatten(), 0.12);
        let (low, high) = (axis.place(p.low), p.high.map_or(100.0, |h| axis.place(h)));
        let after = proof.measured_byte_per_s.map(|m| axis.place(m));
        let before = axis.place(proof.before_byte_per_s);
        Self {
            variant: proof.variant.clone(),
            change: proof.change.clone(),
            hypothesis: proof.hypothesis.clone(),
            outcome: proof.outcome.word(),
            tone: match proof.outcome {
                ProofOutcome::Held => "good",
                ProofOutcome::Refuted => "bad",
                ProofOutcome::Undecided => "care",
            },
            before: unit.show(proof.before_byte_per_s),
            predicted: match p.high {
                Some(h) => format!("{} to {}", unit.show(p.low), unit.show(h)),
                None => format!("at least {}", unit.show(p.low)),
            },
            measured: proof
                .measured_byte_per_s
                .map_or("no valid run".into(), |rate| unit.show(rate)),
            next_limit: proof.next_limit.map(Limit::name),
            measured_limit: proof.measured_limit.map(Limit::name),
            sentence: proof.sentence.clone(),
            x: ProofPlaces {
                before,
                before_anchor: text_anchor(before),
                low,
                width: (high - low).max(0.4),
                expected: axis.place(p.expected),
                after,
                after_anchor: after.map_or("middle", text_anchor),
            },
        }
    }
}

/// Keeps a label inside its picture.
const fn text_anchor(place: f64) -> &'static str {
    if place < 20.0 {
        "start"
    } else if place > 80.0 {
        "end"
    } else {
        "middle"
    }
}

#[derive(Debug, Serialize)]
struct NoteGroup {
    heading: &'static str,
    notes: Vec<Note>,
}

fn note_groups(notes: &[Note]) -> Vec<NoteGroup> {
    let order = [
        NoteKind::Correction,
        NoteKind::Assumption,
        NoteKind::Excluded,
        NoteKind::Limitation,
        NoteKind::Remark,
    ];
    order
        .into_iter()
        .map(|kind| NoteGroup {
            heading: kind.heading(),
            notes: notes.iter().filter(|n| n.kind == kind).cloned().collect(),
        })
        .filter(|g| !g.notes.is_empty())
        .collect()
}

const fn basis_class(basis: Basis) -> &'static str {
    match basis {
        Basis::Measured => "",
        Basis::Fitted => "fitted",
        Basis::Predicted => "good",
    }
}

/// A figure as its source prints it, but with its thousands apart, as the measured one beside it has them.
fn grouped_digits(printed: &str) -> String {
    let end = printed
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(printed.len());
    match printed[..end].parse::<u32>() {
        Ok(number) if end > 4 => format!("{}{}", grouped(f64::from(number), 0), &printed[end..]),
        _ => printed.to_owned(),
    }
}

fn ratio_text(ratio: f64) -> String {
    if ratio >= 10.0 {
        format!("{ratio:.1}")
    } else {
        format!("{ratio:.3}")
    }
}

/// A name as the fragment of an address.
fn anchor(name: &str) -> String {
    let safe = name.chars().map(|c| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    });
    format!("v-{}", safe.collect::<String>())
}

/// A relative file name as a link; a name with a scheme stays inside the folder.
fn href(file: &str) -> String {
    let mut out = String::from("./");
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |d: u8| char::from(b"0123456789ABCDEF"[usize::from(d)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_a_printed_figure_stand_apart() {
        for (printed, shown) in [
            ("1611000 B/s", "1,611,000 B/s"),
            ("2.9172 MiB/s", "2.9172 MiB/s"),
            ("12345.6 B/s", "12,345.6 B/s"),
            ("9999 B/s", "9999 B/s"),
            ("", ""),
        ] {
            assert_eq!(grouped_digits(printed), shown);
        }
    }
}
