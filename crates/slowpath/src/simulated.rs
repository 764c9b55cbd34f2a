//! Runs in simulated time.

use slowpath_record::RunRecord;
use slowpath_scenario::Plan;

use crate::folder::Folder;

/// Why a simulated run failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulatedError {
    /// There is no simulator yet.
    #[error("the simulator does not exist in this version; use --clock lab")]
    Missing,
}

/// Computes one run in simulated time.
///
/// # Errors
/// [`SimulatedError`].
pub fn run(
    _experiment: &str,
    _plan: &Plan,
    _name: &str,
    _capture: bool,
    _folder: &Folder,
) -> Result<RunRecord, SimulatedError> {
    Err(SimulatedError::Missing)
}
