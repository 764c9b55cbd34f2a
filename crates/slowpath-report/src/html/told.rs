//! A page in another language than English: its texts, as they stand between the elements and in what describes them.

use std::borrow::Cow;

use slowpath_words::{Language, spoken, told_on_page};

/// The page in the language that is spoken. Script, style, code and what is to be pasted stay as they are.
pub(super) fn page(html: String) -> String {
    if spoken() == Language::English {
        return html;
    }
    let mut out = String::with_capacity(html.len() + html.len() / 8);
    let mut rest = html.as_str();
    while let Some(open) = rest.find('<') {
        text(&rest[..open], &mut out);
        let end = rest[open..].find('>').map_or(rest.len(), |end| open + end + 1);
        let tag = &rest[open..end];
        attributes(tag, &mut out);
        rest = &rest[end..];
        let kept = KEPT.iter().find(|name| {
            let after = tag.strip_prefix('<').and_then(|tag| tag.strip_prefix(**name));
            after.is_some_and(|after| after.starts_with(['>', ' ', '\n']))
        });
        if let Some(name) = kept {
            let close = format!("</{name}");
            let at = rest.find(&close).unwrap_or(rest.len());
            out.push_str(&rest[..at]);
            rest = &rest[at..];
        }
    }
    text(rest, &mut out);
    out
}

/// Writes what stands between two elements.
fn text(raw: &str, out: &mut String) {
    let inner = raw.trim();
    if !inner.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        out.push_str(raw);
        return;
    }
    let before = &raw[..raw.len() - raw.trim_start().len()];
    let after = &raw[raw.trim_end().len()..];
    let said = said(inner);
    let changed = said != inner;
    // Japanese has no spaces between clauses.
    out.push_str(if changed { "" } else { before });
    out.push_str(&said);
    out.push_str(if changed && !after.contains('\n') {
        ""
    } else {
        after
    });
}

/// Writes a tag with its descriptions told.
fn attributes(tag: &str, out: &mut String) {
    let mut rest = tag;
    while let Some((at, name)) = DESCRIBING
        .iter()
        .filter_map(|name| rest.find(name).map(|at| (at, *name)))
        .min()
    {
        let begin = at + name.len();
        let Some(length) = rest[begin..].find('"') else {
            break;
        };
        out.push_str(&rest[..begin]);
        out.push_str(&said(&rest[begin..begin + length]));
        rest = &rest[begin + length..];
    }
    out.push_str(&rest.replace("lang=\"en\"", "lang=\"ja\""));
}

fn said(escaped: &str) -> String {
    let mut plain: Cow<'_, str> = Cow::Owned(escaped.split_whitespace().collect::<Vec<_>>().join(" "));
    for (entity, mark) in ENTITIES {
        if plain.contains(entity) {
            plain = Cow::Owned(plain.replace(entity, mark));
        }
    }
    let told = match plain.strip_suffix(NAMED) {
        Some(title) => Cow::Owned(format!("{}{NAMED}", told_on_page(title))),
        None => told_on_page(&plain),
    };
    if told == plain {
        return escaped.to_owned();
    }
    let mut out = told.into_owned();
    for (entity, mark) in ENTITIES.iter().rev() {
        out = out.replace(mark, entity);
    }
    out
}

/// What stands behind the title of a page.
const NAMED: &str = " · slowpath";

/// Elements whose content is no text to be read as prose.
const KEPT: [&str; 6] = ["script", "style", "code", "pre", "textarea", "svg"];

/// Attributes that are read to or shown to people.
const DESCRIBING: [&str; 4] = [" title=\"", " aria-label=\"", " placeholder=\"", " alt=\""];

/// What markup writes for its own marks; the one that begins the others last.
const ENTITIES: [(&str, &str); 7] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#x27;", "'"),
    ("&#39;", "'"),
    ("&#x2f;", "/"),
    ("&amp;", "&"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_descriptions_are_found_and_code_is_left_alone() {
        let mut out = String::new();
        attributes("<a title=\"x &amp; y\" href=\"z\">", &mut out);
        assert_eq!(out, "<a title=\"x &amp; y\" href=\"z\">");
        // English is left as it is.
        let html = "<p>Lab</p><code>Lab</code>".to_owned();
        assert_eq!(page(html.clone()), html);
    }
}
