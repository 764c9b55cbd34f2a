//! Device configurations in every language: no line is lost, every finding has its line, and what a router does can be
//! built as a network or is refused as one.
//!
//! The first byte chooses the language.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_path::NetworkSpec;
use slowpath_scenario::device::DeviceUse;
use slowpath_vendor::reading::Config;
use slowpath_vendor::{Language, device, guess, read, remedy_of};

fuzz_target!(|data: &[u8]| {
    let [choice, text @ ..] = data else { return };
    let (_, language) = Language::ALL[usize::from(*choice) % Language::ALL.len()];
    guess(text);
    let reading = read(language, "input", text);
    assert_eq!(reading.counts().total(), reading.lines.len());
    for finding in &reading.findings {
        assert!(finding.line.is_none_or(|line| reading.line(line).is_some()));
        assert!(!finding.sentence().is_empty());
        if let Some(remedy) = remedy_of(&reading, finding) {
            assert!(!remedy.lines.is_empty());
        }
    }
    let (system, ports): (&str, Vec<String>) = match &reading.config {
        Config::Rtx(config) => ("rtx2000", config.ports.keys().cloned().collect()),
        Config::Ios(config) => ("cisco-ios", config.interfaces.keys().cloned().collect()),
        _ => return,
    };
    for port in ports.into_iter().take(4) {
        let device = DeviceUse {
            file: "input".to_owned(),
            system: system.to_owned(),
            port,
            line: slowpath_units::BitRate::new(100_000_000),
            far: true,
        };
        if let Ok((found, _)) = device::elements(&device, text) {
            let chain = found.elements.into_iter().map(|part| (part.name, part.does)).collect();
            let _ = NetworkSpec::chain("near", "far", chain, vec![]).check();
        }
    }
});
