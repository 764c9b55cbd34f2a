//! Targets as users write them, and the addresses behind their names.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// The parts of `USER:PASSWORD@HOST:PORT/PATH`; what is not there is empty or absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Address {
    /// User name.
    pub user: Option<String>,
    /// Password.
    pub password: Option<String>,
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: Option<u16>,
    /// What follows the slash after the host, without it.
    pub path: String,
}

/// A target that is not understood, or a host that is not found.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It does not have the parts that it should.
    #[error("reading the target \"{target}\": {problem}; write {form}")]
    Form {
        /// What the user wrote.
        target: String,
        /// What is wrong.
        problem: String,
        /// What it should look like.
        form: &'static str,
    },
    /// The host's name has no address.
    #[error("finding the address of {host}: {source}; check the spelling, or write its address")]
    Resolve {
        /// The host.
        host: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Address {
    /// Reads a target; `form` shows in messages what it should look like, for example `ftp://HOST/FILE`.
    ///
    /// # Errors
    /// [`AddressError::Form`].
    pub fn parse(target: &str, form: &'static str) -> Result<Self, AddressError> {
        let wrong = |problem: String| AddressError::Form {
            target: target.to_owned(),
            problem,
            form,
        };
        let scheme = form.split("://").next().unwrap_or_default();
        let rest = match target.split_once("://") {
            Some((own, rest)) if own == scheme => rest,
            Some((other, _)) => return Err(wrong(format!("\"{other}://\" belongs to another tool"))),
            None => target,
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, authority),
        };
        let (user, password) = match login.map(|login| login.split_once(':').unwrap_or((login, ""))) {
            None => (None, None),
            Some((user, "")) => (Some(user.to_owned()), None),
            Some((user, password)) => (Some(user.to_owned()), Some(password.to_owned())),
        };
        let (host, port) =
            split_port(place).ok_or_else(|| wrong(format!("\"{place}\" is no host with port")))?;
        if host.is_empty() || host.starts_with('-') {
            return Err(wrong("it names no host".to_owned()));
        }
        Ok(Self {
            user,
            password,
            host: host.to_owned(),
            port,
            path: path.to_owned(),
        })
    }

    /// The address of the host, with its port or `default`.
    ///
    /// # Errors
    /// [`AddressError::Resolve`].
    pub fn resolve(&self, default: u16) -> Result<SocketAddr, AddressError> {
        resolve(&self.host, self.port.unwrap_or(default))
    }
}

/// The first address of a host.
///
/// # Errors
/// [`AddressError::Resolve`].
pub fn resolve(host: &str, port: u16) -> Result<SocketAddr, AddressError> {
    resolve_all(host, port).map(|(first, _)| first)
}

/// The first address of a host, and the others: a program of its own may choose any of them.
pub(super) fn resolve_all(host: &str, port: u16) -> Result<(SocketAddr, Vec<SocketAddr>), AddressError> {
    let failed = |source| AddressError::Resolve {
        host: host.to_owned(),
        source,
    };
    let mut found = (host, port).to_socket_addrs().map_err(failed)?;
    let first = found.next();
    first
        .map(|first| (first, found.collect()))
        .ok_or_else(|| failed(io::Error::from(io::ErrorKind::NotFound)))
}

/// The address of a host without port, such as a ping's target.
///
/// # Errors
/// [`AddressError`]; a port or a path is refused.
pub fn host(target: &str, form: &'static str) -> Result<IpAddr, AddressError> {
    let address = match target.parse::<IpAddr>() {
        Ok(plain) => return Ok(plain),
        Err(_) => Address::parse(target, form)?,
    };
    if address.port.is_some() || !address.path.is_empty() || address.user.is_some() {
        return Err(AddressError::Form {
            target: target.to_owned(),
            problem: "only a host is wanted here".to_owned(),
            form,
        });
    }
    Ok(address.resolve(0)?.ip())
}

/// Host and port of `HOST`, `HOST:PORT`, `[IPV6]:PORT`, `[IPV6]` or a bare IPv6 address.
fn split_port(place: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        return match after.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None => after.is_empty().then_some((host, None)),
        };
    }
    match place.split_once(':') {
        Some((host, port)) if !port.contains(':') => Some((host, Some(port.parse().ok()?))),
        _ => Some((place, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_targets() {
        let all = Address::parse("ftp://me:secret@[::1]:2121/a/b c", "ftp://HOST/FILE").unwrap();
        assert_eq!(
            (
                all.user.as_deref(),
                all.password.as_deref(),
                all.host.as_str(),
                all.port,
                all.path.as_str()
            ),
            (Some("me"), Some("secret"), "::1", Some(2121), "a/b c")
        );
        for (target, host, port) in [
            ("127.0.0.1", "127.0.0.1", None),
            ("ftp://127.0.0.1:99", "127.0.0.1", Some(99)),
            ("ftp://me@example.net/", "example.net", None),
            ("::1", "::1", None),
            ("ftp://[fe80::1]", "fe80::1", None),
        ] {
            let read = Address::parse(target, "ftp://HOST/FILE").unwrap();
            assert_eq!((read.host.as_str(), read.port), (host, port), "{target}");
        }
        for wrong in [
            "http://x",
            "ftp://",
            "ftp://a:b",
            "ftp://a:70000",
            "ftp://[::1",
            "ftp:///x",
            "-oProxyCommand=x",
        ] {
            let error = Address::parse(wrong, "ftp://HOST/FILE").unwrap_err().to_string();
            assert!(error.contains("write ftp://HOST/FILE"), "{error}");
        }
    }

    #[test]
    fn hosts_alone() {
        assert_eq!(
            host("ping://127.0.0.1", "ping://HOST").unwrap(),
            "127.0.0.1".parse::<IpAddr>().unwrap()
        );
        assert_eq!(
            host("::1", "ping://HOST").unwrap(),
            "::1".parse::<IpAddr>().unwrap()
        );
        assert!(host("ping://127.0.0.1:7", "ping://HOST").is_err());
    }
}
