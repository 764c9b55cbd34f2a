//! Remarks of a simulated run.

use slowpath_endpoint::tcp::SendBuffer;
use slowpath_scenario::workload::Iperf3Protocol;
use slowpath_scenario::{Plan, Stack, Workload};
use slowpath_sim::SimReport;
use slowpath_units::{Duration, Time};

/// What the reader should know beside the figures.
pub(super) fn notes(plan: &Plan, report: &SimReport) -> Vec<String> {
    left_out(plan).chain(sender_side(plan, report)).collect()
}

/// Jobs beside the measured one that no model can do.
fn left_out(plan: &Plan) -> impl Iterator<Item = String> {
    plan.jobs.iter().skip(1).filter_map(|job| match &job.workload {
        Workload::Command(command) => {
            let program = command.near.first().map_or("a program", String::as_str);
            Some(format!(
                "{}: {program} runs in the lab only and was left out",
                job.name
            ))
        }
        _ => None,
    })
}

/// What an iperf3 sender would have printed where its send buffer makes that differ from what arrived.
///
/// It counts the bytes that its socket took: what is acknowledged and a full send buffer.
fn sender_side(plan: &Plan, report: &SimReport) -> Option<String> {
    let Workload::Iperf3(test) = &plan.main_job().workload else {
        return None;
    };
    if test.protocol != Iperf3Protocol::Tcp || test.rate.is_some() || test.streams != 1 {
        return None;
    }
    let (duration, sender) = (test.duration?, plan.host(plan.sender())?);
    let Stack::Model(model) = &sender.stack else {
        return None;
    };
    let SendBuffer::Fixed { bytes: buffer } = model.tcp.send_buffer else {
        return None;
    };
    let own = |name: &str| name.starts_with(&sender.name) && name.ends_with("/acknowledged");
    let acknowledged = report.series.iter().find(|series| own(&series.name))?;
    let start = Time::ZERO + plan.main_job().start;
    let taken = |after: Duration| {
        let until = acknowledged
            .points
            .iter()
            .take_while(|(at, _)| *at <= start + after)
            .last();
        until.map_or(0.0, |point| point.1) + f64::from(buffer)
    };
    let mbit_per_s = |span: Duration| taken(span) * 8e-6 / span.seconds();
    (f64::from(buffer) > taken(duration) / 100.0).then(|| {
        format!(
            "iperf3's sender would print {:.1} Mbit/s over {duration} and {:.0} Mbit/s in the first second: it counts \
             what its socket took, and {:.1} MB of that had not arrived at the end",
            mbit_per_s(duration),
            mbit_per_s(FIRST),
            f64::from(buffer) / 1e6
        )
    })
}

/// The first interval of iperf3's output.
const FIRST: Duration = Duration::from_secs(1);
