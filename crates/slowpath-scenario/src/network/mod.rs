//! The network in the middle: what a document says, and the one-line form of the command line.

mod document;
mod element;
mod one_line;
mod varying;

pub(crate) use document::{KINDS, read_network};
pub use document::{NetworkDocument, Way};
pub use element::{Discipline, Element, ElementKind, LinkRate, LossModel, Match, QueueSize};
pub use one_line::parse_path;
