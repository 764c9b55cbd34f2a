//! Why cells of the twin miss: one sentence each, with the measurement that shows it.

/// What is known about the cell called `name`.
pub fn reason(name: &str) -> Option<&'static str> {
    EXPLAINED
        .iter()
        .find(|(cells, _)| cells.contains(&name))
        .map(|(_, why)| *why)
}

/// Cells with the same cause, and the cause.
const EXPLAINED: &[(&[&str], &str)] = &[];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standing::cells::{self, Cell};

    #[test]
    fn only_cells_of_the_list_are_explained() {
        let names: Vec<String> = cells::all().iter().map(Cell::name).collect();
        for (explained, why) in EXPLAINED {
            assert!(why.ends_with('.'), "{why}");
            for name in *explained {
                assert!(names.iter().any(|known| known == name), "{name}");
            }
        }
    }
}
