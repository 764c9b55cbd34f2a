//! What may be changed when a command runs again, as users type it: `ipqos=none`, `receive-buffer=4 MiB`, `option='-P 8'`.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use slowpath_words::english;

use crate::why::trial::Change;
use crate::why::trial::change::ChangeError;

/// One change of a command that runs again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// An option of its TCP sockets, set before they connect or listen.
    Socket(Change),
    /// An option of ssh (`ssh_config(5)`), also where another program runs ssh.
    Ssh {
        /// As it is typed: `ipqos`, `cipher`, `compression`.
        key: &'static str,
        /// Its value.
        value: String,
    },
    /// Words put right behind the program's name.
    Option(String),
    /// Another command altogether.
    Command(String),
}

/// A command, and what it takes from the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its words.
    pub words: Vec<String>,
    /// A variable and its value.
    pub environment: Option<(&'static str, String)>,
}

impl From<Vec<String>> for Line {
    fn from(words: Vec<String>) -> Self {
        Self {
            words,
            environment: None,
        }
    }
}

/// A command as it is and as it is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Both {
    /// As it is, but for what would keep the two from being compared.
    pub plain: Line,
    /// With the change.
    pub changed: Line,
}

impl Again {
    /// The option of sockets that it changes, if it is one.
    pub const fn socket(&self) -> Option<&Change> {
        match self {
            Self::Socket(change) => Some(change),
            _ => None,
        }
    }

    /// The command as it is and with the change.
    ///
    /// # Errors
    /// A clause: why this command cannot be given the change.
    pub fn of(&self, words: &[String]) -> Result<Both, String> {
        let split = |text: &str| {
            shlex::split(text)
                .filter(|words| !words.is_empty())
                .ok_or_else(|| english!("why-again-no-words", text = text))
        };
        let changed = match self {
            Self::Socket(_) => words.to_vec(),
            Self::Option(text) => inserted(words, &split(text)?),
            Self::Command(text) => split(text)?,
            Self::Ssh { key, value } => {
                let option = match *key {
                    "ipqos" => format!("IPQoS={value}"),
                    "cipher" => format!("Ciphers={value}"),
                    _ => format!("Compression={value}"),
                };
                // A connection that is kept for several programs has its options from the first of them.
                let own = ["-o".to_owned(), "ControlPath=none".to_owned()];
                let more = [&own[..], &["-o".to_owned(), option]].concat();
                let both = through_ssh(words, &own).zip(through_ssh(words, &more));
                return both
                    .map(|(plain, changed)| Both { plain, changed })
                    .ok_or_else(|| {
                        english!(
                            "why-again-no-ssh",
                            program = words.first().map_or("?", String::as_str)
                        )
                    });
            }
        };
        Ok(Both {
            plain: words.to_vec().into(),
            changed: changed.into(),
        })
    }
}

/// A command with more words right behind the program's name.
fn inserted(words: &[String], more: &[String]) -> Vec<String> {
    let mut out = words.to_vec();
    out.splice(1..1, more.iter().cloned());
    out
}

/// A command that runs ssh, with more options of that; `None` where it is not known how.
fn through_ssh(words: &[String], options: &[String]) -> Option<Line> {
    let name = Path::new(words.first()?).file_name()?.to_str()?;
    let by_environment = |variable: &'static str| Line {
        words: words.to_vec(),
        environment: Some((variable, format!("ssh {}", options.join(" ")))),
    };
    match name {
        "scp" | "sftp" | "ssh" | "slogin" => Some(inserted(words, options).into()),
        "rsync" => {
            let takes_next = |word: &String| {
                word == "--rsh" || word.starts_with('-') && !word.starts_with("--") && word.ends_with('e')
            };
            let at = match words.iter().position(takes_next) {
                Some(at) => Some(at + 1),
                None => words.iter().position(|word| word.starts_with("--rsh=")),
            };
            let Some(at) = at else {
                return Some(by_environment("RSYNC_RSH"));
            };
            let mut out = words.to_vec();
            if let Some(word) = out.get_mut(at) {
                word.push(' ');
                word.push_str(&options.join(" "));
            }
            Some(out.into())
        }
        "borg" => Some(by_environment("BORG_RSH")),
        "git" => Some(by_environment("GIT_SSH_COMMAND")),
        _ => None,
    }
}

impl fmt::Display for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(change) => write!(f, "{change}"),
            Self::Ssh { key, value } => write!(f, "{key}={value}"),
            Self::Option(text) => write!(f, "option={text}"),
            Self::Command(text) => write!(f, "command={text}"),
        }
    }
}

impl FromStr for Again {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Self, ChangeError> {
        let wrong = |found: &str| ChangeError::new(text, found, EXAMPLES);
        let (key, value) = text.split_once('=').ok_or_else(|| wrong("it has no value"))?;
        let ssh = |key: &'static str| Self::Ssh {
            key,
            value: value.to_owned(),
        };
        let own = match key.trim() {
            "ipqos" => ssh("ipqos"),
            "cipher" => ssh("cipher"),
            "compression" => ssh("compression"),
            "option" => Self::Option(value.to_owned()),
            "command" => Self::Command(value.to_owned()),
            _ => {
                return text
                    .parse()
                    .map(Self::Socket)
                    .map_err(|error: ChangeError| error.among(EXAMPLES));
            }
        };
        if value.trim().is_empty() {
            return Err(wrong("it has no value"));
        }
        if matches!(&own, Self::Option(_) | Self::Command(_)) && shlex::split(value).is_none() {
            return Err(wrong("a quote is open in it"));
        }
        Ok(own)
    }
}

/// What may be typed.
const EXAMPLES: &str = "write ipqos=VALUE, cipher=NAME or compression=yes for ssh's programs, option='WORDS' for any program, command='COMMAND', or an \
     option of its sockets as for --try, such as receive-buffer='4 MiB'";

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        shlex::split(text).unwrap()
    }

    fn changed(change: &str, command: &str) -> Both {
        change.parse::<Again>().unwrap().of(&words(command)).unwrap()
    }

    #[test]
    fn what_is_typed_is_what_is_shown() {
        for text in [
            "ipqos=none",
            "cipher=aes128-gcm@openssh.com",
            "compression=yes",
            "option=-P 8",
            "command=scp -l 100 big host:",
            "receive-buffer=4 MiB",
            "congestion-control=bbr",
        ] {
            let change: Again = text.parse().unwrap();
            assert_eq!(change.to_string(), text);
            assert_eq!(
                change.socket().is_some(),
                text.contains("buffer") || text.contains("bbr")
            );
        }
    }

    #[test]
    fn options_reach_ssh_through_the_programs_that_run_it() {
        let scp = changed("ipqos=none", "/usr/bin/scp big host:");
        assert_eq!(
            scp.plain.words,
            words("/usr/bin/scp -o ControlPath=none big host:")
        );
        assert_eq!(
            scp.changed.words,
            words("/usr/bin/scp -o ControlPath=none -o IPQoS=none big host:")
        );
        let rsync = changed("cipher=aes128-ctr", "rsync -avze 'ssh -p 22' big host:");
        assert_eq!(
            rsync.changed.words,
            words("rsync -avze 'ssh -p 22 -o ControlPath=none -o Ciphers=aes128-ctr' big host:")
        );
        let rsync = changed("ipqos=none", "rsync --rsh=ssh -a big host:");
        assert_eq!(
            rsync.changed.words,
            words("rsync '--rsh=ssh -o ControlPath=none -o IPQoS=none' -a big host:")
        );
        let rsync = changed("ipqos=none", "rsync -a big host:");
        assert_eq!(rsync.changed.words, words("rsync -a big host:"));
        assert_eq!(
            rsync.changed.environment,
            Some(("RSYNC_RSH", "ssh -o ControlPath=none -o IPQoS=none".to_owned()))
        );
        let other: Again = "ipqos=none".parse().unwrap();
        let why = other.of(&words("restic backup")).unwrap_err();
        assert!(why.contains("restic") && why.contains("command='...'"), "{why}");
    }

    #[test]
    fn options_and_commands_are_split_as_a_shell_does() {
        let streams = changed("option=-P 8 -t '5'", "iperf3 -c host");
        assert_eq!(streams.changed.words, words("iperf3 -P 8 -t 5 -c host"));
        assert_eq!(streams.plain.words, words("iperf3 -c host"));
        let other = changed("command=curl -o /dev/null 'ftp://host/a b'", "scp big host:");
        assert_eq!(other.changed.words, ["curl", "-o", "/dev/null", "ftp://host/a b"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_may_be_written() {
        for (text, found) in [
            ("bbr", "has no value"),
            ("ipqos=", "has no value"),
            ("option='-P 8", "a quote is open"),
            ("window=1 MiB", "there is no change \"window\""),
            ("send-buffer=8 GiB", "1 GiB"),
        ] {
            let error = text.parse::<Again>().unwrap_err().to_string();
            assert!(error.contains(found), "{text}: {error}");
            assert!(error.contains("write ipqos=VALUE"), "{error}");
        }
    }
}
