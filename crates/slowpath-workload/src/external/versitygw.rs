//! versitygw, an object store over a folder: the real server for S3 in the lab.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Program, Ready, find_program};
use crate::s3::Credentials;

/// How versitygw is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersityGateway {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Existing folder for the objects; its file system must have extended attributes.
    pub root: PathBuf,
    /// The account.
    pub credentials: Credentials,
    /// Folders to look in besides `PATH`, such as that of `go install`.
    pub folders: Vec<PathBuf>,
}

impl VersityGateway {
    /// The program, or nothing when versitygw is not installed
    /// (`go install github.com/versity/versitygw/cmd/versitygw@latest`).
    pub fn program(&self) -> Option<Program> {
        let folders: Vec<&str> = self.folders.iter().filter_map(|folder| folder.to_str()).collect();
        Some(Program {
            name: "versitygw".to_owned(),
            program: find_program("versitygw", &folders)?,
            arguments: vec![
                "--port".to_owned(),
                self.listen.to_string(),
                "--region".to_owned(),
                self.credentials.region.clone(),
                "--quiet".to_owned(),
                "posix".to_owned(),
                self.root.display().to_string(),
            ],
            // Not on the command line, where every user of the machine could read them.
            environment: vec![
                ("ROOT_ACCESS_KEY".to_owned(), self.credentials.access_key.clone()),
                ("ROOT_SECRET_KEY".to_owned(), self.credentials.secret_key.clone()),
            ],
            files: Vec::new(),
            ready: Ready::Listening(self.listen),
        })
    }
}
