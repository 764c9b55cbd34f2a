//! How Japanese writes numbers with units.

/// A text with Japanese spelling of quantities: no space between a number and its unit, and seconds as 秒.
///
/// `12.9 s` becomes `12.9秒`, `50.0 Mbit/s` becomes `50.0Mbit/s`; other texts stay as they are.
pub fn tight(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut after_digit = false;
    // What is quoted stays as it was written.
    let mut quote = None;
    while let Some(c) = rest.chars().next() {
        if matches!(c, '"' | '`') && quote.is_none_or(|open| open == c) {
            quote = if quote.is_some() || !rest[1..].contains(c) {
                None
            } else {
                Some(c)
            };
        }
        if c == ' '
            && after_digit
            && quote.is_none()
            && let Some((unit, shown)) = unit(&rest[1..])
        {
            out.push_str(shown);
            rest = &rest[1 + unit..];
            after_digit = false;
            continue;
        }
        after_digit = c.is_ascii_digit();
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// The unit at the beginning of a text: its length, and how Japanese writes it.
fn unit(text: &str) -> Option<(usize, &'static str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphabetic() || matches!(c, '/' | '%' | 'µ')))
        .unwrap_or(text.len());
    UNITS
        .iter()
        .find(|(name, _)| *name == &text[..end])
        .map(|(name, shown)| (name.len(), *shown))
}

/// Units that follow a number, and how Japanese writes them.
const UNITS: &[(&str, &str)] = &[
    ("s", "秒"),
    ("ms", "ms"),
    ("us", "µs"),
    ("µs", "µs"),
    ("min", "分"),
    ("h", "時間"),
    ("%", "%"),
    ("ppm", "ppm"),
    ("B", "B"),
    ("bytes", "B"),
    ("byte", "B"),
    ("kB", "kB"),
    ("MB", "MB"),
    ("GB", "GB"),
    ("TB", "TB"),
    ("KiB", "KiB"),
    ("MiB", "MiB"),
    ("GiB", "GiB"),
    ("B/s", "B/s"),
    ("kB/s", "kB/s"),
    ("MB/s", "MB/s"),
    ("GB/s", "GB/s"),
    ("KiB/s", "KiB/s"),
    ("MiB/s", "MiB/s"),
    ("GiB/s", "GiB/s"),
    ("bit/s", "bit/s"),
    ("kbit/s", "kbit/s"),
    ("Mbit/s", "Mbit/s"),
    ("Gbit/s", "Gbit/s"),
    ("packets", "パケット"),
    ("packet", "パケット"),
    ("segments", "セグメント"),
    ("segment", "セグメント"),
    ("frames", "フレーム"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units_stand_close() {
        assert_eq!(tight("12.9 s"), "12.9秒");
        assert_eq!(tight("1,786 MB/s (up to 3.0 %)"), "1,786MB/s (up to 3.0%)");
        assert_eq!(tight("100 ms"), "100ms");
        assert_eq!(tight("variant 2 of 3"), "variant 2 of 3");
        assert_eq!(tight("10 spoons"), "10 spoons");
    }
}
