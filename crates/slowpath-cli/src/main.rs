//! The `slowpath` command: arguments, terminal output, exit codes, and nothing else.

#![forbid(unsafe_code)]

fn main() {}
