//! Variants that measure round trips or hops, beside a transfer that is only there to open the path.

use slowpath_record::{HealthState, RunRecord};
use slowpath_report::quantity::seconds;
use slowpath_scenario::{Plan, Workload};

/// What stands in the place of a rate, and the same in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Echoed {
    /// For a table: `115.4 ms, 117 ms`.
    pub(crate) short: String,
    /// For people.
    pub(crate) sentence: String,
}

/// What a variant's runs say of round trips or hops; `None` where its plan asks for neither.
pub(crate) fn of<'r>(plan: &Plan, records: impl Iterator<Item = &'r RunRecord>) -> Option<Echoed> {
    let valid: Vec<&RunRecord> = records
        .filter(|record| record.health.state != HealthState::Invalid)
        .collect();
    let pings: Vec<&str> = plan
        .jobs
        .iter()
        .filter(|job| matches!(job.workload, Workload::Ping(_)))
        .map(|job| job.name.as_str())
        .collect();
    if !pings.is_empty() {
        return Some(of_pings(&pings, &valid));
    }
    let traced = plan.jobs.iter().any(|job| match &job.workload {
        Workload::Command(command) => command.near.first().is_some_and(|program| program == TRACEROUTE),
        _ => false,
    });
    traced.then(|| of_trace(&valid))
}

fn of_pings(names: &[&str], records: &[&RunRecord]) -> Echoed {
    let mut short = Vec::new();
    let mut said = Vec::new();
    for name in names {
        let series = format!("{name}/round-trip");
        let mut times: Vec<f64> = records
            .iter()
            .flat_map(|record| record.series.iter().filter(|own| own.name == series))
            .flat_map(|series| series.points.iter().map(|point| point.1))
            .collect();
        times.sort_by(f64::total_cmp);
        let sent: u64 = records
            .iter()
            .flat_map(|record| record.flows.iter().filter(|flow| flow.name == *name))
            .map(|flow| flow.sent_packets)
            .sum();
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            short.push("no reply".to_owned());
            said.push(format!("{name}: none of {sent} requests came back"));
            continue;
        };
        let middle = times[times.len() / 2];
        short.push(seconds(middle));
        said.push(format!(
            "{name}: {} of {sent} requests came back, the median after {} ({} to {})",
            times.len(),
            seconds(middle),
            seconds(*first),
            seconds(*last)
        ));
    }
    Echoed {
        short: short.join(", "),
        sentence: said.join("; ") + ".",
    }
}

fn of_trace(records: &[&RunRecord]) -> Echoed {
    let hops = records
        .iter()
        .flat_map(|record| &record.notes)
        .find(|note| note.starts_with(TRACEROUTE) && note.contains(" wrote:"))
        .map(|note| note.lines().filter_map(hop).collect::<Vec<_>>());
    let Some(hops) = hops.filter(|hops| !hops.is_empty()) else {
        return Echoed {
            short: "hops: lab only".to_owned(),
            sentence:
                "The real traceroute names the hops, in the lab (--clock lab); there is no model of it."
                    .to_owned(),
        };
    };
    let last = hops.last().and_then(|(_, time)| *time);
    let after = last.map_or(String::new(), |time| format!(", {}", seconds(time)));
    let answered = hops.iter().filter(|(_, time)| time.is_some()).count();
    Echoed {
        short: format!("{} hops{after}", hops.len()),
        sentence: format!(
            "{answered} of {} hops answered{}.",
            hops.len(),
            last.map_or(String::new(), |time| format!(
                ", the last after {}",
                seconds(time)
            ))
        ),
    }
}

/// Number of a hop and its first round trip in seconds, from a line of traceroute.
fn hop(line: &str) -> Option<(u32, Option<f64>)> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let words: Vec<&str> = words.collect();
    let time = words
        .windows(2)
        .find(|pair| pair[1] == "ms")
        .and_then(|pair| pair[0].parse::<f64>().ok());
    Some((number, time.map(|milliseconds| milliseconds / 1e3)))
}

/// The program whose lines are read.
const TRACEROUTE: &str = "traceroute";

#[cfg(test)]
mod tests {
    use slowpath_record::Origin;
    use slowpath_scenario::Clock;

    use super::*;

    fn plan(variant: &str) -> Plan {
        let loaded = crate::load::Loaded::open("bbr-object-storage", &[]).unwrap();
        let options = slowpath_scenario::PlanOptions::first(variant, 1, Clock::Simulated);
        loaded.experiment.plan(&options, &loaded.fragments).unwrap()
    }

    #[test]
    fn pings_show_round_trips_with_their_unit() {
        let plan = plan("ping");
        let record = crate::simulated::bare("bbr-object-storage", &plan).unwrap();
        let found = of(&plan, std::iter::once(&record)).unwrap();
        let times: Vec<&str> = found.short.split(", ").collect();
        assert!(
            times.len() == 2 && times.iter().all(|time| time.ends_with(" ms")),
            "{found:?}"
        );
        assert!(
            found.sentence.contains("10 of 10 requests came back"),
            "{found:?}"
        );
    }

    #[test]
    fn a_trace_counts_hops() {
        let plan = plan("trace");
        let mut record = RunRecord::new(Origin::Lab, "x");
        assert_eq!(
            of(&plan, std::iter::once(&record)).unwrap().short,
            "hops: lab only"
        );
        record.notes.push(
            "traceroute wrote:\ntraceroute to 198.18.2.2 (198.18.2.2), 30 hops max, 60 byte packets\n 1  192.168.1.1  0.255 ms \
             0.2 ms 0.3 ms\n 2  * * *\n 3  198.18.2.2  115.2 ms  115.3 ms  115.1 ms"
                .to_owned(),
        );
        let found = of(&plan, std::iter::once(&record)).unwrap();
        assert_eq!(found.short, "3 hops, 115.2 ms");
        assert_eq!(found.sentence, "2 of 3 hops answered, the last after 115.2 ms.");
    }

    #[test]
    fn a_transfer_keeps_its_rate() {
        let plan = plan("cubic-near");
        assert_eq!(of(&plan, std::iter::empty()), None);
    }
}
