//! What the user wrote, as a tree in which every key and value knows its place.

use crate::diagnostic::{Diagnostic, Issues};
use crate::span::{SourceId, Span};

/// One value of the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it was written.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// The kinds of values a document can hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, or a date: nothing in a document takes these; kept as written for the message.
    Other(String),
    /// `true` or `false`.
    Flag(bool),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Value {
    /// The kind of value, with its article, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "a number",
            Self::Other(_) => "a number with a fraction or a date",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// Keys and values in the order of the text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table(Vec<Entry>);

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub key_span: Span,
    /// Its value.
    pub node: Node,
}

impl Table {
    /// Reads a TOML text; syntax errors go to `issues`.
    pub fn parse(text: &str, source: SourceId, issues: &Issues) -> Self {
        let (table, errors) = toml::de::DeTable::parse_recoverable(text);
        for error in errors {
            let range = error.span().unwrap_or(0..0);
            issues.push(
                Diagnostic::error(
                    Span::new(source, &range),
                    format!("not TOML: {}", error.message()),
                )
                .help("keys are `name = value`; text values stand in \"quotes\""),
            );
        }
        convert_table(table.get_ref(), source)
    }

    /// The entries in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter()
    }

    /// The entry with `key`.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    /// The table that is the value of `key`, to be changed.
    pub fn table_mut(&mut self, key: &str) -> Option<&mut Self> {
        let entry = self.0.iter_mut().find(|entry| entry.key == key)?;
        match &mut entry.node.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an entry behind the others.
    pub fn push(&mut self, key: &str, key_span: Span, node: Node) {
        self.0.push(Entry {
            key: key.to_owned(),
            key_span,
            node,
        });
    }

    /// Removes and returns the entry with `key`.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(index))
    }

    /// Lays `over` on this table: tables are merged key by key, everything else is replaced.
    pub fn merge(&mut self, over: &Self) {
        for entry in &over.0 {
            match self.0.iter_mut().find(|mine| mine.key == entry.key) {
                None => self.0.push(entry.clone()),
                Some(mine) => match (&mut mine.node.value, &entry.node.value) {
                    (Value::Table(below), Value::Table(above)) => below.merge(above),
                    _ => *mine = entry.clone(),
                },
            }
        }
    }

    /// Sets the value at a dotted path such as `network.down[0].rate`, creating tables on the way.
    ///
    /// # Errors
    /// The part of the path that leads nowhere: an index outside its list, or a key inside a plain value.
    pub fn set(&mut self, path: &str, node: Node) -> Result<(), String> {
        let (head, rest) = path
            .split_once('.')
            .map_or((path, None), |(head, rest)| (head, Some(rest)));
        let (key, indices) = split_indices(head).ok_or_else(|| head.to_owned())?;
        if !self.0.iter().any(|entry| entry.key == key) {
            // A list that is not there has no places.
            if !indices.is_empty() {
                return Err(head.to_owned());
            }
            let empty = Node {
                span: node.span,
                value: Value::Table(Self::default()),
            };
            self.0.push(Entry {
                key: key.to_owned(),
                key_span: node.span,
                node: empty,
            });
        }
        let entry = self
            .0
            .iter_mut()
            .find(|entry| entry.key == key)
            .ok_or_else(|| head.to_owned())?;
        let mut place = &mut entry.node;
        for index in indices {
            let Value::List(list) = &mut place.value else {
                return Err(head.to_owned());
            };
            place = list.get_mut(index).ok_or_else(|| head.to_owned())?;
        }
        match rest {
            None => {
                *place = node;
                Ok(())
            }
            Some(rest) => match &mut place.value {
                Value::Table(table) => table.set(rest, node),
                _ => Err(head.to_owned()),
            },
        }
    }
}

impl Node {
    /// A value given on the command line: TOML if it reads as such, otherwise the text itself.
    pub fn from_argument(text: &str, source: SourceId) -> Self {
        let span = Span::new(source, &(0..text.len()));
        match toml::de::DeValue::parse(text) {
            Ok(value) => Self {
                span,
                value: convert_value(value.get_ref(), source),
            },
            Err(_) => Self {
                span,
                value: Value::Text(text.to_owned()),
            },
        }
    }
}

fn split_indices(head: &str) -> Option<(&str, Vec<usize>)> {
    let Some((key, rest)) = head.split_once('[') else {
        return Some((head, Vec::new()));
    };
    let indices = rest
        .strip_suffix(']')?
        .split("][")
        .map(|i| i.parse().ok())
        .collect::<Option<Vec<_>>>()?;
    Some((key, indices))
}

fn convert_table(table: &toml::de::DeTable<'_>, source: SourceId) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: Span::new(source, &key.span()),
            node: Node {
                span: Span::new(source, &value.span()),
                value: convert_value(value.get_ref(), source),
            },
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span);
    Table(entries)
}

fn convert_value(value: &toml::de::DeValue<'_>, source: SourceId) -> Value {
    use toml::de::DeValue;
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::Other(number.to_string()), Value::Integer),
        DeValue::Float(number) => Value::Other(number.to_string()),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Array(list) => Value::List(
            list.iter()
                .map(|item| Node {
                    span: Span::new(source, &item.span()),
                    value: convert_value(item.get_ref(), source),
                })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(convert_table(table, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Sources;

    fn read(text: &str) -> Table {
        let mut sources = Sources::default();
        let id = sources.add("t", text);
        let issues = Issues::default();
        let table = Table::parse(text, id, &issues);
        assert!(!issues.any_error());
        table
    }

    fn plain(value: &Value) -> String {
        match value {
            Value::Text(t) => format!("{t:?}"),
            Value::Integer(n) => n.to_string(),
            Value::Other(t) => t.clone(),
            Value::Flag(b) => b.to_string(),
            Value::List(l) => format!(
                "[{}]",
                l.iter().map(|n| plain(&n.value)).collect::<Vec<_>>().join(",")
            ),
            Value::Table(t) => {
                let inner: Vec<_> = t
                    .entries()
                    .map(|e| format!("{}={}", e.key, plain(&e.node.value)))
                    .collect();
                format!("{{{}}}", inner.join(","))
            }
        }
    }

    #[test]
    fn overlays_merge_tables_and_replace_values() {
        let mut base =
            read("a = 1\n[hosts.client]\nsystem = \"linux\"\nsack = true\n[network]\nup = [1, 2]\n");
        base.merge(&read(
            "hosts.client = { system = \"cisco-ios\" }\nnetwork.up = [3]\n",
        ));
        assert_eq!(
            plain(&Value::Table(base)),
            "{a=1,hosts={client={system=\"cisco-ios\",sack=true}},network={up=[3]}}"
        );
    }

    #[test]
    fn dotted_paths_reach_into_lists() {
        let mut base = read("[network]\nup = [{ delay = \"5 ms\" }]\n");
        let mut sources = Sources::default();
        let id = sources.add("--set", "20 ms");
        base.set("network.up[0].delay", Node::from_argument("20 ms", id))
            .unwrap();
        base.set("hosts.client.sack", Node::from_argument("false", id))
            .unwrap();
        assert_eq!(
            plain(&Value::Table(base.clone())),
            "{network={up=[{delay=\"20 ms\"}]},hosts={client={sack=false}}}"
        );
        assert_eq!(
            base.set("network.up[3].delay", Node::from_argument("1 s", id)),
            Err("up[3]".to_owned())
        );
        assert_eq!(
            base.set("network.up[0].delay.x", Node::from_argument("1", id)),
            Err("delay".to_owned())
        );
    }

    #[test]
    fn syntax_errors_have_a_place() {
        let mut sources = Sources::default();
        let text = "a = 1\nb = \n";
        let id = sources.add("t.toml", text);
        let issues = Issues::default();
        Table::parse(text, id, &issues);
        assert!(
            issues
                .into_diagnostics(sources)
                .to_string()
                .starts_with("t.toml:2:5: error: not TOML:")
        );
    }
}
