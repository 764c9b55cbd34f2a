//! Files that are one recording: what dumpcap, tcpdump and Wireshark write when they begin a new file in between.
//!
//! Three things make files one: names that go on, the same format, interfaces and link types, and times that follow each
//! other. The first two are found before reading, the last while reading, where the one file ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use slowpath_capture::{FileFormat, LinkType, Reader};

/// A capture in one file, or in several that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The files in the order of their packets; at least one.
    pub files: Vec<PathBuf>,
    /// How long the pause between two files may be; `None` for any.
    pub(crate) longest_pause_ns: Option<i64>,
}

impl Recording {
    /// One file.
    pub fn of(file: PathBuf) -> Self {
        Self {
            files: vec![file],
            longest_pause_ns: None,
        }
    }

    /// The first file.
    pub fn first(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The recording that begins with the file of this number; `None` behind the last.
    pub(crate) fn from(&self, part: usize) -> Option<Self> {
        let files = self.files.get(part..).filter(|files| !files.is_empty())?;
        Some(Self {
            files: files.to_vec(),
            ..self.clone()
        })
    }

    /// Whether a file whose first packet is at `first` can follow one whose last packet is at `last`.
    pub(crate) fn follows(&self, last: i64, first: i64) -> bool {
        let pause = first.saturating_sub(last);
        pause >= -DISORDER_NS && self.longest_pause_ns.is_none_or(|longest| pause <= longest)
    }
}

/// Puts files together that are one recording, as far as their names and beginnings tell; the others stay alone. The order
/// is that of the first file of each.
pub fn recordings(files: &[PathBuf]) -> Vec<Recording> {
    let mut groups: BTreeMap<(PathBuf, Name), Vec<usize>> = BTreeMap::new();
    let mut numbers = vec![0; files.len()];
    for (index, path) in files.iter().enumerate() {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for (stem, number) in Name::read(&name) {
            // A date has none.
            numbers[index] = number.unwrap_or(numbers[index]);
            groups.entry((folder.clone(), stem)).or_default().push(index);
        }
    }
    let mut chain_of: Vec<Option<usize>> = vec![None; files.len()];
    let mut chains: Vec<(Vec<usize>, Option<i64>)> = Vec::new();
    for ((_, name), members) in groups {
        let members: Vec<usize> = members
            .into_iter()
            .filter(|index| chain_of[*index].is_none())
            .collect();
        if members.len() < 2 {
            continue;
        }
        for chain in chained(&members, files, &numbers, &name) {
            for index in &chain {
                chain_of[*index] = Some(chains.len());
            }
            chains.push((chain, name.longest_pause_ns()));
        }
    }
    let mut told = vec![false; chains.len()];
    let mut out = Vec::new();
    for (index, path) in files.iter().enumerate() {
        match chain_of[index] {
            None => out.push(Recording::of(path.clone())),
            Some(chain) if !told[chain] => {
                told[chain] = true;
                let (members, longest_pause_ns) = &chains[chain];
                out.push(Recording {
                    files: members.iter().map(|index| files[*index].clone()).collect(),
                    longest_pause_ns: *longest_pause_ns,
                });
            }
            Some(_) => {}
        }
    }
    out
}

/// The chains of two files and more among files whose names go on.
fn chained(members: &[usize], files: &[PathBuf], numbers: &[u64], name: &Name) -> Vec<Vec<usize>> {
    let mut begun: Vec<(Begin, usize)> = members
        .iter()
        .filter_map(|index| Some((Begin::of(&files[*index])?, *index)))
        .collect();
    begun.sort_by_key(|(begin, index)| (begin.at, numbers[*index]));
    let most = begun.iter().map(|(_, index)| numbers[*index]).max();
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut before: Option<&(Begin, usize)> = None;
    for one in &begun {
        let goes_on = before.is_some_and(|before| {
            let (last, next) = (numbers[before.1], numbers[one.1]);
            // A ring of tcpdump begins again at its first file; the numbers of dumpcap go on.
            let again = name.is_ring() && next == 0 && last > 0 && Some(last) == most;
            let counted = next == last + 1 || again;
            (counted || !name.counts()) && before.0.is_like(&one.0)
        });
        match chains.last_mut() {
            Some(chain) if goes_on => chain.push(one.1),
            _ => chains.push(vec![one.1]),
        }
        before = Some(one);
    }
    chains.retain(|chain| chain.len() > 1);
    chains
}

/// Whether a file's name, in small letters, says that it is a capture.
pub(crate) fn is_named_capture(name: &str) -> bool {
    let plain = COMPRESSED
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let stem = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    [".pcap", ".cap", ".pcapng"].iter().any(|end| stem.ends_with(end))
}

/// What names of one recording have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    /// dumpcap and Wireshark, `-b`: before the number, and behind the time.
    Dumpcap(String, String),
    /// tcpdump, `-C` and `-W`: a number behind the ending.
    Tcpdump(String),
    /// The same without an ending.
    Bare(String),
    /// tcpdump, `-G`: a date; digits are left out.
    Dated(String),
}

impl Name {
    /// What a file's name may be of, and its number there, the most telling first.
    fn read(name: &str) -> Vec<(Self, Option<u64>)> {
        let plain = COMPRESSED
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(name);
        let mut out = Vec::new();
        if let Some(found) = dumpcap(plain) {
            out.push(found);
        } else if let Some(found) = tcpdump(plain) {
            out.push(found);
        }
        let digits = plain.bytes().filter(u8::is_ascii_digit).count();
        if out.iter().all(|(_, number)| number.is_none()) && digits >= DATE {
            let skeleton = plain.chars().map(|c| if c.is_ascii_digit() { '0' } else { c });
            out.push((Self::Dated(skeleton.collect()), None));
        }
        out
    }

    /// Whether the files are numbered one by one.
    const fn counts(&self) -> bool {
        !matches!(self, Self::Dated(_))
    }

    /// Whether numbers may begin again.
    const fn is_ring(&self) -> bool {
        matches!(self, Self::Tcpdump(_) | Self::Bare(_))
    }

    /// How long a recorder may be silent between two files: names that others use as well need packets close together.
    const fn longest_pause_ns(&self) -> Option<i64> {
        match self {
            Self::Dumpcap(..) | Self::Tcpdump(_) => None,
            Self::Bare(_) | Self::Dated(_) => Some(SHORT_PAUSE_NS),
        }
    }
}

/// `name_00001_20260101120000.pcapng`, or with time and number the other way round.
fn dumpcap(name: &str) -> Option<(Name, Option<u64>)> {
    let (body, end) = match name.rfind('.') {
        Some(dot) => name.split_at(dot),
        None => (name, ""),
    };
    let (rest, last) = body.rsplit_once('_')?;
    let (stem, before) = rest.rsplit_once('_')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(last) || !digits(before) {
        return None;
    }
    let number = match (before.len(), last.len()) {
        (5.., STAMP) => before,
        (STAMP, 5..) => last,
        _ => return None,
    };
    let name = Name::Dumpcap(stem.to_owned(), end.to_owned());
    Some((name, Some(number.parse().ok()?)))
}

/// `name.pcap`, `name.pcap1`, `name.pcap2`; or `name.pcap00`, `name.pcap01`.
fn tcpdump(name: &str) -> Option<(Name, Option<u64>)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    let number = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    let ended = [".pcap", ".cap", ".pcapng", ".dmp", ".dump"]
        .iter()
        .any(|end| stem.ends_with(end));
    match (ended, stem.contains('.')) {
        (true, _) => Some((
            Name::Tcpdump(stem.to_owned()),
            Some(number).filter(|_| !digits.is_empty()),
        )),
        (false, false) if !stem.is_empty() => Some((Name::Bare(stem.to_owned()), Some(number))),
        _ => None,
    }
}

/// How a capture begins.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Begin {
    at: i64,
    format: FileFormat,
    interfaces: Vec<(LinkType, u32, String)>,
}

impl Begin {
    /// Reads up to the first packet; nothing of a file that cannot be read, or has none.
    fn of(path: &Path) -> Option<Self> {
        if !path.is_file() {
            return None;
        }
        let mut reader = Reader::new(File::open(path).ok()?).ok()?;
        let at = reader.next_frame().ok()??.at?;
        let interfaces = reader
            .interfaces()
            .iter()
            .map(|interface| (interface.link_type, interface.snap_len, interface.name.clone()));
        Some(Self {
            at,
            format: reader.format(),
            interfaces: interfaces.collect(),
        })
    }

    fn is_like(&self, other: &Self) -> bool {
        self.format == other.format && self.interfaces == other.interfaces
    }
}

/// When the first packet of a capture was taken, nanoseconds.
pub(crate) fn begins_at(reader: &mut Reader) -> Option<i64> {
    reader.next_frame().ok()??.at
}

/// Endings of compressed files.
const COMPRESSED: [&str; 5] = [".gz", ".zst", ".xz", ".lz4", ".bz2"];
/// Digits of a time in names of dumpcap.
const STAMP: usize = 14;
/// Digits of a date.
const DATE: usize = 8;
/// A recorder that goes on hardly pauses while there is traffic.
const SHORT_PAUSE_NS: i64 = 1_000_000_000;
/// Packets of several processors or interfaces come slightly out of order.
const DISORDER_NS: i64 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str) -> Vec<Option<u64>> {
        Name::read(name).into_iter().map(|(_, number)| number).collect()
    }

    #[test]
    fn names_that_recorders_give_are_known() {
        assert_eq!(number("eth0_00012_20260102030405.pcapng"), [Some(12)]);
        assert_eq!(number("eth0_20260102030405_00012.pcapng.gz"), [Some(12)]);
        assert_eq!(number("x.pcap"), [None]);
        assert_eq!(number("x.pcap07"), [Some(7)]);
        assert_eq!(number("trace3"), [Some(3)]);
        assert_eq!(number("site-2026-01-02.pcap").len(), 2);
        assert!(
            number("test1.pcap") == [None],
            "a series of tests is no recording"
        );
        assert!(
            number("99999999999999999999999").is_empty() || number("99999999999999999999999")[0].is_none()
        );
    }

    #[test]
    fn a_pause_ends_a_recording_of_a_name_that_others_use_as_well() {
        let mut recording = Recording::of(PathBuf::from("a"));
        assert!(recording.follows(10, 5_000_000_000_000));
        assert!(!recording.follows(5_000_000_000_000, 10), "earlier");
        recording.longest_pause_ns = Some(SHORT_PAUSE_NS);
        assert!(recording.follows(10, 500_000_000));
        assert!(!recording.follows(10, 5_000_000_000));
    }
}
