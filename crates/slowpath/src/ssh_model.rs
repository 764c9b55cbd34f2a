//! What a transfer of the SSH family looks like from the network, for simulated time.
//!
//! | OpenSSH | here | why |
//! |---|---|---|
//! | login before the data | none | the programs' own meters leave it out too |
//! | 2 MiB channel window | none | it binds above 2 MiB per round trip, 1.4 Gbit/s at 12 ms |
//! | packets of 32 KiB with about 40 bytes around each | the file's bytes alone | a thousandth |
//! | marks by `IPQoS` and kind of session | those of the options; none where no option says | packages differ in their defaults |
//! | encryption takes processor time | none | the path is what is asked about |

use slowpath_packet::Dscp;
use slowpath_scenario::Workload;
use slowpath_scenario::plan::Job;
use slowpath_scenario::workload::{Direction, Iperf3Direction, Iperf3Protocol, Iperf3Test, Program};
use slowpath_units::Duration;

use crate::real_time::ssh_marks;

/// The bulk transfer that stands for an SSH job; `None` for any other job.
pub(crate) fn bulk(job: &Job) -> Option<Job> {
    let Workload::Ssh(ssh) = &job.workload else {
        return None;
    };
    let upload = ssh.direction != Direction::Download;
    let options = if upload {
        &ssh.client_options
    } else {
        &ssh.server_options
    };
    let test = Iperf3Test {
        protocol: Iperf3Protocol::Tcp,
        direction: if upload {
            Iperf3Direction::Forward
        } else {
            Iperf3Direction::Reverse
        },
        duration: None,
        size: Some(ssh.size),
        omit: Duration::ZERO,
        streams: 1,
        window: None,
        rate: None,
        length: None,
        mss: None,
        congestion_control: None,
        dscp: ssh_marks::wanted(ssh.method, options).and_then(Dscp::new),
        burst_interval: None,
        client: Program::Builtin,
        server: Program::Builtin,
    };
    Some(Job {
        workload: Workload::Iperf3(test),
        ..job.clone()
    })
}
