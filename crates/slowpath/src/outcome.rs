//! From the records of a results folder to the document behind the report.

use std::borrow::Cow;

use slowpath_record::{CaptureRef, HealthState, Origin, RunKind, RunRecord, WATCHED};
use slowpath_report::Label;
use slowpath_report::quantity::RateUnit;
use slowpath_report::results::{
    Basis, Figure, Reference, Results, RunResult, Twin, Variant, VariantComparison,
};
use slowpath_scenario::figure::{Figure as Published, FigureValue};
use slowpath_scenario::{Clock, Plan, Standing};
use slowpath_verdict::{Analysis, Limit, Verdict};
use slowpath_words::{english, english_word};

use crate::analyzed::Analyzed;
use crate::disturbed;
use crate::dossier::{ComparisonWish, FigureStanding};
use crate::echoed;
use crate::folder::{Folder, FolderError};
use crate::import;
use crate::load::Loaded;
use crate::{counted, counts, probes, processors, slow_end, treatment};

/// Reads every record of a folder and analyses its captures.
///
/// # Errors
/// [`FolderError`] if a record cannot be read. A capture that cannot be read is a problem of its run only.
pub fn analyze(folder: &Folder) -> Result<Vec<Analyzed>, FolderError> {
    let records = folder.records()?;
    Ok(processors::each(records.len(), &|place| {
        let (name, record) = records[place].clone();
        analyze_run(folder, name, record)
    }))
}

/// Analyses the captures of one run.
pub fn analyze_run(folder: &Folder, name: String, record: RunRecord) -> Analyzed {
    let mut analyzed = Analyzed {
        name,
        record,
        analysis: None,
        judged: None,
        problem: None,
    };
    if analyzed.record.health.state == HealthState::Invalid {
        return analyzed;
    }
    // The first capture is the one beside the data's sender; of a run without captures the analysis itself was kept, as
    // it is of an imported one, whose capture may be gone by now.
    let gone = |capture: &CaptureRef| !folder.root().join(&capture.file).exists();
    let imported = analyzed.record.origin == Origin::Imported;
    if analyzed.record.origin == Origin::Live {
        match folder.judged(&analyzed.name) {
            Ok(judged) => analyzed.judged = judged,
            Err(error) => analyzed.problem = Some(error.to_string()),
        }
    }
    if analyzed.record.captures.is_empty() || (imported && analyzed.record.captures.iter().all(gone)) {
        match folder.analysis(&analyzed.name) {
            Ok(analysis) => analyzed.analysis = analysis,
            Err(error) => analyzed.problem = Some(error.to_string()),
        }
    } else if let Some(capture) = analyzed.record.captures.first() {
        let held = held_up(&analyzed.record);
        match import::analyze_file_without(&folder.root().join(&capture.file), &held) {
            Ok(mut analysis) => {
                disturbed::withhold(&mut analysis, &analyzed.record.health);
                analyzed.analysis = Some(analysis);
            }
            Err(error) => analyzed.problem = Some(error.to_string()),
        }
    }
    analyzed
}

/// The spans in which the machine held packets up for so long that it shows in a capture, on the capture's clock.
fn held_up(record: &RunRecord) -> Vec<(i64, i64)> {
    let Some(disturbances) = &record.disturbances else {
        return Vec::new();
    };
    let on_clock = |time: slowpath_units::Time| {
        i64::try_from(disturbances.capture_origin.saturating_add(time.nanos())).unwrap_or(i64::MAX)
    };
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (from, to) in disturbances.spans_from(SHOWS) {
        let (from, to) = (on_clock(from), on_clock(to));
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// Shorter spans are within what the rules of a verdict allow any path's delay to vary by.
const SHOWS: slowpath_units::Duration = slowpath_units::Duration::from_millis(1);

/// Puts the document together: variants in the order of the experiment, simulated after lab.
///
/// `plan_of` gives the plan of one run of a variant on a clock, for figures and assumptions.
pub fn results(
    loaded: &Loaded,
    seed: u64,
    runs: &[Analyzed],
    plan_of: impl Fn(&str, Clock) -> Option<Plan>,
) -> Results {
    let mut results = Results::new(&loaded.name, seed);
    results.title.clone_from(&loaded.experiment.title);
    results.question.clone_from(&loaded.dossier.question);
    results.source.clone_from(&loaded.dossier.source);
    results.notes.clone_from(&loaded.dossier.notes);
    for variant in &loaded.experiment.variants {
        for clock in [Clock::Lab, Clock::Simulated] {
            let origin = Origin::from(clock);
            let own: Vec<&Analyzed> = runs
                .iter()
                .filter(|run| run.record.kind == RunKind::Plain && run.record.origin == origin)
                .filter(|run| run.record.variant == variant.name)
                .collect();
            if own.is_empty() {
                continue;
            }
            let plan = plan_of(&variant.name, clock);
            results
                .variants
                .push(variant_results(loaded, variant, origin, &own, plan.as_ref()));
        }
    }
    treatment::judge(&mut results.variants, &plan_of);
    add_ratios(&mut results.variants, &loaded.dossier.comparisons);
    results.rate_unit = rate_unit(loaded);
    results.twins = twins(&results.variants);
    results.scaled = scaled(&results.variants);
    results.environment = environment(runs);
    results.comparisons = comparisons(loaded, &results.variants, results.rate_unit);
    results
}

fn variant_results(
    loaded: &Loaded,
    variant: &slowpath_scenario::Variant,
    clock: Origin,
    runs: &[&Analyzed],
    plan: Option<&Plan>,
) -> Variant {
    let mut ordered = runs.to_vec();
    ordered.sort_by_key(|run| run.record.repeat);
    let mut out = Variant {
        title: variant.note.clone(),
        ..Variant::new(&variant.name, clock)
    };
    out.runs = ordered.iter().map(|run| run_result(run, plan)).collect();
    if let Some(plan) = plan {
        out.scaled = plan.full_size.map(|full| {
            let used = plan
                .main_job()
                .workload
                .size()
                .map(|size| size.to_string())
                .unwrap_or_default();
            format!("{used} instead of {full}")
        });
        out.configuration = configuration(plan);
        let fitted: Vec<String> = plan
            .assumptions
            .iter()
            .map(|assumption| {
                format!(
                    "{} of {}: {} ({})",
                    assumption.name, assumption.place, assumption.value, assumption.source
                )
            })
            .collect();
        out.basis_note = (!fitted.is_empty()).then(|| fitted.join("; "));
        if let Some(echoed) = echoed::of(plan, runs.iter().map(|run| &run.record)) {
            out.instead = Some(echoed.short);
            out.answer = Some(echoed.sentence);
        }
    }
    for figure in &variant.figures {
        let label = Label {
            printed: Some(figure.printed.clone()),
            formula: figure.formula.clone(),
            fitted: loaded.dossier.fitted_to(&variant.name, &figure.id),
            together: loaded.dossier.fitted_together(&variant.name, &figure.id),
            missed: figure.missed.clone(),
        };
        add_figure(&mut out, figure, label, &ordered, plan);
    }
    out.summarize();
    out.verdict = agreed(&out.runs);
    if let Some(told) = plan.and_then(|plan| slow_end::told(plan, &out)) {
        out.answer = out.sentence().map(|said| format!("{said} {told}"));
    }
    out
}

/// What the report says of one run.
fn run_result(run: &Analyzed, plan: Option<&Plan>) -> RunResult {
    let record = measured(&run.record, plan);
    let beside = matches!(record, Cow::Owned(_));
    let own = beside.then(|| own_connection(run, &record)).flatten();
    let of_analysis = own
        .map(|own| &own.verdict)
        .or_else(|| run.analysis.as_ref().and_then(Analysis::verdict));
    let verdict = match of_analysis {
        Some(verdict) => Some(verdict.clone()),
        None => match &run.judged {
            Some(judged) => Some(judged.verdict.clone()),
            None => counted::of(&run.record),
        },
    };
    let mut result = RunResult::of(&record, verdict);
    if let (Some(row), Some(analysis)) = (result.captures.first_mut(), &run.analysis) {
        row.warnings.clone_from(&analysis.capture.quality.warnings);
    }
    if let Some(connection) = own.or_else(|| main_connection(run)) {
        if result.verdict.is_some() {
            let of_analysis = || run.analysis.as_ref().and_then(Analysis::ledger);
            result.ledger = own.map(|own| &own.ledger).or_else(of_analysis).cloned();
        }
        result
            .retransmitted_segments
            .get_or_insert(connection.retransmitted_segments);
    }
    if result.verdict.is_some()
        && let Some(judged) = &run.judged
    {
        result.ledger.get_or_insert_with(|| judged.ledger.clone());
    }
    result.notes.extend(run.problem.clone());
    result
}

/// Whether these records are of runs that no experiment planned.
pub(crate) fn are_unplanned(records: &[(String, RunRecord)]) -> bool {
    let unplanned = |record: &RunRecord| matches!(record.origin, Origin::Live | Origin::Imported);
    records.iter().all(|(_, record)| unplanned(record))
}

/// The document of runs that no experiment planned: imports and measurements, a variant for each name and origin.
pub fn of_records(runs: &[Analyzed]) -> Results {
    let name = runs.first().map_or("", |run| run.record.experiment.as_str());
    let mut results = Results::new(name, 0);
    if name == WATCHED {
        english_word!("outcome-watched-transfers").clone_into(&mut results.title);
    }
    for run in runs {
        let record = &run.record;
        let own = |variant: &Variant| variant.name == record.variant && variant.clock == record.origin;
        let place = results.variants.iter().position(own).unwrap_or_else(|| {
            results
                .variants
                .push(Variant::new(&record.variant, record.origin));
            results.variants.len() - 1
        });
        results.variants[place].runs.push(run_result(run, None));
    }
    for variant in &mut results.variants {
        variant.summarize();
        variant.verdict = agreed(&variant.runs);
    }
    results.environment = environment(runs);
    results
}

/// The record with the transfers of the measured job alone, where the plan is known.
pub(crate) fn measured<'a>(record: &'a RunRecord, plan: Option<&Plan>) -> Cow<'a, RunRecord> {
    plan.map_or(Cow::Borrowed(record), |plan| plan.measured(record))
}

/// Rates are shown in bits where the source publishes throughput in bits.
pub(crate) fn rate_unit(loaded: &Loaded) -> RateUnit {
    let published = loaded
        .experiment
        .variants
        .iter()
        .flat_map(|variant| &variant.figures)
        .find(|figure| matches!(figure.id.as_str(), "goodput" | "throughput"));
    match published.map(|figure| figure.value) {
        Some(FigureValue::BitsPerSecond(_)) => RateUnit::Bits,
        _ => RateUnit::Bytes,
    }
}

/// The variants that were run in both clocks.
fn twins(variants: &[Variant]) -> Vec<Twin> {
    let of = |clock: Origin| variants.iter().filter(move |variant| variant.clock == clock);
    of(Origin::Lab)
        .filter_map(|lab| Twin::of(lab, of(Origin::Simulated).find(|other| other.name == lab.name)?))
        .collect()
}

/// Compares one published figure with what the runs show.
fn add_figure(out: &mut Variant, figure: &Published, label: Label, runs: &[&Analyzed], plan: Option<&Plan>) {
    let basis = basis(figure.standing, plan);
    let tolerance = figure.tolerance.map(slowpath_units::Ratio::fraction);
    if figure.id == "goodput" || figure.id == "throughput" {
        let bits = matches!(figure.value, FigureValue::BitsPerSecond(_));
        out.basis = basis;
        out.reference = Some(Reference {
            goodput_byte_per_s: figure.value.as_f64() / if bits { 8.0 } else { 1.0 },
            ratio: None,
            runs_byte_per_s: Vec::new(),
            tolerance,
            label,
        });
        return;
    }
    let valid = || {
        runs.iter()
            .filter(|run| run.record.health.state != HealthState::Invalid)
    };
    let (title, unit, values): (&str, &str, Vec<f64>) = if figure.id == "duration" {
        let durations = valid()
            .flat_map(|run| run.record.transfers.iter().filter(|transfer| transfer.complete))
            .map(|transfer| transfer.duration().seconds());
        ("time to finish", "s", durations.collect())
    } else if let Some(probe) = probes::probe(&figure.id) {
        let measured = valid().filter_map(|run| probe.measure(main_connection(run)?, figure.value.as_f64()));
        (probe.title, probe.unit, measured.collect())
    } else {
        let measured = valid().filter_map(|run| counts::measure(&figure.id, figure.value, &run.record));
        (figure.id.as_str(), unit_of(figure.value), measured.collect())
    };
    let title = counts::title(&figure.id).unwrap_or_else(|| title.to_owned());
    out.figures.push(Figure {
        name: title,
        unit: unit.to_owned(),
        published: Some(figure.value.as_f64()),
        measured: (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64),
        tolerance,
        basis,
        note: None,
        label,
    });
}

/// Puts the ratios of goodputs that follow from the source beside the measured ones, with the faster variant.
fn add_ratios(variants: &mut [Variant], wishes: &[ComparisonWish]) {
    for clock in [Origin::Lab, Origin::Simulated] {
        for wish in wishes {
            let Some(ratio) = &wish.ratio else { continue };
            let place = |name: &str| {
                let same = |variant: &Variant| variant.name == name && variant.clock == clock;
                variants.iter().position(same)
            };
            let (Some(a), Some(b)) = (place(&wish.a), place(&wish.b)) else {
                continue;
            };
            let mean = |at: usize| Some(variants[at].goodput_byte_per_s.as_ref()?.mean);
            let measured = mean(b).zip(mean(a)).filter(|(_, a)| *a > 0.0).map(|(b, a)| b / a);
            let basis = match ratio.standing {
                FigureStanding::Fitted => Basis::Fitted,
                FigureStanding::Predicted => Basis::Predicted,
            };
            let figure = Figure {
                name: format!("goodput over that of {}", wish.a),
                unit: String::new(),
                published: ratio.value.parse().ok(),
                measured,
                tolerance: ratio.tolerance.map(slowpath_units::Ratio::fraction),
                basis,
                note: None,
                label: Label {
                    formula: Some(ratio.formula.clone()),
                    missed: ratio.missed.clone(),
                    ..Label::default()
                },
            };
            variants[b].figures.push(figure);
        }
    }
}

/// How a figure relates to the model: measured where the kernel plays both ends.
fn basis(standing: Standing, plan: Option<&Plan>) -> Basis {
    let modelled = plan.is_some_and(|plan| {
        plan.hosts
            .iter()
            .any(|host| matches!(host.stack, slowpath_scenario::Stack::Model(_)))
    });
    match standing {
        Standing::Fitted => Basis::Fitted,
        _ if modelled => Basis::Predicted,
        _ => Basis::Measured,
    }
}

const fn unit_of(value: FigureValue) -> &'static str {
    match value {
        FigureValue::BytesPerSecond(_) => "byte/s",
        FigureValue::BitsPerSecond(_) => "bit/s",
        FigureValue::Time(_) => "s",
        FigureValue::Bytes(_) => "byte",
        FigureValue::Packets(_) => "packet",
        FigureValue::Share(_) => "fraction",
    }
}

fn main_connection(run: &Analyzed) -> Option<&slowpath_verdict::Connection> {
    run.analysis.as_ref()?.main_connection()
}

/// The connection of the measured transfer, where other jobs moved more between the same hosts: the one that delivered as much.
fn own_connection<'a>(run: &'a Analyzed, measured: &RunRecord) -> Option<&'a slowpath_verdict::Connection> {
    let analysis = run.analysis.as_ref()?;
    let [transfer] = measured.transfers.as_slice() else {
        return None;
    };
    let bytes = transfer.bytes as f64;
    let off =
        |connection: &slowpath_verdict::Connection| (connection.bytes_delivered as f64 / bytes - 1.0).abs();
    let nearest = (analysis.connections.iter()).min_by(|a, b| off(a).total_cmp(&off(b)))?;
    (off(nearest) <= SAME_BYTES).then_some(nearest)
}

/// How far what a connection delivered may be from what a transfer moved: a program's own headers and answers.
const SAME_BYTES: f64 = 0.01;

/// The verdict of the runs where they agree, or of most of them, with what the others say in its sentence.
fn agreed(runs: &[RunResult]) -> Option<Verdict> {
    let verdicts: Vec<&Verdict> = runs.iter().filter_map(|run| run.verdict.as_ref()).collect();
    let mut counts: Vec<(Limit, usize)> = Vec::new();
    for verdict in &verdicts {
        match counts.iter_mut().find(|(limit, _)| *limit == verdict.limit) {
            Some((_, count)) => *count += 1,
            None => counts.push((verdict.limit, 1)),
        }
    }
    counts.sort_by_key(|(limit, count)| (std::cmp::Reverse(*count), *limit));
    let (limit, count) = *counts.first()?;
    let mut chosen = (*verdicts.iter().find(|verdict| verdict.limit == limit)?).clone();
    if count < verdicts.len() {
        let others: Vec<String> = counts[1..]
            .iter()
            .map(|(limit, count)| format!("{limit} {count}"))
            .collect();
        chosen.sentence = format!(
            "{} {}",
            chosen.sentence,
            english!(
                "outcome-in-runs",
                count = count,
                runs = verdicts.len(),
                others = others.join(", ")
            )
        );
        chosen.confidence *= count as f64 / verdicts.len() as f64;
    }
    Some(chosen)
}

fn configuration(plan: &Plan) -> Vec<(String, String)> {
    plan.hosts
        .iter()
        .flat_map(|host| {
            host.origins
                .iter()
                .map(move |origin| (format!("{} ({})", host.name, origin.place), origin.line.clone()))
        })
        .collect()
}

fn scaled(variants: &[Variant]) -> Option<String> {
    let mut short: Vec<String> = Vec::new();
    for variant in variants {
        let Some(scaled) = &variant.scaled else { continue };
        let text = format!("{} {scaled}", variant.name);
        // Both clocks shorten the same transfer.
        if !short.contains(&text) {
            short.push(text);
        }
    }
    let count = short.len();
    let told = short.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    match count {
        0 => None,
        count if count <= NAMED => Some(format!("Shortened: {told}.")),
        count => Some(format!("Shortened: {count} transfers, such as {told}.")),
    }
}

/// Shortened transfers that are told one by one; each variant says its own.
const NAMED: usize = 3;

fn environment(runs: &[Analyzed]) -> Vec<(String, String)> {
    let Some(environment) = runs.iter().find_map(|run| run.record.environment.as_ref()) else {
        let origin = runs.first().map_or(Origin::Simulated, |run| run.record.origin);
        return vec![("clock".to_owned(), origin.to_string())];
    };
    let mut rows = vec![
        ("kernel".to_owned(), environment.kernel.clone()),
        ("processors".to_owned(), environment.processors.to_string()),
        ("slowpath".to_owned(), environment.slowpath.clone()),
    ];
    // A live transfer was attached to nothing.
    if !environment.attachment.is_empty() {
        rows.push(("attachment".to_owned(), environment.attachment.clone()));
    }
    rows.extend(
        environment
            .programs
            .iter()
            .map(|program| ("program".to_owned(), program.clone())),
    );
    rows.extend(
        environment
            .details
            .iter()
            .map(|detail| ("detail".to_owned(), detail.clone())),
    );
    rows
}

/// Every variant against the first of its clock, then the pairs that the dossier wishes for.
fn comparisons(loaded: &Loaded, variants: &[Variant], unit: RateUnit) -> Vec<VariantComparison> {
    let mut all = Vec::new();
    for clock in [Origin::Lab, Origin::Simulated] {
        let own: Vec<&Variant> = variants.iter().filter(|variant| variant.clock == clock).collect();
        let Some((first, others)) = own.split_first() else {
            continue;
        };
        // What the experiment does not repeat is repeated for the pairs that it wishes for; of the others the table says
        // all that a comparison could.
        let repeats = |variant: &Variant| {
            let planned = loaded.experiment.variant(&variant.name);
            planned.is_some_and(|planned| planned.repeats.runs > 1)
        };
        let once =
            |variant: &Variant| clock == Origin::Simulated && (variant.runs.len() == 1 || !repeats(variant));
        all.extend(
            others
                .iter()
                .filter(|other| !once(first) || !once(other))
                .filter_map(|other| VariantComparison::goodput(first, other, unit)),
        );
        for wish in &loaded.dossier.comparisons {
            let find = |name: &str| own.iter().find(|variant| variant.name == name);
            if let (Some(a), Some(b)) = (find(&wish.a), find(&wish.b)) {
                all.extend(
                    VariantComparison::losses(a, b, unit).or_else(|| VariantComparison::goodput(a, b, unit)),
                );
            }
        }
    }
    all
}
