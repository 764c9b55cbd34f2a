//! Who may ask: this machine's own browser, at the address that was printed.
//!
//! The page runs programs and reads files, so three things are asked of each request. Its `Host` is this page's, so that
//! a name which somebody else lets point to loopback is refused (DNS rebinding). Its `Origin`, where there is one, is this page's, so
//! that no other page may ask in the name of the browser. And it carries the word of this history, in a cookie which scripts cannot read
//! and which other sites' requests do not take along, so that no other user of the machine may ask either.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use crate::system;

/// What a request must show.
#[derive(Debug)]
pub struct Access {
    port: u16,
    token: String,
}

/// Why a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It names another host.
    Host,
    /// It comes from another page.
    Origin,
    /// It does not carry the word.
    Token,
}

impl Refused {
    /// For the reader.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Host => "This request names another host. Open the address that `slowpath ui` printed.",
            Self::Origin => "This request comes from another page, and only this one may ask.",
            Self::Token => {
                "Open the address that `slowpath ui` printed, with all that stands behind the question mark."
            }
        }
    }
}

impl Access {
    /// For a page at this port of loopback.
    pub const fn new(port: u16, token: String) -> Self {
        Self { port, token }
    }

    /// The address to be opened in a browser.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// The name of the cookie; cookies do not know ports, and several pages may be open.
    fn cookie(&self) -> String {
        format!("slowpath-{}", self.port)
    }

    /// What the browser is told to keep, where `token` is right.
    pub fn welcome(&self, token: &str) -> Option<String> {
        let cookie = self.cookie();
        self.is_token(token)
            .then(|| format!("{cookie}={token}; Path=/; HttpOnly; SameSite=Strict"))
    }

    /// Whether a request with these headers comes from this page's own address.
    ///
    /// # Errors
    /// Why it does not.
    pub fn admit(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), Refused> {
        let port = self.port;
        let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !host.is_some_and(|host| names.iter().any(|name| name == host)) {
            return Err(Refused::Host);
        }
        let own = |origin: &str| names.iter().any(|name| origin == format!("http://{name}"));
        if !origin.is_none_or(own) {
            return Err(Refused::Origin);
        }
        Ok(())
    }

    /// Whether the cookies of a request hold the word.
    ///
    /// # Errors
    /// [`Refused::Token`].
    pub fn know(&self, cookies: Option<&str>) -> Result<(), Refused> {
        let name = self.cookie();
        let held = cookies
            .into_iter()
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(other, value)| other == name && self.is_token(value));
        if held { Ok(()) } else { Err(Refused::Token) }
    }

    /// Whether this is the word, in a time that does not depend on how much of it is right.
    fn is_token(&self, word: &str) -> bool {
        let pairs = self.token.bytes().zip(word.bytes());
        let differs = pairs.fold(0, |differs, (own, other)| differs | (own ^ other));
        self.token.len() == word.len() && differs == 0
    }
}

/// The word of a history: made once, so that an open page goes on after the program was started again.
///
/// # Errors
/// What the system said to the file or to the random numbers.
pub fn token(folder: &Path) -> io::Result<String> {
    let path = folder.join("token");
    match fs::read_to_string(&path) {
        Ok(text) if is_token(text.trim()) => return Ok(text.trim().to_owned()),
        Ok(_) => fs::remove_file(&path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut random = [0; TOKEN_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let token = random.iter().fold(String::new(), |mut token, byte| {
        let _ = write!(token, "{byte:02x}");
        token
    });
    let mut file = system::private(fs::OpenOptions::new().write(true).create_new(true)).open(&path)?;
    file.write_all(token.as_bytes())?;
    Ok(token)
}

/// Whether a text may be such a word.
fn is_token(text: &str) -> bool {
    text.len() == 2 * TOKEN_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Length of the word; 128 bits cannot be guessed.
const TOKEN_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "00112233445566778899aabbccddeeff";

    fn access() -> Access {
        Access::new(8585, TOKEN.to_owned())
    }

    #[test]
    fn only_this_pages_own_address_may_ask() {
        let access = access();
        for (host, origin, expected) in [
            (Some("127.0.0.1:8585"), None, Ok(())),
            (Some("localhost:8585"), Some("http://localhost:8585"), Ok(())),
            (Some("127.0.0.1:8585"), Some("http://127.0.0.1:8585"), Ok(())),
            (None, None, Err(Refused::Host)),
            (Some("127.0.0.1"), None, Err(Refused::Host)),
            (Some("127.0.0.1:8586"), None, Err(Refused::Host)),
            (Some("rebound.example:8585"), None, Err(Refused::Host)),
            (
                Some("127.0.0.1:8585"),
                Some("https://127.0.0.1:8585"),
                Err(Refused::Origin),
            ),
            (
                Some("127.0.0.1:8585"),
                Some("http://127.0.0.1:8080"),
                Err(Refused::Origin),
            ),
            (Some("127.0.0.1:8585"), Some("null"), Err(Refused::Origin)),
            (
                Some("127.0.0.1:8585"),
                Some("https://evil.example"),
                Err(Refused::Origin),
            ),
        ] {
            assert_eq!(access.admit(host, origin), expected, "{host:?} {origin:?}");
        }
    }

    #[test]
    fn only_the_word_of_this_history_lets_in() {
        let access = access();
        let cookie = access.welcome(TOKEN).unwrap();
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
            "{cookie}"
        );
        let kept = cookie.split(';').next().unwrap();
        assert_eq!(access.know(Some(kept)), Ok(()));
        assert_eq!(access.know(Some(&format!("other=1; {kept}; more=2"))), Ok(()));
        for wrong in [
            None,
            Some(""),
            Some("slowpath-8585="),
            Some("slowpath-8585=00"),
            Some("slowpath-8586=00112233445566778899aabbccddeeff"),
            Some("slowpath-8585=00112233445566778899aabbccddeef0"),
        ] {
            assert_eq!(access.know(wrong), Err(Refused::Token), "{wrong:?}");
        }
        assert_eq!(access.welcome(""), None);
    }
}
