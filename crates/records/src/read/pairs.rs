//! Reads records from lines such as `Name: value` and from a document's metadata.

use pikerag_knowledge::{Chunk, RecordField, RecordOrigin, RecordSchema, Source, Span};

use super::{Draft, field_named, read_field};

/// The most characters of a name; a longer one is part of a sentence.
const LONGEST_NAME: usize = 60;

/// The records in a text's lines. A repeated field begins the next record.
pub(super) fn from_lines(schema: &RecordSchema, chunk: &Chunk) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut open: Option<Draft> = None;
    let mut start = 0;
    for line in chunk.text.split_inclusive('\n') {
        let at = chunk.span.start + start;
        start += line.len();
        let Some((name, value)) = pair(line) else { continue };
        let Some(field) = field_named(schema, name) else { continue };
        let span = Span { start: at, end: at + line.trim_end().len() };
        let has_field = |draft: &Draft| draft.fields.iter().any(|held| held.name == field.name);
        if open.as_ref().is_some_and(has_field) {
            drafts.extend(open.take());
        }
        let draft =
            open.get_or_insert(Draft { span, origin: RecordOrigin::Lines, fields: Vec::new() });
        draft.fields.push(read_field(field, value));
        draft.span.end = span.end;
    }
    drafts.extend(open);
    drafts.into_iter().map(|draft| in_order(schema, draft)).collect()
}

/// Name and value of a line, without the marks of lists and of bold text.
pub(super) fn pair(line: &str) -> Option<(&str, &str)> {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '-' | '•' | '>' | '_' | '`' | '|');
    let line = line.trim().trim_start_matches(marks);
    let at = line.find([':', '：'])?;
    let (name, value) = line.split_at(at);
    let value = value.trim_start_matches([':', '：']).trim_matches(marks);
    let name = name.trim_matches(marks);
    let fits = !name.is_empty() && !value.is_empty() && name.chars().count() <= LONGEST_NAME;
    fits.then_some((name, value))
}

/// The record in a document's metadata and title.
pub(super) fn from_metadata(
    schema: &RecordSchema,
    source: &Source,
    chunk: &Chunk,
) -> Option<Draft> {
    if source.metadata.is_empty() {
        return None;
    }
    let mut fields: Vec<RecordField> = Vec::new();
    let pairs = source.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in pairs.chain([("title", source.title.as_str())]) {
        let Some(field) = field_named(schema, name).filter(|_| !value.trim().is_empty()) else {
            continue;
        };
        if !fields.iter().any(|held| held.name == field.name) {
            fields.push(read_field(field, value));
        }
    }
    let draft = Draft { span: chunk.span, origin: RecordOrigin::Metadata, fields };
    Some(in_order(schema, draft))
}

fn in_order(schema: &RecordSchema, mut draft: Draft) -> Draft {
    let place = |held: &RecordField| schema.fields.iter().position(|field| field.name == held.name);
    draft.fields.sort_by_key(place);
    draft
}
