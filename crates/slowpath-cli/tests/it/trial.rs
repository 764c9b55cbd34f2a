//! `slowpath why --try`: a change is tried on the living transfer, on a path where its effect is known.

use crate::support::{lab_or_skip, run, slowpath, text};

/// A watch of `near` (its arguments behind `why`), with `serve` at the far end of a path; gives the answer and what else was said.
fn watched(path: &str, near: &str) -> Result<(serde_json::Value, String), String> {
    let binary = env!("CARGO_BIN_EXE_slowpath");
    let far = format!("{binary} serve --address $SLOWPATH_FAR");
    let near = format!("sleep 1; {binary} why {near}");
    let output = run(&["shell", path, "--far", &far, "--", "sh", "-c", &near]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if output.status.code() == Some(125) {
        return Err(err);
    }
    let answer = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    Ok((answer, err))
}

/// A transfer of so many seconds between the shell's hosts, with a change tried on it; gives the trials.
fn tried(path: &str, change: &str, seconds: u32) -> Result<Vec<serde_json::Value>, String> {
    let binary = env!("CARGO_BIN_EXE_slowpath");
    let (answer, _) = watched(
        path,
        &format!(
            "-q --try '{change}' --format json -- {binary} measure iperf3://$SLOWPATH_FAR -q -t {seconds}"
        ),
    )?;
    Ok(answer["trials"].as_array().cloned().unwrap_or_default())
}

#[test]
fn bbr_is_found_faster_than_cubic_where_packets_are_lost_by_chance() {
    let test = "bbr_is_found_faster_than_cubic_where_packets_are_lost_by_chance";
    if !lab_or_skip(test) {
        return;
    }
    match tried(
        "rate 20 Mbit/s, delay 15 ms, loss 1 %",
        "congestion-control=bbr",
        26,
    ) {
        Err(why) => eprintln!("skipped: {test}: {}", why.trim()),
        Ok(trials) => {
            let [trial] = &trials[..] else {
                panic!("{trials:?}")
            };
            assert_eq!(trial["change"], "congestion-control=bbr");
            assert_eq!(trial["outcome"], "faster", "{trial}");
            let effect = |end: &str| trial["effect"][end].as_f64().unwrap();
            assert!(effect("low95") > 1.2, "{trial}");
            let on: Vec<bool> = trial["blocks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|block| block["on"].as_bool().unwrap())
                .collect();
            assert!(on.len() >= 5 && on.iter().enumerate().all(|(place, on)| *on == (place % 2 == 1)));
        }
    }
}

#[test]
fn a_receive_buffer_is_there_from_the_first_packet_when_a_command_runs_again() {
    let test = "a_receive_buffer_is_there_from_the_first_packet_when_a_command_runs_again";
    if !lab_or_skip(test) {
        return;
    }
    let binary = env!("CARGO_BIN_EXE_slowpath");
    let near = format!(
        "--again 'receive-buffer=16 KiB' --each 1 --format json -- {binary} measure iperf3://$SLOWPATH_FAR -q -R -t 2"
    );
    let (answer, err) = match watched("rate 20 Mbit/s, delay 15 ms", &near) {
        Ok(both) => both,
        Err(why) => {
            eprintln!("skipped: {test}: {}", why.trim());
            return;
        }
    };
    let trial = &answer["trials"][0];
    assert_eq!(
        (&trial["method"], &trial["outcome"]),
        (&"again".into(), &"slower".into()),
        "{trial}{err}"
    );
    // A window of 16 KiB or so each 30 ms, where 20 Mbit/s are 75 KB each 30 ms.
    let with: Vec<f64> = trial["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["on"] == true)
        .map(|block| block["byte_per_s"].as_f64().unwrap())
        .collect();
    assert!(
        with.len() == 3 && with.iter().all(|rate| *rate < 1_200_000.0),
        "{trial}"
    );
    for said in [
        "first 6 shortened runs",
        "run 1 of 6, as it is",
        "run 6 of 6, with receive-buffer=16 KiB",
    ] {
        assert!(err.contains(said), "{said}: {err}");
    }
    // The command itself has run to its end, and its sockets were left alone.
    let main = &answer["connections"][0];
    assert!(main["bytes"].as_u64().unwrap() > 1_000_000, "{main}");
}

#[test]
fn a_command_ended_by_a_signal_gives_the_status_that_shells_give_it() {
    for (signal, status) in [("TERM", 143), ("INT", 130)] {
        let output = run(&["why", "-q", "--", "sh", "-c", &format!("kill -{signal} $$")]);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
    }
}

#[test]
fn a_command_that_moves_nothing_says_why_nothing_is_tried() {
    let output = slowpath()
        .args([
            "why",
            "--again",
            "mark=cs1",
            "--",
            "sh",
            "-c",
            "echo no such host >&2; exit 6",
        ])
        .output()
        .unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{err}");
    let said = err.split_whitespace().collect::<Vec<_>>().join(" ");
    let part = "mark=cs1: not tried: a run moved 0 B only (\"no such host\")";
    assert!(said.contains(part), "{part}: {err}");
}

#[test]
fn a_change_that_the_command_cannot_have_is_refused_before_it_runs() {
    let output = slowpath()
        .args([
            "why",
            "--again",
            "mark=cs1",
            "ipqos=none",
            "--",
            "sh",
            "-c",
            "echo ran; exit 6",
        ])
        .output()
        .unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("slowpath does not know how sh runs ssh"), "{err}");
    assert!(text(&output.stdout).is_empty(), "nothing ran");
}

#[test]
fn a_change_needs_a_command_of_its_own() {
    for (arguments, said) in [
        (
            &["why", "--try", "mark=cs1", "--port", "9"][..],
            "no command is given",
        ),
        (
            &["why", "--again", "mark=cs1", "--port", "9"],
            "no command is given",
        ),
        (&["why", "--again", "ipqos", "--", "true"], "it has no value"),
        (&["why", "--try", "mark", "--", "true"], "it has no value"),
        (
            &["why", "--try", "speed=9", "--", "true"],
            "there is no change \"speed\"",
        ),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let err = text(&output.stderr);
        assert!(err.contains(said), "{arguments:?}: {err}");
    }
    let output = slowpath()
        .args(["why", "--try", "receive-buffer=1 MiB", "mark=cs1", "--", "true"])
        .output()
        .unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    for part in [
        "trying receive-buffer=1 MiB, mark=cs1 on the program's own connections",
        "not given back whole: after it the same buffer",
        "mark=cs1: not tried",
    ] {
        assert!(err.contains(part), "{part}: {err}");
    }
}
