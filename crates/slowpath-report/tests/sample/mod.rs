//! An invented experiment of the shape of the first field report, for the outputs' golden tests.

#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "invented figures"
)]

pub(crate) mod graphs;

use std::path::PathBuf;

use slowpath_facts::{Capture, DscpSeen, Handshake, RttSummary};
use slowpath_facts::{Counters, FlowFacts, Graphs};
use slowpath_facts::{Quality, Side, Surroundings, Tap};
use slowpath_record::Origin;
use slowpath_record::health::{Health, HealthState, Reason};
use slowpath_report::explain::{ConfigurationText, Explanation, RemedyView};
use slowpath_report::quantity::RateUnit;
use slowpath_report::results::{
    Basis, CaptureRow, Figure, FlowRow, Note, NoteKind, PredictedRange, Proof, ProofOutcome, Reference,
    Results, RunResult, Source, Variant, VariantComparison,
};
use slowpath_verdict::{
    Analysis, Connection, Evidence, Interval, Limit, Parameters, Reason as WhyNot, Rejected, Verdict,
};

/// Compares with a golden file; `SLOWPATH_BLESS=1` writes it instead.
pub(crate) fn golden(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("SLOWPATH_BLESS").is_some() {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (i, (a, e)) in actual.lines().zip(expected.lines()).enumerate() {
        assert_eq!(
            a,
            e,
            "{name}, line {}; SLOWPATH_BLESS=1 accepts the new text",
            i + 1
        );
    }
    assert_eq!(
        actual.len(),
        expected.len(),
        "{name} has another length; SLOWPATH_BLESS=1 accepts it"
    );
}

pub(crate) fn verdict(limit: Limit, confidence: f64, sentence: &str) -> Verdict {
    Verdict {
        limit,
        flags: Vec::new(),
        share: 0.97,
        confidence,
        sentence: sentence.into(),
        parameters: Parameters {
            window_bytes: Some(14_924),
            rtt_s: Some(0.1),
            ..Parameters::default()
        },
        evidence: vec![Evidence {
            fact: "window.full".into(),
            text: "The advertised window was filled in 3,451 of 3,459 round trips.".into(),
            value: 0.997,
            unit: String::new(),
            packets: vec![118, 129, 140],
        }],
        rejected: vec![Rejected {
            limit: Limit::SlowStart,
            reason: WhyNot::LongEnough,
            text: "The transfer went on for 3,459 round trips.".into(),
        }],
        next_step: None,
    }
}

fn run(repeat: u32, bytes: u64, rate: f64, verdict: &Verdict) -> RunResult {
    RunResult {
        bytes,
        duration_s: bytes as f64 / rate,
        goodput_byte_per_s: rate,
        sender_bytes: None,
        sender_duration_s: None,
        retransmitted_segments: Some(4),
        complete: true,
        errors: Vec::new(),
        seed: 1 + u64::from(repeat),
        repeat,
        flows: vec![FlowRow {
            name: "tcp".into(),
            sent_packets: 35_914,
            received_packets: 35_910,
            loss_fraction: 4.0 / 35_914.0,
            goodput_byte_per_s: rate,
            ..FlowRow::default()
        }],
        curves: Vec::new(),
        health: Health::valid(),
        verdict: Some(verdict.clone()),
        captures: vec![CaptureRow {
            file: format!("captures/sample-{repeat}-server.pcapng"),
            point: "server".into(),
            packets: 54_321,
            missed: 0,
            warnings: Vec::new(),
        }],
        marks: Vec::new(),
        ledger: None,
        loads: Vec::new(),
        notes: Vec::new(),
    }
}

fn variant(
    name: &str,
    title: &str,
    published: Option<f64>,
    basis: Basis,
    rates: &[f64],
    verdict: Verdict,
) -> Variant {
    let mut v = Variant {
        title: Some(title.into()),
        runs: rates
            .iter()
            .zip(0..)
            .map(|(r, i)| run(i, 52_428_800, *r, &verdict))
            .collect(),
        reference: published.map(|p| Reference {
            goodput_byte_per_s: p,
            tolerance: Some(0.05),
            ..Reference::default()
        }),
        verdict: Some(verdict),
        basis,
        ..Variant::new(name, Origin::Lab)
    };
    v.summarize();
    v
}

/// Five variants, one of them with a degraded run, a proof and notes of every kind.
pub(crate) fn results() -> Results {
    let mut r = Results::new("cisco-ftp", 1);
    r.title = "FTP download by router operating systems over a long path".into();
    r.question = Some(
        "Why does the same 50 MiB file take 19 seconds to a Linux client and ten minutes to a router, \
         and why did a 2.5 MB window help one router operating system and not the other?"
            .into(),
    );
    r.answer = Some(
        "IOS XE waits for its 16 KiB receive window once per round trip, so a larger window helps. IOS \
         writes to flash at 87 kB/s, so no window can."
            .into(),
    );
    r.source = Some(Source {
        title: "FTP transfer speed of Cisco IOS and IOS-XE".into(),
        published: Some("2021-03-20".into()),
        ..Source::default()
    });
    r.setup = vec![
        ("Path".into(), "50 Mbit/s, 50 ms and 0.01 % loss each way".into()),
        (
            "Workload".into(),
            "FTP RETR, passive, binary, 50 MiB of random bytes".into(),
        ),
        ("Sender".into(), "Linux 6.18, CUBIC".into()),
    ];
    r.variants = vec![
        variant(
            "linux",
            "Linux client",
            Some(3_058_668.0),
            Basis::Measured,
            &[2_990_000.0, 1_940_000.0, 4_250_000.0],
            verdict(
                Limit::RandomLoss,
                0.9,
                "Four lost segments cut the sending rate; nothing else held it back.",
            ),
        ),
        variant(
            "iosxe-default",
            "IOS XE as delivered",
            Some(151_542.0),
            Basis::Fitted,
            &[149_310.0, 149_280.0, 149_402.0],
            verdict(
                Limit::ReceiverWindow,
                0.98,
                "The receiver offers 14,924 bytes each 100 ms; the sender waits for it every round trip.",
            ),
        ),
        variant(
            "iosxe-tuned",
            "IOS XE, window 2,500,000 bytes and SACK",
            Some(1_611_000.0),
            Basis::Measured,
            &[1_702_000.0, 1_589_000.0, 1_811_000.0],
            verdict(
                Limit::Unknown,
                0.4,
                "The published data do not decide between loss and storage.",
            ),
        ),
        variant(
            "ios-default",
            "IOS as delivered",
            Some(81_984.0),
            Basis::Predicted,
            &[81_900.0, 81_950.0, 82_010.0],
            verdict(
                Limit::ReceiverApplication,
                0.96,
                "The reader takes 64 KiB every 800 ms, 81.9 kB/s; the window follows it.",
            ),
        ),
        variant(
            "ios-tuned",
            "IOS, window 2,500,000 bytes and SACK",
            Some(86_948.0),
            Basis::Fitted,
            &[86_900.0, 86_960.0, 87_000.0],
            verdict(
                Limit::ReceiverApplication,
                0.97,
                "The reader takes 86.9 kB/s; a window of 2.5 MB fills in 6 s and is worth nothing after.",
            ),
        ),
    ];
    r.variants[0].runs[1].health.add(Reason {
        code: slowpath_record::Code::ReleaseLate,
        state: HealthState::Degraded,
        text: "99 % of the packets left within 1.2 ms of their time; the machine was busy, run it again \
               on an idle one."
            .into(),
    });
    r.variants[1].figures = vec![
        Figure {
            name: "window in steady state".into(),
            unit: "byte".into(),
            published: Some(14_924.0),
            measured: Some(14_924.0),
            tolerance: Some(0.001),
            basis: Basis::Fitted,
            note: Some(
                "16,384 bytes less one segment of 1,460; the 4,128 of the text was not in force".into(),
            ),
            label: slowpath_report::Label::default(),
        },
        Figure {
            name: "plateau".into(),
            unit: "bit/s".into(),
            published: Some(1.25e6),
            measured: Some(1.238e6),
            tolerance: Some(0.05),
            basis: Basis::Measured,
            note: None,
            label: slowpath_report::Label::default(),
        },
    ];
    r.variants[1].configuration = vec![(
        "client".into(),
        "! no TCP lines: window 4128 in the manual, 16 KiB for FTP".into(),
    )];
    r.variants[2].configuration = vec![(
        "client".into(),
        "ip tcp window-size 2500000\nip tcp selective-ack".into(),
    )];
    r.variants[4].scaled = Some("4 MiB instead of 50 MiB".into());
    r.comparisons = vec![
        VariantComparison::goodput(&r.variants[1], &r.variants[2], RateUnit::Bytes).unwrap(),
        VariantComparison::goodput(&r.variants[3], &r.variants[4], RateUnit::Bytes).unwrap(),
    ];
    r.proofs = vec![
        Proof {
            variant: "iosxe-default".into(),
            hypothesis: "The receive window limits the transfer.".into(),
            change: "window 14,924 B -> 2,500,000 B".into(),
            before_byte_per_s: 149_330.0,
            predicted_byte_per_s: PredictedRange {
                low: 1.2e6,
                expected: 2.0e6,
                high: Some(6.03e6),
            },
            others: vec!["iosxe-tuned".into()],
            next_limit: Some(Limit::RandomLoss),
            measured_byte_per_s: Some(1_700_000.0),
            measured_limit: Some(Limit::RandomLoss),
            intervention: None,
            configuration: None,
            limit: None,
            outcome: ProofOutcome::Held,
            sentence: "A window of 2,500,000 bytes was predicted to give 1.2 to 6.03 MB/s, then limited by \
                       random loss; it gave 1.7 MB/s."
                .into(),
        },
        Proof {
            variant: "ios-default".into(),
            hypothesis: "The receiving application limits the transfer.".into(),
            change: "window 16,384 B -> 2,500,000 B".into(),
            before_byte_per_s: 81_950.0,
            predicted_byte_per_s: PredictedRange {
                low: 81_000.0,
                expected: 84_000.0,
                high: Some(87_000.0),
            },
            others: Vec::new(),
            next_limit: Some(Limit::ReceiverApplication),
            measured_byte_per_s: Some(86_950.0),
            measured_limit: Some(Limit::ReceiverApplication),
            intervention: None,
            configuration: None,
            limit: None,
            outcome: ProofOutcome::Held,
            sentence: "No gain beyond 6 % was predicted, because the reader's 87 kB/s stay; 6.1 % came."
                .into(),
        },
    ];
    r.notes = vec![
        Note {
            kind: NoteKind::Assumption,
            title: "The queue before the link holds 1,000 packets".into(),
            text: "The source does not state it. Lengths from 50 to 2,000 packets were tried.".into(),
        },
        Note {
            kind: NoteKind::Excluded,
            title: "A window of 295 kB in run 3".into(),
            text: "295 kB each 100 ms are 2.95 MB/s; the run reached 4.25 MB/s.".into(),
        },
        Note {
            kind: NoteKind::Correction,
            title: "4,194,240 bytes were never advertised".into(),
            text: "The window field of a SYN is never scaled (RFC 7323, section 2.2).".into(),
        },
        Note {
            kind: NoteKind::Limitation,
            title: "What holds the tuned IOS XE at 1.6 MB/s is open".into(),
            text: "Loss alone explains 1.27 to 1.79 MB/s; storage is not excluded.".into(),
        },
    ];
    r.environment = vec![
        ("Kernel".into(), "6.18.44".into()),
        ("Processors".into(), "2".into()),
        ("Wire".into(), "TUN".into()),
    ];
    r.reproduce = vec!["slowpath run cisco-ftp --seed 1".into()];
    r
}

/// One capture with one connection, a verdict, two intervals and a remedy.
pub(crate) fn explanation() -> Explanation {
    let connection = Connection {
        verdict: verdict(
            Limit::ReceiverWindow,
            0.98,
            "The receiver offers 14,924 bytes each 100 ms; the sender waits for it every round trip.",
        ),
        intervals: vec![
            Interval {
                from_s: 0.0,
                to_s: 0.4,
                limit: Limit::SlowStart,
            },
            Interval {
                from_s: 0.4,
                to_s: 345.6,
                limit: Limit::ReceiverWindow,
            },
        ],
        ledger: slowpath_verdict::Ledger::default(),
        basis: slowpath_verdict::ledger::Hints::default(),
        seen: slowpath_facts::Connection {
            id: 0,
            client: "10.0.2.2:40001".into(),
            server: "10.0.1.2:45059".into(),
            data_from: Side::Server,
            handshake: Handshake {
                mss: [Some(1460), Some(1460)],
                window_scale: [None, Some(7)],
                sack: [Some(false), Some(true)],
                timestamps: [Some(false), Some(true)],
                seen: true,
                ..Handshake::default()
            },
            dscp: DscpSeen {
                client: vec![0],
                server: vec![0, 8],
            },
            bytes_delivered: 52_428_800,
            duration_s: 345.6,
            start_s: 0.4,
            goodput_bit_per_s: 1_213_600.0,
            rtt_s: RttSummary {
                min: 0.1,
                median: 0.1002,
                p95: 0.1041,
                handshake: 0.1,
            },
            retransmitted_segments: 4,
            lost_segments: 4,
            reordered_segments: 0,
            spurious_retransmissions: 0,
            zero_window_s: 0.0,
            tap: Tap::Sender,
            counters: [Counters::default(); 2],
            facts: FlowFacts::default(),
            parallel_flows: 0,
            shared_queue: None,
            wireshark: Vec::new(),
            surroundings: Surroundings::default(),
            graphs: Graphs::default(),
        },
    };
    let analysis = Analysis {
        schema: slowpath_verdict::analysis::SCHEMA.into(),
        capture: Capture {
            file: "iosxe-default.pcapng".into(),
            format: "pcapng".into(),
            link_types: vec!["ethernet".into()],
            packets: 54_321,
            bytes: 57_000_000,
            duration_s: 346.0,
            start_ns: 0,
            quality: Quality {
                tap: Tap::Sender,
                clock_resolution_s: 1e-9,
                warnings: vec![
                    "Segments above the MSS: the sender's offload is on, 21,003 of 35,910.".into(),
                ],
                ..Quality::default()
            },
            ..Capture::default()
        },
        job: None,
        connections: vec![connection],
    };
    Explanation::with(analysis, |_| {
        vec![RemedyView {
            change: "raise the receiver's window to 2,500,000 bytes".into(),
            asked: None,
            predicted_goodput_bit_per_s: Some(16e6),
            at_most_bit_per_s: Some(48e6),
            at_least_bit_per_s: None,
            gain: Some(12.2),
            next_limit: Some(Limit::RandomLoss),
            because: "One segment in 10,000 is lost; with that loss CUBIC reaches 16 Mbit/s at 100 ms."
                .into(),
            configuration: vec![ConfigurationText {
                system: "ios".into(),
                text: "ip tcp window-size 2500000\nip tcp selective-ack".into(),
            }],
        }]
    })
}
