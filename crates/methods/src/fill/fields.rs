//! Finds the fields that rules can fill: those with pikerag's own names, and one more that takes the answer.

use serde_json::{Map, Value};

use super::schema::{is_null_type, kinds, resolved};

/// The longest chain of references and wrappers around a type.
const LONGEST: usize = 16;

/// The type of a field, without references and without null.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type<'a> {
    pub(super) schema: &'a Map<String, Value>,
    pub(super) is_nullable: bool,
}

/// A field of the object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    /// None if the schema has several types for it.
    pub(super) kind: Option<Type<'a>>,
    pub(super) is_required: bool,
    pub(super) part: Part,
}

/// The part of an answer that a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The answer itself.
    Answer,
    Rationale,
    Citations,
    /// The names of the cited files.
    Sources,
    Confidence,
    Refused,
    Missing,
    /// Rules cannot fill it.
    Unknown,
}

/// Whether the root is an object, perhaps behind a reference.
pub(super) fn root_object(root: &Value) -> Option<&Map<String, Value>> {
    let Type { schema, .. } = type_of(root, root)?;
    let kinds = kinds(schema);
    (kinds == ["object"] || (kinds.is_empty() && schema.contains_key("properties")))
        .then_some(schema)
}

/// The fields of the object, in the order of the schema.
pub(super) fn fields(root: &Value) -> Vec<Field<'_>> {
    let Some(object) = root_object(root) else { return Vec::new() };
    let required: Vec<&str> = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut fields = Vec::new();
    for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let kind = type_of(root, schema);
        let part = kind.map_or(Part::Unknown, |kind| part_of(root, name, kind));
        let is_required = required.contains(&name.as_str());
        fields.push(Field { name, kind, is_required, part });
    }
    fields
}

/// Whether rules know a part of the answer for each field, and at most one takes the answer itself. An object without
/// fields is simple if it allows no others, as that of a function without parameters.
pub(super) fn are_simple(root: &Value, fields: &[Field<'_>]) -> bool {
    let is_closed = root_object(root)
        .is_some_and(|object| object.get("additionalProperties") == Some(&Value::Bool(false)));
    let number_of = |part| fields.iter().filter(|field| field.part == part).count();
    (is_closed || !fields.is_empty())
        && number_of(Part::Unknown) == 0
        && number_of(Part::Answer) <= 1
}

/// The type behind references and beside null; `None` if there are several.
pub(super) fn type_of<'a>(root: &'a Value, schema: &'a Value) -> Option<Type<'a>> {
    let (mut schema, mut is_nullable) = (schema.as_object()?, false);
    for _ in 0..LONGEST {
        is_nullable |= schema.get("nullable") == Some(&Value::Bool(true));
        if let Some(Value::String(reference)) = schema.get("$ref") {
            schema = resolved(root, reference)?.as_object()?;
            continue;
        }
        let alternatives = ["anyOf", "oneOf", "allOf"].iter().find_map(|name| schema.get(*name));
        let Some(Value::Array(alternatives)) = alternatives else {
            let kinds = kinds(schema);
            is_nullable |= kinds.contains(&"null");
            return (kinds.iter().filter(|kind| **kind != "null").count() <= 1)
                .then_some(Type { schema, is_nullable });
        };
        is_nullable |= alternatives.iter().any(is_null_type);
        let mut real = alternatives.iter().filter(|part| !is_null_type(part));
        match (real.next(), real.next()) {
            (Some(only), None) => schema = only.as_object()?,
            _ => return None,
        }
    }
    None
}

impl<'a> Type<'a> {
    /// The name of the type beside null; empty if the schema has none.
    pub(super) fn name(&self) -> &'a str {
        kinds(self.schema).into_iter().find(|kind| *kind != "null").unwrap_or_default()
    }

    /// The allowed strings; none if any value is allowed.
    pub(super) fn choices(&self) -> Vec<&'a str> {
        let choices = self.schema.get("enum").and_then(Value::as_array);
        choices.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The type of a list's items.
    pub(super) fn items(&self, root: &'a Value) -> Option<Type<'a>> {
        type_of(root, self.schema.get("items")?)
    }

    /// The names of an object's fields.
    pub(super) fn field_names(&self) -> Vec<&'a str> {
        let own = self.schema.get("properties").and_then(Value::as_object);
        own.into_iter().flat_map(Map::keys).map(String::as_str).collect()
    }
}

/// The names of the fields of a citation.
pub(super) const OF_CITATION: [&str; 6] = ["number", "uri", "title", "page", "quote", "check"];

fn part_of(root: &Value, name: &str, kind: Type<'_>) -> Part {
    let type_name = kind.name();
    let items = kind.items(root);
    let items_name = items.map(|items| items.name()).unwrap_or_default();
    let is_citation = |items: Type<'_>| {
        let names = items.field_names();
        let is_known = |name: &&str| OF_CITATION.contains(name);
        items.name() == "string" || (names.contains(&"quote") && names.iter().all(is_known))
    };
    match (name.to_lowercase().as_str(), type_name) {
        ("rationale" | "reasoning", "string") => Part::Rationale,
        ("citations" | "quotes", "array") if items.is_some_and(is_citation) => Part::Citations,
        ("sources", "array") if items_name == "string" => Part::Sources,
        ("confidence", "number" | "string") => Part::Confidence,
        ("confidence", "integer") if most(kind) == Some(100.0) => Part::Confidence,
        ("refused", "boolean") => Part::Refused,
        ("missing", "array") if items_name == "string" => Part::Missing,
        (_, "string" | "number" | "integer" | "boolean") => Part::Answer,
        (_, "array") if items_name == "string" => Part::Answer,
        (_, "") if !kind.choices().is_empty() => Part::Answer,
        _ => Part::Unknown,
    }
}

/// The largest value that a number may have.
pub(super) fn most(kind: Type<'_>) -> Option<f64> {
    kind.schema.get("maximum").and_then(Value::as_f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(properties: &Value) -> Vec<Part> {
        let root = json!({"type": "object", "properties": properties});
        fields(&root).iter().map(|field| field.part).collect()
    }

    #[test]
    fn own_names_take_their_part_and_another_field_takes_the_answer() {
        let own = json!({
            "capital": {"type": "string"}, "rationale": {"type": "string"},
            "citations": {"type": "array", "items": {"type": "object", "properties": {"quote": {"type": "string"}, "page": {"type": "integer"}}}},
            "confidence": {"type": "number"}, "refused": {"type": "boolean"}, "missing": {"type": "array", "items": {"type": "string"}},
            "sources": {"type": "array", "items": {"type": "string"}},
        });
        let all = [
            Part::Answer,
            Part::Rationale,
            Part::Citations,
            Part::Confidence,
            Part::Refused,
            Part::Missing,
            Part::Sources,
        ];
        assert_eq!(parts(&own), all);
        let unknown = json!({"a": {"type": "object"}, "citations": {"type": "array", "items": {"type": "integer"}}, "confidence": {"type": "integer"}});
        assert_eq!(parts(&unknown), [Part::Unknown, Part::Unknown, Part::Answer]);
    }

    #[test]
    fn types_are_found_behind_references_and_beside_null() {
        let root = json!({
            "$defs": {"Colour": {"type": "string", "enum": ["red", "blue"]}},
            "type": "object",
            "properties": {"colour": {"anyOf": [{"$ref": "#/$defs/Colour"}, {"type": "null"}]}, "size": {"type": ["integer", "null"]}, "both": {"type": ["integer", "string"]}},
            "required": ["colour"],
        });
        let fields = fields(&root);
        let shown: Vec<(&str, bool, bool)> = fields
            .iter()
            .map(|field| {
                (field.name, field.is_required, field.kind.is_some_and(|kind| kind.is_nullable))
            })
            .collect();
        assert_eq!(shown, [("colour", true, true), ("size", false, true), ("both", false, false)]);
        assert_eq!(fields[0].kind.unwrap().choices(), ["red", "blue"]);
        assert!(fields[2].kind.is_none() && !are_simple(&root, &fields));
    }

    #[test]
    fn the_root_is_an_object_perhaps_behind_a_reference() {
        let behind = json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}});
        assert!(root_object(&behind).is_some() && are_simple(&behind, &fields(&behind)));
        for other in [json!({"type": "string"}), json!({}), json!(true), json!({"$ref": "#"})] {
            assert!(root_object(&other).is_none(), "{other}");
        }
    }
}
