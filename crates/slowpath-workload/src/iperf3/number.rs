//! Numbers as the versions of iperf3 write them.

use serde_json::Value;

/// A number as iperf3 versions write it: -1 also appears as 2^64 - 1 and as 1.8446744073709552e19.
pub(super) fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64()?;
    Some(if number >= 9_223_372_036_854_775_808.0 {
        -1.0
    } else {
        number
    })
}

/// An integer with the leniency of [`number`]; what does not fit is an error.
pub(super) fn integer(value: &Value) -> Option<i64> {
    if let Some(exact) = value.as_i64() {
        return Some(exact);
    }
    let number = number(value)?;
    number.is_finite().then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_one_in_every_spelling() {
        for text in ["-1", "18446744073709551615", "1.8446744073709552e19", "-1.0"] {
            assert_eq!(integer(&serde_json::from_str(text).unwrap()), Some(-1), "{text}");
        }
        assert_eq!(
            integer(&serde_json::from_str("9007199254740993").unwrap()),
            Some(9_007_199_254_740_993)
        );
        assert_eq!(integer(&Value::Null), None);
    }
}
