//! Words for what limits a transfer.

use slowpath_verdict::{Flag, Limit, Reason};

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

/// The colour of a limit on white, as `#rrggbb`; the page's style has the same.
pub const fn limit_colour(limit: Limit) -> &'static str {
    match limit {
        Limit::ReceiverWindow => "#0a6cb0",
        Limit::ReceiverApplication => "#b2518e",
        Limit::SenderApplication => "#8a8a20",
        Limit::SendBuffer => "#3d9bd0",
        Limit::ProtocolWindow => "#4a3f9f",
        Limit::BottleneckBandwidth => "#0a8f6a",
        Limit::SharedBottleneck => "#3a9a8f",
        Limit::Policed => "#d04a00",
        Limit::RandomLoss => "#d9900a",
        Limit::EcnCongestion => "#b0a03a",
        Limit::DscpTreatment => "#97408f",
        Limit::DeviceLimit => "#86265a",
        Limit::HostCpu => "#c25a6c",
        Limit::MtuBlackHole => "#55585f",
        Limit::Reordering => "#6fb3c9",
        Limit::SlowStart => "#9aa0aa",
        Limit::CaptureLoss | Limit::Unknown => "#b9bcc4",
    }
}
