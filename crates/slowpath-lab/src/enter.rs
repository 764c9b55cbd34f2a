//! Becoming able to make namespaces: nothing to do for root, a user namespace for everybody else.

use std::fs;
use std::io;

use slowpath_sys::namespace::{self, Capability, Mapping};

use crate::error::LabError;

/// How this process is able to build labs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// It has the capabilities that it needs.
    Full,
    /// It has them inside a user namespace of its own.
    UserNamespace,
}

/// Makes this process able to build labs. Call it first in `main`, before any thread starts.
///
/// With the capabilities at hand it changes nothing. Otherwise the process enters a user namespace that keeps its
/// user id, and from then on has all capabilities over what it makes itself, and none over anything else.
///
/// # Errors
/// [`LabError::Namespace`] when this machine permits neither; `slowpath doctor` says how to change that.
pub fn enter() -> Result<Privilege, LabError> {
    let wrap = |source| LabError::Namespace { what: "user", source };
    if has_what_it_takes() {
        return Ok(Privilege::Full);
    }
    let threads = fs::read_dir("/proc/self/task").map_err(wrap)?.count();
    if threads > 1 {
        let text = format!("{threads} threads are running already");
        return Err(wrap(io::Error::new(io::ErrorKind::InvalidInput, text)));
    }
    namespace::enter_user_namespace(Mapping::Keep).map_err(wrap)?;
    // A security module may grant the namespace and withhold the capabilities; a first device shows it.
    namespace::NetworkNamespace::create().map_err(|source| LabError::Namespace {
        what: "network",
        source,
    })?;
    Ok(Privilege::UserNamespace)
}

/// Whether namespaces and devices can be made without further ado.
pub(crate) fn has_what_it_takes() -> bool {
    [Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw]
        .into_iter()
        .all(|capability| namespace::has_capability(capability).unwrap_or(false))
}
