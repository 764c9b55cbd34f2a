//! What a crate's sources may not name: a printed line, a float, a hash map, a packet, a limit; in the rules of the verdict
//! a bare number and a sentence.

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
    /// A number that decides, outside a cut-off or another constant.
    Number,
    /// A sentence outside the catalogue of messages.
    Prose,
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
            Self::Number => "a number that decides is a cut-off (`cuts!`) or a constant with a name",
            Self::Prose => "what is said stands in slowpath-verdict/src/catalogue.rs",
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
        words.extend([Word::Packet, Word::Number, Word::Prose]);
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
        let rules = RULES.iter().any(|place| shown.starts_with(place));
        if rules {
            let mut bare = Bare(&mut found.0);
            bare.visit_file(file);
        }
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

/// Numbers and sentences in a rule's code; constants and what is said in documentation are left out.
struct Bare<'a>(&'a mut Vec<(Word, usize, String)>);

impl Bare<'_> {
    fn literal(&mut self, literal: &syn::Lit) {
        let line = literal.span().start().line;
        match literal {
            syn::Lit::Int(number) => self.number(line, number.base10_digits()),
            syn::Lit::Float(number) => self.number(line, number.base10_digits()),
            syn::Lit::Str(text) if text.value().contains(' ') => {
                self.0.push((Word::Prose, line, text.value()));
            }
            _ => {}
        }
    }

    fn number(&mut self, line: usize, digits: &str) {
        let plain = digits.parse().is_ok_and(|value: f64| PLAIN.contains(&value));
        if !plain {
            self.0.push((Word::Number, line, digits.to_owned()));
        }
    }

    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => self.tokens(group.stream()),
                proc_macro2::TokenTree::Literal(text) => self.literal(&syn::Lit::new(text)),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Bare<'_> {
    fn visit_lit(&mut self, literal: &'ast syn::Lit) {
        self.literal(literal);
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        let name = called.path.segments.last().map(|last| last.ident.to_string());
        match name.as_deref() {
            Some("cuts") => {}
            Some(write @ ("format" | "write" | "writeln")) => {
                let line = called.path.segments[0].ident.span().start().line;
                self.0.push((Word::Prose, line, format!("{write}!")));
            }
            _ => self.tokens(called.tokens.clone()),
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// Where rules stand that may hold no bare number and no sentence.
const RULES: &[&str] = &[
    "crates/slowpath-verdict/src/limits/",
    "crates/slowpath-verdict/src/case.rs",
    "crates/slowpath-verdict/src/intervals.rs",
    "crates/slowpath-verdict/src/hints.rs",
];

/// Numbers that decide nothing: none, one, half or twice, bits of a byte, and what keeps a division from failing.
const PLAIN: &[f64] = &[0.0, 1.0, 2.0, 8.0, 1e-9, 1e-6];

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

    fn in_a_rule(source: &str) -> Vec<String> {
        let crate_ = Fixture::new(&[
            ("crates/slowpath-verdict/src/lib.rs", "mod limits;"),
            ("crates/slowpath-verdict/src/limits/mod.rs", source),
        ]);
        let root = crate_.folder().join("crates/slowpath-verdict/src/lib.rs");
        faults(
            &Tree::read(&root),
            &refused("slowpath-verdict", true),
            crate_.folder(),
        )
    }

    #[test]
    fn a_bare_number_in_a_rule_is_refused() {
        for bare in [
            "pub fn look(x: f64) -> bool { x > 0.3 }",
            "pub fn look(x: u64) -> bool { x >= 3 }",
            "pub fn look(x: u64) -> bool { matches!(x, 5) }",
        ] {
            let faults = in_a_rule(bare);
            assert_eq!(faults.len(), 1, "{bare}: {faults:?}");
            assert_eq!(found(bare, &refused("slowpath-verdict", true)), [""; 0], "{bare}");
        }
        for named in [
            "const ROUNDS: u64 = 3; pub fn look(x: u64) -> bool { x >= ROUNDS }",
            "cuts! { ROUNDS: 3.0 between 2.5, 7.0; } pub fn look(x: f64) -> f64 { (1.0 - x) * 8.0 / 2.0 }",
            "#[cfg(test)] mod tests { fn sample() -> u64 { 5 } }",
        ] {
            assert_eq!(in_a_rule(named), [""; 0], "{named}");
        }
    }

    #[test]
    fn a_sentence_in_a_rule_is_refused() {
        for said in [
            "pub fn say() -> &'static str { \"the window is full\" }",
            "pub fn say(x: u64) -> String { format!(\"{x}\") }",
            "pub fn say() -> Vec<String> { vec![String::from(\"no loss\")] }",
        ] {
            assert_eq!(in_a_rule(said).len(), 1, "{said}");
        }
        assert_eq!(
            in_a_rule("/// Looks for a full window.\npub fn fact() -> &'static str { \"window.full\" }"),
            [""; 0]
        );
    }

    #[test]
    fn files_on_the_list_exist() {
        for place in RULES {
            assert!(crate::root().join(place).exists(), "{place}");
        }
        for (file, _) in LOOKED_UP_ONLY {
            assert!(crate::root().join(file).is_file(), "{file}");
        }
    }
}
