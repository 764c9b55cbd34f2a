//! Object stores: slowpath's endpoint in memory, versitygw, or s3s-fs.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use slowpath_scenario::plan::HostPlan;
use slowpath_scenario::workload::{Program as Player, S3Load, S3Operation};
use slowpath_units::Duration;
use slowpath_workload::external::find_program;
use slowpath_workload::external::object_store::{ObjectStore, StoreProgram};
use slowpath_workload::s3::{
    self, Authorities, Client, ClientTls, Credentials, Endpoint, LoadConfig, LoadReport, MemoryServer,
    Operation, PayloadHash, ServerConfig, ServerTls,
};

use super::error::LabRunError;
use super::ports::port;
use super::processor;
use super::programs::{Running, version};
use super::scratch::Scratch;
use super::stage::{Done, Work, failed, kernel, socket_options};

/// Starts the store, fills it where objects are to be read, and makes the requests.
pub(super) fn run(work: &Work<'_>, load: &S3Load) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    let stack = kernel(client, "S3 requests of a model host")?;
    let listen = SocketAddr::new(server.address, port(work));
    let mut done = Done::default();
    let folder = Scratch::create("s3")?;
    let tls = load
        .tls
        .then(|| Certificate::make(folder.path(), listen))
        .transpose()?;
    let mut config = load_config(load, listen);
    if let Some(tls) = &tls {
        config.endpoint.tls = Some(tls.client(listen)?);
    }
    let serving = start_server(work, server, load, listen, &folder, tls.as_ref(), &mut done)?;
    prepare(work, server, &config)?;
    config.endpoint.socket = slowpath_workload::SocketOptions {
        no_delay: true,
        ..socket_options(stack)
    };
    work.wait_for_start()?;
    let watch = processor::Watch::start(serving.watched(server), &work.context);
    let report = work
        .inside(client, || s3::run(&config, &work.context))?
        .map_err(|error| LabRunError::Workload(error.to_string()))?;
    processor::judge(&watch.finish(), report.start, report.end, &mut done);
    drop(serving);
    done.programs.push("S3 client: slowpath's own".to_owned());
    tell(work, &report, &mut done);
    Ok(done)
}

fn tell(work: &Work<'_>, report: &LoadReport, done: &mut Done) {
    let name = &work.job.name;
    let mut transfer = report.transfer(name);
    let retransmitted: u64 = report
        .connections
        .iter()
        .filter_map(|log| log.last())
        .map(|sample| u64::from(sample.retransmitted_segments))
        .sum();
    transfer.retransmitted_segments = Some(retransmitted);
    done.transfers.push(transfer);
    let milliseconds = |share| {
        report
            .latency_quantile(share)
            .map_or(0.0, |time| time.seconds() * 1000.0)
    };
    done.notes.push(format!(
        "{name}: {:.2} requests/s; a request took {:.1} ms (half of them), {:.1} ms (95 %), {:.1} ms (99 %)",
        report.requests_per_s(),
        milliseconds(0.5),
        milliseconds(0.95),
        milliseconds(0.99)
    ));
    let workers: Vec<String> = report
        .workers()
        .iter()
        .map(|(_, rate)| format!("{:.0}", rate / 1000.0))
        .collect();
    done.notes
        .push(format!("{name}: kB/s of each connection: {}", workers.join(", ")));
    for (number, connection) in report.connections.iter().enumerate() {
        done.series.extend(connection.series(&format!("{name}/{number}")));
    }
}

fn load_config(load: &S3Load, address: SocketAddr) -> LoadConfig {
    LoadConfig {
        endpoint: Endpoint {
            address,
            host: None,
            bucket: BUCKET.to_owned(),
            credentials: credentials(),
            payload_hash: PayloadHash::Unsigned,
            socket: slowpath_workload::SocketOptions::default(),
            tls: None,
        },
        operation: match load.operation {
            S3Operation::Put => Operation::Put,
            S3Operation::Get => Operation::Get,
        },
        prefix: "object".to_owned(),
        object_size: load.object_size,
        part_size: load.part_size,
        requests: load.requests,
        concurrency: load.concurrency,
        fixed_shares: load.fixed_shares,
        verify: false,
        seed: 1,
        sample_every: Duration::from_millis(100),
    }
}

/// Makes the bucket and, for downloads, stores the objects from the store's own host: nothing of it is on the wire.
fn prepare(work: &Work<'_>, server: &HostPlan, config: &LoadConfig) -> Result<(), LabRunError> {
    let outcome = work.inside(server, || {
        Client::new(&config.endpoint, &work.context).create_bucket()?;
        if config.operation == Operation::Get {
            let fill = LoadConfig {
                operation: Operation::Put,
                part_size: None,
                fixed_shares: false,
                ..config.clone()
            };
            let report = s3::run(&fill, &work.context)?;
            if let Some(error) = report.requests.iter().find_map(|request| request.error.clone()) {
                return Ok(Some(error));
            }
        }
        Ok::<_, s3::S3Error>(None)
    })?;
    match outcome.map_err(|error| failed("filling the object store", &error))? {
        Some(error) => Err(failed("filling the object store", &error)),
        None => Ok(()),
    }
}

enum Serving {
    Builtin { _server: MemoryServer },
    Program { running: Running },
}

impl Serving {
    fn watched(&self, host: &HostPlan) -> Vec<(String, u32)> {
        match self {
            Self::Builtin { .. } => Vec::new(),
            Self::Program { running } => vec![(host.name.clone(), running.id())],
        }
    }
}

fn start_server(
    work: &Work<'_>,
    host: &HostPlan,
    load: &S3Load,
    listen: SocketAddr,
    folder: &Scratch,
    tls: Option<&Certificate>,
    done: &mut Done,
) -> Result<Serving, LabRunError> {
    match &load.server {
        Player::Builtin => {
            let stack = kernel(host, "an object store on a model host")?;
            let mut config = ServerConfig::new(listen, Some(credentials()));
            config.socket = slowpath_workload::SocketOptions {
                no_delay: true,
                ..socket_options(stack)
            };
            config.capacity = CAPACITY;
            config.think = load.service_time;
            config.close = !load.reuse;
            config.tls = tls.map(Certificate::server).transpose()?;
            let started = work.inside(host, || MemoryServer::start(config, &work.context))?;
            let server = started.map_err(|error| failed("starting the object store", &error))?;
            done.programs
                .push("object store: slowpath's own, in memory".to_owned());
            Ok(Serving::Builtin { _server: server })
        }
        Player::Named(program) => {
            if tls.is_some() {
                return Err(LabRunError::Unsupported("a real object store behind TLS"));
            }
            if load.service_time > Duration::ZERO || !load.reuse {
                return Err(LabRunError::Unsupported(
                    "a service time or single-use connections with a real object store",
                ));
            }
            let root = folder.join("store");
            std::fs::create_dir_all(&root).map_err(LabRunError::Scratch)?;
            let kind = StoreProgram::named(program)
                .ok_or(LabRunError::Unsupported("an object store by this program"))?;
            let store = ObjectStore {
                program: kind,
                listen,
                root,
                credentials: credentials(),
            };
            let found = store.program().ok_or_else(|| LabRunError::Program {
                program: program.clone(),
                install: kind.install(),
            })?;
            let running = Running::start(work, host, &found)?;
            done.programs
                .push(format!("object store: {}", version(&found, &["--version"])));
            Ok(Serving::Program { running })
        }
    }
}

/// A certificate for one run, which nobody else ever trusts.
struct Certificate {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Certificate {
    fn make(folder: &Path, address: SocketAddr) -> Result<Self, LabRunError> {
        let openssl = find_program("openssl", &[]).ok_or_else(|| LabRunError::Program {
            program: "openssl".to_owned(),
            install: "apt-get install openssl",
        })?;
        let (certificate, key) = (folder.join("store.crt"), folder.join("store.key"));
        let output = Command::new(openssl)
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ])
            .args(["-days", "2", "-subj", "/CN=slowpath", "-addext"])
            .arg(format!("subjectAltName=IP:{}", address.ip()))
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-out")
            .arg(&certificate)
            .arg("-keyout")
            .arg(&key)
            .output()
            .map_err(LabRunError::Scratch)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(failed("making a certificate with openssl", &said));
        }
        let read = |path: &Path| std::fs::read(path).map_err(LabRunError::Scratch);
        Ok(Self {
            certificate: read(&certificate)?,
            key: read(&key)?,
        })
    }

    fn client(&self, address: SocketAddr) -> Result<ClientTls, LabRunError> {
        let authorities = Authorities::Pem(self.certificate.clone());
        ClientTls::new(&address.ip().to_string(), &authorities)
            .map_err(|error| failed("preparing TLS for the client", &error))
    }

    fn server(&self) -> Result<ServerTls, LabRunError> {
        ServerTls::from_pem(&self.certificate, &self.key)
            .map_err(|error| failed("preparing TLS for the store", &error))
    }
}

fn credentials() -> Credentials {
    Credentials {
        access_key: "slowpath".to_owned(),
        secret_key: "slowpath-in-the-lab".to_owned(),
        region: "us-east-1".to_owned(),
    }
}

const BUCKET: &str = "slowpath";

/// Bytes that the store in memory may hold.
const CAPACITY: u64 = 4 << 30;
