//! Why an element's settings make no sense.

use slowpath_units::Duration;

/// An impossible setting of one element.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The number must be at least 1.
    #[error("{setting} is zero; it must be at least 1")]
    Zero {
        /// The setting.
        setting: &'static str,
    },
    /// A list of settings is empty.
    #[error("{setting} is empty; give at least one entry")]
    Empty {
        /// The setting.
        setting: &'static str,
    },
    /// Times in a list must rise.
    #[error("{setting}: the times must start at 0 and rise; entry {entry} does not")]
    NotRising {
        /// The setting.
        setting: &'static str,
        /// Which entry, from 1.
        entry: usize,
    },
    /// One setting contradicts another.
    #[error("{setting} {found}, but {limit}")]
    Contradiction {
        /// The setting.
        setting: &'static str,
        /// What it is, as text.
        found: String,
        /// What it must not contradict.
        limit: String,
    },
}

/// Checks that a schedule starts at 0 and rises.
pub(crate) fn rising(
    setting: &'static str,
    times: impl Iterator<Item = Duration>,
) -> Result<(), SettingError> {
    let mut previous = None;
    for (entry, time) in times.enumerate() {
        let fits = previous.map_or(time == Duration::ZERO, |previous| time > previous);
        if !fits {
            return Err(SettingError::NotRising {
                setting,
                entry: entry + 1,
            });
        }
        previous = Some(time);
    }
    previous.map(|_| ()).ok_or(SettingError::Empty { setting })
}
