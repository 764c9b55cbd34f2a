//! What every backend adds to a planned network; it is defined beside the simulator, which needs it without a stage.

pub use slowpath_sim::cards::{complete, is_card, with_cards};
