//! Tests that need processes of their own: user namespaces (only a process with one thread may enter one), labs
//! that are killed, labs that are stopped. Each test starts this program again in another role.

mod child;
mod health;
mod leftovers;
mod ordinary_user;

use std::process::{Child, Command, ExitCode, Stdio};

fn main() -> ExitCode {
    if let Ok(role) = std::env::var(ROLE) {
        child::run(&role);
        return ExitCode::SUCCESS;
    }
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    let tests: [(&str, fn()); 7] = [
        (
            "leftovers::nothing_is_left_behind",
            leftovers::nothing_is_left_behind,
        ),
        ("ordinary_user::has_a_lab_too", ordinary_user::has_a_lab_too),
        ("health::a_stopped_wire_shows", health::a_stopped_wire_shows),
        ("health::a_hog_shows", health::a_hog_shows),
        ("health::a_tiny_queue_shows", health::a_tiny_queue_shows),
        ("health::exhausted_memory_shows", health::exhausted_memory_shows),
        ("health::a_quiet_run_is_valid", health::a_quiet_run_is_valid),
    ];
    let mut failed = 0;
    for (name, test) in tests.into_iter().filter(|(name, _)| name.contains(&filter)) {
        let passed = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u8::from(!passed);
    }
    ExitCode::from(failed.min(1))
}

const ROLE: &str = "SLOWPATH_TEST_ROLE";

/// This program again, in a role.
fn again(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command
        .env(ROLE, role)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// The lines that a child prints, as they come.
fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    use std::io::BufRead;
    let output = child.stdout.take().expect("it was piped");
    std::io::BufReader::new(output).lines().map_while(Result::ok)
}

/// Whether this process may build labs; says why not.
fn permitted(test: &str) -> bool {
    let permitted = slowpath_record::finding::is_able(&slowpath_lab::doctor::examine(&[]));
    if !permitted {
        eprintln!("skipped: {test}: this machine permits no namespaces");
    }
    permitted
}
