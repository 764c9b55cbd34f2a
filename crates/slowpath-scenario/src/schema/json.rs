//! The keys as a JSON schema.

use serde_json::{Map, Value, json};

use crate::asked::Form;
use crate::schema::everything::{Everything, ID};
use crate::schema::key::{ITEM, Key, NAME};
use crate::schema::meaning::meaning;

pub(super) fn schema(all: &Everything) -> Value {
    let elements: Vec<Value> = (all.elements.iter())
        .map(|(kind, key)| {
            titled(
                object(key, &format!("element.{kind}")),
                &format!("element: {kind}"),
            )
        })
        .collect();
    let mut top = object(&all.top, "");
    let properties = &mut top["properties"];
    let chain = json!({ "type": "array", "items": { "$ref": "#/$defs/element" } });
    for way in ["up", "down", "both"] {
        let described = properties["network"]["properties"][way]["description"].take();
        properties["network"]["properties"][way] = chain.clone();
        properties["network"]["properties"][way]["description"] = described;
    }
    // A file whose variants bring these need not have them at the top.
    unneeded(&mut properties["network"]);
    properties["workload"] = json!({ "$ref": "#/$defs/workload" });
    properties["background"]["items"] = json!({ "$ref": "#/$defs/background" });
    properties["hosts"] = json!({
        "type": "object",
        "description": meaning("hosts"),
        "propertyNames": { "pattern": "^[A-Za-z0-9-]{1,15}$" },
        "additionalProperties": { "$ref": "#/$defs/host" },
    });
    let mut variant = properties.clone();
    if let Some(own) = variant.as_object_mut() {
        for key in ["title", "reference", "variants"] {
            own.remove(key);
        }
        own.insert(
            "name".to_owned(),
            json!({ "type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$", "description": meaning("variants[].name") }),
        );
        // A variant lays single keys over the common workload.
        own.insert("workload".to_owned(), any_of_its_keys(all));
        own["network"]["required"] = json!([]);
    }
    properties["variants"] = json!({
        "type": "array",
        "minItems": 1,
        "description": meaning("variants"),
        "items": { "type": "object", "properties": variant, "required": ["name"], "additionalProperties": false },
    });
    top["required"] = json!(["title"]);
    top["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    top["title"] = json!(ID);
    top["description"] = json!("An experiment file of slowpath (TOML).");
    top["$defs"] = json!({
        "element": { "oneOf": elements },
        "workload": { "oneOf": jobs(&all.jobs) },
        "background": { "oneOf": jobs(&all.background) },
        "host": all.host().map(|host| object(host, "host")),
    });
    top
}

fn jobs(all: &[(Vec<String>, Key)]) -> Vec<Value> {
    (all.iter())
        .map(|(kinds, key)| {
            let mut job = object(key, &format!("job.{}", kinds[0]));
            job["properties"]["kind"] = json!({ "enum": kinds, "description": meaning("job.kind") });
            titled(job, &format!("job: {}", kinds.join(", ")))
        })
        .collect()
}

/// A table in which each key of any kind of job may stand and none must.
fn any_of_its_keys(all: &Everything) -> Value {
    let mut whole = Key::default();
    for (_, key) in &all.jobs {
        whole.merge(key.clone());
    }
    let mut job = object(&whole, "job");
    unneeded(&mut job);
    job
}

fn unneeded(table: &mut Value) {
    if let Some(table) = table.as_object_mut() {
        table.remove("required");
    }
}

fn titled(mut schema: Value, title: &str) -> Value {
    schema["title"] = json!(title);
    schema
}

/// A table with these keys and no others; `place` is where meanings are looked up.
fn object(table: &Key, place: &str) -> Value {
    let mut properties = Map::new();
    let mut needed = Vec::new();
    for (name, key) in &table.keys {
        if key.needed {
            needed.push(name.as_str());
        }
        properties.insert(name.clone(), described(key, &below(place, name)));
    }
    json!({ "type": "object", "properties": properties, "required": needed, "additionalProperties": false })
}

pub(super) fn below(place: &str, name: &str) -> String {
    match (place, name) {
        ("", name) => name.to_owned(),
        (place, ITEM) => format!("{place}[]"),
        (place, name) => format!("{place}.{name}"),
    }
}

fn described(key: &Key, place: &str) -> Value {
    let mut schema = written(key, place);
    let said = meaning(place);
    if !said.is_empty() {
        schema["description"] = json!(said);
    }
    schema
}

/// What may stand at a key.
fn written(key: &Key, place: &str) -> Value {
    let item = key.keys.get(ITEM);
    let table = key.keys.keys().any(|name| name != ITEM && name != NAME);
    let mut forms: Vec<Value> = (key.telling().into_iter())
        .filter_map(|form| match form {
            Form::Text => Some(json!({ "type": "string" })),
            Form::Flag => Some(json!({ "type": "boolean" })),
            // Beyond that, editors do not count.
            Form::Integer(low, high) if *high >> 53 == 0 => {
                Some(json!({ "type": "integer", "minimum": low, "maximum": high }))
            }
            Form::Integer(low, _) => Some(json!({ "type": "integer", "minimum": low })),
            Form::Quantity(example) => Some(
                json!({ "type": "string", "pattern": QUANTITY, "examples": [example.trim_matches('"')] }),
            ),
            Form::Choice(words) => Some(json!({ "enum": words })),
            Form::Table | Form::List | Form::Any | Form::Needed => None,
        })
        .collect();
    if let Some(item) = item {
        forms.push(json!({ "type": "array", "items": written(item, &below(place, ITEM)) }));
    } else if key.forms.contains(&Form::List) {
        forms.push(json!({ "type": "array" }));
    }
    if table {
        forms.push(object(key, place));
    }
    match forms.len() {
        0 => json!({}),
        1 => forms.remove(0),
        _ => json!({ "anyOf": forms }),
    }
}

/// A decimal number and a unit: what the unit may be is said when the file is read.
const QUANTITY: &str = r"^\s*[0-9][0-9_]*(\.[0-9_]+)?\s*[A-Za-z%µμ].*$";
