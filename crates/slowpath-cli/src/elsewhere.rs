//! Commands that need Linux, on other systems: they are in the help as everywhere, and say what they need.

use clap::Args;

use crate::exit::{self, Failure};

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
        needs_linux("finding out what limits a live path")
    }

    pub(crate) fn serve(_: &ServeArgs) -> Result<u8, Failure> {
        needs_linux("being the other end of a measurement")
    }
}

pub(crate) mod shell {
    pub(crate) use super::Anything as ShellArgs;
    use super::{Failure, exit, needs_linux};

    pub(crate) fn shell(_: &ShellArgs) -> Result<u8, Failure> {
        needs_linux("running a program over an emulated path").map_err(|failure| Failure {
            code: exit::OWN_FAILURE,
            ..failure
        })
    }
}

pub(crate) mod why {
    pub(crate) use super::Anything as WhyArgs;
    use super::{Failure, needs_linux};

    pub(crate) fn why(_: &WhyArgs) -> Result<u8, Failure> {
        needs_linux("saying why a transfer is slow now")
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    #[command(name = "why")]
    struct Alone {
        #[command(flatten)]
        args: Anything,
    }

    fn read(line: &str) -> Result<Anything, clap::Error> {
        Alone::try_parse_from(line.split(' ')).map(|alone| alone.args)
    }

    #[test]
    fn every_command_says_what_it_needs_whatever_stands_behind_it() {
        let args = read("why --pid 3 --watch -R iperf3://192.0.2.1 -- scp big host:").unwrap();
        let answers = [
            measure::measure(&args),
            measure::diagnose_path(&args),
            measure::serve(&args),
            shell::shell(&args),
            why::why(&args),
            why::guard(),
            worker::worker("job".as_ref()),
        ];
        let mut said = Vec::new();
        for answer in answers {
            let failure = answer
                .map_err(|failure| (failure.code, failure.text))
                .unwrap_err();
            assert!(
                [exit::MACHINE, exit::OWN_FAILURE].contains(&failure.0),
                "{failure:?}"
            );
            assert!(failure.1.contains(": that needs Linux"), "{failure:?}");
            said.push(failure.1);
        }
        said.sort();
        said.dedup();
        assert_eq!(said.len(), 7, "{said:?}");
    }

    #[test]
    fn its_help_is_there() {
        let help = read("why --help").unwrap_err();
        assert_eq!(help.kind(), clap::error::ErrorKind::DisplayHelp);
        assert!(help.to_string().contains("needs Linux"), "{help}");
    }
}
