//! `slowpath explain`.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use slowpath::analyzed::Analyzed;
use slowpath::anonymize::{Hide, Keep};
use slowpath::explain::Seen;
use slowpath::fates::{self, Fates};
use slowpath::fit::{Answer, Fit};
use slowpath::import::ImportError;
use slowpath::many::rotation::Recording;
use slowpath::many::{self, Found};
use slowpath::reading::Reading;
use slowpath::{
    BitRate, ParseError, Warning, devices, explain, fit, follow, interrupt, json, keep, sliders, told,
};
use slowpath_words::say;

use crate::args::{ExplainArgs, Format, KeepWhat};
use crate::exit::{self, Failure};
use crate::{progress, terminal};

/// Reads captures and prints what limited the transfers: one capture in full, two beside each other, more in one table.
pub(crate) fn explain(args: &ExplainArgs) -> Result<u8, Failure> {
    let named = args.captures.as_slice();
    if args.follow {
        return growing(args);
    }
    let folders = named.iter().any(|path| path.is_dir());
    if let ([folder], true, false) = (named, folders, args.each)
        && let Some(mut run) = explain::kept(folder)
    {
        if args.copy.is_some() {
            return Err(no_copy("a results folder"));
        }
        hide(args, &mut run, None)?;
        return print(args, &run, folder);
    }
    if let ([capture], false, false) = (named, folders, args.each) {
        return one(args, &Recording::of(capture.clone()));
    }
    let found = many::find(named, !args.each);
    match (found.recordings.as_slice(), named) {
        // Files that are one recording are one capture.
        ([recording], _) if recording.files.len() > 1 && !folders => one(args, recording),
        (_, [capture, second]) if !folders && !args.each => two(args, capture, second),
        _ => table(args, &found),
    }
}

/// Prints what one recording says.
fn one(args: &ExplainArgs, recording: &Recording) -> Result<u8, Failure> {
    let reading = Reading::default();
    let seen = progress::while_reading(&reading, || explain::read(recording, draws(args), &reading));
    match seen {
        Ok(Seen::Run(mut run)) => {
            hide(args, &mut run, Some(recording))?;
            print(args, &run, recording.first())
        }
        Ok(Seen::Network(fates)) => dropped(args, &fates, narrowed(args)),
        Ok(Seen::Several) => table(args, &many::find(&recording.files, true)),
        Err(error) if error.is_no_capture() && is_json(recording.first()) => {
            result(args, recording.first(), narrowed(args))
        }
        Err(error) => Err(unread(&error)),
    }
}

/// Follows a capture that is still being written, and prints what it says at its end.
fn growing(args: &ExplainArgs) -> Result<u8, Failure> {
    let [capture] = args.captures.as_slice() else {
        return Err(Failure::usage(format!(
            "following captures: these are {}, and --follow reads one; call it for each",
            args.captures.len()
        )));
    };
    if args.copy.is_some() {
        return Err(no_copy("what is still written"));
    }
    let stop = interrupt::flag();
    let patience = args.idle.map(|seconds| Duration::from_secs(seconds.into()));
    let shown = progress::is_shown();
    let mut tell = |now: &follow::Now| {
        if shown {
            let line = now.line(terminal::columns());
            let _ = write!(std::io::stderr(), "\r\u{1b}[K{line}");
        }
    };
    let read = follow::follow(capture, patience, draws(args), &stop, &mut tell);
    if shown {
        let _ = write!(std::io::stderr(), "\r\u{1b}[K");
    }
    let mut run = read.map_err(|error| unread(&error))?.into_run();
    hide(args, &mut run, None)?;
    print(args, &run, capture)
}

fn unread(error: &ImportError) -> Failure {
    Failure::usage(error.to_string())
}

/// Whether the answer has graphs, or needs what they are drawn from.
fn draws(args: &ExplainArgs) -> bool {
    args.format == Format::Html || !args.what_if.is_empty()
}

/// What an anonymised answer leaves out.
fn hidden(args: &ExplainArgs) -> Option<Hide> {
    args.anonymize.then(|| {
        Hide::new(Keep {
            ports: args.keep.contains(&KeepWhat::Ports),
            names: args.keep.contains(&KeepWhat::Names),
        })
    })
}

/// Takes out of a run who was involved, where that is asked for, and writes the copy of its capture.
fn hide(args: &ExplainArgs, run: &mut Analyzed, recording: Option<&Recording>) -> Result<(), Failure> {
    let Some(hide) = hidden(args) else {
        return Ok(());
    };
    let file = run
        .analysis
        .as_ref()
        .map_or("", |analysis| &analysis.capture.file);
    let name = hide.name(file, 0);
    hide.run(run, &name);
    let Some(copy) = &args.copy else {
        return Ok(());
    };
    let Some(recording) = recording.filter(|recording| recording.first() != Path::new("-")) else {
        return Err(no_copy("standard input"));
    };
    let packets = hide
        .copy(recording, copy)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let text = format!(
        "{} has {packets} packets, without addresses, names and payload",
        copy.display()
    );
    terminal::remark(&format!("slowpath: {text}"));
    Ok(())
}

fn no_copy(of: &str) -> Failure {
    Failure::usage(format!(
        "copying {of} with --copy: only the file of one capture is copied; name it alone"
    ))
}

/// Whether more is asked for than an answer in some form.
fn narrowed(args: &ExplainArgs) -> bool {
    args.only.is_some()
        || args.wireshark
        || args.capacity.is_some()
        || args.system.is_some()
        || !args.what_if.is_empty()
        || args.out.is_some()
        || args.anonymize
}

/// Prints what a run says.
fn print(args: &ExplainArgs, run: &Analyzed, path: &Path) -> Result<u8, Failure> {
    if let Some(folder) = &args.out {
        keep::add(folder, &run.record, run.analysis.as_ref())
            .map_err(|error| Failure::usage(error.to_string()))?;
    }
    let Some(mut explanation) = explain::run(run) else {
        return Err(Failure::usage(format!(
            "explaining {}: it holds no packets; capture while the transfer runs",
            path.display()
        )));
    };
    if let Some(wanted) = &args.only
        && explain::select(&mut explanation, wanted) == 0
    {
        return Err(Failure::usage(format!(
            "explaining {} with --only {wanted}: no connection has this number, or this in an address; leave --only out to see all",
            path.display()
        )));
    }
    if let Some(rate) = &args.capacity {
        let faster = explain::know_capacity(&mut explanation, rate).map_err(|error| no_rate(rate, &error))?;
        if let Some(first) = faster.first() {
            let text = say!(
                "explain-capacity-exceeded",
                rate = rate,
                faster = faster.len(),
                all = explanation.connections.len(),
                first = first
            );
            terminal::warn(Warning::Capture, &text);
        }
    }
    if let Some(system) = &args.system {
        let language = devices::language(Some(system), &[])
            .map_err(|found| Failure::usage(format!("reading --system: {found}")))?;
        explain::in_language(&mut explanation, language);
    }
    // What a capture says is there at once, and stays when the answer to a question fails or is not waited for.
    let (asked, failed) = match asked(args, &mut explanation)? {
        Ok(asked) => (asked, None),
        Err(failure) => (None, Some(failure)),
    };
    let style = terminal::style();
    terminal::print(|out| match args.format {
        Format::Json if let Some((id, _, answers)) = &asked => {
            fit::write_explanation_json(&explanation, *id, answers, out)
        }
        Format::Json => explain::write_json(&explanation, out),
        Format::Jsonl => explain::write_json_lines(&explanation, out),
        Format::Html => {
            let main = explanation.connections.first().map(|main| &main.connection);
            // An anonymised page does not name its file either.
            let capture = if args.anonymize {
                Path::new(&explanation.capture.file)
            } else {
                path
            };
            let what_if = (asked.as_ref().zip(main))
                .map(|((_, fitted, answers), main)| sliders::what_if(fitted, main, capture, answers));
            explain::write_html(&explanation, what_if.as_ref().map(sliders::part), out)
        }
        Format::Text => {
            explain::write_text(&explanation, style, args.system.is_some(), out)?;
            if let Some((_, fitted, answers)) = &asked {
                writeln!(out)?;
                fit::write_answers(fitted, answers, style, out)?;
            }
            if args.wireshark {
                explain::write_wireshark(&explanation, style, out)?;
            }
            Ok(())
        }
    })?;
    failed.map_or(Ok(exit::DONE), Err)
}

fn no_rate(rate: &str, error: &ParseError) -> Failure {
    Failure::usage(format!("reading --capacity {rate}: {error}"))
}

/// Prints what two captures say together.
fn two(args: &ExplainArgs, capture: &Path, second: &Path) -> Result<u8, Failure> {
    if narrowed(args) {
        return Err(Failure::usage(
            "explaining two captures: --only, --wireshark, --capacity, --system, --what-if, --anonymize and --out go with one capture; leave the second out"
                .to_owned(),
        ));
    }
    let pair = explain::pair(capture, second).map_err(|error| unread(&error))?;
    if matches!(args.format, Format::Html | Format::Jsonl) {
        return Err(Failure::usage(
            "explaining two captures: they are explained as text or json alone; write --format json"
                .to_owned(),
        ));
    }
    terminal::print(|out| match args.format {
        Format::Json => explain::write_pair_json(&pair, out),
        _ => explain::write_pair(&pair, terminal::style(), out),
    })?;
    Ok(exit::DONE)
}

/// Prints the transfers of many captures in one table.
fn table(args: &ExplainArgs, found: &Found) -> Result<u8, Failure> {
    if args.wireshark || args.system.is_some() || !args.what_if.is_empty() || args.out.is_some() {
        return Err(Failure::usage(
            "explaining many captures: --wireshark, --system, --what-if and --out go with one capture; name one alone"
                .to_owned(),
        ));
    }
    if args.format == Format::Html {
        return Err(Failure::usage(
            "explaining many captures: they are explained as text, json or jsonl; name one alone for a page"
                .to_owned(),
        ));
    }
    if args.copy.is_some() {
        return Err(no_copy("many captures"));
    }
    if let Some(rate) = &args.capacity {
        rate.parse::<BitRate>().map_err(|error| no_rate(rate, &error))?;
    }
    let recordings = found.recordings.as_slice();
    if recordings.is_empty() {
        return Err(Failure::usage(no_captures(&found.without)));
    }
    let asked = many::Asked {
        only: args.only.clone(),
        capacity: args.capacity.clone(),
        remedies: args.format == Format::Jsonl,
        hide: hidden(args),
    };
    let reading = Reading::default();
    reading.expect(
        recordings
            .iter()
            .flat_map(|one| &one.files)
            .map(|file| size(file))
            .sum(),
    );
    let no_thread = |error: std::io::Error| Failure::machine(format!("explaining many captures: {error}"));
    let (read, errors): (usize, Vec<(String, String)>) = if args.format == Format::Jsonl {
        let mut told = Vec::new();
        terminal::print(|out| {
            told = many::write_json_lines(recordings, &asked, &reading, out)?;
            Ok(())
        })?;
        let errors = told
            .iter()
            .filter_map(|(file, error)| Some((file.clone(), error.clone()?)));
        let errors: Vec<_> = errors.collect();
        (told.len() - errors.len(), errors)
    } else {
        let many = progress::while_reading(&reading, || many::table(recordings, &asked, &reading));
        let many = many.map_err(no_thread)?;
        let errors = many
            .unread()
            .map(|one| (one.file.clone(), one.error.clone().unwrap_or_default()));
        let errors: Vec<_> = errors.collect();
        if many.read() > 0 || args.format == Format::Json {
            terminal::print(|out| match args.format {
                Format::Json => json::write(&many, true, out),
                _ => many::write(&many, terminal::style(), out),
            })?;
        }
        (many.read(), errors)
    };
    for folder in &found.without {
        let text = format!(
            "explaining {}: no capture lies in it; give another folder",
            folder.display()
        );
        terminal::note(&format!("slowpath: {text}"));
    }
    let count = read + errors.len();
    match errors.first() {
        None if found.without.is_empty() => Ok(exit::DONE),
        None => Ok(exit::USAGE),
        Some((file, error)) if count == 1 => Err(Failure::usage(format!(
            "opening the capture {file}: {error}; give a pcap or pcapng file as tcpdump and Wireshark write it, compressed or not"
        ))),
        Some((file, error)) if read == 0 => Err(Failure::usage(format!(
            "explaining captures: none of {count} could be read; the first is {file}: {error}; give pcap or pcapng files as tcpdump and Wireshark write them"
        ))),
        Some(_) => Err(Failure::usage(format!(
            "explaining captures: {} of {count} could not be read, which the answer names with the reason; leave them out or mend them",
            errors.len()
        ))),
    }
}

fn no_captures(folders: &[PathBuf]) -> String {
    let named: Vec<String> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    format!(
        "opening the captures in {}: none lies there, nor below; give a folder with pcap or pcapng files",
        named.join(", ")
    )
}

fn size(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |about| about.len())
}

/// Prints what the result of another tool tells.
fn result(args: &ExplainArgs, path: &Path, narrowed: bool) -> Result<u8, Failure> {
    let wrong = |text: String| Failure::usage(format!("explaining {}: {text}", path.display()));
    if narrowed || matches!(args.format, Format::Html | Format::Jsonl) {
        return Err(wrong(
            "a result of iperf3 or ndt7 has no packets; leave all options but --format text or json out"
                .to_owned(),
        ));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(slowpath::input::problem(path, &error)))?;
    let told = told::either::read(&text).map_err(|error| wrong(error.to_string()))?;
    terminal::print(|mut out| match args.format {
        Format::Json => json::write(&told, true, &mut out),
        _ => told::text::write(&told, terminal::style(), &mut out),
    })?;
    Ok(exit::DONE)
}

/// Whether a file begins as JSON does, which no capture does.
fn is_json(path: &Path) -> bool {
    let mut begin = [0; 64];
    let read = File::open(path)
        .and_then(|mut file| file.read(&mut begin))
        .unwrap_or(0);
    let first = begin[..read].iter().find(|byte| !byte.is_ascii_whitespace());
    path.is_file() && first == Some(&b'{')
}

/// A connection's number, its fitted path, and what changes would give.
type Asked = (u32, Fit, Vec<Answer>);

/// What the changes of `--what-if` would give to the connection with the most data. A question that is not understood is an error;
/// one that has no answer is told apart from that.
fn asked(
    args: &ExplainArgs,
    explanation: &mut explain::Explanation,
) -> Result<Result<Option<Asked>, Failure>, Failure> {
    let Some(main) = explanation
        .connections
        .first_mut()
        .filter(|_| !args.what_if.is_empty())
    else {
        return Ok(Ok(None));
    };
    if args.format == Format::Jsonl {
        return Err(Failure::usage(
            "explaining with --what-if: it is answered as text, json or html alone; write --format json"
                .to_owned(),
        ));
    }
    let wanted = crate::fit::wanted(&args.what_if)?;
    let answered = crate::fit::what_if(main, wanted);
    Ok(answered.map(|(fitted, answers)| Some((main.connection.id, fitted, answers))))
}

/// Prints what was dropped inside the network of a run of ours.
fn dropped(args: &ExplainArgs, fates: &Fates, narrowed: bool) -> Result<u8, Failure> {
    if narrowed || matches!(args.format, Format::Html | Format::Jsonl) {
        let host = fates.hosts.first().map_or("a host's capture", String::as_str);
        return Err(Failure::usage(format!(
            "explaining {}: it is slowpath's own file of what the network dropped, not a transfer: it goes with --format text or json alone; explain {host} instead",
            fates.file
        )));
    }
    terminal::print(|out| match args.format {
        Format::Json => fates::write_json(fates, out),
        _ => fates::write_text(fates, terminal::style(), out),
    })?;
    Ok(exit::DONE)
}
