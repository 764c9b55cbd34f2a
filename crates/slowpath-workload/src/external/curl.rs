//! curl as a real FTP and HTTP client.

use std::net::SocketAddr;
use std::path::PathBuf;

use slowpath_record::TransferResult;
use slowpath_units::{Duration, Time};

use super::{Program, Ready, find_program};

/// One FTP download or upload with curl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurlFtp {
    /// The server's control address.
    pub server: SocketAddr,
    /// Name of the file on the server, without the leading slash.
    pub path: String,
    /// The local file to upload; absent for a download into nothing.
    pub upload: Option<PathBuf>,
    /// Whether the server connects to us (`PORT`/`EPRT`).
    pub active: bool,
    /// Whether `EPSV`/`EPRT` are tried first.
    pub extended: bool,
    /// The longest time for the whole transfer.
    pub within: Duration,
}

impl CurlFtp {
    /// The program, or nothing when curl is not installed (Debian package `curl`).
    pub fn program(&self) -> Option<Program> {
        let mut arguments = vec![
            "--silent".to_owned(),
            "--show-error".to_owned(),
            "--disable".to_owned(),
            "--max-time".to_owned(),
            format!("{:.3}", self.within.seconds()),
            "--write-out".to_owned(),
            WRITE_OUT.to_owned(),
            if self.extended {
                "--ftp-pasv"
            } else {
                "--disable-epsv"
            }
            .to_owned(),
        ];
        if self.active {
            arguments.retain(|argument| argument != "--ftp-pasv");
            arguments.extend(["--ftp-port".to_owned(), "-".to_owned()]);
            if !self.extended {
                arguments.push("--disable-eprt".to_owned());
            }
        }
        match &self.upload {
            Some(file) => arguments.extend(["--upload-file".to_owned(), file.display().to_string()]),
            None => arguments.extend(["--output".to_owned(), "/dev/null".to_owned()]),
        }
        arguments.push(format!("ftp://{}/{}", self.server, self.path));
        Some(Program {
            name: "curl".to_owned(),
            program: find_program("curl", &[])?,
            arguments,
            environment: Vec::new(),
            files: Vec::new(),
            ready: Ready::Immediately,
        })
    }

    /// The result of a run that was spawned at `start`, from curl's standard output and exit status.
    ///
    /// curl's own clock is used for the span from the start of the data transfer to its end.
    pub fn result(&self, start: Time, stdout: &str, stderr: &str, success: bool) -> TransferResult {
        let verb = if self.upload.is_some() { "STOR" } else { "RETR" };
        let mut fields = stdout.split_whitespace();
        let mut bytes = || fields.next().and_then(|field| field.parse::<u64>().ok());
        let (down, up) = (bytes(), bytes());
        let mut seconds = || fields.next().and_then(decimal_seconds);
        let (begin, end) = (seconds(), seconds());
        let known = down.zip(up).zip(begin.zip(end));
        let complete = success && known.is_some();
        let ((down, up), (begin, end)) = known.unwrap_or_default();
        TransferResult {
            name: format!("{verb} {}", self.path),
            bytes: down + up,
            start: start + begin,
            end: start + end,
            complete,
            error: (!complete).then(|| stderr.trim().to_owned()),
            retransmitted_segments: None,
            sender: None,
        }
    }
}

/// A time as curl prints it: seconds with up to nine decimals.
fn decimal_seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: u64 = whole.parse().ok()?;
    let digits = fraction.get(..9).unwrap_or(fraction);
    let value: u64 = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    let scale = 10_u64.pow(9 - u32::try_from(digits.len()).ok()?);
    Some(Duration::from_secs(whole) + Duration::from_nanos(value * scale))
}

/// Bytes down, bytes up, seconds until the transfer was about to begin, seconds until its end.
const WRITE_OUT: &str = "%{size_download} %{size_upload} %{time_pretransfer} %{time_total}\\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_curl_writes() {
        let curl = CurlFtp {
            server: "127.0.0.1:21".parse().unwrap(),
            path: "f".to_owned(),
            upload: None,
            active: false,
            extended: true,
            within: Duration::from_secs(1),
        };
        let result = curl.result(Time::ZERO, "52428800 0 0.000250 346.000001\n", "", true);
        assert_eq!((result.bytes, result.complete), (52_428_800, true));
        assert_eq!(result.start, Time::from_nanos(250_000));
        assert_eq!(result.end, Time::from_nanos(346_000_001_000));
        let failed = curl.result(Time::ZERO, "", "curl: (7) Failed to connect", false);
        assert_eq!(failed.error.as_deref(), Some("curl: (7) Failed to connect"));
    }
}
