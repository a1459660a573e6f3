//! Finds the JSON in a reply and repairs it where possible.
//!
//! Models wrap JSON in prose and code fences, leave trailing commas, use Python's literals, and are
//! cut off. Truncated values are dropped, never guessed: half a value is no value.

use serde_json::{Map, Value};

/// Deeper nesting is refused: no prompt asks for it.
const MAX_DEPTH: usize = 32;

/// A value read from a reply, whole or truncated.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The value, without its truncated parts.
    pub value: Value,
    /// Whether the value was closed; if not, its last items may be missing.
    pub complete: bool,
}

/// Finds the first JSON object in `reply` that has one of `keys` (the first object of all, if
/// `keys` is empty). Tries strict JSON first, then the tolerant reader.
pub fn find_json(reply: &str, keys: &[&str]) -> Option<Found> {
    let fits = |value: &Value| match value {
        Value::Object(map) => keys.is_empty() || keys.iter().any(|key| map.contains_key(*key)),
        _ => false,
    };
    let trimmed = reply.trim();
    if let Ok(value) = serde_json::from_str::<Value>(trimmed)
        && fits(&value)
    {
        return Some(Found { value, complete: true });
    }
    let mut tried = 0;
    for (start, _) in reply.match_indices('{') {
        tried += 1;
        if tried > 64 {
            break; // A reply with more opening braces than this contains no usable answer.
        }
        let Some(rest) = reply.get(start..) else {
            continue;
        };
        let mut reader = Reader { rest, complete: true };
        if let Some(value) = reader.value(0)
            && fits(&value)
        {
            return Some(Found { value, complete: reader.complete });
        }
    }
    None
}

struct Reader<'a> {
    rest: &'a str,
    complete: bool,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, expected: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(expected) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn ended(&mut self) -> bool {
        self.skip_space();
        self.rest.is_empty()
    }

    /// A value, or `None` if it is unreadable or truncated.
    fn value(&mut self, depth: usize) -> Option<Value> {
        self.skip_space();
        if depth > MAX_DEPTH {
            return None;
        }
        match self.rest.chars().next()? {
            '{' => self.object(depth),
            '[' => self.array(depth),
            quote @ ('"' | '\'' | '“') => self.string(quote).map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.take('{');
        let mut map = Map::new();
        loop {
            while self.take(',') {}
            if self.take('}') {
                return Some(Value::Object(map));
            }
            if self.ended() {
                self.complete = false;
                return Some(Value::Object(map));
            }
            let key = match self.rest.chars().next()? {
                quote @ ('"' | '\'' | '“') => self.string(quote),
                _ => self.bare_key(),
            };
            let Some(key) = key else {
                return self.cut_off(Value::Object(map));
            };
            if !self.take(':') {
                return self.cut_off(Value::Object(map));
            }
            match self.value(depth + 1) {
                Some(value) => {
                    map.insert(key, value);
                }
                None => return self.cut_off(Value::Object(map)),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.take('[');
        let mut items = Vec::new();
        loop {
            while self.take(',') {}
            if self.take(']') {
                return Some(Value::Array(items));
            }
            if self.ended() {
                self.complete = false;
                return Some(Value::Array(items));
            }
            match self.value(depth + 1) {
                Some(value) => items.push(value),
                None => return self.cut_off(Value::Array(items)),
            }
        }
    }

    /// Returns the partial value if the text ends here; `None` if something else follows.
    fn cut_off(&mut self, value: Value) -> Option<Value> {
        if self.ended() {
            self.complete = false;
            Some(value)
        } else {
            None
        }
    }

    fn string(&mut self, quote: char) -> Option<String> {
        let close = if quote == '“' { '”' } else { quote };
        let mut text = String::new();
        let body = self.rest.get(quote.len_utf8()..)?;
        let mut chars = body.char_indices();
        while let Some((at, letter)) = chars.next() {
            if letter == close {
                self.rest = body.get(at + close.len_utf8()..)?;
                return Some(text);
            }
            if letter != '\\' {
                text.push(letter);
                continue;
            }
            match chars.next().map(|(_, escaped)| escaped) {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('b' | 'f') => {}
                Some('u') => text.push(unicode_escape(body, &mut chars)?),
                Some(other) => text.push(other),
                None => break,
            }
        }
        self.rest = "";
        self.complete = false;
        None
    }

    fn bare_key(&mut self) -> Option<String> {
        let end =
            self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (key, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        (!key.is_empty()).then(|| key.to_owned())
    }

    /// A number or a literal, JSON's or Python's. One that touches the end may be truncated, so it
    /// is dropped.
    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']' | ':'));
        let Some(end) = end else {
            self.rest = "";
            self.complete = false;
            return None;
        };
        let (word, rest) = self.rest.split_at_checked(end)?;
        let value = match word {
            "null" | "None" | "nil" | "undefined" => Value::Null,
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            number => serde_json::from_str::<serde_json::Number>(number).ok().map(Value::Number)?,
        };
        self.rest = rest;
        Some(value)
    }
}

/// Reads the four digits after `\u`, and the second half of a surrogate pair.
fn unicode_escape(body: &str, chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    let mut digits = || -> Option<u32> {
        let mut code = 0;
        for _ in 0..4 {
            code = code * 16 + chars.next()?.1.to_digit(16)?;
        }
        Some(code)
    };
    let first = digits()?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some(char::from_u32(first).unwrap_or('\u{FFFD}'));
    }
    let offset = chars.offset();
    if !body.get(offset..).is_some_and(|rest| rest.starts_with("\\u")) {
        return Some('\u{FFFD}');
    }
    chars.next();
    chars.next();
    let mut second = 0;
    for _ in 0..4 {
        second = second * 16 + chars.next()?.1.to_digit(16)?;
    }
    let code = 0x10000 + ((first - 0xD800) << 10) + second.wrapping_sub(0xDC00);
    Some(char::from_u32(code).unwrap_or('\u{FFFD}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn saved(reply: &str) -> Option<(Value, bool)> {
        find_json(reply, &[]).map(|found| (found.value, found.complete))
    }

    #[test]
    fn plain_fenced_and_wrapped_in_prose() {
        let wanted = Some((json!({"a": 1}), true));
        assert_eq!(saved(r#"{"a": 1}"#), wanted);
        assert_eq!(saved("Sure:\n```json\n{\"a\": 1}\n```\nDone."), wanted);
        assert_eq!(saved(r#"I think {not json} but {"a": 1} is it."#), wanted);
    }

    #[test]
    fn commas_quotes_and_python() {
        assert_eq!(saved(r#"{"a": [1, 2,],}"#), Some((json!({"a": [1, 2]}), true)));
        assert_eq!(saved(r"{'a': None, b: True}"), Some((json!({"a": null, "b": true}), true)));
        assert_eq!(saved("{\"a\": \"x\ny\"}"), Some((json!({"a": "x\ny"}), true)));
        assert_eq!(saved(r#"{"a": "\u4e2d\ud83d\ude00",}"#), Some((json!({"a": "中😀"}), true)));
    }

    #[test]
    fn truncated_values_are_dropped() {
        assert_eq!(
            saved(r#"{"a": "x", "b": "yes, but"#).map(|found| found.0),
            Some(json!({"a": "x"}))
        );
        assert_eq!(saved(r#"{"a": ["x", "y"#), Some((json!({"a": ["x"]}), false)));
        assert_eq!(saved(r#"{"a": 12"#), Some((json!({}), false)));
        assert_eq!(saved("no object"), None);
        assert_eq!(saved(""), None);
    }

    #[test]
    fn the_wanted_key_decides_between_objects() {
        let reply = r#"{"thinking": 1} {"answer": "x"}"#;
        assert_eq!(find_json(reply, &["answer"]).unwrap().value, json!({"answer": "x"}));
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert_eq!(saved(&"{\"a\":[".repeat(50_000)), None);
    }

    proptest! {
        /// Hostile replies cause no panic, and the tolerant reader reads strict JSON like a strict
        /// one.
        #[test]
        fn handles_any_text(text in "\\PC{0,200}") {
            let _ = find_json(&text, &[]);
        }

        #[test]
        fn handles_any_braces_and_quotes(text in r#"[{}\[\]":,'\\a1 u]{0,60}"#) {
            let _ = find_json(&text, &[]);
        }

        #[test]
        fn strict_objects_read_as_themselves(
            map in prop::collection::btree_map("[a-z]{1,4}", "\\PC{0,12}", 0..5)
        ) {
            let value = json!(map);
            let text = format!("Well: {value} .");
            prop_assert_eq!(find_json(&text, &[]).map(|found| found.value), Some(value));
        }
    }
}
