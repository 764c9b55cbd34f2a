//! Which way the data of a job goes.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;

/// Which way the bulk of the data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From server to client.
    Download,
    /// From client to server.
    Upload,
    /// Both at once.
    Both,
}

/// Which way the data of a job goes, where its kind leaves that open.
pub(super) fn direction(fields: &Fields<'_>) -> Option<Direction> {
    fields
        .choice(
            "direction",
            &[("upload", Direction::Upload), ("download", Direction::Download)],
        )
        .map(|direction| direction.value)
}
