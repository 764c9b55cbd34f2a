//! What FTP and an object store offer: files and objects, which are removed afterwards.

use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock};

use slowpath_units::ByteCount;
use slowpath_workload::content::Content;
use slowpath_workload::ftp;
use slowpath_workload::payload::{Sink, Source};
use slowpath_workload::s3::{Client, Endpoint};
use slowpath_workload::{Context, SocketOptions};

use super::change::Change;
use super::load::{CLEAN_UP, ENDLESS, is_left, name, options, side_by_side, streams};
use super::spec::Spec;
use crate::measure::address::{Address, AddressError};
use crate::measure::s3::PayloadHash;
use crate::measure::{MeasureError, s3};

/// An object store.
pub(super) struct Store {
    pub(super) endpoint: Endpoint,
    /// Whether the object to read is there.
    stored: OnceLock<()>,
}

pub(super) fn ftp_config(address: &Address, server: SocketAddr) -> ftp::ClientConfig {
    let direction = ftp::Direction::Get {
        sink: Sink::Discard,
        drain: None,
    };
    let mut config = ftp::ClientConfig::new(server, &address.path, direction);
    if let Some(user) = &address.user {
        config.user.clone_from(user);
        config.password = address.password.clone().unwrap_or_default();
    }
    if server.is_ipv6() {
        config.mode = ftp::Mode::ExtendedPassive;
    }
    config
}

pub(super) fn has_file(config: &ftp::ClientConfig) -> bool {
    !config.path.is_empty() && !config.path.ends_with('/')
}

pub(super) fn ftp_load(
    config: &ftp::ClientConfig,
    change: Option<&Change>,
    reverse: bool,
    context: &Context,
    left: &Mutex<Vec<String>>,
) -> Result<(), MeasureError> {
    let failed = |error: ftp::FtpError| MeasureError::tool("ftp", &config.server, error);
    side_by_side(streams(change), &|number| {
        let mut config = config.clone();
        config.data = options(change, reverse);
        config.control.dscp = config.data.dscp;
        if !reverse {
            config.path = format!("{}{}.tmp", config.path, name("write", number));
            config.direction = ftp::Direction::Put {
                source: Source::Synthetic {
                    size: ByteCount::new(ENDLESS),
                    seed: 1,
                },
            };
        }
        let mut outcome = Ok(());
        // A file that is over is read once more.
        while context.check().is_ok() {
            match ftp::transfer(&config, context) {
                Ok(report) if report.transfer.bytes == 0 => {
                    let why = report
                        .transfer
                        .error
                        .unwrap_or_else(|| "the file is empty".to_owned());
                    outcome = Err(MeasureError::tool("ftp", &config.server, why));
                    break;
                }
                Ok(_) => {}
                Err(error) => {
                    outcome = Err(failed(error));
                    break;
                }
            }
        }
        if !reverse && outcome.is_ok() {
            let after = context.afterwards(CLEAN_UP);
            if let Err(error) = ftp::remove(&config, &after) {
                is_left(left, &config.path, &error);
            }
        }
        outcome
    })
}

pub(super) fn store(target: &str, spec: &Spec) -> Result<Endpoint, MeasureError> {
    let address = Address::parse(target, s3::FORM)?;
    let bucket = address.path.trim_end_matches('/');
    if bucket.is_empty() || bucket.contains('/') {
        return Err(AddressError::Form {
            target: target.to_owned(),
            problem: "it names no bucket, or more than that".to_owned(),
            form: s3::FORM,
        }
        .into());
    }
    let credentials = spec.access.credentials.as_ref().ok_or_else(|| {
        MeasureError::Settings(
            "finding the keys of the S3 store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".to_owned(),
        )
    })?;
    s3::endpoint(
        target,
        &address,
        credentials,
        PayloadHash::Unsigned,
        spec.access.tls.as_ref(),
        &SocketOptions::default(),
    )
}

impl Store {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            stored: OnceLock::new(),
        }
    }

    /// Whether an object to read is there.
    pub(super) fn has_stored(&self) -> bool {
        self.stored.get().is_some()
    }

    pub(super) fn load(
        &self,
        change: Option<&Change>,
        reverse: bool,
        context: &Context,
        left: &Mutex<Vec<String>>,
    ) -> Result<(), MeasureError> {
        let failed = |error| MeasureError::tool("s3", &self.endpoint.address, error);
        let content = Content::new(1);
        if reverse && self.stored.get().is_none() {
            Client::new(&self.endpoint, context)
                .put(&name("read", 0), content, OBJECT)
                .map_err(failed)?;
            let _ = self.stored.set(());
        }
        let mut endpoint = self.endpoint.clone();
        endpoint.socket = options(change, reverse);
        side_by_side(streams(change), &|number| {
            let mut client = Client::new(&endpoint, context);
            let mut outcome = Ok(());
            while outcome.is_ok() && context.check().is_ok() {
                outcome = if reverse {
                    client.get(&name("read", 0), None, None).map(drop)
                } else {
                    client.put(&name("write", number), content, OBJECT).map(drop)
                };
            }
            if !reverse {
                let after = context.afterwards(CLEAN_UP);
                let key = name("write", number);
                if let Err(error) = Client::new(&self.endpoint, &after).delete(&key) {
                    is_left(left, &key, &error);
                }
            }
            outcome.map_err(failed)
        })
    }
}

/// An object of a store, or a part of one, as its usual tools make them.
const OBJECT: u64 = 8 << 20;
