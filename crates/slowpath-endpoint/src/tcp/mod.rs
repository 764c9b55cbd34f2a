//! TCP as a state machine.

mod config;

pub use config::{
    AckPolicy, CISCO_FTP_BUFFER, Config, CongestionControl, EcnMode, Pacing, ReceiveWindow, Recovery,
    SendBuffer,
};
