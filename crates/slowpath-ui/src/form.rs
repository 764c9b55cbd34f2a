//! From a form to the text of an experiment, which then is what counts.

use std::fmt::Write as _;

use serde::Deserialize;
use slowpath::Duration;

/// What the form asks for, as it was typed: units and mistakes are told by the check of the text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// Rate of the slowest link, such as `50 Mbit/s`.
    pub rate: String,
    /// Its queue, such as `100 packets`; empty for the usual one.
    #[serde(default)]
    pub queue: String,
    /// There and back on the empty path, such as `100 ms`.
    pub round_trip: String,
    /// Share of packets lost at random in the direction of the data, such as `0.01 %`; empty for none.
    #[serde(default)]
    pub loss: String,
    /// Whether the data goes to the server.
    pub upload: bool,
    /// Bytes to be transferred, such as `50 MB`.
    pub size: String,
    /// Connections side by side.
    pub streams: u32,
    /// Congestion controls to be compared; the first one is also that of a single variant.
    pub controls: Vec<String>,
}

/// The experiment that the form describes.
pub fn experiment(form: &Form) -> String {
    let mut out = String::new();
    let lossy = if form.loss.trim().is_empty() {
        String::new()
    } else {
        format!(", loss {}", form.loss.trim())
    };
    let title = format!(
        "{} at {} there and back{lossy}",
        form.rate.trim(),
        form.round_trip.trim()
    );
    let queue = if form.queue.trim().is_empty() {
        String::new()
    } else {
        format!(", queue = {}", quoted(&form.queue))
    };
    let link = format!("{{ rate = {}{queue} }}", quoted(&form.rate));
    let delay = format!("{{ delay = {} }}", quoted(&half(&form.round_trip)));
    let loss = if lossy.is_empty() {
        String::new()
    } else {
        format!(", {{ loss = {} }}", quoted(&form.loss))
    };
    let (up, down) = if form.upload {
        (loss.as_str(), "")
    } else {
        ("", loss.as_str())
    };
    let (sender, direction) = if form.upload {
        ("client", "forward")
    } else {
        ("server", "reverse")
    };
    let _ = write!(
        out,
        "title = {}\n\n\
         [network]                                     # client -- elements -- server\n\
         up = [{link}, {delay}{up}]\n\
         down = [{link}, {delay}{down}]\n\n\
         [workload]\n\
         kind = \"iperf3\"\n\
         direction = \"{direction}\"\n\
         size = {}\n\
         streams = {}\n\
         repeats = 1\n",
        quoted(&title),
        quoted(&form.size),
        form.streams,
    );
    for control in &form.controls {
        let control = quoted(control);
        let _ = write!(
            out,
            "\n[[variants]]\nname = {control}\nhosts.{sender}.congestion_control = {control}\n"
        );
    }
    out
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    // One line, whatever was typed.
    let words: Vec<&str> = text.split_whitespace().collect();
    toml::Value::from(words.join(" ")).to_string()
}

/// Half of a span of time, as it would be written; what is none stays as it is, for the check to say so.
fn half(text: &str) -> String {
    match text.trim().parse::<Duration>() {
        Ok(whole) => Duration::from_nanos(whole.nanos() / 2).to_string(),
        Err(_) => text.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;

    fn form() -> Form {
        Form {
            rate: "50 Mbit/s".to_owned(),
            queue: String::new(),
            round_trip: "100 ms".to_owned(),
            loss: "0.01 %".to_owned(),
            upload: true,
            size: "50 MB".to_owned(),
            streams: 1,
            controls: vec!["cubic".to_owned(), "bbr".to_owned()],
        }
    }

    #[test]
    fn what_the_form_writes_may_be_run() {
        let with_queue = Form {
            queue: "100 packets".to_owned(),
            upload: false,
            ..form()
        };
        let lossless = Form {
            loss: " ".to_owned(),
            round_trip: "1 ms".to_owned(),
            streams: 4,
            ..form()
        };
        for (form, variants) in [(form(), 2), (with_queue, 2), (lossless, 2)] {
            let text = experiment(&form);
            let checked = check(&text, None);
            assert!(checked.sound, "{text}\n{}", checked.messages);
            assert_eq!(checked.variants.len(), variants);
        }
    }

    #[test]
    fn what_is_typed_wrong_is_told_and_cannot_become_more_than_a_value() {
        let hostile = Form {
            rate: "1\" }]\n[workload]\nkind = \"command\"\nnear = \"id".to_owned(),
            ..form()
        };
        let text = experiment(&hostile);
        let checked = check(&text, None);
        assert!(
            !checked.sound && !text.lines().any(|line| line.starts_with("kind = \"command\"")),
            "{text}"
        );
        let without_unit = Form {
            round_trip: "100".to_owned(),
            ..form()
        };
        let checked = check(&experiment(&without_unit), None);
        assert!(
            !checked.sound && checked.messages.contains("100"),
            "{}",
            checked.messages
        );
    }
}
