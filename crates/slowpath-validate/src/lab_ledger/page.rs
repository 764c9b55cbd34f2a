//! The document `docs/validation/lab-ledger.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::chronographs::{self, Found, Shares};
use super::verdicts::{Judged, Said};
use super::{Numbers, STATES, Set};
use crate::cells::Congestion;
use slowpath_record::HealthState;

/// What was scored of these numbers.
#[derive(Debug)]
pub struct Part {
    /// Which numbers.
    pub numbers: Numbers,
    /// Ledger and kernel.
    pub chronographs: Vec<chronographs::Scored>,
    /// Programs with a pace.
    pub paced: Vec<Judged>,
    /// Links whose rate varies.
    pub varying: Vec<Judged>,
    /// Links whose rate was recorded.
    pub recorded: Vec<Judged>,
}

/// The document, what was scored last first.
pub fn page(parts: &[Part]) -> String {
    let mut text = HEAD.to_owned();
    for numbers in [
        Numbers::Further,
        Numbers::Afresh,
        Numbers::HeldOut,
        Numbers::Development,
    ] {
        for part in parts.iter().filter(|part| part.numbers == numbers) {
            let _ = writeln!(
                text,
                "## {}\n",
                match numbers {
                    Numbers::HeldOut => "Held out (odd numbers)",
                    Numbers::Further => "Further (numbers behind those)",
                    Numbers::Afresh => "Afresh (numbers behind these)",
                    Numbers::Development => "Development (even numbers)",
                }
            );
            if !part.chronographs.is_empty() {
                compared(&mut text, &part.chronographs);
            }
            for (set, judged) in [
                (Set::Paced, &part.paced),
                (Set::Varying, &part.varying),
                (Set::Recorded, &part.recorded),
            ] {
                if !judged.is_empty() {
                    told(&mut text, set, judged);
                }
            }
        }
    }
    text
}

/// The figures of those transfers whose runs have this health, in one line; `None` without any.
pub fn summary(scored: &[chronographs::Scored], health: HealthState) -> Option<String> {
    let found: Vec<&Found> = scored
        .iter()
        .filter_map(|one| one.found.as_ref().ok())
        .filter(|found| found.health == health)
        .collect();
    if found.is_empty() {
        return None;
    }
    let near = found.iter().filter(|one| one.is_near()).count();
    let window = found
        .iter()
        .filter(|one| (one.counted.window - one.kernel.window).abs() <= chronographs::WITHIN);
    let buffer = found
        .iter()
        .filter(|one| (one.counted.buffer - one.kernel.buffer).abs() <= chronographs::WITHIN);
    let states = found.iter().filter(|one| one.is_near_by_state()).count();
    let definition = found.iter().filter(|one| one.is_by_definition()).count();
    let samples = found.iter().filter(|one| one.is_near_samples()).count();
    let causes = found.iter().filter(|one| one.is_near_by_cause()).count();
    Some(format!(
        "{} of {} {} runs within 5 points of both counts ({}); window {}, buffer {}; by state alone {}; {definition} of the others differ by definition, {} with them; within 5 points of the samples {}; by cause {}",
        near,
        found.len(),
        health.name(),
        percent(near, found.len()),
        percent(window.count(), found.len()),
        percent(buffer.count(), found.len()),
        percent(states, found.len()),
        percent(near + definition, found.len()),
        percent(samples, found.len()),
        percent(causes, found.len()),
    ))
}

/// The same for verdicts.
pub fn verdicts(set: Set, judged: &[Judged], health: HealthState) -> Option<String> {
    let said: Vec<&Said> = judged
        .iter()
        .filter_map(|one| one.found.as_ref().ok())
        .filter(|said| said.health == health)
        .collect();
    if said.is_empty() {
        return None;
    }
    let right = said.iter().filter(|one| one.right).count();
    let mut text = format!(
        "{right} of {} {} runs right ({})",
        said.len(),
        health.name(),
        percent(right, said.len()),
    );
    if set == Set::Paced {
        let named = said.iter().filter(|one| one.right && one.is_paced()).count();
        let _ = write!(text, "; {named} of the right ones name the pace within a tenth");
    }
    Some(text)
}

/// The lines of all kinds of health.
fn lines(line: impl Fn(HealthState) -> Option<String>) -> String {
    let lines: Vec<String> = STATES
        .into_iter()
        .filter_map(line)
        .map(|line| format!("* {line}.\n"))
        .collect();
    lines.concat()
}

fn percent(count: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * count as f64 / of.max(1) as f64)
}

/// A row of the table: its name, and whose.
type Wanted<'a> = (&'a str, Box<dyn Fn(&chronographs::Scored, &Found) -> bool>);

fn compared(text: &mut String, scored: &[chronographs::Scored]) {
    let _ = writeln!(
        text,
        "### Chronographs\n\n{}",
        lines(|health| summary(scored, health))
    );
    let _ = writeln!(
        text,
        "| what | transfers | within 5 points | window | buffer | by cause |\n|---|---|---|---|---|---|"
    );
    let mut rows: Vec<Wanted<'_>> = vec![
        (
            "the kernel counts the window for 5 % and more",
            Box::new(|_, found| found.kernel.window >= 0.05),
        ),
        (
            "the kernel counts the buffer for 5 % and more",
            Box::new(|_, found| found.kernel.buffer >= 0.05),
        ),
        (
            "neither",
            Box::new(|_, found| found.kernel.buffer < 0.05 && found.kernel.window < 0.05),
        ),
    ];
    for control in Congestion::ALL {
        rows.push((
            control.name(),
            Box::new(move |scored, _| scored.drawn.control == control),
        ));
    }
    for (name, wanted) in &rows {
        let found: Vec<&Found> = scored
            .iter()
            .filter_map(|one| one.found.as_ref().ok().filter(|found| wanted(one, found)))
            .collect();
        let count = |near: &dyn Fn(&Found) -> bool| found.iter().filter(|one| near(one)).count();
        let within = |a: f64, b: f64| (a - b).abs() <= chronographs::WITHIN;
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} |",
            found.len(),
            count(&Found::is_near),
            count(&|one| within(one.counted.window, one.kernel.window)),
            count(&|one| within(one.counted.buffer, one.kernel.buffer)),
            count(&Found::is_near_by_cause),
        );
    }
    let missed: Vec<(&chronographs::Scored, &Found)> = scored
        .iter()
        .filter_map(|one| Some((one, one.found.as_ref().ok()?)))
        .filter(|(_, found)| !found.is_near())
        .collect();
    let _ = writeln!(
        text,
        "\nMisses: {}. Shares in percent of the duration, window and buffer.\n",
        missed.len()
    );
    if !missed.is_empty() {
        let _ = writeln!(
            text,
            "| transfer | kernel | ledger, in the kernel's terms | samples | its states | its causes | where its time went |\n|---|---|---|---|---|---|---|"
        );
    }
    let shares = |shares: &Shares| format!("{:.0}, {:.0}", shares.window * 100.0, shares.buffer * 100.0);
    for (one, found) in missed {
        let parts: Vec<String> = found
            .parts
            .iter()
            .filter(|(_, share)| *share >= 0.05)
            .map(|(name, share)| format!("{name} {:.0}", share * 100.0))
            .collect();
        let _ = writeln!(
            text,
            "| {} {}: {} | {} | {} | {} | {}{} | {} | {} |",
            one.drawn.number,
            found.health.name(),
            one.drawn.describe(),
            shares(&found.kernel),
            shares(&found.counted),
            shares(&found.sampled),
            shares(&found.states),
            if found.is_by_definition() {
                " (as the samples)"
            } else {
                ""
            },
            shares(&found.causes),
            parts.join(", "),
        );
    }
    left_out(
        text,
        scored
            .iter()
            .filter_map(|one| Some((one.drawn.number, one.found.as_ref().err()?))),
    );
}

fn told(text: &mut String, set: Set, judged: &[Judged]) {
    let title = match set {
        Set::Paced => "Programs with a pace of their own",
        Set::Varying => "Links whose rate varies",
        Set::Recorded => "Links whose rate was recorded",
        Set::Chronographs => "",
    };
    let _ = writeln!(
        text,
        "### {title}\n\n{}",
        lines(|health| verdicts(set, judged, health))
    );
    let missed: Vec<(&Judged, &Said)> = judged
        .iter()
        .filter_map(|one| Some((one, one.found.as_ref().ok()?)))
        .filter(|(_, said)| !said.right)
        .collect();
    if !missed.is_empty() {
        let _ = writeln!(text, "| transfer | verdict | its ledger |\n|---|---|---|");
    }
    for (one, said) in missed {
        let flags: Vec<String> = said.flags.iter().map(|flag| format!("{flag:?}")).collect();
        let _ = writeln!(
            text,
            "| {} {}: {} | {} {} | {} |",
            one.drawn.number,
            said.health.name(),
            one.drawn.describe(),
            said.limit,
            flags.join(" "),
            said.ledger.replace('|', " ")
        );
    }
    left_out(
        text,
        judged
            .iter()
            .filter_map(|one| Some((one.drawn.number, one.found.as_ref().err()?))),
    );
}

/// The transfers that do not count, by reason.
fn left_out<'a>(text: &mut String, list: impl Iterator<Item = (u64, &'a String)>) {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (number, why) in list {
        reasons.entry(why).or_default().push(number.to_string());
    }
    text.push('\n');
    for (why, numbers) in &reasons {
        let _ = writeln!(text, "* Left out: {} ({why})", numbers.join(", "));
    }
    if !reasons.is_empty() {
        text.push('\n');
    }
}

const HEAD: &str = "# The ledger against the kernel

Written by `cargo run --release -p slowpath-validate --example lab-ledger`, which `make validate` calls too.

Drawn transfers between two kernel hosts over slowpath's own wire, each captured beside its sender. The numbers are drawn by a digest
(module `slowpath_validate::lab_ledger::draw`); even ones are for development, odd ones held out, and numbers behind these were scored once, when rules had been
improved on both (digest of `--documents`: `f4616b0f6367492d6a9b5e67e16c2c4498a8773feef7717be01779ed806deaf4`); those behind that once, when the counts of senders with BBR
were followed (`--documents chronographs further`: `5b5bc3320f8c13212f692a0b4b38ceb4f55a409b559e6aa819068abd70fb2cb7`). The chronographs of all others were run anew and looked at then, on a machine on which others worked, so that most runs are degraded. What the machine disturbed is run again; what is left of that is scored apart, by the run's health, and never counts as valid. Counts and capture are of the
same transfer even then, but the capture's stamps are late by up to some milliseconds, in which acknowledgements seem to make room that
nobody uses: on paths of a few milliseconds that hides a full window.

**Chronographs.** At the end of each transfer the sending socket tells for how long the peer's window held it (`tcpi_rwnd_limited`) and
for how long its own buffer did (`tcpi_sndbuf_limited`). What the ledger says in the kernel's terms (`Ledger::chronographs`) is compared with
these, as shares of the duration; both must be within 5 points. For Reno and CUBIC that is its time in the states `window` and `buffer`. For a socket that names BBR
it is what Linux counts of its packets (`slowpath_facts::Chronographs`), a buffer's only where the ledger sees one. *By state alone* is the same figure without that, as it
was scored until then (`afresh`: 75 of 98 valid runs, BBR 3 of 20). The ledger's *causes* differ by intent: what a window or a buffer
holds back from a full link costs nothing and is the link's, which the kernel does not know. They are given beside.

The kernel's counts leave out what the ledger counts, in three ways:

* BBR asks its pacing before it asks the window: what the window would hold back a moment later counts as neither. Its pacing forgives a
  late sender up to half of a segment's time (`tcp_update_skb_after_send` in `net/ipv4/tcp_output.c`), and its rate is about what the window
  lets through: so about half of the time in which a window holds it is counted. How much, follows from the capture: the pace is a gain times the highest
  rate of delivery of ten rounds, and both can be followed acknowledgement by acknowledgement (the pace that the socket told every 10 ms is met within
  a hundredth at the median of most runs). A window keeps BBR in the phase that probes for more, at 1.25 times that rate, as it never gets a quarter more in flight.
* A full buffer counts only where the program already waits inside of a write when the last piece is sent. With BBR the pacing sends it
  then. With Reno and CUBIC it leaves before that: their counts are 0 in all of these runs, whatever the samples (below) show. One that
  asks for room first (`poll`), as servers do, is not counted at all.
* Without `TCP_NODELAY` Nagle's algorithm may keep a last piece back that is smaller than a segment. Then the kernel has something to
  send, and does not count the buffer.

So the socket itself was looked at every 10 ms as well (`tcpi_notsent_bytes`, `tcpi_snd_wnd`, what is in flight): whether the window would not have
let the next segment go, or less than a segment waited to be sent of a program that always has more, while the congestion window had room.
A miss whose states agree with these samples is one *by definition*; it is a miss in the first figure all the same. The samples cannot
take the counts' place either: they see a buffer as well while the link is full, where the ledger has the state `link`.

**Programs with a pace of their own** write so many bytes every so many milliseconds, 5 to 90 % of what the link carries. One counts if
it had written 97 % of what was due when it ended, and had that acknowledged within a tenth of its time: then nothing else held it. Right is
`sender-application`.

**Links whose rate varies**: twelve recorded ones (`SLOWPATH_TRACES`), the others jump between two levels by chance. Right is
`bottleneck-bandwidth` with `variable-rate`. **Links whose rate was recorded** are the six recordings again, each from a time that is drawn.

";
