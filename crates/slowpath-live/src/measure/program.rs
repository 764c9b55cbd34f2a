//! A program that runs to its end, or to that of the context, with everything that it started.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use slowpath_sys::process::signal_group;
use slowpath_units::Duration;
use slowpath_workload::Context;
use slowpath_workload::external::processor_time;

/// What a program that ended well left.
pub(crate) struct Output {
    /// What it wrote to its standard output, if that is a pipe.
    pub(crate) stdout: String,
    /// Processor time that it and its ended children took.
    pub(crate) cpu: Duration,
}

/// Runs a program; with the context's end all of its process group ends too.
///
/// # Errors
/// It cannot be started, ends badly (with its own words), or the context ends before it.
pub(crate) fn run(mut command: Command, context: &Context) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    // A group of its own, so that its helpers can be ended with it; a terminal's Ctrl-C then does not reach them.
    let mut child = command
        .process_group(0)
        .spawn()
        .map_err(|error| format!("starting {name}: {error}"))?;
    let stdout = child.stdout.take().map(Reader::start);
    let stderr = child.stderr.take().map(Reader::start);
    let (status, cpu) = wait(&mut child, context);
    let stdout = stdout.map(Reader::finish).unwrap_or_default();
    let stderr = stderr.map(Reader::finish).unwrap_or_default();
    match status {
        Err(why) => Err(format!("{name}: {why}")),
        Ok(status) if status.success() => Ok(Output { stdout, cpu }),
        Ok(status) => {
            let said = match stderr.trim() {
                "" => "it gives no reason",
                said => said,
            };
            let how = match status.code() {
                Some(code) => format!("status {code}"),
                None => "a signal".to_owned(),
            };
            Err(format!(
                "{name} ended with {how}: {said}; try the same by hand with {name}"
            ))
        }
    }
}

fn wait(child: &mut Child, context: &Context) -> (Result<ExitStatus, String>, Duration) {
    let mut cpu = Duration::ZERO;
    loop {
        // A zombie still has its account; a child that was waited for has none.
        cpu = processor_time(child.id()).unwrap_or(cpu).max(cpu);
        match child.try_wait() {
            Ok(Some(status)) => return (Ok(status), cpu),
            Ok(None) => {}
            Err(error) => return (Err(format!("waiting for it: {error}")), cpu),
        }
        if let Err(stop) = context.sleep(LOOK) {
            // Before the wait: until then the number of the group cannot belong to anybody else.
            let _ = signal_group(child.id(), SIGKILL);
            let _ = child.kill();
            let _ = child.wait();
            return (Err(stop.to_string()), cpu);
        }
    }
}

/// Reads everything, so that the program never waits for us, and keeps the beginning.
#[derive(Debug)]
pub(crate) struct Reader {
    kept: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Reader {
    pub(crate) fn start(mut from: impl Read + Send + 'static) -> Self {
        let kept: Arc<Mutex<Vec<u8>>> = Arc::default();
        let thread = std::thread::spawn({
            let kept = Arc::clone(&kept);
            move || {
                let mut buffer = [0_u8; 8192];
                while let Ok(count @ 1..) = from.read(&mut buffer) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    let room = MOST_TEXT.saturating_sub(kept.len());
                    kept.extend_from_slice(&buffer[..count.min(room)]);
                }
            }
        });
        Self { kept, thread }
    }

    /// What came. A process that outlives the program may keep the pipe open: it is not waited for.
    pub(crate) fn finish(self) -> String {
        for _ in 0..PATIENCE {
            if self.thread.is_finished() {
                break;
            }
            std::thread::sleep(LOOK.to_std());
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

/// Time between looks at a program.
const LOOK: Duration = Duration::from_millis(5);
/// Looks after a reader that does not end.
const PATIENCE: u32 = 40;
/// The most that is kept of what a program says, in bytes.
const MOST_TEXT: usize = 1 << 20;
const SIGKILL: i32 = 9;

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::Instant;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Whether a process is there and no zombie.
    fn lives(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| !rest.starts_with('Z'))
    }

    #[test]
    fn the_end_of_the_context_takes_the_helpers_too() {
        let folder = slowpath_sys::private_folder::create(&std::env::temp_dir(), "program").unwrap();
        let told = folder.join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", told.display());
        let context = Context::new().with_timeout(Duration::from_secs(2));
        let begun = Instant::now();
        let error = run(shell(&script), &context).err().unwrap();
        assert!(error.contains("deadline"), "{error}");
        assert!(begun.elapsed().as_secs() < 60);
        let helper = std::fs::read_to_string(&told).unwrap();
        let helper = helper.trim();
        let patience = Instant::now();
        while lives(helper) && patience.elapsed().as_secs() < 10 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(!helper.is_empty() && !lives(helper), "{helper}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn output_is_read_to_its_end_and_held_pipes_are_not_waited_for() {
        let context = Context::new().with_timeout(Duration::from_secs(120));
        let talkative = run(shell("head -c 3000000 /dev/zero >&2; echo done"), &context);
        assert_eq!(talkative.unwrap().stdout, "done\n");
        let begun = Instant::now();
        let output = run(shell("sleep 30 & echo before"), &context).unwrap();
        assert_eq!(output.stdout, "before\n");
        assert!(begun.elapsed().as_secs() < 25, "{:?}", begun.elapsed());
        let error = run(shell("echo why >&2; exit 3"), &context).err().unwrap();
        assert!(error.contains("why") && error.contains('3'), "{error}");
    }
}
