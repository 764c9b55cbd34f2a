//! Work beside the interpreter, which stays free for others and for Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    _slowpath,
    Error,
    PyException,
    "What slowpath could not do: what was being done, on what, what was found, what to do."
);

/// Why work ended without an answer.
pub(crate) struct Stop(pub(crate) String);

/// Does `work` on a thread of its own while the interpreter is free. A signal raises the flag that `work` is given, and its
/// exception once the work has stopped.
///
/// # Errors
/// What `work` says, as [`Error`]; the exception of a signal's handler, `KeyboardInterrupt` for Ctrl-C.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<T, Stop> + Send,
) -> PyResult<T> {
    let cancel = AtomicBool::new(false);
    py.detach(|| {
        thread::scope(|scope| {
            let (tell, told) = channel();
            let flag = &cancel;
            let worker = scope.spawn(move || {
                let found = work(flag);
                // Nobody listens any more after a signal.
                let _ = tell.send(());
                found
            });
            while told.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                #[expect(
                    clippy::redundant_closure_for_method_calls,
                    reason = "the method is of one lifetime only"
                )]
                let looked = Python::attach(|py| py.check_signals());
                if let Err(raised) = looked {
                    cancel.store(true, Ordering::Relaxed);
                    let _ = worker.join();
                    return Err(raised);
                }
            }
            match worker.join() {
                Ok(found) => found.map_err(|Stop(text)| Error::new_err(text)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    })
}

/// How often it is looked whether somebody pressed Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);
