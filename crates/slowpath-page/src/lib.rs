//! A fitted transfer, simulated again where its report is read.
//!
//! This crate opens no files, reads no clock and starts no threads: a question goes in as text and the answer comes out as text. It is
//! compiled twice. As a library it is what tests compare with; as a program for WebAssembly, without imports, it lies in the
//! report and answers there ([`PROGRAM`]). Both are one source on one simulator without input and output, so equal
//! questions have equal answers, bit for bit.
//!
//! The most important type is [`Question`]; [`answer`] answers it.
//!
//! * [`question`]: what is asked and what comes back. Start here.
//! * `exports`: the three names that a page calls, in the program alone.

#![deny(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(target_arch = "wasm32")]
mod exports;
pub mod question;

pub use question::{Answer, Counted, Question, QuestionError, answer, answer_text};

#[cfg(not(target_arch = "wasm32"))]
include!(concat!(env!("OUT_DIR"), "/program.rs"));
