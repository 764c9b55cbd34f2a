//! Every file of the labelled corpus opens or is refused with a clear message, and its counts are right.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Deserialize;
use slowpath_capture::{LinkType, Reader};

#[derive(Deserialize)]
struct Manifest {
    capture: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    file: String,
    link_type: String,
    packets: u64,
    #[serde(default)]
    malformed: bool,
    capinfos_error: Option<String>,
}

/// Folder and manifest of the corpus, or nothing with a line on standard error.
fn corpus(test: &str) -> Option<(PathBuf, Manifest)> {
    let Some(folder) = std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from) else {
        let _ = writeln!(
            io::stderr(),
            "skipped: {test}: SLOWPATH_CORPUS does not name the corpus of captures"
        );
        return None;
    };
    let text = std::fs::read_to_string(folder.join("manifest.toml")).expect("the corpus has a manifest");
    Some((
        folder,
        toml::from_str(&text).expect("the manifest is as its README says"),
    ))
}

/// The manifest's name of a link type, as capinfos prints it.
fn manifest_name(types: &[LinkType]) -> &'static str {
    match *types {
        [] => "none",
        [only] => match only {
            LinkType::ETHERNET => "ether",
            LinkType::LINUX_SLL => "linux-sll",
            LinkType::LINUX_SLL2 => "linux-sll2",
            LinkType::NULL => "null",
            LinkType::LOOP => "loop",
            LinkType::RAW | LinkType::RAW_12 | LinkType::RAW_14 => "rawip",
            LinkType::IPV4 => "rawip4",
            LinkType::IPV6 => "rawip6",
            LinkType::PPP => "ppp",
            LinkType::NFLOG => "nflog",
            LinkType::NETLINK => "netlink",
            LinkType::FDDI => "fddi-swapped",
            _ => "other",
        },
        _ => "per-packet",
    }
}

#[test]
fn every_file_opens_or_is_refused_and_counts_agree() {
    let Some((folder, manifest)) = corpus("every_file_opens_or_is_refused_and_counts_agree") else {
        return;
    };
    let mut wrong = Vec::new();
    for entry in &manifest.capture {
        let mut check = |what: &str, found: String, expected: String| {
            if found != expected {
                wrong.push(format!(
                    "{}: {what} {found}, the manifest says {expected}",
                    entry.file
                ));
            }
        };
        let mut reader = match Reader::open(&folder.join(&entry.file)) {
            Ok(reader) => reader,
            Err(error) => {
                // Only a broken file without a single packet may be refused, and the message says why.
                let refusable = entry.malformed && entry.packets == 0 && entry.link_type == "none";
                check("refused:", refusable.to_string(), "true".into());
                let reason = REFUSED
                    .iter()
                    .find(|(file, _)| *file == entry.file)
                    .map(|(_, reason)| *reason);
                let clear = reason.is_some_and(|reason| error.to_string().contains(reason));
                check(
                    "refused:",
                    format!("{error}, clear: {clear}"),
                    format!("{error}, clear: true"),
                );
                continue;
            }
        };
        while reader.next_frame().expect("files can be read").is_some() {}
        check("packets", reader.packets().to_string(), entry.packets.to_string());
        check(
            "link type",
            manifest_name(&reader.link_types()).into(),
            entry.link_type.clone(),
        );
        let damage = reader.damage().map(ToString::to_string).unwrap_or_default();
        let expected = entry.malformed && entry.capinfos_error.is_some();
        if damage.is_empty() == expected {
            check("damage", damage, format!("{:?}", entry.capinfos_error));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Files that hold no readable packet, and what the message must say.
const REFUSED: &[(&str, &str)] = &[
    ("formats/bad-linktype-reserved.pcap", "reserved bits set"),
    ("formats/bad-version.pcap", "version 1.4 is not known"),
    ("formats/bad-version.pcapng", "version 0.1"),
    (
        "formats/bad-shb-option.pcapng",
        "an option of 12336 bytes where 20 are left",
    ),
    ("derived/bad-empty.pcap", "empty"),
];
