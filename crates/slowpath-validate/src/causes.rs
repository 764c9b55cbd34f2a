//! The labelled transfers: every cause that a capture can tell, with every congestion control it can meet.
//!
//! * [`Case`]: one transfer. [`List`]: which transfers. The tuned list is written by hand; [`drawn`] lists come from a rule and a number, so that
//!   there is always one that the analysis has never met.

mod case;
pub mod drawn;
mod tuned;

pub use case::Case;

/// Which list of transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    /// Chosen by hand; the rules of the analysis were improved on its recordings.
    Tuned,
    /// Numbers drawn by one rule from the list's own number ([`drawn`]).
    Drawn(u32),
}

impl List {
    /// Its cases, kind by kind.
    pub fn cases(self) -> Vec<Case> {
        match self {
            Self::Tuned => tuned::all(),
            Self::Drawn(number) => drawn::all(number),
        }
    }

    /// Its name in folders and arguments.
    pub fn name(self) -> String {
        match self {
            Self::Tuned => "tuned".to_owned(),
            Self::Drawn(number) => format!("drawn-{number}"),
        }
    }

    /// Seed of the dice of its paths.
    pub const fn seed(self) -> u64 {
        match self {
            Self::Tuned => 1,
            Self::Drawn(number) => drawn::seed(number),
        }
    }

    /// The list of that name.
    pub fn named(name: &str) -> Option<Self> {
        match name.strip_prefix("drawn-") {
            Some(number) => number.parse().ok().map(Self::Drawn),
            None => (name == "tuned").then_some(Self::Tuned),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use slowpath_verdict::Limit;

    use super::*;
    use crate::cells::Congestion;
    use crate::taps::PLACES;

    const LISTS: [List; 4] = [List::Tuned, List::Drawn(1), List::Drawn(2), List::Drawn(3)];

    #[test]
    fn each_list_covers_the_vocabulary() {
        for list in LISTS {
            covers_the_vocabulary(list);
        }
    }

    fn covers_the_vocabulary(list: List) {
        let cases = list.cases();
        assert!(cases.len() * PLACES.len() >= 300, "{list:?}: {}", cases.len());
        let names: BTreeSet<String> = cases.iter().map(Case::name).collect();
        assert_eq!(names.len(), cases.len());
        let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
        for case in &cases {
            *causes.entry(case.cause.name()).or_default() += 1;
        }
        for limit in Limit::ALL.into_iter().filter(|limit| limit.is_in_captures()) {
            assert!(
                causes.get(limit.name()).is_some_and(|count| *count >= 6),
                "{list:?}: {limit}: {causes:?}"
            );
        }
        for congestion in Congestion::ALL {
            let own = cases.iter().filter(|case| case.congestion == congestion).count();
            assert!(own * 5 >= cases.len(), "{list:?}: {congestion:?}: {own}");
        }
    }

    #[test]
    fn every_case_can_be_planned() {
        for case in LISTS.into_iter().flat_map(List::cases) {
            let plan = case
                .plan(1)
                .unwrap_or_else(|error| panic!("{}: {error}", case.name()));
            let taps = plan
                .network
                .elements
                .iter()
                .filter(|element| element.name.ends_with(crate::taps::MIDDLE));
            assert_eq!(taps.count(), 2, "{}", case.name());
        }
    }

    /// What a list holds must never change once it was run.
    #[test]
    fn drawn_lists_stay_as_they_are() {
        let describe = |list: List| -> Vec<String> { list.cases().iter().map(Case::describe).collect() };
        let first = describe(List::Drawn(1));
        assert_eq!(first, describe(List::Drawn(1)));
        let digest = |list: u32| {
            let whole: String = List::Drawn(list).cases().iter().map(Case::document).collect();
            whole.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        };
        assert_eq!(
            [1, 2, 3, 4].map(digest),
            [
                13_295_012_584_925_326_704,
                9_399_526_237_278_943_076,
                3_977_912_007_870_763_248,
                1_018_627_010_902_625_477
            ]
        );
        // No path of one list is on another.
        let other: BTreeSet<String> = describe(List::Drawn(2))
            .into_iter()
            .chain(describe(List::Tuned))
            .collect();
        assert!(first.iter().all(|path| !other.contains(path)));
    }

    #[test]
    fn lists_have_names() {
        for list in LISTS {
            assert_eq!(List::named(&list.name()), Some(list));
        }
        assert_eq!(List::named("drawn"), None);
    }
}
