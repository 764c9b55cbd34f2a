//! One step of either format: a frame, or why there is none.

use std::io;

use super::bytes::Order;
use super::damage::Damage;
use super::window::{Taken, Window};

/// Why there is no frame; boxed, as it is rare and frames that are found must not pass through memory for it.
#[derive(Debug)]
pub(super) struct Stop(pub(super) Box<Reason>);

#[derive(Debug)]
pub(super) enum Reason {
    End,
    Broken(Damage),
    Io(io::Error),
}

impl Stop {
    /// The end, or a cut if bytes are left over.
    #[cold]
    pub(super) fn end(window: &Window, part: &'static str, needed: u64) -> Self {
        Self(Box::new(match window.bytes().len() as u64 {
            0 => Reason::End,
            found => Reason::Broken(Damage::Cut {
                offset: window.offset(),
                part,
                needed,
                found,
            }),
        }))
    }
}

impl From<io::Error> for Stop {
    #[cold]
    fn from(error: io::Error) -> Self {
        Self(Box::new(Reason::Io(error)))
    }
}

impl From<Damage> for Stop {
    #[cold]
    fn from(damage: Damage) -> Self {
        Self(Box::new(Reason::Broken(damage)))
    }
}

/// Where a frame stands in the window.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) taken: Taken,
    pub(super) bytes: (usize, usize),
    pub(super) options: (usize, usize),
    pub(super) order: Order,
    pub(super) at: Option<i64>,
    pub(super) wire_len: u32,
    pub(super) interface: u32,
}
