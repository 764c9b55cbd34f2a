//! A file on the server that is there while a program of ours holds it, and goes away with it however that ends.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use slowpath_sys::process::signal_group;
use slowpath_units::Duration;
use slowpath_workload::Context;
use slowpath_workload::external::ssh::quoted;

/// The file, and the ssh whose end removes it: the shell at the other end reads until this end is gone.
#[derive(Debug)]
pub(super) struct Held {
    child: Child,
    /// Where it is on the server.
    pub(super) path: String,
}

impl Held {
    /// What the server's shell does: makes a file without any blocks, names it, waits, removes it.
    pub(super) fn script() -> String {
        let script = "f=$(mktemp \"${TMPDIR:-/tmp}/slowpath.XXXXXX\") || exit 1; trap 'rm -f \"$f\"' EXIT HUP INT TERM; \
                      truncate -s 1T \"$f\" || truncate -s 64G \"$f\" || exit 1; echo \"$f\"; cat >/dev/null";
        format!("exec sh -c {}", quoted(script))
    }

    /// Starts the ssh that holds the file, and waits for its name.
    ///
    /// # Errors
    /// It cannot be started, ends, or says nothing for ten seconds.
    pub(super) fn start(mut command: Command, context: &Context) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("starting ssh: {error}"))?;
        let (tell, told) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut line = String::new();
                let _ = BufReader::new(out).read_line(&mut line);
                let _ = tell.send(line.trim().to_owned());
            });
        }
        let mut held = Self {
            child,
            path: String::new(),
        };
        let begun = context.now();
        while context.check().is_ok() && context.now().since(begun) < PATIENCE {
            match told.recv_timeout(LOOK) {
                Ok(path) if path.is_empty() => break,
                Ok(path) => {
                    held.path = path;
                    return Ok(held);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        Err(
            "making a file to read on the server: it gave none; name one in the target, ssh://HOST/PATH"
                .to_owned(),
        )
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The end of its input ends the other shell, which removes the file.
        drop(self.child.stdin.take());
        for _ in 0..LOOKS {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let _ = signal_group(self.child.id(), SIGKILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Until the server has named the file.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between looks.
const LOOK: std::time::Duration = std::time::Duration::from_millis(50);
/// Looks at a program that was asked to end.
const LOOKS: u32 = 60;
const SIGKILL: i32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    /// The same script in a shell of this host, without ssh.
    #[test]
    fn the_file_goes_away_with_who_holds_it() {
        let context = Context::new().with_timeout(Duration::from_secs(60));
        let shell = || {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(Held::script());
            command
        };
        let held = Held::start(shell(), &context).unwrap();
        let path = std::path::PathBuf::from(&held.path);
        assert!(std::fs::metadata(&path).unwrap().len() >= 64 << 30);
        drop(held);
        assert!(!path.exists(), "{}", path.display());
        // Also where the holder is killed, as by the end of this process: only the pipe tells the shell.
        let mut held = Held::start(shell(), &context).unwrap();
        let path = std::path::PathBuf::from(&held.path);
        drop(held.child.stdin.take());
        let _ = held.child.wait();
        assert!(!path.exists());
        let mut silent = Command::new("/bin/sh");
        silent.args(["-c", "exit 3"]);
        assert!(
            Held::start(silent, &context)
                .unwrap_err()
                .contains("ssh://HOST/PATH")
        );
    }
}
