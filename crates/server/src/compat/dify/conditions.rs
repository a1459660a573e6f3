//! Compares the metadata of documents with the conditions of Dify.

use std::cmp::Ordering;

use jiff::Timestamp;
use pikerag_engine::knowledge::Source;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::compat::contract::unsupported;
use crate::problem::Problem;

/// The most bytes of values that are compared with the fields of one document, each value once for each name.
const MOST_COMPARED: usize = 64 << 10;
/// The most digits of a number that 64 bits of floating point distinguish from others.
const EXACT_DIGITS: usize = 15;

/// Conditions on the metadata of documents.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetadataCondition {
    /// `and` (all must hold, the default), `or` (any) or `xor` (exactly one).
    #[serde(default)]
    logical_operator: Option<String>,
    /// The conditions.
    #[serde(default)]
    conditions: Option<Vec<OneCondition>>,
}

/// One condition.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneCondition {
    /// The name of a field, or a list of names; one of the fields must match.
    #[schema(value_type = Object)]
    name: Names,
    /// One of Dify's comparison operators.
    comparison_operator: String,
    /// The value to compare with: a text, a number, or a list of them.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    value: Option<Value>,
}

/// Dify sends one name; its documentation also had a list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

impl Names {
    fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

impl MetadataCondition {
    pub(super) fn is_empty(&self) -> bool {
        self.conditions.as_ref().is_none_or(Vec::is_empty)
    }

    /// Refuses operators and values that are not served, and conditions that take too long, before
    /// anything is searched.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let mut compared: usize = 0;
        for condition in self.conditions.as_deref().unwrap_or_default() {
            compared = compared.saturating_add(condition.bytes_compared()?);
        }
        if MOST_COMPARED < compared {
            return Err(Problem::bad_request("the conditions are too long")
                .hint("send fewer names and values")
                .about("metadata_condition"));
        }
        self.holds(&|_| None)?;
        Ok(())
    }

    /// Whether a document meets the conditions.
    pub(super) fn fits(&self, source: &Source) -> Result<bool, Problem> {
        self.holds(&|name| match name {
            "title" | "document_name" => Some(source.title.as_str()),
            "path" | "uri" | "source" => Some(source.uri.as_str()),
            name => source.metadata.get(name).map(String::as_str),
        })
    }

    /// Whether the fields of a document meet the conditions.
    fn holds<'a>(&self, field: &dyn Fn(&str) -> Option<&'a str>) -> Result<bool, Problem> {
        let conditions = self.conditions.as_deref().unwrap_or_default();
        let held = conditions.iter().map(|condition| condition.holds(field));
        let held: Vec<bool> = held.collect::<Result<_, Problem>>()?;
        let operator = self.logical_operator.as_deref().unwrap_or_default();
        match operator.to_lowercase().as_str() {
            "" | "and" => Ok(held.iter().all(|holds| *holds)),
            "or" => Ok(held.iter().any(|holds| *holds)),
            "xor" => Ok(held.iter().filter(|holds| **holds).count() == 1),
            _ => {
                let hint = "send `and`, `or` or `xor`";
                Err(unsupported("logical_operator", &json!(operator), hint))
            }
        }
    }
}

impl OneCondition {
    /// The bytes that are compared for one document. A value counts one more than its length.
    fn bytes_compared(&self) -> Result<usize, Problem> {
        let values = values(self.value.as_ref())?;
        let bytes: usize = values.iter().map(|value| value.len().saturating_add(1)).sum();
        Ok(bytes.max(1).saturating_mul(self.name.all().len().max(1)))
    }

    fn holds<'a>(&self, field: &dyn Fn(&str) -> Option<&'a str>) -> Result<bool, Problem> {
        let values = values(self.value.as_ref())?;
        let mut holds = false;
        for name in self.name.all() {
            holds |= compared(&self.comparison_operator, field(name), &values)?;
        }
        Ok(holds)
    }
}

/// The values of a condition as text; none for no value.
fn values(value: Option<&Value>) -> Result<Vec<String>, Problem> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(text).collect(),
        Some(one) => Ok(vec![text(one)?]),
    }
}

fn text(value: &Value) -> Result<String, Problem> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        other => Err(unsupported("value", other, "send a text, a number, or a list of them")),
    }
}

/// Compares a field with values by one of Dify's operators. With several values, an operator that
/// denies holds if it holds for all of them, another one if it holds for any. `in` and `not in` read
/// a text as a list that commas divide.
fn compared(operator: &str, own: Option<&str>, values: &[String]) -> Result<bool, Problem> {
    let own = folded(own.unwrap_or_default());
    let is_empty = own.is_empty();
    let any = |test: fn(&str, &str) -> bool| {
        !is_empty && values.iter().any(|value| test(&own, &folded(value)))
    };
    let is = |test: fn(Ordering) -> bool| {
        !is_empty && values.iter().any(|value| test(ordered(&own, &folded(value))))
    };
    let is_listed = || {
        let listed = values.iter().flat_map(|value| value.split([',', ';', '，', '；']));
        !is_empty && listed.map(folded).any(|one| !one.is_empty() && ordered(&own, &one).is_eq())
    };
    Ok(match operator.trim().to_lowercase().as_str() {
        "contains" => any(|own, value| own.contains(value)),
        "not contains" => !any(|own, value| own.contains(value)),
        "start with" => any(|own, value| own.starts_with(value)),
        "end with" => any(|own, value| own.ends_with(value)),
        "is" | "=" => is(Ordering::is_eq),
        "is not" | "≠" | "!=" => !is(Ordering::is_eq),
        "empty" | "null" => is_empty,
        "not empty" | "not null" => !is_empty,
        "in" => is_listed(),
        "not in" => !is_listed(),
        ">" | "after" => is(Ordering::is_gt),
        "<" | "before" => is(Ordering::is_lt),
        "≥" | ">=" => is(Ordering::is_ge),
        "≤" | "<=" => is(Ordering::is_le),
        other => {
            let hint = "send one of Dify's comparison operators, such as `is` or `contains`";
            return Err(unsupported("comparison_operator", &json!(other), hint));
        }
    })
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

/// The order of a field and a value: of numbers, of dates, else of texts. ISO 8601 dates sort as
/// text; Dify sends a time as seconds since 1970.
fn ordered(own: &str, value: &str) -> Ordering {
    let number = |text: &str| {
        let n_digits = text.bytes().filter(u8::is_ascii_digit).count();
        // A longer one is rather an identifier, whose last digits a float loses.
        if n_digits <= EXACT_DIGITS { text.parse::<f64>().ok() } else { None }
    };
    let numbers = (number(own), number(value));
    if let (Some(own), Some(value)) = numbers
        && let Some(order) = own.partial_cmp(&value)
    {
        return order;
    }
    match is_date(own).then(|| date_of(value)).flatten() {
        Some(date) => own.cmp(date.get(..own.len()).unwrap_or(&date)),
        None => own.cmp(value),
    }
}

/// Whether a text begins with a date such as 2024-05-01.
fn is_date(text: &str) -> bool {
    let shape = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    10 <= text.len() && text.bytes().take(10).enumerate().all(shape)
}

/// A time in seconds as an ISO 8601 date, folded. A smaller number may be a year.
fn date_of(seconds: &str) -> Option<String> {
    const FIRST: i64 = 100_000_000;
    let seconds = seconds.parse::<i64>().ok().filter(|seconds| FIRST <= *seconds)?;
    Some(folded(&Timestamp::from_second(seconds).ok()?.to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pikerag_engine::knowledge::SourceId;

    use super::*;

    fn source(metadata: &[(&str, &str)]) -> Source {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Source {
            id: SourceId(1),
            uri: "docs/crane.md".to_owned(),
            title: "Crane".to_owned(),
            media_type: "text/markdown".to_owned(),
            hash: String::new(),
            language: None,
            metadata: metadata.iter().map(pair).collect::<BTreeMap<_, _>>(),
            summary: None,
        }
    }

    fn fits(condition: &Value) -> Result<bool, String> {
        let condition: MetadataCondition =
            serde_json::from_value(condition.clone()).map_err(|error| error.to_string())?;
        let source =
            source(&[("author", "Ada Lovelace"), ("year", "1906"), ("made", "2024-05-01")]);
        condition.fits(&source).map_err(|problem| problem.detail())
    }

    fn one(name: &Value, operator: &str, value: &Value) -> Result<bool, String> {
        fits(&json!({"conditions": [
            {"name": name, "comparison_operator": operator, "value": value}
        ]}))
    }

    #[test]
    fn operators_compare_fields_as_dify_defines() {
        let is = |operator, own, value: &str| compared(operator, own, &[value.to_owned()]).unwrap();
        assert!(is("contains", Some("Ada Lovelace"), "ada") && !is("contains", None, "ada"));
        assert!(is("not contains", None, "ada") && is("start with", Some("Ada"), "a"));
        assert!(is("=", Some("2.0"), "2") && is("≠", Some("3"), "2") && is("is not", None, "2"));
        assert!(is(">", Some("10"), "9") && is("after", Some("2024-05-01"), "2024-04-30"));
        assert!(
            is("≤", Some("9"), "9")
                && is("in", Some("b"), "a, b")
                && is("not in", Some("c"), "a,b")
        );
        assert!(is("empty", Some(" "), "") && is("not empty", Some("x"), ""));
        assert!(compared("like", Some("x"), &[]).is_err());
    }

    #[test]
    fn long_numbers_are_compared_digit_by_digit() {
        let is = |operator, own, value: &str| compared(operator, own, &[value.to_owned()]).unwrap();
        let own = Some("110101199003071234");
        assert!(is("is", own, "110101199003071234"));
        assert!(!is("is", own, "110101199003071235") && !is("in", own, "110101199003071235"));
        assert!(is("is", Some("007"), "7"));
    }

    #[test]
    fn conditions_that_take_too_long_are_refused() {
        let check = |n_names: usize, n_values: usize| {
            let (names, values) = (vec!["year"; n_names], vec!["1906"; n_values]);
            let one = json!({"name": names, "comparison_operator": "in", "value": values});
            let all: MetadataCondition =
                serde_json::from_value(json!({ "conditions": [one] })).unwrap();
            all.check().map_err(|problem| problem.detail())
        };
        assert_eq!(check(10, 100), Ok(()));
        for (n_names, n_values) in [(1000, 1000), (100_000, 0), (1, 100_000)] {
            assert_eq!(check(n_names, n_values), Err("the conditions are too long".to_owned()));
        }
    }

    #[test]
    fn names_are_a_text_or_a_list_and_values_also_numbers_and_lists() {
        let author = json!("author");
        assert_eq!(one(&author, "is", &json!("ada lovelace")), Ok(true));
        assert_eq!(one(&json!(["editor", "author"]), "contains", &json!("ada")), Ok(true));
        assert_eq!(one(&json!("year"), "=", &json!(1906)), Ok(true));
        assert_eq!(one(&json!("year"), "in", &json!([1905, 1906])), Ok(true));
        assert_eq!(one(&author, "in", &json!(["Grace", "Ada Lovelace"])), Ok(true));
        assert_eq!(one(&author, "not in", &json!(["Grace", "Ada Lovelace"])), Ok(false));
        assert_eq!(one(&author, "not in", &json!([])), Ok(true));
        assert_eq!(one(&author, "not contains", &json!(["Grace", "Ada"])), Ok(false));
        assert_eq!(one(&json!("editor"), "empty", &json!(null)), Ok(true));
        assert!(one(&author, "is", &json!({"a": 1})).unwrap_err().contains("`value`"));
        let misspelt = json!({"conditions": [{"name": "year", "operator": "is", "value": "1"}]});
        assert!(fits(&misspelt).unwrap_err().contains("unknown field `operator`"));
    }

    #[test]
    fn times_in_seconds_compare_with_dates() {
        let made = json!("made");
        // The last second of 30 April 2024, and noon of 1 May.
        assert_eq!(one(&made, "after", &json!(1_714_521_599)), Ok(true));
        assert_eq!(one(&made, "before", &json!(1_714_521_599)), Ok(false));
        assert_eq!(one(&made, "after", &json!(1_714_564_800)), Ok(false));
        assert_eq!(one(&made, "before", &json!("2030")), Ok(true));
    }

    #[test]
    fn conditions_are_joined_by_and_or_xor() {
        let joined = |operator: Value| {
            let condition = |name: &str, value: &str| json!({"name": name, "comparison_operator": "is", "value": value});
            let both = [condition("year", "1906"), condition("author", "Ada Lovelace")];
            let one = [condition("year", "1906"), condition("author", "Grace")];
            [both, one].map(|conditions| {
                fits(&json!({"logical_operator": operator, "conditions": conditions}))
            })
        };
        assert_eq!(joined(json!("and")), [Ok(true), Ok(false)]);
        assert_eq!(joined(json!(null)), [Ok(true), Ok(false)]);
        assert_eq!(joined(json!("or")), [Ok(true), Ok(true)]);
        assert_eq!(joined(json!("XOR")), [Ok(false), Ok(true)]);
        assert!(joined(json!("nor"))[0].as_ref().unwrap_err().contains("`logical_operator`"));
    }
}
