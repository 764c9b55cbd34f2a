//! Which variant of a name answers.

use slowpath_record::Origin;

use crate::results::{Results, Variant};

/// The variant of that name that answers: the one in the lab, unless it came to no figure.
pub(super) fn find<'a>(results: &'a Results, name: &str) -> Option<&'a Variant> {
    let own = || {
        results
            .variants
            .iter()
            .filter(|variant| variant.name == name && variant.is_answered())
    };
    own()
        .find(|variant| variant.clock == Origin::Lab)
        .or_else(|| own().next())
}
