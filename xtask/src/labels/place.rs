//! Where in a source's digest (`reference.toml`) a published figure stands.

use toml::{Table, Value};

/// The place of `printed`, a number with its unit, that fits `variant` best: the path of its key, such as
/// `rows[scp-none].rate_mib_per_s`. Tables named `derived_*` hold arithmetic, and are not looked at.
pub(super) fn find(reference: &Table, variant: &str, printed: &str) -> Option<String> {
    let number: String = printed
        .trim()
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let wanted = Wanted {
        value: number.parse().ok()?,
        unit: suffix(printed.trim()[number.len()..].trim())?,
        tokens: tokens(variant),
    };
    let mut found = Vec::new();
    for (key, value) in reference {
        if !key.starts_with("derived") {
            wanted.walk(key, key, value, 0, &mut found);
        }
    }
    // The first among the best.
    found.reverse();
    found
        .into_iter()
        .max_by_key(|(score, _)| *score)
        .map(|(_, path)| path)
}

struct Wanted {
    value: f64,
    /// How keys of this unit end.
    unit: &'static str,
    tokens: Vec<String>,
}

impl Wanted {
    fn walk(&self, path: &str, key: &str, value: &Value, score: usize, found: &mut Vec<(usize, String)>) {
        match value {
            Value::Table(table) => {
                let score = score + self.score(table);
                for (key, value) in table {
                    self.walk(&format!("{path}.{key}"), key, value, score, found);
                }
            }
            Value::Array(list) => {
                for (index, item) in list.iter().enumerate() {
                    let name = item
                        .as_table()
                        .map_or_else(|| index.to_string(), |table| name(table, index));
                    self.walk(&format!("{path}[{name}]"), key, item, score, found);
                }
            }
            other => {
                let number = match other {
                    Value::Integer(n) => *n as f64,
                    Value::Float(n) => *n,
                    _ => return,
                };
                if (number - self.value).abs() < 1e-9 && self.names_the_unit(key) {
                    found.push((score, path.to_owned()));
                }
            }
        }
    }

    fn names_the_unit(&self, key: &str) -> bool {
        key.ends_with(self.unit) || key.contains(&format!("{}_", self.unit))
    }

    /// How many parts of the variant's name the table's own fields repeat.
    fn score(&self, table: &Table) -> usize {
        let says = |token: &str| {
            table.values().any(|value| match value {
                Value::String(text) => tokens(text).iter().any(|part| part == token),
                Value::Integer(n) => token
                    .trim_end_matches(['m', 'g', 'k'])
                    .parse::<i64>()
                    .is_ok_and(|wanted| wanted == *n || (token.ends_with('g') && wanted * 1000 == *n)),
                _ => false,
            })
        };
        self.tokens.iter().filter(|token| says(token)).count()
    }
}

/// The words of a name, in lower case.
fn tokens(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// What tells a table of a list from its neighbours.
fn name(table: &Table, index: usize) -> String {
    let text = |key: &str| {
        let value = table.get(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let parts: Vec<String> = [
        "id",
        "configuration",
        "class",
        "case",
        "environment",
        "row",
        "congestion_control",
        "object_mib",
        "concurrency",
        "from",
    ]
    .into_iter()
    .filter_map(text)
    .collect();
    if parts.is_empty() {
        index.to_string()
    } else {
        parts.join(" ")
    }
}

/// How keys of the digests end for a unit.
fn suffix(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "MiB/s" => "mib_per_s",
        "B/s" => "bytes_per_s",
        "Mbit/s" => "mbit_per_s",
        "B" => "bytes",
        "s" => "_s",
        "ms" => "_ms",
        "%" => "percent",
        "packets" => "received",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference() -> Table {
        "[[rows]]\nid = \"scp-none\"\nrate_mib_per_s = 72.2\n\
         [[results]]\nenvironment = \"wired\"\nrow = 1\nmethod = \"udp 1M\"\nloss_percent = 0\n\
         [[results]]\nenvironment = \"mobile\"\nrow = 5\nmethod = \"udp 1M\"\nloss_percent = 0\n\
         [derived_rates]\nscp_none_mbit_per_s = 605.7\n"
            .parse()
            .expect("TOML")
    }

    #[test]
    fn the_row_of_the_variant_is_found() {
        let find = |variant: &str, printed: &str| find(&reference(), variant, printed);
        assert_eq!(
            find("scp-none", "72.2 MiB/s").as_deref(),
            Some("rows[scp-none].rate_mib_per_s")
        );
        assert_eq!(
            find("mobile-udp-1m", "0 %").as_deref(),
            Some("results[mobile 5].loss_percent")
        );
        assert_eq!(
            find("wired-udp-1m", "0 %").as_deref(),
            Some("results[wired 1].loss_percent")
        );
    }

    #[test]
    fn arithmetic_is_no_publication() {
        assert_eq!(find(&reference(), "scp-none", "605.7 Mbit/s"), None);
        assert_eq!(find(&reference(), "scp-none", "72.2 Mbit/s"), None);
    }
}
