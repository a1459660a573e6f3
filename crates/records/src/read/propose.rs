//! Proposes schemas from the columns of tables, or by a model that reads some of the texts. A proposal is
//! a draft for a person to edit.

use std::collections::HashSet;

use pikerag_knowledge::records::{DayOrder, Field, FieldType};
use pikerag_knowledge::{Account, ChatModel, Chunk, RecordSchema, Role, Schema};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, object, one_line, quiet_headings, text, texts,
};
use serde_json::Value;

use pikerag_language::fold::folded;

use super::values;

const PROMPT: Prompt = Prompt::new(Role::Extract, include_str!("../prompts/schema.md"), 2048);
/// The number of values in ten that must be of a type.
const TENTHS: usize = 9;
/// The most values that decide a type.
const SAMPLE: usize = 500;

/// A schema for things with these columns, each given with its values; `None` if fewer than two columns
/// have values. The first text column with a different value in each row becomes the key.
pub fn propose_from_columns(name: &str, columns: &[(String, Vec<String>)]) -> Option<RecordSchema> {
    let mut fields: Vec<Field> = Vec::new();
    let mut key = Vec::new();
    for (header, values) in columns {
        let name = field_name(header);
        let filled: Vec<&str> =
            values.iter().map(|value| value.trim()).filter(|value| !value.is_empty()).collect();
        let known = fields.iter().any(|field| folded(&field.name) == folded(&name));
        if name.is_empty() || filled.is_empty() || known {
            continue;
        }
        let sample = filled.get(..filled.len().min(SAMPLE)).unwrap_or_default();
        let (kind, order) = type_of(&name, sample);
        let different: HashSet<&&str> = filled.iter().collect();
        let is_unique = filled.len() == values.len() && different.len() == filled.len();
        if key.is_empty() && kind == FieldType::Text && is_unique && 1 < filled.len() {
            key.push(name.clone());
        }
        fields.push(Field { name, kind, columns: Vec::new(), order, same: Vec::new() });
    }
    let name = field_name(name);
    let name = if name.is_empty() { "record".to_owned() } else { name };
    let (description, words) = (String::new(), Vec::new());
    (1 < fields.len()).then_some(RecordSchema {
        name,
        description,
        fields,
        key,
        words,
        model: true,
    })
}

/// Schemas that a model proposes for these chunks. Costs one call, or two if the first reply cannot be
/// read.
///
/// # Errors
/// The model fails, or its replies cannot be read.
pub async fn propose_by_model(
    model: &dyn ChatModel,
    chunks: &[Chunk],
    account: &mut Account,
) -> Result<Vec<RecordSchema>, AskError> {
    let shown: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("{}\n{}", one_line(&chunk.full_title()), chunk.reading_text()))
        .collect();
    let texts = quiet_headings(&shown.join("\n\n"));
    let reply: RawReply = ask(model, &PROMPT, &[("texts", texts.as_str())], account).await?;
    Ok(reply.0)
}

/// The name of a field or schema: words joined by `_`.
fn field_name(header: &str) -> String {
    let words = header.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// The type of nearly all of these values, and the order of their dates.
fn type_of(name: &str, sample: &[&str]) -> (FieldType, DayOrder) {
    let mostly = |kind: FieldType, order: DayOrder| {
        let field =
            Field { name: String::new(), kind, columns: Vec::new(), order, same: Vec::new() };
        let fits = sample.iter().filter(|value| values::read(&field, value).is_some()).count();
        TENTHS * sample.len() <= 10 * fits
    };
    let usual = DayOrder::default();
    let digits = |value: &&&str| value.chars().all(|c| c.is_ascii_digit());
    let bare = sample.iter().filter(digits).count();
    // Bare `1` and `0` are numbers; a bare `2010` is a year only if the column's name says so.
    if bare < sample.len() && mostly(FieldType::Bool, usual) {
        return (FieldType::Bool, usual);
    }
    let dated = ["year", "date", "年", "日期"].iter().any(|word| name.contains(word));
    if (bare == 0 || dated) && mostly(FieldType::Date, usual) {
        return (FieldType::Date, order_of(sample));
    }
    if mostly(FieldType::Number, usual) {
        return (FieldType::Number, usual);
    }
    (FieldType::Text, usual)
}

/// Day first if a first number can only be a day and no second number can only be a day.
fn order_of(sample: &[&str]) -> DayOrder {
    let mut order = DayOrder::default();
    for value in sample {
        let parts: Vec<u32> =
            value.split(['/', '-', '.']).map(|part| part.parse().unwrap_or(0)).collect();
        match parts.as_slice() {
            [13..=31, 1..=12, _] => order = DayOrder::Dmy,
            [1..=12, 13..=31, _] => return DayOrder::Mdy,
            _ => {}
        }
    }
    order
}

/// The schema that a model describes by an object: its name, its description, its fields with their types, and its key.
/// Fields without a usable name and keys that are no field are left out. `None` if it has no name.
pub fn schema_of(described: &Value) -> Option<RecordSchema> {
    let name = text(described, "name").ok()?;
    let mut fields: Vec<Field> = Vec::new();
    let listed = described.get("fields").and_then(Value::as_array);
    for entry in listed.into_iter().flatten() {
        let field = match entry {
            Value::String(name) => Some((name.clone(), String::new())),
            _ => {
                text(entry, "name").ok().map(|name| (name, text(entry, "type").unwrap_or_default()))
            }
        };
        let Some((name, kind)) = field else { continue };
        let name = field_name(&name);
        if name.is_empty() || fields.iter().any(|field| field.name == name) {
            continue;
        }
        let kind = [FieldType::Number, FieldType::Date, FieldType::Bool]
            .into_iter()
            .find(|known| kind.to_lowercase().starts_with(known.as_str()))
            .unwrap_or_default();
        fields.push(Field {
            name,
            kind,
            columns: Vec::new(),
            order: DayOrder::default(),
            same: Vec::new(),
        });
    }
    let key = texts(described, "key").unwrap_or_default();
    let mut key: Vec<String> = key.iter().map(|name| field_name(name)).collect();
    key.retain(|name| fields.iter().any(|field| field.name == *name));
    Some(RecordSchema {
        name: field_name(&name),
        description: text(described, "description").unwrap_or_default(),
        fields,
        key,
        words: Vec::new(),
        model: true,
    })
}

struct RawReply(Vec<RecordSchema>);

impl Reply for RawReply {
    fn schema() -> Option<Schema> {
        None
    }

    /// Leaves out schemas that cannot be declared.
    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["schemas"])?;
        let Some(Value::Array(list)) = object.get("schemas") else {
            let expected = "a list of objects".to_owned();
            return Err(Unreadable::BadKey { key: "schemas".to_owned(), expected });
        };
        let mut schemas: Vec<RecordSchema> = Vec::new();
        for item in list {
            schemas.extend(schema_of(item));
            if RecordSchema::check(&schemas).is_err() {
                schemas.pop();
            }
        }
        Ok(Self(schemas))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_raw_reply: RawReply }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_decide_types() {
        let column = |header: &str, values: &[&str]| {
            (header.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
        };
        let columns = [
            column("Marke (Name)", &["Ada", "Bea", "Cis"]),
            column("批准日期", &["31/12/2010", "1/2/2011", ""]),
            column("Patients", &["1,200", "30", "7"]),
            column("Year", &["2010", "2011", "2011"]),
            column("Orphan?", &["TRUE", "", "FALSE"]),
            column("empty", &["", "", ""]),
        ];
        let schema = propose_from_columns("FDA approvals.csv", &columns).unwrap();
        insta::assert_snapshot!(serde_json::to_string(&schema).unwrap(), @r#"{"name":"fda_approvals_csv","fields":[{"name":"marke_name","type":"text"},{"name":"批准日期","type":"date","order":"dmy"},{"name":"patients","type":"number"},{"name":"year","type":"date"},{"name":"orphan","type":"bool"}],"key":["marke_name"],"model":true}"#);
    }

    #[test]
    fn proposals_that_cannot_be_declared_are_dropped() {
        let reply = r#"{"schemas": [{"name": "Lease", "description": "A lease", "key": ["Tenant", "x"],
            "fields": [{"name": "Tenant", "type": "text"}, {"name": "Rent", "type": "number (EUR)"}, "Begins", {"type": "date"}]},
            {"name": "empty", "fields": []}, 5]}"#;
        let schemas = RawReply::read(reply).unwrap().0;
        insta::assert_snapshot!(serde_json::to_string(&schemas).unwrap(), @r#"[{"name":"lease","description":"A lease","fields":[{"name":"tenant","type":"text"},{"name":"rent","type":"number"},{"name":"begins","type":"text"}],"key":["tenant"],"model":true}]"#);
        assert!(RawReply::read("no idea").is_err());
    }
}
