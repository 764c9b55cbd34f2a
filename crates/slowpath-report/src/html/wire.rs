//! Marks that packets carried, and how busy programs were, as the report shows them.

use serde::Serialize;
use slowpath_diagnose::stats::median;
use slowpath_record::MarkPlace;

use crate::quantity::grouped;
use crate::results::Variant;

/// The marks seen at one place.
#[derive(Debug, Serialize)]
pub(super) struct MarkView {
    place: String,
    /// `lost` for places that dropped packets.
    tone: &'static str,
    /// Name of the mark, and how many packets had it.
    marks: Vec<(String, String)>,
}

/// A program's share of a processor.
#[derive(Debug, Serialize)]
pub(super) struct LoadView {
    program: String,
    share: String,
    /// In per cent of a processor, for the bar.
    width: f64,
    tone: &'static str,
}

/// Marks by place, of the first run that counted any.
pub(super) fn marks(variant: &Variant) -> Vec<MarkView> {
    let Some(run) = variant.runs.iter().find(|run| !run.marks.is_empty()) else {
        return Vec::new();
    };
    let mut places: Vec<(&MarkPlace, Vec<(String, u64)>)> = Vec::new();
    for count in &run.marks {
        let index = places.iter().position(|(at, _)| **at == count.at);
        let index = index.unwrap_or_else(|| {
            places.push((&count.at, Vec::new()));
            places.len() - 1
        });
        let mark = match count.dscp.value() {
            0 => "no mark".to_owned(),
            value => format!("{} ({value})", count.dscp),
        };
        let marks = &mut places[index].1;
        match marks.iter_mut().find(|(name, _)| *name == mark) {
            Some((_, packets)) => *packets += count.traffic.packets,
            None => marks.push((mark, count.traffic.packets)),
        }
    }
    places
        .into_iter()
        .map(|(at, mut marks)| {
            marks.sort_by_key(|(_, packets)| std::cmp::Reverse(*packets));
            let (place, tone) = match at {
                MarkPlace::Sent(host) => (format!("sent by {host}"), ""),
                MarkPlace::Passed(element) => (format!("passing {element}"), ""),
                MarkPlace::Received(host) => (format!("received by {host}"), ""),
                MarkPlace::Dropped(element) => (format!("dropped by {element}"), "lost"),
            };
            let marks = marks.into_iter().map(|(name, packets)| {
                let unit = if packets == 1 { "packet" } else { "packets" };
                (name, format!("{} {unit}", grouped(packets as f64, 0)))
            });
            MarkView {
                place,
                tone,
                marks: marks.collect(),
            }
        })
        .collect()
}

/// Each program's load, in the middle of the runs, the busiest first; idle ones are left out.
pub(super) fn loads(variant: &Variant) -> Vec<LoadView> {
    let mut names: Vec<&str> = Vec::new();
    for load in variant.runs.iter().flat_map(|run| &run.loads) {
        if !names.contains(&load.program.as_str()) {
            names.push(&load.program);
        }
    }
    let mut rows: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| {
            // Processes of one name in one run, as sshd's children, work side by side.
            let shares: Vec<f64> = (variant.runs.iter())
                .map(|run| {
                    let own = run.loads.iter().filter(|load| load.program == name);
                    own.map(|load| load.share).sum()
                })
                .collect();
            (median(&shares), name)
        })
        .filter(|(share, _)| *share >= LEAST_SHOWN)
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter()
        .map(|(share, name)| LoadView {
            program: name.to_owned(),
            share: format!("{:.0} %", share * 100.0),
            width: (share * 100.0).min(100.0),
            tone: if share > BUSY { "bad" } else { "good" },
        })
        .collect()
}

/// Below this share of a processor a program is idle.
const LEAST_SHOWN: f64 = 0.005;
/// Above it the program may be what limits the transfer.
const BUSY: f64 = 0.9;
