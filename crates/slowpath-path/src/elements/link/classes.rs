//! Class queues: strict priority, ceilings, guarantees, borrowing.
//!
//! What a vendor calls its scheduler is expressed by three numbers per class:
//!
//! | vendor's words | rank | guarantee | ceiling |
//! |---|---|---|---|
//! | priority queueing (Yamaha `type priority`, Cisco `priority`) | the higher first | – | – or the policed rate |
//! | shaping to a bandwidth (Yamaha `bandwidth=A`) | 0 | A | A |
//! | guarantee and ceiling (Yamaha DTC `bandwidth=A,B`, HTB `rate` and `ceil`) | 0 | A | B |
//! | bandwidth with borrowing (Yamaha cbq `borrow=on`, Cisco `bandwidth`) | 0 | A | – |
//! | no property | 0 | – or the whole speed | – |
//!
//! At each transmission: first the classes with a rank, highest first, within their ceilings; then the class that is
//! furthest behind its guarantee; then, below the ceilings, the surplus is divided as set.

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Ratio, Time};

use super::waiting::Next;
use crate::context::Context;
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::ring::Ring;
use crate::setting::SettingError;

/// A queue for each class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classes {
    /// The classes.
    pub classes: Vec<Class>,
    /// The class of packets without a class, or with one that is not listed.
    pub default: u8,
    /// The rate to which the scheduler works as a whole, if it is below the link's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<BitRate>,
    /// Which bytes `speed`, guarantees and ceilings count; the link's own rate counts at the link's layer.
    pub layer: Layer,
    /// Whether they count the packet inside all tunnels instead of the packet as sent.
    #[serde(default)]
    pub counts_inner: bool,
    /// How what nobody is guaranteed is divided.
    #[serde(default)]
    pub surplus: Surplus,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Its number, as classifiers give it.
    pub number: u8,
    /// Above 0: served before all classes of lower rank, as long as it has packets.
    #[serde(default)]
    pub rank: u8,
    /// The rate it gets even if all want more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<BitRate>,
    /// The rate it never exceeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<BitRate>,
    /// Packets that may wait.
    pub limit: u32,
    /// Share of `limit` up to which packets of low, medium and high drop precedence are taken (RFC 2597).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<[Ratio; 3]>,
    /// Bytes that it may send at once after having been held up by others.
    #[serde(default = "burst")]
    pub burst: ByteCount,
}

/// How surplus is divided among classes that have had their guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surplus {
    /// In proportion to the guarantees; classes without one count as the smallest.
    #[default]
    ByGuarantee,
    /// In equal shares.
    Equal,
    /// All to the highest class number that wants it.
    ByNumber,
}

impl Class {
    /// A class without any property but its queue length.
    pub const fn plain(number: u8, limit: u32) -> Self {
        Self {
            number,
            rank: 0,
            guarantee: None,
            ceiling: None,
            limit,
            thresholds: None,
            burst: burst(),
        }
    }

    /// A class held to `rate`, which it is guaranteed too.
    pub const fn shaped(number: u8, limit: u32, rate: BitRate) -> Self {
        Self {
            guarantee: Some(rate),
            ceiling: Some(rate),
            ..Self::plain(number, limit)
        }
    }
}

impl Classes {
    /// Strict priority: the higher the class number, the earlier it is served.
    pub fn priority(numbers: impl IntoIterator<Item = u8>, default: u8, limit: u32) -> Self {
        let class = |number| Class {
            rank: number,
            ..Class::plain(number, limit)
        };
        Self {
            classes: numbers.into_iter().map(class).collect(),
            default,
            speed: None,
            layer: Layer::FrameFcs,
            counts_inner: false,
            surplus: Surplus::ByNumber,
        }
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        if self.classes.is_empty() {
            return Err(SettingError::Empty { setting: "classes" });
        }
        for (index, class) in self.classes.iter().enumerate() {
            let twice = self.classes[..index]
                .iter()
                .any(|other| other.number == class.number);
            let contradiction = |setting, found: String, limit: String| {
                Err(SettingError::Contradiction {
                    setting,
                    found: format!("of class {} {found}", class.number),
                    limit,
                })
            };
            if twice {
                return contradiction(
                    "number",
                    "is given twice".to_owned(),
                    "each class has its own".to_owned(),
                );
            }
            for rate in [class.guarantee, class.ceiling].into_iter().flatten() {
                if rate.bits_per_s() == 0 {
                    return Err(SettingError::Zero {
                        setting: "a class's rate",
                    });
                }
            }
            if let (Some(guarantee), Some(ceiling)) = (class.guarantee, class.ceiling)
                && guarantee > ceiling
            {
                let limit = format!("its ceiling is only {ceiling}");
                return contradiction("guarantee", format!("is {guarantee}"), limit);
            }
        }
        if self.speed.is_some_and(|speed| speed.bits_per_s() == 0) {
            return Err(SettingError::Zero { setting: "speed" });
        }
        if !self.classes.iter().any(|class| class.number == self.default) {
            return Err(SettingError::Contradiction {
                setting: "default",
                found: format!("is class {}", self.default),
                limit: "there is no class of that number".to_owned(),
            });
        }
        Ok(())
    }
}

/// The queues at work.
#[derive(Debug)]
pub(super) struct ClassQueue {
    classes: Vec<Working>,
    /// By class number: the index in `classes`.
    index: Vec<u8>,
    speed: Option<Pacer>,
    layer: Layer,
    counts_inner: bool,
    surplus: Surplus,
    /// Indices of ranked classes, highest rank first.
    ranked: Vec<u8>,
    /// The share of surplus used up by the last class that got some.
    surplus_time: u64,
    waiting: usize,
}

#[derive(Debug)]
struct Working {
    number: u8,
    rank: u8,
    /// Packets with the bytes that rates count.
    queue: Ring<(Packet, u32)>,
    room: [u32; 3],
    limit: u32,
    guarantee: Option<Pacer>,
    ceiling: Option<Pacer>,
    weight: u64,
    surplus_time: u64,
}

impl ClassQueue {
    pub(super) fn new(config: &Classes) -> Self {
        let smallest = config.classes.iter().filter_map(|class| class.guarantee).min();
        let working = |class: &Class| {
            let room =
                |share: Ratio| (u64::from(class.limit) * u64::from(share.ppb()) / 1_000_000_000) as u32;
            let pacer = |rate: BitRate| Pacer::new(rate, class.burst);
            let weight = match config.surplus {
                Surplus::Equal => 1,
                Surplus::ByGuarantee | Surplus::ByNumber => class
                    .guarantee
                    .or(smallest)
                    .map_or(1, |rate| (rate.bits_per_s() / 1000).max(1)),
            };
            Working {
                number: class.number,
                rank: class.rank,
                queue: Ring::new(),
                room: class
                    .thresholds
                    .map_or([class.limit; 3], |shares| shares.map(room)),
                limit: class.limit,
                guarantee: class.guarantee.map(pacer),
                ceiling: class.ceiling.map(pacer),
                weight,
                surplus_time: 0,
            }
        };
        let classes: Vec<Working> = config.classes.iter().map(working).collect();
        let place = |number| classes.iter().position(|class| class.number == number);
        let default = place(config.default).unwrap_or(0);
        let index = (0..=u8::MAX)
            .map(|number| place(number).unwrap_or(default) as u8)
            .collect();
        let mut ranked: Vec<u8> = (0..classes.len() as u8)
            .filter(|index| classes[usize::from(*index)].rank > 0)
            .collect();
        ranked.sort_by_key(|index| std::cmp::Reverse(classes[usize::from(*index)].rank));
        Self {
            index,
            speed: config.speed.map(|speed| Pacer::new(speed, ByteCount::ZERO)),
            layer: config.layer,
            counts_inner: config.counts_inner,
            surplus: config.surplus,
            ranked,
            surplus_time: 0,
            waiting: 0,
            classes,
        }
    }

    pub(super) fn push(&mut self, packet: &Packet, context: &Context<'_>) -> Result<(), DropCause> {
        let class = &mut self.classes[usize::from(self.index[usize::from(packet.class)])];
        let waiting = class.queue.len();
        if waiting >= class.limit as usize {
            return Err(DropCause::QueueFull);
        }
        if waiting >= class.room[usize::from(drop_precedence(packet.dscp))] as usize {
            return Err(DropCause::Threshold);
        }
        let counted = if self.counts_inner {
            context.shared.carried.innermost(packet)
        } else {
            packet
        };
        class.queue.push((*packet, counted.bytes(self.layer)));
        self.waiting += 1;
        Ok(())
    }

    pub(super) fn pop(&mut self, at: Time) -> Next {
        if self.waiting == 0 {
            return Next::Empty;
        }
        if let Some(time) = self
            .speed
            .as_ref()
            .map(|speed| speed.next)
            .filter(|time| *time > at)
        {
            return Next::NotBefore(time);
        }
        let Some((index, guaranteed)) = self.choose(at) else {
            let ready = |class: &Working| class.ceiling.as_ref().map_or(Time::MAX, |pacer| pacer.next);
            let waiting = self.classes.iter().filter(|class| !class.queue.is_empty());
            return Next::NotBefore(waiting.map(ready).min().unwrap_or(Time::MAX));
        };
        let class = &mut self.classes[index];
        let (packet, bytes) = *class.queue.front().expect("chosen because packets wait");
        class.queue.pop();
        self.waiting -= 1;
        if guaranteed {
            class
                .guarantee
                .iter_mut()
                .for_each(|pacer| pacer.spend(at, bytes));
        } else if class.rank == 0 {
            self.surplus_time = self.surplus_time.max(class.surplus_time);
            class.surplus_time = self.surplus_time + (u64::from(bytes) << 16) / class.weight;
        }
        class.ceiling.iter_mut().for_each(|pacer| pacer.spend(at, bytes));
        self.speed.iter_mut().for_each(|pacer| pacer.spend(at, bytes));
        Next::Packet(packet)
    }

    /// Which class sends next, and whether it does so within its guarantee.
    fn choose(&self, at: Time) -> Option<(usize, bool)> {
        let may = |class: &Working| {
            !class.queue.is_empty() && class.ceiling.as_ref().is_none_or(|pacer| pacer.next <= at)
        };
        let ranked = self.ranked.iter().map(|index| usize::from(*index));
        if let Some(index) = ranked.into_iter().find(|index| may(&self.classes[*index])) {
            return Some((index, false));
        }
        let others = || {
            self.classes
                .iter()
                .enumerate()
                .filter(|(_, class)| class.rank == 0 && may(class))
        };
        let behind = others()
            .filter_map(|(index, class)| class.guarantee.as_ref().map(|pacer| (pacer.next, index)))
            .filter(|(next, _)| *next <= at)
            .min();
        if let Some((_, index)) = behind {
            return Some((index, true));
        }
        let surplus = match self.surplus {
            Surplus::ByNumber => others().max_by_key(|(_, class)| class.number),
            Surplus::ByGuarantee | Surplus::Equal => {
                others().min_by_key(|(_, class)| class.surplus_time.max(self.surplus_time))
            }
        };
        surplus.map(|(index, _)| (index, false))
    }

    pub(super) fn each(&self, count: &mut impl FnMut(&Packet)) {
        for class in &self.classes {
            class.queue.iter().for_each(|(packet, _)| count(packet));
        }
    }
}

/// Sends at a rate on average, exactly, and catches up to `slack` after having been held up.
#[derive(Debug, Clone)]
struct Pacer {
    rate: u64,
    slack: Duration,
    next: Time,
    carry: u64,
}

impl Pacer {
    fn new(rate: BitRate, burst: ByteCount) -> Self {
        let slack = rate.time_for(burst.bytes(), 0).0;
        Self {
            rate: rate.bits_per_s(),
            slack,
            next: Time::ZERO,
            carry: 0,
        }
    }

    fn spend(&mut self, at: Time, bytes: u32) {
        let earliest = at - self.slack;
        if self.next < earliest {
            self.next = earliest;
            self.carry = 0;
        }
        let work = u64::from(bytes) * 8_000_000_000 + self.carry;
        self.next += Duration::from_nanos(work / self.rate);
        self.carry = work % self.rate;
    }
}

/// 0, 1 or 2 for low, medium and high drop precedence (RFC 2597); what is not assured forwarding counts as low.
const fn drop_precedence(dscp: Dscp) -> u8 {
    let value = dscp.value();
    match (value >> 3, value & 7) {
        (1..=4, 4) => 1,
        (1..=4, 6) => 2,
        _ => 0,
    }
}

const fn burst() -> ByteCount {
    ByteCount::new(15_140)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assured_forwarding_has_three_precedences() {
        for (name, precedence) in [
            ("af11", 0),
            ("af12", 1),
            ("af43", 2),
            ("cs1", 0),
            ("ef", 0),
            ("cs7", 0),
        ] {
            assert_eq!(drop_precedence(name.parse().unwrap()), precedence, "{name}");
        }
    }

    #[test]
    fn contradictions_are_named() {
        let rate = BitRate::new;
        let classes = |classes: Vec<Class>| Classes {
            classes,
            ..Classes::priority([1], 1, 10)
        };
        let refused = |list: Vec<Class>| classes(list).check().unwrap_err().to_string();
        assert!(classes(vec![Class::plain(1, 10)]).check().is_ok());
        assert!(refused(vec![]).contains("empty"));
        assert!(refused(vec![Class::plain(2, 10)]).contains("there is no class"));
        assert!(refused(vec![Class::plain(1, 10), Class::plain(1, 10)]).contains("class 1 is given twice"));
        let mut upside_down = Class::shaped(1, 10, rate(5_000_000));
        upside_down.guarantee = Some(rate(6_000_000));
        assert!(refused(vec![upside_down]).contains("ceiling is only 5 Mbit/s"));
    }
}
