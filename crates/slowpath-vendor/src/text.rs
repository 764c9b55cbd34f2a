//! Bytes to text, text to words, words to numbers.

use serde::{Deserialize, Serialize};

/// How the bytes of a configuration were decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// UTF-8, of which ASCII is a part.
    Utf8,
    /// Shift JIS, in which RTX routers hand out their configuration.
    ShiftJis,
    /// Neither: bytes that do not decode are shown as replacement characters.
    Mixed,
}

/// The text of a configuration: UTF-8 if it is valid as such, otherwise Shift JIS.
pub fn decode(bytes: &[u8]) -> (String, Encoding) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.to_owned(), Encoding::Utf8);
    }
    let (text, _, errors) = encoding_rs::SHIFT_JIS.decode(bytes);
    if errors {
        (String::from_utf8_lossy(bytes).into_owned(), Encoding::Mixed)
    } else {
        (text.into_owned(), Encoding::ShiftJis)
    }
}

/// The words of a line, with quotes and backslashes taken away as RTX and shells do.
///
/// A quote that is not closed goes to the end of the line.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (_, '\\') => word.get_or_insert_default().push(chars.next().unwrap_or('\\')),
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A whole number in decimal.
pub(crate) fn number<T: std::str::FromStr>(word: &str) -> Option<T> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        word.parse().ok()
    } else {
        None
    }
}

/// A rate with a decimal multiple: `15m`, `64k`, `1g`, or bare bits per second.
pub(crate) fn rate(word: &str) -> Option<u64> {
    let lower = word.to_ascii_lowercase();
    let (digits, scale) = match lower.chars().last()? {
        'k' => (&lower[..lower.len() - 1], 1_000),
        'm' => (&lower[..lower.len() - 1], 1_000_000),
        'g' => (&lower[..lower.len() - 1], 1_000_000_000),
        _ => (lower.as_str(), 1),
    };
    if let Some((whole, fraction)) = digits.split_once('.') {
        let places = u32::try_from(fraction.len())
            .ok()
            .filter(|places| (1..=9).contains(places))?;
        let whole: u64 = number(whole)?;
        let part: u64 = number(fraction)?;
        let part = part.checked_mul(scale)? / 10_u64.checked_pow(places)?;
        return whole.checked_mul(scale)?.checked_add(part);
    }
    number::<u64>(digits)?.checked_mul(scale)
}

/// An amount with a binary multiple, as OpenSSH and tc write it: `1G`, `512K`, or bare bytes.
pub(crate) fn binary(word: &str) -> Option<u64> {
    let lower = word.to_ascii_lowercase();
    let (digits, shift) = match lower.as_bytes().last()? {
        b'k' => (&lower[..lower.len() - 1], 10),
        b'm' => (&lower[..lower.len() - 1], 20),
        b'g' => (&lower[..lower.len() - 1], 30),
        _ => (lower.as_str(), 0),
    };
    number::<u64>(digits)?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_jis_is_told_from_utf8() {
        let (text, encoding) = decode("description lan1 回線".as_bytes());
        assert_eq!(
            (text.as_str(), encoding),
            ("description lan1 回線", Encoding::Utf8)
        );
        let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode("description lan1 回線");
        let (text, encoding) = decode(&bytes);
        assert_eq!(
            (text.as_str(), encoding),
            ("description lan1 回線", Encoding::ShiftJis)
        );
        assert_eq!(decode(b"a\xff\xfe\xffb").1, Encoding::Mixed);
        assert_eq!(decode(b"\xef\xbb\xbfip").0, "ip");
    }

    #[test]
    fn words_respect_quotes_and_backslashes() {
        assert_eq!(words("  a  \"b c\" d\\ e 'f\"g' "), ["a", "b c", "d e", "f\"g"]);
        assert_eq!(words("a \"\" b"), ["a", "", "b"]);
        assert_eq!(words("a \"b c"), ["a", "b c"]);
        assert_eq!(words("x\\"), ["x\\"]);
        assert!(words("   ").is_empty());
    }

    #[test]
    fn rates_take_decimal_multiples() {
        for (word, bits) in [
            ("15m", 15_000_000),
            ("64K", 64_000),
            ("1g", 1_000_000_000),
            ("800", 800),
            ("1.5m", 1_500_000),
        ] {
            assert_eq!(rate(word), Some(bits), "{word}");
        }
        for word in ["", "m", "x15m", "-1", "1.m", "99999999999999999999g", "é"] {
            assert_eq!(rate(word), None, "{word}");
        }
    }
}
