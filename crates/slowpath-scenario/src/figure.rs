//! Published figures that a variant is compared with.

use std::fmt;

use serde::{Deserialize, Serialize};
use slowpath_units::{BitRate, ByteCount, Duration, Ratio};

use crate::diagnostic::Diagnostic;
use crate::fields::Fields;
use crate::host::Standing;
use crate::tree::Value;

/// One published figure of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name within the variant, such as `goodput`; for a flow's figure `FLOW.received_packets`.
    pub id: String,
    /// What was published.
    pub value: FigureValue,
    /// How far the run's figure may be off, either way; `None` is shown but not checked.
    pub tolerance: Option<Ratio>,
    /// Whether a parameter of the model was fitted to this figure, or the model predicts it.
    pub standing: Standing,
    /// The value as it was written, in the source's own unit.
    #[serde(default)]
    pub printed: String,
    /// The arithmetic on published figures that gives it; `None` where the source prints the figure itself.
    #[serde(default)]
    pub formula: Option<String>,
    /// Why it is not met, where that is declared: shown with the figure, and an error of `--check` only when it is met.
    #[serde(default)]
    pub missed: Option<String>,
}

/// A published value, in the unit in which it was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureValue {
    /// Payload bytes per second.
    BytesPerSecond(u64),
    /// Bits per second.
    BitsPerSecond(u64),
    /// A time.
    Time(Duration),
    /// An amount of data.
    Bytes(ByteCount),
    /// A share.
    Share(Ratio),
    /// A number of packets.
    Packets(u64),
}

impl FigureValue {
    /// The value in its base unit (bytes or bits per second, seconds, bytes, one, packets), for comparison and printing.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::BytesPerSecond(n) | Self::BitsPerSecond(n) | Self::Packets(n) => n as f64,
            Self::Time(time) => time.seconds(),
            Self::Bytes(bytes) => bytes.bytes() as f64,
            Self::Share(share) => share.fraction(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some(number) = text.trim().strip_suffix("packets") {
            return number.trim().parse().ok().map(Self::Packets);
        }
        if let Some(rate) = byte_rate(text.trim()) {
            return Some(Self::BytesPerSecond(rate));
        }
        text.parse::<BitRate>()
            .map(|rate| Self::BitsPerSecond(rate.bits_per_s()))
            .or_else(|_| text.parse().map(Self::Time))
            .or_else(|_| text.parse().map(Self::Share))
            .or_else(|_| text.parse().map(Self::Bytes))
            .ok()
    }
}

impl fmt::Display for FigureValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BytesPerSecond(n) => write!(f, "{n} B/s"),
            Self::BitsPerSecond(n) => BitRate::new(*n).fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Share(share) => share.fmt(f),
            Self::Packets(n) => write!(f, "{n} packets"),
        }
    }
}

/// Bytes per second, rounded to whole ones: sources print rates such as "72.2 MiB/s", which are none.
fn byte_rate(text: &str) -> Option<u64> {
    let amount = text.strip_suffix("/s")?;
    let at = amount.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = amount.split_at(at);
    let size: ByteCount = format!("1 {}", unit.trim()).parse().ok()?;
    let rate = number.parse::<f64>().ok()? * size.bytes() as f64;
    #[allow(clippy::cast_sign_loss)] // a number without a sign
    (rate < 1e18).then(|| rate.round() as u64)
}

/// Reads the list `figures` of a variant.
pub(crate) fn read_figures(fields: &Fields<'_>) -> Vec<Figure> {
    let Some(list) = fields.list("figures") else {
        return Vec::new();
    };
    let mut figures: Vec<Figure> = Vec::with_capacity(list.value.len());
    for (path, node) in list.value {
        let Value::Table(_) = &node.value else {
            fields.issues().push(
                Diagnostic::error(node.span, format!("`{path}` must be a table, not {}", node.value.kind()))
                    .help("write { id = \"goodput\", value = \"151542 B/s\", tolerance = \"3 %\", standing = \"predicted\" }"),
            );
            continue;
        };
        let Some(inner) = Fields::of(node, path, fields.issues()) else {
            continue;
        };
        let id = inner.text("id").map(|id| id.value.to_owned());
        let value = inner.text("value").and_then(|text| {
            let value = FigureValue::parse(text.value);
            if value.is_none() {
                fields.issues().push(
                    Diagnostic::error(text.span, format!("\"{}\" is not a figure with a unit", text.value))
                        .help("write for example \"151542 B/s\", \"17.54 s\", \"14924 B\", \"36.4 %\", \"15 Mbit/s\" or \"17182 packets\""),
                );
            }
            value
        });
        let standing = inner
            .choice(
                "standing",
                &[("predicted", Standing::Predicted), ("fitted", Standing::Fitted)],
            )
            .map(|standing| standing.value);
        let tolerance = inner
            .positive::<Ratio>("tolerance")
            .map(|tolerance| tolerance.value);
        let written = |key| inner.text(key).map(|text| text.value.to_owned());
        let (printed, formula, missed) = (written("value"), written("formula"), written("missed"));
        if missed.is_some() && tolerance.is_none() {
            fields.issues().push(
                Diagnostic::error(
                    node.span,
                    "this figure is declared as missed and has no tolerance to miss",
                )
                .help("give the tolerance that it does not meet, or leave `missed` out"),
            );
        }
        for key in ["id", "value", "standing"] {
            if !inner.has(key) {
                inner.missing(
                    key,
                    "a figure has id, value and standing (\"predicted\" or \"fitted\")",
                );
            }
        }
        inner.finish();
        let (Some(id), Some(value), Some(standing)) = (id, value, standing) else {
            continue;
        };
        // Of windows several are frequent, each a figure of its own.
        let others = id == "frequent-window";
        let same = |figure: &Figure| figure.id == id && (!others || figure.value == value);
        if figures.iter().any(same) {
            fields.issues().push(
                Diagnostic::error(node.span, format!("the figure \"{id}\" is given twice")).help("keep one"),
            );
        }
        figures.push(Figure {
            id,
            value,
            tolerance,
            standing,
            printed: printed.unwrap_or_default(),
            formula,
            missed,
        });
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_keep_their_unit() {
        let cases = [
            ("151542 B/s", FigureValue::BytesPerSecond(151_542)),
            ("1.611 MB/s", FigureValue::BytesPerSecond(1_611_000)),
            ("72.2 MiB/s", FigureValue::BytesPerSecond(75_707_187)),
            ("7.738037 MiB/s", FigureValue::BytesPerSecond(8_113_920)),
            ("15 Mbit/s", FigureValue::BitsPerSecond(15_000_000)),
            ("17.54 s", FigureValue::Time(Duration::from_millis(17_540))),
            (
                "36.4 %",
                FigureValue::Share(Ratio::from_ppb(364_000_000).unwrap()),
            ),
            ("14924 B", FigureValue::Bytes(ByteCount::new(14_924))),
            ("17182 packets", FigureValue::Packets(17_182)),
        ];
        for (text, value) in cases {
            assert_eq!(FigureValue::parse(text), Some(value), "{text}");
        }
        for text in ["151542", "MiB/s", "1.2.3 MiB/s", "-1 MB/s"] {
            assert_eq!(FigureValue::parse(text), None, "{text}");
        }
    }
}
