//! What comes of a job, or why nothing does.

use std::io::{self, Write};

use serde_json::Value;
#[cfg(doc)]
use slowpath_record::Origin;
use slowpath_record::RunRecord;

use super::address::AddressError;

/// What came of a job.
pub trait Answer: Send {
    /// Writes it for people: at most 80 columns, the answer in the first line, every figure with its unit.
    ///
    /// # Errors
    /// Those of `out`.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()>;

    /// The whole as JSON, in the tool's own words.
    fn json(&self) -> Value;

    /// What was measured in the form in which every run ends, with the origin [`Origin::Live`]: transfers, flows and series,
    /// as far as the tool has them.
    fn record(&self) -> RunRecord;

    /// [`Answer::json`] with the [`Answer::record`] beside it, under `record`.
    fn document(&self) -> Value {
        let mut document = self.json();
        document["record"] =
            serde_json::to_value(self.record()).expect("a record can always be written as JSON");
        document
    }

    /// Why the figures are not those of a whole measurement, if they are not.
    fn incomplete(&self) -> Option<String> {
        None
    }
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The target is not understood.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Settings that make no sense together.
    #[error("{0}")]
    Settings(String),
    /// The address may not be loaded.
    #[error(
        "sending load to {0}: that is not a local address, and load on it was not allowed; where the users of that path agree, allow it \
         with --allow-remote-load and a cap such as --cap '500 MB'"
    )]
    Refused(std::net::IpAddr),
    /// The tool failed.
    #[error("measuring {target} with {tool}: {}", with_hint(.source.as_ref()))]
    Tool {
        /// Which tool.
        tool: &'static str,
        /// The target as the user gave it.
        target: String,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl MeasureError {
    pub(crate) fn tool(
        tool: &'static str,
        target: &impl ToString,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let source = source.into();
        if let Some(refused) = find_refused(source.as_ref()) {
            return Self::Refused(refused);
        }
        Self::Tool {
            tool,
            target: target.to_string(),
            source,
        }
    }
}

/// What a tool said, with what to do about it.
fn with_hint(error: &(dyn std::error::Error + 'static)) -> String {
    match hint(error) {
        "" => error.to_string(),
        hint => format!("{error}; {hint}"),
    }
}

/// What to do about a connection that does not come about, a clause; nothing where the error says it itself.
fn hint(error: &(dyn std::error::Error + 'static)) -> &'static str {
    use std::io::ErrorKind as Kind;
    let chain = std::iter::successors(Some(error), |error| error.source());
    let kind = chain
        .filter_map(|error| error.downcast_ref::<std::io::Error>())
        .map(std::io::Error::kind)
        .next();
    match kind {
        // A message that already has its cure has it behind a semicolon.
        _ if error.to_string().contains("; ") => "",
        Some(Kind::ConnectionRefused) => {
            "nothing listens there: start the server on that host, or give its port"
        }
        Some(Kind::TimedOut | Kind::HostUnreachable | Kind::NetworkUnreachable) => {
            "check the address, and that firewalls on the way let it through"
        }
        Some(Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe | Kind::UnexpectedEof) => {
            "is it the right port, and does the server's own log say why?"
        }
        _ => "",
    }
}

/// Refused load, wherever in a chain of errors it stands.
fn find_refused(error: &(dyn std::error::Error + 'static)) -> Option<std::net::IpAddr> {
    use slowpath_workload::Refused;
    use slowpath_workload::ftp::FtpError;
    use slowpath_workload::iperf3::IperfError;
    use slowpath_workload::probe::ProbeError;
    use slowpath_workload::s3::S3Error;
    use slowpath_workload::stream::StreamError;
    let ((Some(IperfError::Refused(refused)), ..)
    | (_, Some(FtpError::Refused(refused)), ..)
    | (_, _, Some(S3Error::Refused(refused)), ..)
    | (_, _, _, Some(ProbeError::Refused(refused)), ..)
    | (_, _, _, _, Some(StreamError::Refused(refused)), _)
    | (_, _, _, _, _, Some(refused))) = (
        error.downcast_ref::<IperfError>(),
        error.downcast_ref::<FtpError>(),
        error.downcast_ref::<S3Error>(),
        error.downcast_ref::<ProbeError>(),
        error.downcast_ref::<StreamError>(),
        error.downcast_ref::<Refused>(),
    )
    else {
        return None;
    };
    match refused {
        Refused::Flag(address) => Some(*address),
        Refused::Deadline(_) => None,
    }
}
