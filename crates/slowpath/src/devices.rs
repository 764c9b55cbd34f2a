//! Device configurations read for the hosts of an experiment.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use slowpath_report::text::{Style, Tone, wrap};
use slowpath_scenario::{HostSettings, System};
use slowpath_vendor::{Language, Line, LineState, Reading, Remedy, Trap};

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

/// Reads a configuration of `language`; `model` is a model or version where they differ, such as `rtx2000` or what
/// `ssh -V` prints.
pub fn reading(language: Language, model: Option<&str>, name: &str, bytes: &[u8]) -> Reading {
    slowpath_vendor::read_for(language, model, name, bytes)
}

/// Writes what each line means for throughput, what to know before trusting it with the change that helps, and the
/// counts of line states.
///
/// # Errors
/// Those of `out`.
pub fn write_text(reading: &Reading, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for line in &reading.lines {
        let head = format!("{:>4}  {:<12}  ", line.number, line.state);
        for part in wrap(&printable(&line.text), style.width, &head, CONTINUED) {
            writeln!(out, "{part}")?;
        }
        if !line.meaning.is_empty() && line.state != LineState::Ignored {
            for part in wrap(&printable(&line.meaning), style.width, MEANING, MEANING) {
                writeln!(out, "{part}")?;
            }
        }
    }
    for (number, finding) in reading.findings.iter().enumerate() {
        if number == 0 {
            writeln!(out)?;
        }
        style.paragraph(&printable(&finding.sentence()), "! ", "  ", Tone::Care, out)?;
        let Some(remedy) = slowpath_vendor::remedy_of(reading, finding) else {
            continue;
        };
        let replaced: Vec<String> = remedy.replaces.iter().map(usize::to_string).collect();
        let place = if replaced.is_empty() {
            "  add:".to_owned()
        } else {
            format!("  instead of line {}:", replaced.join(", "))
        };
        writeln!(out, "{place}")?;
        // To be copied: never wrapped.
        for line in &remedy.lines {
            writeln!(out, "      {}", printable(line))?;
        }
        if let Some(note) = &remedy.note {
            style.paragraph(&format!("({note})"), "    ", "     ", Tone::Plain, out)?;
        }
    }
    let counts = reading.counts();
    let states: Vec<String> = LineState::ALL
        .iter()
        .map(|state| format!("{} {state}", counts.of(*state)))
        .collect();
    writeln!(out)?;
    let summary = format!(
        "{} lines read as {}: {}",
        counts.total(),
        reading.language.name(),
        states.join(", ")
    );
    style.paragraph(&summary, "", "  ", Tone::Plain, out)
}

/// Writes the same for programs, as `slowpath/config/1`.
///
/// # Errors
/// Those of `out`.
pub fn write_json(reading: &Reading, out: &mut dyn Write) -> io::Result<()> {
    let counts = reading.counts();
    let findings: Vec<_> = reading
        .findings
        .iter()
        .map(|finding| FindingView {
            line: finding.line,
            trap: &finding.trap,
            sentence: finding.trap.sentence(),
            remedy: slowpath_vendor::remedy_of(reading, finding),
        })
        .collect();
    let document = ConfigView {
        schema: CONFIG_SCHEMA,
        file: &reading.name,
        system: reading.language,
        lines: &reading.lines,
        counts: LineState::ALL
            .iter()
            .map(|state| (state.to_string().replace(' ', "-"), counts.of(*state)))
            .collect(),
        findings,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The version of the document's form.
pub const CONFIG_SCHEMA: &str = "slowpath/config/1";

#[derive(Debug, Serialize)]
struct ConfigView<'a> {
    schema: &'static str,
    file: &'a str,
    system: Language,
    lines: &'a [Line],
    counts: BTreeMap<String, usize>,
    findings: Vec<FindingView<'a>>,
}

#[derive(Debug, Serialize)]
struct FindingView<'a> {
    line: Option<usize>,
    #[serde(flatten)]
    trap: &'a Trap,
    sentence: String,
    remedy: Option<Remedy>,
}

/// Text from a file without what would steer a terminal.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// Before what a line means, and before the rest of a line that is too long.
const MEANING: &str = "                      ";
const CONTINUED: &str = "                    ";

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(language: Language, text: &str) -> String {
        let mut out = Vec::new();
        let reading = reading(language, None, "test.cfg", text.as_bytes());
        write_text(&reading, Style::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const TRAPS: &str = "\
queue lan2 type shaping
speed lan2 50m
queue lan2 class property 1 bandwidth=10m
tunnel select 1
 ipsec tunnel 101
 ipsec sa policy 101 1 esp 3des-cbc md5-hmac anti-replay-check=on
 queue tunnel class filter list 1 7
 ip tunnel tcp window-scale remove
 tunnel enable 1
ip tos supersede 1 normal 5
ip filter 5 pass * * * * *
queue class filter 1 1 ip * * udp * *
\u{1b}[31mfrobnicate
";

    #[test]
    fn findings_come_with_the_change_in_the_devices_language() {
        let text = shown(Language::Rtx, TRAPS);
        for wanted in [
            "queue lan2 class property 2 bandwidth=40m",
            "instead of line 6:\n      ipsec sa policy 101 1 esp 3des-cbc md5-hmac anti-replay-check=off",
            "tunnel select 1\n       ip tunnel mtu 1446\n       ip tunnel tcp mss limit auto",
            "tunnel select 1\n       queue tunnel class filter list 1\n",
            "tunnel select 1\n       no ip tunnel tcp window-scale remove",
            "ip tos supersede 1 normal precedence=0 5",
            "line 7: Filter 7 does not exist",
        ] {
            assert!(text.contains(wanted), "{wanted}\n in \n{text}");
        }
    }

    #[test]
    fn lines_fit_a_terminal_and_cannot_steer_it() {
        let text = shown(Language::Rtx, TRAPS);
        assert!(!text.contains('\u{1b}'), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn programs_get_the_same() {
        let mut out = Vec::new();
        let reading = reading(
            Language::Ios,
            None,
            "x.cfg",
            b"ip tcp window-size 16384\nfrobnicate\n",
        );
        write_json(&reading, &mut out).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["schema"], CONFIG_SCHEMA);
        assert_eq!(document["system"], "ios");
        assert_eq!(document["lines"][1]["state"], "unrecognised");
        assert_eq!(document["counts"]["modelled"], 1);
        assert_eq!(document["counts"]["not-modelled"], 0);
        let finding = &document["findings"][0];
        assert_eq!(finding["trap"], "window-scaling-off");
        assert_eq!(finding["line"], 1);
        assert_eq!(finding["remedy"]["lines"][0], "ip tcp window-size 1048576");
    }
}
