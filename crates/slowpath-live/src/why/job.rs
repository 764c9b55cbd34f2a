//! What the programs of a job did while its connection waited for them.
//!
//! An instant at which data wait in a socket belongs to the network. What is left belongs to a processor quota, to the
//! threads of the job while they run, to their waiting for a processor, to a device, or to what the threads sleep in.
//!
//! Each look stands for half of the time to the look before and half of that to the next: how long the programs were
//! waited for, and what their threads did meanwhile, is the share of the looks that saw both at once. So turns of the
//! programs and the network that are as short as two looks are told in the mean, wherever in a turn a look falls. How
//! much of the time in which a thread was ready it ran, the kernel counts (`/proc/PID/task/TID/schedstat`).

use std::collections::{HashMap, VecDeque};

use serde::Serialize;

use super::sample::{JobSample, TaskSample, Wait};
use slowpath_words::english_word;

/// What a job waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobPart {
    /// Reading the source: a file, a device.
    Source,
    /// A program kept a processor busy: cipher, compression, checksum.
    Processor,
    /// A program was ready and others had the processors.
    ProcessorQueue,
    /// A quota of the control group held the programs back.
    Throttled,
    /// Writing what came in: a file, a device, a slow reader here.
    Sink,
    /// A program paused of its own will.
    Pause,
    /// The programs waited for a word from the other end: requests, confirmations, an application's window.
    OtherEnd,
    /// The receiver at the other end: its window or its program.
    Receiver,
    /// The network between the ends.
    Network,
    /// Not visible from here.
    NotVisible,
}

impl JobPart {
    /// Every part, in the order of printing.
    pub const ALL: [Self; 10] = [
        Self::Source,
        Self::Processor,
        Self::ProcessorQueue,
        Self::Throttled,
        Self::Sink,
        Self::Pause,
        Self::OtherEnd,
        Self::Receiver,
        Self::Network,
        Self::NotVisible,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Source => english_word!("why-job-reading-source"),
            Self::Processor => english_word!("why-job-computing"),
            Self::ProcessorQueue => english_word!("why-job-waiting-processor"),
            Self::Throttled => english_word!("why-job-held-back-by-processor-quota"),
            Self::Sink => english_word!("why-job-writing-here"),
            Self::Pause => english_word!("why-job-pausing"),
            Self::OtherEnd => english_word!("why-job-waiting-answer"),
            Self::Receiver => english_word!("why-job-receiver"),
            Self::Network => english_word!("why-job-network"),
            Self::NotVisible => english_word!("why-job-not-visible"),
        }
    }
}

/// What the connections of a job waited for at an instant, as shares that sum to one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Waiting {
    /// Data waited in the socket for the network.
    pub network: f64,
    /// All was sent, and what is not acknowledged yet filled the send buffer or was being repaired: the network's if the
    /// programs waited for room.
    pub room: f64,
    /// Nothing waited: the programs had to act (or, receiving, did not read what was there).
    pub program: f64,
}

/// What the network did between two looks, as shares of that time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NetworkShares {
    /// Nothing was under way, as the kernel counted.
    pub idle: f64,
    /// A writer waited for room in the send buffer, as the kernel counted.
    pub buffer: f64,
    /// Data waited for the receiver at the other end, as the kernel counted.
    pub receiver: f64,
    /// What the connections waited for at the newest look: with that of the look before it tells the rest of the time.
    pub newest: Waiting,
    /// Whether the programs wrote anything into a socket.
    pub written: bool,
    /// Whether the job receives.
    pub receiving: bool,
    /// Whether what the programs were to act on waits in a socket here, unread.
    pub unread: bool,
}

/// One look at the programs, with what was waited for then.
#[derive(Debug, Clone)]
struct Look {
    programs: JobSample,
    network: NetworkShares,
}

impl Look {
    /// The share of this instant at which the programs were waited for.
    fn program(&self) -> f64 {
        let Waiting { program, room, .. } = self.network.newest;
        if waits_for_room(&self.programs) {
            program
        } else {
            program + room
        }
    }

    fn is_ready(&self) -> bool {
        running(&self.programs).next().is_some()
    }
}

/// What is known of one thread.
#[derive(Debug, Clone, Default)]
struct Thread {
    name: String,
    /// Seconds on a processor, as the kernel counted them; less for each of several that ran at once.
    ran: f64,
    /// Seconds that the looks saw it run or ready to.
    ready: f64,
    /// Of these, seconds in which the programs were waited for.
    waited_for: f64,
    /// Seconds on a processor between looks of [`JobTrack::beside`].
    beside: f64,
}

/// Adds up a job's time.
#[derive(Debug, Clone, Default)]
pub struct JobTrack {
    last: Option<Look>,
    network: f64,
    receiver: f64,
    /// Seconds between two looks at neither of which the programs were waited for, and between which they wrote nothing.
    beside: f64,
    /// Seconds in which the programs were waited for, that no look fell into.
    unseen: f64,
    /// Seconds in which the programs were waited for and a thread ran or was ready to.
    ready: f64,
    /// Seconds in which the programs were waited for and all threads slept, by what they slept in.
    asleep: HashMap<(JobPart, Option<String>), f64>,
    threads: HashMap<(u32, u32), Thread>,
    /// Threads that have ended, by name.
    ended: HashMap<String, Thread>,
    /// Seconds for which a quota held the programs back while they were waited for.
    throttled: f64,
    /// Of the newest looks at which a thread was ready: seconds, and those in which the programs were waited for.
    newest_ready: VecDeque<(f64, f64)>,
    busiest: HashMap<String, f64>,
    /// Looks at which one thread was ready or ran, and at which several were.
    together: (f64, f64),
    foreign: f64,
    supplied: f64,
    piped: f64,
    timed: f64,
    total: f64,
}

/// A job's time as it stands.
struct Account {
    processor: f64,
    throttled: f64,
    queue: f64,
    /// What the looks saw asleep, times this.
    asleep: f64,
    unseen: f64,
}

impl JobTrack {
    /// Takes the next look at the programs, with what the network did since the last.
    pub fn observe(&mut self, now: JobSample, network: NetworkShares) {
        let now = Look {
            programs: now,
            network,
        };
        if let Some(last) = self.last.take() {
            self.add(&last, &now);
        }
        self.last = Some(now);
    }

    /// Seconds by part; sums to the time watched.
    pub fn seconds(&self, part: JobPart) -> f64 {
        let account = self.account();
        let of = |part: JobPart| -> f64 {
            let asleep = self.asleep.iter().filter(|((of, _), _)| *of == part);
            asleep.map(|(_, seconds)| seconds).sum::<f64>() * account.asleep
        };
        match part {
            JobPart::Network => self.network,
            JobPart::Receiver => self.receiver,
            JobPart::Processor => account.processor,
            JobPart::Throttled => account.throttled,
            JobPart::ProcessorQueue => account.queue,
            JobPart::NotVisible => of(part) + account.unseen,
            JobPart::Source | JobPart::Sink | JobPart::Pause | JobPart::OtherEnd => of(part),
        }
    }

    /// Seconds watched.
    pub const fn total(&self) -> f64 {
        self.total
    }

    /// The program behind a part, if one is.
    pub fn program(&self, part: JobPart) -> Option<&str> {
        let greatest = |a: &(&str, f64), b: &(&str, f64)| a.1.total_cmp(&b.1);
        let (name, _) = match part {
            JobPart::Processor => self.on_processor().max_by(greatest)?,
            JobPart::ProcessorQueue => self
                .all_threads()
                .map(|thread| (thread.name.as_str(), thread.waited_for))
                .max_by(greatest)?,
            _ => self
                .asleep
                .iter()
                .filter(|((of, _), _)| *of == part)
                .filter_map(|((_, name), seconds)| Some((name.as_deref()?, *seconds)))
                .max_by(greatest)?,
        };
        Some(name)
    }

    /// The thread that used the most of one processor, and how much of it, 0 to 1.
    pub fn busiest(&self) -> Option<(&str, f64)> {
        self.busiest
            .iter()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map(|(name, seconds)| (name.as_str(), seconds / self.total.max(1e-9)))
    }

    /// Of the time that is not visible, what is because programs are somebody else's, seconds.
    pub fn foreign(&self) -> f64 {
        self.foreign * self.account().asleep
    }

    /// Of the time of waiting for the other end, that in which a program of the job had more to give and was not relieved of it, seconds.
    pub fn supplied(&self) -> f64 {
        self.supplied * self.account().asleep
    }

    /// Of the time of waiting for the other end, that in which a pipe was waited for as well, seconds: a poll does not tell which of them was
    /// missed.
    pub fn piped(&self) -> f64 {
        self.piped * self.account().asleep
    }

    /// Of the time of waiting for the other end without a pipe or more to give, that in which a timer would have ended the sleep, seconds: a
    /// program that paces itself and one that would give up waiting look alike.
    pub fn timed(&self) -> f64 {
        self.timed * self.account().asleep
    }

    fn add(&mut self, last: &Look, now: &Look) {
        let network = &now.network;
        let seconds = now.programs.at.saturating_sub(last.programs.at) as f64 / 1e9;
        self.total += seconds;
        let ends = [last, now].map(|look| (look, look.program()));
        let rest = (1.0 - network.idle - network.buffer - network.receiver).max(0.0);
        let seen = ends[0].1 + ends[1].1;
        let mut program = network.idle + rest * seen / 2.0;
        if !waits_for_room(&now.programs) {
            program += network.buffer;
        }
        let program = seconds * program.min(1.0 - network.receiver);
        self.receiver += seconds * network.receiver;
        self.network += seconds * (1.0 - network.receiver) - program;
        let mut ready = 0.0;
        let beside = seen <= 0.0 && !network.written;
        if beside {
            self.beside += seconds;
        }
        if seen > 0.0 {
            for (look, share) in ends {
                let seconds = program * share / seen;
                if look.is_ready() {
                    ready += seconds;
                } else {
                    self.slept(look, seconds);
                }
            }
        } else {
            self.unseen += program;
        }
        self.ready += ready;
        self.ran(ends, seconds, beside);
        let looks = ends.iter().filter(|(look, _)| look.is_ready()).count();
        if looks > 0 {
            self.newest_ready.push_back((seconds * looks as f64 / 2.0, ready));
            if self.newest_ready.len() > QUOTA_LOOKS {
                self.newest_ready.pop_front();
            }
        }
        self.held_back(now.programs.throttled.saturating_sub(last.programs.throttled) as f64 / 1e6);
    }

    /// Books time in which no thread ran, by what the threads of a look sleep in.
    fn slept(&mut self, look: &Look, seconds: f64) {
        let (part, program) = asleep(&look.programs, look.network.receiving, look.network.unread);
        *self.asleep.entry((part, program.map(str::to_owned))).or_default() += seconds;
        match part {
            JobPart::NotVisible if !look.programs.visible => self.foreign += seconds,
            JobPart::OtherEnd if look.programs.supplied => self.supplied += seconds,
            JobPart::OtherEnd if look.programs.piped => self.piped += seconds,
            JobPart::OtherEnd if look.programs.timed => self.timed += seconds,
            _ => {}
        }
    }

    /// Books what each thread ran, and what the looks at both ends saw of it.
    fn ran(&mut self, ends: [(&Look, f64); 2], seconds: f64, beside: bool) {
        let [(last, _), (now, _)] = ends;
        match running(&now.programs).count() {
            0 => {}
            1 => self.together.0 += 1.0,
            _ => self.together.1 += 1.0,
        }
        let before: HashMap<(u32, u32), u64> = last
            .programs
            .tasks
            .iter()
            .map(|task| ((task.process, task.thread), task.ran))
            .collect();
        let ran = |task: &TaskSample| {
            let old = before.get(&(task.process, task.thread));
            task.ran.saturating_sub(*old.unwrap_or(&task.ran)) as f64 / 1e9
        };
        let all: f64 = now.programs.tasks.iter().map(ran).sum();
        let busiest = now.programs.tasks.iter().max_by(|a, b| ran(a).total_cmp(&ran(b)));
        let most = busiest.map_or(0.0, ran);
        if let Some(task) = busiest {
            *self.busiest.entry(task.name.clone()).or_default() += most;
        }
        // Others that ran in turns with the busiest add to it, others that ran beside it do not.
        let (one, several) = self.together;
        let turns = if one > 0.0 { one / (one + several) } else { 0.0 };
        let counted = ((all - most) * turns + most) / all.max(f64::MIN_POSITIVE);
        for (look, share) in ends {
            for task in running(&look.programs) {
                let thread = self.threads.entry((task.process, task.thread)).or_default();
                thread.name.clone_from(&task.name);
                thread.ready += seconds / 2.0;
                thread.waited_for += seconds / 2.0 * share;
            }
        }
        for task in &now.programs.tasks {
            let thread = self.threads.entry((task.process, task.thread)).or_default();
            thread.name.clone_from(&task.name);
            thread.ran += ran(task) * counted;
            if beside {
                thread.beside += ran(task) * counted;
            }
        }
        let ended = before.keys().filter(|&key| {
            let is = |task: &TaskSample| (task.process, task.thread) == *key;
            !now.programs.tasks.iter().any(is)
        });
        for key in ended {
            if let Some(thread) = self.threads.remove(key) {
                let all = self.ended.entry(thread.name.clone()).or_default();
                all.ran += thread.ran;
                all.ready += thread.ready;
                all.waited_for += thread.waited_for;
                all.beside += thread.beside;
                all.name = thread.name;
            }
        }
    }

    /// Books what a quota held back: the kernel tells when that is over, so it was before.
    fn held_back(&mut self, seconds: f64) {
        if seconds <= 0.0 {
            return;
        }
        let (mut ready, mut waited_for) = (0.0, 0.0);
        for (all, of_programs) in self.newest_ready.iter().rev() {
            if ready >= seconds {
                break;
            }
            ready += all;
            waited_for += of_programs;
        }
        let share = if ready > 0.0 { waited_for / ready } else { 1.0 };
        self.throttled += seconds * share;
    }

    fn all_threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.values().chain(self.ended.values())
    }

    /// What each thread ran while the programs were waited for, seconds.
    ///
    /// What it ran beside the network is the least of two: of what the kernel counted, the share of the looks that saw it ready
    /// then (where few did, that of all threads); and what it ran between looks that both saw the network waited for, and
    /// between which nothing was written. A thread that wakes up often is often ready and runs little.
    fn on_processor(&self) -> impl Iterator<Item = (&str, f64)> {
        let sum = |of: fn(&Thread) -> f64| self.all_threads().map(of).sum::<f64>();
        let (ready, waited_for) = (sum(|thread| thread.ready), sum(|thread| thread.waited_for));
        let network = self.network + self.receiver;
        let usual = if ready > 0.0 {
            1.0 - waited_for / ready
        } else {
            network / self.total.max(f64::MIN_POSITIVE)
        };
        self.all_threads().map(move |thread| {
            let share = (thread.ready - thread.waited_for + FEW_S * usual) / (thread.ready + FEW_S);
            let between = if self.beside > 0.0 {
                thread.beside / self.beside * network
            } else {
                f64::INFINITY
            };
            (
                thread.name.as_str(),
                thread.ran - (thread.ran * share).min(between),
            )
        })
    }

    /// Puts together what the looks saw and what the kernel counted; sums to the time in which the programs were waited for.
    fn account(&self) -> Account {
        let asleep: f64 = self.asleep.values().sum();
        let seen = self.ready + asleep;
        if seen <= 0.0 {
            return Account {
                processor: 0.0,
                throttled: 0.0,
                queue: 0.0,
                asleep: 0.0,
                unseen: self.unseen,
            };
        }
        let whole = seen + self.unseen;
        let ready = self.ready * whole / seen;
        let ran: f64 = self.on_processor().map(|(_, seconds)| seconds).sum();
        let processor = ran.min(whole);
        let throttled = self.throttled.min((ready - processor).max(0.0));
        Account {
            processor,
            throttled,
            queue: (ready - processor - throttled).max(0.0),
            // What ran is counted, what slept is seen: what ran between two looks had been taken for sleep.
            asleep: (whole - ready.max(processor)) / asleep.max(f64::MIN_POSITIVE),
            unseen: 0.0,
        }
    }
}

/// The threads that run or are ready to.
fn running(look: &JobSample) -> impl Iterator<Item = &TaskSample> {
    look.tasks.iter().filter(|task| task.state == 'R')
}

/// Whether the programs may wait to write into a socket: none runs, and none is known to wait for anything else.
fn waits_for_room(sample: &JobSample) -> bool {
    let (part, _) = asleep(sample, false, false);
    running(sample).next().is_none() && matches!(part, JobPart::OtherEnd | JobPart::NotVisible)
}

/// Most looks back in which a quota may have held the programs back: ten of its usual periods of 100 ms.
const QUOTA_LOOKS: usize = 100;
/// Seconds of looks below which what they saw of one thread is little against what they saw of all: five looks.
const FEW_S: f64 = 0.05;

/// What a job waits for whose threads do not run.
///
/// Where bytes wait `unread` in a socket here, nobody waits for the other end: a program that sleeps for any of its descriptors pauses.
fn asleep(look: &JobSample, receiving: bool, unread: bool) -> (JobPart, Option<&str>) {
    let tasks = &look.tasks;
    let device = if receiving { JobPart::Sink } else { JobPart::Source };
    let one = |wanted: &dyn Fn(&TaskSample) -> bool| tasks.iter().find(|task| wanted(task));
    if let Some(task) = one(&|task| task.state == 'D') {
        return (device, Some(&task.name));
    }
    if let Some(task) = one(&|task| task.wait == Wait::ReadFile) {
        return (JobPart::Source, Some(&task.name));
    }
    if let Some(task) = one(&|task| task.wait == Wait::WriteFile) {
        return (JobPart::Sink, Some(&task.name));
    }
    if let Some(task) = one(&|task| task.wait == Wait::Pause) {
        return (JobPart::Pause, Some(&task.name));
    }
    // The program that should write is none of the job's.
    if let Some(task) = one(&|task| task.wait == Wait::ReadPipe) {
        return (JobPart::Source, Some(&task.name));
    }
    // So is the program that should read.
    if receiving && let Some(task) = one(&|task| task.wait == Wait::WritePipe) {
        return (JobPart::Sink, Some(&task.name));
    }
    let waits = one(&|task| task.wait == Wait::Descriptors).filter(|_| look.visible);
    if let Some(task) = waits.filter(|_| unread) {
        return (JobPart::Pause, Some(&task.name));
    }
    if waits.is_some() {
        return (JobPart::OtherEnd, None);
    }
    (JobPart::NotVisible, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(state: char, ran: u64, wait: Wait) -> TaskSample {
        TaskSample {
            process: 7,
            thread: 7,
            name: "gzip".to_owned(),
            state,
            ran,
            wait,
        }
    }

    fn look(at: u64, throttled: u64, task: TaskSample) -> JobSample {
        JobSample {
            at: at * 10_000_000,
            tasks: vec![task],
            throttled,
            supplied: false,
            piped: false,
            timed: false,
            visible: true,
        }
    }

    /// A program that reads at a rate of its own waits with a timer for its socket, in which bytes wait.
    #[test]
    fn a_program_that_lets_bytes_wait_in_its_socket_pauses() {
        let unread = NetworkShares {
            receiving: true,
            unread: true,
            ..PROGRAM
        };
        let mut job = JobTrack::default();
        job.observe(look(0, 0, task('S', 0, Wait::Descriptors)), unread);
        job.observe(look(1, 0, task('S', 0, Wait::Descriptors)), unread);
        assert!((job.seconds(JobPart::Pause) - 0.01).abs() < 1e-9, "{job:?}");
        assert_eq!(job.program(JobPart::Pause), Some("gzip"));
        let full = task('S', 0, Wait::WritePipe);
        job.observe(look(2, 0, full), unread);
        // Half of the time between two looks for each of them.
        assert!((job.seconds(JobPart::Sink) - 0.005).abs() < 1e-9, "{job:?}");
    }

    #[test]
    fn waiting_for_the_other_end_with_more_to_give_is_told_apart() {
        for supplied in [true, false] {
            let mut job = JobTrack::default();
            for at in 0..2 {
                let mut now = look(at, 0, task('S', 0, Wait::Descriptors));
                now.supplied = supplied;
                job.observe(now, PROGRAM);
            }
            assert!((job.seconds(JobPart::OtherEnd) - 0.01).abs() < 1e-9);
            assert_eq!(job.supplied() > 0.0, supplied);
        }
    }

    #[test]
    fn waiting_for_a_pipe_and_a_socket_at_once_is_told_apart() {
        for (piped, supplied) in [(true, false), (true, true), (false, false)] {
            let mut job = JobTrack::default();
            for at in 0..2 {
                let mut now = look(at, 0, task('S', 0, Wait::Descriptors));
                (now.piped, now.supplied) = (piped, supplied);
                job.observe(now, PROGRAM);
            }
            assert!((job.seconds(JobPart::OtherEnd) - 0.01).abs() < 1e-9);
            assert_eq!(job.piped() > 0.0, piped && !supplied);
        }
    }

    #[test]
    fn what_is_not_visible_is_somebody_elses_only_where_it_is() {
        for visible in [true, false] {
            let mut job = JobTrack::default();
            for at in 0..2 {
                let mut now = look(at, 0, task('S', 0, Wait::Unknown));
                now.visible = visible;
                job.observe(now, PROGRAM);
            }
            assert!((job.seconds(JobPart::NotVisible) - 0.01).abs() < 1e-9);
            assert_eq!(job.foreign() > 0.0, !visible);
        }
    }

    const PROGRAM: NetworkShares = NetworkShares {
        idle: 0.0,
        buffer: 0.0,
        receiver: 0.0,
        newest: Waiting {
            network: 0.0,
            room: 0.0,
            program: 1.0,
        },
        written: false,
        receiving: false,
        unread: false,
    };

    fn sum(job: &JobTrack) -> f64 {
        JobPart::ALL.iter().map(|&part| job.seconds(part)).sum()
    }

    #[test]
    fn the_parts_sum_to_the_whole() {
        let mut job = JobTrack::default();
        let mixed = NetworkShares {
            receiver: 0.1,
            newest: Waiting {
                network: 0.5,
                room: 0.0,
                program: 0.5,
            },
            ..NetworkShares::default()
        };
        for number in 0..101 {
            job.observe(
                look(
                    number,
                    number * 1_000,
                    task('R', number * 2_000_000, Wait::Unknown),
                ),
                mixed,
            );
        }
        assert!((sum(&job) - 1.0).abs() < 1e-9 && (job.total() - 1.0).abs() < 1e-9);
        let percent = |part| format!("{:.1}", job.seconds(part) * 100.0);
        // Half of all 2 ms in 10 on a processor was the program's, as was half of what a quota held back.
        assert_eq!(
            [
                percent(JobPart::Network),
                percent(JobPart::Receiver),
                percent(JobPart::Throttled),
                percent(JobPart::Processor),
                percent(JobPart::ProcessorQueue)
            ],
            ["45.0", "10.0", "4.5", "10.0", "30.5"]
        );
        assert_eq!(job.program(JobPart::Processor), Some("gzip"));
        assert!((job.busiest().unwrap().1 - 0.2).abs() < 0.01);
    }

    #[test]
    fn what_sleeping_threads_wait_for() {
        let cases = [
            (task('D', 0, Wait::Unknown), JobPart::Source),
            (task('S', 0, Wait::ReadFile), JobPart::Source),
            (task('S', 0, Wait::ReadPipe), JobPart::Source),
            (task('S', 0, Wait::Pause), JobPart::Pause),
            (task('S', 0, Wait::Descriptors), JobPart::OtherEnd),
            (task('S', 0, Wait::Unknown), JobPart::NotVisible),
        ];
        for (task, part) in cases {
            let mut job = JobTrack::default();
            job.observe(look(0, 0, task.clone()), PROGRAM);
            job.observe(look(1, 0, task), PROGRAM);
            assert!((job.seconds(part) - 0.01).abs() < 1e-9, "{part:?}");
        }
    }

    #[test]
    fn what_a_quota_held_back_is_told_when_it_ends() {
        // 20 ms on a processor, then 80 ms held back, of which the kernel tells in the look after it.
        let mut job = JobTrack::default();
        job.observe(look(0, 0, task('R', 0, Wait::Unknown)), PROGRAM);
        for number in 1..=100_u64 {
            let (period, step) = ((number - 1) / 10, (number - 1) % 10);
            let ran = period * 20_000_000 + (step + 1).min(2) * 10_000_000;
            let now = task('R', ran, Wait::Unknown);
            job.observe(look(number, period * 80_000, now), PROGRAM);
        }
        let share = |part| (job.seconds(part) * 100.0).round();
        assert!(
            (share(JobPart::Processor) - 20.0).abs() <= 2.0,
            "{}",
            share(JobPart::Processor)
        );
        // The newest period was not told of yet.
        assert!(share(JobPart::Throttled) >= 70.0, "{}", share(JobPart::Throttled));
        let all: f64 = JobPart::ALL.iter().map(|&part| job.seconds(part)).sum();
        assert!((all - 1.0).abs() < 1e-9, "{all}");
    }

    #[test]
    fn a_quota_that_ends_within_a_look_is_no_unseen_time() {
        // 13 ms on a processor and 87 held back, over and over: one look in ten has both.
        let mut job = JobTrack::default();
        job.observe(look(0, 0, task('R', 0, Wait::Unknown)), PROGRAM);
        for number in 1..=200_u64 {
            let (period, step) = ((number - 1) / 10, (number - 1) % 10);
            let ran = period * 13_000_000 + ((step + 1) * 10_000_000).min(13_000_000);
            let now = task('R', ran, Wait::Unknown);
            job.observe(look(number, period * 87_000, now), PROGRAM);
        }
        let share = |part| job.seconds(part) / job.total();
        assert!(
            share(JobPart::NotVisible) < 0.005,
            "{}",
            share(JobPart::NotVisible)
        );
        assert!(
            (share(JobPart::Processor) - 0.13).abs() < 0.02,
            "{}",
            share(JobPart::Processor)
        );
        assert!(
            (share(JobPart::Throttled) - 0.83).abs() < 0.03,
            "{}",
            share(JobPart::Throttled)
        );
    }

    #[test]
    fn of_a_thread_that_woke_up_half_of_the_time_between_is_what_it_slept_in() {
        let mut job = JobTrack::default();
        job.observe(look(0, 0, task('S', 0, Wait::ReadPipe)), PROGRAM);
        job.observe(look(1, 0, task('R', 5_000_000, Wait::Unknown)), PROGRAM);
        assert!((job.seconds(JobPart::Source) - 0.005).abs() < 1e-9);
        assert!((job.seconds(JobPart::Processor) - 0.005).abs() < 1e-9);
    }

    #[test]
    fn what_ran_between_two_looks_was_no_sleep() {
        let mut job = JobTrack::default();
        job.observe(look(0, 0, task('S', 0, Wait::ReadPipe)), PROGRAM);
        job.observe(look(1, 0, task('S', 4_000_000, Wait::ReadPipe)), PROGRAM);
        assert!((job.seconds(JobPart::Source) - 0.006).abs() < 1e-9, "{job:?}");
        assert!((job.seconds(JobPart::Processor) - 0.004).abs() < 1e-9, "{job:?}");
    }

    #[test]
    fn a_full_buffer_is_the_networks_only_where_somebody_waits_for_room() {
        for (wait, part) in [
            (Wait::Pause, JobPart::Pause),
            (Wait::ReadPipe, JobPart::Source),
            (Wait::Descriptors, JobPart::Network),
        ] {
            let full = NetworkShares {
                newest: Waiting {
                    room: 1.0,
                    ..Waiting::default()
                },
                ..PROGRAM
            };
            let mut job = JobTrack::default();
            job.observe(look(0, 0, task('S', 0, wait)), full);
            job.observe(look(1, 0, task('S', 0, wait)), full);
            assert!((job.seconds(part) - 0.01).abs() < 1e-9, "{part:?}");
        }
    }

    /// Turns of a job, looked at every 10 ms and a little: `held` milliseconds in which the programs are waited for, and as
    /// many as `sent` in which data wait in the socket while the program sleeps for half a millisecond at a time.
    fn turns(held: f64, sent: f64, state: char, wait: Wait) -> JobTrack {
        let (held, whole) = (held / 1e3, (held + sent) / 1e3);
        let ran = |at: f64| (at / whole).floor() * held + (at % whole).min(held);
        let mut job = JobTrack::default();
        for number in 0..900_u32 {
            let at = f64::from(number) * 0.010_13;
            let is_held = at % whole < held;
            let ran = if state == 'R' { ran(at) * 1e9 } else { 0.0 };
            let now = JobSample {
                at: (at * 1e9) as u64,
                ..look(
                    0,
                    0,
                    if is_held {
                        task(state, ran as u64, wait)
                    } else {
                        task('S', ran as u64, Wait::Pause)
                    },
                )
            };
            let newest = Waiting {
                network: f64::from(u8::from(!is_held)),
                room: 0.0,
                program: f64::from(u8::from(is_held)),
            };
            job.observe(
                now,
                NetworkShares {
                    newest,
                    ..NetworkShares::default()
                },
            );
        }
        job
    }

    #[test]
    fn turns_as_short_as_two_looks_are_told_in_the_mean() {
        for (held, sent) in [
            (3.0, 4.0),
            (5.0, 17.0),
            (16.0, 15.0),
            (13.0, 9.0),
            (24.0, 3.0),
            (70.0, 31.0),
        ] {
            for (state, wait, part) in [
                ('R', Wait::Unknown, JobPart::Processor),
                ('S', Wait::ReadPipe, JobPart::Source),
                ('S', Wait::Pause, JobPart::Pause),
            ] {
                let job = turns(held, sent, state, wait);
                let found = job.seconds(part) / job.total();
                let case = format!("{held} {sent} {part:?}: {found}");
                assert!((found - held / (held + sent)).abs() < 0.02, "{case}");
                let network = job.seconds(JobPart::Network) / job.total();
                assert!(
                    (network - sent / (held + sent)).abs() < 0.02,
                    "{case}, network {network}"
                );
                assert!((sum(&job) - job.total()).abs() < 1e-9, "{case}");
            }
        }
    }

    #[test]
    fn what_a_program_computes_while_data_wait_is_not_waited_for() {
        let mut job = JobTrack::default();
        for number in 0..200_u64 {
            // It computes all the time, and in every other two looks data wait.
            let waits = f64::from(u8::from(number % 4 < 2));
            let newest = Waiting {
                network: waits,
                room: 0.0,
                program: 1.0 - waits,
            };
            job.observe(
                look(number, 0, task('R', number * 10_000_000, Wait::Unknown)),
                NetworkShares {
                    newest,
                    ..NetworkShares::default()
                },
            );
        }
        let share = |part| job.seconds(part) / job.total();
        assert!((share(JobPart::Processor) - 0.5).abs() < 0.02, "{job:?}");
        assert!((share(JobPart::Network) - 0.5).abs() < 0.02, "{job:?}");
    }

    /// Turns of 3 ms on the processor and 22 ms of data in the socket, for the end of which the program asks every half
    /// millisecond: for that it is ready for a third of the time, and runs for a twentieth.
    #[test]
    fn one_that_is_often_ready_and_runs_little_beside_the_network_has_run_in_its_turns() {
        let mut job = JobTrack::default();
        let (turn, held) = (0.025, 0.003);
        let number = |at: f64| (at / turn).floor();
        let ran = |at: f64| {
            number(at) * (held + 0.0011) + (at % turn).min(held) + (at % turn - held).max(0.0) * 0.05
        };
        for look_number in 0..900_u32 {
            let (before, at) = (
                f64::from(look_number) * 0.010_13 - 0.010_13,
                f64::from(look_number) * 0.010_13,
            );
            let program = f64::from(u8::from(at % turn < held));
            let asks = look_number % 3 == 0;
            let state = if program > 0.0 || asks { 'R' } else { 'S' };
            let now = JobSample {
                at: (at * 1e9) as u64,
                ..look(0, 0, task(state, (ran(at) * 1e9) as u64, Wait::Pause))
            };
            let written = [before, at].map(|at| ((at - held) / turn).floor());
            let shares = NetworkShares {
                newest: Waiting {
                    network: 1.0 - program,
                    room: 0.0,
                    program,
                },
                written: written[0] < written[1],
                ..NetworkShares::default()
            };
            job.observe(now, shares);
        }
        let share = |part| job.seconds(part) / job.total();
        assert!((share(JobPart::Processor) - 0.12).abs() < 0.02, "{job:?}");
        assert!(share(JobPart::ProcessorQueue) < 0.02, "{job:?}");
    }

    #[test]
    fn threads_that_end_keep_what_they_ran() {
        let mut job = JobTrack::default();
        for number in 0..100_u64 {
            // A new program every tenth look.
            let mut now = task('R', number % 10 * 10_000_000, Wait::Unknown);
            now.thread = 100 + (number / 10) as u32;
            job.observe(look(number, 0, now), PROGRAM);
        }
        assert_eq!(job.threads.len(), 1);
        // Of each the first look only says what it had run before.
        assert!((job.seconds(JobPart::Processor) - 0.9).abs() < 0.01, "{job:?}");
        assert!((sum(&job) - job.total()).abs() < 1e-9);
    }

    #[test]
    fn a_receiving_job_in_a_device_writes() {
        let mut job = JobTrack::default();
        let receiving = NetworkShares {
            receiving: true,
            ..PROGRAM
        };
        job.observe(look(0, 0, task('D', 0, Wait::Unknown)), receiving);
        job.observe(look(1, 0, task('D', 0, Wait::Unknown)), receiving);
        assert!(job.seconds(JobPart::Sink) > 0.009);
    }
}
