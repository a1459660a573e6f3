//! Summarizes the documents that a question names, or all passages that fit: first each part, then all parts
//! together (PIKE-RAG §3.2, summarizing questions; §5.3.1).

mod overview;
mod scope;

use std::collections::{BTreeMap, BTreeSet};

use crate::context::{Organized, Rules, organize, tokens_of};
use pikerag_knowledge::{
    Answer, Chunk, Context, Event, LeftOut, Note, Question, Reason, Role, Schema, SourceId,
    TaskClass, Worked, WrittenBy,
};
use pikerag_language::{query_terms, sentences};
use pikerag_narrate::{Language, SummaryScope, summary_scope};
use pikerag_prompt::{
    Prompt, Reply, Unreadable, at_most, closed, numbered_passages, object, quiet_headings, shape,
    text,
};
use pikerag_reason::{Claim, cite, how_to_answer, how_to_summarize};
use serde_json::{Value as Json, json};

use self::overview::{Overview, overviews, supporting_sentence};
use self::scope::scope;
use super::compare::number_of;
use super::{Outcome, Params, nothing};
use crate::organizing::{in_order, trace_left_out};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

const PART: Prompt = Prompt::new(Role::Summarize, include_str!("../prompts/summary_part.md"), 1024)
    .with_earlier("methods/summary_part", &[include_str!("../prompts/earlier/summary_part.1.md")]);
const WHOLE: Prompt = Prompt::new(Role::Answer, include_str!("../prompts/summary_whole.md"), 2048)
    .with_earlier("methods/summary_whole", &[include_str!("../prompts/earlier/summary_whole.1.md")])
    .answering();
/// Tokens of passages in one call.
const BATCH: u64 = 1500;
/// Points of a part, and sentences that are quoted without a model, at most.
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
        return Ok(Outcome::Nothing(Some(Reason::NothingToSummarize), None));
    }
    let tokens = params.summarized.get();
    let rules = Rules { tokens: Some(tokens), order, ..Rules::default() };
    let has_models =
        [Role::Summarize, Role::Answer].iter().all(|role| ports.models.of(*role).is_some());
    if !has_models {
        let organized = in_order(run, given, rules);
        return by_quotes(ports, run, question, organized).await;
    }
    let scope = within_limit(ports, run, given, rules, tokens).await?;
    by_model(ports, run, question, scope).await
}

/// What is read: passages, and summaries of passages beyond the token limit.
struct Scope {
    passages: Organized,
    overviews: Vec<Overview>,
    /// The number of passages that the overviews represent.
    n_represented: usize,
}

/// All passages where they fit into `tokens`; else a quarter of the tokens is for summaries of the others.
async fn within_limit(
    ports: &Ports,
    run: &mut Run,
    given: Vec<Chunk>,
    rules: Rules,
    tokens: u32,
) -> Result<Scope, SolveError> {
    let narrow = organize(given.clone(), Rules { tokens: Some(tokens - tokens / 4), ..rules });
    let all = organize(given.clone(), rules);
    let has_all = all.left_out.iter().all(|(_, why)| *why != LeftOut::NoRoom);
    let (overviews, n_represented) = match has_all {
        true => (Vec::new(), 0),
        false => overviews(ports, &given, &narrow, u64::from(tokens / 4)).await?,
    };
    let passages = if overviews.is_empty() { all } else { narrow };
    trace_left_out(run, given.len(), &passages);
    Ok(Scope { passages, overviews, n_represented })
}

/// The chunks of each call, with their numbers from 1 on.
fn batches(chunks: &[Chunk]) -> Vec<Vec<(usize, &Chunk)>> {
    let mut batches: Vec<Vec<(usize, &Chunk)>> = Vec::new();
    let mut left = 0;
    for numbered in (1..).zip(chunks) {
        let tokens = tokens_of(numbered.1);
        match batches.last_mut().filter(|_| tokens <= left) {
            Some(batch) => batch.push(numbered),
            None => {
                batches.push(vec![numbered]);
                left = BATCH;
            }
        }
        left = left.saturating_sub(tokens);
    }
    batches
}

/// Asks for the points of all parts at once, then for a summary of the points.
async fn by_model(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    scope: Scope,
) -> Result<Outcome, SolveError> {
    let asked = quiet_headings(&question.text);
    let Scope { passages, overviews, .. } = &scope;
    let read: Vec<Chunk> = passages
        .kept
        .iter()
        .chain(overviews.iter().map(|overview| &overview.shown))
        .cloned()
        .collect();
    let batches = batches(&read);
    let shown: Vec<String> =
        batches.iter().map(|batch| numbered_passages(batch.iter().copied())).collect();
    let inputs: Vec<_> = shown
        .iter()
        .map(|shown| (vec![("context", shown.as_str()), ("question", asked.as_str())], 0))
        .collect();
    let replies: Vec<Option<Points>> = run.ask_each(ports, &PART, &inputs).await?;
    let unread = replies.iter().filter(|part| part.is_none()).count();
    if 0 < unread {
        let note = Note::PartsNotSummarized { unread, parts: replies.len() };
        run.push(Event::Noted { note: note.into() });
    }
    let points: Vec<Point> = replies.into_iter().flatten().flat_map(|part| part.0).collect();
    if points.is_empty() {
        return Ok(nothing(Reason::NoPartSummarized));
    }
    let lines: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(at, point)| format!("{}. {}", at + 1, pikerag_prompt::one_line(&point.text)))
        .collect();
    let sourced: Vec<String> = lines
        .iter()
        .zip(&points)
        .map(|(line, point)| match point.passage.checked_sub(1).and_then(|at| read.get(at)) {
            Some(chunk) => format!("{line} [{}]", pikerag_prompt::one_line(&chunk.full_title())),
            None => line.clone(),
        })
        .collect();
    let (lines, sourced) = (quiet_headings(&lines.join("\n")), quiet_headings(&sourced.join("\n")));
    let (form, summary_form) = (how_to_answer(question), how_to_summarize(question));
    let inputs = [
        // Earlier texts of the prompt take the points without their documents, and the form of any answer.
        ("form", form.as_ref()),
        ("points", lines.as_str()),
        ("summary_form", summary_form.as_ref()),
        ("sourced", sourced.as_str()),
        ("question", asked.as_str()),
    ];
    let whole = run.ask::<Whole>(ports, &WHOLE, &inputs).await?;
    let (text, used) = match whole {
        Some(whole) if !whole.answer.trim().is_empty() => (whole.answer, whole.points),
        // The points themselves serve as a summary.
        _ => (
            points.iter().map(|point| point.text.as_str()).collect::<Vec<_>>().join(" "),
            Vec::new(),
        ),
    };
    let is_used = |at: usize| used.is_empty() || used.contains(&(at + 1));
    let mut context = Context::default();
    passages.kept.iter().for_each(|chunk| context.add(1, chunk.clone()));
    let mut claims: Vec<Claim> = Vec::new();
    for (_, point) in points.iter().enumerate().filter(|(at, _)| is_used(*at)) {
        let Some(at) = point.passage.checked_sub(1) else { continue };
        if let Some(chunk) = passages.kept.get(at).filter(|_| !point.quote.is_empty()) {
            claims.push(Claim { chunk: chunk.id, quote: point.quote.clone() });
        }
        let Some(overview) = at.checked_sub(passages.kept.len()) else { continue };
        let Some(overview) = overviews.get(overview) else { continue };
        if let Some((chunk, claim)) = supporting_sentence(ports, overview, &point.text).await? {
            context.add(1, chunk);
            claims.push(claim);
        }
    }
    let citations = cite(ports.base.as_ref(), &context, &text, &claims).await?;
    run.push(Event::Answered { answer: text.clone() });
    let model = ports.models.need(Role::Answer)?.name().to_owned();
    Ok(Outcome::Answered(Answer {
        text,
        rationale: covered(passages, scope.n_represented, Language::of(question.query())),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::LanguageModel { model },
        citations,
        context,
        quotes: None,
        worked: Some(Box::new(Worked::of(TaskClass::Summarizing))),
    }))
}

/// How much was read, and how many passages only as a summary.
fn covered(organized: &Organized, n_represented: usize, language: Language) -> String {
    let documents: BTreeSet<SourceId> = organized.kept.iter().map(|chunk| chunk.source).collect();
    let unread = organized.reasons().into_iter().map(|(why, count)| match why {
        // Their summaries were read.
        LeftOut::NoRoom => (why, count - n_represented.min(count)),
        _ => (why, count),
    });
    let scope = SummaryScope {
        passages: organized.kept.len(),
        documents: documents.len(),
        summarized: n_represented,
        left_out: unread.filter(|(_, count)| 0 < *count).collect(),
    };
    summary_scope(&scope, language)
}

/// Without a model: the central sentences, in reading order.
async fn by_quotes(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    organized: Organized,
) -> Result<Outcome, SolveError> {
    let claims = central(&organized.kept);
    if claims.is_empty() {
        return Ok(Outcome::Nothing(Some(Reason::NoSentences), None));
    }
    let mut context = Context::default();
    organized.kept.iter().for_each(|chunk| context.add(1, chunk.clone()));
    let citations = cite(ports.base.as_ref(), &context, "", &claims).await?;
    let text = claims.iter().filter(|claim| number_of(&citations, &claim.quote).is_some());
    let text = text.map(|claim| claim.quote.as_str()).collect::<Vec<_>>().join(" ");
    run.push(Event::Noted { note: Note::SummaryQuotes.into() });
    run.push(Event::Answered { answer: text.clone() });
    Ok(Outcome::Answered(Answer {
        text,
        rationale: covered(&organized, 0, Language::of(question.query())),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::Quotation,
        citations,
        context,
        quotes: None,
        worked: Some(Box::new(Worked::of(TaskClass::Summarizing))),
    }))
}

/// The sentences whose words most other sentences share, each different from those chosen before (maximal
/// marginal relevance over terms).
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
    // A word of a single sentence relates it to no other.
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
    // If no sentences share a word, none is central, and the first ones are taken.
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
        let point = closed(
            json!({"point": at_most(400), "passage": {"type": "integer"}, "quote": at_most(300)}),
        );
        Some(shape(
            "points",
            json!({"points": {"type": "array", "items": point, "maxItems": POINTS}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["points"])?;
        let points = object.get("points").and_then(Json::as_array).cloned().unwrap_or_default();
        let point = |point: &Json| {
            let words = text(point, "point").ok().or_else(|| point.as_str().map(str::to_owned));
            Some(Point {
                text: words.filter(|words| !words.is_empty())?,
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
        Some(shape(
            "summary",
            json!({
                "answer": {"type": "string"},
                "points": {"type": "array", "items": {"type": "integer"}, "maxItems": 60}
            }),
        ))
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
