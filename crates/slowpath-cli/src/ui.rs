//! `slowpath ui`.

use std::path::PathBuf;

use clap::Args;
use slowpath::ByteCount;
use slowpath_ui::{Options, Page, UiError};

use crate::exit::{self, Failure};
use crate::numbers::whole;
use crate::terminal;

/// `slowpath ui`.
#[derive(Debug, Args)]
#[command(
    after_help = "It listens at 127.0.0.1 alone and answers who opens the address that it prints. Each capture and each experiment \
is a folder below --dir, and stays there."
)]
pub(crate) struct UiArgs {
    /// Port on this machine; 0 takes any that is free
    #[arg(long, default_value_t = 8585, value_parser = whole::<u16>(0, u64::from(u16::MAX)))]
    port: u16,
    /// Where the history lies; without, $XDG_DATA_HOME/slowpath or ~/.local/share/slowpath
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Largest capture that is taken
    #[arg(long, value_name = "SIZE", default_value = "4 GB")]
    upload_limit: ByteCount,
}

/// Serves the page until Ctrl-C.
pub(crate) fn ui(args: &UiArgs) -> Result<u8, Failure> {
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => usual_folder()?,
    };
    let program = std::env::current_exe()
        .map_err(|error| Failure::machine(format!("finding this program's own file failed: {error}")))?;
    let stop = slowpath::interrupt::flag();
    let page = Page::open(Options {
        port: args.port,
        folder: folder.clone(),
        upload_limit: args.upload_limit.bytes(),
        program,
        before: vec![format!("--end-with-parent={}", std::process::id())],
    })
    .map_err(|error| failed(&error))?;
    terminal::print(|out| {
        writeln!(out, "Open this in a browser on this machine; Ctrl-C ends it.")?;
        writeln!(out, "  {}", page.address())?;
        writeln!(out, "History: {}", folder.display())
    })?;
    page.serve(&stop).map_err(|error| failed(&error))?;
    Ok(exit::DONE)
}

fn failed(error: &UiError) -> Failure {
    match error {
        UiError::Used(_) => Failure::usage(error.to_string()),
        UiError::Folder { .. } | UiError::Port { .. } | UiError::Serve(_) => {
            Failure::machine(error.to_string())
        }
    }
}

/// Where programs keep what is the user's, after the XDG Base Directory Specification, or Windows' own.
fn usual_folder() -> Result<PathBuf, Failure> {
    let named = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    named("XDG_DATA_HOME")
        .or_else(|| Some(named("HOME")?.join(".local/share")))
        .or_else(|| named("LOCALAPPDATA"))
        .map(|data| data.join("slowpath"))
        .ok_or_else(|| {
            Failure::usage(
                "choosing where the history lies: HOME is not set; name a folder with --dir".to_owned(),
            )
        })
}
