//! Repository checks.

fn main() {}
