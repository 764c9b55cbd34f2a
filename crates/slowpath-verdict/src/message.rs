//! What is said of a transfer: messages, each a key with typed arguments, and how the arguments read.
//!
//! Rules choose a message and fill in its arguments; they write no sentences. The sentences stand in the catalogues of
//! `slowpath-words`, one for each language with an entry for each key, and name their arguments, so that another language may
//! put them in another order. The macro [`messages!`] declares keys with their arguments. A test refuses a key whose
//! entry leaves an argument out or names one that it does not have.

use std::fmt;

use slowpath_facts::words;
#[doc(hidden)]
pub use slowpath_words::english;

/// Declares the messages of a crate: an enum `Message` with a variant for each key, and its English sentence as `Display`.
///
/// ```
/// use slowpath_verdict::message::{Share, Size};
/// slowpath_verdict::messages! {
///     "receiver-window.not.shrinks" Shrank { from: Size, to: Size };
/// }
/// let shrank = Message::Shrank { from: Size(65_535.0), to: Size(9_000.0) };
/// assert_eq!(shrank.to_string(), "the window shrank from 65.5 kB to 9.00 kB");
/// assert_eq!(shrank.key(), "receiver-window.not.shrinks");
/// ```
///
/// A key that stands twice does not compile:
///
/// ```compile_fail
/// slowpath_verdict::messages! {
///     "not.seen" Unseen {};
///     "not.seen" NotSeen {};
/// }
/// ```
#[macro_export]
macro_rules! messages {
    ($($(#[$note:meta])* $key:literal $name:ident { $($argument:ident: $kind:ty),* $(,)? };)+) => {
        /// A message: what is said, without the words.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Message {
            $(
                #[doc = concat!("`", $key, "` of the catalogues.")]
                $(#[$note])*
                $name {
                    $(#[doc = concat!("`", stringify!($argument), "` of the sentence.")] $argument: $kind,)*
                },
            )+
        }

        const _: () = assert!($crate::message::are_distinct(Message::KEYS), "a key stands twice");

        impl Message {
            /// The keys of all messages.
            pub const KEYS: &'static [&'static str] = &[$($key),+];

            /// The arguments of all messages, by key, in the order of [`KEYS`](Self::KEYS).
            pub const ARGUMENTS: &'static [&'static [&'static str]] = &[$(&[$(stringify!($argument)),*]),+];

            /// The stable name of what is said.
            pub const fn key(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $key,)+
                }
            }
        }

        impl std::fmt::Display for Message {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$name { $($argument),* } => f.write_str(&$crate::message::english(
                        $key,
                        &[$((stringify!($argument), $argument as &dyn std::fmt::Display)),*],
                    )),)+
                }
            }
        }
    };
}

/// Whether no key stands twice, asked when a catalogue is compiled.
#[doc(hidden)]
pub const fn are_distinct(keys: &[&str]) -> bool {
    let mut later = 1;
    while later < keys.len() {
        let mut earlier = 0;
        while earlier < later {
            if same(keys[earlier].as_bytes(), keys[later].as_bytes()) {
                return false;
            }
            earlier += 1;
        }
        later += 1;
    }
    true
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut place = 0;
    while place < one.len() {
        if one[place] != other[place] {
            return false;
        }
        place += 1;
    }
    true
}

/// Declares kinds of arguments that hold a number: what each is, and how it reads.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident($number:ty) reads $reads:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
        pub struct $name(pub $number);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let reads: fn($number) -> String = $reads;
                f.write_str(&reads(self.0))
            }
        }
    )+};
}

kinds! {
    /// A rate on the wire, bit/s.
    Rate(f64) reads words::bits;
    /// A rate of payload, byte/s.
    PayloadRate(f64) reads |rate| format!("{}/s", words::bytes(rate));
    /// A rate of payload, byte/s, in millions with two decimals.
    MegabyteRate(f64) reads |rate| format!("{:.2} MB/s", rate / 1e6);
    /// A rate of payload, byte/s, in thousands with one decimal.
    KilobyteRate(f64) reads |rate| format!("{:.1} kB/s", rate / 1e3);
    /// A rate of payload, byte/s, told in Mbit/s with four decimals.
    ExactRate(f64) reads |rate| format!("{:.4} Mbit/s", rate * 8.0 / 1e6);
    /// A size, bytes.
    Size(f64) reads words::bytes;
    /// A size, bytes, with every digit, in groups of three.
    Bytes(u64) reads grouped;
    /// A span of time, seconds.
    Span(f64) reads words::span;
    /// A span of time, seconds, in whole milliseconds.
    Milliseconds(f64) reads |seconds| format!("{:.0} ms", seconds * 1e3);
    /// A share of a whole, 0 to 1, with three digits.
    Share(f64) reads words::percent;
    /// A share of a whole, 0 to 1, with one decimal from one per cent on and two below.
    FineShare(f64) reads fine_percent;
    /// A share of a whole, 0 to 1, in whole per cent.
    RoundShare(f64) reads |share| format!("{:.0} %", share * 100.0);
    /// A number of things.
    Count(u64) reads |count| count.to_string();
    /// A number of things that was computed, rounded.
    About(f64) reads |count| format!("{count:.0}");
    /// A ratio, with two decimals.
    Ratio(f64) reads |ratio| format!("{ratio:.2}");
    /// A multiple, with one decimal.
    Times(f64) reads |times| format!("{times:.1}");
}

/// A word that no catalogue translates: the name of a host, an element or a variant, a limit's code, or text that somebody
/// else wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Name(pub String);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What any value is called, such as a limit by its code.
pub fn named(value: impl fmt::Display) -> Name {
    Name(value.to_string())
}

/// A message inside another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Part<M>(pub Box<M>);

impl<M> Part<M> {
    /// The message as an argument.
    pub fn of(message: M) -> Self {
        Self(Box::new(message))
    }
}

impl<M: fmt::Display> fmt::Display for Part<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Messages in a row inside another one.
#[derive(Debug, Clone, PartialEq)]
pub struct List<M>(pub Vec<M>);

impl<M: fmt::Display> fmt::Display for List<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, message) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            message.fmt(f)?;
        }
        Ok(())
    }
}

/// Messages in a row that contain commas themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Clauses<M>(pub Vec<M>);

impl<M: fmt::Display> fmt::Display for Clauses<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, message) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str("; ")?;
            }
            message.fmt(f)?;
        }
        Ok(())
    }
}

/// Digits in groups of three.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn fine_percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = if value >= 1.0 { 1 } else { 2 };
    format!("{value:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_read_as_their_kind() {
        assert_eq!(Bytes(2_500_000).to_string(), "2,500,000");
        assert_eq!(Bytes(999).to_string(), "999");
        assert_eq!(
            [FineShare(0.6), FineShare(0.001)].map(|share| share.to_string()),
            ["60.0 %", "0.10 %"]
        );
        assert_eq!(Milliseconds(0.0401).to_string(), "40 ms");
        assert_eq!(PayloadRate(1_500.0).to_string(), "1.50 kB/s");
        assert_eq!(named(3).to_string(), "3");
    }
}
