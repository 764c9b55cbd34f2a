//! What a machine permits on which no lab can be built.

use slowpath_record::finding::Finding;

use crate::system;

/// Looks at everything that the lab and the experiments need.
pub fn examine() -> Vec<Finding> {
    vec![system::no_lab(), system::what_works()]
}

/// Looks only at what any lab needs.
pub fn examine_lab() -> Vec<Finding> {
    vec![system::no_lab()]
}
