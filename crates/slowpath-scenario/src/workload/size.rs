//! How much a job moves.

use slowpath_units::ByteCount;

use crate::fields::Fields;

/// The mandatory size of a job.
pub(super) fn size(fields: &Fields<'_>) -> Option<ByteCount> {
    let found = fields.positive::<ByteCount>("size");
    if found.is_none() && !fields.has("size") {
        fields.missing("size", "write for example size = \"50 MiB\"");
    }
    found.map(|size| size.value)
}
