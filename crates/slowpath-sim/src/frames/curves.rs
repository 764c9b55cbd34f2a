//! A generator's run repeated: loss against offered load, and the highest load without (much) loss by frame size.

use slowpath_record::Curve;
use slowpath_scenario::Plan;
use slowpath_scenario::workload::ThroughputSearch;
use slowpath_units::Ratio;

use super::error::FramesError;
use super::generator::{self, Stream, Tally};

/// Loss and mean latency of each stream, and the loss of all together, with every stream at the same load in turn.
///
/// # Errors
/// [`FramesError`].
pub fn loss_against_load(
    plan: &Plan,
    streams: &[Stream],
    loads: &[Ratio],
) -> Result<Vec<Curve>, FramesError> {
    let mut loads = loads.to_vec();
    loads.sort_unstable();
    loads.dedup();
    let curve = |name: String, y: &str, y_unit: &str| Curve {
        name,
        x: "offered load of each port".to_owned(),
        x_unit: "%".to_owned(),
        y: y.to_owned(),
        y_unit: y_unit.to_owned(),
        points: Vec::new(),
    };
    let named = |kind: &str, y: &str, unit: &str| -> Vec<Curve> {
        let of = |stream: &Stream| curve(format!("{kind}/{}", stream.name), y, unit);
        streams.iter().map(of).collect()
    };
    let mut losses = named("loss", "frames lost", "%");
    let mut all = curve("loss/total".to_owned(), "frames lost", "%");
    let mut rates = named("throughput", "frames received, with FCS", "bit/s");
    let mut latencies = named("latency", "mean latency", "s");
    for load in loads {
        let tally = at_load(plan, streams, load)?;
        let x = percent(load);
        for (index, counted) in tally.counted.iter().enumerate() {
            losses[index].points.push((x, counted.loss() * 100.0));
            let bits = counted.received as f64 * f64::from(streams[index].frame) * 8.0;
            let seconds = streams[index].duration.seconds();
            rates[index]
                .points
                .push((x, bits / seconds.max(f64::MIN_POSITIVE)));
            if let Some(mean) = counted.mean_latency() {
                latencies[index].points.push((x, mean.seconds()));
            }
        }
        all.points.push((x, tally.loss() * 100.0));
    }
    let total = (streams.len() > 1).then_some(all);
    Ok(losses
        .into_iter()
        .chain(total)
        .chain(rates)
        .chain(latencies)
        .collect())
}

/// For each allowed loss and frame size, the highest load at which no more is lost, as frames received per second and
/// as their bits (RFC 2544, section 26.1).
///
/// Loads are tried in steps of [`STEP_PPB`]; each trial lasts as long as the streams do. RFC 2544 asks for 60 s, which
/// a shorter trial in a model without drift need not last; what the network's queues hold is the error this leaves.
///
/// # Errors
/// [`FramesError`].
pub fn throughput_by_size(
    plan: &Plan,
    streams: &[Stream],
    search: &ThroughputSearch,
) -> Result<Vec<Curve>, FramesError> {
    let mut sizes = search.sizes.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let mut curves = Vec::new();
    for allowed in &search.allowed_loss {
        let curve = |kind: &str, y: &str, y_unit: &str| Curve {
            name: format!("{kind}/{allowed} loss"),
            x: "frame size with FCS".to_owned(),
            x_unit: "byte".to_owned(),
            y: y.to_owned(),
            y_unit: y_unit.to_owned(),
            points: Vec::new(),
        };
        let mut bits = curve("throughput", "frames received, with FCS", "bit/s");
        let mut frames = curve("frame-rate", "frames received", "frame/s");
        for size in &sizes {
            let mut sized = streams.to_vec();
            for stream in &mut sized {
                stream.frame = u32::try_from(size.bytes()).unwrap_or(u32::MAX);
            }
            let rate = highest(plan, &sized, *allowed)?;
            let x = size.bytes() as f64;
            bits.points.push((x, rate * x * 8.0));
            frames.points.push((x, rate));
        }
        curves.extend([bits, frames]);
    }
    Ok(curves)
}

/// Frames per second received at the highest load of which no more than `allowed` is lost; 0 if there is none.
fn highest(plan: &Plan, streams: &[Stream], allowed: Ratio) -> Result<f64, FramesError> {
    let (mut passed, mut failed) = (0, Ratio::ONE.ppb() / STEP_PPB + 1);
    let mut rate = 0.0;
    let mut trial = failed - 1;
    while passed + 1 < failed {
        let load = Ratio::from_ppb(trial * STEP_PPB).unwrap_or(Ratio::ONE);
        let tally = at_load(plan, streams, load)?;
        if tally.loss() <= allowed.fraction() {
            passed = trial;
            rate = received_per_second(streams, &tally);
        } else {
            failed = trial;
        }
        trial = passed.midpoint(failed);
    }
    Ok(rate)
}

fn received_per_second(streams: &[Stream], tally: &Tally) -> f64 {
    let parts = streams.iter().zip(&tally.counted);
    parts
        .map(|(stream, counted)| counted.received as f64 / stream.duration.seconds().max(f64::MIN_POSITIVE))
        .sum()
}

fn at_load(plan: &Plan, streams: &[Stream], load: Ratio) -> Result<Tally, FramesError> {
    let mut loaded = streams.to_vec();
    for stream in &mut loaded {
        stream.load = load;
    }
    Ok(generator::send(&plan.network, plan.seed, &loaded)?)
}

fn percent(load: Ratio) -> f64 {
    f64::from(load.ppb()) / 1e7
}

/// How fine loads are searched: half a per cent of the line.
pub const STEP_PPB: u32 = 5_000_000;
