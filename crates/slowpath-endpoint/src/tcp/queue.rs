//! What the program wrote and the peer has not acknowledged: the send buffer.

use super::config::SendBuffer;
use super::stream::SendStream;

/// The send buffer of one connection. Offsets are sequence offsets: data begin at 1.
///
/// It promises that the program writes no more than the buffer holds, and that the buffer never shrinks.
#[derive(Debug, Clone)]
pub(crate) struct SendQueue {
    pub(crate) stream: SendStream,
    fin: bool,
    setting: SendBuffer,
    limit: u64,
}

impl SendQueue {
    pub(crate) fn new(setting: SendBuffer) -> Self {
        Self {
            stream: SendStream::default(),
            fin: false,
            setting,
            limit: match setting {
                SendBuffer::Autotuned { initial, .. } => u64::from(initial),
                SendBuffer::Fixed { bytes } => u64::from(bytes),
            },
        }
    }

    /// Offset behind everything the application wrote.
    pub(crate) const fn end(&self) -> u64 {
        1 + self.stream.end()
    }

    /// The application will write no more.
    pub(crate) const fn finish(&mut self) {
        self.fin = true;
    }

    /// Whether a FIN follows the last byte.
    pub(crate) const fn is_finished(&self) -> bool {
        self.fin
    }

    /// Bytes written and not acknowledged, `una` being the first of them.
    pub(crate) const fn queued(&self, una: u64) -> u64 {
        self.end().saturating_sub(if una == 0 { 1 } else { una })
    }

    /// Bytes the application may write now.
    pub(crate) const fn writable(&self, una: u64) -> u64 {
        self.limit.saturating_sub(self.queued(una))
    }

    /// Whether a program waiting for space is woken (`sk_stream_is_writeable`).
    pub(crate) const fn wakes_writer(&self, una: u64) -> bool {
        self.writable(una) >= self.queued(una) / 2
    }

    /// Makes room for twice a window of `segments` (`tcp_sndbuf_expand`).
    pub(crate) fn expand(&mut self, segments: u32, mss: u32) {
        if let SendBuffer::Autotuned { maximum, .. } = self.setting {
            let per_segment = u64::from((mss + HEADER_SPACE).next_power_of_two()) + 256;
            let want = 2 * u64::from(segments) * per_segment;
            self.limit = self.limit.max(want.min(u64::from(maximum)));
        }
    }
}

/// What the kernel adds to a segment's payload before it rounds up, in bytes (`MAX_TCP_HEADER`, `skb_shared_info`).
const HEADER_SPACE: u32 = 640;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_written_than_the_buffer_holds() {
        let mut queue = SendQueue::new(SendBuffer::Fixed { bytes: 1000 });
        assert_eq!(queue.writable(0), 1000);
        queue.stream.write_synthetic(900);
        assert_eq!((queue.end(), queue.queued(1), queue.writable(1)), (901, 900, 100));
        assert!(!queue.wakes_writer(1));
        assert_eq!((queue.queued(601), queue.writable(601)), (300, 700));
        assert!(queue.wakes_writer(601));
        queue.expand(100, 1460);
        assert_eq!(queue.writable(901), 1000, "a fixed buffer stays");
    }
}
