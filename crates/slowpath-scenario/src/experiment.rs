//! The checked form of an experiment file.

use crate::device::DeviceUse;
use crate::diagnostic::{Diagnostic, Diagnostics, Issues};
use crate::fields::Fields;
use crate::figure::{Figure, read_figures};
use crate::host::{ConfigFile, HostDocument, read_hosts};
use crate::network::{ElementKind, NetworkDocument, read_network};
use crate::span::{Sources, Span};
use crate::tree::{Node, Table, Value};
use crate::workload::{Direction, Repeats, Workload, WorkloadDocument, read_workloads};

/// An experiment file without mistakes: every variant with all its settings.
///
/// Made by [`Experiment::read`]; [`Experiment::plan`] turns one variant into a [`Plan`](crate::Plan).
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// The question that the experiment answers.
    pub title: String,
    /// Name of the collection of published figures, for readers.
    pub reference: Option<String>,
    /// The variants in the order of the file; an experiment without variants has one named `default`.
    pub variants: Vec<Variant>,
    /// What should be read before the results are trusted.
    pub warnings: Diagnostics,
}

/// One variant of an experiment, with the experiment's common settings laid under its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Its name, for results and files.
    pub name: String,
    /// What is special about it, in a sentence.
    pub note: Option<String>,
    /// The network.
    pub network: NetworkDocument,
    /// The hosts that the document mentions.
    pub hosts: Vec<HostDocument>,
    /// The jobs; the first one is measured.
    pub jobs: Vec<WorkloadDocument>,
    /// How often and how long.
    pub repeats: Repeats,
    /// What is recorded.
    pub captures: Captures,
    /// Published figures to compare with.
    pub figures: Vec<Figure>,
}

impl Variant {
    /// Whether its hosts speak IPv6: one of them is given such an address.
    pub fn speaks_ipv6(&self) -> bool {
        (self.hosts.iter()).any(|host| host.address.is_some_and(|address| address.is_ipv6()))
    }
}

/// Which packets are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Captures {
    /// None.
    None,
    /// At each host.
    Hosts,
    /// At each host and at every hop of the path, with each packet's fate.
    All,
}

impl Experiment {
    /// Reads and checks an experiment file.
    ///
    /// `name` is shown in messages. `overrides` are dotted keys with values from the command line, such as
    /// `("network.down[0].rate", "10 Mbit/s")`; they are laid over the common part and over every variant.
    ///
    /// # Errors
    /// Everything that is wrong with the file, each with its place and what to write instead.
    pub fn read(name: &str, text: &str, overrides: &[(String, String)]) -> Result<Self, Diagnostics> {
        Self::read_for(name, text, overrides, &[])
    }

    /// As [`Experiment::read`], where only the `chosen` variants are wanted; empty means all.
    ///
    /// What was set must fit the chosen ones. Another one that it does not fit is left out: a key may be one that only some
    /// variants have, and a value may make no sense beside what others set.
    ///
    /// # Errors
    /// As [`Experiment::read`].
    pub fn read_for(
        name: &str,
        text: &str,
        overrides: &[(String, String)],
        chosen: &[String],
    ) -> Result<Self, Diagnostics> {
        let mut sources = Sources::default();
        let source = sources.add(name, text);
        let issues = Issues::default();
        let mut root = Table::parse(text, source, &issues);
        if issues.any_error() {
            return Err(issues.into_diagnostics(sources));
        }
        let set: Vec<(&str, Node)> = overrides
            .iter()
            .map(|(key, value)| {
                let source = sources.add(format!("--set {key}"), value);
                (key.as_str(), Node::from_argument(value, source))
            })
            .collect();
        let whole = Span::new(source, &(0..0));
        let overlaid = Overlaid { set: &set, chosen };
        let experiment = read_experiment(&mut root, &overlaid, whole, &sources, &issues);
        if issues.any_error() {
            return Err(issues.into_diagnostics(sources));
        }
        Ok(Self {
            warnings: issues.into_diagnostics(sources),
            ..experiment
        })
    }

    /// The variant called `name`.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// The uses of devices on the paths that the caller must read before planning, each once.
    pub fn device_uses(&self) -> Vec<&DeviceUse> {
        let mut uses: Vec<&DeviceUse> = Vec::new();
        for element in self
            .variants
            .iter()
            .flat_map(|v| v.network.up.iter().chain(&v.network.down))
        {
            if let ElementKind::Device(device) = &element.kind
                && !uses.contains(&device)
            {
                uses.push(device);
            }
        }
        uses
    }

    /// The recorded rates that the caller must read before planning, each once.
    pub fn trace_files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for variant in &self.variants {
            for file in variant.network.trace_files() {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        files
    }

    /// The configurations of hosts that the caller must read before planning, each once.
    pub fn config_files(&self) -> Vec<&ConfigFile> {
        let mut files: Vec<&ConfigFile> = Vec::new();
        for file in self
            .variants
            .iter()
            .flat_map(|v| &v.hosts)
            .filter_map(|host| host.config.as_ref())
        {
            if !files
                .iter()
                .any(|known| known.name == file.name && known.system == file.system)
            {
                files.push(file);
            }
        }
        files
    }
}

/// What was set on the command line, and for which variants; none of them means all.
struct Overlaid<'a> {
    set: &'a [(&'a str, Node)],
    chosen: &'a [String],
}

impl Overlaid<'_> {
    /// Whether the variant called `name` is one of those that are wanted.
    fn is_chosen(&self, name: &str) -> bool {
        self.chosen.is_empty() || self.chosen.iter().any(|chosen| chosen == name)
    }

    /// Lays what was set over `table`.
    fn lay_over(&self, table: &mut Table, issues: &Issues) {
        for (key, value) in self.set {
            apply_override(table, key, value, issues);
        }
    }
}

fn read_experiment(
    root: &mut Table,
    overlaid: &Overlaid<'_>,
    whole: Span,
    sources: &Sources,
    issues: &Issues,
) -> Experiment {
    let variants = root.remove("variants");
    let plain = root.clone();
    if overlaid.chosen.is_empty() || variants.is_none() {
        overlaid.lay_over(root, issues);
    } else {
        // The chosen variants may have what the common part has not.
        overlaid.lay_over(root, &Issues::default());
    }
    let (title, reference) = {
        let header = Fields::new(root, "", whole, issues);
        if !header.has("title") {
            header.missing("title", "write title = \"what this experiment shows\"");
        }
        let title = header
            .text("title")
            .map(|text| text.value.to_owned())
            .unwrap_or_default();
        (title, header.text("reference").map(|text| text.value.to_owned()))
    };
    let mut experiment = Experiment {
        title,
        reference,
        variants: Vec::new(),
        warnings: Diagnostics {
            list: Vec::new(),
            sources: Sources::default(),
        },
    };
    let Some(entry) = variants else {
        experiment
            .variants
            .extend(read_variant("default", whole, root, sources, issues));
        return experiment;
    };
    let Value::List(list) = &entry.node.value else {
        issues.push(
            Diagnostic::error(entry.key_span, "`variants` must be a list of tables")
                .help("write [[variants]]"),
        );
        return experiment;
    };
    if list.is_empty() {
        issues.push(
            Diagnostic::error(entry.key_span, "`variants` is empty, so there is nothing to run")
                .help("remove `variants`, or add [[variants]] with a name"),
        );
    }
    for node in list {
        let Some((name, overlay)) = variant_overlay(node, &experiment.variants, issues) else {
            continue;
        };
        let over = |base: &Table| {
            let mut table = base.clone();
            lay_network(&mut table, &overlay);
            lay_workload(&mut table, &overlay);
            table.merge(&overlay);
            table
        };
        let mut table = over(root);
        let own = Issues::default();
        overlaid.lay_over(&mut table, &own);
        let read = read_variant(&name, node.span, &table, sources, &own);
        if own.any_error() && !overlaid.is_chosen(&name) {
            // Its own mistakes count, those of what was set do not.
            read_variant(&name, node.span, &over(&plain), sources, issues);
            continue;
        }
        issues.extend(own);
        experiment.variants.extend(read);
    }
    experiment
}

/// The variant's name, and the rest of its table.
fn variant_overlay(node: &Node, earlier: &[Variant], issues: &Issues) -> Option<(String, Table)> {
    let Value::Table(table) = &node.value else {
        issues.push(Diagnostic::error(node.span, "a variant must be a table").help("write [[variants]]"));
        return None;
    };
    let mut table = table.clone();
    let Some(entry) = table.remove("name") else {
        issues.push(
            Diagnostic::error(node.span, "this variant has no name")
                .help("add name = \"...\" to the variant"),
        );
        return None;
    };
    let Value::Text(name) = &entry.node.value else {
        issues.push(Diagnostic::error(
            entry.node.span,
            format!(
                "a variant's name must be a string, not {}",
                entry.node.value.kind()
            ),
        ));
        return None;
    };
    let fits = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if !fits || name.starts_with('.') {
        issues.push(
            Diagnostic::error(entry.node.span, format!("\"{name}\" cannot name a variant"))
                .help("use letters, digits, hyphens, underscores and dots: it becomes part of file names"),
        );
    }
    if earlier.iter().any(|variant| variant.name == *name) {
        issues.push(
            Diagnostic::error(entry.node.span, format!("two variants are named \"{name}\""))
                .help("give each its own name"),
        );
    }
    for key in ["title", "reference"] {
        if let Some(entry) = table.remove(key) {
            issues.push(
                Diagnostic::error(entry.key_span, format!("a variant cannot change `{key}`")).help(
                    if key == "title" {
                        "write `note` for a remark on this variant"
                    } else {
                        "write it at the top of the file"
                    },
                ),
            );
        }
    }
    Some((name.clone(), table))
}

/// Makes room for a variant's directions: `both` replaces `up` and `down`, and the other way round.
fn lay_network(base: &mut Table, overlay: &Table) {
    let Some(Value::Table(above)) = overlay.entry("network").map(|entry| &entry.node.value) else {
        return;
    };
    let Some(below) = base.table_mut("network") else {
        return;
    };
    if above.entry("both").is_some() {
        below.remove("up");
        below.remove("down");
    } else if above.entry("up").is_some() || above.entry("down").is_some() {
        part_directions(below);
    }
}

/// Writes `up` and `down` for `both`.
fn part_directions(network: &mut Table) {
    if let Some(both) = network.remove("both") {
        for way in ["up", "down"] {
            network.push(way, both.key_span, both.node.clone());
        }
    }
}

/// Makes room for a variant's workload of another kind: the keys of the common one mean nothing to it.
fn lay_workload(base: &mut Table, overlay: &Table) {
    fn kind(table: &Table) -> Option<&str> {
        let Value::Table(workload) = &table.entry("workload")?.node.value else {
            return None;
        };
        match &workload.entry("kind")?.node.value {
            Value::Text(kind) => Some(kind),
            _ => None,
        }
    }
    if kind(overlay).is_some_and(|new| kind(base).is_some_and(|old| old != new)) {
        base.remove("workload");
    }
}

fn apply_override(table: &mut Table, key: &str, node: &Node, issues: &Issues) {
    // One direction of a path that is the same both ways.
    let one_way = ["network.up[", "network.down["];
    if one_way.iter().any(|start| key.starts_with(start))
        && let Some(network) = table.table_mut("network")
    {
        part_directions(network);
    }
    if let Err(part) = table.set(key, node.clone()) {
        issues.push(
            Diagnostic::error(
                node.span,
                format!("`{key}` leads nowhere: there is no `{part}` to change"),
            )
            .help("write the key as in the experiment file, such as network.down[0].rate"),
        );
    }
}

/// Reads a table as the file of a single variant: for what the reader asks, not for what it says.
pub(crate) fn ask_all(table: &Table, span: Span, sources: &Sources, issues: &Issues) {
    let header = Fields::new(table, "", span, issues);
    header.text("title");
    header.text("reference");
    header.list("variants");
    read_variant("sample", span, table, sources, issues);
}

fn read_variant(
    name: &str,
    span: Span,
    table: &Table,
    sources: &Sources,
    issues: &Issues,
) -> Option<Variant> {
    let before = issues.error_count();
    let fields = Fields::new(table, "", span, issues);
    fields.entry("title");
    fields.entry("reference");
    fields.entry("variants");
    let (jobs, repeats) = read_workloads(&fields);
    let variant = Variant {
        name: name.to_owned(),
        note: fields.text("note").map(|note| note.value.to_owned()),
        network: read_network(&fields),
        hosts: read_hosts(&fields, sources),
        jobs,
        repeats,
        captures: fields
            .choice("captures", CAPTURES)
            .map_or(Captures::Hosts, |c| c.value),
        figures: read_figures(&fields),
    };
    fields.finish();
    check_hosts(&variant, issues);
    check_addresses(&variant, issues);
    (issues.error_count() == before).then_some(variant)
}

/// Every host has work, and every job goes from the near side of the path to the far one.
fn check_hosts(variant: &Variant, issues: &Issues) {
    let near = |name: &str| variant.jobs.iter().any(|job| job.client == name);
    let far = |name: &str| variant.jobs.iter().any(|job| job.server == name);
    if variant.jobs.is_empty() {
        return;
    }
    for host in variant
        .hosts
        .iter()
        .filter(|host| !near(&host.name) && !far(&host.name))
    {
        let ends: Vec<&str> = variant
            .jobs
            .iter()
            .flat_map(|job| [job.client.as_str(), job.server.as_str()])
            .collect();
        issues.push(
            Diagnostic::error(
                host.span,
                format!("the host \"{}\" takes part in no job", host.name),
            )
            .help(format!(
                "jobs run between {}; remove the host, or name it in a job",
                crate::fields::words(ends)
            )),
        );
    }
    let takes = |name: &str| {
        let mut jobs = variant.jobs.iter();
        jobs.any(|job| match job.workload.direction() {
            Direction::Download => job.client == name,
            Direction::Upload => job.server == name,
            Direction::Both => job.client == name || job.server == name,
        })
    };
    for host in (variant.hosts.iter()).filter(|host| host.settings.storage.is_some() && !takes(&host.name)) {
        issues.push(
            Diagnostic::warning(
                host.span,
                format!(
                    "`storage` of the host \"{}\" has no effect: no job sends data to it",
                    host.name
                ),
            )
            .help("it says how fast a program takes what arrives; give it to the host that receives"),
        );
    }
    for job in &variant.jobs {
        for (host, both) in [(&job.client, far(&job.client)), (&job.server, near(&job.server))] {
            if both {
                issues.push(
                    Diagnostic::error(
                        job.span,
                        format!("the host \"{host}\" would be on both ends of the path"),
                    )
                    .help("clients are on the near end, servers on the far one: give this job other hosts"),
                );
            }
        }
    }
}

/// All that has an address speaks one IP version, and what only IPv4 has is not asked of IPv6.
fn check_addresses(variant: &Variant, issues: &Issues) {
    let ipv6 = variant.speaks_ipv6();
    let path = variant.network.up.iter().chain(&variant.network.down);
    let on_path = path.clone().filter_map(|element| match &element.kind {
        ElementKind::Router { address, .. }
        | ElementKind::Mtu {
            address: Some(address),
            ..
        } => Some((element.span, *address)),
        _ => None,
    });
    let hosts = (variant.hosts.iter()).filter_map(|host| Some((host.span, host.address?)));
    for (span, address) in hosts.chain(on_path).filter(|(_, own)| own.is_ipv6() != ipv6) {
        let speaks = if ipv6 { "IPv6" } else { "IPv4" };
        issues.push(
            Diagnostic::error(
                span,
                format!("the hosts of this variant speak {speaks}, and {address} is no such address"),
            )
            .help("give all hosts and routers of a variant addresses of one IP version"),
        );
    }
    if !ipv6 {
        return;
    }
    for element in path {
        if let ElementKind::Mtu { mtu, .. } = element.kind
            && mtu < LEAST_IPV6_MTU
        {
            issues.push(
                Diagnostic::error(element.span, format!("no IPv6 link has an MTU of {mtu} bytes"))
                    .help("write at least \"1280 B\" (RFC 8200, section 5)"),
            );
        }
    }
    for job in &variant.jobs {
        if matches!(job.workload, Workload::Frames(_)) {
            issues.push(
                Diagnostic::error(job.span, "generated frames carry IPv4 only")
                    .help("give the hosts of this variant IPv4 addresses, or none"),
            );
        }
    }
}

/// The least MTU that IPv6 works with (RFC 8200, section 5).
const LEAST_IPV6_MTU: u32 = 1_280;

const CAPTURES: &[(&str, Captures)] = &[
    ("none", Captures::None),
    ("hosts", Captures::Hosts),
    ("all", Captures::All),
];
