//! Numbers as people type them.

/// Reads a whole number from `least` to `most`.
pub(crate) fn whole<T>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: TryFrom<u64>,
{
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            if most == u64::MAX {
                return format!("that is no whole number; write one such as {}", least.max(1));
            }
            format!("write a whole number from {least} to {most}")
        })
    }
}

/// Reads the number of a seed, or any other that has no bounds.
pub(crate) fn any() -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    whole(0, u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_bounds_is_told_its_bounds() {
        let read = whole::<u32>(1, 10);
        assert_eq!(read("10"), Ok(10));
        for wrong in ["0", "11", "x", "", "-1", "1.5"] {
            assert_eq!(read(wrong).unwrap_err(), "write a whole number from 1 to 10");
        }
        assert!(any()("x").unwrap_err().contains("no whole number"));
    }
}
