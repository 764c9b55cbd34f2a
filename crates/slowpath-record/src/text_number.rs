//! Numbers of 64 bits as text in JSON: readers such as jq and JavaScript round what has more than 53 bits. Read from text and,
//! for documents of before, from numbers.

use serde::{Deserialize, Deserializer, Serializer, de};

/// Writes the digits as a string.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Reads a string of digits or a number.
///
/// # Errors
/// Anything else.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    match Either::deserialize(deserializer)? {
        Either::Number(value) => Ok(value),
        Either::Text(text) => text.parse().map_err(de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Seeded {
        #[serde(with = "super")]
        seed: u64,
    }

    #[test]
    fn every_digit_survives() {
        let seeded = Seeded {
            seed: 9_007_199_254_740_993,
        };
        let text = serde_json::to_string(&seeded).unwrap();
        assert_eq!(text, r#"{"seed":"9007199254740993"}"#);
        for text in [text.as_str(), r#"{"seed":9007199254740993}"#] {
            assert_eq!(serde_json::from_str::<Seeded>(text).unwrap(), seeded);
        }
        assert!(serde_json::from_str::<Seeded>(r#"{"seed":"seven"}"#).is_err());
        assert!(serde_json::from_str::<Seeded>(r#"{"seed":-1}"#).is_err());
    }
}
