//! The names that a page calls: it makes room for a question, writes it there, and reads the answer in the same place.
//!
//! Nothing here is unsafe but the attribute that keeps a name: that no other function has the same one is seen at a glance, since the
//! program has these three.

#![expect(
    unsafe_code,
    reason = "a name that is kept for the page is an unsafe attribute; there is no unsafe block"
)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::question::answer_text;

/// The question, and then the answer.
static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn text() -> MutexGuard<'static, Vec<u8>> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a question of so many bytes of UTF-8, and says where.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn room(length: usize) -> *mut u8 {
    let mut text = text();
    text.clear();
    text.resize(length, 0);
    text.as_mut_ptr()
}

/// Answers the question in the room, and says how many bytes the answer has.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer() -> usize {
    let mut text = text();
    *text = answer_text(&String::from_utf8_lossy(&text)).into_bytes();
    text.len()
}

/// Where the answer begins.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn place() -> *const u8 {
    text().as_ptr()
}
