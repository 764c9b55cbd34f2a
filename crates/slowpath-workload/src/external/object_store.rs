//! Real object stores over a folder, for S3 in the lab: versitygw, or s3s-fs.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Program, Ready, find_program};
use crate::s3::Credentials;

/// A program that serves a folder as an object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoreProgram {
    /// versitygw, in Go; its folder's file system must have extended attributes.
    Versitygw,
    /// s3s-fs, in Rust.
    S3sFs,
}

impl StoreProgram {
    /// All of them, the default one first.
    pub const ALL: [Self; 2] = [Self::Versitygw, Self::S3sFs];

    /// The program's name, which is also that of its executable.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Versitygw => "versitygw",
            Self::S3sFs => "s3s-fs",
        }
    }

    /// The program called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }

    /// What a user types to get it: no distribution packages either.
    pub const fn install(self) -> &'static str {
        match self {
            Self::Versitygw => "go install github.com/versity/versitygw/cmd/versitygw@latest",
            Self::S3sFs => "cargo install s3s-fs@0.14.1 --features binary",
        }
    }
}

/// How an object store is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectStore {
    /// Which program.
    pub program: StoreProgram,
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Existing folder for the objects.
    pub root: PathBuf,
    /// The account. s3s-fs gets it on its command line, where every user of the machine can read it: use one that
    /// is good for nothing else.
    pub credentials: Credentials,
}

impl ObjectStore {
    /// The program, or nothing when it is neither on `PATH` nor where `go install` and `cargo install` put it
    /// ([`StoreProgram::install`]).
    pub fn program(&self) -> Option<Program> {
        let name = self.program.name();
        let folders = installed();
        let folders: Vec<&str> = folders.iter().filter_map(|folder| folder.to_str()).collect();
        let account = &self.credentials;
        let root = self.root.display().to_string();
        let (arguments, environment) = match self.program {
            StoreProgram::Versitygw => {
                let listen = self.listen.to_string();
                (
                    words(&[
                        "--port",
                        &listen,
                        "--region",
                        &account.region,
                        "--quiet",
                        "posix",
                        &root,
                    ]),
                    vec![
                        ("ROOT_ACCESS_KEY".to_owned(), account.access_key.clone()),
                        ("ROOT_SECRET_KEY".to_owned(), account.secret_key.clone()),
                    ],
                )
            }
            StoreProgram::S3sFs => {
                let (host, port) = (self.listen.ip().to_string(), self.listen.port().to_string());
                (
                    words(&[
                        "--host",
                        &host,
                        "--port",
                        &port,
                        "--access-key",
                        &account.access_key,
                        "--secret-key",
                        &account.secret_key,
                        &root,
                    ]),
                    // It tells every request otherwise.
                    vec![("RUST_LOG".to_owned(), "error".to_owned())],
                )
            }
        };
        Some(Program {
            name: name.to_owned(),
            program: find_program(name, &folders)?,
            arguments,
            environment,
            files: Vec::new(),
            ready: Ready::Listening(self.listen),
        })
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Where `go install` and `cargo install` put programs.
fn installed() -> Vec<PathBuf> {
    let of = |variable: &str, below: &str| {
        std::env::var_os(variable)
            .filter(|value| value != OsStr::new(""))
            .map(|value| PathBuf::from(value).join(below))
    };
    [
        of("GOBIN", ""),
        of("HOME", "go/bin"),
        of("CARGO_HOME", "bin"),
        of("HOME", ".cargo/bin"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
