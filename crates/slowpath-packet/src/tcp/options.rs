//! TCP options: one by one, or all at once as plain data.
//!
//! MSS (RFC 9293), window scale and timestamps (RFC 7323), SACK (RFC 2018), accurate ECN (RFC 9768).

use crate::Seq32;
use crate::malformed::{u16_at, u32_at};

/// Option kinds (IANA "TCP Option Kind Numbers").
pub mod kind {
    /// End of the list.
    pub const END: u8 = 0;
    /// Padding.
    pub const NOP: u8 = 1;
    /// Maximum segment size.
    pub const MSS: u8 = 2;
    /// Window scale.
    pub const WINDOW_SCALE: u8 = 3;
    /// SACK permitted.
    pub const SACK_PERMITTED: u8 = 4;
    /// SACK blocks.
    pub const SACK: u8 = 5;
    /// Timestamps.
    pub const TIMESTAMPS: u8 = 8;
    /// Accurate ECN, order 0: EE0B, ECEB, EE1B.
    pub const ACC_ECN_0: u8 = 172;
    /// Accurate ECN, order 1: EE1B, ECEB, EE0B.
    pub const ACC_ECN_1: u8 = 174;
    /// Shared use for experiments (RFC 6994), here with the accurate ECN drafts' identifiers.
    pub const EXPERIMENT: u8 = 254;
}

/// Longest list of options in bytes.
pub const MAX_LEN: usize = 40;

/// Up to four SACK blocks, in the order in which they stand.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(Seq32, Seq32); 4],
    count: u8,
}

impl SackBlocks {
    /// No blocks.
    pub const NONE: Self = Self {
        blocks: [(Seq32(0), Seq32(0)); 4],
        count: 0,
    };

    /// Takes the first four of `blocks`; each is (first sequence number, one behind the last).
    pub fn from_slice(blocks: &[(Seq32, Seq32)]) -> Self {
        let mut all = Self::NONE;
        for &(start, end) in blocks {
            all.push(start, end);
        }
        all
    }

    /// Adds a block; returns false and changes nothing if there are four already.
    pub fn push(&mut self, start: Seq32, end: Seq32) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.count)) else {
            return false;
        };
        *slot = (start, end);
        self.count += 1;
        true
    }

    /// The blocks: (first sequence number, one behind the last).
    pub fn as_slice(&self) -> &[(Seq32, Seq32)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Says whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl std::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// The byte counters of an accurate ECN option, each modulo 2^24; a short option leaves the last ones out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccEcn {
    /// Order 1 (EE1B first) instead of order 0 (EE0B first).
    pub order_1: bool,
    /// Payload bytes that arrived marked ECT(0), starting at 1.
    pub ect0_bytes: Option<u32>,
    /// Payload bytes that arrived marked CE, starting at 0.
    pub ce_bytes: Option<u32>,
    /// Payload bytes that arrived marked ECT(1), starting at 1.
    pub ect1_bytes: Option<u32>,
}

impl AccEcn {
    fn parse(order_1: bool, data: &[u8]) -> Self {
        let field = |at: usize| {
            data.get(at..at + 3)
                .map(|b| u32::from_be_bytes([0, b[0], b[1], b[2]]))
        };
        let (first, ce_bytes, last) = (field(0), field(3), field(6));
        let (ect0_bytes, ect1_bytes) = if order_1 { (last, first) } else { (first, last) };
        Self {
            order_1,
            ect0_bytes,
            ce_bytes,
            ect1_bytes,
        }
    }

    /// The fields in the order in which they are sent, up to the first that is missing.
    fn fields(&self) -> impl Iterator<Item = u32> {
        let (first, last) = if self.order_1 {
            (self.ect1_bytes, self.ect0_bytes)
        } else {
            (self.ect0_bytes, self.ect1_bytes)
        };
        [first, self.ce_bytes, last].into_iter().map_while(|field| field)
    }
}

/// One TCP option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Maximum segment size in bytes.
    Mss(u16),
    /// Window scale: bits to shift, as sent (above 14 counts as 14, RFC 7323 section 2.3).
    WindowScale(u8),
    /// The sender understands SACK.
    SackPermitted,
    /// SACK blocks.
    Sack(SackBlocks),
    /// Timestamps.
    Timestamps {
        /// The sender's clock.
        value: u32,
        /// The other side's clock, echoed.
        echo: u32,
    },
    /// Accurate ECN counters.
    AccEcn(AccEcn),
    /// An option that this reader does not interpret.
    Unknown {
        /// The kind.
        kind: u8,
        /// The bytes behind kind and length.
        data: &'a [u8],
    },
    /// The list is broken here: a length below 2 or beyond the end. Nothing follows.
    Broken {
        /// The kind whose length is wrong.
        kind: u8,
    },
}

/// Goes through the options of a segment; padding is skipped, the end option ends it.
#[derive(Debug, Clone)]
pub struct OptionIter<'a> {
    rest: &'a [u8],
}

impl<'a> OptionIter<'a> {
    /// Options in `bytes`, which may be cut.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
}

impl<'a> Iterator for OptionIter<'a> {
    type Item = TcpOption<'a>;

    fn next(&mut self) -> Option<TcpOption<'a>> {
        loop {
            let (&kind, rest) = self.rest.split_first()?;
            match kind {
                kind::NOP => self.rest = rest,
                kind::END => {
                    self.rest = &[];
                    return None;
                }
                _ => {
                    let len = usize::from(rest.first().copied().unwrap_or(0));
                    let Some(data) = self.rest.get(2..len) else {
                        self.rest = &[];
                        return Some(TcpOption::Broken { kind });
                    };
                    self.rest = &self.rest[len..];
                    return Some(interpret(kind, data));
                }
            }
        }
    }
}

/// One option from its kind and the bytes behind kind and length.
fn interpret(kind: u8, data: &[u8]) -> TcpOption<'_> {
    match (kind, data.len()) {
        (kind::MSS, 2) => TcpOption::Mss(u16_at(data, 0)),
        (kind::WINDOW_SCALE, 1) => TcpOption::WindowScale(data[0]),
        (kind::SACK_PERMITTED, 0) => TcpOption::SackPermitted,
        (kind::SACK, len) if len >= 8 && len % 8 == 0 => {
            let mut blocks = SackBlocks::NONE;
            for block in data.chunks_exact(8) {
                blocks.push(Seq32(u32_at(block, 0)), Seq32(u32_at(block, 4)));
            }
            TcpOption::Sack(blocks)
        }
        (kind::TIMESTAMPS, 8) => TcpOption::Timestamps {
            value: u32_at(data, 0),
            echo: u32_at(data, 4),
        },
        (kind::ACC_ECN_0 | kind::ACC_ECN_1, 0 | 3 | 6 | 9) => {
            TcpOption::AccEcn(AccEcn::parse(kind == kind::ACC_ECN_1, data))
        }
        (kind::EXPERIMENT, 2 | 5 | 8 | 11) if matches!(u16_at(data, 0), 0xacc0 | 0xacc1 | 0xacce) => {
            TcpOption::AccEcn(AccEcn::parse(data[1] == 0xc1, &data[2..]))
        }
        _ => TcpOption::Unknown { kind, data },
    }
}

/// The options of a segment as plain data; options that it does not name are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpOptions {
    /// Maximum segment size in bytes.
    pub mss: Option<u16>,
    /// Window scale: bits to shift, as sent.
    pub window_scale: Option<u8>,
    /// The sender understands SACK.
    pub sack_permitted: bool,
    /// Timestamps: value and echo.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Accurate ECN counters.
    pub acc_ecn: Option<AccEcn>,
    /// The list was broken; what stands before the break is here. Not written.
    pub broken: bool,
}

impl TcpOptions {
    /// Reads the options in `bytes`, which may be cut; of an option given twice the last counts.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut all = Self::default();
        // The most frequent list by far: two NOPs and timestamps (RFC 7323 appendix A).
        if let [kind::NOP, kind::NOP, kind::TIMESTAMPS, 10, data @ ..] = bytes
            && data.len() == 8
        {
            all.timestamps = Some((u32_at(data, 0), u32_at(data, 4)));
            return all;
        }
        for option in OptionIter::new(bytes) {
            match option {
                TcpOption::Mss(mss) => all.mss = Some(mss),
                TcpOption::WindowScale(shift) => all.window_scale = Some(shift),
                TcpOption::SackPermitted => all.sack_permitted = true,
                TcpOption::Sack(blocks) => all.sack = blocks,
                TcpOption::Timestamps { value, echo } => all.timestamps = Some((value, echo)),
                TcpOption::AccEcn(counters) => all.acc_ecn = Some(counters),
                TcpOption::Unknown { .. } => {}
                TcpOption::Broken { .. } => all.broken = true,
            }
        }
        all
    }

    /// Length in bytes as [`Self::write`] encodes them: a multiple of 4, at most 40.
    pub fn encoded_len(&self) -> usize {
        let mut scratch = [0; MAX_LEN];
        self.write(&mut scratch)
    }

    /// Writes the options to the start of `out`, padded to a multiple of 4, and returns the length.
    ///
    /// Order and alignment follow Linux (net/ipv4/tcp_output.c, `tcp_options_write`): timestamps in the
    /// padding of MSS and SACK-permitted on a SYN, `NOP NOP TS`, `NOP NOP SACK` later. What does not fit
    /// 40 bytes is cut at the end: SACK blocks first, then accurate ECN fields.
    ///
    /// # Panics
    /// If `out` is shorter than the encoded length.
    pub fn write(&self, out: &mut [u8]) -> usize {
        let mut list = Writer { out, len: 0 };
        if let Some(mss) = self.mss {
            let [a, b] = mss.to_be_bytes();
            list.put(&[kind::MSS, 4, a, b]);
        }
        match (self.sack_permitted, self.timestamps.is_some()) {
            (true, _) => list.put(&[kind::SACK_PERMITTED, 2]),
            (false, true) => list.put(&[kind::NOP, kind::NOP]),
            (false, false) => {}
        }
        if self.sack_permitted && self.timestamps.is_none() {
            list.put(&[kind::NOP, kind::NOP]);
        }
        if let Some((value, echo)) = self.timestamps {
            list.put(&[kind::TIMESTAMPS, 10]);
            list.put(&value.to_be_bytes());
            list.put(&echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            list.put(&[kind::NOP, kind::WINDOW_SCALE, 3, shift]);
        }
        self.write_acc_ecn(&mut list);
        self.write_sack(&mut list);
        while !list.len.is_multiple_of(4) {
            list.put(&[kind::NOP]);
        }
        list.len
    }

    fn write_acc_ecn(&self, list: &mut Writer<'_>) {
        let Some(counters) = self.acc_ecn else { return };
        let count = counters
            .fields()
            .count()
            .min(MAX_LEN.saturating_sub(list.len + 2) / 3);
        let kind = if counters.order_1 {
            kind::ACC_ECN_1
        } else {
            kind::ACC_ECN_0
        };
        list.put(&[kind, 2 + 3 * count as u8]);
        for field in counters.fields().take(count) {
            list.put(&field.to_be_bytes()[1..]);
        }
    }

    fn write_sack(&self, list: &mut Writer<'_>) {
        // Two bytes of padding, kind and length, then blocks of 8.
        let pad = (2 + 4 - list.len % 4) % 4;
        let room = MAX_LEN.saturating_sub(list.len + pad + 2) / 8;
        let blocks = &self.sack.as_slice()[..room.min(self.sack.as_slice().len())];
        if blocks.is_empty() {
            return;
        }
        list.put(&[kind::NOP; 3][..pad]);
        list.put(&[kind::SACK, 2 + 8 * blocks.len() as u8]);
        for (start, end) in blocks {
            list.put(&start.0.to_be_bytes());
            list.put(&end.0.to_be_bytes());
        }
    }
}

/// Appends to a slice.
struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.out[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn syn() -> TcpOptions {
        TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((0x0102_0304, 0)),
            ..TcpOptions::default()
        }
    }

    #[test]
    fn a_syn_looks_like_linux() {
        let mut bytes = [0; 40];
        let len = syn().write(&mut bytes);
        let expected = [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7];
        assert_eq!(bytes[..len], expected);
    }

    #[test]
    fn timestamps_and_three_sack_blocks_fill_the_header() {
        let mut options = TcpOptions {
            timestamps: Some((1, 2)),
            ..TcpOptions::default()
        };
        for start in [10, 20, 30, 40] {
            options.sack.push(Seq32(start), Seq32(start + 5));
        }
        let mut bytes = [0; 40];
        assert_eq!(options.write(&mut bytes), 40);
        assert_eq!(bytes[..4], [1, 1, 8, 10]);
        assert_eq!(bytes[12..16], [1, 1, 5, 26]);
        assert_eq!(TcpOptions::parse(&bytes).sack.as_slice().len(), 3);
    }

    #[test]
    fn accurate_ecn_in_both_orders_and_short() {
        let full = AccEcn {
            order_1: false,
            ect0_bytes: Some(1),
            ce_bytes: Some(0x12_3456),
            ect1_bytes: Some(9),
        };
        let short = AccEcn {
            order_1: true,
            ect0_bytes: None,
            ce_bytes: None,
            ect1_bytes: Some(9),
        };
        for counters in [
            full,
            AccEcn {
                order_1: true,
                ..full
            },
            short,
            AccEcn::default(),
        ] {
            let options = TcpOptions {
                acc_ecn: Some(counters),
                ..TcpOptions::default()
            };
            let mut bytes = [0; 40];
            let len = options.write(&mut bytes);
            assert_eq!(TcpOptions::parse(&bytes[..len]), options);
        }
        let draft = [254, 13, 0xac, 0xc1, 0, 0, 9, 0x12, 0x34, 0x56, 0, 0, 1];
        assert_eq!(
            TcpOptions::parse(&draft).acc_ecn,
            Some(AccEcn {
                order_1: true,
                ..full
            })
        );
    }

    #[test]
    fn broken_lists_end() {
        let cases: [(&[u8], usize); 5] = [
            (&[8, 0], 1),
            (&[8, 1], 1),
            (&[2, 4, 5, 0xb4, 8], 2),
            (&[1, 1, 8, 10, 0], 1),
            (&[0, 8, 0], 0),
        ];
        for (bytes, expected) in cases {
            assert_eq!(OptionIter::new(bytes).count(), expected, "{bytes:?}");
        }
        let options = TcpOptions::parse(&[2, 4, 5, 0xb4, 8, 10, 0]);
        assert_eq!(
            (options.mss, options.timestamps, options.broken),
            (Some(1460), None, true)
        );
    }

    fn arbitrary() -> impl Strategy<Value = TcpOptions> {
        let block = (any::<u32>(), any::<u32>()).prop_map(|(a, b)| (Seq32(a), Seq32(b)));
        (
            any::<Option<u16>>(),
            any::<Option<u8>>(),
            any::<bool>(),
            any::<Option<(u32, u32)>>(),
            proptest::collection::vec(block, 0..2),
        )
            .prop_map(
                |(mss, window_scale, sack_permitted, timestamps, blocks)| TcpOptions {
                    mss,
                    window_scale,
                    sack_permitted,
                    timestamps,
                    sack: SackBlocks::from_slice(&blocks),
                    ..TcpOptions::default()
                },
            )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(options in arbitrary()) {
            let mut bytes = [0; 40];
            let len = options.write(&mut bytes);
            prop_assert_eq!(len % 4, 0);
            prop_assert_eq!(len, options.encoded_len());
            prop_assert_eq!(TcpOptions::parse(&bytes[..len]), options);
        }

        #[test]
        fn any_bytes_end_in_at_most_as_many_options(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            prop_assert!(OptionIter::new(&bytes).count() <= bytes.len());
        }
    }
}
