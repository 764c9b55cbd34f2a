//! No circles of files: what a file imports may not lead back to it.
//!
//! A file stands on another if it imports or names something that is defined there. A re-export is followed to
//! where the thing is defined, and does not itself make the re-exporting file stand on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::tree::Tree;

/// Circles among a crate's files, as sentences.
pub(crate) fn faults(tree: &Tree, base: &Path) -> Vec<String> {
    let mut faults = tree.faults.clone();
    for circle in circles(&edges(tree)) {
        let shown: Vec<String> = circle
            .iter()
            .map(|file| file.strip_prefix(base).unwrap_or(file).display().to_string())
            .collect();
        faults.push(format!(
            "files in a circle: {}; move what both need into a file that stands on neither",
            shown.join(" -> ")
        ));
    }
    faults
}

/// Each file with those it stands on.
fn edges(tree: &Tree) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let mut edges: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    for (place, module) in &tree.modules {
        let from = edges.entry(module.file.clone()).or_default();
        let imported = module
            .imports
            .iter()
            .filter(|import| !import.exported || module.names.contains(&import.name))
            .map(|import| &import.path);
        for path in imported.chain(&module.paths) {
            if let Some(on) = tree.defined(place, path)
                && on != module.file
            {
                from.insert(on.to_owned());
            }
        }
    }
    edges
}

/// For each group of files that all lead to each other, a shortest way around through its first file.
fn circles(edges: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Vec<Vec<PathBuf>> {
    let mut seen: BTreeSet<&PathBuf> = BTreeSet::new();
    let mut found = Vec::new();
    for file in edges.keys() {
        if seen.contains(file) {
            continue;
        }
        let Some(around) = way_back(edges, file) else {
            continue;
        };
        let ahead = reach(edges, file);
        seen.extend(
            ahead
                .into_iter()
                .filter(|other| reach(edges, other).contains(file)),
        );
        found.push(around);
    }
    found
}

/// Everything that `from` stands on, directly or through others.
fn reach<'a>(edges: &'a BTreeMap<PathBuf, BTreeSet<PathBuf>>, from: &Path) -> BTreeSet<&'a PathBuf> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&Path> = vec![from];
    while let Some(file) = open.pop() {
        for on in edges.get(file).into_iter().flatten() {
            if all.insert(on) {
                open.push(on);
            }
        }
    }
    all
}

/// A shortest way from a file back to itself.
fn way_back(edges: &BTreeMap<PathBuf, BTreeSet<PathBuf>>, start: &PathBuf) -> Option<Vec<PathBuf>> {
    let mut ways = std::collections::VecDeque::from([vec![start.clone()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for on in edges.get(way.last()?).into_iter().flatten() {
            let mut longer = way.clone();
            longer.push(on.clone());
            if on == start {
                return Some(longer);
            }
            if seen.insert(on) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let crate_ = Fixture::new(files);
        faults(&Tree::read(&crate_.root()), crate_.folder())
    }

    #[test]
    fn a_circle_of_two_files_is_refused() {
        let faults = found(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            (
                "b.rs",
                "pub struct B; impl B { fn a(&self) -> super::a::A { todo!() } }",
            ),
        ]);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(
            faults[0].starts_with("files in a circle: a.rs -> b.rs -> a.rs;"),
            "{faults:?}"
        );
    }

    #[test]
    fn a_circle_through_a_re_export_is_refused() {
        // `c` imports from the root what stands in `a`.
        let faults = found(&[
            ("lib.rs", "mod a; mod b; mod c; pub use a::A;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "pub struct B(crate::c::C);"),
            (
                "c.rs",
                "pub struct C; impl C { fn f() { let _ = vec![crate::A::new()]; } }",
            ),
        ]);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("a.rs -> b.rs -> c.rs -> a.rs"), "{faults:?}");
    }

    #[test]
    fn a_parent_and_its_child_may_not_need_each_other() {
        let faults = found(&[
            ("lib.rs", "mod elements;"),
            (
                "elements/mod.rs",
                "mod loss; pub struct Packet; pub enum Element { Loss(loss::Loss) }",
            ),
            ("elements/loss.rs", "use super::Packet; pub struct Loss(Packet);"),
        ]);
        assert_eq!(faults.len(), 1, "{faults:?}");
    }

    #[test]
    fn one_direction_re_exports_and_tests_pass() {
        let faults = found(&[
            (
                "lib.rs",
                "mod a; mod b; pub use a::A; pub use b::*; use std::collections::BTreeMap;",
            ),
            ("a.rs", "use crate::b::B; pub struct A(B, std::rc::Rc<u8>);"),
            (
                "b.rs",
                "pub struct B; #[cfg(test)] mod tests { use super::*; use crate::A; }",
            ),
        ]);
        assert_eq!(faults, [""; 0]);
    }

    #[test]
    fn a_file_that_is_no_rust_is_a_fault() {
        assert_eq!(found(&[("lib.rs", "mod a;"), ("a.rs", "pub struct {")]).len(), 1);
        assert_eq!(found(&[("lib.rs", "mod missing;")]).len(), 1);
    }
}
