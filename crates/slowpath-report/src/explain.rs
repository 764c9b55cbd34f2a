//! The document behind `slowpath explain`: `slowpath/explain/1`.
//!
//! It is the [`Analysis`] with, for each connection, the changes that would help: those come from diagnosis,
//! because an analysis names none.

use serde::{Deserialize, Serialize};
use slowpath_diagnose::change;
use slowpath_diagnose::gain::{Prediction, remedies};
use slowpath_diagnose::situation::{PathEvidence, Situation};
use slowpath_facts::Capture;
use slowpath_scenario::Intervention;
use slowpath_verdict::{Analysis, Connection, Limit};

use crate::quantity::bit_rate;
use slowpath_words::{english, english_word};

/// What one capture says, and what would help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The form's version, that of the analysis.
    pub schema: String,
    /// The file and its quality.
    pub capture: Capture,
    /// Connections, those with the most data first.
    pub connections: Vec<ExplainedConnection>,
}

impl Explanation {
    /// An explanation without remedies.
    pub fn of(analysis: Analysis) -> Self {
        Self::with(analysis, |_| Vec::new())
    }

    /// An explanation with the changes that diagnosis suggests for each connection, and what they would gain.
    ///
    /// What one connection cannot show of the path (its rate, its loss), others of the same hosts may.
    pub fn diagnosed(analysis: Analysis) -> Self {
        let hosts = |c: &Connection| [host(&c.client), host(&c.server)].map(str::to_owned);
        let known: Vec<_> = analysis
            .connections
            .iter()
            .map(|c| (hosts(c), Situation::of(c)))
            .collect();
        Self::with(analysis, |c| {
            let own = hosts(c);
            let reversed = [own[1].clone(), own[0].clone()];
            let same = known.iter().filter(|(pair, _)| *pair == own || *pair == reversed);
            let evidence = PathEvidence::of(same.map(|(_, situation)| situation));
            let predictions = remedies(&Situation::of(c), &evidence, &c.verdict.flags);
            predictions.iter().map(RemedyView::of).collect()
        })
    }

    /// An explanation with the remedies that `remedies` gives for each connection.
    pub fn with(analysis: Analysis, mut remedies: impl FnMut(&Connection) -> Vec<RemedyView>) -> Self {
        let explained = |connection: Connection| ExplainedConnection {
            remedies: remedies(&connection),
            connection,
        };
        Self {
            schema: analysis.schema,
            capture: analysis.capture,
            connections: analysis.connections.into_iter().map(explained).collect(),
        }
    }
}

/// One connection with its remedies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedConnection {
    /// The analysed connection; its fields stand beside `remedies` in JSON.
    #[serde(flatten)]
    pub connection: Connection,
    /// What would help, if anything is known to.
    pub remedies: Vec<RemedyView>,
}

/// Whether a connection carried next to nothing beside the largest of the capture, such as FTP's commands beside its
/// data, and nothing is known of it: one line is enough.
pub(crate) fn is_aside(c: &Connection, largest: u64) -> bool {
    c.verdict.limit.is_undecided() && c.bytes_delivered < largest / 100
}

/// A change and what it is predicted to gain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RemedyView {
    /// The change in words.
    pub change: String,
    /// The change itself, for whoever writes it in the language of a system; unknown in a view that was read back.
    #[serde(skip)]
    pub asked: Option<Intervention>,
    /// Goodput that is predicted after it; absent where what the path carries was never seen.
    pub predicted_goodput_bit_per_s: Option<f64>,
    /// The most that the limits seen would allow.
    #[serde(default)]
    pub at_most_bit_per_s: Option<f64>,
    /// At least, bits per second; with `at_most_bit_per_s` in nine of ten transfers where a ledger tells.
    #[serde(default)]
    pub at_least_bit_per_s: Option<f64>,
    /// What that is more than now, as a share of now: 0 for no gain.
    #[serde(default)]
    pub gain: Option<f64>,
    /// The limit that takes over then.
    pub next_limit: Option<Limit>,
    /// Why, in a sentence.
    #[serde(default)]
    pub because: String,
    /// How to make the change on the systems concerned.
    pub configuration: Vec<ConfigurationText>,
}

impl RemedyView {
    /// A prediction for people. A change without a known gain is kept: it says so. Whoever knows a system's language adds
    /// its lines.
    pub fn of(prediction: &Prediction) -> Self {
        let (least, most) = match prediction.range90 {
            Some((least, most)) => (least, Some(most)),
            None => (prediction.low, prediction.high),
        };
        Self {
            change: change::words(&prediction.change),
            asked: Some(prediction.change.clone()),
            predicted_goodput_bit_per_s: prediction.next_limit.map(|_| prediction.expected * 8.0),
            gain: prediction
                .next_limit
                .map(|_| (prediction.factor() - 1.0).max(0.0)),
            at_most_bit_per_s: most.map(|most| most * 8.0),
            at_least_bit_per_s: prediction.next_limit.map(|_| least * 8.0),
            next_limit: prediction.next_limit,
            because: prediction.because.clone(),
            configuration: Vec::new(),
        }
    }

    /// Whether it is predicted to gain as good as nothing.
    pub fn in_vain(&self) -> bool {
        self.gain.is_some_and(|g| g < 0.03)
    }

    /// The outcome in words: `about 16 Mbit/s`, `about 16 Mbit/s (9 Mbit/s to 18 Mbit/s)` where that is wide, `at most 200 Mbit/s`.
    pub fn outcome(&self) -> String {
        let wide = self.at_least_bit_per_s.zip(self.at_most_bit_per_s);
        let wide = wide.filter(|(least, most)| *most > least * WIDE);
        if let Some((rate, (least, most))) = self.predicted_goodput_bit_per_s.zip(wide) {
            return english!(
                "explain-about-between",
                rate = bit_rate(rate),
                least = bit_rate(least),
                most = bit_rate(most)
            );
        }
        match (self.predicted_goodput_bit_per_s, self.at_most_bit_per_s) {
            (Some(rate), _) => english!("explain-about", rate = bit_rate(rate)),
            (None, Some(most)) => english!("explain-most", most = bit_rate(most)),
            (None, None) => english_word!("explain-gain-cannot-told").to_owned(),
        }
    }
}

/// A range is told whose ends are further apart than this ratio: the accounts' own doubt is 1.27.
const WIDE: f64 = 1.5;

/// The address of `address:port`.
fn host(end: &str) -> &str {
    end.rsplit_once(':').map_or(end, |(host, _)| host)
}

/// Configuration lines for one system.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConfigurationText {
    /// Such as `linux`, `ios`, `rtx`, `ssh`.
    pub system: String,
    /// The lines.
    pub text: String,
}
