//! Work of equal kind that a caller may do on several threads: this crate starts none.

use std::sync::OnceLock;

/// Calls a function with every number below a count, in any order, each once, and returns when all are done.
pub type Spread<'a> = &'a dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// One number after the other, here.
pub(crate) fn here(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(work);
}

/// What `work` makes of every number below `count`, in their order.
pub(crate) fn gather<T: Send + Sync>(
    spread: Spread<'_>,
    count: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let places: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    spread(count, &|number| {
        places[number].get_or_init(|| work(number));
    });
    // What a caller's `spread` left out is done here.
    let filled = places.into_iter().enumerate();
    filled
        .map(|(number, place)| place.into_inner().unwrap_or_else(|| work(number)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_numbers() {
        let backwards = |count: usize, work: &(dyn Fn(usize) + Sync)| (0..count).rev().for_each(work);
        let half = |count: usize, work: &(dyn Fn(usize) + Sync)| (0..count / 2).for_each(work);
        for spread in [&here as Spread<'_>, &backwards, &half] {
            assert_eq!(gather(spread, 5, |number| number * 2), [0, 2, 4, 6, 8]);
        }
    }
}
