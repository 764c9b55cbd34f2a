//! Graphs stand beside the facts: whether they are wanted changes nothing else.

#![allow(clippy::disallowed_methods)] // reads files

mod support;

use slowpath_facts::{Analyzer, Graphs};

#[test]
fn facts_are_the_same_with_and_without_graphs() {
    let Some(folder) = support::corpus("facts_are_the_same_with_and_without_graphs") else {
        return;
    };
    let mut drawn = 0;
    for entry in std::fs::read_dir(folder.join("lab")).unwrap().flatten() {
        let Some((records, conversations, summary)) = support::read(&entry.path()) else {
            continue;
        };
        let mut with = support::observe_records(&records, &conversations, &summary);
        let mut analyzer = Analyzer::new();
        analyzer.leave_out_graphs();
        for record in &records {
            analyzer.push(record, &conversations);
        }
        let without = analyzer.finish(&conversations, &summary);
        for connection in &mut with.connections {
            drawn += usize::from(connection.graphs != Graphs::default());
            connection.graphs = Graphs::default();
        }
        // As text, because what is no number is not equal to itself.
        assert!(
            format!("{with:?}") == format!("{without:?}"),
            "{}",
            entry.path().display()
        );
    }
    assert!(drawn > 10, "{drawn}");
}
