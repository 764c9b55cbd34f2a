//! One FTP transfer with slowpath's own client.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::{Value, json};
use slowpath_record::{Origin, RunRecord};
use slowpath_units::ByteCount;
use slowpath_workload::ftp::{self, ClientConfig, Direction, FtpReport};
use slowpath_workload::payload::{Sink, Source};
use slowpath_workload::{Context, SocketOptions};

pub use slowpath_workload::ftp::Mode;

use super::address::Address;
use super::answer::{Answer, MeasureError};
use super::text;

/// Which transfer to make.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `ftp://[USER[:PASSWORD]@]HOST[:PORT]/FILE`.
    pub target: String,
    /// Store so much made-up data under the name, instead of reading it.
    pub upload: Option<ByteCount>,
    /// Keep what is read in this file; it is counted and forgotten otherwise.
    pub output: Option<PathBuf>,
    /// Who opens the data connection.
    pub mode: Mode,
    /// Options of the data connection, in force from its SYN on.
    pub socket: SocketOptions,
}

struct Outcome {
    server: SocketAddr,
    upload: bool,
    report: FtpReport,
}

/// Makes the transfer.
pub(super) fn run(spec: &Spec, context: &Context) -> Result<impl Answer + use<>, MeasureError> {
    let address = Address::parse(&spec.target, FORM)?;
    if address.path.is_empty() {
        return Err(super::address::AddressError::Form {
            target: spec.target.clone(),
            problem: "it names no file".to_owned(),
            form: FORM,
        }
        .into());
    }
    let server = address.resolve(PORT)?;
    let direction = match spec.upload {
        Some(size) => Direction::Put {
            source: Source::Synthetic { size, seed: 1 },
        },
        None => Direction::Get {
            sink: spec.output.clone().map_or(Sink::Discard, Sink::File),
            drain: None,
        },
    };
    let mut config = ClientConfig::new(server, &address.path, direction);
    if let Some(user) = address.user {
        config.user = user;
        config.password = address.password.unwrap_or_default();
    }
    // PASV and PORT can carry IPv4 addresses only.
    config.mode = match (spec.mode, server.is_ipv6()) {
        (Mode::Passive, true) => Mode::ExtendedPassive,
        (Mode::Active, true) => Mode::ExtendedActive,
        (mode, _) => mode,
    };
    config.control.dscp = spec.socket.dscp;
    config.data = spec.socket.clone();
    let report =
        ftp::transfer(&config, context).map_err(|error| MeasureError::tool("ftp", &server, error))?;
    Ok(Outcome {
        server,
        upload: spec.upload.is_some(),
        report,
    })
}

impl Answer for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let transfer = &self.report.transfer;
        let (way, place) = if self.upload {
            ("upload", "to")
        } else {
            ("download", "from")
        };
        writeln!(
            out,
            "{} {way} {place} {}",
            text::rate(transfer.goodput_byte_per_s() * 8.0),
            self.server
        )?;
        writeln!(
            out,
            "  {} in {}, {} after the session began",
            text::amount(transfer.bytes),
            text::span(transfer.duration()),
            text::span(transfer.start.since(self.report.session_start)),
        )?;
        if self.upload {
            text::where_time_went(
                out,
                "sending: ",
                self.report.connections.get(1..).unwrap_or_default(),
            )?;
        }
        text::table(out, &text::connection_rows(&self.report.connections))?;
        if !self.upload
            && let Some(last) = self.report.connections.get(1).and_then(|log| log.last())
        {
            writeln!(
                out,
                "  this host offered a window of {} at the end",
                text::amount(u64::from(last.own_window))
            )?;
        }
        for shortfall in self
            .report
            .connections
            .iter()
            .flat_map(|log| &log.facts.shortfalls)
        {
            text::note(out, shortfall)?;
        }
        if let Some(why) = self.incomplete() {
            text::note(out, &format!("the transfer broke off: {why}"))?;
        }
        Ok(())
    }

    fn record(&self) -> RunRecord {
        RunRecord {
            transfers: vec![self.report.transfer.clone()],
            series: vec![self.report.progress.clone()],
            ..RunRecord::new(Origin::Live, "ftp")
        }
    }

    fn json(&self) -> Value {
        json!({
            "tool": "ftp",
            "server": self.server,
            "upload": self.upload,
            "transfer": self.report.transfer,
            "byte_per_s": self.report.transfer.goodput_byte_per_s(),
            "setup_s": self.report.transfer.start.since(self.report.session_start).seconds(),
            "progress": self.report.progress,
            "connections": self.report.connections,
        })
    }

    fn incomplete(&self) -> Option<String> {
        let transfer = &self.report.transfer;
        (!transfer.complete).then(|| {
            transfer
                .error
                .clone()
                .unwrap_or_else(|| "no reason is known".to_owned())
        })
    }
}

pub(crate) const FORM: &str = "ftp://HOST/FILE or ftp://USER:PASSWORD@HOST:PORT/FILE";
pub(crate) const PORT: u16 = 21;
