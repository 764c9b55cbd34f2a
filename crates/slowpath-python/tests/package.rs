//! The Python package as users get it: a wheel, installed in a virtual environment of its own, with the tests of `tests/python`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What `scripts/setup` installs: an interpreter with the frames, Dask and what runs notebooks.
fn tools() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let python = target.join("python/bin/python3");
    let works = |output: &Output| output.status.success();
    let mut asked = Command::new(&python);
    asked.args([
        "-c",
        "import dask, distributed, polars, pandas, pyarrow, pytest, wheel, nbclient, matplotlib",
    ]);
    (python.exists() && asked.output().is_ok_and(|output| works(&output))).then_some(python)
}

#[test]
fn a_wheel_installs_and_passes_its_tests() {
    let Some(tools) = tools() else {
        eprintln!(
            "skipped: a_wheel_installs_and_passes_its_tests: target/python lacks what they need; `scripts/setup` installs it"
        );
        return;
    };
    let made = Scratch::new();
    let wheel = wheel(&made.0, &tools);
    let fresh = made.0.join("venv");
    passes(Command::new(&tools).args(["-m", "venv"]).arg(&fresh));
    let python = fresh.join("bin/python3");
    passes(
        Command::new(&python)
            .args(["-m", "pip", "install", "-q", "--no-index", "--no-deps"])
            .arg(&wheel),
    );
    // What slowpath needs is in it; what its tests need beside it is not installed twice.
    let beside =
        passes(Command::new(&tools).args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]));
    let own =
        passes(Command::new(&python).args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]));
    fs::write(Path::new(own.trim()).join("beside.pth"), beside).unwrap();
    // Dask and the notebook's kernel leave folders in the one for temporary files.
    let temporary = made.0.join("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut tests = Command::new(&python);
    tests
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp"])
        .arg(made.0.join("tmp"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env(
            "JUPYTER_PATH",
            tools.parent().unwrap().with_file_name("share").join("jupyter"),
        )
        .env("HOME", &made.0)
        .env("TMPDIR", &temporary);
    let output = tests.output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    println!("{said}");
    assert!(output.status.success(), "{said}");
    assert!(said.contains(" passed"), "no test ran: {said}");
}

/// The wheel, made of the library that was built with this test, as maturin makes it of a release build.
fn wheel(folder: &Path, tools: &Path) -> PathBuf {
    let version = env!("CARGO_PKG_VERSION");
    let inside = folder.join("wheel");
    let package = inside.join("slowpath");
    let info = inside.join(format!("slowpath-{version}.dist-info"));
    fs::create_dir_all(&package).unwrap();
    fs::create_dir_all(&info).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/slowpath");
    for entry in fs::read_dir(sources)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_file())
    {
        fs::copy(entry.path(), package.join(entry.file_name())).unwrap();
    }
    let built = std::env::current_exe().unwrap();
    let library = built.parent().unwrap().join("lib_slowpath.so");
    fs::copy(&library, package.join("_slowpath.abi3.so"))
        .unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    let metadata =
        format!("Metadata-Version: 2.1\nName: slowpath\nVersion: {version}\nRequires-Python: >=3.11\n");
    fs::write(info.join("METADATA"), metadata).unwrap();
    let tag = format!("cp311-abi3-linux_{}", std::env::consts::ARCH);
    let about = format!("Wheel-Version: 1.0\nGenerator: slowpath\nRoot-Is-Purelib: false\nTag: {tag}\n");
    fs::write(info.join("WHEEL"), about).unwrap();
    passes(
        Command::new(tools)
            .args(["-m", "wheel", "pack", "-d"])
            .arg(folder)
            .arg(&inside),
    );
    folder.join(format!("slowpath-{version}-{tag}.whl"))
}

fn passes(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

/// A folder that goes away with its value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("slowpath-python-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
