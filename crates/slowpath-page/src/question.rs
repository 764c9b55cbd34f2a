//! A transfer on a path with changes: what is asked, and what the simulation says.

use serde::{Deserialize, Serialize};
use slowpath_record::TransferResult;
use slowpath_scenario::intervention::{ApplyError, SpellingError};
use slowpath_scenario::plan::PlanError;
use slowpath_scenario::{Clock, Experiment, Fragments, Intervention, Plan, PlanOptions, Workload};
use slowpath_sim::programs::NotModelled;
use slowpath_sim::watch::Watch;
use slowpath_sim::{SimError, SimReport, Simulation, planned};

/// A transfer to simulate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The experiment file, as `slowpath fit -o` writes it.
    pub experiment: String,
    /// Which of its variants; the first where there is none of that name.
    #[serde(default)]
    pub variant: String,
    /// The experiment's seed.
    pub seed: u64,
    /// Whether it is watched beside the sender; else beside the receiver.
    pub at_sender: bool,
    /// Payload after which it is complete.
    pub bytes: u64,
    /// Changes as users type them for `--what-if`: `rate=20 Mbit/s`. One that changes nothing is as good as none.
    #[serde(default)]
    pub changes: Vec<String>,
}

/// What the simulation says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// From the first data to the last new acknowledgement, seconds, at the end where it was watched.
    pub duration_s: f64,
    /// Payload acknowledged.
    pub bytes: u64,
    /// Payload acknowledged per second of the duration.
    pub goodput_bit_per_s: f64,
    /// Segments sent again.
    pub resent: u64,
    /// Whether the transfer came to its end.
    pub complete: bool,
    /// The same as `slowpath run` counts it.
    pub run: Counted,
    /// Times of the curve, seconds after the first data.
    pub curve_s: Vec<f64>,
    /// Payload acknowledged until then.
    pub curve_bytes: Vec<f64>,
}

/// A transfer as its program counts it: from the first packet of its first connection to the end of its last one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Counted {
    /// Seconds.
    pub duration_s: f64,
    /// Payload.
    pub bytes: u64,
    /// Segments that the sender's TCP sent again, where it counts them.
    pub retransmitted_segments: Option<u64>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// The question has no such form: a mistake of the page.
    #[error("the question cannot be read: {0}")]
    Form(#[from] serde_json::Error),
    /// The experiment file has mistakes.
    #[error("the experiment cannot be read: {0}")]
    Experiment(String),
    /// A change is no `KEY=VALUE`.
    #[error("the change {0} has no value")]
    NoValue(String),
    /// A change is not understood.
    #[error(transparent)]
    Spelling(#[from] SpellingError),
    /// A change does not fit.
    #[error(transparent)]
    Change(#[from] ApplyError),
    /// It cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The simulator lacks it.
    #[error(transparent)]
    NotModelled(#[from] NotModelled),
    /// The simulation cannot begin.
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// Answers a question in JSON by an answer in JSON, or by `{"error": WORDS}`.
pub fn answer_text(question: &str) -> String {
    let answered = serde_json::from_str(question)
        .map_err(QuestionError::from)
        .and_then(|question| answer(&question))
        .and_then(|answer| Ok(serde_json::to_string(&answer)?));
    answered.unwrap_or_else(|error| serde_json::json!({ "error": error.to_string() }).to_string())
}

/// Simulates the transfer.
///
/// # Errors
/// [`QuestionError`].
pub fn answer(question: &Question) -> Result<Answer, QuestionError> {
    let plan = plan(question)?;
    let mut spec = planned::spec(&plan)?;
    spec.sample_every = None;
    let mut watch = Watch::new(question.at_sender);
    let report = Simulation::new(&spec)?.run(&mut watch);
    // Episodes of losses, which the time is for, are not asked for.
    let seen = watch.finish(question.bytes, 0.0);
    let (curve_s, curve_bytes) = seen.thinned(POINTS);
    Ok(Answer {
        duration_s: seen.duration_s,
        bytes: seen.bytes,
        goodput_bit_per_s: if seen.duration_s > 0.0 {
            seen.bytes as f64 * 8.0 / seen.duration_s
        } else {
            0.0
        },
        resent: seen.resent,
        complete: seen.complete,
        run: counted(&plan, &report),
        curve_s,
        curve_bytes,
    })
}

/// The plan of the run with its changes. What was changed may take longer than the experiment has patience for.
fn plan(question: &Question) -> Result<Plan, QuestionError> {
    let experiment = Experiment::read("fitted", &question.experiment, &[])
        .map_err(|mistakes| QuestionError::Experiment(mistakes.to_string()))?;
    let named = experiment.variant(&question.variant);
    let variant = named.or_else(|| experiment.variants.first());
    let variant = variant.map_or("default", |variant| &variant.name);
    let options = PlanOptions::first(variant, question.seed, Clock::Simulated);
    let mut plan = experiment.plan(&options, &Fragments::new())?;
    for typed in &question.changes {
        let (key, value) = typed
            .split_once('=')
            .ok_or_else(|| QuestionError::NoValue(typed.clone()))?;
        plan = match Intervention::spelled(key.trim(), value.trim())?.apply(&plan) {
            Ok(changed) => changed,
            Err(ApplyError::NoEffect { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
    }
    if !plan.changes.is_empty() {
        plan.deadline = plan.deadline * PATIENCE;
    }
    Ok(plan)
}

/// What the program that measures says, as the record of `slowpath run` has it: iperf3's sender, otherwise the client.
fn counted(plan: &Plan, report: &SimReport) -> Counted {
    let job = plan.main_job();
    let reporter = match &job.workload {
        Workload::Iperf3(_) => plan.sender(),
        _ => &job.client,
    };
    let place = plan.hosts.iter().position(|host| host.name == reporter);
    let host = place.and_then(|place| u16::try_from(place).ok()).unwrap_or(0);
    let transfers: Vec<&TransferResult> = report.transfers(host).collect();
    let start = transfers.iter().map(|one| one.start).min().unwrap_or_default();
    let end = transfers.iter().map(|one| one.end).max().unwrap_or_default();
    Counted {
        duration_s: end.since(start).seconds(),
        bytes: transfers.iter().map(|one| one.bytes).sum(),
        retransmitted_segments: transfers
            .iter()
            .filter_map(|one| one.retransmitted_segments)
            .reduce(|a, b| a + b),
    }
}

/// Points of a curve.
const POINTS: f64 = 600.0;

/// Times the experiment's deadline that a changed transfer is given.
const PATIENCE: u64 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn question(changes: &[&str]) -> Question {
        Question {
            experiment: "title = \"x\"\n[network]\nup = [{ name = \"loss\", loss = \"0.000 ppm\" }, \
                { rate = \"20 Mbit/s\", queue = \"60000 B\", layer = \"L2+FCS\" }, { delay = \"15 ms\" }]\n\
                down = [{ delay = \"15 ms\" }]\n[workload]\nkind = \"iperf3\"\nclient = \"sender\"\nserver = \"receiver\"\n\
                size = \"2 MB\"\ndeadline = \"5 s\"\n[hosts.sender]\nsystem = \"linux\"\n[hosts.receiver]\nsystem = \"linux\"\n"
                .to_owned(),
            variant: String::new(),
            seed: 1,
            at_sender: true,
            bytes: 2_000_000,
            changes: changes.iter().map(|&change| change.to_owned()).collect(),
        }
    }

    #[test]
    fn a_change_changes_and_none_does_not() {
        let before = answer(&question(&[])).unwrap();
        assert!(before.complete && before.bytes == 2_000_000, "{before:?}");
        assert_eq!(before.run.bytes, 2_000_000);
        assert!(before.run.duration_s > before.duration_s, "{before:?}");
        assert!(before.curve_s.is_sorted() && before.curve_bytes.is_sorted());
        assert!(before.curve_s.len() <= 610 && before.curve_bytes.last() == Some(&2e6));
        assert_eq!(answer(&question(&["rate=20 Mbit/s"])).unwrap(), before);
        let slower = answer(&question(&["rate=10 Mbit/s", "delay=15 ms"])).unwrap();
        assert!(slower.duration_s > 1.5 * before.duration_s, "{slower:?}");
        // Longer than the experiment would wait.
        let slow = answer(&question(&["rate=400 kbit/s"])).unwrap();
        assert!(slow.complete && slow.duration_s > 30.0, "{}", slow.duration_s);
        let lossy = answer(&question(&["loss=2 %"])).unwrap();
        assert!(lossy.resent > before.resent, "{}", lossy.resent);
    }

    #[test]
    fn texts_are_answered_by_texts() {
        let asked = serde_json::to_string(&question(&["congestion-control=bbr"])).unwrap();
        let told: Answer = serde_json::from_str(&answer_text(&asked)).unwrap();
        assert!(told.complete, "{told:?}");
        for (asked, said) in [
            ("{}", "cannot be read"),
            (&*serde_json::to_string(&question(&["rate"])).unwrap(), "no value"),
            (
                &*serde_json::to_string(&question(&["rate=fast"])).unwrap(),
                "rate=fast",
            ),
            (
                &*serde_json::to_string(&question(&["policer=none"])).unwrap(),
                "no policer",
            ),
        ] {
            let error: serde_json::Value = serde_json::from_str(&answer_text(asked)).unwrap();
            assert!(error["error"].as_str().unwrap().contains(said), "{error}");
        }
    }
}
