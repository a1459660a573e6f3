//! `delete`, `backup`, `restore`, `check`: what a base keeps and forgets.

use std::path::Path;

use pikerag_engine::parts::{Finding, Health, Part, Remains};
use pikerag_engine::{BackupResponse, CheckRequest, DeleteRequest, DeleteResponse, Session};

use super::inspect::write_to;
use crate::cli::{Delete, Original};
use crate::exit;
use crate::output::{note, say, say_json};
use crate::plain::one_line;
use crate::render::count;

pub(crate) async fn delete(
    session: &Session,
    json: bool,
    arguments: &Delete,
) -> anyhow::Result<u8> {
    let request = DeleteRequest { paths: arguments.paths.paths.clone(), forget: arguments.forget };
    let response = pikerag_engine::delete(session, &request).await?;
    if json {
        say_json(&response)?;
    } else {
        tell_deleted(&response);
    }
    Ok(match response {
        _ if response.overwrites_later => exit::INCOMPLETE,
        _ if response.deleted.is_empty() && !response.finished => exit::FAILED,
        _ => 0,
    })
}

fn tell_deleted(response: &DeleteResponse) {
    for name in &response.deleted {
        say(&format!("deleted {}", one_line(name)));
    }
    if response.finished {
        say("what was forgotten before is overwritten now");
    }
    if response.deleted.is_empty() {
        note("nothing in the base is named so; `pikerag files` lists what there is");
    } else if let Some(forgotten) = response.forgotten {
        let overwritten = match response.overwrites_later {
            false => "what was freed is overwritten",
            true => {
                "what was freed is not overwritten yet, for a question or export that began before still reads it: run \
                 `pikerag check --repair` when that has ended"
            }
        };
        say(&format!("forgot {} that held the text; {overwritten}", what_remains(forgotten)));
    } else if response.remains != Remains::default() {
        note(&format!(
            "{} on record still hold the text; to remove them too, index it again and `pikerag delete --forget`",
            what_remains(response.remains)
        ));
    }
}

fn what_remains(remains: Remains) -> String {
    let (calls, runs) = (count(remains.calls, "model call"), count(remains.runs, "run"));
    match remains.verified {
        0 => format!("{calls} and {runs}"),
        some => format!("{calls}, {runs} and {}", count(some, "verified answer")),
    }
}

pub(crate) async fn backup(session: &Session, json: bool, to: &Path) -> anyhow::Result<u8> {
    let response = pikerag_engine::backup(session, to).await?;
    if json {
        return say_json(&response);
    }
    let BackupResponse { base, backup, .. } = &response;
    say(&format!("{} is in {}: {}", base.display(), backup.display(), copied(&response)));
    Ok(0)
}

pub(crate) async fn restore(session: &Session, json: bool, from: &Path) -> anyhow::Result<u8> {
    let response = pikerag_engine::restore(session, from).await?;
    if json {
        return say_json(&response);
    }
    let BackupResponse { base, backup, .. } = &response;
    say(&format!("{} was made of {}: {}", base.display(), backup.display(), copied(&response)));
    Ok(0)
}

fn copied(response: &BackupResponse) -> String {
    let copied = response.copied;
    format!(
        "{}, {} on record, {}",
        count(copied.files, "file"),
        count(copied.calls, "call"),
        count(copied.runs, "run")
    )
}

pub(crate) async fn original(
    session: &Session,
    json: bool,
    arguments: &Original,
) -> anyhow::Result<u8> {
    let original = pikerag_engine::original(session, &arguments.path).await?;
    let out = arguments.out.as_deref();
    write_to(out, |writer| Ok(writer.write_all(&original.bytes)?))?;
    if json && out.is_some() {
        let (file, hash, bytes) = (&original.file, &original.hash, original.bytes.len());
        say_json(
            &serde_json::json!({ "file": file, "hash": hash, "bytes": bytes, "written": out }),
        )?;
    }
    Ok(0)
}

pub(crate) async fn check(session: &Session, json: bool, repair: bool) -> anyhow::Result<u8> {
    let response = pikerag_engine::check(session, CheckRequest { repair }).await?;
    if json {
        say_json(&response)?;
    } else {
        for finding in &response.findings {
            say(&line(finding));
        }
        let is_derived = |finding: &Finding| {
            !matches!(finding.part, Part::Database | Part::Texts | Part::Originals)
        };
        let damaged = |finding: &&Finding| finding.health == Health::Damaged;
        match response.findings.iter().find(damaged) {
            None => {}
            Some(finding) if is_derived(finding) && !repair => {
                note("`pikerag check --repair` makes it again");
            }
            Some(_) if !repair => {
                note(
                    "`pikerag check --repair` makes indexes again; for all else, `pikerag restore` a backup",
                );
            }
            Some(_) => note("`pikerag restore` a backup, or index again"),
        }
    }
    Ok(if response.sound { 0 } else { exit::FAILED })
}

fn line(finding: &Finding) -> String {
    let health = match finding.health {
        Health::Sound if finding.repaired => "repaired",
        Health::Sound => "sound",
        Health::Behind => "behind",
        Health::Damaged => "DAMAGED",
    };
    let part = match &finding.part {
        Part::Database => "database".to_owned(),
        Part::Texts => "texts".to_owned(),
        Part::Originals => "originals".to_owned(),
        Part::FullText => "full text".to_owned(),
        Part::Vectors(set) => format!("vectors of {set}"),
        Part::Leftovers => "leftovers".to_owned(),
        Part::Forgetting => "forgetting".to_owned(),
    };
    format!("{health:<9} {part}: {}", finding.says)
}
