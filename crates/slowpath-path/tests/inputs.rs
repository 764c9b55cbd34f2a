//! Bad input is refused with its place and never panics: traces in mahimahi's format, specifications as text.

mod harness;
mod samples;

use proptest::prelude::*;
use slowpath_path::{NetworkSpec, Trace, TraceError};

const TRACE: &str = "1\n1\n3\n10\n10\n25\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_trace_is_read_or_refused_with_its_line(
        at in 0_usize..TRACE.len(),
        with in "[0-9 a-z.\\-\\n\u{e9}]{0,3}",
        cut in 0_usize..4,
    ) {
        let end = (at + cut).min(TRACE.len());
        let text = format!("{}{with}{}", &TRACE[..at], &TRACE[end..]);
        match Trace::parse(&text) {
            Ok(trace) => {
                prop_assert!(trace.millis.is_sorted() && trace.millis.last().is_some_and(|last| *last > 0));
            }
            Err(TraceError::NotANumber { line, .. } | TraceError::Falling { line, .. }) => {
                prop_assert!((1..=text.lines().count()).contains(&line));
            }
            Err(TraceError::NoPeriod) => {}
        }
    }

    #[test]
    fn a_mutated_specification_is_refused_or_builds(sample in 0_usize..10, at in 0_usize..100_000, digit in 0_u8..10) {
        let samples = samples::samples();
        let (name, spec) = &samples[sample % samples.len()];
        let mut text = serde_json::to_string(spec).unwrap().into_bytes();
        let digits: Vec<usize> = (0..text.len()).filter(|at| text[*at].is_ascii_digit()).collect();
        text[digits[at % digits.len()]] = b'0' + digit;
        if let Ok(spec) = serde_json::from_slice::<NetworkSpec>(&text)
            && spec.check().is_ok()
        {
            let mut harness = harness::Harness::new(&spec, 1);
            for number in 0..50 {
                harness.send("near", harness::us(number * 100), number, 1000);
            }
            harness.advance(harness::ms(1000));
            harness.assert_balanced();
            prop_assert!(harness.outcomes.len() < 100_000, "{name}");
        }
    }
}

#[test]
fn unknown_keys_are_errors() {
    let text = r#"{"ports": [], "elements": [{"name": "a", "does": {"kind": "tap", "records": true}, "outputs": []}]}"#;
    let error = serde_json::from_str::<NetworkSpec>(text).unwrap_err().to_string();
    assert!(error.contains("records"), "{error}");
    let text = r#"{"ports": [], "elements": [], "links": []}"#;
    assert!(serde_json::from_str::<NetworkSpec>(text).is_err());
}
