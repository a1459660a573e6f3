//! Reads files of questions, with their gold answers and evidence (KAR³ §4.1).

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::EvalError;
use crate::metrics::{Wanted, WantedKind};
use pikerag_knowledge::{AnswerForm, Question, Seeded};

mod format;
mod legal;
mod multihop;
mod names;
mod neutral;
mod records;
mod singlehop;
mod tables;

pub use crate::place::Place;
pub use format::Format;
pub use names::known_name;

/// A question with the known facts about its answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Item {
    /// Unique within its file.
    pub id: String,
    /// The question for a method, with an instruction on how to answer if the data set has one.
    pub question: String,
    /// The part to look up, if an instruction on how to answer precedes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<String>,
    /// Gold labels, at least one; each is right on its own. For a figure, [`Item::wanted`] gives
    /// the kind; there is no label if the tables do not hold the answer.
    pub answers: Vec<String>,
    /// The data set's own class, `bridge` or `2hop`.
    pub kind: Option<String>,
    /// Reasoning steps, if the data set gives them.
    pub hops: Option<u32>,
    /// Gold evidence, each once, in the file's order: paragraph ids or file names (`a.md`,
    /// `b.jsonl#id`). Empty if the data set has none.
    pub supporting: Vec<String>,
    /// The kind of answer, which decides on further metrics.
    #[serde(default)]
    pub task: Task,
    /// For a forecast: the last known figure, which defines the direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// For a figure over tables: the kind of the right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
    /// Its own context, by id of [`Paragraph`]; empty if the file has none.
    #[serde(default)]
    pub context: Vec<String>,
}

impl Item {
    /// The question for a method; the instruction is not part of the look-up.
    pub fn asked(&self) -> Question {
        Question {
            lookup: self.lookup.clone(),
            form: self.task.form(),
            ..Question::new(&self.id, &self.question)
        }
    }

    /// The query for a search alone: the question without an instruction on how to answer.
    pub fn query(&self) -> &str {
        self.lookup.as_deref().unwrap_or(&self.question)
    }
}

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Words: a name, a date, yes or no.
    #[default]
    Short,
    /// Sentences: Rouge-L is more informative than exact match.
    Long,
    /// Letters of the right options: one, or several.
    Choice,
    /// Numbers of articles of a statute.
    Articles,
    /// Names of crimes: one, or several.
    Crimes,
    /// A figure that was not known yet: PIKE-RAG's L3.
    Forecast,
    /// A figure, text or list from tables, or the statement that they do not hold it.
    Figure,
    /// Something new: PIKE-RAG's L4. The labels name its evidence, and do not decide what is right.
    Ideas,
}

impl Task {
    /// The form of answer that prompts ask for.
    pub fn form(self) -> AnswerForm {
        match self {
            Self::Short | Self::Forecast | Self::Figure => AnswerForm::Short,
            Self::Long | Self::Ideas => AnswerForm::Long,
            Self::Choice => AnswerForm::Choice,
            Self::Articles => AnswerForm::Articles,
            Self::Crimes => AnswerForm::Crimes,
        }
    }
}

/// A paragraph of a question's context, as published with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paragraph {
    /// `p00001`, numbered through the file; equal paragraphs share one.
    pub id: String,
    /// The title of its article; several paragraphs may share one.
    pub title: String,
    /// Without its title, and without blanks around it.
    pub text: String,
}

/// A whole file of questions: read in full, or not at all.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// The papers' name if the file is known by its format or name (`hotpotqa`), else the file's
    /// name up to its first dot.
    pub name: String,
    /// The format that the user named, else that of the first record.
    pub format: Format,
    /// Its questions, in the file's order.
    pub items: Vec<Item>,
    /// The paragraphs of all contexts, each once; empty if the format has none.
    pub paragraphs: Vec<Paragraph>,
    /// Questions that were skipped because their data set marks them as unanswerable.
    pub unanswerable: usize,
}

impl DataSet {
    /// The pooled context paragraphs of `items`, in the file's order: the papers' knowledge base for
    /// a sample of questions (KAR³ §4.1).
    pub fn pool(&self, items: &[Item]) -> Vec<&Paragraph> {
        let wanted: HashSet<&String> = items.iter().flat_map(|item| &item.context).collect();
        self.paragraphs.iter().filter(|paragraph| wanted.contains(&paragraph.id)).collect()
    }
}

/// Reads a file in any of the published formats, or in the neutral one. Without `format` the first
/// record decides.
///
/// # Errors
/// The file cannot be read, its format is not known, or one of its records is not a question with a
/// unique id and at least one gold answer. Never returns part of a file: a mean over the good
/// records would look like the whole.
pub fn read(path: &Path, format: Option<Format>) -> Result<DataSet, EvalError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| EvalError::Unreadable { path: path.to_owned(), source })?;
    let records = records::records(&text).map_err(|(place, source)| EvalError::NotAQuestion {
        path: path.to_owned(),
        place,
        source,
    })?;
    let format = match (format, records.first()) {
        (Some(format), _) => format,
        (None, Some((_, first))) => Format::of(first).ok_or_else(|| EvalError::UnknownFormat {
            path: path.to_owned(),
            known: Format::names(),
        })?,
        (None, None) => Format::Neutral,
    };
    let mut set = DataSet {
        name: known_name(format, path),
        format,
        items: Vec::new(),
        paragraphs: Vec::new(),
        unanswerable: 0,
    };
    let mut pool = multihop::Pool::default();
    let mut seen: HashMap<String, Place> = HashMap::new();
    let stem = names::stem(path);
    for (number, (place, record)) in (1..).zip(records) {
        let wrong = |source| EvalError::NotAQuestion { path: path.to_owned(), place, source };
        let Some(item) = format.item(record, number, &stem, &mut pool).map_err(wrong)? else {
            set.unanswerable += 1;
            continue;
        };
        if item.answers.is_empty() && item.wanted.is_none_or(|it| it.kind != WantedKind::None) {
            return Err(EvalError::NoAnswer { path: path.to_owned(), place, id: item.id });
        }
        if let Some(first) = seen.insert(item.id.clone(), place) {
            return Err(EvalError::SameId { path: path.to_owned(), place, id: item.id, first });
        }
        set.items.push(item);
    }
    set.paragraphs = pool.paragraphs;
    Ok(set)
}

/// `limit` items drawn without replacement, in the order of `items`; all of them if there are no
/// more. The same seed draws the same items, and a smaller limit draws a part of a larger one's.
pub fn sample(items: Vec<Item>, limit: usize, seed: u64) -> Vec<Item> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let mut seeded = Seeded::new(seed);
    for at in 0..limit.min(items.len()) {
        order.swap(at, at + seeded.below(items.len() - at)); // Fisher and Yates, from the front.
    }
    let mut is_drawn = vec![false; items.len()];
    for at in order.into_iter().take(limit) {
        if let Some(is_drawn) = is_drawn.get_mut(at) {
            *is_drawn = true;
        }
    }
    items
        .into_iter()
        .zip(is_drawn)
        .filter_map(|(item, is_drawn)| is_drawn.then_some(item))
        .collect()
}

/// The non-empty labels, each once, in their order.
fn labels(values: impl IntoIterator<Item = String>) -> Vec<String> {
    each_once(values.into_iter().filter(|value| !value.trim().is_empty()))
}

fn each_once(values: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut once = Vec::new();
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}

#[cfg(test)]
pikerag_test_support::fuzz_targets! {
    dataset in "corpus/datasets" => |bytes: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.json", "a.jsonl"] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            if let Ok(data) = read(&path, None) {
                assert!(data.items.iter().all(|item| !item.answers.is_empty()));
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::io::Write;

    use proptest::prelude::*;

    use super::{Item, read as read_file, sample};
    use crate::EvalError;

    #[test]
    fn reads_the_neutral_format() {
        let items = read(
            r#"{"id": "q1", "question": "Where?", "answers": ["Kalkar"], "type": "bridge", "hops": 2, "supporting": [{"title": "A", "paragraph_id": "p1", "sent_idx": 0}, {"title": "A", "paragraph_id": "p1"}, {"title": "B", "paragraph_id": "p2"}], "context_known": true}

{"id": "q2", "question": "Who?", "answers": ["Ada", "Ada Lovelace"]}"#,
        )
        .unwrap();
        insta::assert_json_snapshot!(items, @r#"
        [
          {
            "id": "q1",
            "question": "Where?",
            "answers": [
              "Kalkar"
            ],
            "kind": "bridge",
            "hops": 2,
            "supporting": [
              "p1",
              "p2"
            ],
            "task": "short",
            "context": []
          },
          {
            "id": "q2",
            "question": "Who?",
            "answers": [
              "Ada",
              "Ada Lovelace"
            ],
            "kind": null,
            "hops": null,
            "supporting": [],
            "task": "short",
            "context": []
          }
        ]
        "#);
    }

    #[test]
    fn reads_the_reference_format_our_example_and_lawbench() {
        let items = read(
            r#"{"id": "Q0", "question": "What?", "answer_labels": ["Rasaia"], "question_type": "undefined", "metadata": {"hops": 1, "chain": ["country"], "supporting_chunk_ids": ["V-0-1"]}}
{"id": "h", "question": "Which?", "answer": "Ten", "kind": "l2", "supporting": ["a.md", "b.jsonl#7"]}
{"id": "l", "task": "1-2", "instruction": "选出答案。", "question": "几类?", "answers": ["正确答案：C。"], "choice": ["C"]}"#,
        )
        .unwrap();
        insta::assert_debug_snapshot!(items, @r#"
        [
            Item {
                id: "Q0",
                question: "What?",
                lookup: None,
                answers: [
                    "Rasaia",
                ],
                kind: None,
                hops: Some(
                    1,
                ),
                supporting: [
                    "V-0-1",
                ],
                task: Short,
                before: None,
                wanted: None,
                context: [],
            },
            Item {
                id: "h",
                question: "Which?",
                lookup: None,
                answers: [
                    "Ten",
                ],
                kind: Some(
                    "l2",
                ),
                hops: None,
                supporting: [
                    "a.md",
                    "b.jsonl#7",
                ],
                task: Short,
                before: None,
                wanted: None,
                context: [],
            },
            Item {
                id: "l",
                question: "选出答案。\n几类?",
                lookup: Some(
                    "几类?",
                ),
                answers: [
                    "正确答案：C。",
                    "C",
                ],
                kind: Some(
                    "1-2",
                ),
                hops: None,
                supporting: [],
                task: Choice,
                before: None,
                wanted: None,
                context: [],
            },
        ]
        "#);
    }

    #[test]
    fn names_the_bad_line_and_its_reason() {
        let good = r#"{"id": "q", "question": "?", "answers": ["a"]}"#;
        for (bad, message, reason) in [
            ("{", "line 2: not a question", "EOF while parsing"),
            (r#"{"id": "r"}"#, "line 2: not a question", "missing field `question`"),
            (
                r#"{"id": "r", "question": "?", "answers": ["a"], "supporting": [{"title": "T"}]}"#,
                "line 2: not a question",
                "objects with `paragraph_id`",
            ),
            (
                r#"{"id": "r", "question": "?", "answers": [" "]}"#,
                "line 2: question `r` has no gold answer",
                "",
            ),
            (good, "line 2: question `q` already occurs on line 1", ""),
        ] {
            let error = read(&format!("\u{FEFF}{good}\r\n{bad}\r\n")).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
            let source = error.source().map(ToString::to_string).unwrap_or_default();
            assert!(source.contains(reason), "{source}");
        }
    }

    #[test]
    fn names_the_missing_file() {
        let error = read_file("no/such/file.jsonl".as_ref(), None).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the questions in no/such/file.jsonl");
    }

    /// Files of questions next to the checkout.
    #[test]
    fn reads_the_real_files() {
        for (path, n) in [
            ("data/multihop/hotpotqa.questions.jsonl", 500),
            ("data/multihop/2wiki.questions.jsonl", 360),
            ("data/multihop/musique.questions.jsonl", 350),
            ("data/singlehop/nq.questions.jsonl", 500),
            ("data/singlehop/multihoprag.questions.jsonl", 500),
            ("data/singlehop/fever.claims.jsonl", 500),
            ("data/singlehop/popqa.questions.jsonl", 500),
            ("data/singlehop/strategyqa.questions.jsonl", 150),
            ("data/singlehop/triviaqa.questions.jsonl", 100),
            ("data/singlehop/webquestions.questions.jsonl", 500),
            ("data/multihop_train/hotpotqa_train.questions.jsonl", 100),
            ("data/multihop_train/musique_train.questions.jsonl", 100),
            ("data/lawbench/1-1.questions.jsonl", 250),
            ("data/lawbench/1-2.questions.jsonl", 250),
            ("data/lawbench/3-1.questions.jsonl", 250),
            ("data/lawbench/3-2.questions.jsonl", 250),
            ("data/lawbench/3-6.questions.jsonl", 250),
            ("data/lawbench/3-8.questions.jsonl", 250),
        ] {
            let Some(file) = pikerag_test_support::optional(path) else { continue };
            let items = read_file(&file, None).unwrap().items;
            assert_eq!(items.len(), n, "{path}");
            assert!(!path.contains("multihop/") || items.iter().all(|i| !i.supporting.is_empty()));
        }
    }

    #[test]
    fn reads_the_world_of_the_tests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("questions.jsonl");
        std::fs::write(&path, pikerag_test_support::World::workload().questions()).unwrap();
        let items = read_file(&path, None).unwrap().items;
        assert_eq!(items.len(), 50);
        assert!(items.iter().all(|item| !item.supporting.is_empty() && item.answers.len() == 1));
    }

    #[test]
    fn reads_our_example() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbour/questions.jsonl");
        assert!(!read_file(path.as_ref(), None).unwrap().items.is_empty());
    }

    #[test]
    fn samples_the_same_items_for_the_same_seed() {
        let ids = |seed| {
            let drawn = sample(numbered(1000), 5, seed);
            drawn.into_iter().map(|item| item.id).collect::<Vec<_>>().join(" ")
        };
        insta::assert_snapshot!(ids(7), @"17 389 454 584 900");
        assert_ne!(ids(7), ids(8));
    }

    proptest! {
        #[test]
        fn samples_in_order_and_nested(n in 0_usize..60, limit in 0_usize..70, seed: u64) {
            let items = numbered(n);
            let drawn = sample(items.clone(), limit, seed);
            prop_assert_eq!(drawn.len(), limit.min(n));
            let mut rest = items.iter();
            prop_assert!(drawn.iter().all(|item| rest.any(|other| other == item)));
            let more = sample(items, limit + 1, seed);
            prop_assert!(drawn.iter().all(|item| more.contains(item)));
        }
    }

    fn numbered(n: usize) -> Vec<Item> {
        let item = |number: usize| Item { id: number.to_string(), ..Item::default() };
        (0..n).map(item).collect()
    }

    fn read(lines: &str) -> Result<Vec<Item>, EvalError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        Ok(read_file(file.path(), None)?.items)
    }
}
