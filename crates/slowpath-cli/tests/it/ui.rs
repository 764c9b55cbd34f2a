//! `slowpath ui` as a browser, and as those who should not get in, meet it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{SMALL, Scratch, run, slowpath, text};

/// A page that is being served, and ends with its value.
struct Ui {
    child: Child,
    port: u16,
    token: String,
}

impl Ui {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let mut child = slowpath()
            .args(["ui", "--port", "0", "--dir", folder.to_str().unwrap()])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find(|line| line.contains("http://"))
            .expect("the page says its address");
        let (port, token) = address
            .trim()
            .strip_prefix("http://127.0.0.1:")
            .and_then(|rest| rest.split_once("/?token="))
            .expect("an address of this machine, with a word");
        Self {
            child,
            port: port.parse().unwrap(),
            token: token.to_owned(),
        }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    fn cookie(&self) -> String {
        format!("slowpath-{}={}", self.port, self.token)
    }

    /// A request as this page's own script makes it.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.send(method, path, &self.own("application/json"), body.as_bytes())
    }

    fn own(&self, kind: &str) -> Vec<(&'static str, String)> {
        vec![
            ("host", format!("127.0.0.1:{}", self.port)),
            ("origin", format!("http://127.0.0.1:{}", self.port)),
            ("cookie", self.cookie()),
            ("content-type", kind.to_owned()),
        ]
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, String)], body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // What is refused may be refused before it has all been said.
        let _ = stream.write_all(body);
        Answer::read(stream)
    }

    fn entries(&self) -> Vec<Value> {
        let answer = self.ask("GET", "/api/entries", &Value::Null);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json().as_array().unwrap().clone()
    }

    /// Waits until the newest entry is in one of these states.
    fn until(&self, states: &[&str]) -> Value {
        let begun = Instant::now();
        loop {
            let entry = self.entries().first().cloned().unwrap_or_default();
            if states.iter().any(|state| entry["state"] == *state) {
                return entry;
            }
            assert!(begun.elapsed() < LONG, "still {entry}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn capture(&self, name: &str, bytes: &[u8]) -> Answer {
        let path = format!("/api/captures?name={name}");
        self.send("POST", &path, &self.own("application/octet-stream"), bytes)
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let mut whole = Vec::new();
        // A refused sender may find the connection reset behind the answer.
        let _ = stream.read_to_end(&mut whole);
        let split = whole.windows(4).position(|four| four == b"\r\n\r\n");
        let split = split.unwrap_or_else(|| panic!("no answer: {}", text(&whole)));
        let head = text(&whole[..split]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut body = whole[split + 4..].to_vec();
        if head.contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Self {
            status: status.expect("a status"),
            head,
            body,
        }
    }

    fn text(&self) -> String {
        text(&self.body)
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(text(&rest[..end]).trim(), 16).unwrap();
        if length == 0 {
            break;
        }
        whole.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 4 + length..];
    }
    whole
}

/// More than anything here takes on a busy machine.
const LONG: Duration = Duration::from_mins(2);

/// A capture of the small experiment.
fn capture_of(scratch: &Scratch) -> PathBuf {
    let file = scratch.file("small.toml", SMALL);
    let out = scratch.0.join("made");
    let ran = run(&[
        "-q",
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    out.join("captures/narrow.0.simulated.server.pcapng")
}

#[test]
fn hostile_origins_hosts_and_users_are_refused() {
    let scratch = Scratch::new("ui-hostile");
    let ui = Ui::start(&scratch.0.join("history"), &[]);
    let own = ui.own("application/json");
    let changed = |name: &str, value: Option<&str>| -> Vec<(&str, String)> {
        let mut headers: Vec<_> = own.iter().filter(|(other, _)| *other != name).cloned().collect();
        if let Some(value) = value {
            headers.push((
                if name == "host" {
                    "host"
                } else if name == "origin" {
                    "origin"
                } else {
                    "cookie"
                },
                value.to_owned(),
            ));
        }
        headers
    };
    assert_eq!(ui.send("GET", "/api/entries", &own, b"").status, 200);
    let origins = [
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://127.0.0.1.evil.example",
    ];
    let hosts = ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:80"];
    let wrong = "0".repeat(32);
    let cookies = [
        None,
        Some(String::new()),
        Some(format!("slowpath-{}={wrong}", ui.port)),
    ];
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/ui.js"),
        ("GET", "/api/entries"),
        ("POST", "/api/experiments"),
        ("POST", "/api/captures?name=a"),
        ("DELETE", "/api/entries/a"),
        ("GET", "/entries/a/report"),
    ] {
        for origin in origins {
            let answer = ui.send(method, path, &changed("origin", Some(origin)), b"{}");
            assert_eq!(answer.status, 403, "{method} {path} from {origin}");
        }
        for host in hosts {
            let answer = ui.send(method, path, &changed("host", Some(host)), b"{}");
            assert_eq!(answer.status, 403, "{method} {path} as {host}");
        }
        for cookie in &cookies {
            let answer = ui.send(method, path, &changed("cookie", cookie.as_deref()), b"{}");
            assert_eq!(answer.status, 403, "{method} {path} with {cookie:?}");
        }
    }
    // A form of another page sends no JSON, and whoever sends no origin is no browser.
    assert_eq!(
        ui.send("POST", "/api/check", &ui.own("text/plain"), b"{}").status,
        415
    );
    assert_eq!(
        ui.send("POST", "/api/check", &changed("origin", None), b"{}")
            .status,
        403
    );
    // The wrong word does not let in, the right one does, and then it is no longer in the address.
    let host = vec![("host", format!("127.0.0.1:{}", ui.port))];
    assert_eq!(
        ui.send("GET", &format!("/?token={wrong}"), &host, b"").status,
        403
    );
    let welcome = ui.send("GET", &format!("/?token={}", ui.token), &host, b"");
    assert_eq!(welcome.status, 303);
    assert!(
        welcome.head.contains("httponly; samesite=strict") && welcome.head.contains("location: /\r"),
        "{}",
        welcome.head
    );
    assert!(!welcome.head.contains("access-control-"));
    let page = ui.send("GET", "/", &own, b"");
    assert_eq!(page.status, 200);
    assert!(
        page.head.contains("content-security-policy: default-src 'none'"),
        "{}",
        page.head
    );
    assert_eq!(ui.entries(), Vec::<Value>::new());
    // Others on the machine do not read the word, and the page listens on loopback alone.
    let mode = fs::metadata(scratch.0.join("history/token"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let listening = fs::read_to_string("/proc/net/tcp").unwrap();
    let here = format!("0100007F:{:04X} 00000000:0000 0A", ui.port);
    let anywhere = format!("00000000:{:04X} 00000000:0000 0A", ui.port);
    assert!(listening.contains(&here) && !listening.contains(&anywhere));
}

#[test]
fn no_address_leads_out_of_the_history() {
    let scratch = Scratch::new("ui-escapes");
    scratch.file("result.json", "secret");
    fs::create_dir_all(scratch.0.join("results")).unwrap();
    fs::write(scratch.0.join("results/result.json"), "secret").unwrap();
    fs::write(scratch.0.join("results/report.html"), "secret").unwrap();
    let ui = Ui::start(&scratch.0.join("history"), &[]);
    for id in [
        "..",
        "../",
        "%2e%2e",
        "%2e%2e%2f",
        "..%2f..",
        "..%5c",
        "a%00",
        "%252e%252e",
        "/etc",
        "%2fetc",
        "token",
        ".",
        "",
        "history%2f..%2f..",
    ] {
        for rest in ["report", "answer", "result.json", "experiment.toml"] {
            let answer = ui.ask("GET", &format!("/entries/{id}/{rest}"), &Value::Null);
            assert!(
                answer.status == 404 || answer.status == 400,
                "{id} {rest}: {}",
                answer.status
            );
            assert!(!answer.text().contains("secret"), "{id}");
        }
        for (method, rest) in [("DELETE", ""), ("POST", "/stop"), ("POST", "/resume")] {
            let answer = ui.ask(method, &format!("/api/entries/{id}{rest}"), &Value::Null);
            assert!(
                [400, 404, 405].contains(&answer.status),
                "{method} {id}{rest}: {}",
                answer.status
            );
        }
        let compared = ui.ask("POST", "/api/compare", &json!({ "before": id, "after": id }));
        assert_eq!(compared.status, 404);
    }
    // A capture's name is no path either.
    let answer = ui.capture("..%2F..%2Fresult.json", b"no capture at all");
    assert_eq!(answer.status, 200, "{}", answer.text());
    ui.until(&["failed"]);
    assert_eq!(
        fs::read_to_string(scratch.0.join("result.json")).unwrap(),
        "secret"
    );
    assert!(!scratch.0.join("history/result.json").exists());
    // Nor does an experiment read files of the machine.
    let text = SMALL.replace("rate = \"20 Mbit/s\"", "rate = { trace = \"/etc/hostname\" }");
    let refused = ui.ask("POST", "/api/experiments", &json!({ "text": text }));
    assert_eq!(refused.status, 422);
    assert!(scratch.0.join("results/report.html").exists());
}

#[test]
fn a_capture_gets_its_answer_and_two_are_compared() {
    let scratch = Scratch::new("ui-capture");
    let bytes = fs::read(capture_of(&scratch)).unwrap();
    let other = capture_of(&scratch).with_file_name("auto.0.simulated.server.pcapng");
    let ui = Ui::start(&scratch.0.join("history"), &[]);
    assert_eq!(ui.capture("narrow.pcapng", &bytes).status, 200);
    let entry = ui.until(&["done", "failed"]);
    assert_eq!(entry["state"], "done", "{entry}");
    assert!(entry["said"].as_str().unwrap().contains("window"), "{entry}");
    let id = entry["id"].as_str().unwrap().to_owned();
    let report = ui.ask("GET", &format!("/entries/{id}/report"), &Value::Null);
    assert_eq!(report.status, 200);
    assert!(
        report
            .head
            .contains("content-security-policy: sandbox allow-scripts"),
        "{}",
        report.head
    );
    assert!(report.text().contains("receiver-window"));
    let result = ui
        .ask("GET", &format!("/entries/{id}/result.json"), &Value::Null)
        .json();
    assert_eq!(result["schema"], "slowpath/run/1");

    assert_eq!(ui.capture("auto.pcapng", &fs::read(other).unwrap()).status, 200);
    let second = ui.until(&["done", "failed"]);
    let compared = ui.ask(
        "POST",
        "/api/compare",
        &json!({ "before": id, "after": second["id"] }),
    );
    assert_eq!(compared.status, 200, "{}", compared.text());
    assert!(
        compared.json()["text"]
            .as_str()
            .unwrap()
            .contains("receiver-window"),
        "{}",
        compared.text()
    );

    // What is no capture says so in the words of the command line, and an empty file is none at all.
    assert_eq!(
        ui.capture("photo.gif", b"GIF89a..........................")
            .status,
        200
    );
    let failed = ui.until(&["failed"]);
    assert!(
        failed["said"]
            .as_str()
            .unwrap()
            .contains("not a pcap or pcapng capture"),
        "{failed}"
    );
    assert_eq!(ui.capture("empty", b"").status, 400);
    assert_eq!(ui.entries().len(), 3);
    let removed = ui.ask("DELETE", &format!("/api/entries/{id}"), &Value::Null);
    assert_eq!(removed.status, 204);
    assert_eq!(ui.entries().len(), 2);
    assert!(!scratch.0.join("history").join(id).exists());
}

#[test]
fn a_capture_of_a_gigabyte_costs_no_memory_and_one_above_the_limit_is_refused() {
    let scratch = Scratch::new("ui-large");
    let folder = scratch.0.join("history");
    let room = free(&scratch.0);
    if room < 1 << 30 {
        eprintln!(
            "skipped: a_capture_of_a_gigabyte_costs_no_memory_and_one_above_the_limit_is_refused: the disk has {room} bytes left"
        );
        return;
    }
    // A gigabyte where the disk has room for one and for what is refused after it; else a fifth, still several times the
    // memory allowed.
    let (size, limit, above) = if room < 3 << 30 {
        (200_000_000_usize, "220 MB", 240_000_000)
    } else {
        (1_000_000_000_usize, "1100 MB", 1_200_000_000)
    };
    let ui = Ui::start(&folder, &["--upload-limit", limit]);
    let base = peak(&ui);
    // Zeros: no capture, so that only the way to the disk is tried.
    let sent = upload(&ui, size, true);
    assert_eq!(sent.status, 200, "{}", sent.text());
    let grown = peak(&ui) - base;
    assert!(grown < 64 << 20, "{grown} bytes more");
    ui.until(&["failed"]);
    let kept = fs::read_dir(&folder)
        .unwrap()
        .filter_map(Result::ok)
        .find(|entry| entry.path().join("large").exists());
    assert_eq!(
        kept.unwrap().path().join("large").metadata().unwrap().len(),
        size as u64
    );
    // Too large: refused at once where it is announced, and on the way where it is not; nothing of it stays.
    let begun = Instant::now();
    for announced in [true, false] {
        let refused = upload(&ui, above, announced);
        assert_eq!(refused.status, 413, "{}", refused.text());
        assert!(refused.text().contains("--upload-limit"), "{}", refused.text());
    }
    assert!(begun.elapsed() < LONG);
    assert_eq!(ui.entries().len(), 1);
    assert_eq!(folders(&folder), 1);
}

/// Sends that many zeros, with their number before or in chunks.
fn upload(ui: &Ui, length: usize, announced: bool) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", ui.port)).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut head = "POST /api/captures?name=large HTTP/1.1\r\nconnection: close\r\n".to_owned();
    for (name, value) in ui.own("application/octet-stream") {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let _ = if announced {
        write!(head, "content-length: {length}\r\n\r\n")
    } else {
        write!(head, "transfer-encoding: chunked\r\n\r\n")
    };
    stream.write_all(head.as_bytes()).unwrap();
    let piece = vec![0_u8; 1 << 20];
    let mut left = length;
    while left > 0 {
        let now = left.min(piece.len());
        let sent = if announced {
            stream.write_all(&piece[..now])
        } else {
            write!(stream, "{now:x}\r\n")
                .and_then(|()| stream.write_all(&piece[..now]))
                .and_then(|()| stream.write_all(b"\r\n"))
        };
        // Refused: the answer is on its way.
        if sent.is_err() {
            break;
        }
        left -= now;
    }
    if !announced {
        let _ = stream.write_all(b"0\r\n\r\n");
    }
    Answer::read(stream)
}

fn free(folder: &Path) -> u64 {
    let output = Command::new("df")
        .args(["--output=avail", "-B1"])
        .arg(folder)
        .output()
        .unwrap();
    text(&output.stdout)
        .lines()
        .nth(1)
        .and_then(|line| line.trim().parse().ok())
        .unwrap_or(0)
}

/// The most memory that the page's process has held, in bytes.
fn peak(ui: &Ui) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", ui.child.id())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

fn folders(root: &Path) -> usize {
    fs::read_dir(root)
        .unwrap()
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .count()
}

/// Many runs, so that there is time to come between.
fn long() -> String {
    SMALL
        .replace("repeats = 2", "repeats = 400")
        .replace("1 MiB", "16 MiB")
}

/// The process that carries out a call, once it is there.
fn caller(ui: &Ui) -> u32 {
    let begun = Instant::now();
    loop {
        let children =
            fs::read_to_string(format!("/proc/{0}/task/{0}/children", ui.child.id())).unwrap_or_default();
        let of_threads = fs::read_dir(format!("/proc/{}/task", ui.child.id()))
            .unwrap()
            .filter_map(Result::ok)
            .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
            .collect::<String>();
        if let Some(pid) = (children + &of_threads).split_whitespace().next() {
            return pid.parse().unwrap();
        }
        assert!(begun.elapsed() < LONG);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wait_for_results(ui: &Ui, id: &str, folder: &Path) {
    let records = folder.join(id).join("results/runs");
    let begun = Instant::now();
    while fs::read_dir(&records).map_or(0, Iterator::count) < 3 {
        assert!(begun.elapsed() < LONG, "{:?}", ui.entries());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn killed_runs_go_on_where_they_were() {
    let scratch = Scratch::new("ui-killed");
    let folder = scratch.0.join("history");
    let mut ui = Ui::start(&folder, &[]);
    let begun = ui.ask("POST", "/api/experiments", &json!({ "text": long() }));
    assert_eq!(begun.status, 200, "{}", begun.text());
    let id = begun.json()["id"].as_str().unwrap().to_owned();

    // The call is killed: the page stays, says that it failed, and tries again.
    wait_for_results(&ui, &id, &folder);
    let pid = caller(&ui);
    kill(pid, "KILL");
    let entry = ui.until(&["failed"]);
    assert!(entry["said"].as_str().unwrap().contains("signal"), "{entry}");
    assert_eq!(
        ui.ask("POST", &format!("/api/entries/{id}/resume"), &Value::Null)
            .status,
        204
    );
    ui.until(&["running"]);

    // The page is killed, and its call ends with it.
    let pid = caller(&ui);
    ui.child.kill().unwrap();
    ui.child.wait().unwrap();
    let begun = Instant::now();
    while runs(pid) {
        assert!(begun.elapsed() < LONG, "the call outlives its page");
        std::thread::sleep(Duration::from_millis(20));
    }

    // Another page on the same history: the entry is there, stopped, the browser is still let in, and it goes on.
    let token = ui.token.clone();
    drop(ui);
    let ui = Ui::start(&folder, &[]);
    assert_eq!(ui.token, token);
    assert_eq!(ui.entries()[0]["state"], "stopped");
    let kept = fs::read_dir(folder.join(&id).join("results/runs"))
        .unwrap()
        .count();
    assert!(kept >= 3);
    assert_eq!(
        ui.ask("POST", &format!("/api/entries/{id}/resume"), &Value::Null)
            .status,
        204
    );
    ui.until(&["running"]);
    let finished = |ui: &Ui| ui.entries()[0]["progress"]["finished"].as_u64();
    let begun = Instant::now();
    // What was finished before counts at once.
    while finished(&ui).unwrap_or(0) < kept as u64 / 2 {
        assert!(
            begun.elapsed() < LONG && ui.entries()[0]["state"] == "running",
            "{:?}",
            ui.entries()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    // Busy entries are not removed; a second page on the same history is refused; Ctrl-C of the page stops the call.
    assert_eq!(
        ui.ask("DELETE", &format!("/api/entries/{id}"), &Value::Null)
            .status,
        409
    );
    let second = run(&["ui", "--port", "0", "--dir", folder.to_str().unwrap()]);
    assert_eq!(second.status.code(), Some(2));
    assert!(
        text(&second.stderr).contains("another `slowpath ui` uses it"),
        "{}",
        text(&second.stderr)
    );
    assert_eq!(
        ui.ask("POST", &format!("/api/entries/{id}/stop"), &Value::Null)
            .status,
        204
    );
    ui.until(&["stopped"]);
    assert_eq!(
        ui.ask("POST", &format!("/api/entries/{id}/resume"), &Value::Null)
            .status,
        204
    );
    ui.until(&["running"]);
    let mut ui = ui;
    kill(ui.child.id(), "INT");
    assert_eq!(ui.child.wait().unwrap().code(), Some(0));
    let kept: Value =
        serde_json::from_slice(&fs::read(folder.join(&id).join("entry.json")).unwrap()).unwrap();
    assert_eq!(kept["state"], "stopped");
}

/// Whether a process is there and has not ended: one that nobody waits for stays in the list.
fn runs(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| !state.trim().starts_with('Z'))
}

fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn the_page_in_a_browser() {
    let scratch = Scratch::new("ui-browser");
    let capture = capture_of(&scratch);
    let ui = Ui::start(&scratch.0.join("history"), &[]);
    let folder = scratch.0.join("given");
    fs::create_dir(&folder).unwrap();
    fs::copy(capture, folder.join("narrow.pcapng")).unwrap();
    fs::write(folder.join("address"), ui.address()).unwrap();
    crate::browser::look("the_page_in_a_browser", "ui", &folder);
}
