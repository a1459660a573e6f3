//! Runs `eval`: measures methods and searches on sets of questions.

use pikerag_engine::narrate::{Language, Words};
use pikerag_engine::parts::{Bill, eval_text, recall_table};
use pikerag_engine::{DryRunResponse, EvalRequest, Forecast, Session};

use crate::advice::go_on;
use crate::cli::Eval;
use crate::exit;
use crate::output::{Bar, Output, note, say, say_json};
use crate::render;

pub(crate) async fn eval(
    session: &Session,
    output: Output,
    arguments: &Eval,
) -> anyhow::Result<u8> {
    let bar = Bar::new(output);
    let watch = |progress| bar.watch(progress);
    let request = arguments.request(&watch);
    if arguments.preset.as_deref() == Some("list") {
        list_presets(output)
    } else if !arguments.searches.is_empty() {
        searches(session, output, &request).await
    } else if arguments.dry_run {
        dry_run(output, &pikerag_engine::eval_dry_run(session, &request).await?)
    } else {
        methods(session, output, &request).await
    }
}

fn list_presets(output: Output) -> anyhow::Result<u8> {
    let presets = pikerag_engine::presets()?;
    if output.json {
        return say_json(&presets);
    }
    for preset in presets {
        let name = &preset.name;
        output
            .say(format!("{name:<20} {}", preset.about), format!("{name:<20} {}", preset.about_zh));
        if let (Some(note), Some(chinese)) = (preset.note, preset.note_zh) {
            output.say(format!("{:<20} {note}", ""), format!("{:<20} {chinese}", ""));
        }
    }
    Ok(0)
}

async fn methods(
    session: &Session,
    output: Output,
    request: &EvalRequest<'_>,
) -> anyhow::Result<u8> {
    let language = output.language;
    let response = pikerag_engine::eval(session, request).await?;
    let failed = response.failed;
    if output.json {
        say_json(&response)?;
    } else {
        say(eval_text(&response.report, language).trim_end());
        if let Some(line) = render::paid(&response.spent, language) {
            say(&line);
        }
        let out = response.out.display();
        output.note(
            format!("rows, answers and reports are in {out}"),
            format!("数据行、回答与报告在 {out} 中"),
        );
        if 0 < failed {
            output.note(
                format!(
                    "{failed} questions failed; rows.jsonl has the reasons; run again to retry them"
                ),
                format!("{failed} 个问题失败；原因见 rows.jsonl；再次运行即可重试"),
            );
        }
    }
    match response.stopped {
        Some(error) => {
            note(go_on(false, language));
            Err(error.into())
        }
        None if 0 < failed => Ok(exit::INCOMPLETE),
        None => Ok(0),
    }
}

async fn searches(
    session: &Session,
    output: Output,
    request: &EvalRequest<'_>,
) -> anyhow::Result<u8> {
    let response = pikerag_engine::eval_searches(session, request).await?;
    if output.json {
        return say_json(&response.lines);
    }
    say(recall_table(&response.lines, output.language).trim_end());
    let rows = response.rows.display();
    output.note(format!("all questions are in {rows}"), format!("各个问题在 {rows} 中"));
    Ok(0)
}

/// Calls, tokens and money per data set and method: typical, and at most.
fn dry_run(output: Output, response: &DryRunResponse) -> anyhow::Result<u8> {
    if output.json {
        return say_json(response);
    }
    output.say(
        "typical, and at most; prompt + reply tokens; prices of [prices]",
        "通常值与上限；提示 + 回复的 Token；价格取自 [prices]",
    );
    for forecast in &response.expected {
        let Forecast { data_set, method, .. } = forecast;
        say(&format!("{data_set:<14} {method:<24} {}", line(forecast, output.language)));
    }
    for bill in &response.indexing {
        let (set, calls) = (&bill.data_set, bill.calls);
        let (prompt, reply) = (bill.prompt_tokens, bill.completion_tokens);
        output.say(
            format!("indexing {set}: {calls} calls, {prompt} + {reply} tokens"),
            format!("索引 {set}：{calls} 次调用，{prompt} + {reply} 个 Token"),
        );
    }
    output.note(
        "no call was made and nothing was written; calls in a ledger are not paid again",
        "没有进行调用，也没有写入；已在调用账本中的调用不再付费",
    );
    Ok(0)
}

fn line(of: &Forecast, language: Language) -> String {
    let forecast = &of.forecast;
    let shown = |bill: &Bill, usd: Option<f64>| {
        let Bill { calls, prompt_tokens, completion_tokens } = bill;
        let money = usd.map_or(String::new(), |usd| format!(", ${usd:.2}"));
        Words::new(
            format!("{calls} calls, {prompt_tokens} + {completion_tokens} tokens{money}"),
            format!("{calls} 次调用，{prompt_tokens} + {completion_tokens} 个 Token{money}"),
        )
        .of(language)
    };
    let typical = shown(&forecast.typical, of.usd.typical);
    let most = shown(&forecast.most, of.usd.most);
    let (learned, known) = match forecast.learned_from {
        0 => Default::default(),
        n => (
            format!("{} asked before; ", render::count(n as usize, "question")),
            format!("此前问过 {n} 个问题；"),
        ),
    };
    let basis = &forecast.basis;
    Words::new(
        format!("{typical}; at most {most} ({learned}{basis})"),
        format!("{typical}；最多 {most}（{known}按此方法的算法计算）"),
    )
    .of(language)
}
