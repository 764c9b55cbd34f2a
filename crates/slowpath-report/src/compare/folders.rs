//! `slowpath compare A B`: two results of the same experiment.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use slowpath_diagnose::stats::{Comparison, Outcome};
use slowpath_record::HealthState;
use slowpath_verdict::Limit;

use super::sentence;
use crate::ledger;
use crate::quantity::{RateUnit, byte_rate};
use crate::results::{Results, Variant};
use crate::text::{Style, Tone, Warning, columns, left, right, wrap};
use slowpath_words::{english, say, told, word};

/// Two results side by side, variant by variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FolderComparison {
    /// Form of this document.
    pub schema: String,
    /// Experiments of A and B; they should be the same.
    pub experiments: [String; 2],
    /// Variants that both have.
    pub variants: Vec<VariantChange>,
    /// Variants that only one has, with its letter.
    pub missing: Vec<String>,
}

/// One variant in both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantChange {
    /// Its name.
    pub name: String,
    /// Goodput in B against A; absent if one has no valid run.
    pub goodput: Option<Comparison>,
    /// The limits: A, B.
    pub limits: [Option<Limit>; 2],
    /// What changed, in a sentence.
    pub sentence: String,
}

impl FolderComparison {
    /// Compares `b` against `a`.
    pub fn of(a: &Results, b: &Results) -> Self {
        let both = a.variants.iter().filter_map(|v| Some((v, b.variant(&v.name)?)));
        let only = |these: &Results, those: &Results, letter: &str| -> Vec<String> {
            let names = these.variants.iter().filter(|v| those.variant(&v.name).is_none());
            names
                .map(|v| english!("compare-folders-only", v = v.name, letter = letter))
                .collect()
        };
        let mut missing = only(a, b, "A");
        missing.extend(only(b, a, "B"));
        Self {
            schema: "slowpath/compare/1".to_owned(),
            experiments: [a.experiment.clone(), b.experiment.clone()],
            variants: both.map(|(x, y)| VariantChange::of(x, y)).collect(),
            missing,
        }
    }

    /// Whether some variant is slower in B, or limited by something else: a failed comparison for exit codes.
    pub fn worse(&self) -> bool {
        self.variants.iter().any(VariantChange::worse)
    }

    /// Writes the comparison as text.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        if self.experiments[0] != self.experiments[1] {
            let text = english!(
                "compare-folders-b-comparison-may-mean-little",
                experiments = self.experiments[0],
                experiments2 = self.experiments[1]
            );
            style.warn(Warning::Unlike, &text, "! ", Tone::Care, out)?;
        }
        let longest = self
            .variants
            .iter()
            .map(|v| columns(&v.name))
            .max()
            .unwrap_or(0)
            .clamp(7, 18);
        let head = say!(
            "compare-folders-limited-by-b",
            longest = left(word!("head-variant"), longest),
            right = right("A", 12),
            right2 = right("B", 12),
            right3 = right("B/A", 7)
        );
        let narrow = style.rows < columns(&head);
        if !narrow {
            writeln!(out, "{}", style.bold(&head))?;
        }
        for v in &self.variants {
            let (a, b, ratio, tone) = match &v.goodput {
                Some(c) => {
                    let mark = if c.outcome == Outcome::NotShown { "~" } else { "" };
                    let tone = match c.outcome {
                        Outcome::Higher => Tone::Good,
                        Outcome::Lower => Tone::Bad,
                        _ => Tone::Plain,
                    };
                    (
                        byte_rate(c.a.mean),
                        byte_rate(c.b.mean),
                        format!("{:.3}{mark}", c.ratio),
                        tone,
                    )
                }
                None => ("-".into(), "-".into(), "-".into(), Tone::Care),
            };
            let limit = |l: Option<Limit>| l.map_or("-", Limit::name);
            let limits = if v.limits[0] == v.limits[1] {
                limit(v.limits[0]).to_owned()
            } else {
                format!("{}, {}", limit(v.limits[0]), limit(v.limits[1]))
            };
            if narrow {
                writeln!(out, "{}", style.bold(&v.name))?;
                let row = format!("A {a}, B {b}, B/A {ratio}, {limits}");
                style.paragraph(&row, "  ", "  ", tone, out)?;
                continue;
            }
            // A name is never cut; one that does not fit gets a line of its own.
            let name = if columns(&v.name) > longest {
                writeln!(out, "{}", v.name)?;
                ""
            } else {
                v.name.as_str()
            };
            let fixed = format!("{} {} {}  ", left(name, longest), right(&a, 12), right(&b, 12));
            let before = columns(&fixed) + 9;
            let limits = wrap(&limits, style.rows.saturating_sub(before), "", "");
            let mut lines = limits.into_iter();
            let first = lines.next().unwrap_or_default();
            writeln!(out, "{fixed}{}  {first}", style.tone(tone, &right(&ratio, 7)))?;
            for line in lines {
                writeln!(out, "{}{line}", " ".repeat(before))?;
            }
        }
        writeln!(out)?;
        for v in &self.variants {
            for line in wrap(&v.sentence, style.width, "", "  ") {
                writeln!(out, "{line}")?;
            }
        }
        let once = |v: &VariantChange| v.goodput.as_ref().is_some_and(|c| c.outcome == Outcome::TooFew);
        if self.variants.iter().any(once) {
            style.paragraph(word!("compare-folders-chance"), "", "  ", Tone::Plain, out)?;
        }
        for name in &self.missing {
            writeln!(out, "{}", told(name))?;
        }
        Ok(())
    }
}

impl VariantChange {
    fn of(a: &Variant, b: &Variant) -> Self {
        let values = |v: &Variant| -> Vec<f64> {
            let counted = v
                .runs
                .iter()
                .filter(|r| r.complete && r.health.state != HealthState::Invalid);
            counted.map(|r| r.goodput_byte_per_s).collect()
        };
        let goodput = Comparison::welch(&values(a), &values(b));
        let limits = [a, b].map(|v| v.verdict.as_ref().map(|v| v.limit));
        let said = match &goodput {
            // What one run on each side cannot show is said once, below.
            Some(c) if c.outcome == Outcome::TooFew => {
                let unit = RateUnit::default();
                let [before, now] = [&c.a, &c.b].map(|rates| unit.show(rates.mean));
                if before == now {
                    english!("compare-folders-same", name = a.name, rate = now)
                } else {
                    english!("compare-folders-once", name = a.name, now = now, before = before)
                }
            }
            Some(c) => sentence(
                &english!("compare-folders-in-a", a = a.name),
                &english!("compare-folders-b", b = b.name),
                c,
                RateUnit::default(),
            ),
            None => english!("compare-folders-no-valid-run-on-one", a = a.name),
        };
        let held = |v: &Variant| {
            v.runs
                .iter()
                .find_map(|run| Some((run.ledger.clone()?, run.bytes)))
        };
        // What makes a transfer faster is what shrank.
        let faster = goodput.as_ref().is_some_and(|c| c.ratio > 1.0);
        let grown = match (held(a), held(b)) {
            (Some((first, before)), Some((second, now))) => {
                ledger::grown([&first, &second], [before, now], faster)
            }
            _ => None,
        };
        let grown = grown.map_or_else(String::new, |grown| {
            format!(" {}{}.", grown[..1].to_uppercase(), &grown[1..])
        });
        let changed = match limits {
            [Some(x), Some(y)] if x != y => format!(
                " {}",
                english!("compare-folders-limit-changed-from", x = x, y = y)
            ),
            _ => String::new(),
        };
        Self {
            name: a.name.clone(),
            goodput,
            limits,
            sentence: said + &changed + &grown,
        }
    }

    fn worse(&self) -> bool {
        let slower = self.goodput.as_ref().is_none_or(|c| c.outcome == Outcome::Lower);
        let other = matches!(self.limits, [Some(a), Some(b)] if a != b && !b.is_undecided());
        slower || other
    }
}
