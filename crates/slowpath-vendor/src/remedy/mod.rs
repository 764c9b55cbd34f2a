//! Interventions in the device's own language: the minimal change, and where it goes.

mod change;
mod hosts;
mod linux;
mod queues;
mod routers;
mod traps;

use slowpath_scenario::Intervention;

use crate::reading::Language;

pub use change::{Place, Remedy};
pub use linux::linux;
pub use queues::{QueueAt, queue_length};
pub use traps::{remedies_of, remedy_of};

/// The change in one language; `None` if the language has no words for it.
pub fn remedy(language: Language, intervention: &Intervention, place: Place<'_>) -> Option<Remedy> {
    match language {
        Language::Ios => routers::ios(intervention, place),
        Language::Rtx => routers::rtx(intervention, place),
        Language::Ssh => hosts::ssh(intervention, place),
        Language::Sysctl => hosts::sysctl(intervention),
        Language::Tc => hosts::tc(intervention, place),
    }
}

/// The change in every language that has words for it, without knowing the present configuration.
pub fn remedies(intervention: &Intervention) -> Vec<Remedy> {
    Language::ALL
        .iter()
        .filter_map(|(_, language)| remedy(*language, intervention, Place::default()))
        .collect()
}
