//! What a reader of a configuration should know, each with a next step.

use serde::{Deserialize, Serialize};

/// One thing to know about a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The line where it shows; `None` for something that is not there.
    pub line: Option<usize>,
    /// What it is.
    pub trap: Trap,
}

impl Finding {
    /// Where it shows, what it is, and what to do about it.
    pub fn sentence(&self) -> String {
        match self.line {
            Some(line) => format!("line {line}: {}", self.trap.sentence()),
            None => self.trap.sentence(),
        }
    }
}

/// The traps that the readers know.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "trap", rename_all = "kebab-case")]
pub enum Trap {
    /// The device would refuse or ignore the line.
    Refused {
        /// Why.
        why: String,
    },
    /// Window scaling stays off, because the window fits 16 bits.
    WindowScalingOff {
        /// The configured window in bytes.
        window: u64,
    },
    /// A large window is configured, but losses are repaired one per round trip.
    SackOff,
    /// An acknowledged protocol with one block per round trip.
    OneBlockPerRoundTrip {
        /// Bytes per block.
        block: u64,
    },
    /// A class without bandwidth has the whole interface.
    DefaultClassUnlimited {
        /// The interface.
        interface: String,
        /// The class.
        class: u16,
    },
    /// The guarantees of an interface add up to more than it has.
    GuaranteesExceedSpeed {
        /// The interface.
        interface: String,
        /// Sum of the guarantees in bits per second.
        sum: u64,
        /// Speed in bits per second.
        speed: u64,
    },
    /// A ceiling above the interface's speed never binds.
    CeilingAboveSpeed {
        /// The interface.
        interface: String,
        /// The class.
        class: u16,
    },
    /// A policer's bucket empties before a transfer can react.
    SmallBucket {
        /// Bytes of the bucket.
        burst: u64,
        /// Its rate in bits per second.
        rate: u64,
        /// Milliseconds for which it lasts at its rate.
        holds_ms: u64,
    },
    /// A shaper's bucket that holds no full packet: it drops every packet that is larger.
    ShaperBucketBelowPacket {
        /// Bytes of the bucket.
        burst: u64,
    },
    /// A class whose ceiling is below its own rate.
    CeilingBelowRate {
        /// The class.
        class: String,
        /// Its guaranteed rate in bits per second.
        rate: u64,
        /// Its ceiling in bits per second.
        ceil: u64,
    },
    /// What no filter matches is sent to a class that is not there, and so past all classes.
    NoDefaultClass {
        /// The interface.
        interface: String,
        /// The class.
        class: String,
    },
    /// An MTU of IP above that of the interface, which holds.
    IpMtuAboveMtu {
        /// `ip mtu` in bytes.
        ip_mtu: u32,
        /// `mtu` in bytes.
        mtu: u32,
    },
    /// A congestion control that no kernel has by that name.
    UnknownCongestionControl {
        /// As written.
        name: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    /// A queue in a policy for packets that come in, where none can wait.
    QueueOnInput {
        /// The policy.
        policy: String,
    },
    /// A speed without a scheduler has no effect.
    SpeedWithoutQueue {
        /// The interface.
        interface: String,
    },
    /// Class settings without a scheduler that knows classes.
    ClassesWithoutScheduler {
        /// The interface.
        interface: String,
    },
    /// A class that the scheduler does not have.
    UnknownClass {
        /// The class as written.
        class: String,
    },
    /// A list names a filter that does not exist.
    UnknownFilter {
        /// The number.
        number: u32,
    },
    /// A filter exists but no list uses it.
    UnusedFilter {
        /// The number.
        number: u32,
    },
    /// A queue on the way reorders packets whose order the receiver's replay check wants.
    AntiReplayBehindQueue {
        /// The security association.
        policy: u32,
    },
    /// The tunnel's MTU is the default of 1280.
    TunnelMtuDefault {
        /// The tunnel.
        tunnel: u32,
    },
    /// The tunnel's packets are fragmented on the way out.
    TunnelMtuTooLarge {
        /// The tunnel.
        tunnel: u32,
        /// Its MTU.
        mtu: u32,
        /// The largest inner packet that fits.
        fits: u32,
    },
    /// Only the ToS bits are rewritten; the precedence, and with it cs1, stays.
    TosKeepsPrecedence,
    /// Window scaling is removed from passing handshakes.
    WindowScaleRemoved,
    /// Another line of the same option holds instead.
    NoEffect {
        /// The option.
        option: String,
        /// The line that holds.
        winner: usize,
        /// Whether the first value wins; else the last.
        first_wins: bool,
    },
    /// The reader does not know the setting, but one that is nearly spelled like it.
    Misspelt {
        /// As written.
        word: String,
        /// What was probably meant.
        meant: String,
    },
    /// OpenSSH refuses hexadecimal marks from 9.8.
    IpQosHex {
        /// The word.
        word: String,
        /// The same in decimal.
        decimal: u8,
    },
    /// OpenSSH ignores the old ToS words from 10.1.
    IpQosLegacyWord {
        /// The word.
        word: String,
    },
    /// Marked packets are treated differently on some lines.
    MarkedTransfer {
        /// The mark of transfers.
        mark: String,
    },
    /// Automatic buffers are not bounded by the limit on explicit ones, and the other way round.
    ExplicitLimitOnly {
        /// The setting.
        key: String,
    },
    /// A setting that takes away speed on long paths.
    SlowsLongPaths {
        /// The setting.
        key: String,
        /// What it does.
        what: String,
    },
}

impl Trap {
    /// What it is and what to do about it.
    pub fn sentence(&self) -> String {
        match self {
            Self::Refused { why } => format!("The device refuses this line: {why}. Correct it, or remove it."),
            Self::WindowScalingOff { window } => format!(
                "A window of {window} bytes fits 16 bits, so window scaling is not offered and each connection gets at most \
                 {window} bytes per round trip. Configure more than 65535 bytes."
            ),
            Self::SackOff => {
                "The window is large but selective acknowledgement is off: several losses in one window cost a round trip \
                 each. Add `ip tcp selective-ack`."
                    .to_owned()
            }
            Self::OneBlockPerRoundTrip { block } => format!(
                "TFTP sends one block of {block} bytes per round trip: {} bytes per second at 100 ms. Raise the block \
                 size, or use another protocol.",
                block * 10
            ),
            Self::DefaultClassUnlimited { interface, class } => format!(
                "Class {class} of {interface} takes every packet that no filter matches and has no property, so it has \
                 100 % of the interface and outcompetes the others. Give it a bandwidth."
            ),
            Self::GuaranteesExceedSpeed { interface, sum, speed } => format!(
                "The guarantees on {interface} add up to {sum} bit/s, its speed is {speed} bit/s: the device refuses the \
                 last. Lower them."
            ),
            Self::CeilingAboveSpeed { interface, class } => format!(
                "The bandwidth of class {class} is above the speed of {interface}: the device refuses it. Lower it."
            ),
            Self::SmallBucket { burst, .. } if *burst < FULL_PACKET => format!(
                "A bucket of {burst} bytes holds no full packet: those of a transfer never get through. Give it the rate times the \
                 round trip at least; 250 ms of the rate suit most paths."
            ),
            Self::SmallBucket { burst, rate, holds_ms } => format!(
                "A bucket of {burst} bytes is {holds_ms} ms of {rate} bit/s: it drops what one transfer sends at once long before the \
                 rate is reached. Give it the rate times the round trip at least; 250 ms of the rate suit most paths."
            ),
            Self::ShaperBucketBelowPacket { burst } => format!(
                "A bucket of {burst} bytes is smaller than a full packet, and tbf drops what is larger than its bucket: those of a \
                 transfer never get through. Give it a millisecond of the rate, and two packets at least."
            ),
            Self::CeilingBelowRate { class, rate, ceil } => format!(
                "Class {class} has a rate of {rate} bit/s above its ceiling of {ceil} bit/s, which it never exceeds. Lower the rate, or \
                 raise the ceiling."
            ),
            Self::NoDefaultClass { interface, class } => format!(
                "What no filter of {interface} matches is to get class {class}, and no packet can wait in a class of that number: it \
                 leaves past all classes, unshaped. Define the class, or name one that exists."
            ),
            Self::IpMtuAboveMtu { ip_mtu, mtu } => format!(
                "An `ip mtu` of {ip_mtu} is above the interface's `mtu` of {mtu}, and the smaller holds. Write `ip mtu {mtu}`, or raise \
                 `mtu`."
            ),
            Self::UnknownCongestionControl { name, meant: Some(meant) } => format!(
                "No congestion control is known as `{name}`, and the kernel refuses what none of its modules is called. Did you mean \
                 `{meant}`?"
            ),
            Self::UnknownCongestionControl { name, meant: None } => format!(
                "No congestion control is known as `{name}`, and the kernel refuses what none of its modules is called. Write one that \
                 `sysctl net.ipv4.tcp_available_congestion_control` names."
            ),
            Self::QueueOnInput { policy } => format!(
                "Policy {policy} has classes that shape or queue, but packets that come in do not wait: the device refuses it there. \
                 Police there, or shape what goes out."
            ),
            Self::SpeedWithoutQueue { interface } => format!(
                "`speed {interface}` has no effect without `queue {interface} type priority` or `shaping`. Add one of \
                 them, or remove the speed."
            ),
            Self::ClassesWithoutScheduler { interface } => format!(
                "{interface} has class settings but its queue is fifo, which has no classes. Add `queue {interface} type \
                 shaping` or `priority`."
            ),
            Self::UnknownClass { class } => {
                format!("There is no class {class}: its packets go to the default class. Define it, or use another.")
            }
            Self::UnknownFilter { number } => {
                format!("Filter {number} does not exist: the list skips it. Define it, or take it from the list.")
            }
            Self::UnusedFilter { number } => {
                format!("Filter {number} is in no list, so it has no effect. Add it to a class filter list.")
            }
            Self::AntiReplayBehindQueue { policy } => format!(
                "Policy {policy} checks sequence numbers, and a queue behind the encryption changes the order of packets: \
                 the other end drops those that come late. Set anti-replay-check=off at the receiving end."
            ),
            Self::TunnelMtuDefault { tunnel } => format!(
                "Tunnel {tunnel} has the default MTU of 1280 bytes: larger packets are fragmented or need a smaller MSS. \
                 Set `ip tunnel mtu` to what the line carries, and `ip tunnel tcp mss limit auto`."
            ),
            Self::TunnelMtuTooLarge { tunnel, mtu, fits } => format!(
                "Tunnel {tunnel} lets packets of {mtu} bytes in, but only {fits} fit the line after encapsulation: larger \
                 ones are fragmented. Set `ip tunnel mtu {fits}`."
            ),
            Self::TosKeepsPrecedence => {
                "Without precedence=0 only the four ToS bits are cleared, so cs1 stays cs1. Add precedence=0.".to_owned()
            }
            Self::WindowScaleRemoved => {
                "The router takes window scaling out of passing handshakes: every connection gets at most 65535 bytes per \
                 round trip. Turn it off."
                    .to_owned()
            }
            Self::NoEffect { option, winner, first_wins } => format!(
                "This {option} has no effect: the {} value wins, which is that of line {winner}. Change that line, and \
                 remove this one.",
                if *first_wins { "first" } else { "last" }
            ),
            Self::Misspelt { word, meant } => {
                format!("There is no setting `{word}` known here. Did you mean `{meant}`?")
            }
            Self::IpQosHex { word, decimal } => {
                format!("OpenSSH 9.8 and later refuse {word}. Write {decimal}.")
            }
            Self::IpQosLegacyWord { word } => {
                format!("OpenSSH 10.1 and later ignore {word} and send unmarked packets. Write a DSCP name, or none.")
            }
            Self::MarkedTransfer { mark } => format!(
                "Transfers are marked {mark}. Some lines police or drop marked packets; compare a transfer with `IPQoS \
                 none`."
            ),
            Self::ExplicitLimitOnly { key } => format!(
                "{key} bounds only buffers that a program sets itself; automatic buffers follow the third value of \
                 tcp_rmem and tcp_wmem. Change those for programs that set none."
            ),
            Self::SlowsLongPaths { key, what } => format!("{key}: {what}. Restore the default."),
        }
    }
}

/// A full IPv4 packet with the head of its Ethernet frame, bytes, which is what a policer counts there, and Linux's `tbf`.
pub const FULL_PACKET: u64 = 1_514;
