//! TCP sockets with chosen options, and blocking calls that honour deadline and cancel flag.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};
use slowpath_packet::mark::{Dscp, Ecn};
use slowpath_sys::{message, poll::PollSet, sockopt};
use slowpath_units::{BitRate, ByteCount};

use crate::context::{Context, Stop};

/// What to set on a TCP socket before its handshake; an absent value leaves the kernel's default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SocketOptions {
    /// `SO_RCVBUF`: bounds the window that is advertised. The kernel doubles the value and bounds it by `net.core.rmem_max`.
    pub receive_buffer: Option<ByteCount>,
    /// `SO_SNDBUF`; the kernel doubles the value and bounds it by `net.core.wmem_max`.
    pub send_buffer: Option<ByteCount>,
    /// `TCP_WINDOW_CLAMP`: bounds the window that is advertised.
    pub window_clamp: Option<ByteCount>,
    /// `TCP_CONGESTION`, such as `"cubic"`.
    pub congestion_control: Option<String>,
    /// `TCP_MAXSEG`: largest segment payload in both directions, in bytes.
    pub mss: Option<u32>,
    /// DSCP, from the SYN on.
    pub dscp: Option<Dscp>,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
    /// `SO_MAX_PACING_RATE`.
    pub pacing: Option<BitRate>,
}

/// What the kernel made of [`SocketOptions`], read back after the handshake.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SocketFacts {
    /// `SO_RCVBUF` as read back: the kernel's doubled, bounded value in bytes.
    pub receive_buffer: u64,
    /// `SO_SNDBUF` as read back.
    pub send_buffer: u64,
    /// The congestion control in use.
    pub congestion_control: String,
    /// Segment payload in bytes.
    pub mss: u32,
    /// Options that were asked for and not granted in full, as sentences.
    pub shortfalls: Vec<String>,
}

/// A socket call that failed: what was being done, with whom, and why.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The workload had to stop.
    #[error("{doing}: {stop}")]
    Stopped {
        /// What was being done.
        doing: &'static str,
        /// Why it stopped.
        stop: Stop,
    },
    /// A system call failed.
    #[error("{doing} {peer}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The other end, or the local address of a listener.
        peer: SocketAddr,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The congestion control was refused.
    #[error(
        "choosing congestion control \"{name}\" for the connection with {peer}: {source}; {}",
        congestion_hint(source)
    )]
    CongestionControl {
        /// The algorithm asked for.
        name: String,
        /// The other end, or the local address of a listener.
        peer: SocketAddr,
        /// The kernel's answer.
        source: io::Error,
    },
    /// An option was refused.
    #[error("setting {option} to {value} on the socket for {peer}: {source}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// The value asked for.
        value: String,
        /// The other end, or the local address of a listener.
        peer: SocketAddr,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl SocketError {
    pub(crate) fn io(doing: &'static str, peer: SocketAddr, source: io::Error) -> Self {
        Self::Io { doing, peer, source }
    }

    pub(crate) fn stopped(doing: &'static str, stop: Stop) -> Self {
        Self::Stopped { doing, stop }
    }

    /// Why the workload had to stop, if that is the error.
    pub fn stop(&self) -> Option<Stop> {
        match self {
            Self::Stopped { stop, .. } => Some(*stop),
            _ => None,
        }
    }
}

impl SocketOptions {
    /// Connects to `to` with these options in force from the SYN on.
    ///
    /// # Errors
    /// A refused option, a failed connection, or the context's end.
    pub fn connect(&self, to: SocketAddr, context: &Context) -> Result<TcpStream, SocketError> {
        self.connect_from(None, to, context)
    }

    /// As [`SocketOptions::connect`], from the local address `from`.
    ///
    /// # Errors
    /// A refused option, a failed connection, or the context's end.
    pub fn connect_from(
        &self,
        from: Option<SocketAddr>,
        to: SocketAddr,
        context: &Context,
    ) -> Result<TcpStream, SocketError> {
        let doing = "connecting to";
        let io = |source| SocketError::io(doing, to, source);
        let stream = TcpStream::from(message::tcp_socket(to.is_ipv6()).map_err(io)?);
        self.apply(&stream, to)?;
        if let Some(cap) = context.permission().rate_cap(to.ip()) {
            let rate = self.pacing.map_or(cap, |asked| asked.min(cap));
            sockopt::set_max_pacing_rate(&stream, rate.bits_per_s() / 8).map_err(io)?;
        }
        if let Some(from) = from {
            sockopt::set_reuse_address(&stream, 1).map_err(io)?;
            message::bind(&stream, from).map_err(|source| SocketError::io("binding to", from, source))?;
        }
        stream.set_nonblocking(true).map_err(io)?;
        match message::connect(&stream, to) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(EINPROGRESS) => {
                wait(&stream, Wait::Writable, context).map_err(|failure| failure.at(doing, to))?;
                message::take_error(&stream).map_err(io)?;
            }
            Err(error) => return Err(io(error)),
        }
        stream.set_nonblocking(false).map_err(io)?;
        prepare(&stream).map_err(io)?;
        // A route's own congestion control (`congctl` of ip-route(8)) replaces the socket's while it connects. Where the route
        // locks it, the facts tell.
        if let Some(name) = &self.congestion_control
            && sockopt::congestion_control(&stream).is_ok_and(|own| own != *name)
        {
            let _ = sockopt::set_congestion_control(&stream, name);
        }
        Ok(stream)
    }

    /// Listens on `at`, without blocking in `accept`; accepted sockets inherit the options.
    ///
    /// # Errors
    /// A refused option, or an address in use.
    pub fn listen(&self, at: SocketAddr, backlog: i32) -> Result<TcpListener, SocketError> {
        let io = |source| SocketError::io("listening on", at, source);
        let socket = message::tcp_socket(at.is_ipv6()).map_err(io)?;
        sockopt::set_reuse_address(&socket, 1).map_err(io)?;
        self.apply(&socket, at)?;
        message::bind(&socket, at).map_err(io)?;
        message::listen(&socket, backlog).map_err(io)?;
        let listener = TcpListener::from(socket);
        listener.set_nonblocking(true).map_err(io)?;
        Ok(listener)
    }

    /// Listens with TCP, and opens a UDP socket of the same number; with port 0 a number that is free for both.
    pub(crate) fn listen_both(
        &self,
        at: SocketAddr,
        backlog: i32,
        open_udp: impl Fn(SocketAddr) -> io::Result<UdpSocket>,
    ) -> Result<(TcpListener, UdpSocket, SocketAddr), SocketError> {
        let mut tries = if at.port() == 0 { 20 } else { 1 };
        loop {
            tries -= 1;
            let listener = self.listen(at, backlog)?;
            let address = listener
                .local_addr()
                .map_err(|source| SocketError::io("asking for the address of", at, source))?;
            match open_udp(address) {
                Ok(udp) => return Ok((listener, udp, address)),
                Err(error) if tries == 0 => {
                    return Err(SocketError::io("listening with UDP on", address, error));
                }
                // Another program has this number for UDP: take another one.
                Err(_) => {}
            }
        }
    }

    /// Sets the options on an open socket; those that act in the handshake are too late on a connected one.
    ///
    /// # Errors
    /// The first option that the kernel refuses.
    pub fn apply(&self, socket: impl AsFd, peer: SocketAddr) -> Result<(), SocketError> {
        let socket = socket.as_fd();
        let size = |bytes: ByteCount| i32::try_from(bytes.bytes()).unwrap_or(i32::MAX);
        let set = |option: &'static str, value: String, result: io::Result<()>| {
            result.map_err(|source| SocketError::Option {
                option,
                value,
                peer,
                source,
            })
        };
        if let Some(bytes) = self.receive_buffer {
            set(
                "SO_RCVBUF",
                bytes.to_string(),
                sockopt::set_receive_buffer(socket, size(bytes)),
            )?;
        }
        if let Some(bytes) = self.send_buffer {
            set(
                "SO_SNDBUF",
                bytes.to_string(),
                sockopt::set_send_buffer(socket, size(bytes)),
            )?;
        }
        if let Some(bytes) = self.window_clamp {
            set(
                "TCP_WINDOW_CLAMP",
                bytes.to_string(),
                sockopt::set_window_clamp(socket, size(bytes)),
            )?;
        }
        if let Some(name) = &self.congestion_control {
            sockopt::set_congestion_control(socket, name).map_err(|source| {
                let name = name.clone();
                SocketError::CongestionControl { name, peer, source }
            })?;
        }
        if let Some(mss) = self.mss {
            let value = i32::try_from(mss).unwrap_or(i32::MAX);
            set(
                "TCP_MAXSEG",
                mss.to_string(),
                sockopt::set_max_segment(socket, value),
            )?;
        }
        if let Some(dscp) = self.dscp {
            set(
                "IP_TOS",
                dscp.to_string(),
                set_tos(socket, peer, dscp.tos(Ecn::NotEct)),
            )?;
        }
        if self.no_delay {
            set("TCP_NODELAY", "1".to_owned(), sockopt::set_no_delay(socket, 1))?;
        }
        if let Some(rate) = self.pacing {
            let result = sockopt::set_max_pacing_rate(socket, rate.bits_per_s() / 8);
            set("SO_MAX_PACING_RATE", rate.to_string(), result)?;
        }
        Ok(())
    }

    /// Reads back what the kernel granted, naming every shortfall.
    pub fn facts(&self, socket: &TcpStream) -> SocketFacts {
        let receive = sockopt::receive_buffer(socket).unwrap_or(0);
        let send = sockopt::send_buffer(socket).unwrap_or(0);
        let mut shortfalls = Vec::new();
        for (name, asked, got, bound) in [
            ("receive", self.receive_buffer, receive, "net.core.rmem_max"),
            ("send", self.send_buffer, send, "net.core.wmem_max"),
        ] {
            if let Some(asked) = asked
                && u64::try_from(got).unwrap_or(0) < asked.bytes().saturating_mul(2)
            {
                shortfalls.push(format!(
                    "{name} buffer: asked for {asked}, got {} bytes; raise {bound} to allow more",
                    got / 2
                ));
            }
        }
        let control = sockopt::congestion_control(socket).unwrap_or_default();
        if let Some(asked) = self
            .congestion_control
            .as_ref()
            .filter(|asked| **asked != control)
        {
            shortfalls.push(format!(
                "congestion control: asked for {asked}, got {control}; the route says so (ip route show)"
            ));
        }
        let mss = slowpath_sys::tcp_info::tcp_info(socket).map_or(0, |info| info.snd_mss);
        SocketFacts {
            receive_buffer: u64::try_from(receive).unwrap_or(0),
            send_buffer: u64::try_from(send).unwrap_or(0),
            congestion_control: control,
            mss,
            shortfalls,
        }
    }
}

fn congestion_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "only root may choose it until it is listed in net.ipv4.tcp_allowed_congestion_control"
        }
        io::ErrorKind::NotFound => {
            "net.ipv4.tcp_available_congestion_control lists what this kernel has; root can load a module"
        }
        _ => "the kernel gives no reason",
    }
}

/// Sets the type-of-service byte or traffic class towards `peer`.
pub(crate) fn set_tos(socket: impl AsFd, peer: SocketAddr, tos: u8) -> io::Result<()> {
    if peer.is_ipv6() {
        sockopt::set_traffic_class(&socket, i32::from(tos))?;
        // An IPv6 socket that talks to a mapped IPv4 address needs the other option too.
        if peer.ip().to_canonical().is_ipv4() || peer.ip().is_unspecified() {
            sockopt::set_tos(&socket, i32::from(tos))?;
        }
        Ok(())
    } else {
        sockopt::set_tos(&socket, i32::from(tos))
    }
}

/// Accepts the next connection of a client that the context serves; others are closed at once.
///
/// # Errors
/// The context's end, or what `accept` answers.
pub(crate) fn accept(
    listener: &TcpListener,
    at: SocketAddr,
    context: &Context,
) -> Result<(TcpStream, SocketAddr), SocketError> {
    let doing = "waiting for a connection on";
    let (stream, peer) = loop {
        wait(listener, Wait::Readable, context).map_err(|failure| failure.at(doing, at))?;
        match listener.accept() {
            Ok((stream, peer)) if context.serves(peer.ip()) => break (stream, peer),
            Ok(_) => {}
            // The client was gone again, or a signal came.
            Err(error) if retry(&error) || error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(SocketError::io(doing, at, error)),
        }
    };
    prepare(&stream).map_err(|source| SocketError::io("preparing the connection from", peer, source))?;
    Ok((stream, peer))
}

/// Reads some bytes; 0 at the end of the stream.
pub(crate) fn read(
    stream: &TcpStream,
    buffer: &mut [u8],
    doing: &'static str,
    context: &Context,
) -> Result<usize, SocketError> {
    again(stream, doing, context, |mut stream| stream.read(buffer))
}

/// Writes some bytes; at least one.
pub(crate) fn write(
    stream: &TcpStream,
    bytes: &[u8],
    doing: &'static str,
    context: &Context,
) -> Result<usize, SocketError> {
    again(stream, doing, context, |mut stream| stream.write(bytes))
}

/// Makes a call until it succeeds, fails for good, or the context ends.
pub(crate) fn again<T>(
    stream: &TcpStream,
    doing: &'static str,
    context: &Context,
    mut call: impl FnMut(&TcpStream) -> io::Result<T>,
) -> Result<T, SocketError> {
    loop {
        context
            .check()
            .map_err(|stop| SocketError::stopped(doing, stop))?;
        match call(stream) {
            Ok(done) => return Ok(done),
            Err(error) if retry(&error) => {}
            Err(error) => return Err(SocketError::io(doing, peer(stream), error)),
        }
    }
}

/// Writes all bytes.
pub(crate) fn write_all(
    stream: &TcpStream,
    mut bytes: &[u8],
    doing: &'static str,
    context: &Context,
) -> Result<(), SocketError> {
    while !bytes.is_empty() {
        let count = write(stream, bytes, doing, context)?;
        bytes = &bytes[count..];
    }
    Ok(())
}

/// Lets blocking calls return often enough to look at the cancel flag.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(Context::SLICE))?;
    stream.set_write_timeout(Some(Context::SLICE))
}

fn retry(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

pub(crate) fn peer(stream: &TcpStream) -> SocketAddr {
    stream
        .peer_addr()
        .unwrap_or_else(|_| SocketAddr::from(([0, 0, 0, 0], 0)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Readable,
    Writable,
}

pub(crate) enum WaitFailure {
    Stop(Stop),
    Io(io::Error),
}

impl WaitFailure {
    pub(crate) fn at(self, doing: &'static str, peer: SocketAddr) -> SocketError {
        match self {
            Self::Stop(stop) => SocketError::stopped(doing, stop),
            Self::Io(source) => SocketError::io(doing, peer, source),
        }
    }
}

/// Waits until `socket` is ready or the context ends.
pub(crate) fn wait(socket: impl AsFd, what: Wait, context: &Context) -> Result<(), WaitFailure> {
    let mut set = PollSet::new();
    match what {
        Wait::Readable => set.add_readable(socket.as_fd()),
        Wait::Writable => set.add_writable(socket.as_fd()),
    };
    loop {
        context.check().map_err(WaitFailure::Stop)?;
        let nanos = u64::try_from(context.slice().as_nanos()).unwrap_or(u64::MAX);
        if set.wait(Some(nanos)).map_err(WaitFailure::Io)? > 0 {
            return Ok(());
        }
    }
}

/// `EINPROGRESS` of Linux on all architectures but MIPS and SPARC (include/uapi/asm-generic/errno.h).
const EINPROGRESS: i32 = 115;
