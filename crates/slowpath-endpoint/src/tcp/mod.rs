//! TCP as a state machine.
//!
//! * [`Config`]: which TCP, as data.
//! * [`Connection`]: one connection; start here. Its two halves are `sender` (with `ack`, `recovery`, `rack`,
//!   `scoreboard`, `rtt` and `stream`) and `receiver`.
//!
//! Congestion control lives in the crate's `cc` module.

mod ack;
mod config;
mod connection;
mod rack;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod sender;
mod stream;

pub use config::{
    AckPolicy, CISCO_FTP_BUFFER, Config, CongestionControl, EcnMode, LINUX_SHARE, Pacing, ReceiveWindow,
    Recovery, SendBuffer,
};
pub use connection::{Connection, Events, Info, State};
pub use receiver::ReceiverCounters;
pub use sender::SenderCounters;

pub use crate::cc::State as RecoveryState;
