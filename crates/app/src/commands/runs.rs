//! Runs `runs`: lists, shows, replays, forks and compares earlier runs.

use std::sync::Arc;

use pikerag_engine::knowledge::{RunRecord, RunState};
use pikerag_engine::narrate::Language;
use pikerag_engine::parts::OpenCalls;
use pikerag_engine::{
    AskRequest, DiffResponse, DiffSide, ForkRequest, RunResponse, RunSummary, Session,
    chinese_reason,
};

use super::answer::{Detail, conclude, wait_line};
use crate::cli::{Runs, RunsVerb};
use crate::output::{Output, say, say_json};
use crate::plain::one_line;
use crate::render::{self, count, short};
use crate::waiting::show_while;
use crate::words;

pub(crate) async fn runs(
    session: &Session,
    output: Output,
    arguments: &Runs,
) -> anyhow::Result<u8> {
    match &arguments.verb {
        None => list(output, &pikerag_engine::runs(session, arguments.limit.get()).await?),
        Some(RunsVerb::Show { run }) => {
            show(output, &pikerag_engine::run_by_name(session, run).await?)
        }
        Some(RunsVerb::Replay { run }) => {
            let response = pikerag_engine::replay_run(session, run, &AskRequest::default()).await?;
            conclude(session, output, Detail::Reasoning, response)
        }
        Some(RunsVerb::Fork(fork)) => {
            let calls = Arc::new(OpenCalls::default());
            let open_calls = Some(Arc::clone(&calls));
            let request = ForkRequest {
                run: fork.run.clone(),
                at: fork.at,
                change: fork.otherwise.change(),
                ask: AskRequest { open_calls, ..AskRequest::default() },
            };
            let forked = Box::pin(pikerag_engine::fork_run(session, &request));
            let line = wait_line(output);
            let response = show_while(line, &calls, output.language, forked).await?;
            conclude(session, output, Detail::Reasoning, response)
        }
        Some(RunsVerb::Diff { first, second }) => {
            diff(output, &pikerag_engine::diff_runs(session, first, second).await?)
        }
    }
}

fn list(output: Output, runs: &[RunSummary]) -> anyhow::Result<u8> {
    if output.json {
        return say_json(&runs);
    }
    for run in runs {
        say(&line(run, output.language));
    }
    if runs.is_empty() {
        output.note("no question was asked yet", "还没有提过问题");
    }
    Ok(0)
}

/// A run in a line: name, when, state, method, calls, question.
fn line(RunSummary { run, interrupted, .. }: &RunSummary, language: Language) -> String {
    let (english, chinese) = match &run.forked {
        Some(fork) => (
            format!(" (fork of {} at {})", fork.run, fork.seq),
            format!("（{} 在 {} 处的分支）", fork.run, fork.seq),
        ),
        None => Default::default(),
    };
    let (id, at, method) = (&run.id, render::when(run.started), &run.method);
    let (state, calls) = (state(run, *interrupted, language), run.cost.spent.calls());
    let question = short(&run.question.text, 80);
    match language {
        Language::English => format!(
            "{id}  {at}  {state:<11} {method:<14} {:>9}  {question}{english}",
            count(calls, "call")
        ),
        Language::Chinese => {
            format!("{id}  {at}  {state:　<3} {method:<14} {calls:>3} 次调用  {question}{chinese}")
        }
    }
}

fn state(run: &RunRecord, interrupted: bool, language: Language) -> &'static str {
    match run.state {
        RunState::Running if interrupted => language.either("interrupted", "已中断"),
        state => words::state(state, language),
    }
}

fn show(output: Output, response: &RunResponse) -> anyhow::Result<u8> {
    let Output { json, language } = output;
    if json {
        return say_json(response);
    }
    let RunSummary { run, interrupted, usd, .. } = &response.summary;
    say(&line(&response.summary, language));
    if !run.parameters.is_empty() {
        let set: Vec<String> =
            run.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let set = set.join(language.either(", ", "，"));
        output.say(format!("parameters: {set}"), format!("参数：{set}"));
    }
    if !run.filter.is_empty() {
        output.say(format!("filter: {}", run.filter), format!("过滤：{}", run.filter));
    }
    say(render::numbered(&response.events, language).trim_end());
    match (&run.answer, &run.error) {
        (Some(answer), _) => {
            say(render::conclusion(answer, &run.cost.spent, language).trim_end());
        }
        (None, Some(error)) => {
            output.say(format!("\nfailed: {error}"), format!("\n失败：{}", chinese_reason(error)));
        }
        (None, None) => say(&format!("\n{}", state(run, *interrupted, language))),
    }
    let paid = run.cost.paid.usage();
    let (calls, prompt, reply) =
        (run.cost.paid.calls(), paid.prompt_tokens, paid.completion_tokens);
    let money = usd.paid.map(|usd| render::dollars(usd, language)).unwrap_or_default();
    let cached = render::cached(run.cost.paid.cached_tokens, language);
    output.say(
        format!(
            "paid in this run: {}, {prompt} + {reply} tokens{cached}{money}",
            count(calls, "call")
        ),
        format!("本次运行付费：{calls} 次调用，{prompt} + {reply} 个 Token{cached}{money}"),
    );
    Ok(0)
}

fn diff(output: Output, response: &DiffResponse) -> anyhow::Result<u8> {
    let Output { json, language } = output;
    if json {
        return say_json(response);
    }
    let DiffResponse { first, second, alike, lines, both, only_first, only_second } = response;
    say(&format!("- {}", line(first, language)));
    say(&format!("+ {}", line(second, language)));
    let events = |side| lines.iter().filter(move |line| line.of == side).count();
    if events(DiffSide::First) + events(DiffSide::Second) == 0 {
        output.say("the events are equal", "事件完全相同");
    } else {
        output.say(
            format!("equal for {}, then different:", count(*alike, "event")),
            format!("前 {alike} 个事件相同，此后不同："),
        );
    }
    for line in lines.iter().skip(alike.saturating_sub(1)) {
        let mark = match line.of {
            DiffSide::Both => ' ',
            DiffSide::First => '-',
            DiffSide::Second => '+',
        };
        for text in render::numbered(std::slice::from_ref(&line.event), language).lines() {
            say(&format!("{mark} {text}"));
        }
    }
    output.say(
        format!("{} in both answers", count(*both, "chunk")),
        format!("两个回答共有 {both} 个文本块"),
    );
    for (mark, titles) in [('-', only_first), ('+', only_second)] {
        for title in titles {
            say(&format!("{mark} {}", one_line(title)));
        }
    }
    for (mark, RunSummary { run, .. }) in [('-', first), ('+', second)] {
        let text = run.answer.as_ref().map_or_else(
            || language.either("no answer", "没有回答"),
            |answer| answer.text.as_str(),
        );
        say(&format!("{mark} {}", short(text, 160)));
    }
    Ok(0)
}
