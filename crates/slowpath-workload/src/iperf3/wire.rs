//! The control connection: cookie, state bytes and framed JSON.

use std::net::TcpStream;
use std::sync::Arc;

use serde_json::Value;
use slowpath_units::Duration;

use super::params::InvalidParams;
use crate::context::{Context, Stop};
use crate::guard::Refused;
use crate::socket::{self, SocketError, Wait, WaitFailure};

/// A state byte (src/iperf_api.h of iperf3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub(super) enum State {
    TestStart = 1,
    TestRunning = 2,
    TestEnd = 4,
    ParamExchange = 9,
    CreateStreams = 10,
    ServerTerminate = 11,
    ClientTerminate = 12,
    ExchangeResults = 13,
    DisplayResults = 14,
    IperfDone = 16,
    AccessDenied = -1,
    ServerError = -2,
}

impl State {
    const ALL: [Self; 12] = [
        Self::TestStart,
        Self::TestRunning,
        Self::TestEnd,
        Self::ParamExchange,
        Self::CreateStreams,
        Self::ServerTerminate,
        Self::ClientTerminate,
        Self::ExchangeResults,
        Self::DisplayResults,
        Self::IperfDone,
        Self::AccessDenied,
        Self::ServerError,
    ];

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|state| *state as i8 == byte.cast_signed())
    }
}

/// Why a test did not happen or broke off.
#[derive(Debug, thiserror::Error)]
pub enum IperfError {
    /// The address may not be loaded.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Settings that no test can be made of.
    #[error(transparent)]
    Params(#[from] InvalidParams),
    /// A connection failed or the context ended.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The server runs another test.
    #[error("the iperf3 server is busy with another test (it serves one client at a time); try again later")]
    Busy,
    /// The server reported an error.
    #[error("the iperf3 server reported error {code} (errno {errno}): {}", explain(*.code))]
    Server {
        /// iperf3's error number.
        code: i32,
        /// The server's errno.
        errno: i32,
    },
    /// The other side ended the test.
    #[error("the other side terminated the test")]
    Terminated,
    /// The other side closed the control connection.
    #[error("the other side closed the control connection while {0}")]
    Closed(&'static str),
    /// The other side does not follow the protocol.
    #[error("expected {expected} from the other side, got {got}; is it an iperf3?")]
    Protocol {
        /// What should have come.
        expected: &'static str,
        /// What came.
        got: String,
    },
    /// A thread could not be started.
    #[error("starting a thread for a stream: {0}")]
    Thread(std::io::Error),
    /// The server answered no UDP stream.
    #[error("no answer to the UDP stream request within {0}; is UDP to the server's port let through?")]
    UdpSilent(Duration),
}

impl IperfError {
    /// Why the workload had to stop, if that is the error.
    pub fn stop(&self) -> Option<Stop> {
        match self {
            Self::Socket(error) => error.stop(),
            _ => None,
        }
    }
}

/// What the common error numbers mean (enum in src/iperf_api.h).
fn explain(code: i32) -> &'static str {
    match code {
        27 => "the total rate is above the server's limit",
        121 => "the server is busy",
        142 => "authorisation failed",
        144 => "no data arrived",
        _ => "see the server's own output",
    }
}

/// The bytes that tie data connections to their control connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cookie(pub(super) [u8; COOKIE_LEN]);

pub(super) const COOKIE_LEN: usize = 37;

impl Cookie {
    /// A cookie nobody else has, from the clock and the address of a fresh socket.
    pub(super) fn new(stream: &TcpStream) -> Self {
        use std::hash::{BuildHasher, Hasher};
        let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
        hasher.write_u64(slowpath_sys::clock::monotonic());
        hasher.write_u16(stream.local_addr().map_or(0, |address| address.port()));
        let mut random = [0_u8; COOKIE_LEN];
        crate::content::Content::new(hasher.finish()).fill(0, &mut random);
        let mut bytes = random.map(|byte| ALPHABET[usize::from(byte) % ALPHABET.len()]);
        bytes[COOKIE_LEN - 1] = 0;
        Self(bytes)
    }
}

impl std::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl Cookie {
    /// The 36 characters.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0[..COOKIE_LEN - 1]).into_owned()
    }
}

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// One side of a control connection.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) stream: Arc<TcpStream>,
}

impl Control {
    pub(super) fn write(&self, bytes: &[u8], context: &Context) -> Result<(), IperfError> {
        Ok(socket::write_all(
            &self.stream,
            bytes,
            "writing to the control connection of",
            context,
        )?)
    }

    pub(super) fn send_state(&self, state: State, context: &Context) -> Result<(), IperfError> {
        self.write(&[(state as i8).cast_unsigned()], context)
    }

    /// Sends an error number as the protocol wants it; best effort.
    pub(super) fn send_error(&self, code: i32, context: &Context) {
        let mut bytes = vec![(State::ServerError as i8).cast_unsigned()];
        bytes.extend(code.to_be_bytes());
        bytes.extend(0_i32.to_be_bytes());
        // The other side may be gone: then nobody needs to be told.
        let _ = self.write(&bytes, context);
    }

    fn incoming<'a>(&'a self, context: &'a Context) -> FromSocket<'a> {
        FromSocket {
            stream: &self.stream,
            context,
        }
    }

    /// The next state byte.
    pub(super) fn state(&self, doing: &'static str, context: &Context) -> Result<State, IperfError> {
        state(&mut self.incoming(context), doing)
    }

    pub(super) fn expect(
        &self,
        wanted: State,
        doing: &'static str,
        context: &Context,
    ) -> Result<(), IperfError> {
        expect(&mut self.incoming(context), wanted, doing)
    }

    /// Waits at most `within` for something to read.
    pub(super) fn readable(&self, within: Duration, context: &Context) -> Result<bool, IperfError> {
        let slice = context.clone().with_timeout(within);
        match socket::wait(&self.stream, Wait::Readable, &slice) {
            Ok(()) => Ok(true),
            Err(WaitFailure::Stop(stop)) => {
                context
                    .check()
                    .map_err(|stop| SocketError::stopped("running the test", stop))?;
                if stop == Stop::Cancelled {
                    return Err(SocketError::stopped("running the test", stop).into());
                }
                Ok(false)
            }
            Err(failure) => Err(failure
                .at("running the test with", socket::peer(&self.stream))
                .into()),
        }
    }

    pub(super) fn send_json(&self, value: &Value, context: &Context) -> Result<(), IperfError> {
        let text = value.to_string();
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.write(&len.to_be_bytes(), context)?;
        self.write(text.as_bytes(), context)
    }

    /// Reads one framed JSON text of at most `most` bytes; memory grows only with what really arrives.
    pub(super) fn json(
        &self,
        most: usize,
        doing: &'static str,
        context: &Context,
    ) -> Result<Value, IperfError> {
        json(&mut self.incoming(context), most, doing)
    }
}

/// Where the bytes of the other side come from.
pub(super) trait Incoming {
    /// Fills the whole buffer.
    fn fill(&mut self, buffer: &mut [u8], doing: &'static str) -> Result<(), IperfError>;
}

struct FromSocket<'a> {
    stream: &'a TcpStream,
    context: &'a Context,
}

impl Incoming for FromSocket<'_> {
    fn fill(&mut self, buffer: &mut [u8], doing: &'static str) -> Result<(), IperfError> {
        let mut at = 0;
        while at < buffer.len() {
            let len = socket::read(
                self.stream,
                &mut buffer[at..],
                "reading the control connection of",
                self.context,
            )?;
            if len == 0 {
                return Err(IperfError::Closed(doing));
            }
            at += len;
        }
        Ok(())
    }
}

/// The next state byte. One byte is read at a time because states coalesce in one segment.
pub(super) fn state(from: &mut impl Incoming, doing: &'static str) -> Result<State, IperfError> {
    let mut byte = [0_u8];
    from.fill(&mut byte, doing)?;
    match State::from_byte(byte[0]) {
        Some(State::AccessDenied) => Err(IperfError::Busy),
        Some(State::ServerTerminate | State::ClientTerminate) => Err(IperfError::Terminated),
        Some(State::ServerError) => {
            let mut numbers = [0_u8; 8];
            // iperf3 3.12 sends only one of the two numbers when authorisation fails.
            let read = from.fill(&mut numbers, doing);
            let number = |at: usize| {
                i32::from_be_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]])
            };
            match read {
                Ok(()) | Err(IperfError::Closed(_)) => Err(IperfError::Server {
                    code: number(0),
                    errno: number(4),
                }),
                Err(error) => Err(error),
            }
        }
        Some(state) => Ok(state),
        None => Err(IperfError::Protocol {
            expected: "a state byte",
            got: format!("byte {}", byte[0]),
        }),
    }
}

/// The next state byte, which must be this one.
pub(super) fn expect(from: &mut impl Incoming, wanted: State, doing: &'static str) -> Result<(), IperfError> {
    let state = state(from, doing)?;
    if state == wanted {
        return Ok(());
    }
    Err(IperfError::Protocol {
        expected: name(wanted),
        got: name(state).to_owned(),
    })
}

/// One framed JSON text of at most `most` bytes; memory grows only with what really arrives.
pub(super) fn json(from: &mut impl Incoming, most: usize, doing: &'static str) -> Result<Value, IperfError> {
    let mut head = [0_u8; 4];
    from.fill(&mut head, doing)?;
    let len = u32::from_be_bytes(head) as usize;
    if len > most {
        let got = format!("a JSON text of {len} bytes");
        return Err(IperfError::Protocol {
            expected: "a JSON text of reasonable size",
            got,
        });
    }
    let mut text = Vec::new();
    while text.len() < len {
        let at = text.len();
        text.resize(len.min(at + 16 * 1024), 0);
        from.fill(&mut text[at..], doing)?;
    }
    serde_json::from_slice(&text).map_err(|error| IperfError::Protocol {
        expected: "a JSON text",
        got: error.to_string(),
    })
}

fn name(state: State) -> &'static str {
    match state {
        State::TestStart => "TEST_START",
        State::TestRunning => "TEST_RUNNING",
        State::TestEnd => "TEST_END",
        State::ParamExchange => "PARAM_EXCHANGE",
        State::CreateStreams => "CREATE_STREAMS",
        State::ServerTerminate => "SERVER_TERMINATE",
        State::ClientTerminate => "CLIENT_TERMINATE",
        State::ExchangeResults => "EXCHANGE_RESULTS",
        State::DisplayResults => "DISPLAY_RESULTS",
        State::IperfDone => "IPERF_DONE",
        State::AccessDenied => "ACCESS_DENIED",
        State::ServerError => "SERVER_ERROR",
    }
}

/// IETOTALRATE.
pub(super) const TOTAL_RATE: i32 = 27;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_bytes_are_iperf3s() {
        assert_eq!(State::from_byte(9), Some(State::ParamExchange));
        assert_eq!(State::from_byte(0xff), Some(State::AccessDenied));
        assert_eq!(State::from_byte(0xfe), Some(State::ServerError));
        assert_eq!(State::from_byte(3), None);
    }
}
