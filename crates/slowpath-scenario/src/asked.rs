//! What the reader of documents asks for, key by key. The reference and the schema for editors are made from it, so
//! neither can promise a key that is not read, nor leave one out.

use std::cell::RefCell;

/// How a key may be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// Whatever it is: other questions about the same key say more.
    Any,
    /// A string.
    Text,
    /// `true` or `false`.
    Flag,
    /// A whole number from the first to the second.
    Integer(u64, u64),
    /// A number with its unit, such as this one (quoted).
    Quantity(&'static str),
    /// One of these words.
    Choice(Vec<String>),
    /// A table.
    Table,
    /// A list.
    List,
    /// Nothing was written, and something must be.
    Needed,
}

/// One question of the reader: the dotted path of a key, and what may stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) form: Form,
}

/// Keeps what is asked, where somebody wants to know.
#[derive(Debug, Default)]
pub(crate) struct Questions(Option<RefCell<Vec<Asked>>>);

impl Questions {
    pub(crate) fn kept() -> Self {
        Self(Some(RefCell::default()))
    }

    /// Keeps a question; `path` and `form` are made only if somebody wants to know.
    pub(crate) fn ask(&self, what: impl FnOnce() -> (String, Form)) {
        if let Some(kept) = &self.0 {
            let (path, form) = what();
            kept.borrow_mut().push(Asked { path, form });
        }
    }

    pub(crate) fn into_asked(self) -> Vec<Asked> {
        self.0.map(RefCell::into_inner).unwrap_or_default()
    }
}
