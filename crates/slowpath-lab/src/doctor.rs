//! What this machine permits, and how to permit what it does not.
//!
//! Nothing here changes anything outside of short-lived threads and child processes of its own.

use std::fs;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};

use slowpath_record::finding::{Finding, Standing};
use slowpath_sys::message;
use slowpath_sys::namespace::NetworkNamespace;
use slowpath_sys::netlink::Netlink;
use slowpath_sys::process::user_and_group;
use slowpath_sys::sysctl;

use crate::enter::has_what_it_takes;

/// Looks at everything that a lab needs. `programs` are those that experiments may want, each with its package.
pub fn examine(programs: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = vec![
        namespaces(),
        tun(),
        veth(),
        processors(),
        clock_source(),
        buffers(),
    ];
    findings.extend(["cubic", "reno", "bbr"].into_iter().map(congestion_control));
    findings.push(echo_requests());
    findings.push(scheduler_statistics());
    findings.push(open_files());
    findings.push(file_size());
    findings.extend(
        programs
            .iter()
            .map(|(program, package)| self::program(program, package)),
    );
    findings
}

fn finding(subject: &str, standing: Standing, found: impl Into<String>, fix: impl Into<String>) -> Finding {
    let fix = if standing == Standing::Good {
        String::new()
    } else {
        fix.into()
    };
    Finding {
        subject: subject.to_owned(),
        standing,
        found: found.into(),
        fix,
    }
}

fn namespaces() -> Finding {
    const SUBJECT: &str = "namespaces";
    if has_what_it_takes() {
        return match NetworkNamespace::create() {
            Ok(_) => finding(SUBJECT, Standing::Good, "this process may make them", ""),
            Err(error) => finding(
                SUBJECT,
                Standing::Blocking,
                format!("making a network namespace failed: {error}"),
                "in a container, start it with --privileged or --cap-add SYS_ADMIN --cap-add NET_ADMIN and a seccomp profile that allows unshare",
            ),
        };
    }
    // The whole thing, in a process of its own: some machines grant the namespace and withhold what it is for.
    let probe = Command::new("unshare")
        .args([
            "--user",
            "--map-current-user",
            "--keep-caps",
            "--net",
            "--",
            "true",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output();
    match probe {
        Ok(output) if output.status.success() => {
            finding(SUBJECT, Standing::Good, "an ordinary user may make them", "")
        }
        Ok(output) => finding(
            SUBJECT,
            Standing::Blocking,
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            namespace_fix(),
        ),
        Err(error) => finding(
            SUBJECT,
            Standing::Lacking,
            format!("cannot be told without the program unshare: {error}"),
            "install util-linux, or just try",
        ),
    }
}

/// The setting that most likely forbids user namespaces.
fn namespace_fix() -> String {
    let is = |key: &str, value: &str| sysctl::read(key).is_ok_and(|found| found == value);
    if is("kernel.apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor withholds capabilities in user namespaces (Ubuntu 23.10 and later): `sysctl kernel.apparmor_restrict_unprivileged_userns=0` as root, or an AppArmor profile for slowpath with `userns,`".to_owned()
    } else if is("kernel.unprivileged_userns_clone", "0") {
        "`sysctl kernel.unprivileged_userns_clone=1` as root (Debian)".to_owned()
    } else if is("user.max_user_namespaces", "0") {
        "`sysctl user.max_user_namespaces=15000` as root".to_owned()
    } else if Path::new("/.dockerenv").exists() {
        "Docker's seccomp profile forbids unshare: run the container with --security-opt seccomp=unconfined, or as --privileged".to_owned()
    } else {
        "run as root; or ask for a kernel with CONFIG_USER_NS and a security policy that lets users have namespaces".to_owned()
    }
}

fn tun() -> Finding {
    const SUBJECT: &str = "TUN devices";
    let tried = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    let (found, fix) = match tried {
        Ok(_) => return finding(SUBJECT, Standing::Good, "/dev/net/tun can be opened", ""),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (
            error,
            "`modprobe tun` as root; in a container, --device /dev/net/tun",
        ),
        Err(error) => (
            error,
            "`chmod 0666 /dev/net/tun` as root, as most distributions have it",
        ),
    };
    let text = format!("/dev/net/tun: {found}; virtual Ethernet is used instead, which is slower");
    finding(SUBJECT, Standing::Lacking, text, fix)
}

fn veth() -> Finding {
    const SUBJECT: &str = "virtual Ethernet";
    let tried = make_veth();
    let known = || {
        Path::new("/sys/module/veth").exists()
            || kernel_option("CONFIG_VETH").is_some_and(|value| value == "y" || value == "m")
    };
    match tried {
        Ok(()) => finding(SUBJECT, Standing::Good, "the kernel has it", ""),
        Err(_) if known() => finding(SUBJECT, Standing::Good, "the kernel has it", ""),
        Err(error) => finding(
            SUBJECT,
            Standing::Lacking,
            format!("could not be made just now ({error}); it is needed only where TUN cannot be opened"),
            "`modprobe veth` as root",
        ),
    }
}

/// Makes a pair of devices in a namespace that vanishes at once.
fn make_veth() -> std::io::Result<()> {
    let namespace = NetworkNamespace::create()?;
    std::thread::scope(|scope| {
        let made = scope.spawn(|| {
            namespace.enter()?;
            Netlink::open()?.add_veth("probe0", "probe1", namespace.as_fd())
        });
        made.join()
            .unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()))
    })
}

/// A value of the kernel's configuration, where it is readable as text.
fn kernel_option(name: &str) -> Option<String> {
    let release = sysctl::read("kernel.osrelease").ok()?;
    let text = fs::read_to_string(format!("/boot/config-{release}")).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

fn congestion_control(name: &str) -> Finding {
    let subject = format!("congestion control {name}");
    let available = sysctl::read("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
    if available.split_whitespace().any(|known| known == name) {
        return finding(&subject, Standing::Good, "available", "");
    }
    let standing = if name == "cubic" {
        Standing::Blocking
    } else {
        Standing::Lacking
    };
    let found = format!("not loaded (there are: {available})");
    finding(
        &subject,
        standing,
        found,
        format!("`modprobe tcp_{name}` as root"),
    )
}

fn processors() -> Finding {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let standing = if count >= 2 {
        Standing::Good
    } else {
        Standing::Lacking
    };
    finding(
        "processors",
        standing,
        format!("{count}"),
        "the wire, the programs and the kernel's stack share one processor: keep rates low, or use a machine with more",
    )
}

fn clock_source() -> Finding {
    const SUBJECT: &str = "clock";
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let standing = if matches!(source.as_str(), "hpet" | "acpi_pm" | "jiffies") {
        Standing::Lacking
    } else {
        Standing::Good
    };
    let found = if source.is_empty() {
        "source unknown".to_owned()
    } else {
        source
    };
    finding(
        SUBJECT,
        standing,
        found,
        "reading this clock is slow; choose tsc if the machine has a stable one",
    )
}

fn buffers() -> Finding {
    let bytes: u64 = sysctl::read("net.core.rmem_max")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let (user, _) = user_and_group();
    let standing = if user == 0 || bytes >= 4 << 20 {
        Standing::Good
    } else {
        Standing::Lacking
    };
    finding(
        "socket buffers",
        standing,
        format!("net.core.rmem_max is {bytes} bytes"),
        "`sysctl net.core.rmem_max=16777216` as root, so that an ordinary user's virtual Ethernet and UDP receivers lose nothing at high rates",
    )
}

fn echo_requests() -> Finding {
    const SUBJECT: &str = "ICMP";
    if message::raw_icmp_socket(false).is_ok() {
        return finding(SUBJECT, Standing::Good, "this process may send it", "");
    }
    match message::ping_socket(false) {
        Ok(_) => finding(
            SUBJECT,
            Standing::Good,
            "an ordinary user may send echo requests",
            "",
        ),
        Err(error) => finding(
            SUBJECT,
            Standing::Lacking,
            format!(
                "{error}; `measure ping`, `trace` and `mtu` use UDP instead, which hosts answer about once a second"
            ),
            "`sysctl net.ipv4.ping_group_range=\"0 2147483647\"` as root",
        ),
    }
}

fn scheduler_statistics() -> Finding {
    match slowpath_sys::process::run_delay() {
        Ok(_) => finding("scheduler statistics", Standing::Good, "kept", ""),
        Err(error) => finding(
            "scheduler statistics",
            Standing::Lacking,
            format!("/proc/thread-self/schedstat: {error}; arrival times have wider error bounds"),
            "a kernel with CONFIG_SCHED_INFO",
        ),
    }
}

fn open_files() -> Finding {
    limit("open files", "Max open files", 1024, "`ulimit -n 4096`")
}

fn file_size() -> Finding {
    limit(
        "file size",
        "Max file size",
        1 << 30,
        "`ulimit -f unlimited`: captures can grow to gigabytes",
    )
}

/// A soft limit of this process against what is wanted.
fn limit(subject: &str, name: &str, wanted: u64, fix: &str) -> Finding {
    let text = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap_or("unknown")
        .to_owned();
    let enough = value.parse::<u64>().map_or(true, |value| value >= wanted);
    let standing = if enough { Standing::Good } else { Standing::Lacking };
    finding(subject, standing, format!("at most {value}"), fix)
}

fn program(name: &str, package: &str) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let extra = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(std::path::PathBuf::from);
    let place = std::env::split_paths(&path)
        .chain(extra)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    let subject = format!("program {name}");
    match place {
        Some(place) => finding(&subject, Standing::Good, place.display().to_string(), ""),
        None => finding(
            &subject,
            Standing::Lacking,
            "not installed; experiments that ask for it cannot run",
            format!("`apt-get install {package}`"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_complaint_comes_with_a_fix() {
        let findings = examine(&[("sh", "dash"), ("no-such-program", "no-such-package")]);
        for finding in &findings {
            assert_eq!(
                finding.fix.is_empty(),
                finding.standing == Standing::Good,
                "{finding:?}"
            );
            assert!(!finding.found.is_empty());
        }
        let of = |subject: &str| {
            findings
                .iter()
                .find(|finding| finding.subject == subject)
                .unwrap()
                .standing
        };
        assert_eq!(of("program sh"), Standing::Good);
        assert_eq!(of("program no-such-program"), Standing::Lacking);
        assert_eq!(of("congestion control reno"), Standing::Good);
        assert!(!namespace_fix().is_empty());
    }
}
