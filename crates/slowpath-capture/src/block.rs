//! Numbers of the pcapng format that reader and writer share.

/// Section header block.
pub(crate) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// Interface description block.
pub(crate) const INTERFACE: u32 = 1;
/// Packet block, obsolete.
pub(crate) const PACKET: u32 = 2;
/// Simple packet block.
pub(crate) const SIMPLE_PACKET: u32 = 3;
/// Name resolution block.
pub(crate) const NAME_RESOLUTION: u32 = 4;
/// Interface statistics block.
pub(crate) const INTERFACE_STATISTICS: u32 = 5;
/// Enhanced packet block.
pub(crate) const ENHANCED_PACKET: u32 = 6;

/// Stands at the start of every section and shows its byte order.
pub(crate) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Option codes.
pub(crate) mod option {
    pub(crate) const COMMENT: u16 = 1;
    pub(crate) const SHB_OS: u16 = 3;
    pub(crate) const SHB_USER_APPLICATION: u16 = 4;
    pub(crate) const IF_NAME: u16 = 2;
    pub(crate) const IF_DESCRIPTION: u16 = 3;
    pub(crate) const IF_SPEED: u16 = 8;
    pub(crate) const IF_TSRESOL: u16 = 9;
    pub(crate) const IF_FCSLEN: u16 = 13;
    pub(crate) const IF_TSOFFSET: u16 = 14;
    pub(crate) const EPB_FLAGS: u16 = 2;
    pub(crate) const EPB_DROP_COUNT: u16 = 4;
    pub(crate) const EPB_PACKET_ID: u16 = 5;
    pub(crate) const ISB_START_TIME: u16 = 2;
    pub(crate) const ISB_END_TIME: u16 = 3;
    pub(crate) const ISB_IF_RECV: u16 = 4;
    pub(crate) const ISB_IF_DROP: u16 = 5;
    pub(crate) const ISB_OS_DROP: u16 = 7;
}
