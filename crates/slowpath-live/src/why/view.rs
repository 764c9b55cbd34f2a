//! What is known beside the figures of a connection.

/// What the programs say about a pause of the sender.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProgramView {
    /// Share of the programs' own time in which the busiest thread computed, or was ready to and got no processor.
    pub busiest: f64,
    /// Share of the programs' own time in which they waited for the other end.
    pub waits_for_other_end: f64,
    /// Whether that is known.
    pub visible: bool,
    /// Of the time of waiting for the other end, the share in which a program of the job had more to give and was not relieved of it.
    pub supplied: f64,
    /// Whether the watch started the program, so that it cannot be watched for longer.
    pub command: bool,
    /// Whether the program is ssh.
    pub ssh: bool,
    /// Whether the transfer goes over UDP, of which the kernel keeps no record.
    pub udp: bool,
}

/// Of what there was too little to say anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lacking {
    /// Of data.
    Bytes,
    /// Of data over TCP: they go over UDP.
    Udp,
    /// Of time.
    Time,
}
