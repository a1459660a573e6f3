//! Reads typed values from a reply's JSON and tolerates the usual mistakes of models.

use pikerag_knowledge::facts::UnreadableReply;
use serde_json::Value;

use crate::json::find_json;

/// Why a reply is unusable; the text goes back to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The reply is empty, apart from a thinking block.
    #[error("it was empty")]
    Empty,
    /// The reply reached its token limit, even after the limit was raised.
    #[error("it was cut off at {max_tokens} tokens")]
    CutOff {
        /// The token limit of the reply.
        max_tokens: u32,
    },
    /// No object has a required key.
    #[error("no JSON object with `{keys}` was found in it")]
    NoObject {
        /// The keys, any of which is enough.
        keys: String,
    },
    /// The key is missing or has a value of another type.
    #[error("`{key}` must be {expected}")]
    BadKey {
        /// The key, as the prompt names it.
        key: String,
        /// The expected value, in words for the model: `an integer from 1 to 4`.
        expected: String,
    },
}

impl Unreadable {
    /// An error for a key that is missing or has a value of another type.
    pub fn key(key: &str, expected: impl Into<String>) -> Self {
        Self::BadKey { key: key.to_owned(), expected: expected.into() }
    }
}

impl From<Unreadable> for UnreadableReply {
    fn from(reply: Unreadable) -> Self {
        match reply {
            Unreadable::Empty => Self::Empty,
            Unreadable::CutOff { max_tokens } => Self::CutOff { max_tokens },
            Unreadable::NoObject { keys } => Self::NoObject { keys },
            Unreadable::BadKey { key, expected } => Self::BadKey { key, expected },
        }
    }
}

/// A reply without the model's thinking block. An unclosed block covers the rest, so the reply is
/// empty.
pub fn without_thinking(reply: &str) -> &str {
    const BLOCKS: [(&str, &str); 3] =
        [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];
    let mut rest = reply.trim();
    for (open, close) in BLOCKS {
        match rest.rfind(close) {
            Some(at) => rest = rest.get(at + close.len()..).unwrap_or_default().trim(),
            None if rest.starts_with(open) => rest = "",
            None => {}
        }
    }
    rest
}

/// Finds the object in a reply that has one of `keys`.
///
/// # Errors
/// The reply is empty or has no such object.
pub fn object(reply: &str, keys: &[&str]) -> Result<Value, Unreadable> {
    let reply = without_thinking(reply);
    if reply.is_empty() {
        return Err(Unreadable::Empty);
    }
    find_json(reply, keys)
        .map(|found| found.value)
        .ok_or_else(|| Unreadable::NoObject { keys: keys.join("`, `") })
}

/// Reads a string under `key`; a number, or a list or object around one string, is accepted.
///
/// # Errors
/// The key is missing, null or has no value like a string.
pub fn text(object: &Value, key: &str) -> Result<String, Unreadable> {
    object.get(key).and_then(as_text).ok_or_else(|| Unreadable::key(key, "a string"))
}

/// Reads a list of strings under `key`, trimmed, without empty ones and list marks. A string
/// instead of a list is split at lines or semicolons.
///
/// # Errors
/// The key is missing or has a value of another type. An empty list is no error.
pub fn texts(object: &Value, key: &str) -> Result<Vec<String>, Unreadable> {
    let bad = || Unreadable::key(key, "a list of strings");
    let items: Vec<String> = match object.get(key).ok_or_else(bad)? {
        Value::Array(items) => items.iter().filter_map(as_text).collect(),
        Value::String(joined) if joined.contains('\n') => list_items(joined),
        Value::String(joined) => joined.split("; ").map(str::to_owned).collect(),
        Value::Null => Vec::new(),
        _ => return Err(bad()),
    };
    Ok(items
        .iter()
        .map(|item| bare_item(item).to_owned())
        .filter(|item| !item.is_empty())
        .collect())
}

/// Reads a 1-based index under `key`, as a 0-based one below `count`. `null`, 0, "none" and similar
/// values mean none.
///
/// # Errors
/// The key is missing, its value is not an index, or the index is not below `count`.
pub fn index(object: &Value, key: &str, count: usize) -> Result<Option<usize>, Unreadable> {
    let bad = || Unreadable::key(key, format!("an integer from 1 to {count}, or null"));
    let number = match object.get(key).ok_or_else(bad)? {
        Value::Null | Value::Bool(false) => return Ok(None),
        Value::Number(number) => number.as_f64().ok_or_else(bad)?,
        Value::String(words) => {
            let words = words.trim();
            let digits: String = words
                .chars()
                .skip_while(|c| !c.is_ascii_digit())
                .take_while(char::is_ascii_digit)
                .collect();
            if digits.is_empty() {
                let none = ["", "null", "none", "n/a", "no"];
                return if none.contains(&words.to_lowercase().as_str()) {
                    Ok(None)
                } else {
                    Err(bad())
                };
            }
            digits.parse().map_err(|_| bad())?
        }
        Value::Array(items) if items.is_empty() => return Ok(None),
        Value::Object(map) => match map.values().find(|value| value.is_number()) {
            Some(value) => value.as_f64().ok_or_else(bad)?,
            None => return Err(bad()),
        },
        _ => return Err(bad()),
    };
    match number {
        number if number.fract() == 0.0 && (-1.0..=0.0).contains(&number) => Ok(None),
        number if number.fract() == 0.0 && 1.0 <= number && number <= count as f64 => {
            Ok(Some(number as usize - 1))
        }
        _ => Err(bad()),
    }
}

/// The lines of a reply as list items: without numbers, bullets, fences and empty lines.
pub fn list_items(reply: &str) -> Vec<String> {
    reply
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("```"))
        .map(|line| bare_item(line).to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// An item without its list mark: `1. `, `2) `, `- `, `* `, `• `, `3、`.
fn bare_item(item: &str) -> &str {
    let item = item.trim();
    let without_bullet = item.trim_start_matches(['-', '*', '•', '·']).trim_start();
    let digits = without_bullet.chars().take_while(char::is_ascii_digit).count();
    let after = without_bullet.get(digits..).unwrap_or_default();
    let marked = after.strip_prefix(['.', ')', '、', ':', '）', '．']);
    match marked {
        Some(rest)
            if (1..=3).contains(&digits) && !rest.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            rest.trim()
        }
        _ => without_bullet.trim(),
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) => Some("Yes".to_owned()),
        Value::Bool(false) => Some("No".to_owned()),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().filter_map(as_text).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        Value::Object(map) => map.values().find_map(as_text),
        Value::Null => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn thinking_blocks_are_removed() {
        assert_eq!(without_thinking("<think>{\"a\": 1}</think>\n{\"a\": 2}"), "{\"a\": 2}");
        assert_eq!(without_thinking("<think>never closed {\"a\": 1}"), "");
        assert_eq!(object("<think>{\"a\":1}</think>{\"a\":2}", &["a"]).unwrap(), json!({"a": 2}));
    }

    #[test]
    fn strings_are_read_in_many_forms() {
        let reply = json!({"a": {"text": "x"}, "b": 7, "c": ["x", "y"], "d": null, "e": {}});
        assert_eq!(text(&reply, "a").unwrap(), "x");
        assert_eq!(text(&reply, "b").unwrap(), "7");
        assert_eq!(text(&reply, "c").unwrap(), "x, y");
        assert!(
            text(&reply, "d").is_err() && text(&reply, "e").is_err() && text(&reply, "z").is_err()
        );
    }

    #[test]
    fn lists_are_read_in_many_forms() {
        let reply = json!({"a": ["1. x?", "- y?", {"q": "z?"}, " "], "b": "x?; y?", "c": "1) x?\n2) y?", "d": 3});
        assert_eq!(texts(&reply, "a").unwrap(), ["x?", "y?", "z?"]);
        assert_eq!(texts(&reply, "b").unwrap(), ["x?", "y?"]);
        assert_eq!(texts(&reply, "c").unwrap(), ["x?", "y?"]);
        assert!(texts(&reply, "d").is_err());
    }

    #[test]
    fn a_number_at_the_start_of_an_item_is_no_list_mark() {
        assert_eq!(
            list_items("1. 1984 won?\n- 3.5 tons?\n1984 was when?"),
            ["1984 won?", "3.5 tons?", "1984 was when?"]
        );
    }

    #[test]
    fn an_index_out_of_range_is_unreadable() {
        let reply =
            json!({"a": 2, "b": "2", "c": null, "d": 9, "e": "Question 1", "f": "none", "g": 1.5});
        assert_eq!(index(&reply, "a", 3).unwrap(), Some(1));
        assert_eq!(index(&reply, "b", 3).unwrap(), Some(1));
        assert_eq!(index(&reply, "c", 3).unwrap(), None);
        assert!(
            index(&reply, "d", 3).is_err()
                && index(&reply, "g", 3).is_err()
                && index(&reply, "z", 3).is_err()
        );
        assert_eq!(index(&reply, "e", 3).unwrap(), Some(0));
        assert_eq!(index(&reply, "f", 3).unwrap(), None);
    }
}
