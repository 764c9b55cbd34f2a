//! A server's thread and its end.

use std::io;
use std::thread::JoinHandle;

use crate::context::Cancel;

/// A thread that serves until its flag is raised, which happens at the latest when this value is dropped.
#[derive(Debug)]
pub(crate) struct Service {
    cancel: Cancel,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Starts `work`, which must end soon after `cancel` is raised.
    pub(crate) fn spawn(
        name: &str,
        cancel: Cancel,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self {
            cancel,
            thread: Some(thread),
        })
    }

    /// Raises the flag and waits for the thread.
    pub(crate) fn end(&mut self) {
        self.cancel.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has already ended the server; what it was about is missing, nothing else.
            let _ = thread.join();
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}
