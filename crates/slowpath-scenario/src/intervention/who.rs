//! Which host a change is meant for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which host a change is meant for: by its role in the measured transfer, or by its name in the plan.
///
/// A capture knows roles and no names; whoever plans a run knows both.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Who {
    /// The host that sends the bulk of the data.
    #[serde(rename = "the sender")]
    Sender,
    /// The host that receives it.
    #[serde(rename = "the receiver")]
    Receiver,
    /// The host of that name. No name of a host has a space in it, so it is never taken for a role.
    #[serde(untagged)]
    Named(String),
}

impl Who {
    /// The name, where it is one and not a role.
    pub(crate) fn named(&self) -> Option<&str> {
        match self {
            Self::Sender | Self::Receiver => None,
            Self::Named(name) => Some(name),
        }
    }
}

impl From<&str> for Who {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl From<String> for Who {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "the sender",
            Self::Receiver => "the receiver",
            Self::Named(name) => name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_names_are_told_apart_in_json() {
        for (who, text) in [
            (Who::Sender, "\"the sender\""),
            (Who::Receiver, "\"the receiver\""),
            (Who::from("sender"), "\"sender\""),
        ] {
            assert_eq!(serde_json::to_string(&who).unwrap(), text);
            assert_eq!(serde_json::from_str::<Who>(text).unwrap(), who);
        }
    }
}
