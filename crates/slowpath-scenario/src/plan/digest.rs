//! A digest that names a plan. It guards against mistakes, not against forgers.

use serde::Serialize;

/// The digest of a value's JSON form: FNV-1a with 128 bits (Fowler, Noll, Vo), in hexadecimal.
pub(super) fn of<T: Serialize>(value: &T) -> String {
    // A plan holds only maps with text keys, so its JSON form always exists.
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    format!("{:032x}", fnv1a(&bytes))
}

/// A seed for one purpose, from the experiment's seed and what names the purpose.
pub(super) fn seed(base: u64, parts: &[&str]) -> u64 {
    let mut bytes = base.to_le_bytes().to_vec();
    for part in parts {
        bytes.extend_from_slice(part.as_bytes());
        bytes.push(0);
    }
    let hash = fnv1a(&bytes);
    u64::try_from((hash >> 64) ^ (hash & u128::from(u64::MAX))).unwrap_or(0)
}

fn fnv1a(bytes: &[u8]) -> u128 {
    bytes.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    })
}

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_and_seeds_never_change() {
        assert_eq!(fnv1a(b""), OFFSET);
        assert_eq!(fnv1a(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_ne!(seed(1, &["a", "b"]), seed(1, &["ab", ""]));
        assert_ne!(seed(1, &["a"]), seed(2, &["a"]));
    }
}
