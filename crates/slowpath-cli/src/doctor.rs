//! `slowpath doctor`.

use slowpath::Tone;
use slowpath::doctor::{self, Standing};
use slowpath_words::word;

use crate::exit::{self, Failure};
use crate::terminal;

/// Prints what this machine permits and how to permit what it does not; 3 if no lab can be built.
pub(crate) fn doctor() -> Result<u8, Failure> {
    let findings = doctor::examine();
    let able = doctor::is_able(&findings);
    let style = terminal::style();
    terminal::print(|out| {
        for finding in &findings {
            let mark = match finding.standing {
                Standing::Good => "ok  ",
                Standing::Lacking => "note",
                Standing::Blocking => "FAIL",
            };
            let found = format!("{}: {}", finding.subject, finding.found);
            style.paragraph(&found, &format!("{mark}  "), INDENT, tone(finding.standing), out)?;
            if !finding.fix.is_empty() {
                style.paragraph(&finding.fix, INDENT, INDENT, Tone::Plain, out)?;
            }
        }
        let (last, tone) = if able {
            (word!("errors-doctor-able"), Tone::Good)
        } else {
            (word!("errors-doctor-unable"), Tone::Bad)
        };
        style.paragraph(last, "", "", tone, out)
    })?;
    Ok(if able { exit::DONE } else { exit::MACHINE })
}

/// How a finding is to be read.
const fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::Good => Tone::Plain,
        Standing::Lacking => Tone::Care,
        Standing::Blocking => Tone::Bad,
    }
}

/// What stands before all lines of a finding but the first.
const INDENT: &str = "      ";
