//! The wire: one thread per independent part of the network, between hosts and the model.
//!
//! Each turn: read what hosts have sent and stamp it; let the model advance to now; hand over what it delivers;
//! sleep until the model's next event or the next packet. Everything inside happens at model time: how late the
//! thread was is measured, and never fed back.

mod flows;
mod join;
mod stats;
mod turn;

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use slowpath_path::{Network, PacketId, PortId};
use slowpath_sys::clock;
use slowpath_sys::poll::PollSet;
use slowpath_sys::process::RunDelay;
use slowpath_units::{Duration, Time};

pub(crate) use stats::{Fault, WireStats};

use crate::attach::Attachment;
use crate::model::Model;
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
            stats: WireStats::default(),
            next_train: 0,
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
        let delay = RunDelay::open().ok();
        let mut waited = delay.as_ref().and_then(|delay| delay.read().ok()).unwrap_or(0);
        let mut set = PollSet::new();
        for input in &self.inputs {
            set.add_readable(input.from.as_fd());
        }
        let stopping = set.add_readable(stop.as_fd());
        let spin = self.settings.spin.unwrap_or_else(spare_processor_spin);
        loop {
            let turned = self.now();
            if !self.turn()? {
                return Ok(());
            }
            let now = self.now();
            let due = self
                .next_event()
                .map(|at| at.max(turned + self.settings.turn_gap));
            let sleep = due.map_or(LONGEST_SLEEP, |at| at.since(now).min(LONGEST_SLEEP));
            if sleep == Duration::ZERO {
                continue;
            }
            let planned = now + sleep;
            let asleep = sleep.saturating_sub(if due.is_some() { spin } else { Duration::ZERO });
            let ready = set.wait(Some(asleep.nanos()))?;
            if ready > 0 && set.is_ready(stopping) {
                return Ok(());
            }
            while ready == 0 && asleep < sleep && self.now() < planned {
                std::hint::spin_loop();
            }
            let woke = self.now();
            // Woken by a packet: it waited as long as this thread waited for a processor, at most since it slept.
            let held_up = delay.as_ref().and_then(|delay| delay.read().ok());
            let wait = held_up.map_or(woke.since(now).nanos(), |total| total - waited.min(total));
            waited = held_up.unwrap_or(waited);
            if wait > LONG_WAIT {
                self.stats.long_waits += wait;
            }
            let overslept = woke.since(planned);
            self.stats.stall = self.stats.stall.max(overslept);
            let earliest = clock::monotonic().saturating_sub(wait + WAKE_COST);
            for input in &mut self.inputs {
                input.empty_at = input.empty_at.max(earliest);
            }
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
        Time::from_nanos(clock::monotonic() - self.origin)
    }

    pub(crate) fn into_parts(self) -> (Network, WireStats) {
        (self.network, self.stats)
    }

    fn drops_whole_trains(&self) -> bool {
        self.settings.drop_unit == DropUnit::Train
    }
}

/// Watching the clock is worth microseconds, and a whole processor: only where the programs do not need it.
fn spare_processor_spin() -> Duration {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if processors >= 6 {
        Duration::from_micros(20)
    } else {
        Duration::ZERO
    }
}

/// So that a stopped or starved wire shows even when nothing is due.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);
/// Longer than a thread waits for an idle processor.
const LONG_WAIT: u64 = 500_000;
/// Time between the event that wakes a thread and its first instruction on an idle processor, generously.
const WAKE_COST: u64 = 20_000;
