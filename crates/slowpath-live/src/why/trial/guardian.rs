//! The process that restores what a trial changed when the process that changed it disappears, also by `kill -9`.
//!
//! While something is changed it holds a second descriptor of each changed socket and the values that its options had. Its
//! only link is a socket: when that closes, it restores what it holds and ends. It looks every 10 ms whether the program
//! still holds each socket itself, and lets go of what it does not: a connection ends with its last descriptor.
//! It is this program, started with a hidden argument, in a process group of its own so that Ctrl-C does not reach it.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use slowpath_sys::poll::PollSet;
use slowpath_sys::process_table;
use slowpath_sys::shared_socket::{receive_with_descriptor, send_with_descriptor};

use super::reach::Place;
use super::setting::Setting;

/// What a guardian is told; it answers each with one byte.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Message {
    /// The descriptor that comes with it is of this socket, and its option had this value.
    Hold {
        cookie: u64,
        place: Place,
        setting: Setting,
    },
    /// The option of this socket is restored.
    Release { cookie: u64 },
}

/// The guardian, as the process that changes options sees it. Dropping it makes it restore what it still holds.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    link: Option<UnixStream>,
    number: u32,
}

impl Guardian {
    /// Starts it: `command` is the program and the arguments that make it call [`guard`] with its standard input.
    ///
    /// # Errors
    /// Those of starting a program; `InvalidInput` for no words.
    pub fn start(command: &[OsString]) -> io::Result<Self> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let (link, theirs) = UnixStream::pair()?;
        link.set_read_timeout(Some(ANSWER))?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let mut guardian = Self {
            child,
            link: Some(link),
            number: 0,
        };
        let mut number = [0; 4];
        match &mut guardian.link {
            Some(link) => link.read_exact(&mut number)?,
            None => return Err(io::ErrorKind::NotConnected.into()),
        }
        guardian.number = u32::from_ne_bytes(number);
        Ok(guardian)
    }

    /// Its number in `/proc`.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Hands over a socket and the value that its option has now; when this returns, the guardian has it.
    ///
    /// # Errors
    /// When the guardian is gone or does not answer.
    pub fn hold(
        &mut self,
        cookie: u64,
        place: Place,
        setting: &Setting,
        socket: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let setting = setting.clone();
        self.tell(
            &Message::Hold {
                cookie,
                place,
                setting,
            },
            Some(socket),
        )
    }

    /// Says that a socket's option is restored.
    ///
    /// # Errors
    /// When the guardian is gone or does not answer.
    pub fn release(&mut self, cookie: u64) -> io::Result<()> {
        self.tell(&Message::Release { cookie }, None)
    }

    fn tell(&mut self, message: &Message, socket: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let link = self.link.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let text = serde_json::to_vec(message).map_err(io::Error::other)?;
        send_with_descriptor(&*link, &text, socket)?;
        let mut answer = [0];
        link.read_exact(&mut answer)
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        drop(self.link.take());
        // It restores what is left, which takes no time, and ends.
        let _ = self.child.wait();
    }
}

/// One socket that a guardian holds.
struct Held {
    cookie: u64,
    place: Place,
    setting: Setting,
    socket: OwnedFd,
}

/// The guardian's whole life: `link` is its standard input.
///
/// # Errors
/// Those of the link, other than its end.
pub fn guard(link: impl AsFd) -> io::Result<()> {
    let link = link.as_fd();
    let mut held: Vec<Held> = Vec::new();
    let outcome = hold_until_the_end(link, &mut held);
    for one in held {
        let _ = one.setting.restore(&one.socket);
    }
    outcome
}

fn hold_until_the_end(link: BorrowedFd<'_>, held: &mut Vec<Held>) -> io::Result<()> {
    // The link is a socket under the number of the standard input; it is written to as well as read.
    let mut answers = std::fs::File::from(link.try_clone_to_owned()?);
    answers.write_all(&process_table::own_number()?.to_ne_bytes())?;
    let mut buffer = vec![0; LONGEST];
    loop {
        let mut set = PollSet::new();
        let index = set.add_readable(link);
        set.wait((!held.is_empty()).then_some(LOOK))?;
        // Another descriptor of the program's may be left, so it is restored before it is let go.
        for gone in held.extract_if(.., |one| !one.place.is_held()) {
            let _ = gone.setting.restore(&gone.socket);
        }
        if !set.is_ready(index) {
            continue;
        }
        let (length, socket) = receive_with_descriptor(link, &mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        match serde_json::from_slice(&buffer[..length]).map_err(io::Error::other)? {
            Message::Hold {
                cookie,
                place,
                setting,
            } => {
                held.extend(socket.map(|socket| Held {
                    cookie,
                    place,
                    setting,
                    socket,
                }));
            }
            Message::Release { cookie } => held.retain(|one| one.cookie != cookie),
        }
        answers.write_all(&[1])?;
    }
}

/// How long an answer may take: a message among processes of one machine, which may be busy.
const ANSWER: Duration = Duration::from_secs(2);
/// Between two looks whether the program still holds its sockets, nanoseconds.
const LOOK: u64 = 10_000_000;
/// Longest message, bytes.
const LONGEST: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_sys::{shared_socket, sockopt};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    fn place_of(stream: &TcpStream) -> Place {
        let me = process_table::own_number().unwrap();
        let fd = u32::try_from(stream.as_raw_fd()).unwrap();
        let sockets = process_table::sockets(me).unwrap();
        let (number, inode) = sockets.into_iter().find(|(number, _)| *number == fd).unwrap();
        Place {
            process: me,
            number,
            inode,
        }
    }

    #[test]
    fn what_is_held_is_restored_when_the_link_closes_and_what_is_released_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (kept, released) = (connect(), connect());
        let (here, there) = UnixStream::pair().unwrap();
        let guardian = std::thread::spawn(move || guard(there));
        (&here).read_exact(&mut [0; 4]).unwrap();
        let tell = |message: &Message, socket: Option<BorrowedFd<'_>>| {
            send_with_descriptor(&here, &serde_json::to_vec(message).unwrap(), socket).unwrap();
            let mut answer = [0];
            (&here).read_exact(&mut answer).unwrap();
        };
        for stream in [&kept, &released] {
            sockopt::set_congestion_control(stream, "reno").unwrap();
            let hold = Message::Hold {
                cookie: shared_socket::cookie(stream).unwrap(),
                place: place_of(stream),
                setting: Setting::CongestionControl("reno".to_owned()),
            };
            tell(&hold, Some(stream.as_fd()));
            sockopt::set_not_sent_low_water(stream, 5_000).unwrap();
            sockopt::set_congestion_control(stream, "bbr").unwrap();
        }
        let cookie = shared_socket::cookie(&released).unwrap();
        tell(&Message::Release { cookie }, None);
        drop(here);
        guardian.join().unwrap().unwrap();
        assert_eq!(sockopt::congestion_control(&kept).unwrap(), "reno");
        assert_eq!(sockopt::congestion_control(&released).unwrap(), "bbr");
    }

    #[test]
    fn a_connection_that_the_program_closes_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        let (here, there) = UnixStream::pair().unwrap();
        let guardian = std::thread::spawn(move || guard(there));
        (&here).read_exact(&mut [0; 4]).unwrap();
        let hold = Message::Hold {
            cookie: shared_socket::cookie(&stream).unwrap(),
            place: place_of(&stream),
            setting: Setting::UnsentLowWater(0),
        };
        send_with_descriptor(&here, &serde_json::to_vec(&hold).unwrap(), Some(stream.as_fd())).unwrap();
        (&here).read_exact(&mut [0]).unwrap();
        drop(stream);
        peer.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        assert_eq!(peer.read(&mut [0]).unwrap(), 0, "the end reaches the peer");
        drop(here);
        guardian.join().unwrap().unwrap();
    }
}
