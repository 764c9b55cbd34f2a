//! The `[hosts.NAME]` tables of an experiment file.

use std::net::IpAddr;

use slowpath_endpoint::tcp::CongestionControl;
use slowpath_packet::Dscp;
use slowpath_units::ByteCount;

use crate::diagnostic::Diagnostic;
use crate::fields::Fields;
use crate::host::settings::{EcnMode, HostSettings, SettingOrigin, Storage};
use crate::host::system::{StackChoice, System};
use crate::span::{Located, Sources, Span};

/// What a document says about one host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostDocument {
    /// The host's name.
    pub name: String,
    /// Where the host's table begins.
    pub span: Span,
    /// What kind of host it is.
    pub system: System,
    /// The stack that the document asks for; the system's own otherwise.
    pub stack: Option<StackChoice>,
    /// The address, if the document gives one.
    pub address: Option<IpAddr>,
    /// A device configuration that sets more.
    pub config: Option<ConfigFile>,
    /// What the document itself sets.
    pub settings: HostSettings,
}

/// A device configuration that a document names; the caller reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// The file's name as written, relative to the experiment file.
    pub name: String,
    /// Where it was written.
    pub span: Span,
    /// The system whose language it is in.
    pub system: System,
}

/// Reads the `hosts` table.
pub(crate) fn read_hosts(fields: &Fields<'_>, sources: &Sources) -> Vec<HostDocument> {
    let Some(entry) = fields.entry("hosts") else {
        return Vec::new();
    };
    let crate::tree::Value::Table(hosts) = &entry.node.value else {
        Fields::of(&entry.node, "hosts", fields.issues());
        return Vec::new();
    };
    hosts
        .entries()
        .filter_map(|host| {
            let path = format!("hosts.{}", host.key);
            if !valid_name(&host.key) {
                fields.issues().push(
                    Diagnostic::error(host.key_span, format!("\"{}\" cannot name a host", host.key))
                        .help("use letters, digits and hyphens, at most 15 of them"),
                );
            }
            let fields = Fields::of(&host.node, path, fields.issues())?;
            Some(read_host(&host.key, host.key_span, fields, sources))
        })
        .collect()
}

/// Whether `name` can name a host: it becomes a part of interface and file names.
fn valid_name(name: &str) -> bool {
    (1..=15).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn read_host(name: &str, span: Span, fields: Fields<'_>, sources: &Sources) -> HostDocument {
    let system = fields
        .choice("system", System::ALL)
        .map_or(System::Linux, |s| s.value);
    let config = fields.text("config").map(|text| ConfigFile {
        name: text.value.to_owned(),
        span: text.span,
        system,
    });
    let mut settings = HostSettings::default();
    read_settings(&fields, &mut settings, sources);
    let document = HostDocument {
        name: name.to_owned(),
        span,
        system,
        stack: fields
            .choice(
                "stack",
                &[("kernel", StackChoice::Kernel), ("model", StackChoice::Model)],
            )
            .map(|choice| choice.value),
        address: fields.parsed::<IpAddr>("address").map(|address| address.value),
        config,
        settings,
    };
    contradictions(&fields, &document);
    fields.finish();
    document
}

fn read_settings(fields: &Fields<'_>, settings: &mut HostSettings, sources: &Sources) {
    let mut origins = Vec::new();
    macro_rules! set {
        ($key:ident, $found:expr) => {
            if let Some(found) = $found {
                origins.push(origin(stringify!($key), found.span, sources));
                settings.$key = Some(found.value);
            }
        };
    }
    set!(congestion_control, congestion_control(fields));
    set!(window, fields.positive::<ByteCount>("window"));
    set!(send_buffer, fields.positive::<ByteCount>("send_buffer"));
    set!(window_scaling, fields.flag("window_scaling"));
    set!(sack, fields.flag("sack"));
    set!(timestamps, fields.flag("timestamps"));
    set!(ecn, fields.choice("ecn", ECN));
    set!(mss, fields.integer("mss", 88, 65_495).map(narrow::<u16>));
    set!(
        initial_window,
        fields.integer("initial_window", 1, 1_000).map(narrow::<u32>)
    );
    set!(
        slow_start_threshold,
        fields
            .integer("slow_start_threshold", 2, 1_000_000)
            .map(narrow::<u32>)
    );
    set!(rmem, three_sizes(fields, "rmem"));
    set!(wmem, three_sizes(fields, "wmem"));
    set!(
        rmem_max,
        fields
            .positive::<ByteCount>("rmem_max")
            .map(|l| l.map(ByteCount::bytes))
    );
    set!(
        wmem_max,
        fields
            .positive::<ByteCount>("wmem_max")
            .map(|l| l.map(ByteCount::bytes))
    );
    set!(pacing, fields.positive("pacing"));
    set!(dscp, fields.parsed::<Dscp>("dscp"));
    set!(storage, storage(fields));
    set!(qdisc, fields.text("qdisc").map(|text| text.map(str::to_owned)));
    settings.origins = origins;
}

fn narrow<T: TryFrom<u64> + Default>(found: Located<u64>) -> Located<T> {
    found.map(|value| T::try_from(value).unwrap_or_default())
}

fn origin(setting: &str, span: Span, sources: &Sources) -> SettingOrigin {
    let source = sources.source(span.source);
    SettingOrigin {
        setting: setting.to_owned(),
        line: source.line_at(span.start).trim().to_owned(),
        place: format!("{}:{}", source.name, source.position(span.start).line),
    }
}

fn congestion_control(fields: &Fields<'_>) -> Option<Located<String>> {
    let text = fields.text("congestion_control")?;
    let known = || {
        CONGESTION_CONTROLS
            .into_iter()
            .chain(modelled().filter(|name| !may_be_a_kernels(name)))
    };
    if known().any(|name| name == text.value) {
        return Some(text.map(str::to_owned));
    }
    fields.wrong_word("congestion_control", text, known());
    None
}

/// Three amounts as `net.ipv4.tcp_rmem` has them: a list of quantities.
fn three_sizes(fields: &Fields<'_>, key: &'static str) -> Option<Located<[u64; 3]>> {
    let list = fields.list(key)?;
    let sizes: Vec<u64> = list
        .value
        .iter()
        .filter_map(|(path, node)| crate::fields::parse_quantity::<ByteCount>(path, node, fields.issues()))
        .map(|found| found.value.bytes())
        .collect();
    let ordered = sizes.is_sorted();
    match <[u64; 3]>::try_from(sizes) {
        Ok(sizes) if ordered => Some(Located {
            value: sizes,
            span: list.span,
        }),
        Ok(_) => {
            fields.issues().push(
                Diagnostic::error(
                    list.span,
                    format!("`{}` is not in rising order", fields.path_of(key)),
                )
                .help("write minimum, default and maximum"),
            );
            None
        }
        Err(sizes) => {
            if sizes.len() == list.value.len() {
                fields.issues().push(
                    Diagnostic::error(
                        list.span,
                        format!(
                            "`{}` has {} values instead of 3",
                            fields.path_of(key),
                            sizes.len()
                        ),
                    )
                    .help("write minimum, default and maximum, as [\"4 KiB\", \"128 KiB\", \"6 MiB\"]"),
                );
            }
            None
        }
    }
}

fn storage(fields: &Fields<'_>) -> Option<Located<Storage>> {
    let inner = fields.table("storage")?;
    let rate = inner.positive("rate");
    if rate.is_none() && !inner.has("rate") {
        inner.missing("rate", "write for example rate = \"695584 bit/s\"");
    }
    let unit = inner
        .positive("unit")
        .map_or(ByteCount::new(4_096), |unit| unit.value);
    let pause = inner.quantity("pause");
    let chunk = inner
        .positive("chunk")
        .map_or(ByteCount::new(4_096), |chunk| chunk.value);
    let found = rate.map(|rate| Located {
        value: Storage {
            rate: rate.value,
            unit,
            chunk,
            pause: pause.map_or_else(Default::default, |p| p.value),
        },
        span: inner.span(),
    });
    if let (Some(storage), Some(pause)) = (found, pause) {
        let (whole, _) = storage.value.rate.time_for(unit.bytes(), 0);
        if pause.value >= whole {
            fields.issues().push(
                Diagnostic::error(
                    pause.span,
                    format!(
                        "a pause of {} leaves no time: each unit takes {whole} in all",
                        pause.value
                    ),
                )
                .help("lower `pause`, or raise `unit`"),
            );
        }
    }
    inner.finish();
    found
}

/// Settings that cancel each other, or that this stack cannot have.
fn contradictions(fields: &Fields<'_>, host: &HostDocument) {
    let settings = &host.settings;
    if let (Some(window), Some(false)) = (settings.window, settings.window_scaling)
        && window.bytes() > 65_535
    {
        let span = fields.text("window").map_or(host.span, |text| text.span);
        fields.issues().push(
            Diagnostic::error(
                span,
                format!(
                    "a window of {} bytes cannot be advertised with window_scaling = false",
                    window.bytes()
                ),
            )
            .help("remove `window_scaling = false`, or write a window of at most \"65535 B\""),
        );
    }
    if let (Some(_), Some(_)) = (settings.window, settings.rmem) {
        let span = fields.list("rmem").map_or(host.span, |list| list.span);
        fields.issues().push(
            Diagnostic::error(span, "`rmem` has no effect: `window` fixes the receive buffer")
                .help("keep one of the two"),
        );
    }
    if let (Some(_), Some(_)) = (settings.send_buffer, settings.wmem) {
        let span = fields.list("wmem").map_or(host.span, |list| list.span);
        fields.issues().push(
            Diagnostic::error(span, "`wmem` has no effect: `send_buffer` fixes the send buffer")
                .help("keep one of the two"),
        );
    }
    if host.stack == Some(StackChoice::Model)
        && let Some(name) = &settings.congestion_control
        && !has_model(name)
    {
        fields.issues().push(
            Diagnostic::error(
                host.span,
                format!("the model endpoint has no congestion control \"{name}\""),
            )
            .help(format!(
                "with stack = \"model\", choose one of {}",
                crate::fields::words(modelled())
            )),
        );
    }
    if host.stack == Some(StackChoice::Model) && settings.qdisc.is_some() {
        fields.issues().push(Diagnostic::error(
            fields.text("qdisc").map_or(host.span, |text| text.span),
            "`qdisc` has no effect on a model endpoint",
        ));
    }
}

const ECN: &[(&str, EcnMode)] = &[
    ("off", EcnMode::Off),
    ("on", EcnMode::On),
    ("passive", EcnMode::Passive),
];

/// The names that kernels use; whether this machine has one of them is seen in the lab.
const CONGESTION_CONTROLS: [&str; 11] = [
    "cubic", "reno", "bbr", "bic", "dctcp", "htcp", "hybla", "illinois", "vegas", "westwood", "yeah",
];

/// Whether a kernel may have it: the others are known to the model endpoint alone.
pub(crate) fn may_be_a_kernels(congestion_control: &str) -> bool {
    CONGESTION_CONTROLS.contains(&congestion_control)
}

/// Whether the model endpoint has the congestion control of this name.
pub fn has_model(congestion_control: &str) -> bool {
    modelled().any(|known| known == congestion_control)
}

/// Those that the model endpoint has, some of them by the names of RFCs.
pub(crate) fn modelled() -> impl Iterator<Item = &'static str> + Clone {
    CongestionControl::NAMES.iter().map(|(name, _)| *name)
}
