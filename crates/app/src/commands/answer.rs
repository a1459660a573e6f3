//! Runs `ask` and `search`.

use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::sync::Arc;

use pikerag_engine::knowledge::WrittenBy;
use pikerag_engine::narrate::{InWords, Words, score_parts};
use pikerag_engine::parts::OpenCalls;
use pikerag_engine::{
    AskRequest, AskResponse, EngineError, Recorded, SearchRequest, Session, svg_chart,
};
use serde_json::json;

use super::choose;
use crate::cli::{Ask, Search};
use crate::exit;
use crate::failure::Failure;
use crate::output::{Output, say, say_json};
use crate::plain::one_line;
use crate::render;
use crate::waiting::{WaitLine, show_while};

pub(crate) async fn ask(session: &Session, output: Output, arguments: &Ask) -> anyhow::Result<u8> {
    let (question, method) =
        (arguments.question.concat(), arguments.method.clone().unwrap_or_default());
    let filter = arguments.filters.filter();
    let (class, level) = (arguments.class, arguments.level);
    let calls = Arc::new(OpenCalls::default());
    let open_calls = Some(Arc::clone(&calls));
    let request =
        AskRequest { question, method, class, level, filter, open_calls, ..AskRequest::default() };
    let asked = Box::pin(pikerag_engine::ask(session, &request));
    let line = if arguments.quiet { WaitLine::Hidden } else { wait_line(output) };
    let response = show_while(line, &calls, output.language, asked).await?;
    if let Some(path) = &arguments.chart {
        draw(path, &response, output)?;
    }
    let detail = match (arguments.trace, arguments.quiet) {
        (true, _) => Detail::Reasoning,
        (_, true) => Detail::Answer,
        _ => Detail::Usual,
    };
    let worked = response.result.as_ref().ok().and_then(|answer| answer.worked.as_deref());
    let refusal = worked.and_then(|worked| worked.refusal.clone());
    let code = conclude(session, output, detail, response)?;
    let offers = !output.json && detail != Detail::Answer;
    match refusal.filter(|_| offers) {
        Some(refusal) if choose::offer(session, &refusal, output).await? => Ok(0),
        _ => Ok(code),
    }
}

/// A wait is shown to people, not to programs.
pub(super) fn wait_line(output: Output) -> WaitLine {
    match !output.json && stderr().is_terminal() {
        true => WaitLine::Shown,
        false => WaitLine::Hidden,
    }
}

/// Writes the chart of an answer, or says why there is none.
fn draw(path: &Path, response: &AskResponse, output: Output) -> anyhow::Result<()> {
    let Ok(answer) = &response.result else { return Ok(()) };
    match svg_chart(&response.run.question.text, answer.worked.as_deref()) {
        Ok(svg) => {
            std::fs::write(path, svg)
                .map_err(|error| Failure::NotWritten(path.to_owned()).of(error))?;
            let path = path.display();
            output.note(format!("the chart is in {path}"), format!("图表已写入 {path}"));
        }
        Err(why) => {
            let Words { english, chinese } = why.words();
            output
                .note(format!("no chart was drawn: {english}"), format!("没有绘制图表：{chinese}"));
        }
    }
    Ok(())
}

/// The parts of a run that are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// The answer with its citations.
    Answer,
    /// Also the name of the run.
    Usual,
    /// Also the reasoning, before the answer.
    Reasoning,
}

/// Shows the result of a run.
pub(super) fn conclude(
    session: &Session,
    output: Output,
    detail: Detail,
    response: AskResponse,
) -> anyhow::Result<u8> {
    let Output { json, language } = output;
    for notice in &response.notices {
        output.notice(notice);
    }
    if json && response.result.is_ok() {
        say_json(&json!(response))?;
    }
    let (run, events, is_kept) = (response.run, response.events, response.is_kept);
    let answer = match response.result {
        Ok(answer) => answer,
        Err(error) if !is_kept => return Err(EngineError::from(error).into()),
        Err(error) => {
            let (id, spent) = (run.id, render::spent(&run.cost.spent, language));
            output.note(
                format!(
                    "the run {id} holds the events and the cost: {spent}; `pikerag runs show {id}`"
                ),
                format!("运行 {id} 保留了事件与费用：{spent}；`pikerag runs show {id}`"),
            );
            return Err(EngineError::from(error).into());
        }
    };
    if !json {
        if detail == Detail::Reasoning {
            say(render::reasoning(&events, language).trim_end());
        }
        say(render::conclusion(&answer, &run.cost.spent, language).trim_end());
        if let Some(line) = render::paid(&session.cost(), language) {
            say(&line);
        }
        if detail != Detail::Answer && is_kept {
            let id = run.id;
            output.note(
                format!("kept as run {id}; `pikerag runs show {id}` shows its reasoning"),
                format!("已保留为运行 {id}；`pikerag runs show {id}` 显示其推理过程"),
            );
        }
    }
    // Neither kind of answer needs passages.
    let is_worked_out =
        matches!(answer.written_by, WrittenBy::Computation | WrittenBy::Person { .. });
    let is_answered = !answer.refused && (is_worked_out || !answer.context.chunks.is_empty());
    Ok(if is_answered { 0 } else { exit::NOT_ANSWERED })
}

pub(crate) async fn search(
    session: &Session,
    output: Output,
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
        output.notice(notice);
    }
    let Output { json, language } = output;
    if json {
        return say_json(&json!(response.hits));
    }
    if response.hits.is_empty() {
        output.note("nothing was found", "没有找到");
    }
    for (place, hit) in response.hits.iter().enumerate() {
        let chunk = &hit.chunk;
        say(&format!(
            "{}. {}  {:.4} ({})",
            place + 1,
            one_line(&chunk.full_title()),
            hit.score,
            score_parts(&hit.parts, language)
        ));
        if let Some(atom) = &hit.atom {
            say(&format!("   {}", render::short(atom, 110)));
        }
        say(&format!("   {}", render::place(&chunk.uri, chunk.page, chunk.span, language)));
        say(&format!("   {}", render::short(&chunk.text, 160)));
    }
    Ok(0)
}
