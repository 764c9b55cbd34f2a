//! iperf3's control connection and datagrams, as client and as server hear them: see
//! `slowpath_workload::iperf3::conversation`.
//!
//! The first byte chooses the side.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_workload::iperf3::conversation::hear;

fuzz_target!(|data: &[u8]| {
    let _ = hear(data);
});
