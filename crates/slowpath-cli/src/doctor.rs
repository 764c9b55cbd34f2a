//! `slowpath doctor`.

use slowpath::doctor::{self, Standing};

use crate::exit::{self, Failure};
use crate::terminal;

/// Prints what this machine permits and how to permit what it does not; 3 if no lab can be built.
pub(crate) fn doctor() -> Result<u8, Failure> {
    let findings = doctor::examine();
    terminal::print(|out| {
        for finding in &findings {
            let mark = match finding.standing {
                Standing::Good => "ok  ",
                Standing::Lacking => "note",
                Standing::Blocking => "FAIL",
            };
            writeln!(out, "{mark}  {}: {}", finding.subject, finding.found)?;
            if !finding.fix.is_empty() {
                writeln!(out, "      {}", finding.fix)?;
            }
        }
        Ok(())
    })?;
    Ok(if doctor::is_able(&findings) {
        exit::DONE
    } else {
        exit::MACHINE
    })
}
