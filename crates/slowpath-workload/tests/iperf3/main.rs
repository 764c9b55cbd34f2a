//! iperf3: ours and the real one in every combination, on loopback.

mod agreement;
mod disturbances;
mod support;
