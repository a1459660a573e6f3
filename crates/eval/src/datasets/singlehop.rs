//! Reads the records of data sets with single-hop questions (NQ, `TriviaQA`, `WebQuestions`,
//! `StrategyQA`, `PopQA`, FEVER).

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Error, Value};

use super::{Item, each_once, labels};

/// One value or several, as some files write it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn into_labels(self) -> Vec<String> {
        match self {
            Self::One(one) => labels([one]),
            Self::Many(many) => labels(many),
        }
    }
}

#[derive(Deserialize)]
struct Nq {
    question: String,
    answer: OneOrMany,
}

/// NQ-open has no ids: its lines are numbered.
pub(super) fn nq(record: Value, number: usize) -> Result<Item, Error> {
    let raw: Nq = serde_json::from_value(record)?;
    let (id, question, answers) =
        (format!("nq-{number:05}"), raw.question, raw.answer.into_labels());
    Ok(Item { id, question, answers, ..Item::default() })
}

#[derive(Deserialize)]
struct TriviaQa {
    #[serde(alias = "Question")]
    question: String,
    #[serde(alias = "QuestionId")]
    question_id: String,
    #[serde(alias = "Answer")]
    answer: TriviaAnswer,
}

#[derive(Deserialize)]
struct TriviaAnswer {
    #[serde(alias = "Value")]
    value: String,
    #[serde(default, alias = "Aliases")]
    aliases: Vec<String>,
}

pub(super) fn triviaqa(record: Value) -> Result<Item, Error> {
    let raw: TriviaQa = serde_json::from_value(record)?;
    let answers = labels(std::iter::once(raw.answer.value).chain(raw.answer.aliases));
    Ok(Item { id: raw.question_id, question: raw.question, answers, ..Item::default() })
}

#[derive(Deserialize)]
struct WebQuestions {
    #[serde(alias = "utterance")]
    question: String,
    #[serde(default)]
    answers: Vec<String>,
    #[serde(rename = "targetValue")]
    target: Option<String>,
}

pub(super) fn webquestions(record: Value, number: usize) -> Result<Item, Error> {
    let raw: WebQuestions = serde_json::from_value(record)?;
    let described = raw.target.map(|target| descriptions(&target)).unwrap_or_default();
    let answers = labels(raw.answers.into_iter().chain(described));
    let id = format!("webquestions-{number:05}");
    Ok(Item { id, question: raw.question, answers, ..Item::default() })
}

/// `(list (description "Jazmyn Bieber") (description Rome))` → both names.
fn descriptions(target: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in target.split("(description ").skip(1) {
        let part = part.trim_start();
        let value = match part.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => part.split(')').next().unwrap_or_default().trim().to_owned(),
        };
        found.push(value);
    }
    found
}

/// Up to the closing quotation mark; `\"` is an escaped one.
fn unquoted(quoted: &str) -> String {
    let mut value = String::new();
    let mut characters = quoted.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => value.extend(characters.next()),
            '"' => break,
            c => value.push(c),
        }
    }
    value
}

#[derive(Deserialize)]
struct StrategyQa {
    qid: String,
    question: String,
    answer: bool,
    #[serde(default)]
    decomposition: Vec<String>,
    /// Per annotator, per step: paragraph ids, `operation` or `no_evidence`.
    #[serde(default)]
    evidence: Vec<Value>,
}

/// The gold evidence is that of the first annotator: each annotator's is enough on its own.
pub(super) fn strategyqa(record: Value) -> Result<Item, Error> {
    let raw: StrategyQa = serde_json::from_value(record)?;
    let mut supporting = Vec::new();
    if let Some(first) = raw.evidence.first() {
        texts_within(first, &mut supporting);
    }
    supporting.retain(|id| id != "operation" && id != "no_evidence");
    let hops = raw.decomposition.len() as u32;
    Ok(Item {
        id: raw.qid,
        question: raw.question,
        answers: vec![if raw.answer { "yes" } else { "no" }.to_owned()],
        hops: (0 < hops).then_some(hops),
        supporting: each_once(supporting),
        ..Item::default()
    })
}

fn texts_within(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts_within(value, texts)),
        _ => {}
    }
}

#[derive(Deserialize)]
struct PopQa {
    id: Value,
    question: String,
    prop: Option<String>,
    possible_answers: Value,
}

pub(super) fn popqa(record: Value) -> Result<Item, Error> {
    let raw: PopQa = serde_json::from_value(record)?;
    // The published table writes a list as text.
    let possible: Vec<String> = match raw.possible_answers {
        Value::String(list) => serde_json::from_str(&list)?,
        list => serde_json::from_value(list)?,
    };
    Ok(Item {
        id: text_or_number(raw.id)?,
        question: raw.question,
        answers: labels(possible),
        kind: raw.prop,
        ..Item::default()
    })
}

#[derive(Deserialize)]
struct Fever {
    id: Value,
    claim: String,
    label: String,
    /// Sets of `[annotation, evidence, page, sentence]`; each set is enough on its own.
    #[serde(default)]
    evidence: Value,
}

/// The gold evidence is the pages of the first set.
pub(super) fn fever(record: Value) -> Result<Item, Error> {
    let raw: Fever = serde_json::from_value(record)?;
    let first = raw.evidence.get(0).and_then(Value::as_array);
    let pages = first.into_iter().flatten().filter_map(|piece| piece.get(2)?.as_str());
    let item = Item {
        id: text_or_number(raw.id)?,
        question: raw.claim,
        answers: vec![raw.label],
        supporting: each_once(pages.map(str::to_owned)),
        ..Item::default()
    };
    Ok(as_verdict(item))
}

/// The labels of FEVER, each with its aliases.
const VERDICTS: [(&str, &[&str]); 3] = [
    ("SUPPORTS", &["SUPPORTED", "supported by the evidence", "true", "yes"]),
    ("REFUTES", &["REFUTED", "refuted by the evidence", "false", "no"]),
    ("NOT ENOUGH INFO", &["NEI", "not enough information", "insufficient information"]),
];

/// Turns an item whose only answer is a label of FEVER into a question about its claim, with the
/// label's aliases; other items stay unchanged. The claim alone is looked up: the instruction on how
/// to answer would lead a search away from it.
pub(super) fn as_verdict(mut item: Item) -> Item {
    let [label] = item.answers.as_slice() else { return item };
    let Some((label, aliases)) = VERDICTS.iter().find(|(known, _)| known == label) else {
        return item;
    };
    let claim = item.question;
    item.question = format!(
        "Does the evidence support this claim, does it refute it, or is there not enough of it? \
         Answer with SUPPORTS, REFUTES or NOT ENOUGH INFO.\nClaim: {claim}"
    );
    item.lookup.get_or_insert(claim);
    item.kind.get_or_insert_with(|| (*label).to_owned());
    item.answers.extend(aliases.iter().map(|alias| (*alias).to_owned()));
    item
}

fn text_or_number(id: Value) -> Result<String, Error> {
    match id {
        Value::String(id) => Ok(id),
        Value::Number(id) => Ok(id.to_string()),
        _ => Err(Error::custom("`id` is neither a text nor a number")),
    }
}
