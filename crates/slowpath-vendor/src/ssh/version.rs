//! OpenSSH's versions and who packaged them.

/// A version of OpenSSH. Without one, the newest rules are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Version {
    /// Major and minor number, such as (9, 2).
    pub release: Option<(u32, u32)>,
    /// Whose package it is.
    pub packager: Packager,
}

/// Who packaged an OpenSSH: some change the default marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Packager {
    /// OpenSSH as released, or by someone who leaves the marks alone.
    #[default]
    Upstream,
    /// Debian and its kin (Ubuntu, Mint): back to lowdelay and throughput.
    Debian,
    /// openSUSE and SLE: back to lowdelay and throughput.
    Suse,
}

impl Version {
    /// Reads what `ssh -V` prints, such as `OpenSSH_9.2p1 Debian-2+deb12u10`.
    pub fn parse(text: &str) -> Option<Self> {
        let start = text.find("OpenSSH_")? + "OpenSSH_".len();
        let rest = &text[start..];
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let (major, minor) = rest[..end].split_once('.')?;
        let minor = minor.split('.').next().unwrap_or(minor);
        let release = (major.parse().ok()?, minor.parse().ok()?);
        let lower = text.to_lowercase();
        let packager = if ["debian", "ubuntu", "mint", "raspbian"]
            .iter()
            .any(|name| lower.contains(name))
        {
            Packager::Debian
        } else if lower.contains("suse") {
            Packager::Suse
        } else {
            Packager::Upstream
        };
        Some(Self {
            release: Some(release),
            packager,
        })
    }

    /// Whether this is `major.minor` or later; true when nobody says.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        self.release.is_none_or(|release| release >= (major, minor))
    }

    /// Whether sshd takes the last `IPQoS` of its file; from 10.3 it takes the first.
    pub fn last_ip_qos_wins(&self) -> bool {
        !self.at_least(10, 3)
    }
}
