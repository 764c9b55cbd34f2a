//! Device configurations read for the hosts of an experiment.

use std::io::{self, Write};

use slowpath_scenario::{HostSettings, System};
use slowpath_vendor::{Language, LineState};

/// What the configuration `text` in `file` sets on a host of `system`; `None` if there is no reader for it.
pub fn host_settings(file: &str, text: &str, system: System) -> Option<HostSettings> {
    let language = match system {
        System::CiscoIosXe | System::CiscoIos => Language::Ios,
        System::Linux => Language::Sysctl,
        System::WindowsIperf3 => return None,
    };
    Some(slowpath_vendor::read(language, file, text.as_bytes()).settings)
}

/// The language called `name`, or the one that `bytes` look like.
///
/// # Errors
/// What to write instead, as a sentence.
pub fn language(name: Option<&str>, bytes: &[u8]) -> Result<Language, String> {
    let known = || {
        Language::ALL
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match name {
        Some(name) => Language::from_name(name).ok_or_else(|| {
            format!(
                "\"{name}\" is no system known here; write --system with one of {}",
                known()
            )
        }),
        None => slowpath_vendor::guess(bytes).ok_or_else(|| {
            format!(
                "whose configuration this is cannot be told; add --system with one of {}",
                known()
            )
        }),
    }
}

/// Writes what each line means for throughput, what to know before trusting it, and the counts of line states.
///
/// # Errors
/// Those of `out`.
pub fn explain(language: Language, name: &str, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let reading = slowpath_vendor::read(language, name, bytes);
    for line in &reading.lines {
        writeln!(out, "{:>4}  {:<12}  {}", line.number, line.state, line.text)?;
        if !line.meaning.is_empty() {
            writeln!(out, "                    {}", line.meaning)?;
        }
    }
    if !reading.findings.is_empty() {
        writeln!(out)?;
    }
    for finding in &reading.findings {
        let place = finding
            .line
            .map(|line| format!("line {line}: "))
            .unwrap_or_default();
        writeln!(out, "! {place}{}", finding.trap.sentence())?;
    }
    let counts = reading.counts();
    let states: Vec<String> = LineState::ALL
        .iter()
        .map(|state| format!("{} {state}", counts.of(*state)))
        .collect();
    writeln!(
        out,
        "\n{} lines read as {}: {}",
        counts.total(),
        language.name(),
        states.join(", ")
    )
}
