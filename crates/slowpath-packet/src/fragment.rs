//! Pieces of IP packets, of either version.

/// Where a fragment belongs in the packet it was cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// The identification that the fragments of one packet share.
    pub id: u32,
    /// Where its payload starts in the payload of the whole packet, in bytes.
    pub offset: u32,
    /// More fragments follow behind it.
    pub more: bool,
}
