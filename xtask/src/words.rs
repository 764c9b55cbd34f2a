//! What a crate's sources may not name: a printed line, a float, a hash map, a packet, a limit.

use std::path::Path;

use syn::visit::Visit;

use super::tree::Tree;

/// A word that some crates may not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Output on a terminal: `println!` and its like, the standard streams (ARCHITECTURE.md, invariant 13).
    Print,
    /// `f32`, `f64` and literals with a point (invariant 4).
    Float,
    /// `HashMap` and `HashSet`, whose order differs from run to run (invariant 4).
    Hash,
    /// A packet, or what takes packets (invariant 8).
    Packet,
    /// A limit, a verdict, or a limit's code as text (invariant 8).
    Limit,
}

impl Word {
    const fn cure(self) -> &'static str {
        match self {
            Self::Print => "libraries return values or write to an `io::Write`; only slowpath-cli prints",
            Self::Float => {
                "integers alone decide what happens to a packet: equal plans must give equal runs anywhere"
            }
            Self::Hash => {
                "the order of a hash map may show: take a BTreeMap, or name the file in xtask/src/words.rs"
            }
            Self::Packet => "a verdict is made from facts: measure it in slowpath-facts",
            Self::Limit => "facts do not judge: what it means for a verdict belongs into slowpath-verdict",
        }
    }
}

/// The words that the crate `name` may not use.
pub(crate) fn refused(name: &str, sans_io: bool) -> Vec<Word> {
    let mut words = Vec::new();
    if name != PRINTS {
        words.push(Word::Print);
    }
    if name == "slowpath-path" {
        words.push(Word::Float);
    }
    if sans_io {
        words.push(Word::Hash);
    }
    if name == "slowpath-verdict" {
        words.push(Word::Packet);
    }
    if name == "slowpath-facts" {
        words.push(Word::Limit);
    }
    words
}

/// Uses of the refused words in a crate's files, tests left out, as sentences.
pub(crate) fn faults(tree: &Tree, refused: &[Word], base: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, file) in &tree.files {
        let shown = path.strip_prefix(base).unwrap_or(path).display().to_string();
        let mut found = Found(Vec::new());
        found.visit_file(file);
        let lookup = LOOKED_UP_ONLY.iter().any(|(file, _)| shown == *file);
        if lookup && !found.0.iter().any(|(word, ..)| *word == Word::Hash) {
            faults.push(format!(
                "{shown} names no hash map any more; take it off the list in xtask/src/words.rs"
            ));
        }
        for (word, line, text) in found.0 {
            if refused.contains(&word) && !(word == Word::Hash && lookup) {
                faults.push(format!("{shown}:{line}: `{text}`: {}", word.cure()));
            }
        }
    }
    faults
}

/// Each use found: what, in which line, as written.
struct Found(Vec<(Word, usize, String)>);

impl Found {
    fn name(&mut self, span: proc_macro2::Span, name: &str) {
        let word = match name {
            "f32" | "f64" => Word::Float,
            "HashMap" | "HashSet" => Word::Hash,
            _ if PACKETS.contains(&name) => Word::Packet,
            _ if JUDGEMENTS.contains(&name) => Word::Limit,
            _ => return,
        };
        self.0.push((word, span.start().line, name.to_owned()));
    }

    /// A string, which may be the code of a limit.
    fn text(&mut self, span: proc_macro2::Span, text: &str) {
        if CODES.contains(&text) {
            self.0.push((Word::Limit, span.start().line, text.to_owned()));
        }
    }

    /// `stdout()` and `stderr()`, however they were imported; what another type calls so is not meant.
    fn called(&mut self, path: &syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if let ["stdout" | "stderr"] | [.., "io", "stdout" | "stderr"] = names[..] {
            self.0.push((
                Word::Print,
                path.segments[0].ident.span().start().line,
                names.join("::"),
            ));
        }
    }

    /// Words among tokens that are no syntax tree: the arguments of a macro, the body of a `macro_rules!`.
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        let mut before: Option<proc_macro2::Ident> = None;
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => self.tokens(group.stream()),
                proc_macro2::TokenTree::Ident(name) => {
                    self.name(name.span(), &name.to_string());
                    before = Some(name);
                    continue;
                }
                proc_macro2::TokenTree::Punct(mark) => {
                    if mark.as_char() == '!'
                        && let Some(name) = &before
                    {
                        self.printed(name);
                    }
                }
                proc_macro2::TokenTree::Literal(text) => {
                    self.text(text.span(), text.to_string().trim_matches('"'));
                }
            }
            before = None;
        }
    }

    fn printed(&mut self, name: &proc_macro2::Ident) {
        if PRINTING.iter().any(|printing| name == printing) {
            self.0
                .push((Word::Print, name.span().start().line, format!("{name}!")));
        }
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        self.name(segment.ident.span(), &segment.ident.to_string());
        syn::visit::visit_path_segment(self, segment);
    }

    fn visit_use_name(&mut self, name: &'ast syn::UseName) {
        self.name(name.ident.span(), &name.ident.to_string());
    }

    fn visit_use_rename(&mut self, rename: &'ast syn::UseRename) {
        self.name(rename.ident.span(), &rename.ident.to_string());
    }

    fn visit_lit_float(&mut self, literal: &'ast syn::LitFloat) {
        self.0
            .push((Word::Float, literal.span().start().line, literal.to_string()));
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.text(literal.span(), &literal.value());
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func {
            self.called(&function.path);
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if let Some(last) = called.path.segments.last() {
            self.printed(&last.ident);
        }
        self.tokens(called.tokens.clone());
        // The path is visited as any other; the tokens were looked at above.
        self.visit_path(&called.path);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {
        // Documentation may speak of anything.
    }
}

/// Packets, and what takes or numbers them.
const PACKETS: &[&str] = &[
    "slowpath_packet",
    "slowpath_record",
    "slowpath_capture",
    "Analyzer",
    "TcpPacket",
    "TcpFlags",
    "Conversations",
];

/// What a verdict is made of.
const JUDGEMENTS: &[&str] = &["slowpath_verdict", "Limit", "Verdict", "Finding"];

/// The codes of limits, but for those that are everyday words of facts too (`reordering`, `unknown`).
const CODES: &[&str] = &[
    "receiver-window",
    "receiver-application",
    "sender-application",
    "send-buffer",
    "protocol-window",
    "bottleneck-bandwidth",
    "shared-bottleneck",
    "policed",
    "random-loss",
    "ecn-congestion",
    "dscp-treatment",
    "device-limit",
    "host-cpu",
    "mtu-black-hole",
    "slow-start",
    "capture-loss",
];

/// The crate that prints.
const PRINTS: &str = "slowpath-cli";

/// Macros that print.
const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// Files of sans-IO crates that may hold a hash map, and why its order cannot show.
const LOOKED_UP_ONLY: &[(&str, &str)] = &[
    (
        "crates/slowpath-endpoint/src/system.rs",
        "which connection a segment belongs to: looked up only; connections themselves are walked in a BTreeMap",
    ),
    (
        "crates/slowpath-record/src/packets.rs",
        "which number a conversation has: looked up only; the conversations themselves are a Vec in order of appearance",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn found(source: &str, refused: &[Word]) -> Vec<String> {
        let crate_ = Fixture::new(&[("lib.rs", source)]);
        faults(&Tree::read(&crate_.root()), refused, crate_.folder())
    }

    #[test]
    fn a_printed_line_in_a_library_is_refused() {
        for printed in [
            "pub fn f() { println!(\"x\"); }",
            "pub fn f() { std::eprint!(\"x\"); }",
            "pub fn f(x: u8) -> u8 { match x { 0 => dbg!(x), _ => x } }",
            "macro_rules! say { () => { println!(\"x\") } }",
            "pub fn f() { let _ = std::io::Write::write(&mut std::io::stdout(), b\"x\"); }",
            "use std::io::stderr; pub fn f() { drop(stderr()); }",
        ] {
            let faults = found(printed, &[Word::Print]);
            assert_eq!(faults.len(), 1, "{printed}: {faults:?}");
            assert!(faults[0].starts_with("lib.rs:1: "), "{faults:?}");
        }
        assert_eq!(
            found("pub fn f() { println!(\"x\"); }", &refused("slowpath-cli", false)),
            [""; 0]
        );
    }

    #[test]
    fn what_does_not_print_passes() {
        for quiet in [
            "/// `println!` would be wrong here.\npub fn f(out: &mut dyn std::io::Write) { let _ = writeln!(out, \"x\"); }",
            "pub fn f(child: &Child) { child.stdout(); } pub struct Child; impl Child { pub fn stdout(&self) {} }",
            "#[cfg(test)] mod tests { #[test] fn f() { println!(\"skipped: f: why\"); } }",
        ] {
            assert_eq!(found(quiet, &refused("slowpath-lab", false)), [""; 0], "{quiet}");
        }
    }

    #[test]
    fn a_float_in_an_elements_state_is_refused() {
        for float in [
            "pub struct Loss { rate: f64 }",
            "pub enum Loss { Random(f32) }",
            "pub struct Loss { steps: Vec<(u64, f64)> }",
            "pub fn lost(draw: u64) -> bool { draw as u8 as u64 > 2.5_f64 as u64 }",
        ] {
            assert!(
                !found(float, &refused("slowpath-path", true)).is_empty(),
                "{float}"
            );
        }
        let tested = "pub struct Loss { rate: u64 } #[cfg(test)] mod tests { const MEAN: f64 = 0.5; }";
        assert_eq!(found(tested, &refused("slowpath-path", true)), [""; 0]);
        // Statistics may use floats.
        assert_eq!(
            found(
                "pub struct Mean { value: f64 }",
                &refused("slowpath-diagnose", true)
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_hash_map_in_a_sans_io_crate_is_refused() {
        for hashed in [
            "use std::collections::HashMap;",
            "pub struct Flows { seen: std::collections::HashSet<u32> }",
            "use std::collections::{BTreeMap, HashMap as Map};",
        ] {
            assert_eq!(found(hashed, &refused("slowpath-sim", true)).len(), 1, "{hashed}");
            assert_eq!(
                found(hashed, &refused("slowpath-lab", false)),
                [""; 0],
                "{hashed}"
            );
        }
    }

    #[test]
    fn a_packet_in_the_verdict_crate_is_refused() {
        for named in [
            "use slowpath_record::packets::TcpPacket as Segment;",
            "pub fn f(packet: &TcpPacket) {}",
            "use slowpath_facts::Analyzer;",
            "macro_rules! take { () => { slowpath_packet::FlowKey } }",
        ] {
            assert!(
                !found(named, &refused("slowpath-verdict", true)).is_empty(),
                "{named}"
            );
            assert_eq!(found(named, &refused("slowpath-facts", true)), [""; 0], "{named}");
        }
    }

    #[test]
    fn a_limit_in_the_facts_crate_is_refused() {
        for named in [
            "pub struct Flow { limit: slowpath_verdict::Limit }",
            "pub fn f(limit: Limit) {}",
            "pub const CODE: &str = \"receiver-window\";",
            "pub fn f() -> String { format!(\"policed\") }",
        ] {
            assert!(
                !found(named, &refused("slowpath-facts", true)).is_empty(),
                "{named}"
            );
            assert_eq!(
                found(named, &refused("slowpath-verdict", true)),
                [""; 0],
                "{named}"
            );
        }
        // A clock's own limit, and words about limits, are no verdict.
        for fact in [
            "const LIMIT: i64 = 1;",
            "pub struct Half { segment_limit: u32 }",
            "/// What limits it is the verdict's to say: `receiver-window`.\npub struct Flow;",
        ] {
            assert_eq!(found(fact, &refused("slowpath-facts", true)), [""; 0], "{fact}");
        }
    }

    #[test]
    fn files_on_the_list_exist() {
        for (file, _) in LOOKED_UP_ONLY {
            assert!(crate::root().join(file).is_file(), "{file}");
        }
    }
}
