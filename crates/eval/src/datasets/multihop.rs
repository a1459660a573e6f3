//! Reads the records of HotpotQA, 2WikiMultiHopQA and MuSiQue.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Error, Value};

use super::{Item, Paragraph, Task, each_once, labels};

/// The context paragraphs of a file, each once.
#[derive(Default)]
pub(super) struct Pool {
    pub(super) paragraphs: Vec<Paragraph>,
    /// Title and text → id.
    ids: HashMap<(String, String), String>,
}

impl Pool {
    /// The id of a paragraph, which is added if it is new.
    pub(super) fn add(&mut self, title: &str, text: &str) -> String {
        let key = (title.trim().to_owned(), text.trim().to_owned());
        let next = format!("p{:05}", self.ids.len() + 1);
        let id = self.ids.entry(key).or_insert_with_key(|(title, text)| {
            let (title, text) = (title.clone(), text.clone());
            self.paragraphs.push(Paragraph { id: next.clone(), title, text });
            next
        });
        id.clone()
    }
}

/// As published: lists of pairs. As on the Hub: an object of lists.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`context` holds pairs of a title and its sentences")]
enum Context {
    Pairs(Vec<(String, Vec<String>)>),
    #[serde(rename_all = "snake_case")]
    Lists {
        title: Vec<String>,
        #[serde(alias = "content")]
        sentences: Vec<Vec<String>>,
    },
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`supporting_facts` holds pairs of a title and a sentence's number")]
enum Facts {
    Pairs(Vec<(String, usize)>),
    Lists { title: Vec<String> },
}

#[derive(Deserialize)]
struct Hotpot {
    #[serde(alias = "_id")]
    id: String,
    question: String,
    answer: String,
    r#type: Option<String>,
    context: Context,
    supporting_facts: Facts,
    /// 2WikiMultiHopQA: the triples that lead to the answer, one per hop.
    #[serde(default)]
    evidences: Vec<Value>,
}

/// Reads HotpotQA and 2WikiMultiHopQA: the gold evidence is the context paragraphs with the title
/// of a supporting fact.
pub(super) fn hotpotqa(record: Value, pool: &mut Pool) -> Result<Item, Error> {
    let raw: Hotpot = serde_json::from_value(record)?;
    let pairs = match raw.context {
        Context::Pairs(pairs) => pairs,
        Context::Lists { title, sentences } => title.into_iter().zip(sentences).collect(),
    };
    let gold = match raw.supporting_facts {
        Facts::Pairs(pairs) => pairs.into_iter().map(|(title, _)| title).collect(),
        Facts::Lists { title } => title,
    };
    let mut context: Vec<(String, String)> = Vec::new();
    for (title, sentences) in pairs {
        let sentences: Vec<&str> = sentences.iter().map(|sentence| sentence.trim()).collect();
        let id = pool.add(&title, &sentences.join(" "));
        context.push((title, id));
    }
    let mut supporting = Vec::new();
    for title in &gold {
        supporting.extend(context.iter().filter(|(of, _)| of == title).map(|(_, id)| id.clone()));
    }
    let hops = raw.evidences.len() as u32;
    Ok(Item {
        id: raw.id,
        question: raw.question,
        lookup: None,
        answers: labels([raw.answer]),
        kind: raw.r#type,
        hops: (0 < hops).then_some(hops),
        supporting: each_once(supporting),
        task: Task::Short,
        before: None,
        wanted: None,
        context: each_once(context.iter().map(|(_, id)| id.clone())),
    })
}

#[derive(Deserialize)]
struct MuSiQue {
    id: String,
    question: String,
    answer: String,
    #[serde(default)]
    answer_aliases: Vec<String>,
    paragraphs: Vec<MuSiQueParagraph>,
    #[serde(default)]
    question_decomposition: Vec<Value>,
    answerable: Option<bool>,
}

#[derive(Deserialize)]
struct MuSiQueParagraph {
    title: String,
    paragraph_text: String,
    #[serde(default)]
    is_supporting: bool,
}

/// Reads MuSiQue; `None` for a question of MuSiQue-Full that its paragraphs do not answer.
pub(super) fn musique(record: Value, pool: &mut Pool) -> Result<Option<Item>, Error> {
    let raw: MuSiQue = serde_json::from_value(record)?;
    if raw.answerable == Some(false) {
        return Ok(None);
    }
    let mut supporting = Vec::new();
    let mut context = Vec::new();
    for paragraph in raw.paragraphs {
        let id = pool.add(&paragraph.title, &paragraph.paragraph_text);
        if paragraph.is_supporting {
            supporting.push(id.clone());
        }
        context.push(id);
    }
    // `3hop1__…`: three hops, of the first shape.
    let kind = raw.id.split_once("__").map(|(kind, _)| kind.to_owned());
    let hops = match raw.question_decomposition.len() as u32 {
        0 => kind.as_deref().and_then(|kind| kind.chars().next()?.to_digit(10)),
        hops => Some(hops),
    };
    Ok(Some(Item {
        id: raw.id,
        question: raw.question,
        lookup: None,
        answers: labels(std::iter::once(raw.answer).chain(raw.answer_aliases)),
        kind,
        hops,
        supporting: each_once(supporting),
        task: Task::Short,
        before: None,
        wanted: None,
        context: each_once(context),
    }))
}
