//! `ask` and `search`: what the base is for.

use std::path::Path;

use anyhow::Context;
use pikerag_engine::knowledge::WrittenBy;
use pikerag_engine::narrate::{Language, score_parts};
use pikerag_engine::{
    AskRequest, AskResponse, EngineError, Recorded, SearchRequest, Session, svg_chart,
};
use serde_json::json;

use super::choose;
use crate::cli::{Ask, Search};
use crate::exit;
use crate::output::{note, say, say_json, tell_notice};
use crate::plain::one_line;
use crate::render;

pub(crate) async fn ask(session: &Session, json: bool, arguments: &Ask) -> anyhow::Result<u8> {
    let (question, method) =
        (arguments.question.concat(), arguments.method.clone().unwrap_or_default());
    let filter = arguments.filters.filter();
    let (class, level) = (arguments.class, arguments.level);
    let request = AskRequest { question, method, class, level, filter, ..AskRequest::default() };
    let response = pikerag_engine::ask(session, &request).await?;
    if let Some(path) = &arguments.chart {
        draw(path, &response)?;
    }
    let told = match (arguments.trace, arguments.quiet) {
        (true, _) => Told::Reasoning,
        (_, true) => Told::Answer,
        _ => Told::Usual,
    };
    let worked = response.result.as_ref().ok().and_then(|answer| answer.worked.as_deref());
    let refusal = worked.and_then(|worked| worked.refusal.clone());
    let code = conclude(session, json, told, response)?;
    let offers = !json && told != Told::Answer;
    match refusal.filter(|_| offers) {
        Some(refusal) if choose::offer(session, &refusal).await? => Ok(0),
        _ => Ok(code),
    }
}

/// Writes the chart of an answer, where there is anything to draw.
fn draw(path: &Path, response: &AskResponse) -> anyhow::Result<()> {
    let worked = response.result.as_ref().ok().and_then(|answer| answer.worked.as_deref());
    match worked.and_then(|worked| svg_chart(&response.run.question.text, worked)) {
        Some(svg) => {
            std::fs::write(path, svg)
                .with_context(|| format!("{} cannot be written", path.display()))?;
            note(&format!("drawn to {}", path.display()));
        }
        None => note("there are no figures to draw, and no file was written"),
    }
    Ok(())
}

/// How much is told of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The answer with its citations.
    Answer,
    /// And where the run is kept.
    Usual,
    /// And, first, what was looked for, found and chosen.
    Reasoning,
}

/// Tells what came of a run.
pub(super) fn conclude(
    session: &Session,
    json: bool,
    told: Told,
    response: AskResponse,
) -> anyhow::Result<u8> {
    for notice in &response.notices {
        tell_notice(notice);
    }
    if json && response.result.is_ok() {
        say_json(&json!(response))?;
    }
    let (run, events, is_kept) = (response.run, response.events, response.is_kept);
    let answer = match response.result {
        Ok(answer) => answer,
        Err(error) if !is_kept => return Err(EngineError::from(error).into()),
        Err(error) => {
            note(&format!(
                "the run {} keeps what happened and what it cost: {}; `pikerag runs show {}`",
                run.id,
                render::spent(&run.cost.spent),
                run.id
            ));
            return Err(EngineError::from(error).into());
        }
    };
    if !json {
        if told == Told::Reasoning {
            say(render::reasoning(&events).trim_end());
        }
        say(render::conclusion(&answer, &run.cost.spent).trim_end());
        if let Some(line) = render::paid(&session.cost()) {
            say(&line);
        }
        if told != Told::Answer && is_kept {
            note(&format!("kept as run {0}; `pikerag runs show {0}` has its reasoning", run.id));
        }
    }
    // Neither needs passages.
    let is_worked_out =
        matches!(answer.written_by, WrittenBy::Reckoning | WrittenBy::Person { .. });
    let is_answered = !answer.refused && (is_worked_out || !answer.context.chunks.is_empty());
    Ok(if is_answered { 0 } else { exit::NOT_ANSWERED })
}

pub(crate) async fn search(
    session: &Session,
    json: bool,
    arguments: &Search,
) -> anyhow::Result<u8> {
    let request = SearchRequest {
        query: arguments.query.concat(),
        by: arguments.by,
        k: Some(arguments.k.get()),
        rerank: arguments.rerank,
        filter: arguments.filters.filter(),
        recorded: Recorded::First,
    };
    let response = pikerag_engine::search(session, &request).await?;
    for notice in &response.notices {
        tell_notice(notice);
    }
    if json {
        return say_json(&json!(response.hits));
    }
    if response.hits.is_empty() {
        note("nothing was found");
    }
    for (place, hit) in response.hits.iter().enumerate() {
        let chunk = &hit.chunk;
        say(&format!(
            "{}. {}  {:.4} ({})",
            place + 1,
            one_line(&chunk.full_title()),
            hit.score,
            score_parts(&hit.parts, Language::English)
        ));
        if let Some(atom) = &hit.atom {
            say(&format!("   {}", render::short(atom, 110)));
        }
        say(&format!("   {}", render::place(&chunk.uri, chunk.page, chunk.span)));
        say(&format!("   {}", render::short(&chunk.text, 160)));
    }
    Ok(0)
}
