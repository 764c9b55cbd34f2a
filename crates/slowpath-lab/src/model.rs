//! Model endpoints as hosts on the wire.

use std::sync::mpsc::Sender;

use slowpath_endpoint::{Host, Report};
use slowpath_path::PortId;
use slowpath_units::Time;

use crate::spec::ModelSettings;

/// A model host at a port of the wire.
pub(crate) struct Model {
    pub(crate) port: PortId,
    pub(crate) host: Host,
    name: String,
    reports: Sender<(String, Report)>,
    /// Identification field of its next IPv4 packet.
    pub(crate) identification: u16,
}

impl Model {
    pub(crate) fn new(
        name: &str,
        port: PortId,
        settings: &ModelSettings,
        seed: u64,
        reports: Sender<(String, Report)>,
    ) -> Self {
        let mut host = Host::new(settings.config.clone(), seed ^ u64::from(port.0).rotate_left(48));
        for (at, behaviour) in &settings.programs {
            host.start(*at, behaviour.clone());
        }
        Self {
            port,
            host,
            name: name.to_owned(),
            reports,
            identification: 1,
        }
    }

    pub(crate) fn next_event(&self) -> Time {
        self.host.next_event().unwrap_or(Time::MAX)
    }

    /// Passes on what its programs report; nobody may be listening any more.
    pub(crate) fn report(&mut self) {
        while let Some(report) = self.host.poll_report() {
            let _ = self.reports.send((self.name.clone(), report));
        }
    }

    /// Passes on what programs that never end have counted.
    pub(crate) fn summarise(&mut self) {
        let summaries: Vec<_> = self.host.summaries().collect();
        for (app, result) in summaries {
            let _ = self
                .reports
                .send((self.name.clone(), Report::Flow { app, result }));
        }
    }
}
