//! What the programs of a job did while its connection waited for them.
//!
//! An instant at which data wait in a socket belongs to the network. What is left belongs, in this order, to a processor
//! quota, to the busiest thread of the job while it runs, to its waiting for a processor, to a device, and to what its
//! threads sleep in.

use std::collections::HashMap;

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

/// What the network did in an interval, as shares that sum to one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NetworkShares {
    /// Data waited in the socket for the network.
    pub network: f64,
    /// All was sent and the send buffer was full of what was not acknowledged yet: the network's if the programs waited for room.
    pub buffer: f64,
    /// Data waited for the receiver at the other end.
    pub receiver: f64,
    /// Nothing waited: the programs had to act (or, receiving, did not read what was there).
    pub program: f64,
    /// Nobody can tell.
    pub unknown: f64,
    /// Whether the job receives.
    pub receiving: bool,
    /// Whether what the programs were to act on waits in a socket here, unread.
    pub unread: bool,
}

impl NetworkShares {
    /// Whether the network and the programs share the time.
    fn is_shared(&self) -> bool {
        self.program > 0.0 && self.program < 1.0
    }
}

/// What may lie on the wrong side in looks that the network and the programs share: such a look is split at its middle.
#[derive(Debug, Clone, Default)]
struct Halved {
    /// Seconds on a processor that found no room on the programs' side.
    ran: f64,
    /// Seconds of such looks that were booked to what the threads sleep in, and to what.
    slept: Option<(JobPart, Option<String>, f64)>,
}

/// Adds up a job's time.
#[derive(Debug, Clone, Default)]
pub struct JobTrack {
    last: Option<JobSample>,
    seconds: HashMap<JobPart, f64>,
    by_program: HashMap<(JobPart, String), f64>,
    busiest: HashMap<String, f64>,
    /// Newest time for which a thread was ready and did not run: the kernel tells what it waited for once it runs again.
    untold: f64,
    halved: Halved,
    /// What the threads had slept in before one of them was ready at the newest look, without a word yet of since when.
    woken: Option<(JobPart, f64)>,
    /// Looks at which one thread was ready or ran, and at which several were.
    together: (f64, f64),
    foreign: f64,
    supplied: f64,
    piped: f64,
    total: f64,
}

impl JobTrack {
    /// Takes the next look at the programs, with what the network did since the last.
    pub fn observe(&mut self, now: JobSample, network: NetworkShares) {
        let Some(last) = self.last.take() else {
            self.last = Some(now);
            return;
        };
        let seconds = now.at.saturating_sub(last.at) as f64 / 1e9;
        self.total += seconds;
        let mut network = network;
        if waits_for_room(&now) {
            network.network += network.buffer;
        } else {
            network.program += network.buffer;
        }
        self.add(JobPart::Network, None, seconds * network.network);
        self.add(JobPart::Receiver, None, seconds * network.receiver);
        self.add(JobPart::NotVisible, None, seconds * network.unknown);
        self.programs(&last, &now, seconds, seconds * network.program, &network);
        self.last = Some(now);
    }

    /// Seconds by part; sums to the time watched.
    pub fn seconds(&self, part: JobPart) -> f64 {
        self.seconds.get(&part).copied().unwrap_or(0.0)
    }

    /// Seconds watched.
    pub const fn total(&self) -> f64 {
        self.total
    }

    /// The program behind a part, if one is.
    pub fn program(&self, part: JobPart) -> Option<&str> {
        self.by_program
            .iter()
            .filter(|((of, _), _)| *of == part)
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map(|((_, name), _)| name.as_str())
    }

    /// The thread that used the most of one processor, and how much of it, 0 to 1.
    pub fn busiest(&self) -> Option<(&str, f64)> {
        self.busiest
            .iter()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map(|(name, seconds)| (name.as_str(), seconds / self.total.max(1e-9)))
    }

    fn add(&mut self, part: JobPart, program: Option<&str>, seconds: f64) {
        if seconds == 0.0 {
            return;
        }
        *self.seconds.entry(part).or_default() += seconds;
        if let Some(program) = program {
            *self.by_program.entry((part, program.to_owned())).or_default() += seconds;
        }
    }

    fn programs(
        &mut self,
        last: &JobSample,
        now: &JobSample,
        seconds: f64,
        left: f64,
        network: &NetworkShares,
    ) {
        let before: HashMap<(u32, u32), &TaskSample> = last
            .tasks
            .iter()
            .map(|task| ((task.process, task.thread), task))
            .collect();
        let grown = |task: &TaskSample| {
            let old = before.get(&(task.process, task.thread));
            let ran = task.ran.saturating_sub(old.map_or(task.ran, |old| old.ran));
            let waited = task
                .waited
                .saturating_sub(old.map_or(task.waited, |old| old.waited));
            (ran as f64 / 1e9, waited as f64 / 1e9)
        };
        let busiest = now.tasks.iter().max_by(|a, b| {
            let (a, b) = (grown(a), grown(b));
            (a.0 + a.1).total_cmp(&(b.0 + b.1))
        });
        let mut left = left;
        let mut take = |this: &mut Self, part, program: Option<&str>, most: f64| {
            let taken = most.min(left).max(0.0);
            left -= taken;
            this.add(part, program, taken);
        };
        let throttled = now.throttled.saturating_sub(last.throttled) as f64 / 1e6;
        let runs = running(now).count();
        match runs {
            0 => {}
            1 => self.together.0 += 1.0,
            _ => self.together.1 += 1.0,
        }
        let (mut ran, mut waited) = (0.0, 0.0);
        if let Some(task) = busiest {
            (ran, waited) = grown(task);
            // Others that ran in turns with it add to it, others that ran beside it do not.
            *self.busiest.entry(task.name.clone()).or_default() += ran;
            let all: f64 = now.tasks.iter().map(|task| grown(task).0).sum();
            let (one, several) = self.together;
            let turns = if one > 0.0 { one / (one + several) } else { 0.0 };
            ran = ((all - ran) * turns + ran).min(seconds.max(ran));
            // What a quota held back counts as waiting for a processor as well.
            waited = (waited - throttled).max(0.0);
            // In a look that is the network's at one end, what ran while every thread slept at both ran on the network's side.
            let asleep = runs == 0 && running(last).next().is_none();
            let (here, queued) = if network.is_shared() && asleep {
                (0.0, 0.0)
            } else {
                (ran, waited)
            };
            take(self, JobPart::Processor, Some(&task.name), here);
            if network.is_shared() {
                self.ran_elsewhere(
                    &task.name,
                    here.min(seconds) - here.min(seconds * network.program),
                );
            }
            take(self, JobPart::Throttled, None, throttled);
            take(self, JobPart::ProcessorQueue, Some(&task.name), queued);
        } else {
            take(self, JobPart::Throttled, None, throttled);
        }
        // What does not fit into this look was in earlier ones.
        let mut room = seconds;
        let told = [ran, throttled, waited].map(|told| {
            let beyond = (told - room).max(0.0);
            room = (room - told).max(0.0);
            beyond
        });
        self.tell(told);
        let slept = |task: &TaskSample| {
            let old = before.get(&(task.process, task.thread));
            old.is_some_and(|old| old.state != 'R')
        };
        match running(now).next() {
            // Ready at both looks: what it did not run it waited for a processor, or was held back by a quota.
            Some(task) if !slept(task) => {
                self.untold += left.max(0.0);
                self.add(JobPart::ProcessorQueue, Some(&task.name), left);
            }
            // It woke up: before that it slept in what the last look saw. Since when it waits is told once it has run.
            Some(_) => {
                let part = self.slept(last, network, left);
                if ran + throttled + waited <= 0.0 {
                    self.woken = Some((part, left));
                }
            }
            None => {
                self.slept(now, network, left);
            }
        }
    }

    /// Books time in which no thread ran, by what the threads of a look sleep in; gives that.
    fn slept(&mut self, look: &JobSample, network: &NetworkShares, seconds: f64) -> JobPart {
        let (part, program) = asleep(look, network.receiving, network.unread);
        let mut seconds = seconds;
        if network.is_shared() && part != JobPart::NotVisible && !look.supplied {
            let ran = self.halved.ran.min(seconds.max(0.0));
            self.halved.ran -= ran;
            self.add(JobPart::Processor, None, ran);
            seconds -= ran;
            let before = self.halved.slept.take().filter(|(of, ..)| *of == part);
            let slept = before.map_or(0.0, |(.., slept)| slept) + seconds;
            self.halved.slept = Some((part, program.map(str::to_owned), slept.min(LOOKS_S)));
        }
        self.add(part, program, seconds);
        match part {
            JobPart::NotVisible if !look.visible => self.foreign += seconds,
            JobPart::OtherEnd if look.supplied => self.supplied += seconds,
            JobPart::OtherEnd if look.piped => self.piped += seconds,
            _ => {}
        }
        part
    }

    /// Books time on a processor that lay on the network's side of a look: it is what an earlier or a later one took for sleep.
    fn ran_elsewhere(&mut self, program: &str, seconds: f64) {
        let mut left = seconds.max(0.0);
        if let Some((part, sleeper, slept)) = self.halved.slept.take() {
            let moved = left.min(slept);
            left -= moved;
            self.add(part, sleeper.as_deref(), -moved);
            self.add(JobPart::Processor, Some(program), moved);
            self.halved.slept = Some((part, sleeper, slept - moved));
        }
        self.halved.ran = (self.halved.ran + left).min(LOOKS_S);
    }

    /// Of the time that is not visible, what is because programs are somebody else's, seconds.
    pub const fn foreign(&self) -> f64 {
        self.foreign
    }

    /// Of the time of waiting for the other end, that in which a program of the job had more to give and was not relieved of it, seconds.
    pub const fn supplied(&self) -> f64 {
        self.supplied
    }

    /// Of the time of waiting for the other end, that in which a pipe was waited for as well, seconds: a poll does not tell which of them was
    /// missed.
    pub const fn piped(&self) -> f64 {
        self.piped
    }

    /// Books what the kernel told of earlier looks: time on a processor, held back by a quota, waiting for a processor.
    fn tell(&mut self, [ran, throttled, waited]: [f64; 3]) {
        for (part, told) in [(JobPart::Throttled, throttled), (JobPart::Processor, ran)] {
            let earlier = told.min(self.untold);
            if earlier > 0.0 {
                *self.seconds.entry(part).or_default() += earlier;
                *self.seconds.entry(JobPart::ProcessorQueue).or_default() -= earlier;
                self.untold -= earlier;
            }
        }
        if let Some((part, left)) = self.woken.take() {
            let waited = waited.min(left);
            self.add(part, None, -waited);
            self.add(JobPart::ProcessorQueue, None, waited);
        }
        self.untold = (self.untold - waited).max(0.0);
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

/// What may be on the wrong side of the looks that the network and the programs share, seconds: ten times half of a look.
const LOOKS_S: f64 = 0.05;

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
            waited: 0,
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
        assert!((job.seconds(JobPart::Sink) - 0.01).abs() < 1e-9, "{job:?}");
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
        network: 0.0,
        buffer: 0.0,
        receiver: 0.0,
        program: 1.0,
        unknown: 0.0,
        receiving: false,
        unread: false,
    };

    #[test]
    fn the_parts_sum_to_the_whole() {
        let mut job = JobTrack::default();
        let mixed = NetworkShares {
            network: 0.5,
            receiver: 0.1,
            program: 0.4,
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
        let sum: f64 = JobPart::ALL.iter().map(|&part| job.seconds(part)).sum();
        assert!((sum - 1.0).abs() < 1e-9 && (job.total() - 1.0).abs() < 1e-9);
        let percent = |part| format!("{:.0}", job.seconds(part) * 100.0);
        // Of 4 ms in 10 that were the program's: 1 throttled, 2 running, 1 ready without running.
        assert_eq!(
            [
                percent(JobPart::Network),
                percent(JobPart::Receiver),
                percent(JobPart::Throttled),
                percent(JobPart::Processor),
                percent(JobPart::ProcessorQueue)
            ],
            ["50", "10", "10", "20", "10"]
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
            let mut now = task('R', ran, Wait::Unknown);
            now.waited = period * 80_000_000;
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
            let mut now = task('R', ran, Wait::Unknown);
            now.waited = period * 87_000_000;
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
    fn a_thread_that_woke_up_had_slept_in_what_was_seen_before() {
        let mut job = JobTrack::default();
        job.observe(look(0, 0, task('S', 0, Wait::ReadPipe)), PROGRAM);
        job.observe(look(1, 0, task('R', 2_000_000, Wait::Unknown)), PROGRAM);
        assert!((job.seconds(JobPart::Source) - 0.008).abs() < 1e-9);
        assert!((job.seconds(JobPart::Processor) - 0.002).abs() < 1e-9);
    }

    #[test]
    fn a_full_buffer_is_the_networks_only_where_somebody_waits_for_room() {
        for (wait, part) in [
            (Wait::Pause, JobPart::Pause),
            (Wait::ReadPipe, JobPart::Source),
            (Wait::Descriptors, JobPart::Network),
        ] {
            let full = NetworkShares {
                buffer: 1.0,
                program: 0.0,
                ..PROGRAM
            };
            let mut job = JobTrack::default();
            job.observe(look(0, 0, task('S', 0, wait)), full);
            job.observe(look(1, 0, task('S', 0, wait)), full);
            assert!((job.seconds(part) - 0.01).abs() < 1e-9, "{part:?}");
        }
    }

    #[test]
    fn a_thread_that_has_just_woken_up_had_slept_until_it_is_told_otherwise() {
        let woken = |then: u64| {
            let mut job = JobTrack::default();
            job.observe(look(0, 0, task('S', 0, Wait::Pause)), PROGRAM);
            job.observe(look(1, 0, task('R', 0, Wait::Unknown)), PROGRAM);
            let mut now = task('R', 5_000_000, Wait::Unknown);
            now.waited = then;
            job.observe(look(2, 0, now), PROGRAM);
            [JobPart::Pause, JobPart::ProcessorQueue, JobPart::Processor]
                .map(|part| (job.seconds(part) * 1e3).round() as u32)
        };
        // It ran at once, or had been ready for 8 ms when it was looked at.
        assert_eq!(woken(0), [10, 5, 5]);
        assert_eq!(woken(13_000_000), [2, 13, 5]);
    }

    /// Turns of 16 ms on the processor and 15 ms of data in the socket, looked at every 10 ms.
    #[test]
    fn what_ran_beside_the_middle_of_a_look_is_no_pause() {
        let mut job = JobTrack::default();
        let is_network = |at: f64| at % 0.031 >= 0.016;
        let ran = |at: f64| (at / 0.031).floor() * 0.016 + (at % 0.031).min(0.016);
        let number = |at: u32| f64::from(at) * 0.01 + 0.002;
        job.observe(
            look(0, 0, task('R', (ran(0.002) * 1e9) as u64, Wait::Unknown)),
            PROGRAM,
        );
        for at in 1..600_u32 {
            let ends = [number(at - 1), number(at)].map(|at| f64::from(u8::from(is_network(at))) / 2.0);
            let network = ends[0] + ends[1];
            let state = if is_network(number(at)) { 'S' } else { 'R' };
            let now = task(state, (ran(number(at)) * 1e9) as u64, Wait::Pause);
            let shares = NetworkShares {
                network,
                program: 1.0 - network,
                ..NetworkShares::default()
            };
            job.observe(look(at.into(), 0, now), shares);
        }
        let share = |part| job.seconds(part) / job.total();
        assert!(share(JobPart::Pause) < 0.02, "{job:?}");
        assert!((share(JobPart::Processor) - 0.516).abs() < 0.02, "{job:?}");
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
