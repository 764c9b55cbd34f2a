//! Documents that make the reader ask for every key that it knows.

use crate::asked::Asked;
use crate::diagnostic::Issues;
use crate::experiment::ask_all;
use crate::schema::key::Key;
use crate::span::{Sources, Span};
use crate::tree::Table;

/// What the reader asks for when it reads this text, as a tree; what is wrong with the text does not matter.
pub(super) fn asked(text: &str) -> Key {
    let issues = Issues::with_questions();
    let mut sources = Sources::default();
    let source = sources.add("sample", text);
    let table = Table::parse(text, source, &issues);
    ask_all(&table, Span::new(source, &(0..0)), &sources, &issues);
    let mut root = Key::default();
    for Asked { path, form } in issues.into_asked() {
        root.ask(&path, form);
    }
    root
}

/// An element of a path that shows every form of the key that says what it does, and no other key.
pub(super) fn elements(kind: &str) -> Vec<String> {
    let shown: &[&str] = match kind {
        "rate" => &[
            "\"1 Mbit/s\"",
            "{ trace = \"x\" }",
            "{ steps = [{}, { from = \"0 s\" }] }",
            "{ markov = [{}, { rate = \"1 Mbit/s\" }] }",
        ],
        "delay" => &["\"1 ms\"", "{ steps = [{}, { from = \"0 s\" }] }"],
        "loss" => &[
            "\"1 %\"",
            "{ every = 1 }",
            "{ packets = [1] }",
            "{ to_bad = \"1 %\", to_good = \"1 %\" }",
        ],
        "treat" => &[
            "[{}]",
            "[{ codes = [\"cs1\"], drop = \"1 %\" }]",
            "[{ codes = [\"cs1\"], police = \"1 Mbit/s\", burst = \"2 KiB\" }]",
        ],
        "duplicate" | "reorder" => &["\"1 %\""],
        "police" | "shape" => &["\"1 Mbit/s\""],
        "mark" => &["\"cs1\""],
        "mtu" => &["\"1500 B\""],
        "router" => &["\"192.0.2.1\""],
        "per_packet" => &["\"1 us\""],
        "clamp_mss" => &["1400"],
        "remove_window_scale" | "tunnel_end" => &["true"],
        _ => &["\"x\""],
    };
    let mut all: Vec<String> = shown
        .iter()
        .map(|value| format!("{{ {kind} = {value}, only = {{}} }}"))
        .collect();
    if kind == "delay" {
        for jitter in ["\"1 ms\"", "{ normal = \"1 ms\" }", "{ quantiles = [\"1 ms\"] }"] {
            all.push(format!("{{ delay = \"1 ms\", jitter = {jitter} }}"));
        }
    }
    all
}

/// A job of a kind that writes what only a wrong word or a list's item brings to light.
pub(super) fn job(kind: &str) -> String {
    let more = match kind {
        "command" => "near = [\"x\"]\nfar = [\"x\"]",
        "frames" => "frame_sizes = [\"64 B\"]\nloads = [\"1 %\"]\nallowed_loss = [\"0 %\"]",
        "scp" | "scp-legacy" | "sftp" | "ssh-pipe" | "ssh-tunnel-iperf3" | "ssh-tunnel-copy"
        | "ssh-tunnel-scp" => "client_options = [\"x\"]\nserver_options = [\"x\"]",
        "ftp-get" | "ftp-put" | "iperf3" => "client_program = \"?\"\nserver_program = \"?\"",
        "s3-put" | "s3-get" => "server_program = \"?\"",
        _ => "",
    };
    format!("kind = \"{kind}\"\n{more}\n")
}

/// Everything outside the elements and the jobs.
pub(super) const REST: &str = "
[network]
[workload]
[hosts.host]
congestion_control = \"?\"
rmem = [\"1 B\"]
wmem = [\"1 B\"]
storage = {}
[[figures]]
";
