//! Standing validation: runs that are repeated as a whole whenever the model or the analyser changes.
//!
//! * [`cells`]: the cells of the twin, the same path in both clocks.

pub mod cells;
