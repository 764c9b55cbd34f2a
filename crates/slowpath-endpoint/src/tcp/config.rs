//! What distinguishes one TCP from another, as plain data.

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{BitRate, Duration};

/// The settings of one host's TCP; every field has the value that Linux uses unless said otherwise.
///
/// Start from [`Config::linux`] and change what differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Config {
    /// Maximum segment size to announce, in bytes; options are taken from it when sending.
    pub mss: u16,
    /// Window scaling (RFC 7323); the shift follows from the largest receive buffer.
    pub window_scaling: bool,
    /// Selective acknowledgement (RFC 2018), D-SACK included (RFC 2883).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// How the advertised window comes about.
    pub receive: ReceiveWindow,
    /// When acknowledgements are sent.
    pub ack: AckPolicy,
    /// How much the application may write ahead.
    pub send_buffer: SendBuffer,
    /// Congestion control of the data this host sends.
    pub congestion: CongestionControl,
    /// Initial window in segments (RFC 6928).
    pub initial_window: u32,
    /// Congestion window in segments at which slow start ends, as a route may set it (`ssthresh`); `None` leaves it
    /// to congestion control.
    pub slow_start_threshold: Option<u32>,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: EcnMode,
    /// Pacing of data segments.
    pub pacing: Pacing,
    /// Pacing rate after slow start, in per cent of a window per round trip (`tcp_pacing_ca_ratio`).
    #[serde(skip_serializing_if = "is_linux_pacing")]
    pub pacing_percent: u32,
    /// Most segments that leave together as one train, as segmentation offload makes them (`gso_max_segs`); 1 sends
    /// each on its own. Trains fill short queues sooner.
    pub largest_train: u32,
    /// Nagle's algorithm (RFC 9293, section 3.7.4); off corresponds to `TCP_NODELAY`.
    pub nagle: bool,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Whether the congestion window shrinks after an idle period (RFC 2861; `tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// DSCP of every packet this host's TCP sends; an application may choose another.
    pub dscp: Dscp,
}

/// How the advertised window comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum ReceiveWindow {
    /// Linux with autotuning (`tcp_rmem`; `net/ipv4/tcp_input.c`, `tcp_rcv_space_adjust`).
    #[serde(rename_all = "kebab-case")]
    Autotuned {
        /// Buffer at the start in bytes, the second value of `tcp_rmem`.
        initial: u32,
        /// Largest buffer in bytes, the third value of `tcp_rmem`.
        maximum: u32,
        /// Share of the buffer that data may fill, in 256ths (`scaling_ratio`). Linux begins with 128 and weighs the
        /// first full segment: 1448 bytes in 2304 of memory are 160.
        share_256: u32,
    },
    /// A Linux buffer set by `SO_RCVBUF`: `bytes` after the kernel's doubling; no autotuning.
    #[serde(rename_all = "kebab-case")]
    Fixed {
        /// Buffer in bytes, as `getsockopt` shows it.
        bytes: u32,
        /// Share of the buffer that data may fill, in 256ths.
        share_256: u32,
    },
    /// A foreign stack: the window is exactly `buffer` less what the application has not read.
    ///
    /// No memory accounting, no rounding; without scaling it is capped at 65535 bytes.
    #[serde(rename_all = "kebab-case")]
    Exact {
        /// Buffer in bytes.
        buffer: u32,
        /// An unasked-for window update goes out when reading has opened the window by at least this much
        /// beyond the right edge last advertised, in bytes.
        update: u32,
    },
}

/// When acknowledgements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AckPolicy {
    /// Full-sized segments per acknowledgement: 1 acknowledges each, 2 is RFC 5681's rule.
    pub every: u32,
    /// Longest delay of an acknowledgement.
    pub delay: Duration,
    /// Shortest delay, where the stack adapts it (Linux: 40 ms).
    pub min_delay: Duration,
    /// Segments acknowledged at once at the start of a connection (Linux: 16 or half the window).
    pub quick: u32,
    /// How long reports of out-of-order segments, after the first three, may be gathered into one; zero reports each
    /// (Linux since 4.18: 1 ms or 5 % of the round trip; `tcp_comp_sack_delay_ns`).
    #[serde(default)]
    pub compress: Duration,
}

/// How much the application may write ahead of what has been acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum SendBuffer {
    /// Linux with autotuning (`tcp_wmem`; `tcp_sndbuf_expand`).
    Autotuned {
        /// Buffer at the start in bytes, the second value of `tcp_wmem`.
        initial: u32,
        /// Largest buffer in bytes, the third value of `tcp_wmem`.
        maximum: u32,
    },
    /// A buffer of exactly this many bytes of data.
    Fixed {
        /// Bytes.
        bytes: u32,
    },
}

/// A congestion control algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// Reno as Linux has it: RFC 5681 with the recovery of this TCP.
    Reno,
    /// BIC (Xu, Harfoush, Rhee 2004; `net/ipv4/tcp_bic.c`).
    Bic,
    /// CUBIC (RFC 9438) with HyStart as Linux has it (`net/ipv4/tcp_cubic.c`).
    Cubic,
    /// CUBIC without HyStart.
    CubicWithoutHystart,
    /// BBR version 1 (`net/ipv4/tcp_bbr.c`).
    Bbr,
    /// Reno as RFC 5681, section 3.1, writes it, with a window in real numbers.
    RenoRfc5681,
    /// CUBIC as RFC 9438, sections 4.1 to 4.9, writes it, in real numbers and without HyStart.
    CubicRfc9438,
}

impl CongestionControl {
    /// Each algorithm that can be asked for by name: Linux's names, and those of RFCs for what they say.
    pub const NAMES: [(&str, Self); 6] = [
        ("cubic", Self::Cubic),
        ("reno", Self::Reno),
        ("bic", Self::Bic),
        ("bbr", Self::Bbr),
        ("cubic-rfc9438", Self::CubicRfc9438),
        ("reno-rfc5681", Self::RenoRfc5681),
    ];

    /// The algorithm called `name`; `None` if there is no model of it.
    pub fn by_name(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, control)| *control)
    }
}

/// Explicit congestion notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Neither asks for it nor accepts it.
    Off,
    /// Accepts it when the other end asks (`tcp_ecn = 2`).
    Accept,
    /// Asks for it on connections it opens, accepts it on others (`tcp_ecn = 1`).
    Request,
}

/// Pacing of data segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// As the congestion control wants: BBR paces, the others do not.
    Auto,
    /// Every algorithm paces at its own rate, as with the `fq` queueing discipline.
    On,
    /// As `Auto`, and never faster than this (`SO_MAX_PACING_RATE`).
    Capped(BitRate),
}

/// Loss recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Recovery {
    /// RACK (RFC 8985); needs SACK on the connection. Otherwise the count of duplicate ACKs decides.
    pub rack: bool,
    /// Tail loss probe (RFC 8985, section 7); needs SACK on the connection.
    pub tail_loss_probe: bool,
    /// Proportional rate reduction (RFC 6937); otherwise the window is halved at once and inflated (RFC 6582).
    pub proportional: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Undo of reductions that D-SACK or timestamps prove needless (RFC 3708, RFC 4015).
    pub undo: bool,
    /// Forward RTO recovery (RFC 5682); needs SACK on the connection.
    pub forward_rto: bool,
    /// Smallest retransmission timeout (Linux 200 ms; RFC 6298 1 s).
    pub min_rto: Duration,
    /// Largest retransmission timeout.
    pub max_rto: Duration,
    /// Retransmission timeout before the first measurement (RFC 6298, section 2.1).
    pub initial_rto: Duration,
    /// Duplicate ACKs that mean loss (RFC 5681, section 3.2).
    pub duplicate_acks: u32,
    /// Timeouts in a row after which the connection is given up (`tcp_retries2`).
    pub retries: u32,
}

impl Config {
    /// Linux 6.x with its defaults, CUBIC and an Ethernet MTU.
    pub const fn linux() -> Self {
        Self {
            mss: 1460,
            window_scaling: true,
            sack: true,
            timestamps: true,
            receive: ReceiveWindow::Autotuned {
                initial: 131_072,
                maximum: 33_554_432,
                share_256: LINUX_SHARE,
            },
            ack: AckPolicy {
                every: 2,
                delay: Duration::from_millis(200),
                min_delay: Duration::from_millis(40),
                quick: 16,
                compress: Duration::from_millis(1),
            },
            send_buffer: SendBuffer::Autotuned {
                initial: 87_040,
                maximum: 4_194_304,
            },
            congestion: CongestionControl::Cubic,
            initial_window: 10,
            slow_start_threshold: None,
            ecn: EcnMode::Accept,
            pacing: Pacing::Auto,
            pacing_percent: LINUX_PACING,
            largest_train: 44,
            nagle: true,
            recovery: Recovery::linux(),
            slow_start_after_idle: true,
            dscp: Dscp::DEFAULT,
        }
    }

    /// Windows as an iperf3 3.1.3 build on Cygwin sets it up: both buffers fixed at 212,992 bytes.
    pub const fn windows_iperf3() -> Self {
        let mut config = Self::linux();
        config.timestamps = false;
        config.receive = ReceiveWindow::Exact {
            buffer: 212_992,
            update: 2 * 1460,
        };
        config.send_buffer = SendBuffer::Fixed { bytes: 212_992 };
        config.ack = AckPolicy {
            every: 2,
            delay: Duration::from_millis(50),
            min_delay: Duration::from_millis(50),
            quick: 0,
            compress: Duration::ZERO,
        };
        config
    }

    /// A Cisco IOS or IOS-XE router with its FTP client's 16,384-byte buffer, or with `ip tcp window-size`.
    ///
    /// Each segment is acknowledged before the client reads it: with one acknowledgement for two segments an odd
    /// one would wait in every round trip, and 14,924 bytes per round trip could not be reached.
    /// `window_size` is the configured window in bytes; scaling is offered only above 65,535.
    pub const fn cisco(window_size: Option<u32>, selective_ack: bool, timestamp: bool) -> Self {
        let mut config = Self::linux();
        let buffer = match window_size {
            Some(bytes) => bytes,
            None => CISCO_FTP_BUFFER,
        };
        config.window_scaling = buffer > 65_535;
        config.sack = selective_ack;
        config.timestamps = timestamp;
        config.receive = ReceiveWindow::Exact {
            buffer,
            update: buffer_half(buffer),
        };
        config.send_buffer = SendBuffer::Fixed { bytes: 16_384 };
        config.ack = AckPolicy {
            every: 1,
            delay: Duration::from_millis(200),
            min_delay: Duration::from_millis(200),
            quick: 0,
            compress: Duration::ZERO,
        };
        config.congestion = CongestionControl::Reno;
        config.largest_train = 1;
        config.initial_window = 4;
        config.ecn = EcnMode::Off;
        config.recovery = Recovery::new_reno();
        config
    }

    /// The window scale shift that this configuration offers, if it offers scaling.
    ///
    /// Linux decides by the largest buffer it may ever have, or by half of one set by `SO_RCVBUF`
    /// (`tcp_select_initial_window`): a window set to 60 KiB is not scaled and ends at 65,535 bytes. Elsewhere the
    /// smallest shift with which the largest window fits 16 bits (RFC 7323, section 2.3; at most 14).
    pub const fn scale_shift(&self) -> Option<u8> {
        if !self.window_scaling {
            return None;
        }
        let space = match self.receive {
            ReceiveWindow::Autotuned { maximum, .. } => maximum,
            ReceiveWindow::Fixed { bytes, .. } => bytes / 2,
            ReceiveWindow::Exact { buffer, .. } => buffer,
        };
        let bits = u32::BITS - space.leading_zeros();
        Some(if bits <= 16 {
            0
        } else if bits > 30 {
            14
        } else {
            (bits - 16) as u8
        })
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::linux()
    }
}

impl Recovery {
    /// As Linux 6.x does it.
    pub const fn linux() -> Self {
        Self {
            rack: true,
            tail_loss_probe: true,
            proportional: true,
            limited_transmit: true,
            undo: true,
            forward_rto: true,
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(120),
            initial_rto: Duration::from_secs(1),
            duplicate_acks: 3,
            retries: 15,
        }
    }

    /// NewReno by the book (RFC 5681, RFC 6582, RFC 6298).
    pub const fn new_reno() -> Self {
        Self {
            rack: false,
            tail_loss_probe: false,
            proportional: false,
            limited_transmit: true,
            undo: false,
            forward_rto: false,
            min_rto: Duration::from_secs(1),
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(1),
            duplicate_acks: 3,
            retries: 15,
        }
    }
}

impl Default for Recovery {
    fn default() -> Self {
        Self::linux()
    }
}

/// Left out where it is as always: plans made before there was a choice keep their digests.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
const fn is_linux_pacing(percent: &u32) -> bool {
    *percent == LINUX_PACING
}

/// Linux's pacing after slow start, in per cent.
const LINUX_PACING: u32 = 120;

const fn buffer_half(buffer: u32) -> u32 {
    // BSD's rule: half the buffer, or two segments for larger ones (`tcp_output`).
    if buffer / 2 < 8_192 { buffer / 2 } else { 8_192 }
}

/// Share of a Linux receive buffer that full segments fill, in 256ths: 1448 bytes in 2304 of memory.
///
/// A packet of 1500 bytes with its head room takes 2048 bytes, and 256 for its description.
pub const LINUX_SHARE: u32 = 160;

/// Receive buffer of the routers' FTP client in bytes: every window published for it is this less whole segments.
pub const CISCO_FTP_BUFFER: u32 = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_shifts_follow_the_buffer() {
        assert_eq!(Config::linux().scale_shift(), Some(10), "32 MiB");
        assert_eq!(Config::cisco(None, false, false).scale_shift(), None);
        assert_eq!(Config::cisco(Some(2_500_000), true, false).scale_shift(), Some(6));
        assert_eq!(Config::windows_iperf3().scale_shift(), Some(2));
        let mut set = Config::linux();
        for (bytes, shift) in [(122_880, 0), (131_072, 1), (262_144, 2)] {
            set.receive = ReceiveWindow::Fixed {
                bytes,
                share_256: 158,
            };
            assert_eq!(set.scale_shift(), Some(shift), "{bytes}");
        }
    }
}
