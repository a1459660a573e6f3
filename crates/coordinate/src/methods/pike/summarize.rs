//! What does much text say in few words? The documents that the question names, or all passages that fit; each part is told
//! by itself, and then all of them (PIKE-RAG §3.2, summarizing questions; §5.3.1).

mod scope;

use std::collections::{BTreeMap, BTreeSet};

use pikerag_knowledge::{
    Answer, Chunk, Context, Event, Question, Role, Schema, SourceId, TaskClass, Worked, WrittenBy,
};
use pikerag_language::{query_terms, sentences};
use pikerag_organize::context::{Organized, Rules, tokens_of};
use pikerag_prompt::{Prompt, Reply, Unreadable, numbered_passages, object, quiet_headings, text};
use pikerag_reason::{Claim, cite, how_to_answer};
use serde_json::{Value as Json, json};

use self::scope::scope;
use super::compare::number_of;
use super::wording::Tongue;
use super::{Outcome, Params};
use crate::organizing::in_order;
use crate::ports::{Ports, SolveError};
use crate::run::Run;

const PART: Prompt = Prompt::new(Role::Summarize, include_str!("../prompts/summary_part.md"), 1024);
const WHOLE: Prompt = Prompt::new(Role::Answer, include_str!("../prompts/summary_whole.md"), 2048);
/// Tokens of passages in one call.
const BATCH: u64 = 1500;
/// Points of a part, and sentences that are quoted without a model.
const POINTS: usize = 6;

/// Summarizes what the question names.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Outcome, SolveError> {
    let (given, order) = scope(ports, run, question.query()).await?;
    if given.is_empty() {
        return Ok(Outcome::Nothing("nothing was found to summarize".to_owned(), None));
    }
    let rules = Rules { tokens: Some(params.summarized.get()), order, ..Rules::default() };
    let organized = in_order(run, given, rules);
    let has_models =
        [Role::Summarize, Role::Answer].iter().all(|role| ports.models.of(*role).is_some());
    match has_models {
        true => by_model(ports, run, question, organized).await,
        false => by_quotes(ports, run, question, organized).await,
    }
}

/// Chunks that one call reads, with their numbers from 1 on.
fn batches(chunks: &[Chunk]) -> Vec<Vec<(usize, &Chunk)>> {
    let mut batches: Vec<Vec<(usize, &Chunk)>> = Vec::new();
    let mut room = 0;
    for numbered in (1..).zip(chunks) {
        let tokens = tokens_of(numbered.1);
        match batches.last_mut().filter(|_| tokens <= room) {
            Some(batch) => batch.push(numbered),
            None => {
                batches.push(vec![numbered]);
                room = BATCH;
            }
        }
        room = room.saturating_sub(tokens);
    }
    batches
}

/// Points of each part, all parts at once; then the summary of the points.
async fn by_model(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    organized: Organized,
) -> Result<Outcome, SolveError> {
    let asked = quiet_headings(&question.text);
    let batches = batches(&organized.kept);
    let shown: Vec<String> =
        batches.iter().map(|batch| numbered_passages(batch.iter().copied())).collect();
    let inputs: Vec<_> = shown
        .iter()
        .map(|shown| (vec![("context", shown.as_str()), ("question", asked.as_str())], 0))
        .collect();
    let replies: Vec<Option<Points>> = run.ask_each(ports, &PART, &inputs).await?;
    let unread = replies.iter().filter(|part| part.is_none()).count();
    if 0 < unread {
        run.push(Event::Noted {
            note: format!("{unread} of {} parts could not be told.", replies.len()),
        });
    }
    let points: Vec<Point> = replies.into_iter().flatten().flat_map(|part| part.0).collect();
    if points.is_empty() {
        return Ok(Outcome::Nothing(
            "no part of what was found could be told".to_owned(),
            Some(TaskClass::Bridging),
        ));
    }
    let lines: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(at, point)| format!("{}. {}", at + 1, pikerag_prompt::one_line(&point.text)))
        .collect();
    let (lines, form) = (quiet_headings(&lines.join("\n")), how_to_answer(question));
    let inputs =
        [("form", form.as_ref()), ("points", lines.as_str()), ("question", asked.as_str())];
    let said = run.ask::<Whole>(ports, &WHOLE, &inputs).await?;
    let (text, used) = match said {
        Some(said) => (said.answer, said.points),
        // The points themselves are a summary.
        None => (
            points.iter().map(|point| point.text.as_str()).collect::<Vec<_>>().join(" "),
            Vec::new(),
        ),
    };
    let is_used = |at: usize| used.is_empty() || used.contains(&(at + 1));
    let mut context = Context::default();
    organized.kept.iter().for_each(|chunk| context.add(1, chunk.clone()));
    let claims: Vec<Claim> = points
        .iter()
        .enumerate()
        .filter(|(at, point)| is_used(*at) && !point.quote.is_empty())
        .filter_map(|(_, point)| {
            let chunk = organized.kept.get(point.passage.checked_sub(1)?)?;
            Some(Claim { chunk: chunk.id, quote: point.quote.clone() })
        })
        .collect();
    let citations = cite(ports.base.as_ref(), &context, &text, &claims).await?;
    run.push(Event::Answered { answer: text.clone() });
    let model = ports.models.need(Role::Answer)?.name().to_owned();
    Ok(Outcome::Answered(Answer {
        text,
        rationale: covered(Tongue::of(question.query()), &organized),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::LanguageModel { model },
        citations,
        context,
        worked: Some(Box::new(Worked::of(TaskClass::Summarizing))),
    }))
}

/// How much was read.
fn covered(tongue: Tongue, organized: &Organized) -> String {
    let documents: BTreeSet<SourceId> = organized.kept.iter().map(|chunk| chunk.source).collect();
    let (kept, left) = (organized.kept.len(), organized.left_out.len());
    match tongue {
        Tongue::English => format!(
            "Read: {kept} passages of {} documents; {left} more were left out ({}).",
            documents.len(),
            organized
                .reasons()
                .iter()
                .map(|(why, count)| format!("{count} {why}"))
                .collect::<Vec<_>>()
                .join(", ")
        )
        .replace("; 0 more were left out ()", ""),
        Tongue::Chinese => {
            let left =
                if left == 0 { String::new() } else { format!("，另有 {left} 段未读") };
            format!("已读 {} 份文档的 {kept} 段{left}。", documents.len())
        }
    }
}

/// Without a model: the sentences that stand for the others, in reading order.
async fn by_quotes(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    organized: Organized,
) -> Result<Outcome, SolveError> {
    let claims = central(&organized.kept);
    if claims.is_empty() {
        return Ok(Outcome::Nothing("what was found holds no sentences".to_owned(), None));
    }
    let mut context = Context::default();
    organized.kept.iter().for_each(|chunk| context.add(1, chunk.clone()));
    let citations = cite(ports.base.as_ref(), &context, "", &claims).await?;
    let text = claims.iter().filter(|claim| number_of(&citations, &claim.quote).is_some());
    let text = text.map(|claim| claim.quote.as_str()).collect::<Vec<_>>().join(" ");
    run.push(Event::Noted {
        note: "No language model was used: the summary is the sentences that stand for the others."
            .to_owned(),
    });
    run.push(Event::Answered { answer: text.clone() });
    Ok(Outcome::Answered(Answer {
        text,
        rationale: covered(Tongue::of(question.query()), &organized),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::Quotation,
        citations,
        context,
        worked: Some(Box::new(Worked::of(TaskClass::Summarizing))),
    }))
}

/// The sentences whose words most other sentences share, each unlike those chosen before (maximal marginal relevance over
/// terms).
fn central(chunks: &[Chunk]) -> Vec<Claim> {
    let mut all: Vec<(usize, &Chunk, String, Vec<String>)> = Vec::new();
    for chunk in chunks.iter().filter(|chunk| chunk.table.is_none()) {
        for range in sentences(&chunk.text) {
            let Some(sentence) = chunk.text.get(range) else { continue };
            let terms = query_terms(sentence);
            if (4..60).contains(&terms.len()) {
                all.push((all.len(), chunk, sentence.trim().to_owned(), terms));
            }
        }
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for term in all.iter().flat_map(|(.., terms)| terms) {
        *counts.entry(term).or_default() += 1;
    }
    // A word of one sentence stands for nothing else.
    let weight = |term: &String| match counts.get(term.as_str()) {
        Some(count) if 1 < *count => (*count as f64).ln(),
        _ => 0.0,
    };
    let mut chosen: Vec<usize> = Vec::new();
    let mut covered: BTreeSet<&String> = BTreeSet::new();
    while chosen.len() < POINTS {
        let score = |(_, _, _, terms): &&(usize, &Chunk, String, Vec<String>)| {
            let new: f64 = terms.iter().filter(|term| !covered.contains(term)).map(weight).sum();
            new / (terms.len() as f64).sqrt()
        };
        let rest = all.iter().filter(|(at, ..)| !chosen.contains(at));
        let best = rest.max_by(|a, b| score(a).total_cmp(&score(b)).then(b.0.cmp(&a.0)));
        let Some(best) = best.filter(|best| 0.0 < score(best)) else { break };
        chosen.push(best.0);
        covered.extend(&best.3);
    }
    // Of few sentences that share no word, none stands for another: the first ones are told.
    if chosen.is_empty() {
        chosen.extend(0..all.len().min(POINTS));
    }
    chosen.sort_unstable();
    let claim = |at: usize| {
        all.get(at).map(|(_, chunk, quote, _)| Claim { chunk: chunk.id, quote: quote.clone() })
    };
    chosen.into_iter().filter_map(claim).collect()
}

struct Points(Vec<Point>);

struct Point {
    text: String,
    passage: usize,
    quote: String,
}

impl Reply for Points {
    fn schema() -> Option<Schema> {
        let words = |most: usize| json!({"type": "string", "maxLength": most});
        let point = json!({
            "type": "object",
            "properties": {"point": words(400), "passage": {"type": "integer"}, "quote": words(300)},
            "required": ["point", "passage", "quote"],
            "additionalProperties": false
        });
        let schema = json!({
            "type": "object",
            "properties": {"points": {"type": "array", "items": point, "maxItems": POINTS}},
            "required": ["points"],
            "additionalProperties": false
        });
        Some(Schema { name: "points".to_owned(), schema })
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["points"])?;
        let points = object.get("points").and_then(Json::as_array).cloned().unwrap_or_default();
        let point = |point: &Json| {
            let said = text(point, "point").ok().or_else(|| point.as_str().map(str::to_owned));
            Some(Point {
                text: said.filter(|said| !said.is_empty())?,
                passage: point
                    .get("passage")
                    .and_then(Json::as_u64)
                    .and_then(|n| usize::try_from(n).ok())
                    .unwrap_or(0),
                quote: text(point, "quote").unwrap_or_default(),
            })
        };
        Ok(Self(points.iter().filter_map(point).take(POINTS).collect()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_points: Points }

struct Whole {
    answer: String,
    points: Vec<usize>,
}

impl Reply for Whole {
    fn schema() -> Option<Schema> {
        let schema = json!({
            "type": "object",
            "properties": {
                "answer": {"type": "string"},
                "points": {"type": "array", "items": {"type": "integer"}, "maxItems": 60}
            },
            "required": ["answer", "points"],
            "additionalProperties": false
        });
        Some(Schema { name: "summary".to_owned(), schema })
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["answer"])?;
        let points = object.get("points").and_then(Json::as_array).cloned().unwrap_or_default();
        let number = |point: &Json| usize::try_from(point.as_u64()?).ok();
        Ok(Self {
            answer: text(&object, "answer")?,
            points: points.iter().filter_map(number).collect(),
        })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_whole: Whole }
