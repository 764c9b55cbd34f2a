//! A user without any privilege builds labs too.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use slowpath_sys::process::user_and_group;

use crate::{ROLE, lines};

const NOBODY: u32 = 65_534;

pub(crate) fn has_a_lab_too() {
    let (user, _) = user_and_group();
    // A copy that anybody may execute, wherever this one lies.
    let copy = std::env::temp_dir().join(format!("slowpath-alone-{}", std::process::id()));
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(&copy);
    command
        .env(ROLE, "user")
        .current_dir("/")
        .stdout(std::process::Stdio::piped());
    if user == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut child = command.spawn().unwrap();
    let output: Vec<String> = lines(&mut child).collect();
    child.wait().unwrap();
    fs::remove_file(&copy).unwrap();
    let found = output.join("; ");
    if found.contains("refused") {
        eprintln!("skipped: has_a_lab_too: {found}");
        return;
    }
    let own = if user == 0 { NOBODY } else { user };
    assert!(found.contains("entered UserNamespace"), "{found}");
    let tun = fs::metadata("/dev/net/tun").is_ok_and(|node| node.permissions().mode() & 0o006 == 0o006);
    assert!(
        found.contains(if tun {
            "attached by TUN"
        } else {
            "attached by veth"
        }),
        "{found}"
    );
    assert!(found.contains("20 came back"), "{found}");
    assert!(found.contains("bulk 5000000 bytes"), "{found}");
    assert!(
        found.contains(&format!("id Ok(Ok(\"{own}\"))")),
        "programs keep the user's id: {found}"
    );
}
