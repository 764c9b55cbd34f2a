//! Who plays a side of a job.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

/// Who plays one side of a job: slowpath itself, or a real program.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// slowpath's own implementation, with exact control of its sockets.
    Builtin,
    /// A program of the machine, by its name, such as `vsftpd` or `curl`.
    Named(String),
}

/// Reads who plays one side; slowpath itself when nothing is written.
pub(super) fn program(fields: &Fields<'_>, key: &'static str, known: &'static [&'static str]) -> Program {
    let Some(text) = fields.text(key) else {
        return Program::Builtin;
    };
    match text.value {
        "builtin" => Program::Builtin,
        name if known.contains(&name) => Program::Named(name.to_owned()),
        _ => {
            fields.wrong_word(key, text, known.iter().copied());
            Program::Builtin
        }
    }
}
