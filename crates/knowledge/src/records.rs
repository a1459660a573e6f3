//! Defines tabular knowledge: declared schemas, and records under them with typed values and
//! sources (layer `D`; PIKE-RAG §5.1.2, §5.4).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::document::Span;
use crate::id::{ChunkId, RecordId, SourceId, content_id};

/// The structure of a kind of record, as declared in the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordSchema {
    /// Its unique name, such as `drug_approval`; never blank.
    pub name: String,
    /// The meaning of a record, for a model that reads texts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its fields, in display order.
    pub fields: Vec<Field>,
    /// Names of the fields that identify a record; a record must have at least one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<String>,
    /// Words of which a text must contain one before a model reads it for records; if empty, models
    /// read every text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Whether a model reads texts for records, if one is configured. Tables, lines and fields of
    /// documents are read in any case.
    #[serde(default = "yes")]
    pub model: bool,
}

/// A hash of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SchemaHash(pub u64);

/// A currently declared schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredSchema {
    /// Its name.
    pub name: String,
    /// Hash of the whole declaration: a different declaration under the same name is a different
    /// schema.
    pub hash: SchemaHash,
}

fn yes() -> bool {
    true
}

/// A field of a schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its unique name in the schema, such as `approved`; never empty.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type", default)]
    pub kind: FieldType,
    /// Alternative names in tables and documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// How to read dates of three numbers that do not begin with the year.
    #[serde(default, skip_serializing_if = "DayOrder::is_default")]
    pub order: DayOrder,
    /// Lists of equivalent values of a text field, for example in several languages: at least two
    /// each, represented by the first. Computations treat them as equal; a record keeps the
    /// document's value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<Vec<String>>,
}

impl Field {
    /// Whether `same` is valid: lists of at least two values of a text field, each value in one
    /// list.
    fn has_valid_synonyms(&self) -> bool {
        let mut seen = BTreeSet::new();
        self.same.is_empty()
            || self.kind == FieldType::Text
                && self.same.iter().all(|values| 1 < values.len())
                && self.same.iter().flatten().all(|value| {
                    !value.trim().is_empty() && seen.insert(value.trim().to_lowercase())
                })
    }
}

/// The type of a field's values.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FieldType {
    /// Text as written.
    #[default]
    Text,
    /// A number, with its unit if one is given.
    Number,
    /// A day, a month or a year.
    Date,
    /// Yes or no.
    Bool,
}

impl FieldType {
    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Which number of `3/4/2010` is the month, if both are possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DayOrder {
    /// The first, as in the United States.
    #[default]
    Mdy,
    /// The second, as in most other places.
    Dmy,
}

impl DayOrder {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// An invalid declaration.
#[derive(Debug, thiserror::Error)]
pub enum BadSchema {
    /// It has no name or no fields.
    #[error("a schema of records has no {what}")]
    Empty {
        /// Name or fields.
        what: &'static str,
    },
    /// Two schemas or two fields share a name.
    #[error("`{name}` is declared twice among the {what}")]
    Twice {
        /// The duplicate name.
        name: String,
        /// Schemas, or the fields of a schema.
        what: String,
    },
    /// The lists of equivalent values are invalid.
    #[error(
        "`same` of the field `{field}` of `{schema}`: lists of two values or more of a text field, each value in one list, \
         such as [[\"brake wear\", \"制动器磨损\"]]"
    )]
    Same {
        /// The name of the schema.
        schema: String,
        /// The field.
        field: String,
    },
    /// The key names an unknown field.
    #[error("the key of `{schema}` names `{field}`, which is none of its fields")]
    NoField {
        /// The name of the schema whose key is wrong.
        schema: String,
        /// The name in the key.
        field: String,
    },
}

impl RecordSchema {
    /// Increases with every change of how records are read without a model.
    const VERSION: u32 = 2;

    /// A hash of everything that affects the reading: after a change, records are read again.
    pub fn hash(&self) -> SchemaHash {
        let mut read_by = self.clone();
        // Equivalent values do not affect the reading.
        read_by.fields.iter_mut().for_each(|field| field.same.clear());
        let text = serde_json::to_string(&read_by).unwrap_or_default();
        SchemaHash(content_id("schema", &[text.as_bytes(), &Self::VERSION.to_le_bytes()]))
    }

    /// The name and hash by which the base recognizes a current declaration.
    pub fn declared(&self) -> DeclaredSchema {
        DeclaredSchema { name: self.name.clone(), hash: self.hash() }
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Checks that these declarations can be used together.
    ///
    /// # Errors
    /// The first error.
    pub fn check(schemas: &[Self]) -> Result<(), BadSchema> {
        for (place, schema) in schemas.iter().enumerate() {
            if schema.name.trim().is_empty() {
                return Err(BadSchema::Empty { what: "name" });
            }
            if schema.fields.is_empty() || schema.fields.iter().any(|field| field.name.is_empty()) {
                return Err(BadSchema::Empty { what: "fields with names" });
            }
            if schemas.iter().take(place).any(|other| other.name == schema.name) {
                let what = "records".to_owned();
                return Err(BadSchema::Twice { name: schema.name.clone(), what });
            }
            for (at, field) in schema.fields.iter().enumerate() {
                if schema.fields.iter().take(at).any(|other| other.name == field.name) {
                    let what = format!("fields of `{}`", schema.name);
                    return Err(BadSchema::Twice { name: field.name.clone(), what });
                }
                if !field.has_valid_synonyms() {
                    let (schema, field) = (schema.name.clone(), field.name.clone());
                    return Err(BadSchema::Same { schema, field });
                }
            }
            if let Some(field) = schema.key.iter().find(|name| schema.field(name).is_none()) {
                let (schema, field) = (schema.name.clone(), field.clone());
                return Err(BadSchema::NoField { schema, field });
            }
        }
        Ok(())
    }
}

/// A row of tabular knowledge, with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Record {
    /// Derived from schema, chunk and key; without a key, from the position in the chunk.
    pub id: RecordId,
    /// Name of its schema.
    pub schema: String,
    /// The chunk it was read from.
    pub chunk: ChunkId,
    /// The document of the chunk.
    pub source: SourceId,
    /// URI of the document: the file as the user named it, and `#record` inside it.
    pub uri: String,
    /// Page, from 1, if the format has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub page: Option<u32>,
    /// Its span in the source's text: its row, its lines, or the words of its values.
    pub span: Span,
    /// Who read it: a rule, or a model.
    pub origin: RecordOrigin,
    /// Its values, in the order of the schema; fields without a value are left out.
    pub fields: Vec<RecordField>,
}

impl Record {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&RecordField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Who read a record.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum RecordOrigin {
    /// A row of a table.
    Table,
    /// Lines such as `Name: value`.
    Lines,
    /// The document's metadata: the fields of its JSON record, its front matter.
    Metadata,
    /// A model that read a text.
    Model,
}

impl RecordOrigin {
    /// Its name in the store and in exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The schema name of a [`Value`], because `Value` would mean any JSON.
type RecordValue = Value;

/// A record's value of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordField {
    /// Name of the field in its schema.
    pub name: String,
    /// The value as written in the source; never empty.
    pub raw: String,
    /// The typed value; `None` if it cannot be read as the field's type.
    #[schema(value_type = Option<RecordValue>, required)]
    pub value: Option<Value>,
}

/// A typed value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = RecordValue)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// Text as written in the source.
    Text(String),
    /// A number with its unit.
    Number(Quantity),
    /// By ISO 8601, as precise as the source: `2010-12-31`, `2010-12` or `2010`.
    Date(String),
    /// Yes or no.
    Bool(bool),
}

/// A number with its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Quantity {
    /// The number itself; never infinite, never NaN.
    pub amount: f64,
    /// The unit: `%`, `kg`, `US$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub unit: Option<String>,
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) | Self::Date(text) => f.write_str(text),
            Self::Number(Quantity { amount, unit: Some(unit) }) => write!(f, "{amount} {unit}"),
            Self::Number(Quantity { amount, unit: None }) => write!(f, "{amount}"),
            Self::Bool(truth) => write!(f, "{truth}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str) -> String {
        let schemas: Vec<RecordSchema> = serde_json::from_str(json).unwrap();
        RecordSchema::check(&schemas).map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn declarations_are_checked() {
        let fine = r#"{"name": "a", "fields": [{"name": "x"}, {"name": "y", "type": "date"}], "key": ["x"]}"#;
        assert_eq!(check(&format!("[{fine}]")), "fine");
        assert_eq!(check(&format!("[{fine}, {fine}]")), "`a` is declared twice among the records");
        assert_eq!(
            check(r#"[{"name": "a", "fields": [{"name": "x"}], "key": ["z"]}]"#),
            "the key of `a` names `z`, which is none of its fields"
        );
        assert_eq!(
            check(r#"[{"name": "a", "fields": []}]"#),
            "a schema of records has no fields with names"
        );
        let same = |kind: &str, same: &str| {
            check(&format!(
                r#"[{{"name": "a", "fields": [{{"name": "x", "type": "{kind}", "same": {same}}}]}}]"#
            ))
        };
        assert_eq!(same("text", r#"[["wear", "磨损"], ["leak", "漏油", "seep"]]"#), "fine");
        for (kind, lists) in [
            ("text", r#"[["wear"]]"#),
            ("number", r#"[["1", "2"]]"#),
            ("text", r#"[["a", "b"], ["B", "c"]]"#),
        ] {
            assert!(same(kind, lists).starts_with("`same` of the field `x` of `a`: "), "{lists}");
        }
    }

    /// No record is read again.
    #[test]
    fn synonyms_do_not_change_the_declaration() {
        let of = |json: &str| serde_json::from_str::<RecordSchema>(json).unwrap().hash();
        let plain = of(r#"{"name": "a", "fields": [{"name": "x"}]}"#);
        assert_eq!(of(r#"{"name": "a", "fields": [{"name": "x", "same": [["b", "c"]]}]}"#), plain);
        assert_ne!(of(r#"{"name": "a", "fields": [{"name": "x", "columns": ["b"]}]}"#), plain);
    }
}
