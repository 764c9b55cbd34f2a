//! The built-in experiments, compiled into the program.

/// One built-in experiment with all of its files.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its name on the command line.
    pub name: &'static str,
    /// The experiment file.
    pub experiment: &'static str,
    /// The dossier: question, source, notes.
    pub dossier: &'static str,
    /// Device configurations by file name.
    pub files: &'static [(&'static str, &'static str)],
}

/// All built-in experiments, in the order of `slowpath list`.
pub const BUILTINS: &[Builtin] = &[
    Builtin {
        name: "cisco-ftp",
        experiment: include_str!("../../../experiments/cisco-ftp/experiment.toml"),
        dossier: include_str!("../../../experiments/cisco-ftp/dossier.toml"),
        files: &[(
            "tuned.cfg",
            include_str!("../../../experiments/cisco-ftp/tuned.cfg"),
        )],
    },
    Builtin {
        name: "bbr-object-storage",
        experiment: include_str!("../../../experiments/bbr-object-storage/experiment.toml"),
        dossier: include_str!("../../../experiments/bbr-object-storage/dossier.toml"),
        files: &[],
    },
    Builtin {
        name: "iperf3-modes",
        experiment: include_str!("../../../experiments/iperf3-modes/experiment.toml"),
        dossier: include_str!("../../../experiments/iperf3-modes/dossier.toml"),
        files: &[],
    },
    Builtin {
        name: "scp-dscp",
        experiment: include_str!("../../../experiments/scp-dscp/experiment.toml"),
        dossier: include_str!("../../../experiments/scp-dscp/dossier.toml"),
        files: &[
            (
                "rtx830.cfg",
                include_str!("../../../experiments/scp-dscp/rtx830.cfg"),
            ),
            (
                "tos-supersede.cfg",
                include_str!("../../../experiments/scp-dscp/tos-supersede.cfg"),
            ),
            (
                "dscp-supersede.cfg",
                include_str!("../../../experiments/scp-dscp/dscp-supersede.cfg"),
            ),
            ("ipv6.cfg", include_str!("../../../experiments/scp-dscp/ipv6.cfg")),
            (
                "ipv6-dscp-supersede.cfg",
                include_str!("../../../experiments/scp-dscp/ipv6-dscp-supersede.cfg"),
            ),
        ],
    },
    Builtin {
        name: "rtx2000-tunnel-qos",
        experiment: include_str!("../../../experiments/rtx2000-tunnel-qos/experiment.toml"),
        dossier: include_str!("../../../experiments/rtx2000-tunnel-qos/dossier.toml"),
        files: &[
            (
                "throughput-curve.cfg",
                include_str!("../../../experiments/rtx2000-tunnel-qos/throughput-curve.cfg"),
            ),
            (
                "priority-off.cfg",
                include_str!("../../../experiments/rtx2000-tunnel-qos/priority-off.cfg"),
            ),
            (
                "priority-on.cfg",
                include_str!("../../../experiments/rtx2000-tunnel-qos/priority-on.cfg"),
            ),
            (
                "pppoe-priority-off.cfg",
                include_str!("../../../experiments/rtx2000-tunnel-qos/pppoe-priority-off.cfg"),
            ),
            (
                "pppoe-priority-on.cfg",
                include_str!("../../../experiments/rtx2000-tunnel-qos/pppoe-priority-on.cfg"),
            ),
            (
                "bandwidth-off.cfg",
                include_str!("../../../experiments/rtx2000-tunnel-qos/bandwidth-off.cfg"),
            ),
            (
                "bandwidth-on.cfg",
                include_str!("../../../experiments/rtx2000-tunnel-qos/bandwidth-on.cfg"),
            ),
        ],
    },
];

/// The built-in experiment called `name`.
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}
