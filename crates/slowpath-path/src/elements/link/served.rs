//! A link whose queue decides at both ends: which packets come in, and which goes next.

use slowpath_record::Traffic;
use slowpath_units::{Layer, Time};

use super::classes::ClassQueue;
use super::codel::CodelQueue;
use super::fq_codel::FairQueue;
use super::pie::PieQueue;
use super::red::RedQueue;
use super::server::Server;
use super::settings::{Link, Queue};
use super::waiting::Next;
use crate::context::{Context, Released, Step};
use crate::dice::Dice;
use crate::packet::Packet;

/// The queue disciplines that choose.
#[derive(Debug)]
pub(super) enum Discipline {
    Classes(ClassQueue),
    Red(RedQueue),
    Codel(CodelQueue),
    FqCodel(FairQueue),
    Pie(PieQueue),
}

#[derive(Debug)]
pub(crate) struct State {
    server: Server,
    layer: Layer,
    discipline: Discipline,
    sending: Option<(Time, Packet)>,
    /// Sent at this instant, but its event is still to come: the line is free for the next already.
    sent: Option<(Time, Packet)>,
    wake: Time,
}

impl State {
    /// A link with a queue that chooses; `None` for first-in-first-out, which has its own state.
    pub(super) fn new(config: &Link, dice: Dice) -> Option<Self> {
        let server = Server::new(&config.rate, &dice.beside("rate"));
        let discipline = match &config.queue {
            Queue::Fifo(_) => return None,
            Queue::Classes(classes) => Discipline::Classes(ClassQueue::new(classes)),
            Queue::Red(red) => Discipline::Red(RedQueue::new(red, dice)),
            Queue::Codel(codel) => Discipline::Codel(CodelQueue::new(codel)),
            Queue::FqCodel(fair) => Discipline::FqCodel(FairQueue::new(fair)),
            Queue::Pie(pie) => Discipline::Pie(PieQueue::new(pie, dice)),
        };
        Some(Self {
            server,
            layer: config.layer,
            discipline,
            sending: None,
            sent: None,
            wake: Time::MAX,
        })
    }

    #[inline(never)]
    pub(super) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        if self.sent.is_none() && self.sending.as_ref().is_some_and(|(done, _)| *done <= at) {
            self.sent = self.sending.take();
            self.start(at, context);
        }
        let bytes = packet.bytes(self.layer);
        let taken = match &mut self.discipline {
            Discipline::Classes(queue) => queue.push(packet, context),
            Discipline::Red(queue) => queue.push(at, packet, bytes, context),
            Discipline::Codel(queue) => queue.push(at, packet, bytes),
            Discipline::FqCodel(queue) => {
                queue.push(at, packet, bytes, context);
                Ok(())
            }
            Discipline::Pie(queue) => queue.push(at, packet, bytes, context),
        };
        if let Err(cause) = taken {
            return Step::Drop(cause);
        }
        if self.sending.is_none() {
            self.start(at, context);
        }
        Step::Hold(self.next_event())
    }

    pub(super) fn next_event(&self) -> Time {
        let current = self.sent.as_ref().or(self.sending.as_ref());
        current.map_or(self.wake, |(sent, _)| *sent)
    }

    pub(super) fn release(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Released {
        if let Some((_, sent)) = self.sent.take() {
            *packet = sent;
            return Released::To(0);
        }
        let released = match &self.sending {
            Some((_, sent)) => {
                *packet = *sent;
                Released::To(0)
            }
            None => Released::Nothing,
        };
        self.sending = None;
        self.start(at, context);
        released
    }

    /// Sends the next packet, or finds out when to ask again.
    fn start(&mut self, at: Time, context: &mut Context<'_>) {
        let next = match &mut self.discipline {
            Discipline::Classes(queue) => queue.pop(at),
            Discipline::Red(queue) => queue.pop(at),
            Discipline::Codel(queue) => queue.pop(at, context),
            Discipline::FqCodel(queue) => queue.pop(at, context),
            Discipline::Pie(queue) => queue.pop(at),
        };
        self.wake = Time::MAX;
        match next {
            Next::Packet(packet) => {
                let sent = self.server.send(at, packet.bytes(self.layer));
                self.sending = Some((sent, packet));
            }
            Next::NotBefore(time) => self.wake = time,
            Next::Empty => {}
        }
    }

    pub(super) fn inside(&self) -> Traffic {
        let mut inside = Traffic::default();
        let mut count = |packet: &Packet| inside.count(packet.ip_len);
        match &self.discipline {
            Discipline::Classes(queue) => queue.each(&mut count),
            Discipline::Red(queue) => queue.each(&mut count),
            Discipline::Codel(queue) => queue.each(&mut count),
            Discipline::FqCodel(queue) => queue.each(&mut count),
            Discipline::Pie(queue) => queue.each(&mut count),
        }
        self.sending
            .iter()
            .chain(&self.sent)
            .for_each(|(_, packet)| count(packet));
        inside
    }
}
