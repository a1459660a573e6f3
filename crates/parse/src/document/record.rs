//! Turns the records of corpus and chunk files into documents.
//!
//! Known shapes: BEIR (`_id`, `title`, `text`), `HippoRAG` (`idx`, `title`, `text`) and the chunk
//! files of PIKE-RAG's reference implementation (`chunk_id`, `title`, `content`).

use std::collections::{BTreeMap, HashMap, HashSet};

use pikerag_knowledge::{BlockKind, Chunking, Document, ProblemFact, Span};
use serde_json::{Map, Value};

use crate::document::blocks::{add_block, one_line};
use crate::document::file::TextFile;
use pikerag_unpack::Problems;

const IDS: [&str; 4] = ["id", "_id", "chunk_id", "idx"];
const TEXTS: [&str; 3] = ["text", "content", "contents"];
const TITLES: [&str; 2] = ["title", "name"];
/// Longest path of a nested field, in characters; each field below it repeats the path.
const LONGEST_PATH: usize = 200;
/// A longer record without a text field, in bytes of its written form, is split like a document:
/// its writer did not intend chunks.
const LONGEST_GIVEN: usize = 4_000;

/// The documents of a file of records.
pub(crate) struct Records<'a> {
    file: &'a TextFile<'a>,
    documents: Vec<Document>,
    fragments: HashSet<String>,
    /// The count of each identifier; it gives the suffix of the next repetition.
    seen: HashMap<String, usize>,
}

impl<'a> Records<'a> {
    pub(crate) fn new(file: &'a TextFile<'a>) -> Self {
        Self { file, documents: Vec::new(), fragments: HashSet::new(), seen: HashMap::new() }
    }

    /// Adds a record; `number` is its line or index, from 1, and `place` is the same for messages.
    pub(crate) fn add(
        &mut self,
        number: usize,
        place: &str,
        value: Value,
        problems: &mut Problems,
    ) {
        let place = format!("{place} {number}");
        let read = match value {
            Value::Object(fields) => self.document(number, fields),
            Value::String(text) => {
                self.document(number, Map::from_iter([("text".to_owned(), Value::String(text))]))
            }
            _ => return problems.add(place, ProblemFact::NoRecord),
        };
        let Some(mut document) = read else {
            return problems.add(place, ProblemFact::RecordWithoutText);
        };
        let id = std::mem::take(&mut document.fragment);
        document.fragment = self.unique(&id);
        if document.fragment != id {
            problems.add(place, ProblemFact::Renamed { id, to: document.fragment.clone() });
        }
        self.documents.push(document);
    }

    /// Whether no further record may be added.
    pub(crate) fn is_full(&self) -> bool {
        self.file.limits.max_records <= self.documents.len()
    }

    pub(crate) fn finish(self) -> Vec<Document> {
        self.documents
    }

    fn document(&self, number: usize, mut fields: Map<String, Value>) -> Option<Document> {
        let depth = self.file.limits.max_depth;
        let id = take_first(&mut fields, &IDS, |value| {
            word(value).map(|id| id.trim().to_owned()).filter(|id| !id.is_empty())
        });
        let (id_name, id) = id.unzip();
        let title = TITLES.iter().find_map(|name| fields.get(*name)?.as_str().and_then(one_line));
        let text = take_first(&mut fields, &TEXTS, |value| {
            value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
        });
        let text = text.map(|(_, text)| text);
        if text.is_some() && title.is_some() {
            fields.shift_remove("title");
        }
        let fields = flatten(Value::Object(fields), depth).lines;
        let (text, chunking, metadata) = if let Some(text) = text {
            (text, Chunking::Given, fields.into_iter().collect())
        } else {
            let lines: Vec<_> =
                fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            let text = lines.join("\n");
            match LONGEST_GIVEN < text.len() {
                true => (text, Chunking::Free, BTreeMap::new()),
                // A row of data gets the title of its document.
                false => {
                    let own = fields.into_iter().filter(|(name, _)| name != "title");
                    let id = id_name.map(str::to_owned).zip(id.clone());
                    (text, Chunking::Given, own.chain(id).collect())
                }
            }
        };
        let mut blocks = Vec::new();
        add_block(&mut blocks, &text, BlockKind::Paragraph, Span { start: 0, end: text.len() });
        if blocks.is_empty() {
            return None;
        }
        let title = title.unwrap_or_else(|| format!("{} {number}", self.file.title));
        let mut document = self.file.document(Some(title), text, blocks, Vec::new());
        document.fragment = id.unwrap_or_else(|| number.to_string());
        document.chunking = chunking;
        document.metadata = metadata;
        Some(document)
    }

    /// The identifier, with a suffix `~2`, `~3`, … if it occurs again.
    fn unique(&mut self, id: &str) -> String {
        let seen = self.seen.entry(id.to_owned()).or_insert(0);
        loop {
            *seen += 1;
            let fragment = if *seen == 1 { id.to_owned() } else { format!("{id}~{seen}") };
            if self.fragments.insert(fragment.clone()) {
                return fragment;
            }
        }
    }
}

/// Takes the first of the named fields that `read` accepts, with its name.
fn take_first(
    fields: &mut Map<String, Value>,
    names: &[&'static str],
    read: impl Fn(&Value) -> Option<String>,
) -> Option<(&'static str, String)> {
    let (name, value) = names.iter().find_map(|name| Some((*name, read(fields.get(*name)?)?)))?;
    fields.shift_remove(name);
    Some((name, value))
}

/// A text, number or truth value as text.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A value as lines of path and value, such as `servers[0].name` and `web-1`.
#[derive(Default)]
pub(crate) struct Flat {
    pub(crate) lines: Vec<(String, String)>,
    /// Whether values that are nested too deep were skipped.
    pub(crate) cut: bool,
}

/// Flattens a value. Nulls and blank texts are skipped; a list of plain values becomes one line.
pub(crate) fn flatten(value: Value, max_depth: usize) -> Flat {
    let mut flat = Flat::default();
    flatten_into(&mut flat, "", value, max_depth);
    flat
}

/// It is recursive; `serde_json` refuses nesting deeper than 128.
fn flatten_into(flat: &mut Flat, path: &str, value: Value, depth: usize) {
    match value {
        Value::Object(_) | Value::Array(_) if depth == 0 => flat.cut = true,
        Value::Object(fields) => {
            for (key, value) in fields {
                let key = one_line(&key).unwrap_or_default();
                let dot = if path.is_empty() { "" } else { "." };
                flatten_into(flat, &shortened(format!("{path}{dot}{key}")), value, depth - 1);
            }
        }
        Value::Array(values) if values.iter().all(|value| word(value).is_some()) => {
            let words: Vec<_> = values.iter().filter_map(word).collect();
            line(flat, path, &words.join(", "));
        }
        Value::Array(values) => {
            for (at, value) in values.into_iter().enumerate() {
                flatten_into(flat, &shortened(format!("{path}[{at}]")), value, depth - 1);
            }
        }
        value => line(flat, path, &word(&value).unwrap_or_default()),
    }
}

fn line(flat: &mut Flat, path: &str, value: &str) {
    if !value.trim().is_empty() {
        flat.lines.push((path.to_owned(), value.trim().to_owned()));
    }
}

/// Keeps the end of a long path, which says more than its start.
fn shortened(path: String) -> String {
    let excess = path.chars().count().saturating_sub(LONGEST_PATH);
    if excess == 0 {
        return path;
    }
    std::iter::once('…').chain(path.chars().skip(excess + 1)).collect()
}
