//! What a machine permits, one thing at a time.

/// One thing looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, for example `"TUN devices"`.
    pub subject: String,
    /// Whether it is as the lab wants it.
    pub standing: Standing,
    /// What was found.
    pub found: String,
    /// What to do about it; empty when there is nothing to do.
    pub fix: String,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// As wanted.
    Good,
    /// The lab works, with less speed, choice or comfort.
    Lacking,
    /// No lab can be built.
    Blocking,
}

/// Whether a lab can be built at all.
pub fn is_able(findings: &[Finding]) -> bool {
    findings
        .iter()
        .all(|finding| finding.standing != Standing::Blocking)
}
