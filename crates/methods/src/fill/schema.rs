//! Checks values against a JSON Schema: the keywords that structured outputs use. Others say nothing about a value.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use pikerag_language::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// Deeper values and longer chains of references are refused.
const DEEPEST: usize = 64;
/// The most steps of one check: alternatives within alternatives multiply.
const MOST_STEPS: usize = 100_000;
/// The steps that a match of a regular expression counts as.
const STEPS_PER_MATCH: usize = 1000;
/// The choices of a list that are compared in the time of one step.
const CHOICES_PER_STEP: usize = 16;
/// The most bytes of a compiled regular expression. A short one may describe a large machine: `(\w{9}){99}`.
const LARGEST_PATTERN: usize = 512 << 10;
/// The most different regular expressions of a schema.
pub(super) const MOST_PATTERNS: usize = 32;

/// The first place where a value does not meet a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// The keys above the place, such as `people.0.name`; `the object` for the root.
    pub(super) path: String,
    /// The expected value, in words for a model: `an integer`.
    pub(super) expected: String,
}

/// A part of a schema that cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Uncheckable {
    /// A reference to another document, or to a place that does not exist.
    Reference(String),
    /// A regular expression that this program cannot read, or that needs too much memory.
    Pattern(String),
    /// More than [`MOST_PATTERNS`] regular expressions.
    Patterns,
}

/// Whether a value meets a schema.
pub(super) fn check(root: &Value, value: &Value) -> Result<(), Misfit> {
    let checking = Checking { root, steps: Cell::new(0), compiled: RefCell::default() };
    checking.value(root, value, "", 0)
}

/// The first part of a schema that cannot be checked.
pub(super) fn uncheckable(root: &Value) -> Option<Uncheckable> {
    uncheckable_part(root, root, &mut HashSet::new())
}

/// The first part below `part` that cannot be checked; `patterns` are the readable ones before it.
fn uncheckable_part<'a>(
    root: &Value,
    part: &'a Value,
    patterns: &mut HashSet<&'a str>,
) -> Option<Uncheckable> {
    match part {
        Value::Array(items) => items.iter().find_map(|item| uncheckable_part(root, item, patterns)),
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref")
                && resolved(root, reference).is_none()
            {
                return Some(Uncheckable::Reference(reference.clone()));
            }
            if let Some(Value::String(pattern)) = fields.get("pattern")
                && !patterns.contains(pattern.as_str())
            {
                if MOST_PATTERNS <= patterns.len() {
                    return Some(Uncheckable::Patterns);
                }
                if compiled(pattern).is_none() {
                    return Some(Uncheckable::Pattern(pattern.clone()));
                }
                patterns.insert(pattern);
            }
            fields.values().find_map(|field| uncheckable_part(root, field, patterns))
        }
        _ => None,
    }
}

/// A regular expression within the limit of memory; `None` if it cannot be read.
fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build().ok()
}

/// The schema behind a reference within the document: `#/$defs/Person`.
pub(super) fn resolved<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// The types that a schema names; none if it names none.
pub(super) fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

struct Checking<'a> {
    root: &'a Value,
    steps: Cell<usize>,
    /// The regular expressions that were used so far.
    compiled: RefCell<HashMap<String, Regex>>,
}

impl Checking<'_> {
    fn value(&self, schema: &Value, value: &Value, path: &str, depth: usize) -> Result<(), Misfit> {
        self.count(1);
        if DEEPEST < depth || MOST_STEPS < self.steps.get() {
            return misfit(path, "a simpler value");
        }
        let schema = match schema {
            Value::Bool(false) => return misfit(path, "left out"),
            Value::Object(schema) => schema,
            _ => return Ok(()),
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            match resolved(self.root, reference) {
                Some(target) => self.value(target, value, path, depth + 1)?,
                None => return misfit(path, "of a known type"),
            }
        }
        self.alternatives(schema, value, path, depth)?;
        let is_nullable = schema.get("nullable") == Some(&Value::Bool(true));
        if value.is_null() && is_nullable {
            return Ok(());
        }
        let kinds = kinds(schema);
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(kind, value)) {
            return misfit(path, &format!("of the type {}", kinds.join(" or ")));
        }
        if let Some(Value::Array(allowed)) = schema.get("enum") {
            self.count(allowed.len() / CHOICES_PER_STEP);
            if !allowed.contains(value) {
                return misfit(path, &format!("one of {}", Value::Array(allowed.clone())));
            }
        }
        if let Some(only) = schema.get("const")
            && only != value
        {
            return misfit(path, &only.to_string());
        }
        match value {
            Value::String(text) => self.text(schema, text, path),
            Value::Number(number) => of_number(schema, number.as_f64().unwrap_or_default(), path),
            Value::Array(items) => self.items(schema, items, path, depth),
            Value::Object(fields) => self.fields(schema, fields, path, depth),
            _ => Ok(()),
        }
    }

    fn count(&self, steps: usize) {
        self.steps.set(self.steps.get().saturating_add(steps));
    }

    fn alternatives(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Result<(), Misfit> {
        let meets = |part: &&Value| self.value(part, value, path, depth + 1).is_ok();
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            for part in parts {
                self.value(part, value, path, depth + 1)?;
            }
        }
        if let Some(Value::Array(parts)) = schema.get("anyOf")
            && !parts.iter().any(|part| meets(&part))
        {
            // The fault within the only alternative that is not null says more.
            let real: Vec<&Value> = parts.iter().filter(|part| !is_null_type(part)).collect();
            return match real.as_slice() {
                [only] => self.value(only, value, path, depth + 1),
                _ => misfit(path, "one of the alternatives of the schema"),
            };
        }
        if let Some(Value::Array(parts)) = schema.get("oneOf")
            && parts.iter().filter(meets).count() != 1
        {
            return misfit(path, "exactly one of the alternatives of the schema");
        }
        match schema.get("not") {
            Some(part) if meets(&part) => misfit(path, "another value"),
            _ => Ok(()),
        }
    }

    fn text(&self, schema: &Map<String, Value>, text: &str, path: &str) -> Result<(), Misfit> {
        let bounds = (count(schema, "minLength"), count(schema, "maxLength"));
        within(text.chars().count(), bounds, path, "characters")?;
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            self.count(STEPS_PER_MATCH);
            if !self.matches(pattern, text) {
                return misfit(path, &format!("text that matches {pattern}"));
            }
        }
        let name = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let form = match name {
            "date" => r"^\d{4}-\d{2}-\d{2}$",
            "date-time" => r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}",
            "time" => r"^\d{2}:\d{2}",
            "email" => r"^[^@\s]+@[^@\s]+$",
            "uri" => r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$",
            _ => return Ok(()),
        };
        if self.matches(form, text) {
            return Ok(());
        }
        misfit(path, &format!("text of the format {name}"))
    }

    /// Whether a text matches a regular expression, which is compiled once. One that cannot be read matches nothing.
    fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut all = self.compiled.borrow_mut();
        if let Some(known) = all.get(pattern) {
            return known.is_match(text);
        }
        let Some(new) = compiled(pattern) else { return false };
        let is_match = new.is_match(text);
        all.insert(pattern.to_owned(), new);
        is_match
    }

    fn items(
        &self,
        schema: &Map<String, Value>,
        items: &[Value],
        path: &str,
        depth: usize,
    ) -> Result<(), Misfit> {
        let bounds = (count(schema, "minItems"), count(schema, "maxItems"));
        within(items.len(), bounds, path, "items")?;
        let is_repeated = |(at, item): (usize, &Value)| items.iter().take(at).any(|it| it == item);
        if schema.get("uniqueItems") == Some(&Value::Bool(true))
            && items.iter().enumerate().any(is_repeated)
        {
            return misfit(path, "a list without repeated items");
        }
        let first = schema.get("prefixItems").and_then(Value::as_array);
        for (at, item) in items.iter().enumerate() {
            let own = first.and_then(|first| first.get(at)).or_else(|| schema.get("items"));
            if let Some(own) = own {
                self.value(own, item, &below(path, &at.to_string()), depth + 1)?;
            }
        }
        Ok(())
    }

    fn fields(
        &self,
        schema: &Map<String, Value>,
        fields: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Result<(), Misfit> {
        let bounds = (count(schema, "minProperties"), count(schema, "maxProperties"));
        within(fields.len(), bounds, path, "fields")?;
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return misfit(&below(path, name), "present");
            }
        }
        let own = schema.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let place = below(path, name);
            match (own.and_then(|own| own.get(name)), schema.get("additionalProperties")) {
                (Some(own), _) => self.value(own, value, &place, depth + 1)?,
                (None, Some(other)) => self.value(other, value, &place, depth + 1)?,
                (None, None) => {}
            }
        }
        Ok(())
    }
}

fn misfit<T>(path: &str, expected: &str) -> Result<T, Misfit> {
    let path = if path.is_empty() { "the object" } else { path };
    Err(Misfit { path: path.to_owned(), expected: expected.to_owned() })
}

/// The path of a field or item of the value at `path`.
pub(super) fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Whether a schema admits null alone.
pub(super) fn is_null_type(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| kinds(schema) == ["null"])
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn of_number(schema: &Map<String, Value>, number: f64, path: &str) -> Result<(), Misfit> {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    if let Some(least) = bound("minimum").filter(|least| number < *least) {
        return misfit(path, &format!("at least {least}"));
    }
    if let Some(most) = bound("maximum").filter(|most| *most < number) {
        return misfit(path, &format!("at most {most}"));
    }
    if let Some(least) = bound("exclusiveMinimum").filter(|least| number <= *least) {
        return misfit(path, &format!("above {least}"));
    }
    if let Some(most) = bound("exclusiveMaximum").filter(|most| *most <= number) {
        return misfit(path, &format!("below {most}"));
    }
    let is_off = |step: &f64| {
        let steps = number / step;
        1e-9 < (steps - steps.round()).abs()
    };
    match bound("multipleOf").filter(is_off) {
        Some(step) => misfit(path, &format!("a multiple of {step}")),
        None => Ok(()),
    }
}

fn count(schema: &Map<String, Value>, name: &str) -> Option<usize> {
    schema.get(name).and_then(Value::as_u64).map(|count| count as usize)
}

fn within(
    number: usize,
    (least, most): (Option<usize>, Option<usize>),
    path: &str,
    of: &str,
) -> Result<(), Misfit> {
    match (least, most) {
        (Some(least), _) if number < least => misfit(path, &format!("at least {least} {of}")),
        (_, Some(most)) if most < number => misfit(path, &format!("at most {most} {of}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(schema: &Value, value: &Value) -> String {
        match check(schema, value) {
            Ok(()) => "fits".to_owned(),
            Err(Misfit { path, expected }) => format!("{path}: {expected}"),
        }
    }

    #[test]
    fn values_are_checked_at_every_depth() {
        let person = json!({
            "$defs": {"Person": {"type": "object", "properties": {
                "name": {"type": "string"}, "age": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
            }, "required": ["name"], "additionalProperties": false}},
            "type": "object", "properties": {"people": {"type": "array", "items": {"$ref": "#/$defs/Person"}, "minItems": 1}},
            "required": ["people"],
        });
        let of = |people: Value| of(&person, &json!({ "people": people }));
        assert_eq!(of(json!([{"name": "Ada", "age": null}])), "fits");
        assert_eq!(of(json!([])), "people: at least 1 items");
        assert_eq!(of(json!([{"age": 3}])), "people.0.name: present");
        assert_eq!(of(json!([{"name": "Ada", "age": -3}])), "people.0.age: at least 0");
        assert_eq!(of(json!([{"name": 3}])), "people.0.name: of the type string");
        assert_eq!(of(json!([{"name": "Ada", "town": "x"}])), "people.0.town: left out");
        assert_eq!(check(&person, &json!({})).unwrap_err().path, "people");
    }

    #[test]
    fn each_keyword_refuses_a_value() {
        for (schema, value, refused) in [
            (json!({"type": "integer"}), json!(3.5), "of the type integer"),
            (json!({"type": ["string", "null"]}), json!(3), "of the type string or null"),
            (json!({"enum": ["a", "b"]}), json!("c"), "one of [\"a\",\"b\"]"),
            (json!({"const": 1}), json!(2), "1"),
            (json!({"pattern": "^a"}), json!("b"), "text that matches ^a"),
            (json!({"format": "date"}), json!("1 March"), "text of the format date"),
            (json!({"maxLength": 1}), json!("青岛"), "at most 1 characters"),
            (json!({"exclusiveMaximum": 1}), json!(1), "below 1"),
            (json!({"multipleOf": 0.1}), json!(0.25), "a multiple of 0.1"),
            (json!({"uniqueItems": true}), json!([1, 1]), "a list without repeated items"),
            (json!({"not": {"type": "string"}}), json!("a"), "another value"),
            (
                json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}),
                json!(1),
                "exactly one of the alternatives of the schema",
            ),
        ] {
            assert_eq!(of(&schema, &value), format!("the object: {refused}"));
        }
        assert_eq!(of(&json!({"type": "string", "nullable": true}), &json!(null)), "fits");
        assert_eq!(of(&json!({"multipleOf": 0.1}), &json!(0.3)), "fits");
    }

    #[test]
    fn endless_schemas_end() {
        let endless = json!({"$ref": "#"});
        assert_eq!(of(&endless, &json!({})), "the object: a simpler value");
        let doubling = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
        assert_eq!(of(&doubling, &json!({})), "the object: one of the alternatives of the schema");
    }

    #[test]
    fn parts_that_cannot_be_checked_are_named() {
        let of = |schema: Value| uncheckable(&schema);
        assert_eq!(of(json!({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {}}})), None);
        assert_eq!(
            of(json!({"items": {"$ref": "#/$defs/b"}})),
            Some(Uncheckable::Reference("#/$defs/b".to_owned()))
        );
        for pattern in ["(?=a)", "(\\w{99}){99}"] {
            let unreadable = Some(Uncheckable::Pattern(pattern.to_owned()));
            assert_eq!(of(json!({ "pattern": pattern })), unreadable);
        }
        let all = |n: usize| -> Vec<Value> {
            (0..n).map(|number| json!({"pattern": format!("^{number}$")})).collect()
        };
        assert_eq!(of(json!({ "allOf": all(MOST_PATTERNS) })), None);
        assert_eq!(of(json!({ "allOf": all(MOST_PATTERNS + 1) })), Some(Uncheckable::Patterns));
        // An equal one counts once.
        let equal = vec![json!({"pattern": "^a$"}); 2 * MOST_PATTERNS];
        assert_eq!(of(json!({ "allOf": equal })), None);
    }

    #[test]
    fn expensive_parts_count_as_many_steps() {
        let matched = vec![json!({"pattern": "a"}); MOST_STEPS / STEPS_PER_MATCH + 1];
        assert_eq!(of(&json!({ "allOf": matched }), &json!("a")), "the object: a simpler value");
        let choices: Vec<u32> = (0..1600).collect();
        let compared = vec![json!({ "enum": choices }); 1000];
        assert_eq!(of(&json!({ "allOf": compared }), &json!(7)), "the object: a simpler value");
        let few = vec![json!({"pattern": "a"}); 10];
        assert_eq!(of(&json!({ "allOf": few }), &json!("a")), "fits");
    }
}
