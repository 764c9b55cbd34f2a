//! `slowpath doctor`.

use slowpath::doctor::{self, Standing};

use crate::exit;

/// Prints what this machine permits and how to permit what it does not; 3 if no lab can be built.
pub(crate) fn doctor() -> u8 {
    let findings = doctor::examine();
    for finding in &findings {
        let mark = match finding.standing {
            Standing::Good => "ok  ",
            Standing::Lacking => "note",
            Standing::Blocking => "FAIL",
        };
        println!("{mark}  {}: {}", finding.subject, finding.found);
        if !finding.fix.is_empty() {
            println!("      {}", finding.fix);
        }
    }
    if doctor::is_able(&findings) {
        exit::DONE
    } else {
        exit::MACHINE
    }
}
