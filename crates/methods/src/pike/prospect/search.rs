//! Finds the passages for a judgement: for the question, for the past and its causes, and for doubts.

use pikerag_knowledge::{Candidate, Chunk, Event, Question, Role};
use pikerag_language::query_terms;
use pikerag_narrate::Language;
use pikerag_prompt::{Prompt, quiet_headings};

use super::reply::QueriesReply;
use crate::context::Rules;
use crate::organizing::gathered;
use crate::pike::Params;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;

const PROMPT: Prompt =
    Prompt::new(Role::Reason, include_str!("../../prompts/prospect_queries.md"), 200).with_earlier(
        "methods/prospect_queries",
        &[include_str!("../../prompts/earlier/prospect_queries.1.md")],
    );
/// Chunks for the question, and for each further query.
const FOUND: usize = 6;
const FOR_EACH: usize = 4;
/// Words beside the question's own, if no model proposes queries.
const CAUSES: [&str; 2] =
    ["cause reason because since more often increase", "原因 由于 以来 增加 趋势"];
const DOUBTS: [&str; 2] =
    ["however fewer less decrease improved planned", "但是 减少 下降 改善 计划"];

/// The passages of all searches, in turns, so that none crowds out the others; each once.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn searched(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Vec<Chunk>, SolveError> {
    let whole = RetrievalParams { chunks: FOUND, ..RetrievalParams::auto() };
    let each = RetrievalParams { chunks: FOR_EACH, ..RetrievalParams::auto() };
    let mut lists = vec![retrieve(ports, question.query(), whole).await?];
    for query in queries(ports, run, question).await? {
        let query = run.asked(1, query)?;
        lists.push(retrieve(ports, &query, each).await?);
    }
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut candidates: Vec<Candidate> = Vec::new();
    for place in 0..longest {
        for candidate in lists.iter().filter_map(|list| list.get(place)) {
            if candidates.iter().all(|held| held.chunk != candidate.chunk) {
                candidates.push(candidate.clone());
            }
        }
    }
    let rules = Rules::within(params.reading.tokens);
    let (candidates, kept) = gathered(ports, run, candidates, rules).await?;
    run.push(Event::Gathered { candidates });
    Ok(kept)
}

/// The queries beside the question: from a model, else from the words of the question.
async fn queries(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
) -> Result<Vec<String>, SolveError> {
    if ports.models.of(Role::Reason).is_some() {
        let text = quiet_headings(&question.text);
        let inputs = [("question", text.as_str())];
        let reply = run.ask::<QueriesReply>(ports, &PROMPT, &inputs).await?;
        if let Some(QueriesReply(queries)) = reply
            && !queries.is_empty()
        {
            return Ok(queries);
        }
    }
    let subject = query_terms(question.query()).join(" ");
    let language = Language::of(question.query());
    let beside = |[english, chinese]: [&'static str; 2]| language.either(english, chinese);
    Ok([CAUSES, DOUBTS].map(|words| format!("{subject} {}", beside(words))).into())
}
