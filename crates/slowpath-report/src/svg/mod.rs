//! The five graphs as standalone SVG files: for documents, for printing, for eyes without a browser's script.
//!
//! The text of a file depends on the data alone, so it can be compared as a snapshot. Curves are thinned to the
//! minimum and maximum of each pixel column; nothing that would be visible is lost.

pub(crate) mod scale;

use std::fmt::Write as _;
use std::io::{self, Write};

use slowpath_facts::{Point, SegmentPoint};

use crate::graphs::{GraphSet, span};
use scale::{Linear, Unit};

/// One of the five graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Graph {
    /// Segments, acknowledgements and the window's edge over time, as tcptrace draws them.
    Sequence,
    /// Frames on the wire in each interval.
    Io,
    /// Payload sent and delivered over a moving window.
    Throughput,
    /// Round-trip times.
    RoundTrip,
    /// The advertised window and what is in flight.
    Window,
}

impl Graph {
    /// All five, in the order of the report.
    pub const ALL: [Self; 5] = [
        Self::Sequence,
        Self::Io,
        Self::Throughput,
        Self::RoundTrip,
        Self::Window,
    ];

    /// A name for files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Io => "io",
            Self::Throughput => "throughput",
            Self::RoundTrip => "rtt",
            Self::Window => "window",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Sequence => "Time and sequence",
            Self::Io => "I/O",
            Self::Throughput => "Throughput",
            Self::RoundTrip => "Round-trip time",
            Self::Window => "Window scaling",
        }
    }

    const fn unit(self) -> Unit {
        match self {
            Self::Sequence | Self::Window => Unit::Byte,
            Self::Io | Self::Throughput => Unit::BitRate,
            Self::RoundTrip => Unit::Second,
        }
    }
}

/// What part of a graph to draw, and how large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// First and last time in seconds; everything if absent.
    pub span: Option<[f64; 2]>,
}

impl Default for View {
    fn default() -> Self {
        Self {
            width: 960,
            height: 420,
            span: None,
        }
    }
}

/// Writes one graph as an SVG file.
///
/// # Errors
///
/// Those of `out`.
pub fn write(graph: Graph, set: &GraphSet, view: View, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(picture(graph, set, view).as_bytes())
}

const LEFT: f64 = 76.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 34.0;

const STYLE: &str = "svg{font:12px system-ui,'Hiragino Sans','Yu Gothic UI',Meiryo,'Noto Sans CJK JP','Noto Sans JP',sans-serif;background:#fff}text{fill:#5c616b}.t{fill:#1a1c21;font-weight:600;font-size:14px}\
.g{stroke:#ececE7}.data{stroke:#0a6cb0}.ack{stroke:#b9770a}.window{stroke:#0a8f6a}.again{stroke:#d04a00}.sack{stroke:#b2518e}\
path{fill:none;stroke-width:1.5;stroke-linejoin:round}.wide{stroke-width:3}.fill{fill:#0a6cb0;fill-opacity:.16;stroke:none}";

struct Curve {
    name: &'static str,
    class: &'static str,
    points: Vec<(f64, f64, f64)>,
    shape: Shape,
    /// Whether the vertical range must hold it; a far window edge may leave the picture.
    loose: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Line,
    Step,
    Area,
    Bars,
}

fn picture(graph: Graph, set: &GraphSet, view: View) -> String {
    let [x0, x1] = view.span.unwrap_or_else(|| span(set));
    let curves = curves(graph, set, x0, x1);
    let (y0, y1) = vertical(graph, &curves);
    let x = Linear::new(x0, x1, LEFT, f64::from(view.width) - RIGHT);
    let y = Linear::new(y0, y1, f64::from(view.height) - BOTTOM, TOP);
    let mut s = String::new();
    let _ = write!(
        s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\">\n<title>{t}</title>\n<style>{STYLE}</style>\n<clipPath id=\"c\"><rect x=\"{l}\" y=\"{TOP}\" width=\"{iw:.1}\" height=\"{ih:.1}\"/></clipPath>\n",
        w = view.width,
        h = view.height,
        t = escape(&format!("{}: {}", graph.title(), set.label)),
        l = LEFT,
        iw = f64::from(view.width) - LEFT - RIGHT,
        ih = f64::from(view.height) - TOP - BOTTOM,
    );
    bands(&mut s, set, x, f64::from(view.height) - BOTTOM);
    axes(&mut s, graph, x, y);
    s.push_str("<g clip-path=\"url(#c)\">\n");
    for curve in &curves {
        draw(&mut s, curve, x, y);
    }
    s.push_str("</g>\n");
    legend(&mut s, graph, &curves);
    s.push_str("</svg>\n");
    s
}

fn curves(graph: Graph, set: &GraphSet, x0: f64, x1: f64) -> Vec<Curve> {
    let g = &set.graphs;
    let curve = |name, class, points: &[Point], factor: f64, shape| {
        let points = visible(points, x0, x1)
            .iter()
            .map(|p| (p.at_s, p.value * factor, p.value * factor));
        Curve {
            name,
            class,
            points: points.collect(),
            shape,
            loose: false,
        }
    };
    let segments = |name, class, again: bool| Curve {
        name,
        class,
        points: g
            .segments
            .iter()
            .filter(|s: &&SegmentPoint| s.retransmission == again && s.at_s >= x0 && s.at_s <= x1)
            .map(|s| (s.at_s, s.from as f64, s.to as f64))
            .collect(),
        shape: Shape::Bars,
        loose: false,
    };
    let io = |of: fn(&slowpath_facts::IoPoint) -> u64| -> Vec<Point> {
        let rate = 8.0 / g.io_bin_s.max(1e-9);
        g.io.iter()
            .map(|p| Point {
                at_s: p.at_s,
                value: of(p) as f64 * rate,
            })
            .collect()
    };
    let mut all = match graph {
        Graph::Sequence => {
            let mut edge = curve("window edge", "window", &g.window_edge, 1.0, Shape::Step);
            edge.loose = true;
            vec![
                edge,
                curve("acknowledged", "ack", &g.acks, 1.0, Shape::Step),
                segments("sent", "data", false),
                segments("sent again", "again wide", true),
                Curve {
                    name: "selectively acknowledged",
                    class: "sack",
                    points: g
                        .sacks
                        .iter()
                        .filter(|s| s.at_s >= x0 && s.at_s <= x1)
                        .map(|s| (s.at_s, s.from as f64, s.to as f64))
                        .collect(),
                    shape: Shape::Bars,
                    loose: false,
                },
            ]
        }
        Graph::Io => vec![
            curve("data", "data", &io(|p| p.bytes), 1.0, Shape::Area),
            curve("the other way", "ack", &io(|p| p.bytes_back), 1.0, Shape::Step),
        ],
        Graph::Throughput => vec![
            curve("sent", "data", &g.throughput, 8.0, Shape::Line),
            curve("delivered", "window", &g.goodput, 8.0, Shape::Line),
        ],
        Graph::RoundTrip => {
            let mut rtt = curve("round trip", "data wide", &g.rtt, 1.0, Shape::Bars);
            for p in &mut rtt.points {
                p.2 = p.1;
            }
            vec![rtt]
        }
        Graph::Window => vec![
            curve("advertised window", "window", &g.window, 1.0, Shape::Step),
            curve("in flight", "data", &g.flight, 1.0, Shape::Step),
        ],
    };
    all.retain(|c| !c.points.is_empty());
    all
}

/// The points inside a span, with a neighbour on each side.
fn visible(points: &[Point], x0: f64, x1: f64) -> &[Point] {
    let first = points.partition_point(|p| p.at_s < x0).saturating_sub(1);
    let last = (points.partition_point(|p| p.at_s <= x1) + 1).min(points.len());
    &points[first..last.max(first)]
}

fn vertical(graph: Graph, curves: &[Curve]) -> (f64, f64) {
    let extent = |c: &Curve| {
        c.points
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| {
                (l.min(p.1), h.max(p.2))
            })
    };
    let join = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let mut range = curves.iter().filter(|c| !c.loose).map(extent).fold(none, join);
    for loose in curves.iter().filter(|c| c.loose) {
        let e = extent(loose);
        if range.0 > range.1 || e.1 - range.0 <= 4.0 * (range.1 - range.0) {
            range = join(range, e);
        }
    }
    if range.0 > range.1 {
        return (0.0, 1.0);
    }
    let (low, high) = if graph == Graph::Sequence {
        range
    } else {
        (range.0.min(0.0), range.1)
    };
    let room = if high > low { (high - low) * 0.06 } else { 1.0 };
    (if low == 0.0 { 0.0 } else { low - room }, high + room)
}

fn bands(s: &mut String, set: &GraphSet, x: Linear, bottom: f64) {
    for i in &set.intervals {
        let (from, to) = (x.clamped(i.from_s), x.clamped(i.to_s));
        if to - from < 0.05 {
            continue;
        }
        let ink = crate::verdict::limit_colour(i.limit);
        let _ = writeln!(
            s,
            "<g fill=\"{ink}\"><title>{}</title><rect x=\"{from:.1}\" y=\"{TOP}\" width=\"{w:.1}\" height=\"{h:.1}\" fill-opacity=\".08\"/><rect x=\"{from:.1}\" y=\"{TOP}\" width=\"{w:.1}\" height=\"3\"/></g>",
            i.limit.name(),
            w = to - from,
            h = bottom - TOP,
        );
        // A word needs about seven pixels for each letter.
        if to - from > i.limit.name().len() as f64 * 7.0 + 8.0 {
            let _ = writeln!(
                s,
                "<text x=\"{:.1}\" y=\"{}\" font-size=\"11\">{}</text>",
                from + 4.0,
                TOP + 15.0,
                i.limit.name()
            );
        }
    }
}

fn axes(s: &mut String, graph: Graph, x: Linear, y: Linear) {
    for t in x.ticks(8) {
        let at = x.place(t);
        let _ = writeln!(
            s,
            "<line class=\"g\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{b:.1}\"/><text x=\"{at:.1}\" y=\"{l:.1}\" text-anchor=\"middle\">{} s</text>",
            scale::plain(t),
            b = y.start(),
            l = y.start() + 18.0,
        );
    }
    let ticks = y.ticks(6);
    let top = ticks.iter().copied().fold(0.0, |a: f64, b| a.max(b.abs()));
    for t in &ticks {
        let at = y.place(*t);
        let _ = writeln!(
            s,
            "<line class=\"g\" x1=\"{LEFT}\" x2=\"{r:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text x=\"{l}\" y=\"{m:.1}\" text-anchor=\"end\">{}</text>",
            graph.unit().tick(*t, top),
            r = x.end(),
            l = LEFT - 6.0,
            m = at + 4.0,
        );
    }
}

fn draw(s: &mut String, curve: &Curve, x: Linear, y: Linear) {
    let columns = thin(&curve.points, x);
    let _ = write!(s, "<path class=\"{}\" d=\"", curve.class);
    let mut last: Option<f64> = None;
    for (at, low, high) in &columns {
        let (bottom, top) = (y.place(*low), y.place(*high));
        match (curve.shape, last) {
            (Shape::Bars, _) => {
                let top = if (bottom - top).abs() < 0.8 {
                    bottom - 0.8
                } else {
                    top
                };
                let _ = write!(s, "M{at:.1} {bottom:.1}V{top:.1}");
                continue;
            }
            (_, None) => {
                let _ = write!(s, "M{at:.1} {bottom:.1}");
            }
            (Shape::Line, Some(_)) => {
                let _ = write!(s, "L{at:.1} {bottom:.1}");
            }
            (Shape::Step | Shape::Area, Some(_)) => {
                let _ = write!(s, "H{at:.1}V{bottom:.1}");
            }
        }
        if (bottom - top).abs() >= 0.1 {
            let _ = write!(s, "V{top:.1}");
        }
        last = Some(top);
    }
    if matches!(curve.shape, Shape::Step | Shape::Area) && last.is_some() {
        let _ = write!(s, "H{:.1}", x.end());
    }
    s.push_str("\"/>\n");
    if let (Shape::Area, Some(first)) = (curve.shape, columns.first()) {
        let base = y.place(0.0);
        let _ = write!(s, "<path class=\"fill\" d=\"M{:.1} {base:.1}", first.0);
        for (at, _, high) in &columns {
            let _ = write!(s, "H{at:.1}V{:.1}", y.place(*high));
        }
        let _ = writeln!(s, "H{:.1}V{base:.1}Z\"/>", x.end());
    }
}

/// Minimum and maximum of each pixel column, in pixels across and values up.
fn thin(points: &[(f64, f64, f64)], x: Linear) -> Vec<(f64, f64, f64)> {
    let mut out: Vec<(f64, f64, f64)> = Vec::new();
    for (t, low, high) in points {
        // Tenths of a pixel, so that few points stay where they are.
        let at = (x.place(*t) * 10.0).round() / 10.0;
        match out.last_mut() {
            Some(last) if at - last.0 < 0.7 && out_is_dense(points.len(), x) => {
                last.1 = last.1.min(*low);
                last.2 = last.2.max(*high);
            }
            _ => out.push((at, *low, *high)),
        }
    }
    out
}

fn out_is_dense(points: usize, x: Linear) -> bool {
    points as f64 > 2.0 * (x.end() - x.start())
}

fn legend(s: &mut String, graph: Graph, curves: &[Curve]) {
    let _ = writeln!(
        s,
        "<text class=\"t\" x=\"{LEFT}\" y=\"22\">{}</text>",
        graph.title()
    );
    let mut at = LEFT + 20.0 + graph.title().len() as f64 * 8.0;
    for curve in curves {
        let _ = writeln!(
            s,
            "<path class=\"{}\" d=\"M{at:.1} 18H{:.1}\"/><text x=\"{:.1}\" y=\"22\">{}</text>",
            curve.class,
            at + 16.0,
            at + 21.0,
            curve.name
        );
        at += 40.0 + curve.name.len() as f64 * 6.6;
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
