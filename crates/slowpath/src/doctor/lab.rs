//! What a Linux machine permits.

use slowpath_record::finding::Finding;

/// Looks at everything that the lab and the experiments need.
pub fn examine() -> Vec<Finding> {
    slowpath_lab::doctor::examine(PROGRAMS)
}

/// Looks only at what any lab needs, without the programs of single experiments.
pub fn examine_lab() -> Vec<Finding> {
    slowpath_lab::doctor::examine(&[])
}

/// Programs that experiments may want, each with the distribution's package.
const PROGRAMS: &[(&str, &str)] = &[
    ("vsftpd", "vsftpd"),
    ("curl", "curl"),
    ("iperf3", "iperf3"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
    ("tshark", "tshark"),
];
