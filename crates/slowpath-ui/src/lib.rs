//! slowpath in a browser, over loopback only: drop in captures, choose or write experiments, watch them run, compare, keep a
//! history on disk.
//!
//! The page is a front end like the command line, and what it does is what the command line does: each capture and each
//! experiment is a call of the program in a folder of its own, so that whatever becomes of a call, the others and the page go on,
//! and what a call has finished is kept when the page, or the machine, ends.
//!
//! * [`access`]: who may ask. * [`entry`], [`history`]: what there is, on disk.
//! * [`jobs`]: the calls, one at a time. * [`form`], [`check`]: experiments from a form, and what is wrong with one.
//! * [`upload`]: a capture to disk, within limits. * [`routes`]: the addresses of the page.
//! * `system`: what is asked of a Unix; `windows.rs` has the same elsewhere.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod access;
pub mod check;
pub mod entry;
mod error;
pub mod form;
pub mod history;
pub mod jobs;
mod page;
pub mod routes;
#[cfg_attr(not(unix), path = "windows.rs")]
mod system;
pub mod upload;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use error::UiError;

use access::Access;
use history::History;
use jobs::Jobs;

/// What the page is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port on loopback; 0 takes any that is free.
    pub port: u16,
    /// Where history lies; made where it is missing.
    pub folder: PathBuf,
    /// Most bytes of one capture.
    pub upload_limit: u64,
    /// The program that does the work, called as on the command line.
    pub program: PathBuf,
    /// Arguments before all others of each call.
    pub before: Vec<String>,
}

/// The page, listening.
#[derive(Debug)]
pub struct Page {
    listener: std::net::TcpListener,
    access: Arc<Access>,
    jobs: Arc<Jobs>,
    upload_limit: u64,
}

impl Page {
    /// Opens the history and listens; nothing is answered yet.
    ///
    /// # Errors
    /// [`UiError`].
    pub fn open(options: Options) -> Result<Self, UiError> {
        let history = History::open(&options.folder)?;
        let in_folder = |source| UiError::Folder {
            folder: options.folder.clone(),
            source,
        };
        let token = access::token(&options.folder).map_err(in_folder)?;
        let wrong_port = |source| UiError::Port {
            port: options.port,
            source,
        };
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let listener = std::net::TcpListener::bind(wanted).map_err(wrong_port)?;
        listener.set_nonblocking(true).map_err(wrong_port)?;
        let port = listener.local_addr().map_err(wrong_port)?.port();
        Ok(Self {
            listener,
            access: Arc::new(Access::new(port, token)),
            jobs: Jobs::start(history, options.program, options.before),
            upload_limit: options.upload_limit,
        })
    }

    /// The address to be opened in a browser, with the word that lets one in.
    pub fn address(&self) -> String {
        self.access.address()
    }

    /// Answers until `stop` is raised; a call that runs then is stopped, and what it has finished is kept.
    ///
    /// # Errors
    /// [`UiError::Serve`].
    pub fn serve(self, stop: &Arc<AtomicBool>) -> Result<(), UiError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(UiError::Serve)?;
        let app = routes::router(self.access, Arc::clone(&self.jobs), self.upload_limit);
        let listener = self.listener;
        let served = runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            tokio::select! {
                served = axum::serve(listener, app) => served,
                () = raised(stop) => Ok(()),
            }
        });
        self.jobs.end();
        runtime.shutdown_timeout(PATIENCE);
        served.map_err(UiError::Serve)
    }
}

/// Ends when `stop` is raised.
async fn raised(stop: &Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
}

/// Time between two looks at whether the page is to end.
const LOOK: Duration = Duration::from_millis(100);
/// What an unfinished answer may still take at the end.
const PATIENCE: Duration = Duration::from_secs(2);
