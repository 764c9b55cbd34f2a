//! What a host offers to be tested, and how each layer of it moves data.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use slowpath_units::Duration;
use slowpath_workload::s3::Client;
use slowpath_workload::{Context, ftp};

use super::change::Change;
use super::layer::Layer;
use super::load::{CLEAN_UP, name, tcp};
use super::secure::Ssh;
use super::spec::Spec;
use super::stored::{Store, ftp_config, ftp_load, has_file, store};
use super::tap::Meant;
use crate::measure::address::Address;
use crate::measure::{Guard, MeasureError, ftp as ftp_tool, iperf3 as iperf3_tool, ssh};

/// The services of one host.
pub(super) struct Services<'a> {
    pub(super) address: IpAddr,
    context: &'a Context,
    iperf3: Option<SocketAddr>,
    ssh: Option<Ssh<'a>>,
    ftp: Option<ftp::ClientConfig>,
    s3: Option<Store>,
    left: Mutex<Vec<String>>,
}

/// The settings of ssh for the target that is one of ssh.
pub(super) fn ssh_spec(spec: &Spec) -> Option<ssh::Spec> {
    let target = spec.targets.iter().find(|target| scheme(target) == "ssh")?;
    Some(ssh::Spec {
        target: target.clone(),
        upload: None,
        methods: Vec::new(),
        ip_qos: Vec::new(),
        options: spec.access.ssh_options.clone(),
        config: spec.access.ssh_config.clone(),
    })
}

fn scheme(target: &str) -> &str {
    target.split_once("://").map_or("iperf3", |(scheme, _)| scheme)
}

impl<'a> Services<'a> {
    /// Reads the targets, finds their addresses and logs in where that is asked for.
    ///
    /// # Errors
    /// [`MeasureError`]: a target that is not understood or not permitted, targets on different hosts, a login that fails.
    pub(super) fn open(
        spec: &Spec,
        ssh_spec: Option<&'a ssh::Spec>,
        guard: &Guard,
        context: &'a Context,
    ) -> Result<Self, MeasureError> {
        let mut services = Self {
            address: IpAddr::from([127, 0, 0, 1]),
            context,
            iperf3: None,
            ssh: None,
            ftp: None,
            s3: None,
            left: Mutex::default(),
        };
        let mut first: Option<(IpAddr, &str)> = None;
        for target in &spec.targets {
            let address = services.add(target, spec, ssh_spec, guard)?;
            context
                .admit(address)
                .map_err(|refused| MeasureError::tool("diagnose", target, refused))?;
            match first {
                None => first = Some((address, target)),
                Some((other, of)) if other.to_canonical() != address.to_canonical() => {
                    return Err(MeasureError::Settings(format!(
                        "{of} is {other}, {target} is {address}: these are two paths; give services of one host, and diagnose the other by itself"
                    )));
                }
                Some(_) => {}
            }
        }
        services.address = first.map_or(services.address, |(address, _)| address);
        Ok(services)
    }

    fn add(
        &mut self,
        target: &str,
        spec: &Spec,
        ssh_spec: Option<&'a ssh::Spec>,
        guard: &Guard,
    ) -> Result<IpAddr, MeasureError> {
        let again = |what: &str| {
            MeasureError::Settings(format!("{target}: a second {what} target; give one of each kind"))
        };
        match scheme(target) {
            "iperf3" if self.iperf3.is_some() => Err(again("iperf3")),
            "ssh" if self.ssh.is_some() => Err(again("ssh")),
            "ftp" if self.ftp.is_some() => Err(again("ftp")),
            "s3" if self.s3.is_some() => Err(again("s3")),
            "ssh" => {
                let ssh_spec = ssh_spec.ok_or_else(|| again("ssh"))?;
                let ssh = Ssh::open(ssh_spec, guard, self.context)?;
                let address = ssh.session.server.ip();
                self.ssh = Some(ssh);
                Ok(address)
            }
            "ftp" => {
                let address = Address::parse(target, ftp_tool::FORM)?;
                let server = address.resolve(ftp_tool::PORT)?;
                self.ftp = Some(ftp_config(&address, server));
                Ok(server.ip())
            }
            "s3" => {
                let endpoint = store(target, spec)?;
                let address = endpoint.address.ip();
                self.s3 = Some(Store::new(endpoint));
                Ok(address)
            }
            _ => {
                let server = Address::parse(target, iperf3_tool::FORM)?.resolve(iperf3_tool::PORT)?;
                self.iperf3 = Some(server);
                Ok(server.ip())
            }
        }
    }

    /// The layers there are, those that others stand on first.
    pub(super) fn layers(&self) -> Vec<Layer> {
        let there = |layer: &Layer| match layer {
            Layer::Tcp => self.iperf3.is_some(),
            Layer::Pipe | Layer::Sftp | Layer::Scp => self.ssh.is_some(),
            Layer::Tunnel => self.ssh.is_some() && self.iperf3.is_some(),
            Layer::Ftp => self.ftp.is_some(),
            Layer::S3 => self.s3.is_some(),
        };
        Layer::ALL.into_iter().filter(there).collect()
    }

    /// Whether a target names a file, which can be read and no more.
    pub(super) fn names_a_file(&self) -> bool {
        self.ftp.as_ref().is_some_and(has_file) || self.ssh.as_ref().is_some_and(|ssh| ssh.has_file)
    }

    /// Whether a layer can move data in a direction at all.
    pub(super) fn can(&self, layer: Layer, reverse: bool) -> bool {
        match layer {
            Layer::Ftp => self.ftp.as_ref().is_some_and(has_file) == reverse,
            _ => true,
        }
    }

    /// The connections of a layer.
    pub(super) fn meant(&self, layer: Layer) -> Meant {
        let port = match layer {
            Layer::Tcp => self.iperf3.map(|server| server.port()),
            Layer::Pipe | Layer::Sftp | Layer::Scp | Layer::Tunnel => {
                self.ssh.as_ref().map(|ssh| ssh.session.server.port())
            }
            Layer::Ftp => None,
            Layer::S3 => self.s3.as_ref().map(|store| store.endpoint.address.port()),
        };
        Meant {
            address: self.address,
            port,
        }
    }

    /// Whether the SSH server is OpenSSH.
    pub(super) fn is_openssh(&self) -> bool {
        self.ssh.as_ref().is_some_and(|ssh| ssh.is_openssh)
    }

    /// What could not be removed from the server, as sentences.
    pub(super) fn left(&self) -> Vec<String> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Moves data until `context` ends, or for `span` where the protocol itself ends a test.
    ///
    /// # Errors
    /// [`MeasureError`]; the context's end is none.
    pub(super) fn perform(
        &self,
        layer: Layer,
        change: Option<&Change>,
        reverse: bool,
        span: Duration,
        context: &Context,
    ) -> Result<(), MeasureError> {
        let outcome = match (layer, &self.iperf3, &self.ssh, &self.ftp, &self.s3) {
            (Layer::Tcp, Some(server), ..) => tcp(*server, change, reverse, span, context),
            (Layer::Tunnel, Some(server), Some(ssh), ..) => ssh.tunnel(*server, reverse, span, context),
            (Layer::Pipe | Layer::Sftp | Layer::Scp, _, Some(ssh), ..) => {
                ssh.copy(layer, change, reverse, context)
            }
            (Layer::Ftp, _, _, Some(config), _) => ftp_load(config, change, reverse, context, &self.left),
            (Layer::S3, .., Some(store)) => store.load(change, reverse, context, &self.left),
            _ => Ok(()),
        };
        // A program that was ended says so; nothing is wrong with it.
        if context.check().is_err() { Ok(()) } else { outcome }
    }
}

impl Drop for Services<'_> {
    fn drop(&mut self) {
        // Also after Ctrl-C and the deadline: nothing of ours stays behind.
        if let Some(store) = self.s3.as_ref().filter(|store| store.has_stored()) {
            let after = self.context.afterwards(CLEAN_UP);
            let _ = Client::new(&store.endpoint, &after).delete(&name("read", 0));
        }
    }
}
