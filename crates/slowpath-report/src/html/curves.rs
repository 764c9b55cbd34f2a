//! Curves of a run as pictures: one for each kind of curve, one line for each flow.

use std::fmt::Write as _;

use serde::Serialize;
use slowpath_record::Curve;

use crate::quantity::{significant, with_unit};
use crate::svg::scale::Linear;

/// A picture of all curves of one kind, with the same figures as a table.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CurvePlot {
    title: String,
    svg: String,
    x: String,
    names: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

/// Groups curves by their kind, the part of the name before the slash.
pub(super) fn plots(curves: &[Curve]) -> Vec<CurvePlot> {
    let mut kinds: Vec<&str> = Vec::new();
    for curve in curves {
        if !kinds.contains(&kind(curve)) {
            kinds.push(kind(curve));
        }
    }
    kinds
        .into_iter()
        .map(|wanted| {
            let own: Vec<&Curve> = curves.iter().filter(|curve| kind(curve) == wanted).collect();
            plot(&own)
        })
        .collect()
}

fn kind(curve: &Curve) -> &str {
    curve.name.split('/').next().unwrap_or_default()
}

fn label(curve: &Curve) -> &str {
    curve
        .name
        .split_once('/')
        .map_or(curve.name.as_str(), |(_, label)| label)
}

fn plot(curves: &[&Curve]) -> CurvePlot {
    let first = curves[0];
    let mut xs: Vec<f64> = curves.iter().flat_map(|c| c.points.iter().map(|p| p.0)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup_by(|a, b| a.total_cmp(b).is_eq());
    let rows = xs
        .iter()
        .map(|x| {
            let cells = curves.iter().map(|curve| {
                let point = curve.points.iter().find(|p| p.0.total_cmp(x).is_eq());
                point.map_or("–".to_owned(), |p| shown(p.1, &curve.y_unit))
            });
            (shown(*x, &first.x_unit), cells.collect())
        })
        .collect();
    CurvePlot {
        title: format!("{} by {}", capitalised(&first.y), first.x),
        svg: picture(curves, &xs),
        x: first.x.clone(),
        names: curves.iter().map(|curve| label(curve).to_owned()).collect(),
        rows,
    }
}

fn shown(value: f64, unit: &str) -> String {
    if unit == "%" {
        format!("{} %", significant((value * 100.0).round() / 100.0))
    } else {
        with_unit(value, unit)
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or(String::new(), |c| c.to_uppercase().chain(chars).collect())
}

/// The picture: axes with round numbers, a line with dots for each curve, names at the lines' ends.
fn picture(curves: &[&Curve], xs: &[f64]) -> String {
    let finite = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let top = finite(&mut curves.iter().flat_map(|c| c.points.iter().map(|p| p.1)));
    let x = Linear::new(0.0, xs.last().copied().unwrap_or(1.0), LEFT, WIDTH - RIGHT);
    let y = Linear::new(
        0.0,
        if top > 0.0 { top * 1.05 } else { 1.0 },
        HEIGHT - BOTTOM,
        TOP,
    );
    let mut svg = format!("<svg class=\"curve\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">");
    for tick in y.ticks(5) {
        let at = y.place(tick);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            escaped(&shown(tick, &curves[0].y_unit))
        );
    }
    for tick in x.ticks(6) {
        let at = x.place(tick);
        let _ = write!(
            svg,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM + 18.0,
            escaped(&shown(tick, &curves[0].x_unit))
        );
    }
    let mut ends = places(curves, y);
    for (index, curve) in curves.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let points: Vec<String> = curve
            .points
            .iter()
            .map(|p| format!("{:.1},{:.1}", x.place(p.0), y.place(p.1)))
            .collect();
        let _ = write!(
            svg,
            "<polyline points=\"{}\" style=\"stroke:var({colour})\"/>",
            points.join(" ")
        );
        for p in &curve.points {
            let _ = write!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\" style=\"fill:var({colour})\"/>",
                x.place(p.0),
                y.place(p.1)
            );
        }
        if let Some(at) = ends[index].take() {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" style=\"fill:var({colour})\">{}</text>",
                WIDTH - RIGHT + 8.0,
                at + 4.0,
                escaped(label(curve))
            );
        }
    }
    svg.push_str("</svg>");
    svg
}

/// Where the name of each curve stands: beside its last point, moved apart where names would touch.
fn places(curves: &[&Curve], y: Linear) -> Vec<Option<f64>> {
    let mut ends: Vec<(usize, f64)> = curves
        .iter()
        .enumerate()
        .filter_map(|(index, curve)| Some((index, y.place(curve.points.last()?.1))))
        .collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut last = f64::NEG_INFINITY;
    for end in &mut ends {
        end.1 = end.1.max(last + LINE);
        last = end.1;
    }
    // What was pushed below the axis takes all names up again.
    let below = (last - (HEIGHT - BOTTOM)).max(0.0);
    let mut places = vec![None; curves.len()];
    for (index, at) in ends {
        places[index] = Some(at - below);
    }
    places
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 96.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 30.0;

/// Height of a line of text.
const LINE: f64 = 15.0;

const COLOURS: [&str; 5] = ["--c-data", "--c-ack", "--c-window", "--c-again", "--c-sack"];

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, points: &[(f64, f64)]) -> Curve {
        Curve {
            name: name.to_owned(),
            x: "offered load of each port".to_owned(),
            x_unit: "%".to_owned(),
            y: "frames lost".to_owned(),
            y_unit: "%".to_owned(),
            points: points.to_vec(),
        }
    }

    #[test]
    fn each_kind_has_a_picture_and_a_table() {
        let curves = [
            curve("loss/tcp", &[(10.0, 0.0), (20.0, 36.4)]),
            curve("loss/<udp>", &[(10.0, 0.0), (20.0, 36.4)]),
            curve("latency/tcp", &[(10.0, 1.0)]),
        ];
        let plots = plots(&curves);
        assert_eq!(plots.len(), 2);
        assert_eq!(plots[0].names, ["tcp", "<udp>"]);
        assert_eq!(
            plots[0].rows[1],
            ("20 %".to_owned(), vec!["36.4 %".to_owned(); 2])
        );
        assert!(plots[0].svg.contains("&lt;udp&gt;") && !plots[0].svg.contains("<udp>"));
        assert!(!plots.iter().any(|plot| plot.svg.contains("NaN")));
    }

    #[test]
    fn names_do_not_cover_each_other() {
        let curves = [
            curve("loss/a", &[(10.0, 0.0)]),
            curve("loss/b", &[(10.0, 0.0)]),
            curve("loss/c", &[(10.0, 0.0)]),
        ];
        let own: Vec<&Curve> = curves.iter().collect();
        let y = Linear::new(0.0, 1.0, HEIGHT - BOTTOM, TOP);
        let mut at: Vec<f64> = places(&own, y).into_iter().flatten().collect();
        at.sort_by(f64::total_cmp);
        assert!(
            at.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 1e-9),
            "{at:?}"
        );
        assert!(at.iter().all(|at| *at <= HEIGHT - BOTTOM));
    }

    #[test]
    fn curves_without_points_are_drawn_without_harm() {
        assert!(!plots(&[curve("loss/a", &[])])[0].svg.contains("NaN"));
    }
}
