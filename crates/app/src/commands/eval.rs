//! `eval`: methods on sets of questions.

use pikerag_engine::parts::{Bill, eval_text, recall_table};
use pikerag_engine::{DryRunResponse, EvalRequest, Forecast, Session};

use crate::advice::GO_ON;
use crate::cli::Eval;
use crate::exit;
use crate::output::{Bar, note, say, say_json};
use crate::render;

pub(crate) async fn eval(session: &Session, json: bool, arguments: &Eval) -> anyhow::Result<u8> {
    let bar = Bar::new(json);
    let watch = |progress| bar.watch(progress);
    let request = arguments.request(&watch);
    if arguments.preset.as_deref() == Some("list") {
        list_presets(json)
    } else if !arguments.searches.is_empty() {
        searches(session, json, &request).await
    } else if arguments.dry_run {
        dry_run(json, &pikerag_engine::eval_dry_run(session, &request).await?)
    } else {
        methods(session, json, &request).await
    }
}

fn list_presets(json: bool) -> anyhow::Result<u8> {
    let presets = pikerag_engine::presets()?;
    if json {
        return say_json(&presets);
    }
    for preset in presets {
        say(&format!("{:<20} {}", preset.name, preset.about));
        if let Some(note) = preset.note {
            say(&format!("{:<20} {note}", ""));
        }
    }
    Ok(0)
}

async fn methods(session: &Session, json: bool, request: &EvalRequest<'_>) -> anyhow::Result<u8> {
    let response = pikerag_engine::eval(session, request).await?;
    let failed = response.failed;
    if json {
        say_json(&response)?;
    } else {
        say(eval_text(&response.report).trim_end());
        if let Some(line) = render::paid(&response.spent) {
            say(&line);
        }
        note(&format!("rows, answers and reports are in {}", response.out.display()));
        if 0 < failed {
            note(&format!(
                "{failed} questions failed; rows.jsonl says why; run again to try them again"
            ));
        }
    }
    match response.stopped {
        Some(error) => {
            note(GO_ON);
            Err(error.into())
        }
        None if 0 < failed => Ok(exit::INCOMPLETE),
        None => Ok(0),
    }
}

async fn searches(session: &Session, json: bool, request: &EvalRequest<'_>) -> anyhow::Result<u8> {
    let response = pikerag_engine::eval_searches(session, request).await?;
    if json {
        return say_json(&response.lines);
    }
    say(recall_table(&response.lines).trim_end());
    note(&format!("every question is in {}", response.rows.display()));
    Ok(0)
}

/// Calls, tokens and money per data set and method: as usual, and at most.
fn dry_run(json: bool, response: &DryRunResponse) -> anyhow::Result<u8> {
    if json {
        return say_json(response);
    }
    say("as it usually goes, and at most; prompt + reply tokens; prices as in [prices]");
    for forecast in &response.expected {
        let Forecast { data_set, method, .. } = forecast;
        say(&format!("{data_set:<14} {method:<24} {}", line(forecast)));
    }
    for bill in &response.indexing {
        say(&format!(
            "indexing {}: {} calls, {} + {} tokens",
            bill.data_set, bill.calls, bill.prompt_tokens, bill.completion_tokens
        ));
    }
    note("nothing was asked, nothing was written; what is in a ledger already is not paid again");
    Ok(0)
}

fn line(of: &Forecast) -> String {
    let forecast = &of.forecast;
    let shown = |bill: &Bill, usd: Option<f64>| {
        let Bill { calls, prompt_tokens, completion_tokens } = bill;
        let money = usd.map_or(String::new(), |usd| format!(", ${usd:.2}"));
        format!("{calls} calls, {prompt_tokens} + {completion_tokens} tokens{money}")
    };
    let typical = shown(&forecast.typical, of.usd.typical);
    let most = shown(&forecast.most, of.usd.most);
    let learned = match forecast.learned_from {
        0 => String::new(),
        n => format!("{} asked before; ", render::count(n as usize, "question")),
    };
    format!("{typical}; at most {most} ({learned}{})", forecast.basis)
}
