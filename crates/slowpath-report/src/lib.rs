//! Results for people and for programs: terminal table, HTML page, SVG, JSON and CSV.
//!
//! This crate measures nothing, decides nothing and never prints: every function takes finished results
//! and writes to the `io::Write` it is given.
//!
//! * [`results`]: [`Results`], what an experiment came to (`slowpath/run/1`). Start here.
//! * [`explain`]: [`Explanation`], what one capture says (`slowpath/explain/1`).
//! * [`explain_text`]: the same for a terminal, the answer first.
//! * [`many`]: many captures in one table (`slowpath/explain-many/1`).
//! * [`verdict`]: words for what limits a transfer.
//! * [`terminal`]: the table in 80 columns and the answers.
//! * [`json`]: the machine-readable forms.
//! * [`html`]: the self-contained page, for experiments and for single captures.
//! * [`svg`]: the five graphs as standalone pictures. [`csv`]: tables for other programs.
//! * [`graphs`]: the graphs of a run, and their compact form in the page.
//! * [`answers`]: what the results say to the questions of a source.
//! * [`told`]: what the result of another tool tells.
//! * [`compare`]: sentences about two groups of runs.
//! * [`label`]: where a reference figure comes from, and what the model owes to it.
//! * [`what_if`]: changes of a fitted transfer, answered, or simulated by the page itself.
//! * [`quantity`], [`text`]: numbers and lines as people read them.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod answers;
pub mod compare;
pub mod csv;
pub mod explain;
pub mod explain_text;
mod facts;
pub mod graphs;
pub mod html;
pub mod json;
pub mod label;
pub mod ledger;
pub mod many;
pub mod quantity;
pub mod results;
pub mod svg;
pub mod table;
pub mod terminal;
pub mod text;
pub mod told;
pub mod verdict;
pub mod what_if;

pub use explain::Explanation;
pub use graphs::GraphSet;
pub use label::Label;
pub use results::Results;
pub use text::Style;
