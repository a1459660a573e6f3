//! Reads one string field of a JSON object whose end has not arrived.

use std::str::Chars;

/// The value of the field `name` as far as `reply` has it, without escapes; `None` before it begins,
/// for a reply that is no object with this field, and if the field `only_if` is not `true` before it.
/// While the reply grows, so does the value: half an escape is left out.
pub(super) fn text_so_far(reply: &str, name: &str, only_if: Option<&str>) -> Option<String> {
    let (_, rest) = after_thinking(reply)?.split_once('{')?;
    let mut cursor = Cursor { rest };
    let mut is_wanted = only_if.is_none();
    loop {
        cursor.skip(|c| c.is_whitespace() || c == ',');
        let key = cursor.string().filter(|key| key.is_whole)?.text;
        cursor.skip(char::is_whitespace);
        cursor.rest = cursor.rest.strip_prefix(':')?;
        cursor.skip(char::is_whitespace);
        if key == name {
            return cursor.string().filter(|_| is_wanted).map(|value| value.text);
        }
        let is_true = cursor.pass_value()?;
        is_wanted |= is_true && only_if == Some(key.as_str());
    }
}

/// The reply after the model's thinking block; `None` within the block.
fn after_thinking(reply: &str) -> Option<&str> {
    const BLOCKS: [(&str, &str); 3] =
        [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];
    let begun = reply.trim_start();
    for (open, close) in BLOCKS {
        if let Some(thought) = begun.strip_prefix(open) {
            return thought.split_once(close).map(|(_, rest)| rest);
        }
    }
    Some(reply)
}

/// The rest of the reply.
struct Cursor<'a> {
    rest: &'a str,
}

/// A string, or its beginning.
struct Piece {
    text: String,
    is_whole: bool,
}

impl Cursor<'_> {
    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(is_skipped);
    }

    /// The string that begins here; `None` if something else does.
    fn string(&mut self) -> Option<Piece> {
        let mut chars = self.rest.strip_prefix('"')?.chars();
        let mut text = String::new();
        let is_whole = loop {
            match chars.next() {
                None => break false,
                Some('"') => break true,
                Some('\\') => match escaped(&mut chars) {
                    Some(c) => text.push(c),
                    None => break false,
                },
                Some(c) => text.push(c),
            }
        };
        self.rest = chars.as_str();
        Some(Piece { text, is_whole })
    }

    /// Passes a whole value, and returns whether it is `true`; `None` if its end has not arrived.
    fn pass_value(&mut self) -> Option<bool> {
        let mut depth = 0_usize;
        loop {
            self.skip(char::is_whitespace);
            match self.rest.chars().next()? {
                '"' => {
                    self.string().filter(|value| value.is_whole)?;
                }
                '{' | '[' => {
                    depth += 1;
                    self.rest = self.rest.get(1..)?;
                }
                '}' | ']' | ',' | ':' if depth == 0 => return None,
                end @ ('}' | ']' | ',' | ':') => {
                    depth -= usize::from(matches!(end, '}' | ']'));
                    self.rest = self.rest.get(1..)?;
                }
                _ => {
                    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']' | ':');
                    let (word, rest) = self.rest.split_at(self.rest.find(ends)?);
                    self.rest = rest;
                    if depth == 0 {
                        return Some(word == "true");
                    }
                }
            }
            if depth == 0 {
                return Some(false);
            }
        }
    }
}

/// The character of an escape, after its backslash; `None` if its end has not arrived.
fn escaped(chars: &mut Chars<'_>) -> Option<char> {
    Some(match chars.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => return unicode(chars),
        other => other,
    })
}

/// The character of four digits, or of a pair of surrogates.
fn unicode(chars: &mut Chars<'_>) -> Option<char> {
    const UNKNOWN: char = char::REPLACEMENT_CHARACTER;
    let high = four_digits(chars)?;
    if !(0xD800..0xDC00).contains(&high) {
        return Some(char::from_u32(high).unwrap_or(UNKNOWN));
    }
    let rest = chars.as_str();
    if rest.is_empty() || rest == "\\" {
        return None;
    }
    let Some(low) = rest.strip_prefix("\\u") else { return Some(UNKNOWN) };
    *chars = low.chars();
    let low = four_digits(chars)?;
    let code = 0x10000 + ((high - 0xD800) << 10) + low.wrapping_sub(0xDC00);
    Some(char::from_u32(code).filter(|_| (0xDC00..0xE000).contains(&low)).unwrap_or(UNKNOWN))
}

fn four_digits(chars: &mut Chars<'_>) -> Option<u32> {
    let mut code = 0;
    for _ in 0..4 {
        code = code * 16 + chars.next()?.to_digit(16)?;
    }
    Some(code)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    fn of(reply: &str) -> Option<String> {
        text_so_far(reply, "answer", None)
    }

    fn settled(reply: &str) -> Option<String> {
        text_so_far(reply, "answer", Some("sufficient"))
    }

    #[test]
    fn the_value_is_read_wherever_the_reply_ends() {
        assert_eq!(of(""), None);
        assert_eq!(of(r#"{"rationale": "the answer is \"x\"", "ans"#), None);
        assert_eq!(of(r#"{"answer""#), None);
        assert_eq!(of(r#"{"answer": ""#).as_deref(), Some(""));
        assert_eq!(of(r#"{"answer": "a\"b\\\n\u4e2d"#).as_deref(), Some("a\"b\\\n中"));
        assert_eq!(of(r#"{"answer": "a\"#).as_deref(), Some("a"));
        assert_eq!(of(r#"{"answer": "a\ud83d\ude0"#).as_deref(), Some("a"));
        assert_eq!(of(r#"{"answer": "a\ud83d\ude00"#).as_deref(), Some("a😀"));
        assert_eq!(of(r#"{"answer": "a\ud83d "#).as_deref(), Some("a\u{fffd} "));
        assert_eq!(of("```json\n{\n  \"answer\" : \"so").as_deref(), Some("so"));
        assert_eq!(
            of(r#"{"a": {"answer": "no"}, "b": ["}", 1.5, null], "answer": "yes"#).as_deref(),
            Some("yes")
        );
    }

    #[test]
    fn other_replies_have_no_text() {
        for reply in [
            "The answer is Oslo.",
            r#"{"rationale": "no answer"}"#,
            r#"{"answer": 42, "rationale": "x"}"#,
            r#"{"answer": ["Oslo"]}"#,
            r#"<think>{"answer": "no"}"#,
            r#"{"a": , "answer": "x"}"#,
            "{'answer': 'x'}",
        ] {
            assert_eq!(of(reply), None, "{reply}");
        }
        assert_eq!(of(r#"<think>{</think>{"answer": "x"#).as_deref(), Some("x"));
    }

    #[test]
    fn an_unsettled_round_has_no_text() {
        let reply = |verdict: &str| {
            format!(r#"{{"facts": [true], "sufficient": {verdict}, "missing": [], "answer": "x"#)
        };
        assert_eq!(settled(&reply("true")).as_deref(), Some("x"));
        for verdict in ["false", "null", "\"true\"", "[true]"] {
            assert_eq!(settled(&reply(verdict)), None, "{verdict}");
        }
        assert_eq!(settled(r#"{"answer": "x", "sufficient": true"#), None);
    }

    /// The JSON with `\u` in place of all characters but those of its syntax.
    fn escaped_json(text: &str) -> String {
        let mut escaped = String::new();
        for unit in text.encode_utf16() {
            write!(escaped, "\\u{unit:04x}").unwrap();
        }
        escaped
    }

    fn all_prefixes(json: &str, answer: &str) -> Result<(), TestCaseError> {
        let mut last = String::new();
        for (end, _) in json.char_indices().chain([(json.len(), ' ')]) {
            let text = of(&json[..end]).unwrap_or_default();
            prop_assert!(answer.starts_with(&text), "{text:?} of {answer:?} at {end}");
            prop_assert!(text.starts_with(&last), "{text:?} after {last:?} at {end}");
            last = text;
        }
        prop_assert_eq!(last, answer);
        Ok(())
    }

    proptest! {
        /// Wherever the reply is cut, the text is a prefix of the final one, and grows.
        #[test]
        fn every_cut_gives_a_prefix(
            answer in any::<String>(),
            before in any::<String>(),
            list in prop::collection::vec("[\\]\\[{}\"\\\\a,:]{0,6}", 0..4),
            number in any::<f64>(),
        ) {
            let mut object = Map::new();
            object.insert("a rationale".to_owned(), json!(before));
            object.insert("another".to_owned(), json!({"list": list, "number": number, "answer": before}));
            object.insert("answer".to_owned(), json!(answer));
            object.insert("b later".to_owned(), json!(["answer"]));
            let object = Value::Object(object);
            all_prefixes(&object.to_string(), &answer)?;
            all_prefixes(&serde_json::to_string_pretty(&object).unwrap(), &answer)?;
            let escaped = escaped_json(&answer);
            all_prefixes(&format!(r#"{{"z": "{}", "answer": "{escaped}"}}"#, escaped_json(&before)), &answer)?;
        }

        #[test]
        fn handles_any_text(text in r#"([{}\[\]":,'\\ut]|answer|d83d|true|.){0,40}"#) {
            let _ = of(&text);
            let _ = settled(&text);
        }
    }
}
