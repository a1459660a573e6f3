//! Reads the records of the neutral format and of the reference implementation's.

use serde::Deserialize;
use serde_json::{Error, Value};

use super::{Item, Task, each_once, labels, legal, singlehop};

/// The union of the fields; each file has some of them. Covers the neutral format (`answers`,
/// `type`, `supporting: [{paragraph_id}]`, or file names instead of the objects) and the reference
/// implementation's (`answer_labels`, `metadata`).
#[derive(Deserialize)]
struct Raw {
    id: String,
    question: String,
    #[serde(default)]
    answers: Vec<String>,
    #[serde(default)]
    answer_labels: Vec<String>,
    #[serde(default)]
    choice: Vec<String>,
    answer: Option<String>,
    instruction: Option<String>,
    kind: Option<String>,
    r#type: Option<String>,
    task: Option<String>,
    hops: Option<u32>,
    before: Option<f64>,
    #[serde(default)]
    supporting: Vec<Evidence>,
    /// LawBench: the articles that the gold answer cites.
    #[serde(default)]
    statute_ids: Vec<String>,
    statute_id: Option<String>,
    answerable: Option<bool>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`supporting` holds file names or objects with `paragraph_id`")]
enum Evidence {
    File(String),
    Paragraph { paragraph_id: String },
}

#[derive(Deserialize, Default)]
struct Metadata {
    hops: Option<u32>,
    #[serde(default)]
    supporting_chunk_ids: Vec<String>,
}

/// `None` for a question that is marked as not answerable. For `LawBench`, the instruction precedes the question, and the letters of a choice join the gold
/// answers. For `FEVER`, the question is about the claim, and each verdict has its aliases.
pub(super) fn item(record: Value) -> Result<Option<Item>, Error> {
    let raw: Raw = serde_json::from_value(record)?;
    if raw.answerable == Some(false) {
        return Ok(None);
    }
    let letters = raw.choice.concat();
    let answers = labels(
        [raw.answers, raw.answer_labels, Vec::from_iter(raw.answer), vec![letters]].concat(),
    );
    let supporting = raw.supporting.into_iter().map(|evidence| match evidence {
        Evidence::File(id) | Evidence::Paragraph { paragraph_id: id } => id,
    });
    let task = match raw.task.as_deref() {
        Some("forecast") => Task::Forecast,
        Some("ideas") => Task::Ideas,
        other => other.map_or(Task::Short, legal::task),
    };
    let item = Item {
        id: raw.id,
        lookup: raw.instruction.is_some().then(|| raw.question.clone()),
        question: match raw.instruction {
            Some(instruction) => format!("{instruction}\n{}", raw.question),
            None => raw.question,
        },
        answers,
        kind: raw.kind.or(raw.r#type).or(raw.task),
        hops: raw.hops.or(raw.metadata.hops),
        supporting: each_once(
            supporting
                .chain(raw.metadata.supporting_chunk_ids)
                .chain(raw.statute_ids)
                .chain(raw.statute_id),
        ),
        task,
        before: raw.before,
        wanted: None,
        context: Vec::new(),
    };
    Ok(Some(singlehop::as_verdict(item)))
}
