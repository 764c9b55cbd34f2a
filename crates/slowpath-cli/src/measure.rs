//! `slowpath measure` and `slowpath serve`.

use std::io::{self, Write};
use std::net::SocketAddr;

use slowpath::measure::{self, MeasureSpec};
use slowpath::{Cancel, Duration};

use crate::args::{Format, MeasureArgs, ServeArgs};
use crate::exit::{self, Failure};

/// Measures a live path and prints what came out.
pub(crate) fn measure(args: &MeasureArgs) -> Result<u8, Failure> {
    let parsed = |name: &str, error: String| Failure::usage(format!("{name}: {error}"));
    let spec = MeasureSpec {
        target: args.target.clone(),
        duration: Duration::from_secs(u64::from(args.seconds)),
        parallel: args.parallel,
        reverse: args.reverse,
        udp: args
            .udp
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(|e: slowpath::ParseError| parsed("--udp", e.to_string()))?,
        congestion_control: args.congestion_control.clone(),
        dscp: args
            .dscp
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(|e: slowpath::InvalidDscp| parsed("--dscp", e.to_string()))?,
        remote_cap: args
            .cap
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(|e: slowpath::ParseError| parsed("--cap", e.to_string()))?,
    };
    let cancel = cancel_on_interrupt();
    let report = measure::iperf3(&spec, &cancel).map_err(|error| match error {
        measure::MeasureError::Target(_) => Failure::usage(error.to_string()),
        _ => Failure::machine(error.to_string()),
    })?;
    let mut out = io::stdout().lock();
    let written = match args.format {
        Format::Text => measure::write_text(&report, &mut out),
        Format::Json => measure::write_json(&report, &mut out),
        Format::Html => {
            return Err(Failure::usage(
                "measure writes text or json; write --format json".to_owned(),
            ));
        }
    };
    written
        .and_then(|()| out.flush())
        .map_err(|error| Failure::machine(format!("printing failed: {error}")))?;
    Ok(exit::DONE)
}

/// Serves iperf3 clients.
pub(crate) fn serve(args: &ServeArgs) -> Result<u8, Failure> {
    let cancel = cancel_on_interrupt();
    let listen = SocketAddr::new(args.address, args.port);
    eprintln!("slowpath: serving iperf3 clients on {listen}; Ctrl-C ends it");
    measure::serve(listen, args.tests, &cancel, &mut |record| match &record.outcome {
        Ok(report) => {
            println!("{}", record.client);
            let _ = measure::write_text(report, &mut io::stdout().lock());
        }
        Err(error) => println!("{}: {error}", record.client),
    })
    .map_err(|error| Failure::machine(error.to_string()))?;
    Ok(exit::DONE)
}

fn cancel_on_interrupt() -> Cancel {
    let cancel = Cancel::new();
    let flag = crate::run::interrupt_flag();
    let raised = cancel.clone();
    std::thread::spawn(move || {
        while !flag.load(std::sync::atomic::Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        raised.cancel();
    });
    cancel
}
