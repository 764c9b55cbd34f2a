//! Command lines that may be written in a short way, spelled out.

use std::ffi::OsString;

/// The command line with `measure iperf3://HOST` written as `measure iperf3 iperf3://HOST`: a target's scheme names the
/// tool, wherever it stands among the options; and with `diagnose iperf3://HOST` as `diagnose-path` has it.
pub(crate) fn out(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let is_path = |word: &OsString| word.to_str().is_some_and(|word| word.contains("://"));
    if words.get(1).is_some_and(|word| word == "diagnose") && words.iter().skip(2).any(is_path) {
        words[1] = OsString::from(DIAGNOSE_PATH);
        return words;
    }
    if words.get(1).is_none_or(|word| word != "measure") {
        return words;
    }
    let is_named = words
        .get(2)
        .and_then(|word| word.to_str())
        .is_some_and(|word| TOOLS.contains(&word));
    let scheme = words
        .iter()
        .skip(2)
        .find_map(|word| word.to_str()?.split_once("://"))
        .map(|(scheme, _)| OsString::from(scheme));
    if let (false, Some(scheme)) = (is_named, scheme) {
        words.insert(2, scheme);
    }
    words
}

/// Names of the tools, which are also the schemes of targets.
const TOOLS: [&str; 8] = ["iperf3", "ftp", "ssh", "s3", "ping", "trace", "mtu", "sweep"];

/// The name that the command line is spelled out with; people write `diagnose`.
const DIAGNOSE_PATH: &str = "diagnose-path";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_names_the_tool() {
        let cases: &[(&[&str], &[&str])] = &[
            (
                &["slowpath", "measure", "iperf3://h", "-R"],
                &["slowpath", "measure", "iperf3", "iperf3://h", "-R"],
            ),
            (
                &["slowpath", "measure", "-R", "iperf3://h"],
                &["slowpath", "measure", "iperf3", "-R", "iperf3://h"],
            ),
            (
                &["slowpath", "measure", "ping", "h"],
                &["slowpath", "measure", "ping", "h"],
            ),
            (
                &["slowpath", "measure", "ping", "ping://h"],
                &["slowpath", "measure", "ping", "ping://h"],
            ),
            (
                &["slowpath", "measure", "--help"],
                &["slowpath", "measure", "--help"],
            ),
            (&["slowpath", "run", "s3://x"], &["slowpath", "run", "s3://x"]),
        ];
        for (given, expected) in cases {
            let spelled = out(given.iter().map(OsString::from));
            assert_eq!(spelled, expected.iter().map(OsString::from).collect::<Vec<_>>());
        }
    }
}
