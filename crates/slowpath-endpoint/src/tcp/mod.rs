//! TCP as a state machine.
//!
//! * [`Config`]: which TCP, as data.
//! * [`Connection`]: one connection; start here. Its two halves are `sender`, whose documentation names its parts, and
//!   `receiver`.
//!
//! Congestion control lives in the crate's `cc` module.

mod ack;
mod config;
mod connection;
mod delivery;
mod losses;
mod order;
mod pacer;
mod queue;
mod rack;
mod receiver;
mod recovery;
mod reduction;
mod rtt;
mod sacks;
mod scoreboard;
mod sender;
mod stream;
mod timeouts;
mod timer;
mod train;
mod transmit;
mod undo;
mod usage;

pub use config::{
    AckPolicy, CISCO_FTP_BUFFER, Config, CongestionControl, EcnMode, LINUX_SHARE, Pacing, ReceiveWindow,
    Recovery, SendBuffer,
};
pub use connection::{Connection, Events, Info, Standing, State};
pub use receiver::ReceiverCounters;
pub use sender::SenderCounters;

pub use crate::cc::State as RecoveryState;
