//! The bench's first path in ns-3: a program of it is compiled and run, and tells packets and processor time.

use std::process::Command;

/// Data packets per second of processor time, or why there is no such figure.
pub(crate) fn packets_per_second() -> Result<f64, String> {
    let dir = std::env::temp_dir().join(format!("slowpath-ns3-{}", std::process::id()));
    std::fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let result = build_and_run(&dir);
    let _ = std::fs::remove_dir_all(&dir);
    result
}

fn build_and_run(dir: &std::path::Path) -> Result<f64, String> {
    let source = dir.join("bulk.cc");
    let program = dir.join("bulk");
    std::fs::write(&source, SOURCE).map_err(|error| format!("{}: {error}", source.display()))?;
    // The packaged pkg-config files name flags that no compiler takes. Headers of 3.37 are not C++20.
    output(
        Command::new("c++")
            .args(["-O2", "-std=c++17", "-o"])
            .arg(&program)
            .arg(&source)
            .args(
                ["core", "network", "internet", "point-to-point", "applications"]
                    .map(|part| format!("-lns3-{part}")),
            ),
    )?;
    let line = output(&mut Command::new(&program))?;
    line.trim()
        .parse()
        .map_err(|_| format!("its program printed \"{line}\" instead of a number"))
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| format!("{name}: {error}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&done.stderr);
    Err(format!(
        "{name} failed: {}",
        text.lines().next().unwrap_or("no message")
    ))
}

const SOURCE: &str = include_str!("ns3.cc");
