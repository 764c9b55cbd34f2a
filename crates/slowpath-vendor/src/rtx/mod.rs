//! Yamaha RTX: queues, classes, tunnels, rewriting, and what else changes throughput.
//!
//! Keywords are case-insensitive, lines have at most 4095 characters, and indentation means nothing:
//! `tunnel select`, `pp select` and `ipsec tunnel` switch a context that stays until the next select.
//! A line with an error is ignored by the device, not fatal.
//!
//! Source: the vendor's command reference for Rev.14.00.34 to 23.02.02 (chapters 8, 11, 14, 15, 26, 30).
//! The reference is for models newer than the RTX2000; differences are in [`Model`].

mod config;
mod filter;
mod line;
mod model;
mod other;
mod queue;
mod settle;
mod tunnel;

pub(crate) use config::DEFAULT_CLASS;
pub use config::{
    Class, ClassFilter, ClassTarget, Config, FilterAction, IpFilter, Kind, Link, Mark, MssLimit, Peer, Port,
    Ports, Protocols, Rewrite, SaPolicy, Scheduler, Share, Tunnel,
};
pub use model::Model;

use line::{Command, Context};

use crate::notes::{Notes, Outcome};
use crate::text::words;

/// Reads a configuration; `model` is the caller's word and goes before what the text says.
pub(crate) fn read(text: &str, model: Option<Model>, notes: &mut Notes) -> Config {
    let model = model.or_else(|| Model::from_header(text)).unwrap_or_default();
    let mut config = Config {
        model,
        ..Config::default()
    };
    let mut context = Context::default();
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let number = index + 1;
        if line.len() > LONGEST_LINE {
            notes.line(
                number,
                line,
                &context.name(),
                Outcome::refused(format!("a line has at most {LONGEST_LINE} characters")),
            );
            continue;
        }
        let written = words(line);
        let lower = written.iter().map(|word| word.to_lowercase()).collect();
        let command = Command { written, lower };
        let outcome = command_outcome(&command, &mut config, &mut context);
        notes.line(number, line, &context.name(), outcome);
    }
    settle::settle(&config, notes);
    config
}

fn command_outcome(command: &Command, config: &mut Config, context: &mut Context) -> Outcome {
    let keywords = command.keywords();
    match keywords.as_slice() {
        ["tunnel" | "pp" | "ipsec" | "pppoe" | "ppp" | "l2tp" | "pptp", ..] => {
            tunnel::read(&keywords, command, config, context)
        }
        ["queue" | "speed", ..] => queue::read(&keywords, config, context),
        ["ip" | "ipv6", ..] => filter::read(&keywords, command, config, context),
        _ => other::read(&keywords, config),
    }
}

/// The reference's limit for one line.
const LONGEST_LINE: usize = 4_095;
