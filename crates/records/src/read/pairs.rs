//! Which records stand as names with values? In lines such as `Name: value`, and in what a document says
//! of itself.

use pikerag_knowledge::{Chunk, RecordField, RecordOrigin, RecordSchema, Source, Span};

use super::{Draft, field_named, said};

/// A longer name, in characters, begins a sentence.
const LONGEST_NAME: usize = 60;

/// The records of a text's lines. A field that is named again begins the next record.
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
        let again = |draft: &Draft| draft.fields.iter().any(|held| held.name == field.name);
        if open.as_ref().is_some_and(again) {
            drafts.extend(open.take());
        }
        let draft =
            open.get_or_insert(Draft { span, origin: RecordOrigin::Lines, fields: Vec::new() });
        draft.fields.push(said(field, value));
        draft.span.end = span.end;
    }
    drafts.extend(open);
    drafts.into_iter().map(|draft| in_order(schema, draft)).collect()
}

/// Name and value of a line, without the marks of lists and of bold print.
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

/// The record that a document's own fields are, its title among them.
pub(super) fn from_metadata(
    schema: &RecordSchema,
    source: &Source,
    chunk: &Chunk,
) -> Option<Draft> {
    if source.metadata.is_empty() {
        return None;
    }
    let mut fields: Vec<RecordField> = Vec::new();
    let told = source.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in told.chain([("title", source.title.as_str())]) {
        let Some(field) = field_named(schema, name).filter(|_| !value.trim().is_empty()) else {
            continue;
        };
        if !fields.iter().any(|held| held.name == field.name) {
            fields.push(said(field, value));
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
