//! Compares things in a table by attribute, where each cell has its source, and draws the verdict from that
//! table (PIKE-RAG §3.2, comparative questions).

mod records;

use crate::context::Rules;
use pikerag_knowledge::worked::{ComparedBy, ComparedCell, Comparison};
use pikerag_knowledge::{
    Answer, Chunk, ChunkId, Citation, Context, Event, Question, Quoting, Reason, Role, Schema,
    TaskClass, Worked, WrittenBy,
};
use pikerag_language::fold::folded;
use pikerag_narrate::{InWords, Language, Sentence};
use pikerag_prompt::{
    Prompt, Reply, Unreadable, at_most, closed, object, passages, quiet_headings, shape, text,
};
use pikerag_reason::{Claim, FLOOR, answer_in, cite, how_to_answer, missing_in};
use serde_json::{Value as Json, json};

use self::records::by_records;
use super::classify::Evidence;
use super::{Outcome, Params, nothing};
use crate::candidates::fetch;
use crate::collections::declared;
use crate::conclude::or_not_found;
use crate::fitting::fitted;
use crate::organizing::in_order;
use crate::ports::{Ports, SolveError};
use crate::quoting::quoted;
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;

const PROMPT: Prompt = Prompt::new(Role::Answer, include_str!("../prompts/compare.md"), 2048)
    .with_earlier("methods/compare", &[include_str!("../prompts/earlier/compare.1.md")])
    .answering_after("rationale");
/// Chunks for the question, and for each thing.
const FOUND: usize = 6;
const FOR_EACH: usize = 4;
/// Things that are compared, at most.
const THINGS: usize = 6;

/// Compares what the question names.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    evidence: &Evidence,
) -> Result<Outcome, SolveError> {
    if evidence.things.len() < 2 && ports.models.of(Role::Answer).is_none() {
        return Ok(nothing(Reason::NotTwoThings));
    }
    let things: Vec<String> = evidence.things.iter().take(THINGS).cloned().collect();
    for collection in declared(ports).await? {
        if let Some(answer) = by_records(ports, run, question, &collection, &things).await? {
            return Ok(Outcome::Answered(answer));
        }
    }
    let context = gather(ports, run, question, params, &things).await?;
    if context.chunks.is_empty() {
        return Ok(nothing(Reason::NothingToCompare));
    }
    match ports.models.of(Role::Answer) {
        Some(_) => by_model(ports, run, question, context).await,
        None => by_quotes(ports, run, question, &things).await,
    }
}

/// Passages for the question as a whole and for each thing.
async fn gather(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    things: &[String],
) -> Result<Context, SolveError> {
    let query = question.query();
    let mut ids: Vec<ChunkId> = Vec::new();
    let whole = RetrievalParams { chunks: FOUND, ..RetrievalParams::auto() };
    let each = RetrievalParams { chunks: FOR_EACH, ..RetrievalParams::auto() };
    let mut lists = vec![retrieve(ports, query, whole).await?];
    for thing in things {
        lists.push(retrieve(ports, &format!("{thing} {}", without(query, things)), each).await?);
    }
    // In turns, so that no thing is crowded out.
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    for place in 0..longest {
        ids.extend(
            lists.iter().filter_map(|list| list.get(place)).map(|candidate| candidate.chunk),
        );
    }
    let chunks = ports.base.chunks(&ids).await?;
    let by_id = |id: &ChunkId| chunks.iter().find(|chunk| chunk.id == *id).cloned();
    let given: Vec<Chunk> = ids.iter().filter_map(by_id).collect();
    let organized = in_order(run, given, Rules::within(Some(params.compared)));
    let mut context = Context::default();
    context.extend(1, organized.kept);
    Ok(context)
}

/// The question without the names of the things.
fn without(query: &str, things: &[String]) -> String {
    things.iter().fold(query.to_owned(), |rest, thing| rest.replace(thing.as_str(), " "))
}

/// Answers with a table that a model fills in, each cell checked against the documents.
async fn by_model(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    context: Context,
) -> Result<Outcome, SolveError> {
    let read = fitted(ports, question, &context, "", run).await?;
    let shown = passages(read.chunks.iter().map(|held| &held.chunk));
    let (asked, form) = (quiet_headings(&question.text), how_to_answer(question));
    let inputs =
        [("form", form.as_ref()), ("context", shown.as_str()), ("question", asked.as_str())];
    let Some(reply) = run.ask::<ComparisonReply>(ports, &PROMPT, &inputs).await? else {
        return Ok(nothing(Reason::TableUnreadable));
    };
    let chunk_of = |passage: usize| {
        let held = passage.checked_sub(1).and_then(|at| read.chunks.get(at));
        held.or_else(|| read.chunks.first()).map(|held| held.chunk.id)
    };
    let cells = || reply.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let claims: Vec<Claim> = cells()
        .filter(|cell| !cell.quote.is_empty())
        .filter_map(|cell| {
            Some(Claim { chunk: chunk_of(cell.passage)?, quote: cell.quote.clone() })
        })
        .collect();
    let citations = cite(ports.base.as_ref(), &context, &reply.answer, &claims).await?;
    let (text, refused) = or_not_found(reply.answer, run.language());
    let rows = reply.rows.iter().map(|row| ComparedBy {
        attribute: row.attribute.clone(),
        cells: row
            .cells
            .iter()
            .map(|cell| {
                let cell = cell.as_ref()?;
                let citation = number_of(&citations, &cell.quote);
                Some(ComparedCell { text: cell.text.clone(), citation })
            })
            .collect(),
    });
    let mut worked = Worked::of(TaskClass::Comparative);
    worked.comparison = Some(Comparison { things: reply.things.clone(), rows: rows.collect() });
    run.push(Event::Answered { answer: text.clone() });
    let model = ports.models.need(Role::Answer)?.name().to_owned();
    Ok(Outcome::Answered(Answer {
        text,
        rationale: reply.rationale,
        refused,
        missing: reply.missing.into_iter().collect(),
        written_by: WrittenBy::LanguageModel { model },
        citations,
        context,
        quotes: None,
        worked: Some(Box::new(worked)),
    }))
}

/// The citation of a quote, white space and case aside.
pub(super) fn number_of(citations: &[Citation], quote: &str) -> Option<usize> {
    let bare = |text: &str| text.split_whitespace().collect::<String>().to_lowercase();
    let wanted = bare(quote);
    let found =
        citations.iter().find(|citation| !wanted.is_empty() && bare(&citation.quote) == wanted);
    found.map(|citation| citation.number)
}

struct ComparisonReply {
    things: Vec<String>,
    rows: Vec<ReplyRow>,
    answer: String,
    rationale: String,
    missing: Option<String>,
}

struct ReplyRow {
    attribute: String,
    cells: Vec<Option<ReplyCell>>,
}

struct ReplyCell {
    text: String,
    passage: usize,
    quote: String,
}

impl Reply for ComparisonReply {
    fn schema() -> Option<Schema> {
        let cell = json!({
            "type": ["object", "null"],
            "properties": {"text": at_most(300), "passage": {"type": "integer"}, "quote": at_most(400)},
            "required": ["text", "passage", "quote"],
            "additionalProperties": false
        });
        let row = closed(
            json!({"attribute": at_most(80), "cells": {"type": "array", "items": cell, "maxItems": THINGS}}),
        );
        Some(shape(
            "comparison",
            json!({
                "things": {"type": "array", "items": at_most(100), "maxItems": THINGS},
                "rows": {"type": "array", "items": row, "maxItems": 8},
                "rationale": at_most(800),
                "answer": {"type": "string"},
                "lacking": {"type": ["string", "null"]}
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["answer"])?;
        let list = |of: &Json, key: &str| {
            of.get(key).and_then(Json::as_array).cloned().unwrap_or_default()
        };
        let things: Vec<String> = list(&object, "things")
            .iter()
            .filter_map(|thing| thing.as_str().map(str::to_owned))
            .take(THINGS)
            .collect();
        let cell = |cell: &Json| {
            let text = text(cell, "text").ok().filter(|text| !text.is_empty())?;
            let passage = cell.get("passage").and_then(Json::as_u64).unwrap_or(0);
            let quote = pikerag_prompt::text(cell, "quote").unwrap_or_default();
            Some(ReplyCell { text, passage: usize::try_from(passage).unwrap_or(0), quote })
        };
        let rows = list(&object, "rows").into_iter().filter_map(|row| {
            let mut cells: Vec<Option<ReplyCell>> =
                list(&row, "cells").iter().take(things.len()).map(cell).collect();
            cells.resize_with(things.len(), || None);
            let attribute = text(&row, "attribute").ok().filter(|name| !name.is_empty())?;
            Some(ReplyRow { attribute, cells })
        });
        Ok(Self {
            rows: rows.collect(),
            things: things.clone(),
            answer: answer_in(&object)?,
            rationale: text(&object, "rationale").unwrap_or_default(),
            missing: missing_in(&object),
        })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_comparison: ComparisonReply }

/// Without a model: quotes about each thing, and no verdict.
async fn by_quotes(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    things: &[String],
) -> Result<Outcome, SolveError> {
    let mut comparison = Comparison { things: things.to_vec(), rows: Vec::new() };
    let mut row = ComparedBy { attribute: without(question.query(), things), cells: Vec::new() };
    row.attribute = row.attribute.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut all, mut claims) = (Context::default(), Vec::new());
    for thing in things {
        let about = format!("{thing} {}", row.attribute);
        let params = RetrievalParams { chunks: FOR_EACH, ..RetrievalParams::auto() };
        let found = retrieve(ports, &about, params).await?;
        let mut context = Context::default();
        for chunk in fetch(ports, &found).await? {
            // Only passages that name the thing are quoted.
            let words = folded(&format!("{} {}", chunk.full_title(), chunk.text));
            if format!(" {words} ").contains(&format!(" {} ", folded(thing))) {
                context.add(1, chunk.clone());
            }
        }
        let quoted =
            quoted(ports, &question.reworded(about), &context, run, Quoting::NoModel).await?;
        let fits = FLOOR <= quoted.fit;
        let quote = quoted.reading.claims.into_iter().next().filter(|_| fits);
        row.cells.push(
            quote.as_ref().map(|claim| ComparedCell { text: claim.quote.clone(), citation: None }),
        );
        claims.extend(quote);
        context.chunks.into_iter().for_each(|held| all.add(held.hop, held.chunk));
    }
    if row.cells.iter().flatten().count() < 2 {
        return Ok(nothing(Reason::FewerThanTwoDescribed));
    }
    let citations = cite(ports.base.as_ref(), &all, "", &claims).await?;
    for cell in row.cells.iter_mut().flatten() {
        cell.citation = number_of(&citations, &cell.text);
    }
    comparison.rows.push(row);
    let mut worked = Worked::of(TaskClass::Comparative);
    worked.comparison = Some(comparison);
    let language = Language::of(question.query());
    let text = Sentence::SideBySide.in_words(language);
    run.push(Event::Answered { answer: text.clone() });
    Ok(Outcome::Answered(Answer {
        text,
        rationale: String::new(),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::Quotation,
        citations,
        context: all,
        quotes: None,
        worked: Some(Box::new(worked)),
    }))
}
