//! Transfers over known paths, and what a capture beside their sender says of them.
#![allow(dead_code)] // not every test file uses everything

use slowpath_facts::Analyzer;
use slowpath_fit::seen;
use slowpath_record::packets::{CaptureSummary, Conversations, Record};
use slowpath_scenario::device::Fragments;
use slowpath_scenario::{Clock, Experiment, Intervention, Plan, PlanOptions};
use slowpath_sim::{Recorder, Simulation, planned};
use slowpath_verdict::{Analysis, Connection};

/// A known path, as an experiment file has it: elements on the way of the data, delay each way, and the ends.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) up: &'static str,
    pub(crate) delay: &'static str,
    pub(crate) job: &'static str,
    pub(crate) sender: &'static str,
    pub(crate) receiver: &'static str,
}

impl Known {
    pub(crate) fn plan(&self, changes: &[Intervention], seed: u64) -> Plan {
        let document = format!(
            "title = \"known\"\n[network]\nup = [{}, {{ delay = \"{}\" }}]\ndown = [{{ delay = \"{}\" }}]\n[workload]\nkind = \"iperf3\"\ndeadline = \"300 s\"\n{}\n[hosts.client]\nsystem = \"linux\"\n{}\n[hosts.server]\nsystem = \"linux\"\n{}\n",
            self.up, self.delay, self.delay, self.job, self.sender, self.receiver
        );
        let experiment = Experiment::read("known", &document, &[]).unwrap_or_else(|error| panic!("{error}"));
        let options = PlanOptions::first("default", seed, Clock::Simulated);
        let plan = experiment.plan(&options, &Fragments::new()).unwrap();
        changes
            .iter()
            .fold(plan, |plan, change| change.apply(&plan).unwrap())
    }

    /// The sender's packets of a whole transfer.
    fn recorded(&self, changes: &[Intervention], seed: u64) -> Recorder {
        let plan = self.plan(changes, seed);
        let mut spec = planned::spec(&plan).unwrap();
        spec.sample_every = None;
        let mut recorder = Recorder::at_host(0);
        let report = Simulation::new(&spec).unwrap().run(&mut recorder);
        assert!(report.complete, "{}: the transfer did not end", self.name);
        recorder
    }

    /// What the sender's packets say: the connection with the most data.
    pub(crate) fn captured(&self, changes: &[Intervention], seed: u64) -> Connection {
        let recorder = self.recorded(changes, seed);
        analysis(&recorder.records, &recorder.conversations)
            .connections
            .into_iter()
            .next()
            .unwrap()
    }

    /// How long the job takes from its first data to the acknowledgement of the last, seconds.
    pub(crate) fn duration(&self, changes: &[Intervention], seed: u64) -> f64 {
        let recorder = self.recorded(changes, seed);
        let (mut from, mut to) = (f64::INFINITY, 0.0_f64);
        for connection in analysis(&recorder.records, &recorder.conversations).connections {
            let first = connection.graphs.segments.first().unwrap().at_s;
            from = from.min(first);
            to = to.max(first + seen::of(&connection, u64::MAX).unwrap().duration_s);
        }
        to - from
    }
}

fn analysis(records: &[Record], conversations: &Conversations) -> Analysis {
    let mut analyzer = Analyzer::new();
    for record in records {
        analyzer.push(record, conversations);
    }
    let summary = CaptureSummary {
        format: "simulated".to_owned(),
        packets: records.len() as u64,
        stated_resolution_ns: 1,
        ..CaptureSummary::default()
    };
    Analysis::of(analyzer.finish(conversations, &summary))
}

/// The kinds of paths that are tried.
pub(crate) const KNOWN: [Known; 11] = [
    Known {
        name: "plain link",
        up: "{ rate = \"20 Mbit/s\", queue = \"100000 B\", layer = \"L2+FCS\" }",
        delay: "20 ms",
        job: "size = \"12 MB\"",
        sender: "",
        receiver: "",
    },
    Known {
        name: "plain link with reno",
        up: "{ rate = \"8 Mbit/s\", queue = \"60000 B\", layer = \"L2+FCS\" }",
        delay: "15 ms",
        job: "size = \"8 MB\"",
        sender: "congestion_control = \"reno\"",
        receiver: "",
    },
    Known {
        name: "random loss",
        up: "{ loss = \"0.3 %\" }, { rate = \"200 Mbit/s\", queue = \"2 MB\", layer = \"L2+FCS\" }",
        delay: "25 ms",
        job: "size = \"6 MB\"",
        sender: "",
        receiver: "",
    },
    Known {
        name: "many random losses",
        up: "{ loss = \"1 %\" }, { rate = \"100 Mbit/s\", queue = \"1 MB\", layer = \"L2+FCS\" }",
        delay: "20 ms",
        job: "size = \"6 MB\"",
        sender: "",
        receiver: "",
    },
    Known {
        name: "receiver's window",
        up: "{ rate = \"100 Mbit/s\", queue = \"1 MB\", layer = \"L2+FCS\" }",
        delay: "30 ms",
        job: "size = \"10 MB\"",
        sender: "",
        receiver: "window = \"65535 B\"",
    },
    Known {
        name: "small window",
        up: "{ rate = \"6.3 Mbit/s\", queue = \"33658 B\", layer = \"L2+FCS\" }",
        delay: "57 ms",
        job: "size = \"1.25 MB\"",
        sender: "congestion_control = \"reno\"",
        receiver: "window = \"21166 B\"",
    },
    Known {
        name: "policer",
        up: "{ police = \"6 Mbit/s\", burst = \"60000 B\", layer = \"L2+FCS\" }, { rate = \"100 Mbit/s\", queue = \"1 MB\", layer = \"L2+FCS\" }",
        delay: "15 ms",
        job: "size = \"6 MB\"",
        sender: "",
        receiver: "",
    },
    Known {
        name: "slow reader",
        up: "{ rate = \"100 Mbit/s\", queue = \"1 MB\", layer = \"L2+FCS\" }",
        delay: "10 ms",
        job: "size = \"6 MB\"",
        sender: "",
        receiver: "window = \"200000 B\"\nstorage = { rate = \"8 Mbit/s\", unit = \"16 KiB\", chunk = \"16 KiB\" }",
    },
    Known {
        name: "policer before a link",
        up: "{ police = \"6 Mbit/s\", burst = \"25000 B\", layer = \"L2+FCS\" }, { rate = \"18 Mbit/s\", queue = \"80000 B\", layer = \"L2+FCS\" }",
        delay: "15 ms",
        job: "size = \"6 MB\"",
        sender: "congestion_control = \"reno\"",
        receiver: "",
    },
    Known {
        name: "pace and random loss",
        up: "{ loss = \"0.3 %\" }, { rate = \"20 Mbit/s\", queue = \"100000 B\", layer = \"L2+FCS\" }",
        delay: "20 ms",
        job: "size = \"6 MB\"\nrate = \"8 Mbit/s\"",
        sender: "",
        receiver: "",
    },
    Known {
        name: "send buffer and random loss",
        up: "{ loss = \"0.05 %\" }, { rate = \"30 Mbit/s\", queue = \"200000 B\", layer = \"L2+FCS\" }",
        delay: "20 ms",
        job: "size = \"8 MB\"",
        sender: "send_buffer = \"100 KiB\"",
        receiver: "",
    },
];

/// The path of that name.
pub(crate) fn known(name: &str) -> &'static Known {
    KNOWN.iter().find(|known| known.name == name).unwrap()
}
