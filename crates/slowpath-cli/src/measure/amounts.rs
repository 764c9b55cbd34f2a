//! Amounts and rates as people write them: with units, or with the letters that iperf3 takes.

use slowpath::measure::iperf3::BurstRate;
use slowpath::measure::serve::Network;
use slowpath::{BitRate, ByteCount, Duration};

use crate::numbers::whole;

/// `100 MB`, `100 MiB`, or iperf3's `100M` (powers of 1024) and plain bytes.
pub(super) fn amount(text: &str) -> Result<ByteCount, String> {
    match letters(text, 1024) {
        Some(bytes) => Ok(ByteCount::new(bytes)),
        None => text
            .parse()
            .map_err(|error: slowpath::ParseError| error.to_string()),
    }
}

/// `100 Mbit/s`, or iperf3's `100M` (powers of 1000) and plain bit/s.
pub(super) fn rate(text: &str) -> Result<BitRate, String> {
    match letters(text, 1000) {
        Some(bits) => Ok(BitRate::new(bits)),
        None => text
            .parse()
            .map_err(|error: slowpath::ParseError| error.to_string()),
    }
}

/// A rate that may end in `/BURST`.
pub(super) fn burst_rate(text: &str) -> Result<BurstRate, String> {
    // "Mbit/s" has a slash too.
    let (plain, burst) = match text.rsplit_once('/') {
        Some((plain, burst)) if burst.parse::<u32>().is_ok() => {
            (plain, burst.parse().map_err(|_| "no burst".to_owned())?)
        }
        _ => (text, 0),
    };
    if burst > 1000 {
        return Err(format!("bursts of {burst}; iperf3 knows at most 1000"));
    }
    let rate = rate(plain)?;
    Ok(BurstRate {
        rate: (rate.bits_per_s() > 0).then_some(rate),
        burst,
    })
}

/// A span of time with its unit.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    text.parse()
        .map_err(|error: slowpath::ParseError| error.to_string())
}

/// The number of a port.
pub(crate) fn port() -> impl Fn(&str) -> Result<u16, String> + Clone + Send + Sync + 'static {
    whole(1, 65_535)
}

/// An address, alone or with the length of a prefix.
pub(super) fn network(text: &str) -> Result<Network, String> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let address: std::net::IpAddr = address.parse().map_err(|_| {
        format!("\"{address}\" is no address; write 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32")
    })?;
    let bits = if address.is_ipv6() { 128 } else { 32 };
    let prefix = match prefix {
        None => bits,
        Some(text) => text
            .parse()
            .ok()
            .filter(|prefix| *prefix <= bits)
            .ok_or_else(|| format!("\"/{text}\" is no prefix length; expected 0 to {bits}"))?,
    };
    Ok(Network { address, prefix })
}

/// A number with at most one letter of iperf3's behind it.
fn letters(text: &str, base: u64) -> Option<u64> {
    let text = text.trim();
    let (number, power) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1),
        (at, 'm' | 'M') => (&text[..at], 2),
        (at, 'g' | 'G') => (&text[..at], 3),
        (at, 't' | 'T') => (&text[..at], 4),
        _ => (text, 0),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(base.pow(power));
    }
    let (whole, fraction) = number.split_once('.')?;
    let whole: u64 = whole.parse().ok()?;
    let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction: u64 = fraction.parse().ok()?;
    let unit = base.pow(power);
    whole
        .checked_mul(unit)?
        .checked_add(fraction.checked_mul(unit)? / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_iperf3_and_units() {
        for (text, bytes) in [
            ("64K", 65_536),
            ("1.5M", 1_572_864),
            ("1400", 1400),
            ("64 kB", 64_000),
            ("1 MiB", 1 << 20),
        ] {
            assert_eq!(amount(text).unwrap().bytes(), bytes, "{text}");
        }
        for (text, bits) in [
            ("100M", 100_000_000),
            ("2.5g", 2_500_000_000),
            ("100 Mbit/s", 100_000_000),
            ("64000", 64_000),
        ] {
            assert_eq!(rate(text).unwrap().bits_per_s(), bits, "{text}");
        }
        for wrong in ["", "M", "1.2.3M", "ten", "1 MB/s", "99999999999T"] {
            assert!(amount(wrong).is_err() && rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bursts_and_unlimited() {
        let read = |text| burst_rate(text).map(|read| (read.rate.map(BitRate::bits_per_s), read.burst));
        assert_eq!(read("10M/5"), Ok((Some(10_000_000), 5)));
        assert_eq!(read("10 Mbit/s"), Ok((Some(10_000_000), 0)));
        assert_eq!(read("0"), Ok((None, 0)));
        assert!(read("10M/5000").is_err());
    }

    #[test]
    fn networks() {
        assert_eq!(network("192.0.2.1").unwrap().prefix, 32);
        assert_eq!(network("2001:db8::/32").unwrap().prefix, 32);
        for wrong in ["192.0.2.0/33", "example.net", "1.2.3.4/"] {
            assert!(network(wrong).is_err(), "{wrong}");
        }
    }
}
