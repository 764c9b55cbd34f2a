//! The commands of the README and the guide, as they stand there.
//!
//! A block of `console` is run, and its output compared: `$ ` begins a command, everything else is what it printed on standard
//! output; a number behind the word says how many lines of each are shown. `SLOWPATH_BLESS=1` writes what came. A block of
//! `sh` is run as well, with stand-ins for files and hosts; what would take minutes or another machine is only read by the
//! program, with `--help` behind it, which refuses options that are not there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::{SMALL, Scratch, lab_or_skip, text};

#[test]
fn commands_of_the_documents_work() {
    let lab = lab_or_skip("commands_of_the_documents_work");
    let is_blessing = std::env::var_os("SLOWPATH_BLESS").is_some();
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for document in documents() {
        let name = document.file_name().unwrap().to_string_lossy().into_owned();
        let place = Place::new(&name.replace('.', "-"));
        let whole = fs::read_to_string(&document).unwrap();
        let mut blessed = Vec::new();
        let mut lines = whole.lines();
        while let Some(line) = lines.next() {
            blessed.push(line.to_owned());
            let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else {
                continue;
            };
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let mut words = info.split_whitespace();
            let shown = match words.next() {
                Some("console") => {
                    let most = words.next().map(|most| most.parse().unwrap());
                    place.console(&body, most, &mut counts, &mut wrong)
                }
                Some("sh") => {
                    place.script(&body, lab, &mut counts, &mut wrong);
                    body.iter().map(|line| (*line).to_owned()).collect()
                }
                _ => body.iter().map(|line| (*line).to_owned()).collect(),
            };
            if shown != body && !is_blessing {
                let differs = shown.iter().zip(&body).find(|(new, old)| new != *old);
                wrong.push(format!(
                    "{name}: the output is another; SLOWPATH_BLESS=1 writes it: {differs:?}"
                ));
            }
            blessed.extend(shown);
            blessed.push("```".to_owned());
        }
        if is_blessing {
            fs::write(&document, blessed.join("\n") + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    eprintln!("{counts:?}");
    assert!(
        counts.compared >= 8 && counts.run >= 15 && counts.read >= 15,
        "{counts:?}"
    );
}

/// What was done with the commands.
#[derive(Debug, Default)]
struct Counts {
    compared: usize,
    run: usize,
    read: usize,
    /// Not slowpath's.
    others: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documents() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md"), root().join("README.ja.md")];
    found.extend(
        fs::read_dir(root().join("docs/guide"))
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "md")),
    );
    found.retain(|path| path.is_file());
    found.sort();
    found
}

/// Why a command of a document is only read here, if it is.
fn reason(command: &str, lab: bool) -> Option<&'static str> {
    let has = |part: &str| command.contains(part);
    let placeholder = command
        .split(|c: char| !c.is_ascii_uppercase())
        .any(|word| matches!(word, "HOST" | "COMMAND" | "DIR" | "FILE" | "NAME" | "PROGRAM"));
    let simulated = has("--clock simulated") || has("--sweep");
    if placeholder {
        Some("a placeholder")
    } else if has("slowpath run") && !simulated {
        Some("the lab takes minutes")
    } else if has("--clock simulated") && !has("--variant") && !has("docs/guide/examples") {
        Some("a whole experiment takes minutes")
    } else if has("--dask") {
        Some("it needs a cluster; the Python package's tests start one")
    } else if has("slowpath ui") {
        Some("it answers a browser until it is stopped")
    } else if has("slowpath reproduce") {
        Some("a fit and three runs in the lab take minutes")
    } else if has("slowpath diagnose") || has("rtx2000-tunnel-qos") {
        Some("a diagnosis takes minutes")
    } else if has("--only") {
        Some("it names an address of another capture")
    } else if has("slowpath why") && !has("why -- scp") {
        Some("it watches others' transfers for seconds")
    } else if (has("slowpath shell") || has("slowpath doctor")) && !lab {
        Some("no lab can be built here")
    } else if has("iperf3 ") && !is_installed("iperf3") || has("zstd") && !is_installed("zstd") {
        Some("a program is not installed")
    } else {
        None
    }
}

fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// Where the commands of one document run, with the files that it names.
struct Place {
    scratch: Scratch,
}

impl Place {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(&format!("documents-{name}"));
        let folder = &scratch.0;
        for program in ["bin", "asking"] {
            fs::create_dir(folder.join(program)).unwrap();
        }
        let own = env!("CARGO_BIN_EXE_slowpath");
        std::os::unix::fs::symlink(own, folder.join("bin/slowpath")).unwrap();
        let asking = format!(
            "#!/bin/sh\ncount=$#; asked=\nwhile [ \"$count\" -gt 0 ]; do\n\
             argument=$1; shift; count=$((count - 1))\n\
             if [ \"$argument\" = -- ] && [ -z \"$asked\" ]; then set -- \"$@\" --help; asked=1; fi\n\
             set -- \"$@\" \"$argument\"\ndone\n\
             [ -n \"$asked\" ] || set -- \"$@\" --help\nexec {own} \"$@\"\n"
        );
        executable(&folder.join("asking/slowpath"), &asking);
        executable(&folder.join("bin/scp"), "#!/bin/sh\nexec sleep 1\n");
        let examples = folder.join("docs/guide/examples");
        fs::create_dir_all(&examples).unwrap();
        for entry in fs::read_dir(root().join("docs/guide/examples"))
            .unwrap()
            .flatten()
        {
            fs::copy(entry.path(), examples.join(entry.file_name())).unwrap();
        }
        fs::copy(examples.join("router.cfg"), folder.join("router.cfg")).unwrap();
        let file = scratch.file("my-experiment.toml", &SMALL.replace("\"auto\"", "\"fast\""));
        let place = Self { scratch };
        let made = place.shell(
            &format!("slowpath -q run {} --clock simulated --out made", file.display()),
            "bin",
        );
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        for (capture, name) in [
            ("fast.0.simulated.server", "transfer.pcapng"),
            ("fast.0.simulated.server", "sender.pcap"),
            ("fast.0.simulated.client", "receiver.pcap"),
            ("fast.0.simulated.server", "good.pcap"),
            ("narrow.0.simulated.server", "bad.pcap"),
        ] {
            let from = place.scratch.0.join(format!("made/captures/{capture}.pcapng"));
            fs::copy(from, place.scratch.0.join(name)).unwrap();
        }
        fs::create_dir(place.scratch.0.join("captures")).unwrap();
        for name in [
            "captures/one.pcapng",
            "ring_00001_20260102030405.pcapng",
            "live.pcapng",
        ] {
            let from = place.scratch.0.join("transfer.pcapng");
            fs::copy(from, place.scratch.0.join(name)).unwrap();
        }
        // Where the program is missing, its command is only read.
        let _ = place.shell("zstd -q transfer.pcapng -o huge.pcap.zst", "bin");
        place
    }

    /// Runs a command here; `slowpath` is that of the folder `programs`.
    fn shell(&self, command: &str, programs: &str) -> Output {
        let folder = &self.scratch.0;
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new("timeout")
            .args(["300", "sh", "-c", command])
            .current_dir(folder)
            .env(
                "PATH",
                format!(
                    "{}:{}:{path}",
                    folder.join(programs).display(),
                    folder.join("bin").display()
                ),
            )
            .env("RUST_BACKTRACE", "0")
            .env("LC_ALL", "C")
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Runs the commands of a block, and gives the block as it should stand there.
    fn console(
        &self,
        body: &[&str],
        most: Option<usize>,
        counts: &mut Counts,
        wrong: &mut Vec<String>,
    ) -> Vec<String> {
        let mut shown = Vec::new();
        for command in body.iter().filter_map(|line| line.strip_prefix("$ ")) {
            if !shown.is_empty() {
                shown.push(String::new());
            }
            shown.push(format!("$ {command}"));
            let output = self.shell(command, "bin");
            if output.status.code() != Some(0) {
                wrong.push(format!("{command}: {}", text(&output.stderr)));
            }
            let printed = text(&output.stdout);
            let lines: Vec<&str> = printed.lines().collect();
            let kept = most.unwrap_or(lines.len()).min(lines.len());
            shown.extend(lines[..kept].iter().map(|line| (*line).to_owned()));
            if kept < lines.len() {
                shown.push("...".to_owned());
            }
            counts.compared += 1;
        }
        shown
    }

    /// Runs the commands of a block, or has them read.
    fn script(&self, body: &[&str], lab: bool, counts: &mut Counts, wrong: &mut Vec<String>) {
        let joined = body.join("\n").replace("\\\n", " ");
        for line in joined.lines() {
            let command = line.split(" # ").next().unwrap_or_default().trim();
            if command.is_empty() || command.starts_with('#') {
                continue;
            }
            if !command.contains("slowpath ") || command.starts_with("cargo ") {
                counts.others += 1;
                continue;
            }
            let why = reason(command, lab);
            let output = self.shell(command, if why.is_some() { "asking" } else { "bin" });
            let said = text(&output.stderr);
            if output.status.code() != Some(0) || said.contains("panicked") {
                wrong.push(format!("{command}: {:?}: {said}", output.status.code()));
            }
            if why.is_some() {
                counts.read += 1;
            } else {
                counts.run += 1;
            }
        }
    }
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
