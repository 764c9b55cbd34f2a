//! The answer of a watch, in the form in which it is written as JSON (`slowpath/why/1`).

use serde::Serialize;
use slowpath_verdict::{Interval, Judged, Limit, Verdict};

use slowpath_report::quantity;
use slowpath_sys::process_table;

use super::facts::{Facts, facts};
use super::host::HostDrops;
use super::job::{JobPart, JobTrack};
use super::judge::{LEAST_BYTES, Ledger, ProgramView, WAVERS, judge, lacking};
use super::target::Target;
use super::trial::Trial;
use super::view::Lacking;
use super::watch::{Outcome, Watched};
use slowpath_words::{english, english_word};

/// Version of the JSON form.
pub const SCHEMA: &str = "slowpath/why/1";

/// What a watch found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Seconds watched.
    pub duration_s: f64,
    /// Connections that moved data, the largest first.
    pub connections: Vec<ConnectionAnswer>,
    /// Where the time of the programs went, if they could be seen.
    pub job: Option<JobAnswer>,
    /// What was tried on the living connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// What this machine itself dropped meanwhile, by device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_drops: Vec<HostDrops>,
    /// The packets that were captured beside the samples, where they were wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureAnswer>,
    /// What to know beside: connections that were not followed, other protocols, permissions.
    pub notes: Vec<String>,
    /// What the watch itself cost.
    pub cost: Cost,
}

impl Answer {
    /// The connection that moved the most data.
    pub fn main_connection(&self) -> Option<&ConnectionAnswer> {
        self.connections.first()
    }

    /// What limits that one, in the form in which any run's verdict is kept.
    pub fn judged(&self) -> Option<Judged> {
        let main = self.main_connection()?;
        Some(Judged {
            verdict: main.verdict.clone(),
            ledger: main.ledger.kept(),
        })
    }
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConnectionAnswer {
    /// This end, address and port.
    pub local: String,
    /// The other end.
    pub remote: String,
    /// The program here, where it may be known.
    pub program: Option<String>,
    /// `out` or `in`: where the data go.
    pub direction: &'static str,
    /// Congestion control of this end.
    pub congestion_control: String,
    /// Payload bytes that reached their receiver while watched.
    pub bytes: u64,
    /// Whether more may have moved: the end of the connection was not seen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bytes_at_least: bool,
    /// Payload over the time watched.
    pub goodput_bit_per_s: f64,
    /// Whether it had ended by the end of the watch.
    pub ended: bool,
    /// What limits it.
    pub verdict: Verdict,
    /// Where its time went.
    pub ledger: Ledger,
    /// What limited it when.
    pub intervals: Vec<Interval>,
    /// What the verdict was made from; by packets, what the samples show beside.
    pub facts: Facts,
    /// What the samples alone say, where packets decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesSay>,
}

impl ConnectionAnswer {
    /// Takes what packets say of this connection: it decides, except where it decides nothing; where a processor is full, which no
    /// packet shows; and where a full window was seen to shrink: then somebody does not read in time, however near the two are.
    pub fn hear_packets(
        &mut self,
        verdict: &Verdict,
        ledger: &slowpath_verdict::Ledger,
        intervals: &[Interval],
    ) {
        let kept = self.verdict.limit;
        let unseen = kept == Limit::HostCpu && verdict.limit == Limit::SenderApplication;
        let shrinks = verdict.limit == Limit::ReceiverWindow && self.facts.window_shrank >= WAVERS;
        if verdict.limit.is_undecided() || unseen || shrinks {
            return;
        }
        self.intervals = intervals.to_vec();
        self.samples = Some(SamplesSay {
            verdict: std::mem::replace(&mut self.verdict, verdict.clone()),
            ledger: std::mem::replace(&mut self.ledger, Ledger::of_packets(ledger)),
        });
    }
}

/// What the samples of a connection say by themselves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SamplesSay {
    /// What limits it.
    pub verdict: Verdict,
    /// Where its time went.
    pub ledger: Ledger,
}

/// Packets that were captured beside the samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaptureAnswer {
    /// The file, where it is kept.
    pub file: Option<String>,
    /// Packets of followed connections.
    pub packets: u64,
    /// Packets for which there was no room: loss of the capture, not of the path.
    pub lost: u64,
}

/// Where the time of a job went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobAnswer {
    /// Seconds watched.
    pub duration_s: f64,
    /// The parts, the longest first; they sum to the duration.
    pub parts: Vec<JobEntry>,
    /// The busiest thread.
    pub busiest: Option<Busiest>,
}

/// One part of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobEntry {
    /// What it was.
    pub part: JobPart,
    /// How long, seconds.
    pub time_s: f64,
    /// The program, if one is responsible.
    pub program: Option<String>,
}

/// The thread that used the most processor time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Busiest {
    /// Its name.
    pub program: String,
    /// Share of one processor.
    pub share: f64,
}

/// What the watch itself cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// Times at which the kernel was asked.
    pub looks: u64,
    /// Seconds of processor time.
    pub processor_s: f64,
}

/// Makes the answer of what was watched.
pub fn answer(target: &Target, outcome: &Outcome) -> Answer {
    let job = outcome
        .job
        .as_ref()
        .filter(|job| matches!(target, Target::Command(_) | Target::Process(_)) && job.total() > 0.0);
    let programs = ProgramView {
        command: matches!(target, Target::Command(_)),
        udp: speaks_udp(outcome),
        ..job.map_or_else(ProgramView::default, program_view)
    };
    let moved = |one: &&Watched| one.has_moved() || one.track.stands_still() && !one.ended;
    let mut connections: Vec<ConnectionAnswer> = outcome
        .connections
        .iter()
        .filter(moved)
        .map(|one| connection(one, programs))
        .collect();
    let mut notes = notes(target, outcome, connections.is_empty());
    if let Some(note) = brief_connections(outcome, &connections, programs) {
        // To transfer more over each is no answer: there are as many of them.
        for one in &mut connections {
            let is_brief = lacking(&one.facts, programs).is_some();
            one.verdict.next_step = one.verdict.next_step.take().filter(|_| !is_brief);
        }
        notes.push(note);
    }
    if let Some(job) = job.filter(|job| job.seconds(JobPart::NotVisible) > 0.2 * job.total()) {
        notes.push(if job.foreign() > 0.5 * job.seconds(JobPart::NotVisible) {
            english_word!("why-answer-part-programs-time-not-visible").to_owned()
        } else {
            english_word!("why-answer-part-programs-time-not-told").to_owned()
        });
    }
    if !connections.is_empty() {
        notes.extend(outcome.host.iter().filter_map(HostDrops::sentence));
    }
    Answer {
        schema: SCHEMA,
        duration_s: outcome.seconds,
        job: job.map(|job| {
            job_answer(
                job,
                connections.first(),
                is_pacing_itself(&outcome.connections) || is_pacing_datagrams(outcome),
            )
        }),
        connections,
        trials: outcome.trials.clone(),
        host_drops: outcome.host.clone(),
        capture: outcome.captured.as_ref().map(|captured| CaptureAnswer {
            file: Some(captured.file.display().to_string()),
            packets: captured.kept,
            lost: captured.lost,
        }),
        notes,
        cost: Cost {
            looks: outcome.looks,
            processor_s: outcome.own_processor_s,
        },
    }
}

/// That the time went into many connections, of which even the largest is too short or too small to have a limit of its own.
fn brief_connections(
    outcome: &Outcome,
    connections: &[ConnectionAnswer],
    programs: ProgramView,
) -> Option<String> {
    let main = connections.first()?;
    let is_brief = matches!(
        lacking(&main.facts, programs),
        Some(Lacking::Bytes | Lacking::Time)
    );
    let count = connections.len() + outcome.missed.0 + outcome.small.0;
    if !is_brief || count < MANY_CONNECTIONS {
        return None;
    }
    let bytes: u64 = connections.iter().map(|one| one.bytes).sum();
    Some(english!(
        "why-answer-many-brief-connections",
        connections = count,
        bytes = quantity::bytes((bytes + outcome.missed.1 + outcome.small.1) as f64),
        seconds = quantity::seconds(outcome.seconds),
        rtt = quantity::seconds(main.facts.mean_rtt_s)
    ))
}

fn connection(one: &Watched, programs: ProgramView) -> ConnectionAnswer {
    let facts = facts(&one.track);
    let programs = ProgramView {
        ssh: one.program.as_deref() == Some("ssh"),
        ..programs
    };
    let (verdict, ledger, intervals) = judge(&facts, programs);
    ConnectionAnswer {
        local: one.local.to_string(),
        remote: one.remote.to_string(),
        program: one.program.clone(),
        direction: if facts.receiving { "in" } else { "out" },
        congestion_control: one.congestion_control.clone(),
        bytes: facts.bytes,
        bytes_at_least: one.may_have_moved_more(),
        goodput_bit_per_s: facts.bytes as f64 * 8.0 / facts.seconds.max(1e-9),
        ended: one.ended,
        verdict,
        ledger,
        intervals,
        facts,
        samples: None,
    }
}

fn program_view(job: &JobTrack) -> ProgramView {
    let own: f64 = OWN_PARTS.iter().map(|&part| job.seconds(part)).sum();
    ProgramView {
        // Of the time in which the program was waited for, when its busiest thread computed or wanted to.
        busiest: if own > 0.0 {
            ((job.seconds(JobPart::Processor) + job.seconds(JobPart::ProcessorQueue)) / own).min(1.0)
        } else {
            0.0
        },
        waits_for_other_end: job.seconds(JobPart::OtherEnd) / own.max(1e-9),
        visible: job.seconds(JobPart::NotVisible) < 0.5 * own.max(1e-9),
        supplied: job.supplied() / job.seconds(JobPart::OtherEnd).max(1e-9),
        ..ProgramView::default()
    }
}

/// Whether the largest connection went on sending without a word from the other end, on this connection or another one: what ends
/// the program's pauses is its own timer.
fn is_pacing_itself(connections: &[Watched]) -> bool {
    let Some(main) = connections.first() else {
        return false;
    };
    let pauses = main.track.answered();
    let resumed = pauses.resumed_alone + pauses.resumed_after_word;
    let words: u64 = connections
        .iter()
        .map(|one| {
            let (first, last) = (&one.track.first().info, &one.track.last().info);
            u64::from(last.data_segs_in.wrapping_sub(first.data_segs_in))
        })
        .sum();
    resumed >= FEW_PAUSES && words < resumed
}

/// Whether the transfer is one of datagrams that hardly any come back for.
fn is_pacing_datagrams(outcome: &Outcome) -> bool {
    speaks_udp(outcome)
        && outcome
            .datagrams
            .is_some_and(|udp| udp.sent >= MANY_DATAGRAMS && udp.sent >= ONE_WAY * udp.received)
}

fn job_answer(job: &JobTrack, main: Option<&ConnectionAnswer>, paces_itself: bool) -> JobAnswer {
    let mut parts: Vec<JobEntry> = JobPart::ALL
        .into_iter()
        .filter(|&part| job.seconds(part) > 0.0)
        .map(|part| JobEntry {
            part,
            time_s: job.seconds(part),
            program: job.program(part).map(str::to_owned),
        })
        .collect();
    // A receiving socket does not say whether the network or the other end keeps data back; its verdict may.
    if main.is_some_and(|main| main.direction == "in" && main.verdict.limit == Limit::Unknown) {
        relabel(&mut parts, JobPart::Network, JobPart::NotVisible, f64::INFINITY);
    }
    // The connection tells whether data or a word of the other end was missed.
    let is_unfed = |main: &ConnectionAnswer| {
        main.ledger.of(Limit::SenderApplication) > main.ledger.of(Limit::ProtocolWindow)
    };
    if main.is_some_and(|main| main.direction == "out" && is_unfed(main)) {
        relabel(&mut parts, JobPart::OtherEnd, JobPart::Source, job.piped());
        if paces_itself {
            relabel(&mut parts, JobPart::OtherEnd, JobPart::Pause, job.timed());
        }
    }
    parts.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    JobAnswer {
        duration_s: job.total(),
        parts,
        busiest: job.busiest().map(|(program, share)| Busiest {
            program: program.to_owned(),
            share,
        }),
    }
}

/// Moves up to so many seconds from one part to another.
fn relabel(parts: &mut Vec<JobEntry>, from: JobPart, to: JobPart, seconds: f64) {
    let Some(at) = parts.iter().position(|entry| entry.part == from) else {
        return;
    };
    let moved = seconds.min(parts[at].time_s);
    if moved <= 0.0 {
        return;
    }
    parts[at].time_s -= moved;
    match parts.iter_mut().find(|entry| entry.part == to) {
        Some(entry) => entry.time_s += moved,
        None => parts.push(JobEntry {
            part: to,
            time_s: moved,
            program: None,
        }),
    }
    parts.retain(|entry| entry.time_s > 0.0);
}

/// Whether programs of the target send or receive datagrams: to a peer of theirs, or so many that they are a transfer.
fn speaks_udp(outcome: &Outcome) -> bool {
    let many = (outcome.datagrams).is_some_and(|udp| udp.sent + udp.received >= MANY_DATAGRAMS);
    outcome.datagrams.is_none_or(|udp| udp.sent + udp.received > 0) && !outcome.udp_peers.is_empty()
        || outcome.udp_without_peer && many
}

fn notes(target: &Target, outcome: &Outcome, nothing: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if nothing {
        notes.push(match target {
            Target::Command(words) => match outcome.status {
                Some(status) if outcome.seconds < 0.1 && !status.success() => english!(
                    "why-answer-ended-once-before-had-connection",
                    first = words
                        .first()
                        .map_or(english_word!("why-answer-program"), String::as_str),
                    status = status
                ),
                Some(_) => english_word!("why-answer-program-ended-without-moving-data").to_owned(),
                None => english_word!("why-answer-program-had-no-tcp-connection").to_owned(),
            },
            Target::Process(pid) => {
                let pid = process_table::number_here(*pid);
                english!("why-answer-process-its-children-moved-no", pid = pid)
            }
            Target::Port(port) => english!("why-answer-no-tcp-connection-with-port", port = port),
            Target::Peer(peer) => english!("why-answer-no-tcp-connection-moved-data", text = peer.text),
        });
    }
    if !outcome.udp_peers.is_empty() {
        let mut peers: Vec<String> = outcome.udp_peers.iter().map(ToString::to_string).collect();
        peers.sort();
        let quic = outcome.udp_peers.iter().any(|peer| peer.port() == 443);
        notes.push(english!(
            "why-answer-speaks-udp-with-kernel-keeps",
            peers = peers.join(", "),
            quic = if quic {
                english_word!("why-answer-probably-quic-http")
            } else {
                ""
            }
        ));
    }
    let too_little = outcome
        .connections
        .iter()
        .all(|one| one.track.sent() + one.track.received() < LEAST_BYTES);
    if let Some(udp) = outcome.datagrams.filter(|_| too_little && speaks_udp(outcome)) {
        notes.push(english!(
            "why-answer-datagrams-of-host",
            sent = udp.sent,
            received = udp.received
        ));
    }
    if nothing && outcome.udp_peers.is_empty() && outcome.udp_without_peer {
        notes.push(english_word!("why-answer-has-udp-sockets-without-peer").to_owned());
    }
    for one in &outcome.connections {
        if let Some(seconds) = one.track.unanswered_request_s().filter(|_| !one.ended) {
            notes.push(english!(
                "why-answer-request-connect-not-answered",
                remote = one.remote,
                seconds = quantity::seconds(seconds)
            ));
        }
    }
    if outcome.small.0 > 0 {
        notes.push(english!(
            "why-answer-small-connections-ended",
            small = outcome.small.0,
            bytes = outcome.small.1
        ));
    }
    if outcome.missed.0 > 0 {
        notes.push(english!(
            "why-answer-connections-with-bytes-began-ended",
            missed = outcome.missed.0,
            missed2 = outcome.missed.1
        ));
    }
    if outcome.not_followed > 0 {
        notes.push(english!(
            "why-answer-more-connections-not-followed-busiest",
            not_followed = outcome.not_followed
        ));
    }
    notes
}

/// So many connections of one job are its way of working.
const MANY_CONNECTIONS: usize = 10;
/// Fewer pauses do not tell what ends them.
const FEW_PAUSES: u64 = 10;
/// Datagrams that are more than lookups of names.
const MANY_DATAGRAMS: u64 = 100;
/// So many times as many datagrams go as come where nothing is waited for; a protocol that confirms has a few for each that comes.
const ONE_WAY: u64 = 20;
/// Parts in which the programs had to act.
const OWN_PARTS: [JobPart; 8] = [
    JobPart::Source,
    JobPart::Processor,
    JobPart::ProcessorQueue,
    JobPart::Throttled,
    JobPart::Sink,
    JobPart::Pause,
    JobPart::OtherEnd,
    JobPart::NotVisible,
];
/// A connection with less than this part of the largest one's bytes is not shown: one that controls, or asks.
pub(super) const NEGLIGIBLE: u64 = 100;

#[cfg(test)]
mod tests {
    use slowpath_sys::protocol_counters::Datagrams;

    use super::*;
    use crate::why::record::tests::moved;

    #[test]
    fn a_part_takes_what_another_has_and_no_more() {
        let entry = |part, time_s| JobEntry {
            part,
            time_s,
            program: None,
        };
        let moved = |seconds: f64| {
            let mut parts = vec![entry(JobPart::OtherEnd, 3.0), entry(JobPart::Network, 1.0)];
            relabel(&mut parts, JobPart::OtherEnd, JobPart::Source, seconds);
            let time = |part| {
                parts
                    .iter()
                    .find(|entry| entry.part == part)
                    .map(|entry| entry.time_s)
            };
            (
                time(JobPart::OtherEnd),
                time(JobPart::Source),
                time(JobPart::Network),
            )
        };
        assert_eq!(moved(2.0), (Some(1.0), Some(2.0), Some(1.0)));
        assert_eq!(moved(9.0), (None, Some(3.0), Some(1.0)));
        assert_eq!(moved(0.0), (Some(3.0), None, Some(1.0)));
    }

    /// Sixty connections of 20 kB one after the other, of which a third was seen: no transfer that should be larger.
    #[test]
    fn many_brief_connections_are_the_jobs_way_of_working() {
        let each = 119_000_000;
        let connections = (0..20).map(|count| {
            moved(
                count + 1,
                20_002,
                u64::from(count) * each,
                u64::from(count + 1) * each,
            )
        });
        let mut outcome = Outcome::of_connections(connections.collect(), 7.2);
        outcome.missed = (40, 40 * 20_002);
        let target = Target::Command(vec!["python3".to_owned()]);
        let found = answer(&target, &outcome);
        assert!(
            found
                .notes
                .iter()
                .any(|note| note.contains("60 brief connections")),
            "{:?}",
            found.notes
        );
        assert!(
            found
                .connections
                .iter()
                .all(|one| one.verdict.next_step.is_none())
        );
        // A single one that is too brief should transfer more.
        let one = Outcome::of_connections(vec![moved(1, 20_002, 0, each)], 0.2);
        assert!(answer(&target, &one).connections[0].verdict.next_step.is_some());
    }

    /// `iperf3 -u` agrees on its transfer over TCP.
    #[test]
    fn a_transfer_over_udp_is_not_asked_to_transfer_more_over_tcp() {
        let mut outcome = Outcome::of_connections(vec![moved(1, 450, 0, 4_800_000_000)], 4.8);
        outcome.udp_peers = vec![([198, 18, 2, 2], 5201).into()];
        outcome.datagrams = Some(Datagrams {
            received: 1,
            sent: 10_360,
        });
        let found = answer(&Target::Command(vec!["iperf3".to_owned()]), &outcome);
        let verdict = &found.connections[0].verdict;
        assert!(verdict.sentence.contains("UDP"), "{}", verdict.sentence);
        assert!(verdict.next_step.as_ref().unwrap().contains("UDP"));
        assert!(
            found.notes.iter().any(|note| note.contains("10360")),
            "{:?}",
            found.notes
        );
        assert!(is_pacing_datagrams(&outcome));
        // Nothing was sent from the socket that a library opened.
        outcome.datagrams = Some(Datagrams::default());
        let found = answer(&Target::Command(vec!["curl".to_owned()]), &outcome);
        assert!(!found.connections[0].verdict.sentence.contains("UDP"));
    }

    /// `iperf3 -b` writes a block when its timer says so, and the other end says nothing.
    #[test]
    fn a_program_that_paces_itself_waits_for_no_answer() {
        let paced = |words: u32| {
            let mut one = moved(1, 0, 0, 1);
            let mut now = one.track.last().clone();
            now.info.snd_mss = 1_000;
            now.info.snd_wnd = 1_000_000;
            now.info.snd_cwnd = 100;
            for look in 0..200_u32 {
                now.at += 10_000_000;
                if look % 10 == 0 {
                    now.info.bytes_sent += 128_000;
                    now.info.bytes_acked += 128_000;
                    now.info.data_segs_in += words;
                    now.info.bytes_received += u64::from(words);
                }
                one.track.observe(now.clone());
            }
            [one]
        };
        assert!(is_pacing_itself(&paced(0)));
        assert!(!is_pacing_itself(&paced(1)));
        assert!(!is_pacing_itself(&[]));
    }
}
