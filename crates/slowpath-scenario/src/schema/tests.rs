use std::collections::BTreeSet;

use super::everything::Everything;
use super::json::below;
use super::key::{ITEM, Key, NAME};
use super::meaning::{MEANINGS, meaning};
use crate::asked::Form;

/// Every place where the documents look for a meaning.
fn places(all: &Everything) -> BTreeSet<String> {
    fn inside(table: &Key, place: &str, found: &mut BTreeSet<String>) {
        for (name, key) in &table.keys {
            let here = below(place, name);
            if name == NAME {
                continue;
            }
            if name != ITEM {
                found.insert(here.clone());
            }
            inside(key, &here, found);
        }
    }
    let mut found = BTreeSet::new();
    let mut top = all.top.clone();
    for elsewhere in ["hosts", "workload", "background"] {
        top.keys.insert(elsewhere.to_owned(), Key::default());
    }
    inside(&top, "", &mut found);
    for (kind, element) in &all.elements {
        found.insert(format!("element.{kind}"));
        inside(element, &format!("element.{kind}"), &mut found);
    }
    inside(all.host().unwrap(), "host", &mut found);
    for (kinds, job) in all.jobs.iter().chain(&all.background) {
        found.insert(format!("job.{}", kinds[0]));
        inside(job, &format!("job.{}", kinds[0]), &mut found);
    }
    found.insert("variants[].name".to_owned());
    found
}

#[test]
fn every_key_that_is_read_has_a_meaning_and_every_meaning_a_key() {
    let places = places(&Everything::asked());
    let silent: Vec<&String> = places.iter().filter(|place| meaning(place).is_empty()).collect();
    assert!(silent.is_empty(), "no meaning for {silent:?}");
    let idle: Vec<&str> = (MEANINGS.iter())
        .map(|(place, _)| *place)
        .filter(|place| {
            let general = |found: &&String| {
                let mut parts = found.splitn(3, '.');
                matches!((parts.next(), parts.next(), parts.next()),
                    (Some(section), Some(_), Some(rest)) if format!("{section}.{rest}") == *place)
            };
            !places.contains(*place) && !places.iter().any(|found| general(&found))
        })
        .collect();
    assert!(idle.is_empty(), "nothing reads {idle:?}");
}

#[test]
fn the_reader_shows_forms_that_depend_on_others() {
    let all = Everything::asked();
    let of = |kind: &str, path: &[&str]| {
        let (_, element) = all.elements.iter().find(|(found, _)| found == kind).unwrap();
        element.at(path).cloned().unwrap()
    };
    assert!(of("rate", &["rate", "steps", ITEM, "from"]).needed);
    assert_eq!(
        of("rate", &["rate"]).telling(),
        [&Form::Quantity("\"50 Mbit/s\"")]
    );
    assert!(of("police", &["burst"]).needed);
    assert!(!of("police", &["peak"]).needed && !of("police", &["peak_burst"]).needed);
    let ways = all.host().unwrap().at(&["congestion_control"]).unwrap().clone();
    assert!(matches!(&ways.telling()[..], [Form::Choice(words)] if words.iter().any(|word| word == "bbr")));
    let (kinds, s3) = all.jobs.iter().find(|(kinds, _)| kinds[0] == "s3-put").unwrap();
    assert_eq!(kinds, &["s3-put", "s3-get"]);
    assert!(s3.at(&["size"]).unwrap().needed);
}
