//! Tables for programs: columns of one kind with a description, written as CSV or Parquet.
//!
//! Units stand in the columns' names (`duration_s`), and what a column means goes with a Parquet file as the
//! description of its schema, under [`DESCRIPTION`].

mod parquet;

use std::io::{self, Write};

pub use self::parquet::write_parquet;

/// The key under which a Parquet file says what its columns mean, as a JSON object from names to sentences.
pub const DESCRIPTION: &str = "slowpath.columns";

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What a row is, in one word: `runs`.
    pub name: &'static str,
    /// Its columns, each with as many values as there are rows.
    pub columns: Vec<Column>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, with the unit.
    pub name: String,
    /// What it says.
    pub about: &'static str,
    /// One value for each row.
    pub values: Values,
}

/// The values of a column; a missing one is an empty field in CSV and null in Parquet.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Text.
    Text(Vec<Option<String>>),
    /// Real numbers.
    Real(Vec<Option<f64>>),
    /// Whole numbers.
    Whole(Vec<Option<u64>>),
    /// Yes or no.
    Truth(Vec<Option<bool>>),
}

impl Column {
    /// A column.
    pub fn new(name: impl Into<String>, about: &'static str, values: Values) -> Self {
        Self {
            name: name.into(),
            about,
            values,
        }
    }
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Real(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Truth(values) => values.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One value as a field of CSV.
    fn field(&self, row: usize) -> String {
        match self {
            Self::Text(values) => values[row].as_deref().map_or_else(String::new, quoted),
            Self::Real(values) => values[row].map_or_else(String::new, |value| value.to_string()),
            Self::Whole(values) => values[row].map_or_else(String::new, |value| value.to_string()),
            Self::Truth(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        }
    }
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }
}

/// Writes a line with the columns' names and one for each row (RFC 4180).
///
/// # Errors
/// Those of `out`.
pub fn write_csv(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
    writeln!(out, "{}", names.join(","))?;
    for row in 0..table.rows() {
        let fields: Vec<String> = (table.columns.iter())
            .map(|column| column.values.field(row))
            .collect();
        writeln!(out, "{}", fields.join(","))?;
    }
    Ok(())
}

/// A field in quotation marks where it needs them (RFC 4180).
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sample() -> Table {
        Table {
            name: "runs",
            columns: vec![
                Column::new(
                    "variant",
                    "The variant.",
                    Values::Text(vec![Some("a,\"b\"".to_owned()), None]),
                ),
                Column::new(
                    "duration_s",
                    "How long.",
                    Values::Real(vec![Some(0.25), Some(f64::NAN)]),
                ),
                Column::new("bytes", "How much.", Values::Whole(vec![None, Some(u64::MAX)])),
                Column::new(
                    "complete",
                    "Whether.",
                    Values::Truth(vec![Some(true), Some(false)]),
                ),
            ],
        }
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        write_csv(&sample(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "variant,duration_s,bytes,complete\n\"a,\"\"b\"\"\",0.25,,true\n,NaN,18446744073709551615,false\n"
        );
    }
}
