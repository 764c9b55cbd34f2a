//! Words for what limits a transfer.

use slowpath_analyze::{Flag, Limit, Reason};

/// The limit in words, as a noun: `receiver's window`.
pub const fn limit_words(limit: Limit) -> &'static str {
    match limit {
        Limit::ReceiverWindow => "receiver's window",
        Limit::ReceiverApplication => "receiving application",
        Limit::SenderApplication => "sending application",
        Limit::SendBuffer => "send buffer",
        Limit::ProtocolWindow => "application protocol's window",
        Limit::BottleneckBandwidth => "bottleneck bandwidth",
        Limit::SharedBottleneck => "shared bottleneck",
        Limit::Policed => "policer",
        Limit::RandomLoss => "random loss",
        Limit::EcnCongestion => "congestion marks (ECN)",
        Limit::DscpTreatment => "DSCP treatment",
        Limit::DeviceLimit => "device on the path",
        Limit::HostCpu => "processor of a host",
        Limit::MtuBlackHole => "MTU black hole",
        Limit::Reordering => "reordering",
        Limit::SlowStart => "slow start",
        Limit::CaptureLoss => "capture incomplete",
        Limit::Unknown => "cannot be told",
    }
}

/// The stable name of a flag, as in JSON.
pub fn flag_name(flag: Flag) -> String {
    name_of(&flag)
}

/// The stable name of a reason, as in JSON.
pub fn reason_name(reason: Reason) -> String {
    name_of(&reason)
}

/// The name under which a unit variant is serialised.
fn name_of<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
