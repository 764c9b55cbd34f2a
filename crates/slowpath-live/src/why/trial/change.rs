//! What may be changed on a living connection, as users type it: `congestion-control=bbr`, `pacing-rate=20 Mbit/s`.

use std::fmt;
use std::str::FromStr;

use slowpath_packet::mark::Dscp;
use slowpath_units::{BitRate, ByteCount};

/// One change of a connection's options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Another congestion control at this end, which matters where this end sends.
    CongestionControl(String),
    /// A bound of the rate at which this end sends; `None` takes away the one that the program set.
    PacingRate(Option<BitRate>),
    /// Another mark on what this end sends.
    Mark(Dscp),
    /// A fixed send buffer.
    SendBuffer(ByteCount),
    /// A fixed receive buffer, with the window that it allows.
    ReceiveBuffer(ByteCount),
    /// A bound of the window that this end offers.
    WindowClamp(ByteCount),
    /// How much may wait unsent before the program is told to wait.
    UnsentLowWater(ByteCount),
}

impl Change {
    /// Whether it matters where this end receives; the others matter where it sends.
    pub const fn is_of_receiver(&self) -> bool {
        matches!(self, Self::ReceiveBuffer(_) | Self::WindowClamp(_))
    }

    /// Whether it fixes the size of a buffer: what the kernel learned meanwhile about the buffer's use is not given back with it.
    pub const fn is_buffer(&self) -> bool {
        matches!(self, Self::SendBuffer(_) | Self::ReceiveBuffer(_))
    }

    const fn key(&self) -> &'static str {
        match self {
            Self::CongestionControl(_) => "congestion-control",
            Self::PacingRate(_) => "pacing-rate",
            Self::Mark(_) => "mark",
            Self::SendBuffer(_) => "send-buffer",
            Self::ReceiveBuffer(_) => "receive-buffer",
            Self::WindowClamp(_) => "window-clamp",
            Self::UnsentLowWater(_) => "unsent-lowat",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.key())?;
        match self {
            Self::CongestionControl(name) => f.write_str(name),
            Self::PacingRate(None) => f.write_str("off"),
            Self::PacingRate(Some(rate)) => write!(f, "{rate}"),
            Self::Mark(mark) => write!(f, "{mark}"),
            Self::SendBuffer(bytes)
            | Self::ReceiveBuffer(bytes)
            | Self::WindowClamp(bytes)
            | Self::UnsentLowWater(bytes) => write!(f, "{bytes}"),
        }
    }
}

/// A change that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reading the change \"{text}\": {found}; {examples}")]
pub struct ChangeError {
    /// As it was typed.
    text: String,
    /// What is wrong with it, a clause.
    found: String,
    /// What may be typed where it stood, a clause.
    examples: &'static str,
}

impl ChangeError {
    /// A change of which `found` is wrong, where `examples` may be typed.
    pub(in crate::why) fn new(text: &str, found: impl Into<String>, examples: &'static str) -> Self {
        Self {
            text: text.to_owned(),
            found: found.into(),
            examples,
        }
    }

    /// The same where more may be typed.
    #[must_use]
    pub(in crate::why) fn among(self, examples: &'static str) -> Self {
        Self { examples, ..self }
    }
}

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Self, ChangeError> {
        let wrong = |found: String| ChangeError::new(text, found, EXAMPLES);
        let Some((key, value)) = text.split_once('=') else {
            return Err(wrong("it has no value".to_owned()));
        };
        let size = || -> Result<ByteCount, ChangeError> {
            let bytes: ByteCount = value.parse().map_err(|error| wrong(format!("{error}")))?;
            // Options of sockets are signed 32-bit numbers, and buffers are doubled by the kernel.
            if (1..=1 << 30).contains(&bytes.bytes()) {
                Ok(bytes)
            } else {
                Err(wrong("a size is from 1 B to 1 GiB".to_owned()))
            }
        };
        Ok(match key.trim() {
            "congestion-control" if value.is_empty() || value.len() > LONGEST_NAME => {
                return Err(wrong("that is no name of a congestion control".to_owned()));
            }
            "congestion-control" => Self::CongestionControl(value.to_owned()),
            "pacing-rate" if value == "off" => Self::PacingRate(None),
            "pacing-rate" => {
                let rate: BitRate = value.parse().map_err(|error| wrong(format!("{error}")))?;
                if rate.bits_per_s() < LEAST_RATE {
                    return Err(wrong("a rate below 8 kbit/s stops the transfer".to_owned()));
                }
                Self::PacingRate(Some(rate))
            }
            "mark" => Self::Mark(value.parse().map_err(|error| wrong(format!("{error}")))?),
            "send-buffer" => Self::SendBuffer(size()?),
            "receive-buffer" => Self::ReceiveBuffer(size()?),
            "window-clamp" => Self::WindowClamp(size()?),
            "unsent-lowat" => Self::UnsentLowWater(size()?),
            other => return Err(wrong(format!("there is no change \"{other}\""))),
        })
    }
}

/// What may be typed.
const EXAMPLES: &str = "write congestion-control=NAME, pacing-rate=RATE or pacing-rate=off, mark=DSCP, send-buffer=SIZE, \
     receive-buffer=SIZE, window-clamp=SIZE or unsent-lowat=SIZE, such as pacing-rate='20 Mbit/s'";
/// TCP_CA_NAME_MAX of `include/net/tcp.h`, less the end.
const LONGEST_NAME: usize = 15;
/// Slowest pacing, bit/s.
const LEAST_RATE: u64 = 8_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_is_shown() {
        for text in [
            "congestion-control=bbr",
            "pacing-rate=off",
            "pacing-rate=20 Mbit/s",
            "mark=cs1",
            "send-buffer=4 MiB",
            "receive-buffer=64 KiB",
            "window-clamp=100000 B",
            "unsent-lowat=128 KiB",
        ] {
            let change: Change = text.parse().unwrap();
            let again: Change = change.to_string().parse().unwrap();
            assert_eq!(change, again, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_what_may_be_written() {
        for (text, found) in [
            ("bbr", "has no value"),
            ("window=1 MiB", "there is no change \"window\""),
            ("congestion-control=", "no name"),
            ("pacing-rate=20", "20"),
            ("pacing-rate=1 bit/s", "stops the transfer"),
            ("send-buffer=8 GiB", "1 GiB"),
            ("mark=best", "no DSCP"),
        ] {
            let error = text.parse::<Change>().unwrap_err().to_string();
            assert!(error.contains(found), "{text}: {error}");
            assert!(error.contains("write congestion-control=NAME"), "{error}");
        }
    }
}
