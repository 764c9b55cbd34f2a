//! The wire: one thread per independent part of the network, between hosts and the model.
//!
//! Each turn: read what hosts have sent and stamp it; let the model advance to now; hand over what it delivers;
//! sleep until the model's next event or the next packet. Everything inside happens at model time: how late the
//! thread was is measured, and never fed back.

mod flows;
mod join;
mod pauses;
mod sleep;
mod stats;
mod turn;

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use slowpath_path::{Network, PacketId, PortId};
use slowpath_sys::{clock, process};
use slowpath_units::{Duration, Time};

pub(crate) use stats::{Fault, WireStats};

use sleep::{Arrived, Sleeper};

use crate::attach::Attachment;
use crate::model::Model;
use crate::scales::Transits;
use crate::slab::Slab;
use crate::spec::{DropUnit, WireSettings};
use crate::tap::TapSender;

/// One wire with everything that it needs.
pub(crate) struct Wire {
    network: Network,
    inputs: Vec<Input>,
    models: Vec<Model>,
    /// By port number; only the ports to which this part delivers.
    outputs: Vec<Option<Arc<Attachment>>>,
    slab: Slab,
    flows: flows::FlowCache,
    pending: Vec<join::Pending>,
    /// Bytes of ICMP messages that routers of the model made.
    emitted: HashMap<PacketId, Box<[u8]>>,
    scratch: Vec<u8>,
    tap: Option<TapSender>,
    settings: WireSettings,
    origin: u64,
    stats: WireStats,
    next_train: u32,
    /// Until then packets arrive closer together than they were sent, because the wire stood still.
    crowded_until: Time,
    /// The packet that ended the last sleep, until it has been read.
    arrived: Option<Arrived>,
    /// How late the latest packet of this turn was.
    latest: Duration,
}

struct Input {
    port: PortId,
    from: Arc<Attachment>,
    /// When it was last seen empty.
    empty_at: u64,
}

impl Wire {
    pub(crate) fn new(
        network: Network,
        attachments: &[(PortId, Arc<Attachment>)],
        models: Vec<Model>,
        settings: WireSettings,
        origin: u64,
        tap: Option<TapSender>,
    ) -> Self {
        let ports = attachments
            .iter()
            .map(|(port, _)| usize::from(port.0) + 1)
            .max()
            .unwrap_or(0);
        let of_models = models.iter().map(|model| usize::from(model.port.0) + 1);
        let of_models = of_models.max().unwrap_or(0);
        let mut outputs = vec![None; ports];
        let mut inputs = Vec::new();
        for (port, attachment) in attachments {
            if network.accepts(*port) {
                inputs.push(Input {
                    port: *port,
                    from: attachment.clone(),
                    empty_at: origin,
                });
            }
            if network.delivers_to(*port) {
                outputs[usize::from(port.0)] = Some(attachment.clone());
            }
        }
        Self {
            slab: Slab::new(settings.memory),
            flows: flows::FlowCache::default(),
            pending: vec![join::Pending::NONE; ports],
            emitted: HashMap::new(),
            scratch: Vec::new(),
            tap,
            settings,
            origin,
            stats: WireStats {
                transits: Transits::new(ports.max(of_models)),
                ..WireStats::default()
            },
            next_train: 0,
            crowded_until: Time::ZERO,
            arrived: None,
            latest: Duration::ZERO,
            network,
            inputs,
            models,
            outputs,
        }
    }

    /// Runs until the other end of `stop` is closed.
    pub(crate) fn run(mut self, stop: &UnixStream) -> Self {
        if let Err(source) = self.serve(stop) {
            self.stats.fault = Some(Fault::Device(source.to_string()));
        }
        for model in &mut self.models {
            model.summarise();
        }
        let now = self.now();
        if let Some(tap) = &mut self.tap {
            tap.flush(now, true);
            self.stats.capture_lost = tap.lost;
        }
        self.tap = None;
        self.stats.inside = self.network.inside();
        self.stats.peak_bytes = self.slab.peak_bytes();
        self.stats.cpu = clock::thread_cpu();
        self
    }

    fn serve(&mut self, stop: &UnixStream) -> io::Result<()> {
        clock::set_timer_slack(1)?;
        // Where it may not be asked for, the run's lateness says what that cost.
        let _ = process::take_short_turns(TURN);
        let inputs = self.inputs.iter().map(|input| input.from.as_fd());
        let mut sleeper = Sleeper::new(inputs, stop.as_fd(), self.settings.spin);
        loop {
            let turned = self.now();
            let entered = self.stats.packets_sent;
            self.latest = Duration::ZERO;
            if !self.turn()? {
                return Ok(());
            }
            let ended = self.now();
            self.note_stall(ended.since(turned));
            let held = self.latest >= self.stats.pauses.least();
            self.stats.pauses.close(self.stats.packets_sent > entered, held);
            self.stats.pauses.add(turned, ended, false);
            let due = self
                .next_event()
                .map(|at| at.max(turned + self.settings.turn_gap));
            let due = due.map(|at| self.origin.saturating_add(at.nanos()));
            let Some(woken) = sleeper.sleep_until(due)? else {
                return Ok(());
            };
            if woken.starved > LONG_WAIT {
                self.stats.long_waits += woken.starved;
            }
            self.note_stall(Duration::from_nanos(woken.overslept));
            let (from, to) = (self.time(woken.stood_from), self.time(woken.woke));
            self.stats.pauses.add(from, to, woken.first_in_time);
            self.arrived = woken.arrival;
            for input in &mut self.inputs {
                input.empty_at = input.empty_at.max(woken.empty_at);
            }
        }
    }

    /// Accounts for time in which this thread could do nothing.
    fn note_stall(&mut self, span: Duration) {
        self.stats.stall = self.stats.stall.max(span);
        if span >= STALL {
            self.stats.stalled += span;
            self.crowded_until = self.now() + span.max(AFTER_STALL);
        }
    }

    /// When the network or a model host next has something to do.
    fn next_event(&self) -> Option<Time> {
        let models = self
            .models
            .iter()
            .map(Model::next_event)
            .min()
            .unwrap_or(Time::MAX);
        let next = self.network.next_event().unwrap_or(Time::MAX).min(models);
        (next != Time::MAX).then_some(next)
    }

    fn now(&self) -> Time {
        self.time(clock::monotonic())
    }

    /// The model's time of a reading of the monotonic clock.
    fn time(&self, reading: u64) -> Time {
        Time::from_nanos(reading.saturating_sub(self.origin))
    }

    /// Ports of hosts whose packets enter here, and of hosts to which packets are handed over here.
    pub(crate) fn edges(&self) -> (Vec<PortId>, Vec<PortId>) {
        let from = self.inputs.iter().map(|input| input.port).collect();
        let to = (0_u16..)
            .zip(&self.outputs)
            .filter(|(_, output)| output.is_some())
            .map(|(port, _)| PortId(port))
            .collect();
        (from, to)
    }

    pub(crate) fn into_parts(self) -> (Network, WireStats) {
        (self.network, self.stats)
    }

    fn drops_whole_trains(&self) -> bool {
        self.settings.drop_unit == DropUnit::Train
    }
}

/// The scheduler's shortest turn, in nanoseconds: a wire has little to do at a time, and that at once.
const TURN: u64 = 100_000;
/// Longer than a thread waits for an idle processor.
const LONG_WAIT: u64 = 500_000;
/// Standing still for so long counts as a stall.
pub(crate) const STALL: Duration = Duration::from_millis(5);
/// For how long at least the packets of a stall may crowd a queue.
const AFTER_STALL: Duration = Duration::from_millis(20);
