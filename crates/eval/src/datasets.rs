//! Which questions does a run ask, and what are their gold answers and evidence? (KAR³ §4.1)

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::EvalError;
use crate::seeded::Seeded;

/// A question with what is known about its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Unique within its file.
    pub id: String,
    /// As it is asked.
    pub question: String,
    /// Gold labels, at least one; each is right on its own.
    pub answers: Vec<String>,
    /// The data set's own class, `bridge` or `2hop`.
    pub kind: Option<String>,
    /// Reasoning steps, where the data set tells.
    pub hops: Option<u32>,
    /// Gold evidence, each once, in the file's order: paragraph ids or file names (`a.md`,
    /// `b.jsonl#id`). Empty where the data set has none.
    pub supporting: Vec<String>,
}

/// The questions of a JSON Lines file, in its order; blank lines are passed over.
///
/// Reads the neutral format (`answers`, `type`, `supporting: [{paragraph_id}]`, or file names
/// instead of the objects) and the reference implementation's (`answer_labels`, `metadata`).
/// `LawBench`: the instruction goes before the question and the lone letter of a choice joins the
/// gold answers.
///
/// # Errors
/// The file cannot be read, or one of its lines is no question with an id of its own and at least
/// one gold answer. Never a part of a file: a mean over the good lines would look like the whole.
pub fn load(path: &Path) -> Result<Vec<Item>, EvalError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| EvalError::Unreadable { path: path.to_owned(), source })?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let mut items = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (line, json) in (1..).zip(text.lines()) {
        if json.trim().is_empty() {
            continue;
        }
        let path = || PathBuf::from(path);
        let raw: Raw = serde_json::from_str(json).map_err(|source| EvalError::NotAQuestion {
            path: path(),
            line,
            source,
        })?;
        let item = raw.into_item();
        if item.answers.is_empty() {
            return Err(EvalError::NoAnswer { path: path(), line, id: item.id });
        }
        if let Some(first) = seen.insert(item.id.clone(), line) {
            return Err(EvalError::SameId { path: path(), line, id: item.id, first });
        }
        items.push(item);
    }
    Ok(items)
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

/// The union of the formats' fields; each file has some of them.
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
    #[serde(default)]
    supporting: Vec<Evidence>,
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

impl Raw {
    fn into_item(self) -> Item {
        let answers = [self.answers, self.answer_labels, Vec::from_iter(self.answer), self.choice];
        let supporting = self.supporting.into_iter().map(|evidence| match evidence {
            Evidence::File(id) | Evidence::Paragraph { paragraph_id: id } => id,
        });
        Item {
            id: self.id,
            question: match self.instruction {
                Some(instruction) => format!("{instruction}\n{}", self.question),
                None => self.question,
            },
            answers: each_once(answers.into_iter().flatten().filter(|a| !a.trim().is_empty())),
            kind: self.kind.or(self.r#type).or(self.task),
            hops: self.hops.or(self.metadata.hops),
            supporting: each_once(supporting.chain(self.metadata.supporting_chunk_ids)),
        }
    }
}

fn each_once(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut once = Vec::new();
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::io::Write;

    use proptest::prelude::*;

    use super::{Item, load, sample};
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
            ]
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
            "supporting": []
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
            },
            Item {
                id: "h",
                question: "Which?",
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
            },
            Item {
                id: "l",
                question: "选出答案。\n几类?",
                answers: [
                    "正确答案：C。",
                    "C",
                ],
                kind: Some(
                    "1-2",
                ),
                hops: None,
                supporting: [],
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
            (good, "line 2: question `q` stands on line 1 already", ""),
        ] {
            let error = read(&format!("\u{FEFF}{good}\r\n{bad}\r\n")).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
            let source = error.source().map(ToString::to_string).unwrap_or_default();
            assert!(source.contains(reason), "{source}");
        }
    }

    #[test]
    fn names_the_missing_file() {
        let error = load("no/such/file.jsonl".as_ref()).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the questions in no/such/file.jsonl");
    }

    /// Files of questions beside the checkout.
    #[test]
    fn reads_the_real_files() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        for (path, n) in [
            ("../shared/data/multihop/hotpotqa.questions.jsonl", 500),
            ("../shared/data/multihop/2wiki.questions.jsonl", 360),
            ("../shared/data/multihop/musique.questions.jsonl", 350),
            ("../shared/data/singlehop/nq.questions.jsonl", 500),
            ("../shared/data/singlehop/multihoprag.questions.jsonl", 500),
            ("../shared/data/singlehop/fever.claims.jsonl", 500),
            ("../shared/data/lawbench/3-6.questions.jsonl", 250),
            ("../shared/tools/llm_stub/workload/questions.jsonl", 50),
        ] {
            let path = format!("{root}{path}");
            if !std::fs::exists(&path).unwrap() {
                eprintln!("skipped: no {path}");
                continue;
            }
            let items = load(path.as_ref()).unwrap();
            assert_eq!(items.len(), n, "{path}");
            assert!(!path.contains("multihop/") || items.iter().all(|i| !i.supporting.is_empty()));
        }
    }

    #[test]
    fn reads_our_example() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbour/questions.jsonl");
        assert!(!load(path.as_ref()).unwrap().is_empty());
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
        let item = |number: usize| Item {
            id: number.to_string(),
            question: String::new(),
            answers: Vec::new(),
            kind: None,
            hops: None,
            supporting: Vec::new(),
        };
        (0..n).map(item).collect()
    }

    fn read(lines: &str) -> Result<Vec<Item>, EvalError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        load(file.path())
    }
}
