//! Reads the records of LawBench and of Open Australian Legal QA.

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Error, Value};

use super::multihop::Pool;
use super::{Item, Task, labels};

/// The tasks of LawBench that need knowledge (KAR³ Table 15).
pub(super) const LAWBENCH: [&str; 6] = ["1-1", "1-2", "3-1", "3-2", "3-6", "3-8"];

#[derive(Deserialize)]
struct LawBench {
    instruction: String,
    question: String,
    answer: String,
}

/// Reads LawBench, which names its tasks by its files (`1-1.json`) and its questions by their
/// order.
pub(super) fn lawbench(record: Value, number: usize, stem: &str) -> Result<Item, Error> {
    let raw: LawBench = serde_json::from_value(record)?;
    let task = LAWBENCH.iter().find(|task| stem == **task || stem.ends_with(&format!("-{task}")));
    let Some(name) = task.copied() else {
        let reason =
            format!("the file is not named after a task of LawBench ({})", LAWBENCH.join(", "));
        return Err(Error::custom(reason));
    };
    Ok(Item {
        id: format!("lawbench-{name}-{number:03}"),
        question: format!("{}\n{}", raw.instruction, raw.question),
        lookup: Some(raw.question),
        answers: labels([raw.answer]),
        kind: Some(name.to_owned()),
        task: task_of(name),
        ..Item::default()
    })
}

/// The kind of answer in a task of LawBench; words for any other name.
pub(super) fn task(name: &str) -> Task {
    task_of(name.strip_prefix("lawbench-").unwrap_or(name))
}

fn task_of(name: &str) -> Task {
    match name {
        "1-1" | "3-2" | "3-8" => Task::Long,
        "1-2" | "3-6" => Task::Choice,
        "3-1" => Task::Articles,
        "3-3" => Task::Crimes,
        _ => Task::Short,
    }
}

#[derive(Deserialize)]
struct OpenAustralian {
    question: String,
    answer: String,
    source: Source,
}

#[derive(Deserialize)]
struct Source {
    #[serde(default)]
    citation: String,
    r#type: Option<String>,
    #[serde(default)]
    text: String,
}

/// The snippet from which a question was made is its only evidence.
pub(super) fn open_australian(
    record: Value,
    number: usize,
    pool: &mut Pool,
) -> Result<Item, Error> {
    let raw: OpenAustralian = serde_json::from_value(record)?;
    let mut context = Vec::new();
    if !raw.source.text.trim().is_empty() {
        context.push(pool.add(&raw.source.citation, &raw.source.text));
    }
    Ok(Item {
        id: format!("oalqa-{number:04}"),
        question: raw.question,
        answers: labels([raw.answer]),
        kind: raw.source.r#type,
        supporting: context.clone(),
        task: Task::Long,
        context,
        ..Item::default()
    })
}
