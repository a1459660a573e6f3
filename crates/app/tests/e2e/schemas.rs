//! Checks JSON values against schemas of the OpenAPI document, and finds fields that a schema does
//! not name.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Checks a value; the error says where it is wrong and why. A field that the schema does not name
/// is wrong, too.
pub(crate) fn check(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let checked = Walk { document }.whole(schema, value, "");
    checked.map_err(|misfit| format!("{}: {}", misfit.at, misfit.why))
}

struct Walk<'a> {
    document: &'a Value,
}

/// The fields that a schema names; all fields if it mentions none.
#[derive(Default)]
struct Named {
    all: bool,
    some: BTreeSet<String>,
}

struct Misfit {
    at: String,
    why: String,
    /// The value is of another kind. Of several schemas that do not fit, this one was not meant.
    is_other: bool,
}

type Checked<T> = Result<T, Misfit>;

fn misfit<T>(at: &str, why: String) -> Checked<T> {
    Err(Misfit { at: at.to_owned(), why, is_other: false })
}

impl Walk<'_> {
    /// Checks a value that this schema alone describes.
    fn whole(&self, schema: &Value, value: &Value, at: &str) -> Checked<()> {
        let named = self.part(schema, value, at)?;
        let unnamed = |name: &&String| !named.all && !named.some.contains(*name);
        match value.as_object().and_then(|fields| fields.keys().find(unnamed)) {
            Some(name) => misfit(at, format!("the document does not name `{name}`")),
            None => Ok(()),
        }
    }

    /// Checks a value that other schemas may describe, too.
    fn part(&self, schema: &Value, value: &Value, at: &str) -> Checked<Named> {
        let Value::Object(rules) = schema else { panic!("{at}: no schema: {schema}") };
        let says = ["$ref", "allOf", "oneOf", "anyOf", "type", "enum"];
        let mut named =
            Named { all: !says.iter().any(|says| rules.contains_key(*says)), ..Named::default() };
        let fields = ["properties", "additionalProperties"];
        // `required` comes last, because a tag shows which of several schemas is meant.
        let (last, first): (Vec<_>, Vec<_>) =
            rules.iter().partition(|(rule, _)| *rule == "required");
        for (rule, of) in first.into_iter().chain(last) {
            match rule.as_str() {
                "$ref" => {
                    let place = of.as_str().unwrap().strip_prefix('#').unwrap();
                    let schema = self.document.pointer(place);
                    let schema = schema.unwrap_or_else(|| panic!("there is no {place}"));
                    named.join(self.part(schema, value, at)?);
                }
                "allOf" => {
                    for schema in of.as_array().unwrap() {
                        named.join(self.part(schema, value, at)?);
                    }
                }
                "oneOf" => named.join(self.one_of(of.as_array().unwrap(), value, at)?),
                "type" if of == "object" && !fields.iter().any(|say| rules.contains_key(*say)) => {
                    return misfit(
                        at,
                        "a client would take it for an object without fields".to_owned(),
                    );
                }
                "type" if !is_of(of, value) => {
                    return misfit(at, format!("must be {of}, but is {value}"));
                }
                "enum" if !of.as_array().unwrap().contains(value) => {
                    let why = format!("must be one of {of}, but is {value}");
                    let is_other = of.as_array().unwrap().len() == 1;
                    return Err(Misfit { at: at.to_owned(), why, is_other });
                }
                "pattern" => {
                    assert_eq!(of, "^[0-9a-f]{16}$", "{at}: check this pattern, too");
                    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                    let fits =
                        value.as_str().is_some_and(|id| id.len() == 16 && id.chars().all(is_digit));
                    if !fits {
                        return misfit(at, format!("{value} is no identifier"));
                    }
                }
                "minimum" if value.as_f64().is_some_and(|value| value < of.as_f64().unwrap()) => {
                    return misfit(at, format!("must be at least {of}, but is {value}"));
                }
                "minItems" | "maxItems"
                    if value.as_array().is_some_and(|all| !is_length(rule, of, all)) =>
                {
                    return misfit(at, format!("`{rule}` is {of}, but the list is {value}"));
                }
                "required" | "properties" | "additionalProperties" | "propertyNames" => {
                    if let Value::Object(fields) = value {
                        self.fields(rule, of, rules, fields, at, &mut named)?;
                    }
                }
                "prefixItems" | "items" => {
                    if let Value::Array(items) = value {
                        self.items(rule, of, rules, items, at)?;
                    }
                }
                "type" | "enum" | "minimum" | "minItems" | "maxItems" | "description"
                | "format" | "title" | "default" | "example" => {}
                other => panic!("{at}: the rule `{other}` is unknown"),
            }
        }
        Ok(named)
    }

    /// Exactly one of several schemas must fit.
    fn one_of(&self, schemas: &[Value], value: &Value, at: &str) -> Checked<Named> {
        let (mut fitting, mut failed) = (Vec::new(), Vec::new());
        for schema in schemas {
            match self.part(schema, value, at) {
                Ok(named) => fitting.push(named),
                Err(why) => failed.push(why),
            }
        }
        match (fitting.len(), fitting.pop()) {
            (1, Some(named)) => Ok(named),
            (0, _) => {
                let meant = failed.into_iter().max_by_key(|one| (!one.is_other, one.at.len()));
                Err(meant.unwrap_or_else(|| panic!("{at}: `oneOf` lists no schema")))
            }
            (several, _) => misfit(at, format!("{several} schemas fit {value}")),
        }
    }

    fn fields(
        &self,
        rule: &str,
        of: &Value,
        rules: &Map<String, Value>,
        fields: &Map<String, Value>,
        at: &str,
        named: &mut Named,
    ) -> Checked<()> {
        let known = rules.get("properties").and_then(Value::as_object);
        match (rule, of) {
            ("required", _) => {
                for name in of.as_array().unwrap().iter().filter_map(Value::as_str) {
                    if !fields.contains_key(name) {
                        return misfit(at, format!("`{name}` is missing"));
                    }
                }
            }
            ("properties", _) => {
                for (name, schema) in of.as_object().unwrap() {
                    named.some.insert(name.clone());
                    if let Some(value) = fields.get(name) {
                        self.whole(schema, value, &format!("{at}.{name}"))?;
                    }
                }
            }
            ("additionalProperties", Value::Bool(may)) => named.all |= may,
            ("additionalProperties", schema) => {
                named.all = true;
                for (name, value) in fields {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        self.whole(schema, value, &format!("{at}.{name}"))?;
                    }
                }
            }
            _ => {
                for name in fields.keys() {
                    self.whole(of, &json!(name), &format!("{at}.{name}"))?;
                }
            }
        }
        Ok(())
    }

    fn items(
        &self,
        rule: &str,
        of: &Value,
        rules: &Map<String, Value>,
        items: &[Value],
        at: &str,
    ) -> Checked<()> {
        let first = rules.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        match (rule, of) {
            ("prefixItems", _) => {
                if items.len() < first {
                    return misfit(at, format!("holds {} items of {first}", items.len()));
                }
                for (place, (schema, item)) in of.as_array().unwrap().iter().zip(items).enumerate()
                {
                    self.whole(schema, item, &format!("{at}[{place}]"))?;
                }
            }
            (_, Value::Bool(false)) if first < items.len() => {
                return misfit(at, format!("holds {} items, and not {first}", items.len()));
            }
            (_, Value::Bool(_)) => {}
            (_, schema) => {
                for (place, item) in items.iter().enumerate().skip(first) {
                    self.whole(schema, item, &format!("{at}[{place}]"))?;
                }
            }
        }
        Ok(())
    }
}

impl Named {
    fn join(&mut self, other: Self) {
        self.all |= other.all;
        self.some.extend(other.some);
    }
}

/// Whether a list keeps the rule `minItems` or `maxItems`.
fn is_length(rule: &str, of: &Value, items: &[Value]) -> bool {
    let length = items.len() as u64;
    of.as_u64().is_some_and(|of| if rule == "minItems" { of <= length } else { length <= of })
}

/// Whether a value is of a type, or of one of several.
fn is_of(kind: &Value, value: &Value) -> bool {
    let Value::String(kind) = kind else {
        return kind.as_array().unwrap().iter().any(|kind| is_of(kind, value));
    };
    match kind.as_str() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type `{other}`"),
    }
}

#[test]
fn values_that_do_not_fit_are_reported() {
    let document = json!({"components": {"schemas": {
        "Id": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
        "Event": {"oneOf": [
            {"type": "object", "required": ["event", "hop"], "properties":
                {"event": {"type": "string", "enum": ["asked"]}, "hop": {"type": "integer", "minimum": 0}}},
            {"type": "object", "required": ["event", "of"], "properties":
                {"event": {"type": "string", "enum": ["found"]}, "of": {"$ref": "#/components/schemas/Id"}}},
        ]},
        "Numbered": {"allOf": [
            {"$ref": "#/components/schemas/Event"},
            {"type": "object", "required": ["seq", "score"], "properties": {
                "seq": {"type": "integer"}, "score": {"type": ["number", "null"]},
                "parts": {"type": "object", "additionalProperties": {"type": "array", "prefixItems":
                    [{"type": "string"}, {"type": "integer"}], "items": false}}}},
        ]},
    }}});
    let whole = json!({"$ref": "#/components/schemas/Numbered"});
    let error_of = |value: Value| check(&document, &whole, &value).err().unwrap_or_default();
    let fine =
        json!({"event": "asked", "hop": 1, "seq": 0, "score": null, "parts": {"x": ["y", 1]}});
    assert_eq!(error_of(fine.clone()), "");
    let with = |name: &str, value: Value| {
        let mut other = fine.clone();
        other[name] = value;
        error_of(other)
    };
    assert_eq!(with("more", json!(1)), ": the document does not name `more`");
    assert_eq!(with("event", json!("found")), ": `of` is missing");
    assert_eq!(with("of", json!("0123456789abcdef")), ": the document does not name `of`");
    assert_eq!(with("hop", json!(-1)), ".hop: must be at least 0, but is -1");
    assert_eq!(with("score", json!("x")), ".score: must be [\"number\",\"null\"], but is \"x\"");
    assert_eq!(with("parts", json!({"x": ["y"]})), ".parts.x: holds 1 items of 2");
    assert_eq!(with("parts", json!({"x": ["y", 1, 2]})), ".parts.x: holds 3 items, and not 2");
    let pair =
        json!({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1, "maxItems": 1});
    let length_error = |value: Value| check(&document, &pair, &value).err().unwrap_or_default();
    assert_eq!(length_error(json!(["x"])), "");
    assert_eq!(length_error(json!(["x", 2])), ": `maxItems` is 1, but the list is [\"x\",2]");
    let any = check(&document, &json!({"type": "object"}), &json!({}));
    assert_eq!(any.unwrap_err(), ": a client would take it for an object without fields");
}
