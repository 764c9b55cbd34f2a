//! Numbers as people read them.

/// Bytes with a decimal unit: `14.9 kB`.
pub fn bytes(value: f64) -> String {
    scaled(value, "B")
}

/// A rate with a decimal unit: `1.25 Mbit/s`.
pub fn bits(value: f64) -> String {
    scaled(value, "bit/s")
}

/// A span of time: `98.5 ms`.
pub fn span(seconds: f64) -> String {
    if seconds >= 1.0 {
        format!("{} s", round3(seconds))
    } else if seconds >= 0.001 {
        format!("{} ms", round3(seconds * 1e3))
    } else {
        format!("{} µs", round3(seconds * 1e6))
    }
}

/// A share: `98.5 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", round3(share * 100.0))
}

fn scaled(value: f64, unit: &str) -> String {
    let (factor, prefix) = match value.abs() {
        size if size >= 1e9 => (1e9, "G"),
        size if size >= 1e6 => (1e6, "M"),
        size if size >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{} {prefix}{unit}", round3(value / factor))
}

/// Three significant digits.
fn round3(value: f64) -> String {
    let size = value.abs();
    if size >= 100.0 || size == 0.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else if size >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_three_digits() {
        assert_eq!(bytes(14_924.0), "14.9 kB");
        assert_eq!(bits(1_250_000.0), "1.25 Mbit/s");
        assert_eq!(span(0.0985), "98.5 ms");
        assert_eq!(percent(0.985), "98.5 %");
    }
}
