//! Pictures and tables for other programs.

mod sample;

use slowpath_report::csv::{write_figures, write_graphs, write_runs};
use slowpath_report::svg::{Graph, View, write};

fn text(make: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    make(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn each_graph_is_a_small_picture_of_its_own() {
    for set in sample::graphs::all() {
        for graph in Graph::ALL {
            let svg = text(|out| write(graph, &set, View::default(), out));
            let name = format!("{}-{}-{}.svg", set.variant, set.run, graph.name());
            std::fs::write(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), &svg).unwrap();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(svg.len() < 200_000, "{} has {} bytes", graph.name(), svg.len());
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", graph.name());
        }
    }
}

#[test]
fn a_view_of_a_second_shows_the_window_full_each_round_trip() {
    let set = &sample::graphs::all()[1];
    let view = View {
        width: 640,
        height: 320,
        span: Some([20.0, 20.5]),
    };
    sample::golden(
        "sequence.svg",
        &text(|out| write(Graph::Sequence, set, view, out)),
    );
}

#[test]
fn nothing_to_draw_still_draws_the_axes() {
    let svg = text(|out| {
        write(
            Graph::Window,
            &slowpath_report::GraphSet::default(),
            View::default(),
            out,
        )
    });
    assert!(svg.contains("Window scaling") && !svg.contains("NaN"));
}

#[test]
fn tables_have_as_many_fields_as_names() {
    let mut results = sample::results();
    results.variants[1].figures[0].name = "window, \"steady\"".into();
    let runs = text(|out| write_runs(&results, out));
    assert_eq!(runs.lines().count(), 16);
    for line in runs.lines() {
        assert_eq!(line.matches(',').count(), 12, "{line}");
    }
    let figures = text(|out| write_figures(&results, out));
    assert!(
        figures.contains("iosxe-default,\"window, \"\"steady\"\"\",byte,14924,14924,"),
        "{figures}"
    );
    assert_eq!(figures.lines().count(), 1 + 5 + 2);
    let graphs = text(|out| write_graphs(&sample::graphs::all()[2], out));
    assert!(graphs.lines().all(|l| l.matches(',').count() == 3) && graphs.contains("rtt_s,"));
}
