//! A result of one tool or the other.

use super::{Told, ToldError, iperf3, ndt7};

/// Reads the result of either tool.
///
/// # Errors
/// [`ToldError`].
pub fn read(text: &str) -> Result<Told, ToldError> {
    if ndt7::is_ndt7(text) {
        ndt7::read(text)
    } else {
        iperf3::read(text)
    }
}
