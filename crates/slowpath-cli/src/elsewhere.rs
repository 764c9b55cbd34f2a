//! Commands that need Linux, on other systems: they are in the help as everywhere, and say what they need.

use clap::Args;

use crate::exit::Failure;

/// Whatever stands behind such a command.
#[derive(Debug, Args)]
#[command(after_help = "This command needs Linux.")]
pub(crate) struct Anything {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<std::ffi::OsString>,
}

fn needs_linux(doing: &str) -> Result<u8, Failure> {
    Err(Failure::machine(slowpath::system::needs_linux(doing)))
}

pub(crate) mod measure {
    pub(crate) use super::Anything as DiagnosePathArgs;
    pub(crate) use super::Anything as MeasureArgs;
    pub(crate) use super::Anything as ServeArgs;
    use super::{Failure, needs_linux};

    pub(crate) fn measure(_: &MeasureArgs) -> Result<u8, Failure> {
        needs_linux("measuring a live path")
    }

    pub(crate) fn diagnose_path(_: &DiagnosePathArgs) -> Result<u8, Failure> {
        needs_linux("diagnosing a live path")
    }

    pub(crate) fn serve(_: &ServeArgs) -> Result<u8, Failure> {
        needs_linux("serving")
    }
}

pub(crate) mod shell {
    pub(crate) use super::Anything as ShellArgs;
    use super::{Failure, needs_linux};

    pub(crate) fn shell(_: &ShellArgs) -> Result<u8, Failure> {
        needs_linux("running a program over an emulated path")
    }
}

pub(crate) mod ui {
    pub(crate) use super::Anything as UiArgs;
    use super::{Failure, needs_linux};

    pub(crate) fn ui(_: &UiArgs) -> Result<u8, Failure> {
        needs_linux("serving the page")
    }
}

pub(crate) mod why {
    pub(crate) use super::Anything as WhyArgs;
    use super::{Failure, needs_linux};

    pub(crate) fn why(_: &WhyArgs) -> Result<u8, Failure> {
        needs_linux("saying why a transfer is slow that runs now")
    }

    pub(crate) fn guard() -> Result<u8, Failure> {
        needs_linux("guarding a trial")
    }
}

pub(crate) mod worker {
    use super::{Failure, needs_linux};

    pub(crate) fn worker(_: &std::path::Path) -> Result<u8, Failure> {
        needs_linux("running in real time")
    }
}
