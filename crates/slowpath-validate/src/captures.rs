//! The run of the labelled captures: transfers on kernel hosts, three captures of each, verdicts against labels.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use slowpath_record::HealthState;
use slowpath_scenario::Clock;
use slowpath_verdict::Flag;
use slowpath_verdict::{Analysis, Limit, Verdict};

use crate::causes::{Case, List};
use crate::label::{self, Counted, Label};
use crate::taps::PLACES;
use crate::worker::{KernelAccount, account_file};
use slowpath::folder::{Folder, FolderError};
use slowpath::import;
use slowpath::run::{self, Event, Planned, RunError, RunOptions};

/// What to do and where.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which transfers.
    pub list: List,
    /// Where the captures go; a second run goes on with what is missing.
    pub out: PathBuf,
    /// Only cases whose name contains one of these; empty means all.
    pub only: Vec<String>,
    /// How many transfers at a time.
    pub places: usize,
    /// The program that runs one assignment, as [`RunOptions::worker`].
    pub worker: (PathBuf, Vec<String>),
}

/// One capture and what its analysis said.
#[derive(Debug, Clone, Serialize)]
pub struct Scored {
    /// File in the folder.
    pub file: String,
    /// Name of the case.
    pub case: String,
    /// Its kind.
    pub kind: &'static str,
    /// The sender's congestion control.
    pub congestion: &'static str,
    /// Where it was taken.
    pub place: &'static str,
    /// Round-trip time of the empty path in milliseconds, and the path.
    pub path: String,
    /// What the scenario meant.
    pub scenario: Limit,
    /// The label.
    pub label: Label,
    /// What was counted.
    pub counted: Counted,
    /// The verdict.
    pub verdict: Option<Limit>,
    /// Its sentence.
    pub sentence: String,
    /// How sure it was.
    pub confidence: f64,
    /// Whether the verdict carries the flag for a long queue.
    pub bufferbloat: bool,
    /// Right, wrong or cannot tell; absent without a label.
    pub outcome: Option<Outcome>,
    /// Right only because `bottleneck-bandwidth` is allowed for the label `shared-bottleneck`.
    pub own_share: bool,
    /// Undecided where nothing of the cause comes by, and says where to look instead.
    pub hidden: bool,
}

/// How a verdict compares with the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The label, or what a capture at this place must take for it.
    Right,
    /// Another limit.
    Wrong,
    /// No limit was named.
    Undecided,
}

/// Makes the captures that are missing, beside each other.
///
/// # Errors
/// [`RunError`].
pub fn make(
    settings: &Settings,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    let planned = chosen(settings)
        .map(|case| {
            Planned::new(
                case.name(),
                case.plan(settings.list.seed())
                    .expect("a case of the list can be planned"),
            )
        })
        .collect();
    let options = RunOptions {
        clocks: vec![Clock::Lab],
        variants: Vec::new(),
        repeats: None,
        decide: false,
        seed: settings.list.seed(),
        quick: false,
        capture: true,
        out: settings.out.clone(),
        places: settings.places,
        worker: settings.worker.clone(),
    };
    let folder = Folder::create(&settings.out)?;
    run::execute("captures", planned, &options, &folder, cancel, observe)
}

fn chosen(settings: &Settings) -> impl Iterator<Item = Case> + '_ {
    settings
        .list
        .cases()
        .into_iter()
        .filter(|case| crate::is_wanted(&case.name(), &settings.only))
}

/// Analyses every capture that lies in the folder, and compares.
///
/// # Errors
/// [`FolderError`] if a record cannot be read.
pub fn score(settings: &Settings) -> Result<Vec<Scored>, FolderError> {
    let folder = Folder::open(&settings.out);
    let mut scored = Vec::new();
    for case in chosen(settings) {
        let name = case.name();
        let Some(record) = folder.record(&name)? else {
            continue;
        };
        let path = folder.root().join(account_file(&name));
        let account = std::fs::read(&path).ok();
        let Some(account) = account.and_then(|text| serde_json::from_slice::<KernelAccount>(&text).ok())
        else {
            continue;
        };
        let counted = label::count(&case, &account, &record.elements);
        let label = if record.health.state == HealthState::Invalid {
            Label::LeftOut("the run was invalid".to_owned())
        } else {
            label::label(&case, &counted)
        };
        for (capture, place) in record.captures.iter().zip(PLACES) {
            scored.push(score_one(&folder, &case, &label, counted, &capture.file, place));
        }
    }
    Ok(scored)
}

fn score_one(
    folder: &Folder,
    case: &Case,
    label: &Label,
    counted: Counted,
    file: &str,
    place: &'static str,
) -> Scored {
    let analysis = import::analyze_file(&folder.root().join(file));
    let (verdict, problem) = match analysis {
        Ok(analysis) => (main_verdict(&analysis), "no connection was found".to_owned()),
        Err(error) => (None, error.to_string()),
    };
    let outcome = label.limit().map(|limit| {
        verdict
            .as_ref()
            .map_or(Outcome::Undecided, |verdict| judge(case.kind, limit, verdict))
    });
    let own_share = label
        .limit()
        .zip(verdict.as_ref())
        .is_some_and(|(limit, verdict)| is_own_share(case.kind, limit, verdict));
    let hidden = case.is_behind_black_hole(place)
        && outcome == Some(Outcome::Undecided)
        && verdict.as_ref().is_some_and(points_to_the_sender);
    Scored {
        file: file.to_owned(),
        case: case.name(),
        kind: case.kind,
        congestion: case.congestion.name(),
        place,
        path: case.describe(),
        scenario: case.cause,
        label: label.clone(),
        counted,
        verdict: verdict.as_ref().map(|verdict| verdict.limit),
        confidence: verdict.as_ref().map_or(0.0, |verdict| verdict.confidence),
        bufferbloat: verdict
            .as_ref()
            .is_some_and(|verdict| verdict.flags.contains(&Flag::Bufferbloat)),
        sentence: verdict.map_or(problem, |verdict| verdict.sentence),
        outcome,
        own_share,
        hidden,
    }
}

fn points_to_the_sender(verdict: &Verdict) -> bool {
    let next = verdict.next_step.as_deref();
    next.is_some_and(|next| next.contains("capture at the sender"))
}

pub(super) fn main_verdict(analysis: &Analysis) -> Option<Verdict> {
    let most = analysis
        .connections
        .iter()
        .max_by_key(|connection| (connection.bytes_delivered, std::cmp::Reverse(connection.id)));
    most.map(|connection| connection.verdict.clone())
}

/// Whether the capture shows one's own share of a shared link and nothing more, and the verdict says that much.
///
/// Other hosts' traffic is not in the capture. Flows of the same hosts are, and the flag says so.
fn is_own_share(kind: &str, label: Limit, verdict: &Verdict) -> bool {
    label == Limit::SharedBottleneck
        && verdict.limit == Limit::BottleneckBandwidth
        && (kind.starts_with("cross") || verdict.flags.contains(&Flag::SharedWithOtherFlows))
}

fn judge(kind: &str, label: Limit, verdict: &Verdict) -> Outcome {
    let said = verdict.limit;
    if said == label || is_own_share(kind, label, verdict) {
        Outcome::Right
    } else if said.is_undecided() {
        Outcome::Undecided
    } else {
        Outcome::Wrong
    }
}

/// Counts of outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Right verdicts.
    pub right: usize,
    /// Wrong ones.
    pub wrong: usize,
    /// None named.
    pub undecided: usize,
}

impl Tally {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Right => self.right += 1,
            Outcome::Wrong => self.wrong += 1,
            Outcome::Undecided => self.undecided += 1,
        }
    }

    /// The same outcomes with `allowed` of the right ones called wrong.
    const fn without(self, allowed: usize) -> Self {
        Self {
            right: self.right - allowed,
            wrong: self.wrong + allowed,
            undecided: self.undecided,
        }
    }

    /// The outcomes of all labelled captures among `scored`.
    pub fn of<'a>(scored: impl Iterator<Item = &'a Scored>) -> Self {
        let mut tally = Self::default();
        scored
            .filter_map(|one| one.outcome)
            .for_each(|outcome| tally.add(outcome));
        tally
    }

    /// The same outcomes with `allowed` of the undecided ones called right.
    const fn with(self, allowed: usize) -> Self {
        Self {
            right: self.right + allowed,
            wrong: self.wrong,
            undecided: self.undecided - allowed,
        }
    }

    /// How many.
    pub const fn all(self) -> usize {
        self.right + self.wrong + self.undecided
    }

    fn cell(self) -> String {
        format!("{} / {} / {}", self.right, self.wrong, self.undecided)
    }

    fn shares(self) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.all().max(1) as f64;
        format!(
            "right {:.1} %, wrong {:.1} %, cannot tell {:.1} %",
            share(self.right),
            share(self.wrong),
            share(self.undecided)
        )
    }
}

/// The chosen cases of which nothing could be scored: their run failed, was not made, or left no account or capture.
pub fn without_run(settings: &Settings, scored: &[Scored]) -> Vec<String> {
    chosen(settings)
        .map(|case| case.name())
        .filter(|name| scored.iter().all(|one| one.case != *name))
        .collect()
}

/// The drawn list by which the rules are judged, as they were before any of its captures was seen.
pub const HELD_OUT: List = List::Drawn(4);

/// What became of one list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Which.
    pub list: List,
    /// Its captures and their verdicts.
    pub scored: Vec<Scored>,
    /// The cases [`without_run`].
    pub missing: Vec<String>,
}

/// The page `docs/validation/captures.md`: the held-out list first, then those on which the rules were improved.
pub fn page(lists: &[Listed]) -> String {
    let mut text = String::from(INTRODUCTION);
    let mut order: Vec<&Listed> = lists.iter().collect();
    order.sort_by_key(|one| (one.list != HELD_OUT, std::cmp::Reverse(one.list)));
    for one in order {
        listed(&mut text, one);
    }
    text
}

const INTRODUCTION: &str = "# Verdicts on labelled lab captures

Written by `cargo run --release -p slowpath-validate --example standing -- captures`.

Transfers between two kernel hosts over slowpath's own wire, each with one known limit; of each a capture
beside the sender, in the middle of the path (before the constraint in every first, behind it in every second
case) and beside the receiver. The kernel's chronographs and the path's counters confirm the scenario, relabel
the capture, or leave it out (module `slowpath_validate::label`). The analyser sees the packets alone.

How the rules came by their cut-offs: as round numbers between the two classes that each of them separates, after a
look at the figures of all labelled captures at hand (the analyser's corpus and the lists below that say so), never
at one file; `cut_offs_hold_across_halves` in the analyser's corpus test sets the most important ones from one half of
the corpus and scores the other half. A drawn list (module `slowpath_validate::causes::drawn`) takes its numbers from a rule and
the list's own number, so that a new one can be had whenever the rules were improved on the last: the shares of the
held-out list are those of paths that the rules never met.

";

const SCORED_THEN: &str = "The list was fixed by its digest before it was run, and scored once with the rules as they
were then; the first run is the one reported. `drawn-2` was never run: there, as in `drawn-1`, reordering comes to hosts
that tell late from lost, and does not limit them. From `drawn-3` on these hosts do without selective acknowledgements and
timestamps, and BBR, which heeds no losses, is left out of them; also, a full send buffer lets its program write when the
kernel wakes it, which had made three transfers of `drawn-1` send by a clock of their own.
`drawn-3` was scored once as well, with 90.5 % right, 2.3 % wrong and 7.3 % cannot tell. Nearly all its misses but the
black holes stood beside the receiver, where 3 to 30 % of the acknowledgements were recorded before the data that they
acknowledge, by up to 5 ms. That was the recorder's mistake: the wire took the time for which it had waited for a
processor off an arrival's stamp where a timer, not the packet, had begun the wait. It has been mended, and the analysis
lets such an acknowledgement wait for its data, which captures beside hosts with several receive queues need too. Both came
before `drawn-4` was drawn, and no rule changed after it. Made again with later rules, the figures of this list will no
longer be those of a list never met.";

fn listed(text: &mut String, one: &Listed) {
    let (scored, missing) = (&one.scored, &one.missing);
    let labelled = || scored.iter().filter(|one| one.outcome.is_some());
    let all = Tally::of(labelled());
    let allowed = labelled().filter(|one| one.own_share).count();
    let hidden = labelled().filter(|one| one.hidden).count();
    let cases: BTreeSet<&str> = scored.iter().map(|one| one.case.as_str()).collect();
    let name = one.list.name();
    let (title, standing) = if one.list == HELD_OUT {
        (format!("Held-out list `{name}`"), SCORED_THEN)
    } else {
        (
            format!("List `{name}`, on which the rules were improved"),
            "The shares of this list are not those of paths that the rules never met.",
        )
    };
    let _ = writeln!(
        text,
        "## {title}\n\n\
         Made by `... captures --list {name}`. {standing}\n\n\
         **{} captures with a label: {}.**\n\n\
         Of the right ones, {allowed} say `bottleneck-bandwidth` of a transfer labelled `shared-bottleneck`: the other\n\
         traffic belongs to other hosts and is not in the capture, or the verdict carries the flag for flows beside it.\n\
         The tables count them as right too. Counted as wrong: {}.\n\n\
         {hidden} of those that cannot tell were taken behind a black hole: none of its victims comes by, so nothing in the\n\
         capture shows them, and each says to capture at the sender instead. Counted as right: {}.\n\n\
         {} of {} cases have no run: it failed, was not made, or left nothing to be scored.\n",
        all.all(),
        all.shares(),
        all.without(allowed).shares(),
        all.with(hidden).shares(),
        missing.len(),
        missing.len() + cases.len(),
    );
    for name in missing {
        let _ = writeln!(text, "* `{name}` has no run.");
    }
    if !missing.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "Each cell: right / wrong / cannot tell.\n");
    table(text, scored, "kind of transfer", |one| one.kind);
    table(text, scored, "congestion control", |one| one.congestion);
    let bloated: Vec<&Scored> = labelled()
        .filter(|one| one.kind == "bufferbloat" && one.congestion != "bbr" && one.place != "receiver")
        .collect();
    let flagged = bloated.iter().filter(|one| one.bufferbloat).count();
    let _ = writeln!(
        text,
        "The flag `bufferbloat` stands on {flagged} of {} captures of long queues that Reno and CUBIC filled, seen\n\
         from the sender or the middle.\n",
        bloated.len()
    );
    labels(text, scored);
    misses(text, scored, Outcome::Wrong, "Wrong");
    misses(text, scored, Outcome::Undecided, "Cannot tell");
}

fn table(text: &mut String, scored: &[Scored], title: &str, key: fn(&Scored) -> &'static str) {
    let mut keys: Vec<&str> = Vec::new();
    for one in scored {
        if !keys.contains(&key(one)) {
            keys.push(key(one));
        }
    }
    let _ = writeln!(
        text,
        "| {title} | captures | all | sender | middle | receiver |\n|---|---|---|---|---|---|"
    );
    let mut row = |name: &str, own: &dyn Fn(&&Scored) -> bool| {
        let of = |place: Option<&str>| {
            Tally::of(
                scored
                    .iter()
                    .filter(own)
                    .filter(|one| place.is_none_or(|place| one.place == place)),
            )
        };
        let _ = write!(text, "| {name} | {} | {} |", of(None).all(), of(None).cell());
        for place in PLACES {
            let _ = write!(text, " {} |", of(Some(place)).cell());
        }
        text.push('\n');
    };
    for name in keys {
        row(name, &|one| key(one) == name);
    }
    row("all", &|_| true);
    text.push('\n');
}

/// Where scenario and chronograph disagree.
fn labels(text: &mut String, scored: &[Scored]) {
    let mut out: BTreeMap<&str, &str> = BTreeMap::new();
    let mut renamed: BTreeMap<&str, Limit> = BTreeMap::new();
    for one in scored {
        match &one.label {
            Label::LeftOut(why) => drop(out.insert(&one.case, why)),
            Label::Chronograph(limit) => drop(renamed.insert(&one.case, *limit)),
            Label::Agreed(_) => {}
        }
    }
    let _ = writeln!(
        text,
        "### Labels\n\n{} transfers were labelled by the chronograph or the path against the scenario, {} left out.\n",
        renamed.len(),
        out.len()
    );
    for (case, limit) in renamed {
        let _ = writeln!(text, "* `{case}` is labelled {limit}.");
    }
    for (case, why) in out {
        let _ = writeln!(text, "* `{case}` is left out: {why}.");
    }
    text.push('\n');
}

fn misses(text: &mut String, scored: &[Scored], outcome: Outcome, title: &str) {
    let missed: Vec<&Scored> = scored.iter().filter(|one| one.outcome == Some(outcome)).collect();
    let _ = writeln!(text, "### {title}: {}\n", missed.len());
    if missed.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "| capture | place | label | verdict | path | what it said |\n|---|---|---|---|---|---|"
    );
    for one in missed {
        let name = |limit: Option<Limit>| limit.map_or("-", Limit::name);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            one.case,
            one.place,
            name(one.label.limit()),
            name(one.verdict),
            one.path.replace('|', " "),
            one.sentence.replace('|', " ")
        );
    }
    text.push('\n');
}

/// Everything as JSON, for programs that improve the verdicts.
pub fn manifest(folder: &Path, scored: &[Scored]) -> String {
    let whole = serde_json::json!({ "folder": folder, "captures": scored });
    serde_json::to_string_pretty(&whole).expect("scores can always be written as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(case: &str, kind: &'static str, label: Limit, said: Limit) -> Scored {
        let verdict = Verdict {
            limit: said,
            flags: Vec::new(),
            share: 1.0,
            confidence: 0.9,
            sentence: "x".to_owned(),
            parameters: slowpath_verdict::Parameters::default(),
            evidence: Vec::new(),
            rejected: Vec::new(),
            next_step: None,
        };
        Scored {
            file: format!("{case}.pcapng"),
            case: case.to_owned(),
            kind,
            congestion: "cubic",
            place: PLACES[0],
            path: "p".to_owned(),
            scenario: label,
            label: Label::Agreed(label),
            counted: Counted::default(),
            verdict: Some(said),
            sentence: verdict.sentence.clone(),
            confidence: verdict.confidence,
            bufferbloat: false,
            outcome: Some(judge(kind, label, &verdict)),
            own_share: is_own_share(kind, label, &verdict),
            hidden: false,
        }
    }

    #[test]
    fn the_page_tells_what_was_allowed_and_what_is_missing() {
        use Limit::{BottleneckBandwidth, Policed, SharedBottleneck};
        let all = [
            scored("a", "cross-cubic", SharedBottleneck, SharedBottleneck),
            scored("b", "cross-cubic", SharedBottleneck, BottleneckBandwidth),
            // Without the flag and with all flows in the capture nothing is allowed.
            scored("c", "parallel", SharedBottleneck, BottleneckBandwidth),
            scored("d", "policed", Policed, Policed),
        ];
        let listed = |list| Listed {
            list,
            scored: all.to_vec(),
            missing: vec!["e".to_owned()],
        };
        let text = page(&[listed(List::Tuned), listed(HELD_OUT)]);
        let places = [HELD_OUT, List::Tuned].map(|list| text.find(&format!("`{}`", list.name())));
        assert!(places[0].is_some() && places[0] < places[1], "{text}");
        assert!(
            text.contains("4 captures with a label: right 75.0 %, wrong 25.0 %, cannot tell 0.0 %."),
            "{text}"
        );
        assert!(
            text.contains("Counted as wrong: right 50.0 %, wrong 50.0 %, cannot tell 0.0 %."),
            "{text}"
        );
        assert!(text.contains("1 of 5 cases have no run"), "{text}");
        assert!(text.contains("* `e` has no run."), "{text}");
    }
}
