//! Which keys an experiment file may have: as a JSON schema for editors, and as a page to read.
//!
//! Both are made by having the reader read samples and keeping what it asks for, so they cannot promise a key that it does not
//! read. What a key means is written in one table (`meaning.rs`), which a test holds against the reader.

mod everything;
mod json;
mod key;
mod meaning;
mod page;
mod samples;

use everything::Everything;

pub use everything::ID;

/// The JSON schema (draft 2020-12) of an experiment file.
#[must_use]
pub fn json() -> serde_json::Value {
    json::schema(&Everything::asked())
}

/// The reference of an experiment file, in Markdown.
#[must_use]
pub fn page() -> String {
    page::page(&Everything::asked())
}

#[cfg(test)]
mod tests;
