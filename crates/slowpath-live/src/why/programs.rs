//! The programs of a target: its processes, their sockets, and what their threads wait for.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use slowpath_sys::process_table::{self, Descriptor, Status, SystemCall};

use super::error::WhyError;
use super::sample::{JobSample, TaskSample, Wait};
use super::target::Target;

/// The processes of the target.
#[derive(Default)]
pub(super) struct Programs {
    pub(super) list: Vec<Status>,
    pub(super) by_inode: HashMap<u32, String>,
    /// When the first program that holds a socket was started, nanoseconds after the machine was.
    pub(super) started: HashMap<u32, u64>,
    pub(super) visible: bool,
}

/// The process, its descendants but `except`, and what sockets they hold.
pub(super) fn programs(root: u32, target: &Target, except: Option<u32>) -> Result<Programs, WhyError> {
    let all = process_table::processes().map_err(WhyError::Diagnostics)?;
    let mut family: HashSet<u32> = HashSet::from([root]);
    let own = process_table::own_number().unwrap_or(0);
    // Children may have smaller numbers than their parents: until nothing is added.
    loop {
        let before = family.len();
        family.extend(
            all.iter()
                .filter(|process| family.contains(&process.parent))
                .map(|process| process.id)
                .collect::<Vec<_>>(),
        );
        if family.len() == before {
            break;
        }
    }
    let mut programs = Programs {
        list: all
            .into_iter()
            .filter(|process| family.contains(&process.id) && process.id != own && Some(process.id) != except)
            .collect(),
        by_inode: HashMap::new(),
        started: HashMap::new(),
        visible: true,
    };
    for process in &programs.list {
        match process_table::socket_inodes(process.id) {
            Ok(inodes) => {
                for inode in inodes {
                    programs.by_inode.insert(inode, process.name.clone());
                    // A child may have it from its parent.
                    let started = programs.started.entry(inode).or_insert(u64::MAX);
                    *started = (*started).min(process.started * TICK);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                programs.visible = false;
                if process.id == root && matches!(target, Target::Process(_)) {
                    return Err(WhyError::NotPermitted(root, process.name.clone()));
                }
            }
            Err(_) => {} // gone meanwhile
        }
    }
    Ok(programs)
}

/// What their threads do at `at`.
pub(super) fn job_sample(at: u64, programs: &Programs, throttling: Option<&PathBuf>) -> JobSample {
    let mut sample = JobSample {
        at,
        visible: programs.visible,
        throttled: throttling
            .and_then(|file| process_table::throttled(file).ok())
            .map_or(0, |throttled| throttled.microseconds),
        ..JobSample::default()
    };
    let mut processes: Vec<u32> = programs.list.iter().map(|process| process.id).collect();
    let mut next = 0;
    while let Some(&process) = processes.get(next) {
        next += 1;
        for thread in process_table::threads(process).unwrap_or_default() {
            if sample.tasks.len() == TASKS {
                return sample;
            }
            let scheduled = process_table::scheduled(process, thread.id).unwrap_or_default();
            let waits = (thread.state != 'R')
                .then(|| waits_in(process, thread.id))
                .flatten();
            sample.timed |= waits.is_some_and(|(_, timed)| timed);
            let wait = waits.map(|(wait, _)| wait);
            // One that slept when its state was read may have woken up since.
            let state = if thread.state == 'S' && wait.is_none() {
                'R'
            } else {
                thread.state
            };
            let wait = wait.unwrap_or(Wait::Unknown);
            let input = (wait == Wait::Descriptors && thread.id == process)
                .then(|| process_table::descriptor(process, 0).ok())
                .flatten();
            // A file can always be read: who sleeps all the same waits for something else.
            sample.supplied |= wait == Wait::WritePipe || input == Some(Descriptor::File);
            sample.piped |= input == Some(Descriptor::Pipe);
            if wait == Wait::Child {
                // What a shell waits for may be younger than the list: its programs come and go.
                let children = process_table::children(process, thread.id).unwrap_or_default();
                let new = children.into_iter().filter(|child| !processes.contains(child));
                let new: Vec<u32> = new.collect();
                processes.extend(new);
            }
            sample.tasks.push(TaskSample {
                process,
                thread: thread.id,
                name: thread.name,
                state,
                ran: scheduled.ran,
                wait,
            });
        }
    }
    sample
}

/// What a thread sleeps in, and whether a timer ends its sleep for descriptors at the latest; `None` if it has woken up since.
fn waits_in(process: u32, thread: u32) -> Option<(Wait, bool)> {
    let Ok(call) = process_table::system_call(process, thread) else {
        return Some((Wait::Unknown, false));
    };
    let call = call?;
    let reading = READS.contains(&call.number);
    if reading || WRITES.contains(&call.number) {
        let wait = match process_table::descriptor(process, call.first) {
            Ok(Descriptor::File) if reading => Wait::ReadFile,
            Ok(Descriptor::File) => Wait::WriteFile,
            Ok(Descriptor::Pipe) if reading => Wait::ReadPipe,
            Ok(Descriptor::Pipe) => Wait::WritePipe,
            Ok(Descriptor::Socket(_)) => Wait::Descriptors,
            _ => Wait::Unknown,
        };
        return Some((wait, false));
    }
    let wait = match call.number {
        number if POLLS.contains(&number) => Wait::Descriptors,
        number if PAUSES.contains(&number) => Wait::Pause,
        number if CHILDREN.contains(&number) => Wait::Child,
        _ => Wait::Unknown,
    };
    Some((wait, is_timed(&call)))
}

/// Whether a call that waits for descriptors ends after some time all the same.
fn is_timed(call: &SystemCall) -> bool {
    let is_in = |table: &[(i64, usize)]| table.iter().find(|(number, _)| *number == call.number).copied();
    let given = |(_, place): (i64, usize)| call.more[place - 1];
    // A negative number of milliseconds is for ever.
    let milliseconds = is_in(MILLISECONDS).is_some_and(|entry| given(entry) & NEGATIVE == 0);
    milliseconds || is_in(TIMERS).is_some_and(|entry| given(entry) != 0)
}

/// The sign of a 32-bit argument.
const NEGATIVE: u64 = 1 << 31;
/// What starts of programs are told in, nanoseconds.
const TICK: u64 = 10_000_000;
/// Most threads looked at.
const TASKS: usize = 64;

/// Numbers of system calls by their architecture's table.
#[cfg(target_arch = "x86_64")]
mod calls {
    /// read, readv, pread64, preadv, splice, sendfile's input is its second argument and is not told.
    pub(super) const READS: &[i64] = &[0, 17, 19, 45, 47, 275, 295, 327];
    /// write, pwrite64, writev, sendto, sendmsg, pwritev, pwritev2, fsync, fdatasync.
    pub(super) const WRITES: &[i64] = &[1, 18, 20, 44, 46, 74, 75, 296, 328];
    /// poll, select, pselect6, ppoll, epoll_wait, epoll_pwait, epoll_pwait2.
    pub(super) const POLLS: &[i64] = &[7, 23, 232, 270, 271, 281, 441];
    /// Those that take milliseconds, with the place of that argument from 0: poll, epoll_wait, epoll_pwait.
    pub(super) const MILLISECONDS: &[(i64, usize)] = &[(7, 2), (232, 3), (281, 3)];
    /// Those that take the address of a time, 0 for none: select, pselect6, ppoll, epoll_pwait2.
    pub(super) const TIMERS: &[(i64, usize)] = &[(23, 4), (270, 4), (271, 2), (441, 3)];
    /// nanosleep, clock_nanosleep.
    pub(super) const PAUSES: &[i64] = &[35, 230];
    /// wait4, waitid.
    pub(super) const CHILDREN: &[i64] = &[61, 247];
}
#[cfg(target_arch = "aarch64")]
mod calls {
    pub(super) const READS: &[i64] = &[63, 65, 67, 69, 76, 207, 212, 286];
    pub(super) const WRITES: &[i64] = &[64, 66, 68, 70, 82, 83, 206, 211, 287];
    pub(super) const POLLS: &[i64] = &[22, 72, 73, 441];
    pub(super) const MILLISECONDS: &[(i64, usize)] = &[(22, 3)];
    pub(super) const TIMERS: &[(i64, usize)] = &[(72, 4), (73, 2), (441, 3)];
    pub(super) const PAUSES: &[i64] = &[101, 115];
    pub(super) const CHILDREN: &[i64] = &[95, 260];
}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls {
    pub(super) const READS: &[i64] = &[];
    pub(super) const WRITES: &[i64] = &[];
    pub(super) const POLLS: &[i64] = &[];
    pub(super) const MILLISECONDS: &[(i64, usize)] = &[];
    pub(super) const TIMERS: &[(i64, usize)] = &[];
    pub(super) const PAUSES: &[i64] = &[];
    pub(super) const CHILDREN: &[i64] = &[];
}
use calls::{CHILDREN, MILLISECONDS, PAUSES, POLLS, READS, TIMERS, WRITES};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// A program that paces itself sleeps in select with a time (iperf3 -b); one that waits for an answer gives none.
    #[test]
    fn a_timer_is_seen_in_the_call() {
        let call = |number, place: usize, value| {
            let mut more = [0; 5];
            more[place - 1] = value;
            is_timed(&SystemCall {
                number,
                first: 6,
                more,
            })
        };
        assert!(call(270, 4, 0x7ffe_6e7e_7870));
        assert!(!call(270, 4, 0));
        assert!(call(7, 2, 250) && call(232, 3, 0));
        assert!(!call(7, 2, 0xffff_ffff) && !call(232, 3, u64::MAX));
        assert!(!call(0, 4, 1));
    }
}
