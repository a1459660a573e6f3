//! `runs`: what was asked before.

use pikerag_engine::knowledge::{RunRecord, RunState};
use pikerag_engine::{
    AskRequest, DiffResponse, DiffSide, ForkRequest, RunResponse, RunSummary, Session,
};

use super::answer::{Told, conclude};
use crate::cli::{Runs, RunsVerb};
use crate::output::{note, say, say_json};
use crate::plain::one_line;
use crate::render::{self, count, short};

pub(crate) async fn runs(session: &Session, json: bool, arguments: &Runs) -> anyhow::Result<u8> {
    match &arguments.verb {
        None => list(json, &pikerag_engine::runs(session, arguments.limit.get()).await?),
        Some(RunsVerb::Show { run }) => {
            show(json, &pikerag_engine::run_by_name(session, run).await?)
        }
        Some(RunsVerb::Replay { run }) => {
            let response = pikerag_engine::replay_run(session, run, &AskRequest::default()).await?;
            conclude(session, json, Told::Reasoning, response)
        }
        Some(RunsVerb::Fork(fork)) => {
            let request = ForkRequest {
                run: fork.run.clone(),
                at: fork.at,
                change: fork.otherwise.change(),
                ask: AskRequest::default(),
            };
            conclude(
                session,
                json,
                Told::Reasoning,
                pikerag_engine::fork_run(session, &request).await?,
            )
        }
        Some(RunsVerb::Diff { first, second }) => {
            diff(json, &pikerag_engine::diff_runs(session, first, second).await?)
        }
    }
}

fn list(json: bool, runs: &[RunSummary]) -> anyhow::Result<u8> {
    if json {
        return say_json(&runs);
    }
    for run in runs {
        say(&line(run));
    }
    if runs.is_empty() {
        note("no question was asked yet");
    }
    Ok(0)
}

/// A run in a line: name, when, state, method, calls, question.
fn line(RunSummary { run, interrupted, .. }: &RunSummary) -> String {
    let forked = run.forked.as_ref().map(|fork| format!(" (fork of {} at {})", fork.run, fork.seq));
    format!(
        "{}  {}  {:<11} {:<14} {:>9}  {}{}",
        run.id,
        render::when(run.started),
        state(run, *interrupted),
        run.method,
        count(run.cost.spent.calls(), "call"),
        short(&run.question.text, 80),
        forked.unwrap_or_default()
    )
}

fn state(run: &RunRecord, interrupted: bool) -> &'static str {
    match run.state {
        RunState::Running if interrupted => "interrupted",
        state => state.as_str(),
    }
}

fn show(json: bool, response: &RunResponse) -> anyhow::Result<u8> {
    if json {
        return say_json(response);
    }
    let RunSummary { run, interrupted, usd } = &response.summary;
    say(&line(&response.summary));
    if !run.parameters.is_empty() {
        let set: Vec<String> =
            run.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        say(&format!("parameters: {}", set.join(", ")));
    }
    if !run.filter.is_empty() {
        say(&format!("filter: {}", run.filter));
    }
    say(render::numbered(&response.events).trim_end());
    match (&run.answer, &run.error) {
        (Some(answer), _) => say(render::conclusion(answer, &run.cost.spent).trim_end()),
        (None, Some(error)) => say(&format!("\nfailed: {error}")),
        (None, None) => say(&format!("\n{}", state(run, *interrupted))),
    }
    let paid = run.cost.paid.usage();
    say(&format!(
        "paid in this run: {}, {} + {} tokens{}",
        count(run.cost.paid.calls(), "call"),
        paid.prompt_tokens,
        paid.completion_tokens,
        usd.paid.map(render::dollars).unwrap_or_default()
    ));
    Ok(0)
}

fn diff(json: bool, response: &DiffResponse) -> anyhow::Result<u8> {
    if json {
        return say_json(response);
    }
    let DiffResponse { first, second, alike, lines, both, only_first, only_second } = response;
    say(&format!("- {}", line(first)));
    say(&format!("+ {}", line(second)));
    let events = |side| lines.iter().filter(move |line| line.of == side).count();
    if events(DiffSide::First) + events(DiffSide::Second) == 0 {
        say("they do not part");
    } else {
        say(&format!("alike for {}, then they part:", count(*alike, "event")));
    }
    for line in lines.iter().skip(alike.saturating_sub(1)) {
        let mark = match line.of {
            DiffSide::Both => ' ',
            DiffSide::First => '-',
            DiffSide::Second => '+',
        };
        for text in render::numbered(std::slice::from_ref(&line.event)).lines() {
            say(&format!("{mark} {text}"));
        }
    }
    say(&format!("{} in both answers", count(*both, "chunk")));
    for (mark, titles) in [('-', only_first), ('+', only_second)] {
        for title in titles {
            say(&format!("{mark} {}", one_line(title)));
        }
    }
    for (mark, RunSummary { run, .. }) in [('-', first), ('+', second)] {
        let text = run.answer.as_ref().map_or("no answer", |answer| answer.text.as_str());
        say(&format!("{mark} {}", short(text, 160)));
    }
    Ok(0)
}
