//! The byte stream that a connection sends: real bytes where they matter, bare lengths elsewhere.

use std::collections::VecDeque;

use crate::wire::OwnedPayload;

/// Data written and not yet acknowledged; offsets count data bytes from 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct SendStream {
    /// Offset behind the last byte written.
    end: u64,
    /// Pieces of real bytes, by offset; everything between them is synthetic.
    bytes: VecDeque<(u64, Vec<u8>)>,
}

impl SendStream {
    /// Offset behind the last byte written.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.bytes.push_back((self.end, bytes.to_vec()));
        self.end += bytes.len() as u64;
    }

    pub(crate) fn write_synthetic(&mut self, len: u64) {
        self.end += len;
    }

    /// Forgets real bytes below `offset`.
    pub(crate) fn acknowledge(&mut self, offset: u64) {
        while let Some((start, piece)) = self.bytes.front() {
            if start + piece.len() as u64 > offset {
                break;
            }
            self.bytes.pop_front();
        }
    }

    /// The payload of the `len` bytes at `offset`.
    pub(crate) fn payload(&self, offset: u64, len: u32) -> OwnedPayload {
        let end = offset + u64::from(len);
        let touches = |(start, piece): &&(u64, Vec<u8>)| *start < end && start + piece.len() as u64 > offset;
        if !self.bytes.iter().any(|piece| touches(&piece)) {
            return OwnedPayload::Synthetic(len);
        }
        let mut out = vec![0; len as usize];
        for (start, piece) in self.bytes.iter().filter(touches) {
            let from = offset.max(*start);
            let to = end.min(start + piece.len() as u64);
            let source = &piece[(from - start) as usize..(to - start) as usize];
            out[(from - offset) as usize..(to - offset) as usize].copy_from_slice(source);
        }
        OwnedPayload::Bytes(out.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_bytes_come_back_where_they_were_written() {
        let mut stream = SendStream::default();
        stream.write_bytes(b"abc");
        stream.write_synthetic(2);
        stream.write_bytes(b"de");
        assert_eq!(stream.end(), 7);
        assert_eq!(stream.payload(1, 2), OwnedPayload::Bytes((*b"bc").into()));
        assert_eq!(stream.payload(2, 5), OwnedPayload::Bytes((*b"c\0\0de").into()));
        assert_eq!(stream.payload(3, 2), OwnedPayload::Synthetic(2));
        stream.acknowledge(3);
        assert_eq!(stream.payload(5, 2), OwnedPayload::Bytes((*b"de").into()));
    }
}
