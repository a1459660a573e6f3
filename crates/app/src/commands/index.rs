//! `index` and `estimate`: what goes into the base.

use pikerag_engine::knowledge::Problem;
use pikerag_engine::parts::{IndexReport, Outcome};
use pikerag_engine::{IndexResponse, Session};

use super::feedback::tell_stale_answers;
use super::files::{tell_gone, tell_unseen};
use crate::advice;
use crate::cli::{Estimate, Index};
use crate::exit;
use crate::output::{Bar, note, say, say_json, tell_notice};
use crate::plain::one_line;
use crate::render::{self, count};

/// Problems and failures that are listed one by one.
const LISTED: usize = 20;

pub(crate) async fn index(session: &Session, json: bool, arguments: &Index) -> anyhow::Result<u8> {
    let bar = Bar::new(json);
    let watch = |progress| bar.watch(progress);
    let response = pikerag_engine::index(session, &arguments.request(&watch)).await?;
    if json {
        say_json(&response)?;
    } else {
        tell(&response);
    }
    if arguments.prune && !json {
        tell_unseen(&response.unseen);
    }
    let report = &response.report;
    // Whether what is not seen is gone, nobody knows: that was asked for, and is not done.
    let is_pruned = !arguments.prune || response.unseen.is_empty();
    Ok(match report.is_whole() && is_pruned {
        true => 0,
        false if report.over_budget => exit::OVER_BUDGET,
        false => exit::INCOMPLETE,
    })
}

/// What models and rules made besides atoms.
fn tell_made(report: &IndexReport) {
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
}

fn tell(response: &IndexResponse) {
    let IndexResponse { report, pruned, retried, gone, spent, .. } = response;
    let (mut stored, mut unchanged, mut chunks) = (0, 0, 0);
    for (path, outcome) in &report.files {
        match outcome {
            Outcome::Stored { report, .. } => {
                stored += 1;
                chunks += report.added;
            }
            Outcome::Unchanged => unchanged += 1,
            Outcome::Waiting { reason } => {
                note(&format!("waits: {}: {}", one_line(path), one_line(reason)));
            }
            Outcome::Failed { reason } => {
                let told = advice::file(reason);
                note(&format!("left out: {}: {}", one_line(path), one_line(&told)));
            }
        }
    }
    for (path, Problem { place, reason }) in report.problems.iter().take(LISTED) {
        note(&format!(
            "problem: {}{}{}: {}",
            one_line(path),
            if place.is_empty() { "" } else { ", " },
            one_line(place),
            one_line(reason),
        ));
    }
    if let Some(more) = report.problems.len().checked_sub(LISTED + 1) {
        note(&format!("… and {} (all with --json)", count(more + 1, "more problem")));
    }
    tell_unanswered(report);
    for path in &response.originals.too_large {
        note(&format!(
            "not kept as it is, too large for `index.originals_mib`: {}",
            one_line(path)
        ));
    }
    tell_stale_answers(response.stale_answers);
    for path in pruned {
        say(&format!("removed {}: it is gone from disk", one_line(path)));
    }
    for (old, new) in &report.moved {
        say(&format!("removed {}: it is called {} now", one_line(old), one_line(new)));
    }
    tell_gone(gone);
    if 0 < *retried {
        say(&format!("{} asked about again", count(*retried, "refused piece")));
    }
    say(&format!(
        "{} read, {unchanged} unchanged, {} left out; {} new; {}, {} made",
        count(stored, "file"),
        report.failed_files(),
        count(chunks, "chunk"),
        count(report.atoms, "atom"),
        count(report.vectors, "vector"),
    ));
    tell_made(report);
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
    for lacking in &report.stale {
        note(&format!("not brought up to date: {}", advice::stale(*lacking)));
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
        note(&advice::unfinished(report));
    }
}

/// Calls that failed, and those that a model refused.
fn tell_unanswered(report: &IndexReport) {
    for (chunk, reason) in &report.failed {
        note(&format!("failed: {}: {}", one_line(chunk), one_line(reason)));
    }
    for (chunk, reason) in &report.refusals {
        note(&format!("refused: {}: {}", one_line(chunk), one_line(reason)));
    }
    if 0 < report.refused {
        note(&format!("{} refused; {}", count(report.refused, "call"), advice::REFUSED));
    }
}

pub(crate) async fn estimate(
    session: &Session,
    json: bool,
    arguments: &Estimate,
) -> anyhow::Result<u8> {
    let response = pikerag_engine::estimate(session, &arguments.request()).await?;
    for notice in &response.notices {
        tell_notice(notice);
    }
    let estimate = &response.estimate;
    if json {
        say_json(&response)?;
    } else {
        for (path, reason) in &estimate.unreadable {
            note(&format!("would be left out: {}: {}", one_line(path), advice::file(reason)));
        }
        say(&render::bill(estimate, response.usd));
    }
    Ok(if estimate.unreadable.is_empty() { 0 } else { exit::INCOMPLETE })
}
