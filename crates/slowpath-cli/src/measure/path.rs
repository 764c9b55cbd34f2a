//! `slowpath diagnose iperf3://HOST`: why a live path is slow, from one end.

use std::io::{self, Write};

use slowpath::Cancel;
use slowpath::json;
use slowpath::single_ended::{self, Spec};

use super::args::{DiagnosePathArgs, Form};
use super::{cancel_on_interrupt, failure, guard};
use crate::exit::{self, Failure};
use crate::{progress, terminal};

/// Tests a path from one end and says what limits it.
pub(crate) fn diagnose_path(args: &DiagnosePathArgs) -> Result<u8, Failure> {
    let spec = Spec {
        target: args.target.clone(),
        reverse: args.reverse,
        marks: args.marks.clone(),
        most: args.most,
    };
    let cancel: Cancel = cancel_on_interrupt();
    let guard = guard(&args.safety, cancel, args.most + super::GRACE);
    let shows = progress::is_shown();
    let diagnosis = single_ended::diagnose(&spec, &guard, &mut |stage| {
        if shows {
            // A terminal that is gone needs no progress.
            let _ = write!(io::stderr(), "\r\x1b[K{}", single_ended::text::stage(stage));
            let _ = io::stderr().flush();
        }
    });
    if shows {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    let diagnosis = diagnosis.map_err(|error| failure(&error))?;
    terminal::print(|mut out| match args.format {
        Form::Text => single_ended::text::write(&diagnosis, terminal::style(), &mut out),
        Form::Json => json::write(&diagnosis, true, &mut out),
    })?;
    Ok(exit::DONE)
}
