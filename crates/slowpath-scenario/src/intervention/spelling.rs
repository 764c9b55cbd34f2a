//! What users type for a change: `window=2 MB`, `congestion-control=bbr`, `marks=ipqos-none`.

use slowpath_packet::Dscp;

use super::{Intervention, Place, Who};

/// A change that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpellingError {
    /// No change has this key.
    #[error("there is no change `{key}`; there are {}", KEYS.join(", "))]
    Key {
        /// The key as typed.
        key: String,
    },
    /// The key takes values of another form.
    #[error("{key}={value}: {what}")]
    Value {
        /// The key.
        key: String,
        /// The value as typed.
        value: String,
        /// What is wrong.
        what: String,
    },
}

impl Intervention {
    /// The change that `key` and `value` spell: for the whole path, or for the end that it concerns.
    ///
    /// # Errors
    /// A key that is not one of [`KEYS`], or a value of another form.
    pub fn spelled(key: &str, value: &str) -> Result<Self, SpellingError> {
        let place = Place::Everywhere;
        Ok(match key {
            "rate" => Self::SetRate {
                place,
                rate: parsed(key, value)?,
            },
            "bottleneck" => Self::ScaleRate {
                place: Place::Bottleneck(Who::Receiver),
                percent: percent(key, value)?,
            },
            "delay" => Self::SetDelay {
                place,
                delay: parsed(key, value)?,
            },
            "loss" => Self::SetLoss {
                place,
                chance: parsed(key, value)?,
            },
            "queue" => Self::ResizeQueue {
                place,
                queue: parsed(key, value)?,
            },
            "policer" => match value {
                "none" => Self::RemovePolicer { place },
                _ => return Err(wrong(key, value, "a policer can only be taken out: none")),
            },
            "window" => Self::SetWindow {
                host: Who::Receiver,
                window: parsed(key, value)?,
            },
            "send-buffer" => Self::SetSendBuffer {
                host: Who::Sender,
                buffer: parsed(key, value)?,
            },
            "mss" => Self::SetMss {
                host: Who::Receiver,
                mss: parsed(key, value)?,
            },
            "initial-window" => Self::SetInitialWindow {
                host: Who::Sender,
                segments: parsed(key, value)?,
            },
            "reader" | "writer" => {
                let rate = match value {
                    "unlimited" => None,
                    _ => Some(parsed(key, value)?),
                };
                if key == "reader" {
                    Self::SetReader {
                        host: Who::Receiver,
                        rate,
                    }
                } else {
                    Self::SetWriter {
                        host: Who::Sender,
                        rate,
                    }
                }
            }
            "streams" => Self::SetStreams {
                count: value.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
                    wrong(
                        key,
                        value,
                        "write how many connections there are at once, 1 or more",
                    )
                })?,
            },
            "part-size" => Self::SetPartSize {
                size: parsed(key, value)?,
            },
            "congestion-control" => Self::SetCongestionControl {
                host: Who::Sender,
                name: value.to_owned(),
            },
            "dscp" => Self::SetDscp {
                host: Who::Sender,
                dscp: parsed(key, value)?,
            },
            "marks" => match value {
                "ipqos-none" => Self::SetIpQos {
                    host: Who::Sender,
                    interactive: None,
                    bulk: None,
                },
                "rewritten" => Self::Remark {
                    place: Place::Towards(Who::Receiver),
                    dscp: Dscp::DEFAULT,
                },
                _ => {
                    return Err(wrong(
                        key,
                        value,
                        "marks are taken off by ipqos-none or rewritten",
                    ));
                }
            },
            _ => return Err(SpellingError::Key { key: key.to_owned() }),
        })
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(key: &str, value: &str) -> Result<T, SpellingError> {
    value
        .parse()
        .map_err(|error: T::Err| wrong(key, value, &error.to_string()))
}

/// A whole number of per cent above 0.
fn percent(key: &str, value: &str) -> Result<u32, SpellingError> {
    let number = value
        .strip_suffix('%')
        .map(str::trim_end)
        .and_then(|text| text.parse().ok());
    number.filter(|percent| *percent > 0).ok_or_else(|| {
        wrong(
            key,
            value,
            "write the rate after the change in whole per cent of now, such as 200 %",
        )
    })
}

fn wrong(key: &str, value: &str, what: &str) -> SpellingError {
    SpellingError::Value {
        key: key.to_owned(),
        value: value.to_owned(),
        what: what.to_owned(),
    }
}

/// Keys of changes: the whole path's rate, delay (each way), loss and queue, its slowest link's rate in per cent, its
/// policer; the receiver's window, MSS and reading program; the sender's buffer, initial window, writing program,
/// congestion control, mark, and what becomes of marks; the job's streams and part size.
pub const KEYS: [&str; 17] = [
    "rate",
    "bottleneck",
    "delay",
    "loss",
    "queue",
    "policer",
    "window",
    "send-buffer",
    "mss",
    "initial-window",
    "reader",
    "writer",
    "streams",
    "part-size",
    "congestion-control",
    "dscp",
    "marks",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_spells_a_change() {
        for (key, value, change) in [
            (
                "rate",
                "10 Mbit/s",
                "set the rate in both directions to 10 Mbit/s",
            ),
            (
                "bottleneck",
                "200 %",
                "set the rate at the slowest link towards the receiver to 200 % of now",
            ),
            ("delay", "20 ms", "set the delay in both directions to 20 ms"),
            ("loss", "1 %", "set the loss in both directions to 1 %"),
            (
                "queue",
                "100 packets",
                "set the queue in both directions to 100 packets",
            ),
            ("policer", "none", "remove the policer in both directions"),
            (
                "window",
                "65535 B",
                "set the receive window of the receiver to 65535 bytes",
            ),
            (
                "send-buffer",
                "1 MB",
                "set the send buffer of the sender to 1000000 bytes",
            ),
            ("mss", "536", "set the segment size of the receiver to 536 bytes"),
            ("initial-window", "4", "start with 4 segments on the sender"),
            (
                "reader",
                "unlimited",
                "let the receiver read as fast as the data comes",
            ),
            (
                "writer",
                "unlimited",
                "let the sender write as fast as the data is taken",
            ),
            ("streams", "4", "use 4 parallel connections"),
            ("part-size", "8 MiB", "transfer in parts of 8 MiB"),
            ("congestion-control", "bbr", "use bbr on the sender"),
            ("dscp", "cs1", "mark the packets of the sender cs1"),
            (
                "marks",
                "rewritten",
                "mark every packet on the way to the receiver cs0",
            ),
        ] {
            let spelled = Intervention::spelled(key, value).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(spelled.to_string(), change, "{key}={value}");
        }
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (key, value, part) in [
            ("wndow", "1 MB", "there is no change `wndow`"),
            ("bottleneck", "0 %", "whole per cent"),
            ("policer", "1 Mbit/s", "taken out"),
            ("marks", "none", "ipqos-none or rewritten"),
            ("rate", "fast", "rate=fast"),
        ] {
            let error = Intervention::spelled(key, value).expect_err(key).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
