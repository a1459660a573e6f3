//! `index` and `estimate`: what goes into the base.

use pikerag_engine::knowledge::Problem;
use pikerag_engine::parts::Outcome;
use pikerag_engine::{Engine, IndexResponse};

use crate::advice::{self, go_on};
use crate::cli::{Estimate, Index};
use crate::exit;
use crate::output::{Bar, note, say, say_json, tell_notice};
use crate::render::{self, count};

/// Problems and failures that are listed one by one.
const LISTED: usize = 20;

pub(crate) async fn index(engine: &Engine, json: bool, arguments: &Index) -> anyhow::Result<u8> {
    let bar = Bar::new(json);
    let watch = |progress| bar.watch(progress);
    let response = engine.index(&arguments.request(&watch)).await?;
    if json {
        say_json(&response)?;
    } else {
        tell(&response);
    }
    let report = &response.report;
    Ok(match report.is_whole() {
        true => 0,
        false if report.over_budget => exit::OVER_BUDGET,
        false => exit::INCOMPLETE,
    })
}

fn tell(response: &IndexResponse) {
    let IndexResponse { report, pruned, spent, .. } = response;
    let (mut stored, mut unchanged, mut chunks) = (0, 0, 0);
    for (path, outcome) in &report.files {
        match outcome {
            Outcome::Stored { report, .. } => {
                stored += 1;
                chunks += report.added;
            }
            Outcome::Unchanged => unchanged += 1,
            Outcome::Waiting { reason } => note(&format!("waits: {path}: {reason}")),
            Outcome::Failed { reason } => {
                note(&format!("left out: {path}: {}", advice::file(reason)));
            }
        }
    }
    for (path, Problem { place, reason }) in report.problems.iter().take(LISTED) {
        note(&format!(
            "problem: {path}{}{place}: {reason}",
            if place.is_empty() { "" } else { ", " }
        ));
    }
    if let Some(more) = report.problems.len().checked_sub(LISTED + 1) {
        note(&format!("… and {} (all with --json)", count(more + 1, "more problem")));
    }
    for (chunk, reason) in &report.failed {
        note(&format!("failed: {chunk}: {reason}"));
    }
    for path in &response.originals.too_large {
        note(&format!("not kept as it is, too large for `index.originals_mib`: {path}"));
    }
    for path in pruned {
        say(&format!("removed {path}: it is gone from disk"));
    }
    say(&format!(
        "{} read, {unchanged} unchanged, {} left out; {} new; {}, {} made",
        count(stored, "file"),
        report.failed_files(),
        count(chunks, "chunk"),
        count(report.atoms, "atom"),
        count(report.vectors, "vector"),
    ));
    if report.records + report.unread_records > 0 {
        say(&format!(
            "{} read; {} kept untyped; {} of the model not in the text, dropped; {} unreadable",
            count(report.records, "record"),
            count(report.untyped_values, "value"),
            count(report.invented_values, "value"),
            count(report.unread_records, "reply"),
        ));
    }
    if report.extracted + report.reports + report.summaries > 0 {
        say(&format!(
            "entities of {} found; {} and {} written",
            count(report.extracted, "chunk"),
            count(report.reports, "report"),
            count(report.summaries, "summary"),
        ));
    }
    if report.described > 0 {
        say(&format!(
            "{} described or summed up",
            count(report.described, "table, figure or document")
        ));
    }
    if report.tagged > 0 {
        say(&format!("{} in {}", count(report.tags, "tag"), count(report.tagged, "chunk")));
    }
    if report.undecided > 0 {
        note(&format!(
            "{} stayed unreadable: structure decided, or nothing was said",
            count(report.undecided, "reply")
        ));
    }
    if report.unextracted > 0 {
        note(&format!(
            "{} stayed unreadable: names and sentences serve instead",
            count(report.unextracted, "reply")
        ));
    }
    for lacking in &report.lacking {
        note(&format!("left out: {}", advice::lacking(*lacking)));
    }
    if report.duplicates + report.pronouns + report.unreadable > 0 {
        say(&format!(
            "dropped {} and {}; {} fell back to sentences",
            count(report.duplicates, "repeated question"),
            count(report.pronouns, "nameless question"),
            count(report.unreadable, "chunk"),
        ));
    }
    if let Some(line) = render::paid(spent) {
        say(&line);
    }
    if let Some(reason) = &report.stopped {
        note(&format!("stopped: {reason}"));
    }
    if report.stopped.is_some() || report.failures > 0 {
        note(go_on(report.over_budget));
    }
}

pub(crate) async fn estimate(
    engine: &Engine,
    json: bool,
    arguments: &Estimate,
) -> anyhow::Result<u8> {
    let response = engine.estimate(&arguments.request()).await?;
    for notice in &response.notices {
        tell_notice(notice);
    }
    let estimate = &response.estimate;
    if json {
        say_json(&response)?;
    } else {
        for (path, reason) in &estimate.unreadable {
            note(&format!("would be left out: {path}: {}", advice::file(reason)));
        }
        say(&render::bill(estimate, response.usd));
    }
    Ok(if estimate.unreadable.is_empty() { 0 } else { exit::INCOMPLETE })
}
