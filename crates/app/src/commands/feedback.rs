//! `feedback`: what people say of answers.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use pikerag_engine::knowledge::{KeptVerified, Verified};
use pikerag_engine::{FeedbackRequest, FeedbackResponse, Session, Verdict};
use serde_json::json;

use crate::cli::{Feedback, FeedbackVerb, Judged};
use crate::output::{note, say, say_json};
use crate::plain::one_line;
use crate::render::{count, short, when};

/// Characters of an answer in a list.
const SHOWN: usize = 160;

pub(crate) async fn feedback(
    session: &Session,
    json: bool,
    arguments: &Feedback,
) -> anyhow::Result<u8> {
    match &arguments.verb {
        FeedbackVerb::Accept(of) => keep(session, json, of, Verdict::Accept, None).await,
        FeedbackVerb::Correct { of, answer } => {
            keep(session, json, of, Verdict::Correct, Some(answer)).await
        }
        FeedbackVerb::Reject(of) => keep(session, json, of, Verdict::Reject, None).await,
        FeedbackVerb::List { stale: false } => {
            list(json, false, &pikerag_engine::verified(session).await?)
        }
        FeedbackVerb::List { stale: true } => {
            list(json, true, &pikerag_engine::stale_verified(session).await?)
        }
        FeedbackVerb::Revoke { id } => {
            let gone = pikerag_engine::revoke_verified(session, id).await?;
            if json {
                return say_json(&json!({ "revoked": gone }));
            }
            say(&format!("taken back: {}", line(&gone)));
            Ok(0)
        }
        FeedbackVerb::Export { output, pairs } => export(session, output.as_deref(), *pairs).await,
        FeedbackVerb::Import { from } => {
            let response = pikerag_engine::import_verified(session, from).await?;
            if json {
                return say_json(&response);
            }
            say(&format!(
                "{} kept; {} of them rest on passages that this base does not have",
                count(response.kept, "verified answer"),
                response.stale
            ));
            Ok(0)
        }
    }
}

/// Asks about what rests on documents that have changed.
pub(super) fn tell_stale_answers(stale: usize) {
    if 0 < stale {
        note(&format!(
            "{} on documents that have changed since, and {} nothing any more; `pikerag feedback list --stale`",
            match stale {
                1 => "1 verified answer rests".to_owned(),
                many => format!("{many} verified answers rest"),
            },
            if stale == 1 { "answers" } else { "answer" }
        ));
    }
}

async fn keep(
    session: &Session,
    json: bool,
    Judged { run, by, note }: &Judged,
    verdict: Verdict,
    answer: Option<&String>,
) -> anyhow::Result<u8> {
    let (run, answer, by, note) = (run.clone(), answer.cloned(), by.clone(), note.clone());
    let request = FeedbackRequest { run, verdict, answer, by, note };
    let response = pikerag_engine::feedback(session, &request).await?;
    if json {
        return say_json(&response);
    }
    tell(&response);
    Ok(0)
}

fn tell(FeedbackResponse { verified, is_bare }: &FeedbackResponse) {
    say(&line(verified));
    for ground in &verified.grounds {
        say(&format!("    {}: “{}”", one_line(&ground.uri), short(&ground.quote, SHOWN)));
    }
    if *is_bare {
        note("no passage of the documents says so: it is your word alone, and is shown as that");
    }
}

/// What was said, in a line: identifier, when, who, what, of which question, what holds.
fn line(said: &Verified) -> String {
    let holds = match (said.holds(), &said.correction) {
        (Some(right), Some(_)) => {
            format!("{} (not: {})", short(right, SHOWN), short(&said.given, SHOWN))
        }
        (Some(right), None) => short(right, SHOWN),
        (None, _) => format!("not: {}", short(&said.given, SHOWN)),
    };
    let note = match said.note.as_str() {
        "" => String::new(),
        note => format!(" ({})", short(note, SHOWN)),
    };
    format!(
        "{}  {}  {} {} by {}: {} → {holds}{note}",
        said.id,
        when(said.at),
        said.class.map_or("", |class| class.as_str()),
        said.judgement,
        one_line(&said.by),
        short(&said.question, SHOWN),
    )
}

fn list(json: bool, stale: bool, all: &[KeptVerified]) -> anyhow::Result<u8> {
    if json {
        return say_json(&all);
    }
    for kept in all {
        say(&line(&kept.verified));
        if kept.is_stale() {
            let changed: Vec<_> = kept.changed.iter().map(|uri| one_line(uri)).collect();
            say(&format!("    stale: {} read otherwise now, or are gone", changed.join(", ")));
        }
    }
    match (all.is_empty(), stale) {
        (true, true) => note("what every verified answer rests on is as it was"),
        (true, false) => note(
            "no answer was verified yet; `pikerag feedback accept RUN` says that one is right, `correct` what is, `reject` \
             that it is wrong",
        ),
        (false, _) if all.iter().any(KeptVerified::is_stale) => note(
            "what is stale answers nothing: ask again, then `accept` or `correct`, or `revoke`",
        ),
        (false, _) => {}
    }
    Ok(0)
}

async fn export(session: &Session, output: Option<&Path>, pairs: bool) -> anyhow::Result<u8> {
    let mut written = Vec::new();
    let what = match pairs {
        false => {
            count(pikerag_engine::export_verified(session, &mut written).await?, "verified answer")
        }
        true => {
            let all = pikerag_engine::answer_pairs(session).await?;
            for pair in &all {
                writeln!(written, "{}", serde_json::to_string(pair)?)?;
            }
            count(all.len(), "pair")
        }
    };
    match output {
        None => say(String::from_utf8_lossy(&written).trim_end()),
        Some(path) => {
            File::create(path)
                .and_then(|mut file| file.write_all(&written))
                .with_context(|| format!("{} cannot be written", path.display()))?;
            note(&format!("{what} in {}", path.display()));
        }
    }
    Ok(0)
}
