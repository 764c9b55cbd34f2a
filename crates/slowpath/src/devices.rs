//! Device configurations read for the hosts of an experiment.

mod cases;
pub mod expected;
pub mod queues;
mod shown;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use slowpath_report::text::{Style, Tone, left, wrap};
use slowpath_scenario::{HostSettings, System};

use self::expected::Expected;
use self::shown::{place, printable};
use slowpath_vendor::{Language, Line, LineState, Reading, Remedy, Trap};
use slowpath_words::{lookup, say, told, word};

/// What the configuration `text` in `file` sets on a host of `system`; `None` if there is no reader for it.
pub fn host_settings(file: &str, text: &str, system: System) -> Option<HostSettings> {
    let language = match system {
        System::CiscoIosXe | System::CiscoIos => Language::Ios,
        System::Linux => Language::Sysctl,
        System::WindowsIperf3 => return None,
    };
    Some(slowpath_vendor::read(language, file, text.as_bytes()).settings)
}

/// The language called `name`, or the one that `bytes` look like.
///
/// # Errors
/// What to write instead, as a sentence.
pub fn language(name: Option<&str>, bytes: &[u8]) -> Result<Language, String> {
    let known = || {
        Language::ALL
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match name {
        Some(name) => Language::from_name(name).ok_or_else(|| {
            format!(
                "\"{name}\" is no system known here; write --system with one of {}",
                known()
            )
        }),
        None => slowpath_vendor::guess(bytes).ok_or_else(|| {
            format!(
                "whose configuration this is cannot be told; add --system with one of {}",
                known()
            )
        }),
    }
}

/// Reads a configuration of `language`; `model` is a model or version where they differ, such as `rtx2000` or what
/// `ssh -V` prints.
pub fn reading(language: Language, model: Option<&str>, name: &str, bytes: &[u8]) -> Reading {
    slowpath_vendor::read_for(language, model, name, bytes)
}

/// Writes what each line means for throughput, what to know before trusting it with the change that helps, and the
/// counts of line states.
///
/// # Errors
/// Those of `out`.
pub fn write_text(reading: &Reading, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for line in &reading.lines {
        let state = told_state(line.state);
        let head = format!("{:>4}  {}  ", line.number, left(&state, 12));
        for part in slowpath_report::text::kept(&printable(&line.text), style.width, &head, CONTINUED) {
            writeln!(out, "{part}")?;
        }
        if !line.meaning.is_empty() && line.state != LineState::Ignored {
            for part in wrap(&printable(&line.meaning), style.width, MEANING, MEANING) {
                writeln!(out, "{part}")?;
            }
        }
    }
    let remedies = slowpath_vendor::remedies_of(reading);
    for (number, (finding, remedy)) in reading.findings.iter().zip(remedies).enumerate() {
        if number == 0 {
            writeln!(out)?;
        }
        style.paragraph(&printable(&finding.sentence()), "! ", "  ", Tone::Care, out)?;
        let Some(remedy) = remedy else {
            continue;
        };
        let colon = if remedy.lines.is_empty() { "" } else { ":" };
        writeln!(out, "  {}{colon}", told(&place(&remedy.lines, &remedy.replaces)))?;
        // To be copied: never wrapped.
        for line in &remedy.lines {
            writeln!(out, "      {}", printable(line))?;
        }
        if let Some(note) = &remedy.note {
            style.paragraph(&format!("({})", told(note)), "    ", "     ", Tone::Plain, out)?;
        }
    }
    let counts = reading.counts();
    let states: Vec<String> = LineState::ALL
        .iter()
        .map(|state| {
            say!(
                "config-count",
                number = counts.of(*state),
                state = told_state(*state)
            )
        })
        .collect();
    writeln!(out)?;
    let summary = say!(
        "config-summary",
        lines = counts.total(),
        system = reading.language.name(),
        states = states.join(word!("config-comma"))
    );
    style.paragraph(&summary, "", "  ", Tone::Plain, out)
}

/// What became of a line, in the language that is spoken.
fn told_state(state: LineState) -> String {
    let name = state.to_string();
    let key = format!("line-{}", name.replace(' ', "-"));
    lookup(&key).map_or(name, str::to_owned)
}

/// Writes the same for programs, as `slowpath/config/1`.
///
/// # Errors
/// Those of `out`.
pub fn write_json(reading: &Reading, expected: &Expected, out: &mut dyn Write) -> io::Result<()> {
    let counts = reading.counts();
    let findings: Vec<_> = reading
        .findings
        .iter()
        .zip(slowpath_vendor::remedies_of(reading))
        .map(|(finding, remedy)| FindingView {
            line: finding.line,
            trap: &finding.trap,
            sentence: finding.trap.sentence(),
            remedy,
        })
        .collect();
    let document = ConfigView {
        schema: CONFIG_SCHEMA,
        file: &reading.name,
        system: reading.language,
        lines: &reading.lines,
        counts: LineState::ALL
            .iter()
            .map(|state| (state.to_string().replace(' ', "-"), counts.of(*state)))
            .collect(),
        findings,
        expected,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// The version of the document's form.
pub const CONFIG_SCHEMA: &str = "slowpath/config/1";

#[derive(Debug, Serialize)]
struct ConfigView<'a> {
    schema: &'static str,
    file: &'a str,
    system: Language,
    lines: &'a [Line],
    counts: BTreeMap<String, usize>,
    findings: Vec<FindingView<'a>>,
    expected: &'a Expected,
}

#[derive(Debug, Serialize)]
struct FindingView<'a> {
    line: Option<usize>,
    #[serde(flatten)]
    trap: &'a Trap,
    sentence: String,
    remedy: Option<Remedy>,
}

/// Before what a line means, and before the rest of a line that is too long.
const MEANING: &str = "                      ";
const CONTINUED: &str = "                    ";

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(language: Language, text: &str) -> String {
        let mut out = Vec::new();
        let reading = reading(language, None, "test.cfg", text.as_bytes());
        write_text(&reading, Style::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const TRAPS: &str = "\
queue lan2 type shaping
speed lan2 50m
queue lan2 class property 1 bandwidth=10m
tunnel select 1
 ipsec tunnel 101
 ipsec sa policy 101 1 esp 3des-cbc md5-hmac anti-replay-check=on
 queue tunnel class filter list 1 7
 ip tunnel tcp window-scale remove
 tunnel enable 1
ip tos supersede 1 normal 5
ip filter 5 pass * * * * *
queue class filter 1 1 ip * * udp * *
\u{1b}[31mfrobnicate
";

    #[test]
    fn findings_come_with_the_change_in_the_devices_language() {
        let text = shown(Language::Rtx, TRAPS);
        for wanted in [
            "queue lan2 class property 2 bandwidth=40m",
            "instead of line 6:\n      ipsec sa policy 101 1 esp 3des-cbc md5-hmac anti-replay-check=off",
            "tunnel select 1\n       ip tunnel mtu 1446\n       ip tunnel tcp mss limit auto",
            "tunnel select 1\n       queue tunnel class filter list 1\n",
            "tunnel select 1\n       no ip tunnel tcp window-scale remove",
            "ip tos supersede 1 normal precedence=0 5",
            "line 7: Filter 7 does not exist",
        ] {
            assert!(text.contains(wanted), "{wanted}\n in \n{text}");
        }
    }

    #[test]
    fn lines_fit_a_terminal_and_cannot_steer_it() {
        let text = shown(Language::Rtx, TRAPS);
        assert!(!text.contains('\u{1b}'), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn programs_get_the_same() {
        let mut out = Vec::new();
        let reading = reading(
            Language::Ios,
            None,
            "x.cfg",
            b"ip tcp window-size 16384\nfrobnicate\n",
        );
        write_json(&reading, &Expected::default(), &mut out).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["schema"], CONFIG_SCHEMA);
        assert_eq!(document["system"], "ios");
        assert_eq!(document["lines"][1]["state"], "unrecognised");
        assert_eq!(document["counts"]["modelled"], 1);
        assert_eq!(document["counts"]["not-modelled"], 0);
        let finding = &document["findings"][0];
        assert_eq!(finding["trap"], "window-scaling-off");
        assert_eq!(finding["line"], 1);
        assert_eq!(finding["remedy"]["lines"][0], "ip tcp window-size 1048576");
    }

    /// What the simulator makes of a configuration; every row was simulated.
    fn given(language: Language, model: Option<&str>, text: &str) -> Expected {
        let reading = reading(language, model, "router.cfg", text.as_bytes());
        expected::expected(&reading, model, text.as_bytes())
    }

    fn row<'e>(expected: &'e Expected, what: &str) -> &'e expected::Row {
        expected
            .rows
            .iter()
            .find(|row| row.what == what)
            .unwrap_or_else(|| panic!("{what}: {expected:?}"))
    }

    #[test]
    fn classes_of_a_script_get_their_ceilings() {
        let script = "\
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 4mbit ceil 4mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 5mbit ceil 20mbit
tc qdisc add dev eth0 parent 1:20 fq_codel
tc qdisc add dev eth1 root tbf rate 20mbit burst 4kb limit 3000
";
        let given = given(Language::Tc, None, script);
        assert_eq!(given.rows.len(), 3, "{given:?}");
        // Payload is 1448 of 1514 bytes of frame.
        for (what, rate) in [("eth0, class 1:10", 4e6), ("eth0, class 1:20", 20e6)] {
            let near = row(&given, what).goodput_bit_per_s[0].unwrap();
            assert!((0.9 * rate..0.957 * rate).contains(&near), "{what}: {near}");
        }
        // Two packets of queue are too few for a long round trip, and voice waits behind none.
        let short = row(&given, "eth1");
        assert!(short.goodput_bit_per_s[2].unwrap() < 0.5 * 20e6, "{short:?}");
        assert_eq!(row(&given, "eth0, class 1:20").voice_loss_fraction, Some(0.0));
    }

    #[test]
    fn a_router_gives_each_class_its_bandwidth_and_its_tunnel_costs_bytes() {
        let config = "\
speed lan2 50m
queue lan2 type shaping
queue lan2 class property 1 bandwidth=10m
queue lan2 class property 2 bandwidth=30m
tunnel select 1
 ipsec tunnel 101
 ipsec sa policy 101 1 esp aes-cbc sha-hmac
 queue tunnel class filter list 1
 tunnel enable 1
queue class filter 1 1 ip * * udp * *
";
        let new = given(Language::Rtx, Some("rtx830"), config);
        let first = row(&new, "lan2, class 1").goodput_bit_per_s[0].unwrap();
        let second = row(&new, "lan2, class 2 (the default)").goodput_bit_per_s[0].unwrap();
        // What the shaper counts is the encrypted frame.
        assert!((0.8 * 10e6..0.93 * 10e6).contains(&first), "{new:?}");
        assert!((0.8 * 30e6..0.93 * 30e6).contains(&second), "{new:?}");
        assert!(
            new.costs[0].starts_with("Tunnel 1 makes 1352 bytes of each packet of 1280:"),
            "{:?}",
            new.costs
        );
        assert!(new.assumed[1].contains("ports of 1 Gbit/s"), "{:?}", new.assumed);
        let old = given(Language::Rtx, Some("rtx2000"), config);
        assert!(
            old.assumed[1].contains("ports of 100 Mbit/s"),
            "{:?}",
            old.assumed
        );
        // What is advised was tried, and gains.
        for advice in &new.advice {
            assert!(
                advice.after_bit_per_s > 1.02 * advice.before_bit_per_s.unwrap(),
                "{advice:?}"
            );
        }
    }

    const LIMIT: &str = "\
interface GigabitEthernet1
 service-policy output LIMIT
policy-map LIMIT
 class class-default
  police 30000000 8000 conform-action transmit exceed-action drop
";

    #[test]
    fn a_policy_of_one_policed_class_gets_figures_and_its_bucket_a_finding() {
        let text = LIMIT;
        let out = given(Language::Ios, None, text);
        let small = row(&out, "GigabitEthernet1, class-default").goodput_bit_per_s[1].unwrap();
        assert!(small < 0.5 * 30e6, "{out:?}");
        let enough = text.replace(" 8000 ", " 937500 ");
        let large = given(Language::Ios, None, &enough);
        let whole = row(&large, "GigabitEthernet1, class-default").goodput_bit_per_s[1].unwrap();
        assert!((0.8 * 30e6..30e6).contains(&whole), "{large:?}");
        // What is advised is that bucket, and it was tried.
        let advice = &out.advice[0];
        assert_eq!(
            (&advice.change.lines[..], &advice.change.replaces[..]),
            (
                &["police 30000000 937500 conform-action transmit exceed-action drop".to_owned()][..],
                &[5][..]
            )
        );
        assert!(large.advice.is_empty(), "{large:?}");
    }

    /// A bucket that holds no full packet lets no transfer end, and a larger one does.
    #[test]
    fn a_bucket_below_a_packet_lets_nothing_through_and_its_remedy_does() {
        let text = LIMIT.replace(" 8000 ", " 1500 ");
        let given = given(Language::Ios, None, &text);
        let row = row(&given, "GigabitEthernet1, class-default");
        assert_eq!(row.goodput_bit_per_s, [None; 3]);
        let advice = &given.advice[0];
        assert_eq!(
            (advice.before_bit_per_s, &advice.change.replaces[..]),
            (None, &[5][..])
        );
        assert!((0.8 * 30e6..30e6).contains(&advice.after_bit_per_s), "{advice:?}");
        let mut out = Vec::new();
        expected::write_text(&given, Style::default(), &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(
            shown.contains("-: the transfer does not end.") && shown.contains("does not end, and gets"),
            "{shown}"
        );
    }

    /// Small buffers at both ends and no selective acknowledgement: what each change gives alone is less than what all do.
    #[test]
    fn settings_that_hide_each_other_are_changed_together() {
        let text = "net.ipv4.tcp_rmem = 4096 16384 65536\nnet.ipv4.tcp_wmem = 4096 16384 65536\nnet.ipv4.tcp_sack = 0\n\
                    net.ipv4.tcp_timestamps = 0\n";
        let given = given(Language::Sysctl, None, text);
        let best = &given.advice[0];
        let lines: Vec<&[usize]> = std::iter::once(&best.change)
            .chain(&best.with)
            .map(|change| &change.replaces[..])
            .collect();
        // Timestamps add nothing to the others and stay.
        assert_eq!(lines, [&[1][..], &[2], &[3]], "{given:?}");
        for alone in given.advice.iter().filter(|advice| advice.with.is_empty()) {
            let gain = |advice: &expected::Advice| advice.after_bit_per_s / advice.before_bit_per_s.unwrap();
            assert!(gain(best) > 1.02 * gain(alone), "{given:?}");
        }
        let mut out = Vec::new();
        expected::write_text(&given, Style::default(), &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.contains("+ these 3 changes together: "), "{shown}");
    }

    #[test]
    fn what_comes_in_is_policed_as_well() {
        let text = LIMIT.replace("output", "input");
        let into = given(Language::Ios, None, &text);
        let out = given(Language::Ios, None, LIMIT);
        let (into_row, out_row) = (
            row(&into, "GigabitEthernet1 in, class-default"),
            row(&out, "GigabitEthernet1, class-default"),
        );
        for (a, b) in into_row.goodput_bit_per_s.iter().zip(out_row.goodput_bit_per_s) {
            let (a, b) = (a.unwrap(), b.unwrap());
            assert!((0.5..2.0).contains(&(a / b)), "{into:?} {out:?}");
        }
        assert!(
            into.assumed
                .iter()
                .any(|sentence| sentence.contains("comes in by that port")),
            "{into:?}"
        );
        assert_eq!(into.advice[0].change.replaces, [5]);
    }

    /// `queue lan2 length` has the lengths of all classes: two that are too long are one change.
    #[test]
    fn lengths_of_one_line_are_changed_together() {
        let config = "\
speed lan2 50m
queue lan2 type shaping
queue lan2 class property 1 bandwidth=10m
queue lan2 class property 2 bandwidth=20m
queue lan2 length 1000 2000
";
        let given = given(Language::Rtx, Some("rtx830"), config);
        let lines: Vec<_> = given
            .queues
            .iter()
            .map(|note| (&note.lines[..], &note.replaces[..]))
            .collect();
        assert_eq!(
            lines,
            [
                (&[][..], &[][..]),
                (&["queue lan2 length 83 165".to_owned()][..], &[5][..])
            ],
            "{given:?}"
        );
    }

    /// Two classes with policers, one beside a shaper, one within a policy around all, one within a policy of a class.
    #[test]
    fn every_place_of_a_policer_counts() {
        let classes = "\
class-map match-all BULK
 match dscp af11
class-map match-all SLOW
 match dscp cs1
interface GigabitEthernet1
 service-policy output OUT
policy-map OUT
 class BULK
  police 20000000 625000 conform-action transmit exceed-action drop
  shape average 40000000
 class SLOW
  service-policy WITHIN
 class class-default
  police 10000000 312500 conform-action transmit exceed-action drop
policy-map WITHIN
 class class-default
  police 5000000 156250 conform-action transmit exceed-action drop
";
        let given_classes = given(Language::Ios, None, classes);
        for (what, rate) in [("BULK", 20e6), ("SLOW", 5e6), ("class-default", 10e6)] {
            let what = format!("GigabitEthernet1, {what}");
            let got = row(&given_classes, &what).goodput_bit_per_s[0].unwrap();
            assert!((0.75 * rate..rate).contains(&got), "{what}: {given_classes:?}");
        }
        for inner in ["shape average 50000000\n  ", ""] {
            let around = format!(
                "interface GigabitEthernet1\n service-policy output OUT\npolicy-map OUT\n class class-default\n  {inner}service-policy \
                 IN\npolicy-map IN\n class class-default\n  police 20000000 625000\n"
            );
            let around = given(Language::Ios, None, &around);
            let got = row(&around, "GigabitEthernet1, class-default").goodput_bit_per_s[0].unwrap();
            assert!((0.75 * 20e6..20e6).contains(&got), "{around:?}");
        }
        let outside = "interface GigabitEthernet1\n service-policy output OUT\npolicy-map OUT\n class class-default\n  police 20000000 \
                       625000\n  service-policy IN\npolicy-map IN\n class class-default\n  queue-limit 100\n";
        let outside = given(Language::Ios, None, outside);
        let got = row(&outside, "GigabitEthernet1, class-default").goodput_bit_per_s[0].unwrap();
        assert!((0.75 * 20e6..20e6).contains(&got), "{outside:?}");
    }

    #[test]
    fn marks_of_a_block_and_of_a_server_meet_what_treats_them() {
        let version = Some("OpenSSH_10.2p1");
        let blocks = given(
            Language::Ssh,
            version,
            "Host *.example\n  Ciphers 3des-cbc\nHost b\n  User x\n  IPQoS ef cs1\n",
        );
        let policed = row(&blocks, "scp, where cs1 is policed to 10 Mbit/s (Host b)");
        assert!(policed.goodput_bit_per_s[0].unwrap() < 10e6, "{blocks:?}");
        assert!(
            blocks
                .assumed
                .iter()
                .any(|sentence| sentence.contains("Not in these figures: line 2,")),
            "{blocks:?}"
        );
        assert_eq!(blocks.advice[0].change.replaces, [5]);
        let server = given(
            Language::Ssh,
            version,
            "IPQoS cs1\nSubsystem sftp internal-sftp\n",
        );
        let policed = row(&server, "scp, where cs1 is policed to 10 Mbit/s").goodput_bit_per_s[0].unwrap();
        let free = row(&server, "scp, where marks do not matter").goodput_bit_per_s[0].unwrap();
        assert!(policed < 10e6 && (100e6..1e9).contains(&free), "{server:?}");
    }

    #[test]
    fn advice_is_what_the_model_confirms() {
        let marked = given(Language::Ssh, Some("OpenSSH_9.2p1"), "Host *\n  IPQoS cs1\n");
        assert_eq!(marked.advice.len(), 1, "{marked:?}");
        assert_eq!(
            (
                &marked.advice[0].change.lines[..],
                &marked.advice[0].change.replaces[..]
            ),
            (&["IPQoS none".to_owned()][..], &[2][..])
        );
        assert!(marked.advice[0].after_bit_per_s > 10.0 * marked.advice[0].before_bit_per_s.unwrap());
        // Without a mark there is nothing to gain, and nothing is advised.
        let unmarked = given(Language::Ssh, Some("OpenSSH_9.2p1"), "Host *\n  IPQoS none\n");
        assert!(
            unmarked.advice.is_empty() && unmarked.rows.len() == 2,
            "{unmarked:?}"
        );
        let mut out = Vec::new();
        expected::write_text(&marked, Style::default(), &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(shown.contains("+ instead of line 2:"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }

    /// A token bucket below a class was read and left out of the figures: 95 Mbit/s where real tc gives 4.9.
    #[test]
    fn a_shaper_below_a_class_holds_it() {
        let classes = "tc qdisc add dev eth0 root handle 1: htb default 20\n\
            tc class add dev eth0 parent 1: classid 1:1 htb rate 100mbit\n\
            tc class add dev eth0 parent 1:1 classid 1:20 htb rate 5mbit ceil 100mbit\n";
        for (below, most) in [
            ("tbf rate 5mbit burst 32kb latency 50ms", 5e6),
            ("cake bandwidth 5mbit", 5e6),
            ("tbf rate 500mbit burst 64kb latency 50ms", 100e6),
        ] {
            let script = format!("{classes}tc qdisc add dev eth0 parent 1:20 handle 20: {below}\n");
            let given = given(Language::Tc, None, &script);
            let near = row(&given, "eth0, class 1:20").goodput_bit_per_s[0].unwrap();
            assert!((0.85 * most..0.98 * most).contains(&near), "{below}: {near}");
        }
        // A shaper at the root may have a queue of its own: one of a packet or two holds a long round trip far below the rate.
        for (inner, most) in [("pfifo limit 2", 20e6), ("fq_codel", 20e6)] {
            let script = format!(
                "tc qdisc add dev eth0 root handle 1: tbf rate 20mbit burst 32kb latency 400ms\n\
                 tc qdisc add dev eth0 parent 1:1 handle 10: {inner}\n"
            );
            let given = given(Language::Tc, None, &script);
            let [near, _, far] = row(&given, "eth0").goodput_bit_per_s.map(Option::unwrap);
            let short = inner.starts_with("pfifo");
            assert!(
                near < most && (far < 0.6 * most) == short,
                "{inner}: {near} {far}"
            );
            assert_eq!(given.queues.len(), usize::from(short), "{given:?}");
        }
        // A class gets no more than the one around it, whatever its own ceiling.
        let narrow = classes.replace("rate 100mbit", "rate 20mbit");
        let given = given(Language::Tc, None, &narrow);
        let near = row(&given, "eth0, class 1:20").goodput_bit_per_s[0].unwrap();
        assert!((0.85 * 20e6..20e6).contains(&near), "{near}");
    }

    /// The model took a bucket below a packet as one packet: 4.7 Mbit/s where `tbf` lets nothing through.
    #[test]
    fn a_shapers_bucket_below_a_packet_lets_nothing_through() {
        let script = "tc qdisc add dev eth0 root tbf rate 5mbit burst 1000 latency 50ms\n";
        let given = given(Language::Tc, None, script);
        assert_eq!(row(&given, "eth0").goodput_bit_per_s, [None; 3]);
        assert_eq!(row(&given, "eth0").voice_loss_fraction, Some(0.0));
        let advice = &given.advice[0];
        assert_eq!(
            (&advice.change.lines[..], &advice.change.replaces[..]),
            (
                &["tc qdisc add dev eth0 root tbf rate 5mbit burst 3028 latency 50ms".to_owned()][..],
                &[1][..]
            )
        );
    }

    /// `speed 10` was passed over, and a class that no `class-map` defines had a row and a remedy.
    #[test]
    fn a_slow_port_holds_its_classes_and_undefined_ones_have_no_row() {
        let text = "\
interface FastEthernet0/0
 speed 10
 service-policy output P
class-map match-all V
 match dscp ef
policy-map P
 class V
  priority percent 30
 class NOSUCH
  bandwidth percent 10
 class class-default
  bandwidth percent 50
";
        let given = given(Language::Ios, None, text);
        let names: Vec<&str> = given.rows.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(names, ["FastEthernet0/0, V", "FastEthernet0/0, class-default"]);
        for (row, most) in given.rows.iter().zip([3e6, 10e6]) {
            let near = row.goodput_bit_per_s[0].unwrap();
            assert!((0.8 * most..most).contains(&near), "{row:?}");
        }
        assert!(
            given.queues.iter().all(|note| !note.sentence.contains("NOSUCH")),
            "{given:?}"
        );
    }

    /// `queue lan2 length` has the lengths of both classes: the note of the second had what the first gained.
    #[test]
    fn a_queues_note_tells_the_gain_of_its_own_class() {
        let config = "\
speed lan2 50m
queue lan2 type shaping
queue lan2 class property 1 bandwidth=4m
queue lan2 class property 2 bandwidth=40m
queue lan2 length 2
";
        let given = given(Language::Rtx, Some("rtx830"), config);
        assert_eq!(given.queues.len(), 2, "{given:?}");
        for note in &given.queues {
            let befores = row(&given, &note.what).goodput_bit_per_s;
            let told = befores.into_iter().flatten().any(|before| {
                let before = slowpath_report::quantity::bit_rate(before);
                note.sentence.contains(&format!(") {before} over"))
            });
            assert!(told, "{note:?} {:?}", given.rows);
        }
        // What the findings' changes do not do stands before the changes that do.
        let refused = config.replace("bandwidth=40m", "bandwidth=80m");
        let given = self::given(Language::Rtx, Some("rtx830"), &refused);
        let fastest = row(&given, "lan2, class 2 (the default)").goodput_bit_per_s[0].unwrap();
        assert!(fastest < 50e6, "{given:?}");
        let mut out = Vec::new();
        expected::write_text(&given, Style::default(), &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        let (none, note) = (shown.find("None of the changes"), shown.find("~ lan2"));
        assert!(none.unwrap() < note.unwrap(), "{shown}");
    }

    /// The row of a mark was looked for by the mark that the change takes away.
    #[test]
    fn a_changed_mark_is_tried_where_the_old_one_is_policed() {
        for text in ["IPQoS af21\n", "Host *\n  User x\nHost b\n  IPQoS af21\n"] {
            let given = given(Language::Ssh, Some("OpenSSH_9.2p1"), text);
            let advice = given.advice.first().unwrap_or_else(|| panic!("{given:?}"));
            assert_eq!(advice.change.lines, ["IPQoS none"]);
            assert!(advice.what.contains("af21"), "{advice:?}");
            assert!(
                advice.after_bit_per_s > 10.0 * advice.before_bit_per_s.unwrap(),
                "{advice:?}"
            );
        }
    }

    /// The reader of experiments said where the unknown name stood in an experiment that nobody wrote.
    #[test]
    fn an_unknown_congestion_control_leaves_what_is_received() {
        for name in ["bbrr", "htcp"] {
            let text = format!("net.ipv4.tcp_congestion_control = {name}\n");
            let given = given(Language::Sysctl, None, &text);
            let names: Vec<&str> = given.rows.iter().map(|row| row.what.as_str()).collect();
            assert_eq!(names, ["this host receives", "(without these settings)"]);
            assert!(given.rows.iter().all(|row| row.goodput_bit_per_s[0].is_some()));
            let mut out = Vec::new();
            expected::write_text(&given, Style::default(), &mut out).unwrap();
            let shown = String::from_utf8(out).unwrap();
            assert!(
                shown.contains("is not simulated") && !shown.contains("error"),
                "{shown}"
            );
            assert!(!shown.contains("clock"), "{shown}");
        }
    }

    /// A rate of 0 went into the simulator, whose refusal was shown.
    #[test]
    fn a_rate_of_zero_is_refused_by_the_reader() {
        for (language, text) in [
            (
                Language::Tc,
                "tc qdisc add dev eth0 root tbf rate 0bit burst 5kb latency 50ms\n",
            ),
            (
                Language::Ios,
                "interface GigabitEthernet1\n service-policy output P\npolicy-map P\n class class-default\n  shape average 0\n  \
                 police 0 0\n",
            ),
            (
                Language::Rtx,
                "speed lan2 10m\nqueue lan2 type shaping\nqueue lan2 class property 1 bandwidth=0\n",
            ),
        ] {
            let given = given(language, None, text);
            let refused = |sentence: &String| sentence.contains("cannot be simulated");
            assert!(!given.assumed.iter().any(refused), "{given:?}");
        }
    }

    #[test]
    fn what_nothing_is_known_of_gives_no_table() {
        let nothing = given(Language::Rtx, None, "frobnicate\n");
        assert_eq!(nothing, Expected::default());
        let mut out = Vec::new();
        expected::write_text(&nothing, Style::default(), &mut out).unwrap();
        assert!(out.is_empty());
    }
}
