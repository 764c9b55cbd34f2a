//! Numbers as people read them.

/// A rate of application bytes in decimal units, three to four significant digits: `151.5 kB/s`.
pub fn byte_rate(value: f64) -> String {
    let (scaled, prefix) = scale(value);
    format!("{} {prefix}B/s", significant(scaled))
}

/// A rate of bits in decimal units: `1.25 Mbit/s`.
pub fn bit_rate(value: f64) -> String {
    let (scaled, prefix) = scale(value);
    format!("{} {prefix}bit/s", significant(scaled))
}

/// The unit in which a document's rates are shown: that of the published figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateUnit {
    /// Application bytes per second, decimal prefixes.
    #[default]
    Bytes,
    /// Application bits per second, decimal prefixes.
    Bits,
}

impl RateUnit {
    /// A rate given in bytes per second, in this unit.
    pub fn show(self, byte_per_s: f64) -> String {
        match self {
            Self::Bytes => byte_rate(byte_per_s),
            Self::Bits => bit_rate(byte_per_s * 8.0),
        }
    }
}

/// A number of bytes with thousands separated: `52,428,800 B`.
pub fn bytes(value: f64) -> String {
    format!("{} B", grouped(value, 0))
}

/// A span of time in the unit that suits it: `345.6 s`, `99.2 ms`, `12 µs`.
pub fn seconds(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 1.0 || magnitude == 0.0 {
        format!("{} s", significant(value))
    } else if magnitude >= 1e-3 {
        format!("{} ms", significant(value * 1e3))
    } else {
        format!("{} µs", significant(value * 1e6))
    }
}

/// A share as per cent: `0.01 %`, `97 %`.
pub fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    let text = if value == 0.0 {
        "0".to_owned()
    } else if value.abs() >= 10.0 {
        format!("{value:.0}")
    } else if value.abs() >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    };
    format!("{text} %")
}

/// A share of lost packets: as [`percent`], with a decimal also where it is large, since a point more or less counts.
pub fn loss(fraction: f64) -> String {
    if fraction >= 0.1 {
        format!("{:.1} %", fraction * 100.0)
    } else {
        percent(fraction)
    }
}

/// A value with the unit that a document spells out (`byte/s`, `bit/s`, `byte`, `s`, `fraction`).
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "byte/s" => byte_rate(value),
        "bit/s" => bit_rate(value),
        "byte" => bytes(value),
        "s" => seconds(value),
        "fraction" => loss(value),
        "packet" => format!("{} packets", grouped(value, 0)),
        "" => significant(value),
        other => format!("{} {other}", significant(value)),
    }
}

/// About four significant digits, thousands separated: `1,234`, `151.5`, `15.15`, `0.0123`.
pub fn significant(value: f64) -> String {
    // The sum of nothing is -0.
    let value = value + 0.0;
    let magnitude = value.abs();
    if !value.is_finite() {
        "-".to_owned()
    } else if magnitude >= 1000.0 {
        grouped(value, 0)
    } else if magnitude >= 100.0 {
        trim_zeros(&format!("{value:.1}"))
    } else if magnitude >= 10.0 {
        trim_zeros(&format!("{value:.2}"))
    } else if magnitude >= 1.0 || magnitude == 0.0 {
        trim_zeros(&format!("{value:.3}"))
    } else {
        trim_zeros(&format!("{value:.4}"))
    }
}

/// A number with thousands separated by commas and a fixed number of decimals.
pub fn grouped(value: f64, decimals: usize) -> String {
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = plain
        .split_once('.')
        .map_or((plain.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::with_capacity(plain.len() + plain.len() / 3 + 1);
    if value < 0.0 && plain.bytes().any(|b| b.is_ascii_digit() && b != b'0') {
        out.push('-');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn scale(value: f64) -> (f64, &'static str) {
    let magnitude = value.abs();
    if magnitude >= 1e9 {
        (value / 1e9, "G")
    } else if magnitude >= 1e6 {
        (value / 1e6, "M")
    } else if magnitude >= 1e3 {
        (value / 1e3, "k")
    } else {
        (value, "")
    }
}

fn trim_zeros(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_take_the_unit_that_suits() {
        for (value, text) in [
            (151_542.0, "151.5 kB/s"),
            (1_611_000.0, "1.611 MB/s"),
            (86_948.0, "86.95 kB/s"),
            (999.0, "999 B/s"),
            (0.0, "0 B/s"),
            (6_027_081.0, "6.027 MB/s"),
        ] {
            assert_eq!(byte_rate(value), text);
        }
        assert_eq!(bit_rate(1_250_000.0), "1.25 Mbit/s");
        assert_eq!(bit_rate(50e6), "50 Mbit/s");
    }

    #[test]
    fn times_and_shares() {
        assert_eq!(seconds(345.97), "346 s");
        assert_eq!(seconds(0.1), "100 ms");
        assert_eq!(seconds(0.000_012), "12 µs");
        assert_eq!(percent(0.0001), "0.01 %");
        assert_eq!(percent(0.97), "97 %");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(52_428_800.0, 0), "52,428,800");
        assert_eq!(grouped(-1234.5, 1), "-1,234.5");
        assert_eq!(grouped(-0.2, 0), "0");
        assert_eq!(grouped(999.0, 0), "999");
    }
}
