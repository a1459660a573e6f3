//! Checks that the values of a model occur in the answer, its reasons or its quotes.

use pikerag_knowledge::{Answer, Check};
use pikerag_language::fold::tokens;
use pikerag_language::{Regex, month_named};
use serde_json::{Map, Value};

use super::numbers::{all, is_same};
use super::schema::below;

/// The most words between the parts of a date: `1 March 2024`, `2024年3月1日`.
const WITHIN: usize = 7;

/// Digits that signs join. Their words alone do not distinguish `2.5` from `2-5`.
const JOINED: &str = r"\d+(?:[^\w\s]\d+)+";

/// The words and numbers that a value may come from.
pub(super) struct Sources {
    texts: Vec<String>,
    /// The words of each text.
    words: Vec<Vec<String>>,
    numbers: Vec<f64>,
}

/// A value that occurs nowhere in the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invented {
    /// The keys above it, such as `people.0.name`.
    pub(super) path: String,
    /// The value as JSON.
    pub(super) value: String,
}

impl Sources {
    pub(super) fn of(answer: &Answer) -> Self {
        let mut texts = vec![answer.text.clone(), answer.rationale.clone()];
        texts.extend(answer.missing.iter().cloned());
        for citation in answer.citations.iter().filter(|it| it.check == Check::Verified) {
            texts.push(citation.quote.clone());
            texts.push(citation.title.clone());
            texts.push(citation.uri.clone());
            texts.extend(citation.columns.iter().cloned());
        }
        let values = answer.worked.as_deref().map(|worked| worked.values.as_slice());
        texts.extend(values.unwrap_or_default().iter().cloned());
        let numbers = texts.iter().flat_map(|text| all(text)).collect();
        Self { words: texts.iter().map(|text| folded(text)).collect(), texts, numbers }
    }

    fn hold_text(&self, text: &str) -> bool {
        let words = folded(text);
        let holds = |source: &Vec<String>| {
            source.windows(words.len()).any(|window| window == words.as_slice())
        };
        words.is_empty()
            || (self.words.iter().any(holds) && self.hold_joined_digits(text))
            || self.hold_date(text)
    }

    /// Whether the digits that signs join in a text are written so in the sources.
    fn hold_joined_digits(&self, text: &str) -> bool {
        let Ok(joined) = Regex::new(JOINED) else { return false };
        let holds = |digits: &str| self.texts.iter().any(|source| source.contains(digits));
        joined.find_iter(text).all(|digits| holds(digits.as_str()))
    }

    fn hold_number(&self, number: f64) -> bool {
        self.numbers.iter().any(|own| is_same(*own, number))
    }

    /// Whether a date such as `2024-03-01` is written in a source in another form.
    fn hold_date(&self, text: &str) -> bool {
        let date = text.split(['T', ' ']).next().unwrap_or_default();
        let parts: Vec<&str> = date.split('-').collect();
        let [year, month, day] = parts.as_slice() else { return false };
        let number = |part: &str| part.parse::<u32>().ok();
        let (Some(year), Some(month), Some(day)) = (number(year), number(month), number(day))
        else {
            return false;
        };
        // A time of day that no source gives is not a part of the date.
        let time: String = text.chars().skip(date.len()).filter(char::is_ascii_digit).collect();
        let is_day = |word: &String| {
            let digits = word.trim_end_matches(char::is_alphabetic);
            digits.parse::<u32>() == Ok(day)
        };
        let is_month =
            |word: &String| word.parse::<u32>() == Ok(month) || month_named(word) == Some(month);
        let holds = |words: &[String]| {
            words.iter().any(|word| word.parse::<u32>() == Ok(year))
                && words.iter().any(is_month)
                && words.iter().any(is_day)
        };
        let within =
            |source: &Vec<String>| source.windows(WITHIN.min(source.len()).max(1)).any(holds);
        time.chars().all(|c| c == '0') && self.words.iter().any(within)
    }
}

/// The first value that occurs nowhere in the sources. Values that the schema itself lists (choices, constants,
/// defaults), booleans and null may be used freely.
pub(super) fn invented(sources: &Sources, root: &Value, value: &Value) -> Option<Invented> {
    let mut listed = Vec::new();
    collect_listed(root, &mut listed);
    let mut names = Vec::new();
    collect_names(root, &mut names);
    let judging = Judging { sources, listed, names };
    judging.first(value, "")
}

struct Judging<'a> {
    sources: &'a Sources,
    /// The values that the schema lists.
    listed: Vec<&'a Value>,
    /// The names of all fields in the schema.
    names: Vec<&'a str>,
}

impl Judging<'_> {
    fn first(&self, value: &Value, path: &str) -> Option<Invented> {
        if self.listed.contains(&value) {
            return None;
        }
        let is_held = match value {
            Value::String(text) => self.sources.hold_text(text),
            Value::Number(number) => self.sources.hold_number(number.as_f64().unwrap_or(f64::NAN)),
            Value::Null | Value::Bool(_) => true,
            Value::Array(items) => {
                let mut items = items.iter().enumerate();
                return items
                    .find_map(|(at, item)| self.first(item, &below(path, &at.to_string())));
            }
            Value::Object(fields) => return self.first_of(fields, path),
        };
        (!is_held).then(|| Invented { path: path.to_owned(), value: value.to_string() })
    }

    /// The keys of an object count too, where the schema does not name them.
    fn first_of(&self, fields: &Map<String, Value>, path: &str) -> Option<Invented> {
        for (name, value) in fields {
            let place = below(path, name);
            if !self.names.contains(&name.as_str()) && !self.sources.hold_text(name) {
                return Some(Invented { path: place, value: format!("\"{name}\"") });
            }
            if let Some(invented) = self.first(value, &place) {
                return Some(invented);
            }
        }
        None
    }
}

/// The words of a text without case and accents; Chinese character by character.
pub(super) fn folded(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.folded).collect()
}

fn collect_listed<'a>(schema: &'a Value, listed: &mut Vec<&'a Value>) {
    match schema {
        Value::Object(fields) => {
            listed.extend(fields.get("const"));
            listed.extend(fields.get("default"));
            listed.extend(fields.get("enum").and_then(Value::as_array).into_iter().flatten());
            fields.values().for_each(|field| collect_listed(field, listed));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_listed(item, listed)),
        _ => {}
    }
}

fn collect_names<'a>(schema: &'a Value, names: &mut Vec<&'a str>) {
    match schema {
        Value::Object(fields) => {
            let own = fields.get("properties").and_then(Value::as_object);
            names.extend(own.into_iter().flat_map(Map::keys).map(String::as_str));
            fields.values().for_each(|field| collect_names(field, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::samples::{answer, cited_answer};
    use super::*;

    fn first(text: &str, schema: &Value, value: &Value) -> Option<String> {
        let answer = Answer { text: text.to_owned(), ..cited_answer() };
        invented(&Sources::of(&answer), schema, value).map(|invented| invented.path)
    }

    #[test]
    fn words_and_numbers_of_the_answer_and_its_quotes_are_held() {
        let schema = json!({"properties": {"a": {}, "b": {"items": {"properties": {"c": {}}}}}});
        let text =
            "The KX-40 of Müller lifts 12.5 t since 1 March 2024; three cranes, 二百六十四件.";
        for value in [
            json!({"a": "the KX-40"}),
            json!({"a": "12.5 t"}),
            json!({"a": "Muller"}),
            json!({"a": "capital"}),
            json!({"a": 12.5, "b": [{"c": 3}, {"c": 264}, {"c": 2024}]}),
            json!({"a": "2024-03-01"}),
            json!({"a": "2024-03-01T00:00:00Z"}),
            json!({"a": null, "b": true}),
            json!({"a": ""}),
        ] {
            assert_eq!(first(text, &schema, &value), None, "{value}");
        }
        for (value, path) in [
            (json!({"a": "the KX-41"}), "a"),
            (json!({"a": "12-5 t"}), "a"),
            (json!({"a": "Müller of KX-40"}), "a"),
            (json!({"a": 13}), "a"),
            (json!({"a": 40}), "a"),
            (json!({"a": "2024-04-01"}), "a"),
            (json!({"a": "2024-03-01T08:00:00Z"}), "a"),
            (json!({"b": [{"c": 3}, {"c": 99}]}), "b.1.c"),
            (json!({"Oslo": 3, "Paris": 3}), "Paris"),
        ] {
            assert_eq!(first(text, &schema, &value).as_deref(), Some(path), "{value}");
        }
    }

    #[test]
    fn values_that_the_schema_lists_are_free() {
        let schema = json!({"properties": {"a": {"enum": ["harbour", 7]}, "b": {"default": "none"}, "c": {"const": "x1"}}});
        assert_eq!(first("Oslo", &schema, &json!({"a": "harbour", "b": "none", "c": "x1"})), None);
        assert_eq!(first("Oslo", &schema, &json!({"a": 7})), None);
        assert_eq!(first("Oslo", &schema, &json!({"a": "town"})).as_deref(), Some("a"));
        assert!(invented(&Sources::of(&answer("x")), &schema, &json!({"a": "Oslo"})).is_some());
    }
}
