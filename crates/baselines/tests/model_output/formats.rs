//! Checks that a prompt describes the reply that its schema allows: the same keys, and each limit in the text.

use std::collections::BTreeSet;

use pikerag_doubles::prompt;
use pikerag_knowledge::ChatRequest;
use serde_json::Value;

/// The first keys of formats without a schema: their fields are declared, or five formats share a reader.
const WITHOUT_SCHEMA: [&str; 6] = ["records", "schemas", "factors", "classes", "tags", "pairs"];

/// Limits that are not in the text: the name of the schema and the key.
const UNNAMED: [(&str, &str); 10] = [
    // An input gives a lower limit.
    ("look", "missing"),
    ("look_collecting", "missing"),
    ("perspectives", "perspectives"),
    ("plan", "steps"),
    ("questions", "questions"),
    // The text asks for all that is listed, or for the facts of the passages.
    ("critique", "judgements"),
    ("summary", "points"),
    ("coordinated", "from"),
    ("look", "facts"),
    ("look_collecting", "facts"),
];

/// Longer limits only stop models that repeat themselves.
const LONG: u64 = 400;

/// Checks the prompt of a request that asks for JSON.
pub(crate) fn check(request: &ChatRequest) {
    let text = prompt(request).unwrap();
    let Some((_, format)) = text.split_once("\n# Output format\nA JSON object") else { return };
    let format = format.split("\n# ").next().unwrap();
    let (start, end) = (format.find('{').unwrap(), format.rfind('}').unwrap());
    let json = as_json(&format[start..=end]);
    let example: Value =
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json} of\n{text}"));
    let Some(schema) = &request.schema else {
        let first = example.as_object().and_then(|keys| keys.keys().next()).unwrap();
        assert!(WITHOUT_SCHEMA.contains(&first.as_str()), "no schema for\n{text}");
        return;
    };
    compare(&example, &schema.schema, &format!("{}: {json}", schema.name));
    let template = request.origin.template.as_deref().unwrap_or_default();
    let numbers: BTreeSet<u64> = [text, template].iter().flat_map(|text| numbers(text)).collect();
    for (key, limit) in limits(&schema.schema, "") {
        let is_unnamed = UNNAMED.contains(&(schema.name.as_str(), key.as_str()));
        assert!(
            LONG <= limit || is_unnamed || numbers.contains(&limit),
            "the limit {limit} of `{key}` is not in the text of {}:\n{text}",
            schema.name
        );
    }
}

/// An example has the keys of its schema, wherever it shows an object.
fn compare(example: &Value, schema: &Value, of: &str) {
    match example {
        Value::Object(shown) => {
            let properties = schema["properties"].as_object();
            let properties = properties.unwrap_or_else(|| panic!("{of}: no object in {schema}"));
            let keys = |keys: &serde_json::Map<String, Value>| -> BTreeSet<String> {
                keys.keys().cloned().collect()
            };
            assert_eq!(keys(shown), keys(properties), "{of}");
            for (key, value) in shown {
                compare(value, &properties[key], of);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| compare(item, &schema["items"], of)),
        _ => {}
    }
}

/// The limits of a schema, each with the nearest key above it.
fn limits(schema: &Value, key: &str) -> Vec<(String, u64)> {
    let own = ["maxItems", "maxLength"].iter().filter_map(|limit| schema[*limit].as_u64());
    let mut all: Vec<(String, u64)> = own.map(|limit| (key.to_owned(), limit)).collect();
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        all.extend(limits(value, key));
    }
    if schema["items"].is_object() {
        all.extend(limits(&schema["items"], key));
    }
    all
}

fn numbers(text: &str) -> BTreeSet<u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// A format with null in place of values in words, such as `true or false`, and without alternatives, such as
/// `or "none"`.
fn as_json(format: &str) -> String {
    let (mut json, mut words) = (String::new(), String::new());
    let (mut is_string, mut is_alternative) = (false, false);
    let mut before = ' ';
    for c in format.chars() {
        let is_quote = c == '"' && before != '\\';
        if is_string {
            if !is_alternative {
                json.push(c);
            }
            is_string = !is_quote;
        } else if is_quote || "{}[],:".contains(c) {
            let bare = words.trim();
            if bare == "or" || bare.starts_with("or ") {
                is_alternative = true;
            } else if serde_json::from_str::<Value>(bare).is_ok() {
                json.push_str(bare);
            } else if !bare.is_empty() {
                json.push_str("null");
            }
            words.clear();
            is_alternative &= is_quote;
            is_string = is_quote;
            if !is_alternative {
                json.push(c);
            }
        } else {
            words.push(c);
        }
        before = c;
    }
    json
}

#[test]
fn formats_in_words_become_json() {
    for (format, json) in [
        (r#"{"a": true or false, "b": "x, y"}"#, r#"{"a":null,"b":"x, y"}"#),
        (r#"{"a": an integer from 1 to 4 or null}"#, r#"{"a":null}"#),
        (r#"{"a": "A" or "B" or "none", "b": [1, 2]}"#, r#"{"a":"A","b":[1,2]}"#),
        (r#"{"a": [numbers of passages], "b": null}"#, r#"{"a":[null],"b":null}"#),
    ] {
        assert_eq!(as_json(format), json);
        assert!(serde_json::from_str::<Value>(json).is_ok());
    }
}
