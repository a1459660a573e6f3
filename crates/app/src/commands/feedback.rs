//! Runs `feedback`: keeps, lists, exports and imports verified answers.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use pikerag_engine::knowledge::{Judgement, KeptVerified, Verified};
use pikerag_engine::narrate::{InWords, Language, Words};
use pikerag_engine::{
    FeedbackRequest, FeedbackResponse, LabelsRequest, LabelsResponse, Session, Verdict,
};
use serde_json::json;

use crate::cli::{Feedback, FeedbackVerb, Judged};
use crate::failure::Failure;
use crate::output::{Output, say, say_json};
use crate::plain::one_line;
use crate::render::{count, short, when};

/// Characters of an answer in a list.
const SHOWN: usize = 160;

pub(crate) async fn feedback(
    session: &Session,
    output: Output,
    arguments: &Feedback,
) -> anyhow::Result<u8> {
    match &arguments.verb {
        FeedbackVerb::Accept(of) => keep(session, output, of, Verdict::Accept, None).await,
        FeedbackVerb::Correct { of, answer } => {
            keep(session, output, of, Verdict::Correct, Some(answer)).await
        }
        FeedbackVerb::Reject(of) => keep(session, output, of, Verdict::Reject, None).await,
        FeedbackVerb::Judge { labels, by } => {
            judge(session, labels.clone(), by.clone(), output).await
        }
        FeedbackVerb::List { stale: false } => {
            list(output, false, &pikerag_engine::verified(session).await?)
        }
        FeedbackVerb::List { stale: true } => {
            list(output, true, &pikerag_engine::stale_verified(session).await?)
        }
        FeedbackVerb::Revoke { id } => {
            let gone = pikerag_engine::revoke_verified(session, id).await?;
            if output.json {
                return say_json(&json!({ "revoked": gone }));
            }
            let line = line(&gone, output.language);
            output.say(format!("revoked: {line}"), format!("已撤销：{line}"));
            Ok(0)
        }
        FeedbackVerb::Export { output: to, pairs } => {
            export(session, to.as_deref(), *pairs, output).await
        }
        FeedbackVerb::Import { from } => {
            let response = pikerag_engine::import_verified(session, from).await?;
            if output.json {
                return say_json(&response);
            }
            let (kept, stale) = (response.kept, response.stale);
            output.say(
                format!(
                    "{} kept; {stale} of them use passages that this base does not have",
                    count(kept, "verified answer")
                ),
                format!("保留 {kept} 条人工核实的问答；其中 {stale} 条所依据的段落不在此知识库中"),
            );
            Ok(0)
        }
    }
}

/// Names verified answers whose documents have changed.
pub(super) fn show_stale_answers(stale: usize, output: Output) {
    if 0 < stale {
        output.note(
            format!(
                "{} out of use, because documents have changed: `pikerag feedback list --stale`",
                match stale {
                    1 => "1 verified answer is".to_owned(),
                    many => format!("{many} verified answers are"),
                }
            ),
            format!("{stale} 条人工核实的问答因文档有改动而停用：`pikerag feedback list --stale`"),
        );
    }
}

async fn judge(
    session: &Session,
    path: PathBuf,
    by: Option<String>,
    output: Output,
) -> anyhow::Result<u8> {
    let request = LabelsRequest { path, by };
    let judged = pikerag_engine::judge_by_labels(session, &request).await?;
    if output.json {
        return say_json(&judged);
    }
    for verified in judged.accepted.iter().chain(&judged.corrected) {
        say(&line(verified, output.language));
    }
    let LabelsResponse { accepted, corrected, not_asked, undecided } = &judged;
    let (accepted, corrected) = (accepted.len(), corrected.len());
    output.note(
        format!(
            "{accepted} accepted, {corrected} corrected; no kept run answered {not_asked} of the questions, and labels \
             do not decide {undecided}"
        ),
        format!("认可 {accepted} 个，更正 {corrected} 个；有 {not_asked} 个问题没有已保存的回答，{undecided} 个无法由标准答案判定"),
    );
    Ok(0)
}

async fn keep(
    session: &Session,
    output: Output,
    Judged { run, by, note }: &Judged,
    verdict: Verdict,
    answer: Option<&String>,
) -> anyhow::Result<u8> {
    let (run, answer, by, note) = (run.clone(), answer.cloned(), by.clone(), note.clone());
    let request = FeedbackRequest { run, verdict, answer, by, note };
    let response = pikerag_engine::feedback(session, &request).await?;
    if output.json {
        return say_json(&response);
    }
    show(&response, output);
    Ok(0)
}

fn show(FeedbackResponse { verified, is_bare }: &FeedbackResponse, output: Output) {
    say(&line(verified, output.language));
    for ground in &verified.grounds {
        say(&format!("    {}: “{}”", one_line(&ground.uri), short(&ground.quote, SHOWN)));
    }
    if *is_bare {
        output.note(
            "no passage of the documents supports it: the answer is shown as your statement",
            "文档中没有支持它的段落：回答将标明为您的陈述",
        );
    }
}

/// A verified answer in a line: identifier, time, class, judgement, person, question, answer.
fn line(verified: &Verified, language: Language) -> String {
    let given = short(&verified.given, SHOWN);
    let holds = match (verified.holds(), &verified.correction) {
        (Some(right), Some(_)) => {
            let right = short(right, SHOWN);
            Words::new(format!("{right} (not: {given})"), format!("{right}（而非：{given}）"))
        }
        (Some(right), None) => Words::new(short(right, SHOWN), short(right, SHOWN)),
        (None, _) => Words::new(format!("not: {given}"), format!("而非：{given}")),
    };
    let note = match verified.note.as_str() {
        "" => Words::new("", ""),
        note => {
            let note = short(note, SHOWN);
            Words::new(format!(" ({note})"), format!("（{note}）"))
        }
    };
    let (id, at, by) = (&verified.id, when(verified.at), one_line(&verified.by));
    let class = verified.class.map_or_else(|| Words::new("", ""), |class| class.words());
    let (judgement, question) = (verified.judgement, short(&verified.question, SHOWN));
    Words::new(
        format!(
            "{id}  {at}  {} {judgement} by {by}: {question} → {}{}",
            class.english, holds.english, note.english
        ),
        format!(
            "{id}  {at}  {} 由 {by} {}：{question} → {}{}",
            class.chinese,
            judged(judgement),
            holds.chinese,
            note.chinese
        ),
    )
    .of(language)
}

fn judged(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Accepted => "认可",
        Judgement::Corrected => "更正",
        Judgement::Rejected => "否定",
    }
}

fn list(output: Output, stale: bool, all: &[KeptVerified]) -> anyhow::Result<u8> {
    if output.json {
        return say_json(&all);
    }
    for kept in all {
        say(&line(&kept.verified, output.language));
        if kept.is_stale() {
            let changed: Vec<_> = kept.changed.iter().map(|uri| one_line(uri)).collect();
            let changed = changed.join(", ");
            output.say(
                format!("    stale: {changed} changed or missing"),
                format!("    已过时：{changed} 有改动或已不存在"),
            );
        }
    }
    match (all.is_empty(), stale) {
        (true, true) => output.note(
            "the sources of all verified answers are unchanged",
            "所有人工核实的问答的来源均无改动",
        ),
        (true, false) => output.note(
            "no answer is verified yet; use `pikerag feedback accept RUN`, `correct RUN` or `reject RUN`",
            "还没有人工核实的问答；请用 `pikerag feedback accept RUN`、`correct RUN` 或 `reject RUN`",
        ),
        (false, _) if all.iter().any(KeptVerified::is_stale) => output.note(
            "stale answers are out of use: ask again, then `accept` or `correct`, or `revoke`",
            "已过时的问答不再使用：请重新提问，再用 `accept`、`correct` 或 `revoke`",
        ),
        (false, _) => {}
    }
    Ok(0)
}

async fn export(
    session: &Session,
    to: Option<&Path>,
    pairs: bool,
    output: Output,
) -> anyhow::Result<u8> {
    let mut written = Vec::new();
    let content = match pairs {
        false => {
            let n = pikerag_engine::export_verified(session, &mut written).await?;
            Words::new(count(n, "verified answer"), format!("{n} 条人工核实的问答"))
        }
        true => {
            let all = pikerag_engine::answer_pairs(session).await?;
            for pair in &all {
                writeln!(written, "{}", serde_json::to_string(pair)?)?;
            }
            Words::new(count(all.len(), "pair"), format!("{} 组对照", all.len()))
        }
    };
    match to {
        None => say(String::from_utf8_lossy(&written).trim_end()),
        Some(path) => {
            File::create(path)
                .and_then(|mut file| file.write_all(&written))
                .map_err(|error| Failure::NotWritten(path.to_owned()).of(error))?;
            let path = path.display();
            output.note(
                format!("{} in {path}", content.english),
                format!("{path} 中有 {}", content.chinese),
            );
        }
    }
    Ok(0)
}
