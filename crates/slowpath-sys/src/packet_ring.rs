//! Headers of TCP packets of every device of a network namespace, through a ring that the kernel fills.
//!
//! The kernel writes blocks of packets into shared memory (`TPACKET_V3` of `packet(7)`); reading them costs no system call. A
//! filter keeps what is no TCP, or has another port, out of the ring, and cuts what is kept down to its headers. Layouts are
//! those of `include/uapi/linux/if_packet.h`; the filter is classic BPF (`include/uapi/linux/filter.h`).

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{cvt, sockopt};

/// A ring of packets.
#[derive(Debug)]
pub struct PacketRing {
    socket: OwnedFd,
    memory: NonNull<u8>,
    next: usize,
}

// SAFETY: the mapping belongs to the value alone; the kernel writes only blocks that it owns by their status word.
unsafe impl Send for PacketRing {}

/// One packet in the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingPacket<'a> {
    /// Nanoseconds since 1970-01-01 UTC, by the kernel's stamp.
    pub at: u64,
    /// Index of the device.
    pub device: u32,
    /// Whether this machine sent it.
    pub outgoing: bool,
    /// Whether the device is the loopback, which shows every packet twice.
    pub loopback: bool,
    /// Bytes from the IP header on; the bytes kept may be fewer.
    pub length: u32,
    /// From the IP header on, as far as they are kept.
    pub bytes: &'a [u8],
}

impl PacketRing {
    /// Opens a ring for TCP packets of the calling thread's network namespace; with a port at either end only if one is given.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`; `ENOMEM` where the ring (16 MiB) finds no room.
    pub fn open(port: Option<u16>) -> io::Result<Self> {
        // Protocol 0 receives nothing until the socket is bound, so nothing slips past the filter.
        let socket = crate::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, 0)?;
        attach(&socket, &tcp_headers(port))?;
        let set = |option: i32, words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            sockopt::set_bytes(socket.as_fd(), libc::SOL_PACKET, option, &bytes)
        };
        set(PACKET_VERSION, &[TPACKET_V3])?;
        let (block, frame) = (word(BLOCK), word(FRAME));
        let request = [
            block,
            word(BLOCKS),
            frame,
            word(BLOCKS) * (block / frame),
            RETIRE_MS,
            0,
            0,
        ];
        set(PACKET_RX_RING, &request)?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping of the ring, whose size was just agreed on, touches no existing memory.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                BLOCK * BLOCKS,
                protection,
                flags,
                socket.as_raw_fd(),
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = Self {
            memory: NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?,
            socket,
            next: 0,
        };
        ring.bind()?;
        Ok(ring)
    }

    fn bind(&self) -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid sockaddr_ll; index 0 stands for every device.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::sa_family_t::try_from(libc::AF_PACKET).unwrap_or(0);
        address.sll_protocol = u16::try_from(libc::ETH_P_ALL).unwrap_or(0).to_be();
        let length = libc::socklen_t::try_from(size_of::<libc::sockaddr_ll>()).unwrap_or(0);
        // SAFETY: `address` is a sockaddr_ll of `length` bytes that outlives the call.
        cvt(unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(())
    }

    /// Takes everything that the kernel has handed over, in the order in which it came. What came in the newest hundredth of a
    /// second may still be missing.
    pub fn drain(&mut self, each: &mut dyn FnMut(RingPacket<'_>)) {
        for _ in 0..BLOCKS {
            let at = self.next * BLOCK;
            // Blocks begin at multiples of their size.
            #[allow(clippy::cast_ptr_alignment)]
            // SAFETY: the status word lies in the mapping, aligned; the kernel changes it too, so it is an atomic.
            let status = unsafe { AtomicU32::from_ptr(self.memory.as_ptr().add(at + BLOCK_STATUS).cast()) };
            if status.load(Ordering::Acquire) & TP_STATUS_USER == 0 {
                return;
            }
            // SAFETY: the block lies in the mapping, and is ours alone until its status is given back below.
            let block = unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(at), BLOCK) };
            packets(block, each);
            status.store(TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % BLOCKS;
        }
    }

    /// Packets that passed the filter, and of them those for which there was no room, since the last call.
    ///
    /// # Errors
    /// Those of `getsockopt(2)`.
    pub fn take_counts(&self) -> io::Result<(u64, u64)> {
        let mut bytes = [0; 12];
        sockopt::get_bytes(
            self.socket.as_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            &mut bytes,
        )?;
        Ok((u64::from(number(&bytes, 0)), u64::from(number(&bytes, 4))))
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this size, and nothing borrows from it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), BLOCK * BLOCKS) };
    }
}

/// The packets of a block; one that does not fit in it ends it.
fn packets(block: &[u8], each: &mut dyn FnMut(RingPacket<'_>)) {
    let mut at = number(block, BLOCK_FIRST) as usize;
    for _ in 0..number(block, BLOCK_COUNT) {
        let Some(header) = block.get(at..at + HEADER + LINK) else {
            return;
        };
        let (kept, start) = (number(header, 12) as usize, usize::from(short(header, 24)));
        let link = &header[HEADER..];
        let device = number(link, 4);
        // Other families share the number of the IP version.
        let family = u16::from_be_bytes([link[2], link[3]]);
        if (family == IPV4 || family == IPV6)
            && let Some(bytes) = block.get(at + start..at + start + kept)
        {
            each(RingPacket {
                at: u64::from(number(header, 4)) * 1_000_000_000 + u64::from(number(header, 8)),
                device,
                outgoing: link[10] == libc::PACKET_OUTGOING,
                loopback: short(link, 8) == libc::ARPHRD_LOOPBACK,
                length: number(header, 16),
                bytes,
            });
        }
        match number(header, 0) as usize {
            0 => return,
            next => at += next,
        }
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_ne_bytes)
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes
        .get(at..at + 2)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u16::from_ne_bytes)
}

const fn word(value: usize) -> u32 {
    // Sizes of the ring, far below 4 GiB.
    #[allow(clippy::cast_possible_truncation)]
    {
        value as u32
    }
}

/// Keeps the headers of TCP packets, of a port at either end if one is given; offsets are from the IP header on.
fn tcp_headers(port: Option<u16>) -> Vec<libc::sock_filter> {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap_or(0),
        jt,
        jf,
        k,
    };
    let (load, equal) = (
        libc::BPF_LD | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
    );
    let (byte, half) = (load | libc::BPF_B, load | libc::BPF_H);
    let indexed = libc::BPF_LD | libc::BPF_IND | libc::BPF_H;
    let give = |bytes: u32| step(libc::BPF_RET | libc::BPF_K, 0, 0, bytes);
    let Some(port) = port.map(u32::from) else {
        return vec![
            step(byte, 0, 0, 0),
            step(libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K, 0, 0, 4),
            step(equal, 0, 2, 4), // IPv4, else 5
            step(byte, 0, 0, 9),
            step(equal, 3, 4, TCP), // 8, else 9
            step(equal, 0, 3, 6),   // IPv6, else 9
            step(byte, 0, 0, 6),
            step(equal, 0, 1, TCP), // 8, else 9
            give(KEPT),
            give(0),
        ];
    };
    vec![
        step(byte, 0, 0, 0),
        step(libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K, 0, 0, 4),
        step(equal, 0, 7, 4), // IPv4, else 10
        step(byte, 0, 0, 9),
        step(equal, 0, 13, TCP), // else 18
        step(libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH, 0, 0, 0),
        step(indexed, 0, 0, 0),
        step(equal, 9, 0, port), // 17
        step(indexed, 0, 0, 2),
        step(equal, 7, 8, port), // 17, else 18
        step(equal, 0, 7, 6),    // IPv6, else 18
        step(byte, 0, 0, 6),
        step(equal, 0, 5, TCP), // else 18
        step(half, 0, 0, 40),
        step(equal, 2, 0, port), // 17
        step(half, 0, 0, 42),
        step(equal, 0, 1, port), // 17, else 18
        give(KEPT),
        give(0),
    ]
}

fn attach(socket: &OwnedFd, filter: &[libc::sock_filter]) -> io::Result<()> {
    let mut steps = filter.to_vec();
    let program = libc::sock_fprog {
        len: u16::try_from(steps.len()).unwrap_or(0),
        filter: steps.as_mut_ptr(),
    };
    let length = libc::socklen_t::try_from(size_of::<libc::sock_fprog>()).unwrap_or(0);
    // SAFETY: `program` points to `len` steps, which outlive the call; the kernel copies them.
    cvt(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            length,
        )
    })?;
    Ok(())
}

/// Bytes kept of a packet: the longest IPv4 and TCP headers have 120.
const KEPT: u32 = 128;
const TCP: u32 = 6;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Bytes of a block, and number of blocks: some 80,000 packets.
const BLOCK: usize = 256 * 1024;
const BLOCKS: usize = 64;
const FRAME: usize = 2048;
/// A block that is not full is handed over after so many milliseconds.
const RETIRE_MS: u32 = 10;
const PACKET_RX_RING: i32 = 5;
const PACKET_VERSION: i32 = 10;
const TPACKET_V3: u32 = 2;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;
/// Places in `struct tpacket_block_desc`.
const BLOCK_STATUS: usize = 8;
const BLOCK_COUNT: usize = 12;
const BLOCK_FIRST: usize = 16;
/// Size of `struct tpacket3_hdr`, behind which the `struct sockaddr_ll` lies.
const HEADER: usize = 48;
const LINK: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::time::{Duration, Instant};

    #[test]
    fn headers_of_one_port_and_nothing_else() {
        let test = "headers_of_one_port_and_nothing_else";
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut ring = match PacketRing::open(Some(port)) {
            Ok(ring) => ring,
            Err(error) => {
                eprintln!("skipped: {test}: packets may not be captured here: {error}");
                return;
            }
        };
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        for target in [&listener, &other] {
            let mut client = TcpStream::connect(target.local_addr().unwrap()).unwrap();
            let (mut server, _) = target.accept().unwrap();
            client.write_all(&[7; 5_000]).unwrap();
            server.read_exact(&mut [0; 5_000]).unwrap();
        }
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        datagrams.send_to(&[7; 100], ("127.0.0.1", port)).unwrap();
        let (mut out, mut back, mut payload) = (0, 0, 0);
        let deadline = Instant::now() + Duration::from_secs(10);
        while payload < 5_000 {
            assert!(Instant::now() < deadline, "{payload} bytes of 5,000");
            ring.drain(&mut |packet| {
                assert!(packet.loopback && packet.bytes.len() <= 128);
                assert_eq!((packet.bytes[0] >> 4, packet.bytes[9]), (4, 6));
                let ports = [20, 22].map(|at| u16::from_be_bytes([packet.bytes[at], packet.bytes[at + 1]]));
                assert!(ports.contains(&port), "{ports:?}");
                if packet.outgoing {
                    out += 1;
                    let headers = 20 + u32::from(packet.bytes[32] >> 4) * 4;
                    payload += packet.length - headers;
                } else {
                    back += 1;
                }
            });
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(out > 4 && back > 0, "{out} {back}");
        let (passed, dropped) = ring.take_counts().unwrap();
        assert!(passed >= out + back && dropped == 0, "{passed} {dropped}");
    }

    /// Runs a filter on bytes, as the kernel does.
    fn run(filter: &[libc::sock_filter], packet: &[u8]) -> u32 {
        let (mut a, mut x, mut at) = (0_u32, 0_usize, 0_usize);
        let byte = |at: usize| u32::from(packet[at]);
        let two = |at: usize| byte(at) << 8 | byte(at + 1);
        loop {
            let step = filter[at];
            at += 1;
            let k = step.k as usize;
            match step.code {
                0x30 => a = byte(k),
                0x28 => a = two(k),
                0x48 => a = two(x + k),
                0xb1 => x = 4 * (byte(k) & 15) as usize,
                0x74 => a >>= step.k,
                0x15 => at += usize::from(if a == step.k { step.jt } else { step.jf }),
                0x06 => return step.k,
                code => panic!("{code:#x}"),
            }
        }
    }

    #[test]
    fn the_filter_takes_either_end_in_both_families() {
        let mut v4 = [0; 64];
        (v4[0], v4[9]) = (0x46, 6);
        v4[24..28].copy_from_slice(&[0, 80, 1, 0]);
        let mut v6 = [0; 64];
        (v6[0], v6[6]) = (0x60, 6);
        v6[40..44].copy_from_slice(&[0, 80, 1, 0]);
        for packet in [v4, v6] {
            assert_eq!(run(&tcp_headers(None), &packet), 128);
            for (port, kept) in [(80, 128), (256, 128), (81, 0), (6, 0)] {
                assert_eq!(
                    run(&tcp_headers(Some(port)), &packet),
                    kept,
                    "{port} {:#x}",
                    packet[0]
                );
            }
        }
        let (mut udp4, mut udp6) = (v4, v6);
        (udp4[9], udp6[6]) = (17, 17);
        for packet in [udp4, udp6, [0x10; 64]] {
            assert_eq!(run(&tcp_headers(None), &packet), 0);
            assert_eq!(run(&tcp_headers(Some(80)), &packet), 0);
        }
    }

    #[test]
    fn a_damaged_block_ends() {
        let mut count = 0;
        for fill in [0, 1, 0x30, 0xff] {
            packets(&[fill; 4_096], &mut |_| count += 1);
        }
        assert_eq!(count, 0);
    }
}
