//! Paths and changes drawn by a seed.

#![allow(clippy::cast_sign_loss)] // drawn numbers, none of them negative

use std::fmt::Write as _;

/// Kinds of paths in simulated time.
pub const KINDS: [&str; 6] = ["link", "link", "loss", "policer", "window", "reader"];
/// Seconds that a job in simulated time takes, about.
pub const LASTING: (f64, f64) = (4.0, 12.0);
/// The same in the lab.
pub const LASTING_IN_LAB: (f64, f64) = (3.0, 6.0);
/// Kinds of paths in the lab, where iperf3 has no slow reader.
pub const KINDS_OF_LAB: [&str; 5] = ["link", "link", "loss", "policer", "window"];

/// A drawn path with its ends and job.
#[derive(Debug, Clone)]
pub struct DrawnPath {
    kind: &'static str,
    control: &'static str,
    rate: u64,
    delay_us: u64,
    queue: u64,
    loss_ppm: u64,
    police: u64,
    bucket: u64,
    window: u64,
    reader: u64,
    bytes: u64,
}

impl DrawnPath {
    /// A path, of one of these kinds, with a job that takes about so many seconds.
    pub fn drawn(dice: &mut Dice, kinds: &[&'static str], (shortest, longest): (f64, f64)) -> Self {
        let kind = dice.one(kinds);
        let control = dice.one(&["cubic", "cubic", "reno", "bbr"]);
        let rate = dice.between(4e6, 80e6) as u64;
        let delay_us = dice.between(3e3, 60e3) as u64;
        let product = rate as f64 / 8.0 * delay_us as f64 * 2e-6;
        let queue = (product * dice.between(0.3, 3.0)).max(12_000.0) as u64;
        let seconds = dice.between(shortest, longest);
        let window = (product * dice.between(0.15, 0.5)).max(8_000.0) as u64;
        let police = (rate as f64 * dice.between(0.1, 0.5)) as u64;
        let reader = (rate as f64 * dice.between(0.1, 0.5)) as u64;
        let used = match kind {
            "policer" => police,
            "reader" => reader,
            "window" => (window as f64 * 8.0 / (delay_us as f64 * 2e-6)) as u64,
            "loss" => rate / 3,
            _ => rate,
        };
        Self {
            kind,
            control,
            rate,
            delay_us,
            queue,
            loss_ppm: dice.between(300.0, 10_000.0) as u64,
            police,
            bucket: dice.between(10e3, 200e3) as u64,
            window,
            reader,
            bytes: ((used as f64 / 8.0 * seconds) as u64).clamp(300_000, 30_000_000),
        }
    }

    /// A change of the list that makes sense for the kind of path.
    pub fn change(&self, dice: &mut Dice) -> (&'static str, String) {
        let other = if self.control == "bbr" { "cubic" } else { "bbr" };
        let streams = |count: u32| ("streams", count.to_string());
        let control = ("congestion-control", other.to_owned());
        let queue = ("queue", format!("{} B", self.queue * 2));
        let mut list = vec![control, streams(2), streams(4)];
        match self.kind {
            "policer" => list.extend([("policer", "none".to_owned()), queue]),
            "window" => list.extend([1, 2, 4].map(|by| ("window", format!("{} B", self.window * 2 * by)))),
            "reader" => list.extend([("reader", "unlimited".to_owned()), queue]),
            "loss" => list.extend([("loss", format!("{} ppm", self.loss_ppm / 2)), queue]),
            _ => list.extend([queue, ("rate", format!("{} bit/s", self.rate * 2))]),
        }
        list.swap_remove(dice.below(list.len() as u64) as usize)
    }

    /// Rate of its link, bit/s.
    pub const fn rate(&self) -> u64 {
        self.rate
    }

    /// The sender's congestion control.
    pub const fn control(&self) -> &'static str {
        self.control
    }

    /// In words.
    pub fn words(&self) -> String {
        let own = match self.kind {
            "policer" => format!(
                ", policer {:.1} Mbit/s {} B",
                self.police as f64 / 1e6,
                self.bucket
            ),
            "window" => format!(", window {} B", self.window),
            "reader" => format!(", reader {:.1} Mbit/s", self.reader as f64 / 1e6),
            "loss" => format!(", loss {} ppm", self.loss_ppm),
            _ => String::new(),
        };
        format!(
            "{:.1} Mbit/s, {:.0} ms, queue {} B{own}, {}",
            self.rate as f64 / 1e6,
            self.delay_us as f64 * 2e-3,
            self.queue,
            self.control
        )
    }

    /// As an experiment file.
    pub fn document(&self) -> String {
        let mut elements = Vec::new();
        if self.kind == "loss" {
            elements.push(format!("{{ loss = \"{} ppm\" }}", self.loss_ppm));
        }
        if self.kind == "policer" {
            elements.push(format!(
                "{{ police = \"{} bit/s\", burst = \"{} B\", layer = \"L2+FCS\" }}",
                self.police, self.bucket
            ));
        }
        elements.push(format!(
            "{{ rate = \"{} bit/s\", queue = \"{} B\", layer = \"L2+FCS\" }}",
            self.rate, self.queue
        ));
        elements.push(format!("{{ delay = \"{} us\" }}", self.delay_us));
        let mut receiver = String::new();
        if self.kind == "window" {
            let _ = writeln!(receiver, "window = \"{} B\"", self.window);
        }
        if self.kind == "reader" {
            let _ = writeln!(receiver, "window = \"200000 B\"");
            let _ = writeln!(
                receiver,
                "storage = {{ rate = \"{} bit/s\", unit = \"16 KiB\", chunk = \"16 KiB\" }}",
                self.reader
            );
        }
        format!(
            "title = \"drawn\"\n[network]\nup = [{}]\ndown = [{{ delay = \"{} us\" }}]\n[workload]\nkind = \"iperf3\"\nsize = \"{} B\"\ndeadline = \"400 s\"\n[hosts.client]\nsystem = \"linux\"\ncongestion_control = \"{}\"\n[hosts.server]\nsystem = \"linux\"\n{receiver}",
            elements.join(", "),
            self.delay_us,
            self.bytes,
            self.control
        )
    }
}

/// A list of pairs in 16 digits: equal lists have equal ones (FNV-1a, 64 bits).
pub fn digest(count: u32, seed: u64, kinds: &[&'static str], lasting: (f64, f64)) -> String {
    let mut dice = Dice(seed);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for _ in 0..count {
        let path = DrawnPath::drawn(&mut dice, kinds, lasting);
        let (key, value) = path.change(&mut dice);
        for byte in format!("{}{key}={value}", path.document()).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Numbers from a seed (SplitMix64: Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn one<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len() as u64) as usize]
    }

    /// Evenly on a logarithmic scale.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        low * (high / low).powf(share)
    }
}

#[cfg(test)]
mod tests {
    use slowpath_scenario::{Experiment, Intervention};

    use super::*;

    #[test]
    fn drawn_paths_can_be_planned_and_stay_the_same() {
        let drawn = |seed| {
            let mut dice = Dice(seed);
            let path = DrawnPath::drawn(&mut dice, &KINDS, LASTING);
            let change = path.change(&mut dice);
            (path, change)
        };
        for seed in 0..20 {
            let (path, (key, value)) = drawn(seed);
            Experiment::read("drawn", &path.document(), &[]).unwrap_or_else(|error| panic!("{error}"));
            Intervention::spelled(key, &value).unwrap();
            assert_eq!(path.document(), drawn(seed).0.document());
        }
    }
}
