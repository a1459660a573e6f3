//! `ask` and `search`: what the base is for.

use pikerag_engine::{AskRequest, Engine, SearchRequest};
use serde_json::json;

use crate::cli::{Ask, Search};
use crate::exit;
use crate::output::{note, say, say_json, tell_notice};
use crate::render;

pub(crate) async fn ask(engine: &Engine, json: bool, arguments: &Ask) -> anyhow::Result<u8> {
    let (question, method) = (arguments.question.clone(), arguments.method.clone());
    let response = engine.ask(&AskRequest { question, method }).await?;
    for notice in &response.notices {
        tell_notice(notice);
    }
    let answer = &response.answer;
    if json {
        say_json(&json!(response))?;
    } else {
        if !arguments.quiet {
            say(render::reasoning(answer).trim_end());
        }
        say(render::conclusion(answer).trim_end());
        if let Some(line) = render::paid(&engine.cost()) {
            say(&line);
        }
    }
    Ok(if answer.context.chunks.is_empty() { exit::INCOMPLETE } else { 0 })
}

pub(crate) async fn search(engine: &Engine, json: bool, arguments: &Search) -> anyhow::Result<u8> {
    let request =
        SearchRequest { query: arguments.query.clone(), by: arguments.by.into(), k: arguments.k };
    let response = engine.search(&request).await?;
    for notice in &response.notices {
        tell_notice(notice);
    }
    if json {
        say_json(&json!(response.hits))?;
        return Ok(0);
    }
    if response.hits.is_empty() {
        note("nothing was found");
    }
    for (place, hit) in response.hits.iter().enumerate() {
        let parts: Vec<String> =
            hit.parts.iter().map(|(name, value)| format!("{name} {value:.3}")).collect();
        let chunk = &hit.chunk;
        say(&format!(
            "{}. {}  {:.4} ({})",
            place + 1,
            chunk.full_title(),
            hit.score,
            parts.join(", ")
        ));
        if let Some(atom) = &hit.atom {
            say(&format!("   {}", render::short(atom, 110)));
        }
        say(&format!("   {}", render::place(&chunk.uri, chunk.page, chunk.span)));
        say(&format!("   {}", render::short(&chunk.text, 160)));
    }
    Ok(0)
}
