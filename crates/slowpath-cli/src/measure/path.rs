//! `slowpath diagnose SERVICE://HOST`: why a live path is slow, from one end.

use std::io::{self, Write};

use slowpath::Cancel;
use slowpath::json;
use slowpath::single_ended::{self, Access, Spec};

use super::args::{DiagnosePathArgs, Form};
use super::{cancel_on_interrupt, failure, guard};
use crate::exit::{self, Failure};
use crate::{progress, terminal};

/// Tests a path from one end and says what limits it.
pub(crate) fn diagnose_path(args: &DiagnosePathArgs) -> Result<u8, Failure> {
    let store = args.targets.iter().any(|target| target.starts_with("s3://"));
    let spec = Spec {
        targets: args.targets.clone(),
        access: Access {
            ssh_options: args.ssh_options.clone(),
            ssh_config: args.ssh_config.clone(),
            credentials: store.then(|| super::credentials(&args.region)).transpose()?,
            tls: super::authorities(args.ca.as_deref(), args.tls)?,
        },
        reverse: args.reverse,
        marks: args.marks.iter().flat_map(|marks| marks.0.clone()).collect(),
        most: args.most,
        cap: args.safety.cap,
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
