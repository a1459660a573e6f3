//! `index`, `estimate`, `delete`: what goes into the base and what leaves it.

use std::fmt::Write;

use anyhow::Context;
use pikerag_coordinate::estimate::{Estimate, estimate as estimated};
use pikerag_coordinate::ingest::{Outcome, Params, Progress, Report, ingest};
use pikerag_knowledge::{FileRecord, KnowledgeWriter, Problem, Structure};
use serde_json::json;

use crate::cli::{self, Index, Paths, With};
use crate::exit;
use crate::files;
use crate::output::{Bar, note, say, say_json};
use crate::render::count;
use crate::wiring::Wiring;

/// Problems and failures that are listed one by one.
const LISTED: usize = 20;

pub(crate) async fn index(wiring: &Wiring, arguments: &Index) -> anyhow::Result<u8> {
    let found = files::find(&arguments.paths.paths);
    let base = wiring.base_or_create()?;
    let tools = wiring.tools(&base)?;
    let params = params(wiring, &arguments.with);
    let pruned = match arguments.prune {
        true => prune(&base, &arguments.paths, &found.files).await?,
        false => Vec::new(),
    };
    let bar = Bar::new(wiring.json);
    let mut report =
        ingest(&tools, &found.files, &params, &|progress| watch(wiring, &bar, &progress)).await?;
    bar.end();
    let failed = |reason: String| Outcome::Failed { reason };
    report.files.extend(found.left_out.into_iter().map(|(file, reason)| (file, failed(reason))));
    if wiring.json {
        say_json(&json!({
            "report": report, "pruned": pruned, "spent": wiring.spent_json(), "base": base.folder(),
        }))?;
    } else {
        tell(wiring, &report, &pruned);
    }
    Ok(match report.is_whole() {
        true => 0,
        false if report.over_budget => exit::OVER_BUDGET,
        false => exit::INCOMPLETE,
    })
}

fn tell(wiring: &Wiring, report: &Report, pruned: &[String]) {
    let (mut stored, mut unchanged, mut chunks) = (0, 0, 0);
    for (path, outcome) in &report.files {
        match outcome {
            Outcome::Stored { report, .. } => {
                stored += 1;
                chunks += report.added;
            }
            Outcome::Unchanged => unchanged += 1,
            Outcome::Waiting { reason } => note(&format!("waits: {path}: {reason}")),
            Outcome::Failed { reason } => note(&format!("left out: {path}: {reason}")),
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
        note(&format!("left out: {lacking}"));
    }
    if report.duplicates + report.pronouns + report.unreadable > 0 {
        say(&format!(
            "dropped {} and {}; {} fell back to sentences",
            count(report.duplicates, "repeated question"),
            count(report.pronouns, "nameless question"),
            count(report.unreadable, "chunk"),
        ));
    }
    if let Some(line) = wiring.spent_line() {
        say(&line);
    }
    if let Some(reason) = &report.stopped {
        note(&format!("stopped: {reason}"));
    }
    if report.stopped.is_some() || report.failures > 0 {
        note("run the same command again to go on; what is done is not paid twice");
    }
}

/// Removes files of the base that lie under the given folders and are no longer there.
async fn prune(
    base: &dyn KnowledgeWriter,
    paths: &Paths,
    there: &[String],
) -> anyhow::Result<Vec<String>> {
    let mut pruned = Vec::new();
    // A folder that is not there may only be unmounted: that is no reason to forget its files.
    let there_at_all = paths.paths.iter().filter(|path| path.exists()).cloned().collect();
    for FileRecord { path, .. } in under(base, &Paths { paths: there_at_all }).await? {
        if !there.contains(&path) && !std::path::Path::new(&path).exists() {
            base.delete_file(&path).await?;
            pruned.push(path);
        }
    }
    Ok(pruned)
}

/// Files of the base that the given paths name or contain.
async fn under(base: &dyn KnowledgeWriter, paths: &Paths) -> anyhow::Result<Vec<FileRecord>> {
    let roots: Vec<std::path::PathBuf> =
        paths.paths.iter().map(|path| files::clean(path)).collect();
    let here = std::path::Path::new(".");
    let mut files = base.files().await?;
    files.retain(|file| {
        let path = std::path::Path::new(&file.path);
        roots.iter().any(|root| path.starts_with(root) || (root == here && path.is_relative()))
    });
    Ok(files)
}

pub(crate) async fn delete(wiring: &Wiring, arguments: &Paths) -> anyhow::Result<u8> {
    let base = wiring.base()?;
    let files = under(&base, arguments).await?;
    for file in &files {
        base.delete_file(&file.path)
            .await
            .with_context(|| format!("{} is not deleted", file.path))?;
    }
    base.refresh().await?;
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    if wiring.json {
        say_json(&json!({ "deleted": names }))?;
    } else {
        for name in &names {
            say(&format!("deleted {name}"));
        }
        if names.is_empty() {
            note(
                "nothing in the base is named so; `pikerag status` counts, `pikerag export` lists what there is",
            );
        }
    }
    Ok(if files.is_empty() { exit::FAILED } else { 0 })
}

/// The settings, and what the command line asks for besides.
fn params(wiring: &Wiring, asked: &With) -> Params {
    let mut params = wiring.ingest_params();
    if let Some(chunking) = asked.chunking {
        params.chunk_by = wiring.chunk_by(chunking.into());
    }
    for structure in asked.with.iter().copied().map(Structure::from) {
        if !params.with.contains(&structure) {
            params.with.push(structure);
        }
    }
    params
}

pub(crate) async fn estimate(wiring: &Wiring, arguments: &cli::Estimate) -> anyhow::Result<u8> {
    let found = files::find(&arguments.paths.paths);
    let base = wiring.base().ok();
    let reader = wiring.reader()?;
    let (params, available) = (params(wiring, &arguments.with), wiring.available());
    let writer = base.as_ref().map(|base| base as &dyn KnowledgeWriter);
    let mut bill = estimated(writer, reader.as_ref(), &found.files, &params, &available).await?;
    bill.unreadable.extend(found.left_out);
    if wiring.json {
        say_json(&json!({ "estimate": bill, "usd": wiring.price_of_estimate(&bill) }))?;
    } else {
        for (path, reason) in &bill.unreadable {
            note(&format!("would be left out: {path}: {reason}"));
        }
        say(&bill_line(wiring, &bill));
    }
    Ok(if bill.unreadable.is_empty() { 0 } else { exit::INCOMPLETE })
}

/// Shows progress; the bill before anything is paid.
pub(crate) fn watch(wiring: &Wiring, bar: &Bar, progress: &Progress) {
    match progress {
        Progress::Bill(bill) if 0 < bill.calls => bar.tell(&bill_line(wiring, bill)),
        other => bar.watch(other),
    }
}

fn bill_line(wiring: &Wiring, bill: &Estimate) -> String {
    let mut line = format!(
        "estimate: {}{}",
        if bill.files + bill.unchanged == 0 {
            String::new()
        } else {
            format!("{} to read ({} unchanged), ", count(bill.files, "file"), bill.unchanged)
        },
        count(bill.chunks, "chunk")
    );
    if bill.calls == 0 {
        line += "; no paid call";
        return line;
    }
    let _ = write!(
        line,
        "; {}, about {} + {} tokens",
        count(bill.calls, "model call"),
        bill.usage.prompt_tokens,
        bill.usage.completion_tokens
    );
    match wiring.price_of_estimate(bill) {
        Some(usd) => {
            let _ = write!(line, ", about {usd:.2} US dollars");
        }
        None => line += "; for money, give the model's price in pikerag.toml, [prices]",
    }
    line
}
