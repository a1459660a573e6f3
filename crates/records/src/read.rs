//! Reads typed records out of a chunk, under declared schemas (PIKE-RAG §5.1.2, §5.4). Rules read rows of
//! tables, lines such as `Name: value`, and a document's metadata; a model reads other text.

mod model;
mod pairs;
mod propose;
mod table;
mod values;
mod year;

use std::collections::HashMap;

use pikerag_knowledge::records::Field;
use pikerag_knowledge::{
    Chunk, ChunkKind, Record, RecordField, RecordId, RecordOrigin, RecordSchema, Source, Span,
    Value,
};
use pikerag_language::fold::folded;
use pikerag_language::units;

pub use model::{ModelRecords, collected_records, model_records, records_prompt};
pub use propose::{propose_by_model, propose_from_columns, schema_of};

/// The records that rules read in a chunk, in reading order. `source` is the chunk's document. Metadata
/// is read with the first chunk, if that has no other records.
pub fn plain_records(schema: &RecordSchema, source: &Source, chunk: &Chunk) -> Vec<Record> {
    if chunk.hidden {
        return Vec::new();
    }
    let mut found = match &chunk.table {
        Some(table) => table::records(schema, chunk, table),
        None => pairs::from_lines(schema, chunk),
    };
    if found.is_empty() && chunk.ordinal == 0 {
        found.extend(pairs::from_metadata(schema, source, chunk));
    }
    identified(schema, chunk, found)
}

/// Whether a model should read this chunk for records of a schema, if rules find none.
pub fn asks_model(schema: &RecordSchema, chunk: &Chunk) -> bool {
    if !schema.model || chunk.hidden || !matches!(chunk.kind, ChunkKind::Text | ChunkKind::Table) {
        return false;
    }
    if schema.words.is_empty() {
        return true;
    }
    let text = format!(" {} {} ", folded(&chunk.full_title()), folded(&chunk.reading_text()));
    let contains = |word: &String| {
        let word = folded(word);
        // Words are compared from their beginning: `approv` finds `approved`.
        !word.is_empty() && text.contains(&format!(" {word}"))
    };
    schema.words.iter().any(contains)
}

/// A record without an identity: its span in the source, its reader and its fields.
struct Draft {
    span: Span,
    origin: RecordOrigin,
    fields: Vec<RecordField>,
}

/// The drafts that have what the schema needs, with identities.
fn identified(schema: &RecordSchema, chunk: &Chunk, drafts: Vec<Draft>) -> Vec<Record> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let mut records = Vec::with_capacity(drafts.len());
    for draft in drafts {
        if !is_record(schema, &draft.fields) {
            continue;
        }
        let key: Vec<&str> = schema
            .key
            .iter()
            .filter_map(|name| draft.fields.iter().find(|field| field.name == *name))
            .map(|field| field.raw.as_str())
            .collect();
        let key = key.join("\u{1f}");
        let nth = seen.entry(key.clone()).or_default();
        records.push(Record {
            id: RecordId::of(&schema.name, chunk.id, &key, *nth),
            schema: schema.name.clone(),
            chunk: chunk.id,
            source: chunk.source,
            uri: chunk.uri.clone(),
            page: chunk.page,
            span: draft.span,
            origin: draft.origin,
            fields: draft.fields,
        });
        *nth += 1;
    }
    records
}

/// Whether the fields include the whole key, and two fields if the schema has as many. A lone date is
/// not a record.
fn is_record(schema: &RecordSchema, fields: &[RecordField]) -> bool {
    let has = |name: &String| fields.iter().any(|field| field.name == *name);
    schema.key.iter().all(has) && schema.fields.len().min(2) <= fields.len()
}

/// A field with its text, and with a typed value if the text has one.
fn read_field(field: &Field, raw: &str) -> RecordField {
    let raw = raw.trim();
    RecordField { name: field.name.clone(), raw: raw.to_owned(), value: values::read(field, raw) }
}

/// A field read from a cell. The unit is that of the cell, else a known unit in the header:
/// `downtime (h)`.
fn read_cell(field: &Field, header: &str, raw: &str) -> RecordField {
    let mut read = read_field(field, raw);
    if let Some(Value::Number(number)) = &mut read.value
        && number.unit.is_none()
    {
        number.unit = unit_of(header);
    }
    read
}

/// The unit in brackets after a column's name: `load [t]`, `停机（小时）`; none for another remark.
fn unit_of(header: &str) -> Option<String> {
    named_and_measured(header).map(|(_, unit)| unit.to_owned())
}

/// A column's name and its unit, if a known unit follows in brackets.
fn named_and_measured(header: &str) -> Option<(&str, &str)> {
    let (name, inner) = header.split_at(header.rfind(['(', '[', '（'])?);
    let unit = inner.trim().trim_matches(['(', ')', '[', ']', '（', '）', ' ']);
    units::known(unit).map(|_| (name.trim(), unit))
}

/// The field that a column, line or metadata key of this name fills. Names of fields come before
/// declared columns.
fn field_named<'a>(schema: &'a RecordSchema, name: &str) -> Option<&'a Field> {
    let name = folded(name);
    if name.is_empty() {
        return None;
    }
    let own = schema.fields.iter().find(|field| folded(&field.name) == name);
    own.or_else(|| {
        let knows = |field: &&Field| field.columns.iter().any(|column| folded(column) == name);
        schema.fields.iter().find(knows)
    })
}

/// The field that a column fills. The column's name may contain a unit.
fn field_of_column<'a>(schema: &'a RecordSchema, header: &str) -> Option<&'a Field> {
    let bare = || field_named(schema, named_and_measured(header)?.0);
    field_named(schema, header).or_else(bare)
}

#[cfg(test)]
mod tests;
