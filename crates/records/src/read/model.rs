//! Lets a model fill in a schema from a text, and keeps only values that occur in the text.

use pikerag_knowledge::records::{Field, FieldType};
use pikerag_knowledge::{
    Account, ChatModel, Chunk, Record, RecordField, RecordOrigin, RecordSchema, Role, Schema, Span,
};
use pikerag_prompt::{AskError, Prompt, Reply, Unreadable, ask, object, titled};
use serde_json::{Map, Value, json};

use super::year::{About, has_parts_of_date};
use super::{Draft, field_named, identified, is_record, read_field};

const PROMPT: Prompt = Prompt::new(Role::Extract, include_str!("../prompts/records.md"), 2048);
/// For a question; dates are written in full. Indexing keeps its prompt, so that an interrupted run pays nothing again.
const FOR_QUESTION: Prompt =
    Prompt::new(Role::Extract, include_str!("../prompts/collect.md"), 2048)
        .with_earlier("records/collect", &[include_str!("../prompts/earlier/collect.1.md")]);
/// The most records read from one reply.
const MOST: usize = 200;

/// The records that a model read in a chunk, and the counts of dropped values and records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRecords {
    /// The records, in the model's order; may be empty.
    pub records: Vec<Record>,
    /// Values that were dropped because they are not in the chunk.
    pub invented: usize,
    /// Records that were dropped because they lack fields that the schema needs.
    pub incomplete: usize,
}

/// The records of a chunk's text. Costs one call, or two if the first reply cannot be read.
///
/// # Errors
/// The model fails, or its replies cannot be read.
pub async fn model_records(
    model: &dyn ChatModel,
    schema: &RecordSchema,
    chunk: &Chunk,
    account: &mut Account,
) -> Result<ModelRecords, AskError> {
    filled(model, &PROMPT, schema, chunk, account).await
}

/// The same for a question, under a schema that it needs: the model writes dates in full whose parts are in different places.
///
/// # Errors
/// The model fails, or its replies cannot be read.
pub async fn collected_records(
    model: &dyn ChatModel,
    schema: &RecordSchema,
    chunk: &Chunk,
    account: &mut Account,
) -> Result<ModelRecords, AskError> {
    filled(model, &FOR_QUESTION, schema, chunk, account).await
}

async fn filled(
    model: &dyn ChatModel,
    prompt: &Prompt,
    schema: &RecordSchema,
    chunk: &Chunk,
    account: &mut Account,
) -> Result<ModelRecords, AskError> {
    let (title, text) = titled(chunk);
    let (kind, example) = (described(schema), example(schema));
    let inputs = inputs(&kind, &example, &title, &text);
    let reply: Filled = ask(model, prompt, &inputs, account).await?;
    Ok(checked(schema, chunk, &reply.0))
}

/// The prompt that [`model_records`] sends, for estimates.
///
/// # Errors
/// The template is broken.
pub fn records_prompt(schema: &RecordSchema, chunk: &Chunk) -> Result<String, AskError> {
    let (title, text) = titled(chunk);
    let (kind, example) = (described(schema), example(schema));
    PROMPT.render(&inputs(&kind, &example, &title, &text))
}

fn inputs<'a>(
    kind: &'a str,
    example: &'a str,
    title: &'a str,
    text: &'a str,
) -> [(&'static str, &'a str); 4] {
    [("schema", kind), ("example", example), ("title", title), ("text", text)]
}

fn described(schema: &RecordSchema) -> String {
    let mut lines = vec![match schema.description.as_str() {
        "" => schema.name.clone(),
        description => format!("{}: {description}", schema.name),
    }];
    for field in &schema.fields {
        let mut line = format!("- {} ({})", field.name, field.kind.as_str());
        if !field.columns.is_empty() {
            line = format!("{line}, also called {}", field.columns.join(", "));
        }
        if schema.key.contains(&field.name) {
            line.push_str("; needed");
        }
        lines.push(line);
    }
    lines.join("\n")
}

fn example(schema: &RecordSchema) -> String {
    let fields = schema.fields.iter().map(|field| (field.name.clone(), json!("...")));
    Value::Object(fields.collect::<Map<_, _>>()).to_string()
}

#[cfg(test)]
pub(super) fn read(
    schema: &RecordSchema,
    chunk: &Chunk,
    reply: &str,
) -> Result<ModelRecords, Unreadable> {
    Filled::read(reply).map(|filled| checked(schema, chunk, &filled.0))
}

/// The records that keep the schema's needs after values are dropped that are in neither the chunk nor
/// its title.
fn checked(schema: &RecordSchema, chunk: &Chunk, filled: &[Map<String, Value>]) -> ModelRecords {
    let mut made = ModelRecords::default();
    let place = Places::of(chunk);
    let about = About::of(chunk);
    // A date without a year is in that of its document.
    let read = |field: &Field, raw: &str| {
        let read = read_field(field, raw);
        let dated = || about.as_ref()?.date(field, &read.raw);
        RecordField { value: read.value.clone().or_else(dated), ..read.clone() }
    };
    let mut drafts: Vec<Draft> = Vec::new();
    for item in filled.iter().take(MOST) {
        // Where the text has each value.
        let mut places: Vec<Vec<Span>> = Vec::new();
        let mut fields = Vec::new();
        for field in &schema.fields {
            let filled = item.iter().find(|(name, _)| {
                field_named(schema, name).is_some_and(|named| named.name == field.name)
            });
            let Some(raw) = filled.and_then(|(_, value)| word(value)) else { continue };
            match place.find(&raw) {
                Found::At(all) => {
                    // The text of the chunk, whose case the model may have changed.
                    let original = all.first().and_then(|at| {
                        chunk.text.get(at.start - chunk.span.start..at.end - chunk.span.start)
                    });
                    fields.push(read(field, original.unwrap_or(&raw)));
                    places.push(all);
                }
                Found::InTitle => fields.push(read(field, &raw)),
                Found::Nowhere if is_date(field) && has_parts_of_date(chunk, &raw) => {
                    fields.push(read(field, &raw));
                }
                Found::Nowhere => made.invented += 1,
            }
        }
        if !is_record(schema, &fields) {
            made.incomplete += 1;
            continue;
        }
        let span = around(&places).unwrap_or(chunk.span);
        // A repeated record counts once.
        if !drafts.iter().any(|held| held.fields == fields) {
            drafts.push(Draft { span, origin: RecordOrigin::Model, fields });
        }
    }
    made.records = identified(schema, chunk, drafts);
    made
}

/// The shortest span that a record can have: from the value with the fewest places to the nearest places of the others.
fn around(values: &[Vec<Span>]) -> Option<Span> {
    let rarest = values.iter().min_by_key(|places| places.len())?;
    let spans = rarest.iter().map(|anchor| {
        let apart =
            |at: &Span| at.start.saturating_sub(anchor.end) + anchor.start.saturating_sub(at.end);
        let nearest = values.iter().filter_map(|places| places.iter().min_by_key(|at| apart(at)));
        nearest.fold(*anchor, |span, at| Span {
            start: span.start.min(at.start),
            end: span.end.max(at.end),
        })
    });
    spans.min_by_key(|span| span.end - span.start)
}

fn is_date(field: &Field) -> bool {
    field.kind == FieldType::Date
}

/// A value as text; `None` if the model reports that there is none.
fn word(value: &Value) -> Option<String> {
    let word = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        _ => return None,
    };
    let none = ["", "null", "none", "n/a", "unknown", "...", "-", "无", "未知"];
    (!none.contains(&word.to_lowercase().as_str())).then_some(word)
}

enum Found {
    /// Every place, in order.
    At(Vec<Span>),
    InTitle,
    Nowhere,
}

/// Where a chunk contains values: in its text, else in its title or in what a reader sees of it.
struct Places<'a> {
    chunk: &'a Chunk,
    text: Squeezed,
    title: Squeezed,
}

impl<'a> Places<'a> {
    fn of(chunk: &'a Chunk) -> Self {
        let title = format!("{}\n{}", chunk.full_title(), chunk.reading_text());
        Self { chunk, text: Squeezed::of(chunk.text.clone()), title: Squeezed::of(title) }
    }

    fn find(&self, raw: &str) -> Found {
        let wanted = squeeze(raw);
        let base = self.chunk.span.start;
        let place = |(start, end)| Span { start: base + start, end: base + end };
        let all: Vec<Span> = self.text.find(&wanted).map(place).collect();
        if !all.is_empty() {
            return Found::At(all);
        }
        match self.title.find(&wanted).next() {
            Some(_) => Found::InTitle,
            None => Found::Nowhere,
        }
    }
}

/// The characters of a text without case and white space, each with its position.
struct Squeezed {
    text: String,
    bare: String,
    /// By byte of `bare`, start and end of its character in the text.
    from: Vec<(usize, usize)>,
}

impl Squeezed {
    fn of(text: String) -> Self {
        let mut bare = String::with_capacity(text.len());
        let mut from = Vec::with_capacity(text.len());
        for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            bare.extend(c.to_lowercase());
            from.resize(bare.len(), (at, at + c.len_utf8()));
        }
        Self { text, bare, from }
    }

    /// Start and end of each place with squeezed words, whose numbers are whole there.
    fn find<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
        let last = wanted.len().saturating_sub(1);
        let places = self.bare.match_indices(wanted).filter(|_| !wanted.is_empty());
        places.filter_map(move |(at, _)| {
            let (start, end) = (self.from.get(at)?.0, self.from.get(at + last)?.1);
            has_whole_numbers(&self.text, start, end).then_some((start, end))
        })
    }
}

/// Whether a number at either end of a place is whole there: `2` is not in `12`, nor in `2.5`.
fn has_whole_numbers(text: &str, start: usize, end: usize) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let (Some(before), Some(inside), Some(after)) =
        (text.get(..start), text.get(start..end), text.get(end..))
    else {
        return true;
    };
    let after = after.strip_prefix(['.', ',']).unwrap_or(after);
    let begins_before = is_digit(inside.chars().next()) && is_digit(before.chars().next_back());
    let goes_on = is_digit(inside.chars().next_back()) && is_digit(after.chars().next());
    !begins_before && !goes_on
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

struct Filled(Vec<Map<String, Value>>);

impl Reply for Filled {
    fn schema() -> Option<Schema> {
        // The fields differ by declaration; others are dropped when the reply is read.
        None
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["records"])?;
        let list = match object.get("records") {
            Some(Value::Array(list)) => list.clone(),
            Some(Value::Null) => Vec::new(),
            Some(one @ Value::Object(_)) => vec![one.clone()],
            _ => {
                let expected = "a list of objects".to_owned();
                return Err(Unreadable::BadKey { key: "records".to_owned(), expected });
            }
        };
        let objects = list.into_iter().filter_map(|item| match item {
            Value::Object(fields) => Some(fields),
            _ => None,
        });
        Ok(Self(objects.collect()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_filled: Filled }
