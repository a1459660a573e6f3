//! `status` and `export`: what is in the base.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use pikerag_engine::knowledge::{Backlog, RefusalCause, RefusalCount, Structure};
use pikerag_engine::parts::mark_in_words;
use pikerag_engine::{Session, StatusResponse};

use super::feedback::tell_stale_answers;
use super::files::{tell_gone, tell_same, tell_unseen};
use crate::advice;
use crate::cli::Export;
use crate::output::{note, say, say_json};
use crate::plain::{Shown, one_line};
use crate::render::{count, short};

/// An embedder as people know it, without what tells its endpoints apart.
fn model(embedder: &str) -> &str {
    embedder.rsplit_once('#').map_or(embedder, |(model, _)| model)
}

pub(crate) async fn status(session: &Session, json: bool) -> anyhow::Result<u8> {
    let response = pikerag_engine::status(session).await?;
    if json {
        return say_json(&response);
    }
    let StatusResponse {
        base,
        root,
        summary,
        originals,
        embedder,
        no_embedder,
        waiting,
        stale,
        gone,
        unseen,
        same,
        verified,
        stale_answers,
    } = response;
    say(&format!("knowledge base in {}, of files in {}", base.display(), root.display()));
    say(&format!(
        "  {}, {}, {}, {}",
        count(summary.files, "file"),
        count(summary.sources, "document"),
        count(summary.sections, "section"),
        count(summary.chunks, "chunk")
    ));
    say(&format!(
        "  {}, {}",
        count(summary.questions, "atomic question"),
        count(summary.sentences, "sentence")
    ));
    if summary.statements + summary.records > 0 {
        say(&format!(
            "  {}, {}",
            count(summary.statements, "atomic statement"),
            count(summary.records, "record")
        ));
    }
    if summary.entities + summary.summaries > 0 {
        say(&format!(
            "  {}, {}, {} with {}; {}",
            count(summary.entities, "entity"),
            count(summary.relations, "relation"),
            count(summary.communities, "community"),
            count(summary.reports, "report"),
            count(summary.summaries, "summary")
        ));
    }
    if summary.tags > 0 {
        say(&format!("  {}", count(summary.tags, "tag")));
    }
    if let Some(reason) = &no_embedder {
        note(&format!("the embedder cannot be used: {reason}; see `pikerag doctor`"));
    }
    let made_by = match (&summary.embedder, embedder) {
        (Some(made_by), _) => model(made_by).to_owned(),
        (None, Some(embedder)) => format!("{} makes them", model(&embedder)),
        (None, None) => "no embedder: words alone".to_owned(),
    };
    say(&format!("  {} ({made_by})", count(summary.vectors, "vector")));
    say(&format!(
        "  {} on record, {} + {} tokens",
        count(summary.calls, "model call"),
        summary.usage.prompt_tokens,
        summary.usage.completion_tokens
    ));
    if originals.files + originals.without > 0 {
        say(&format!(
            "  {} kept as they were read, {:.1} MiB; {} not",
            count(originals.files, "file"),
            originals.bytes as f64 / f64::from(1 << 20),
            originals.without
        ));
    }
    if 0 < verified {
        say(&format!("  {}", count(verified, "verified answer")));
    }
    tell_stale_answers(stale_answers);
    tell_open(&waiting, &summary.refused, &stale);
    tell_same(&same);
    tell_gone(&gone);
    tell_unseen(&unseen);
    Ok(0)
}

/// What the next run of indexing would do, and what models refused.
fn tell_open(waiting: &[Backlog], refused: &[RefusalCount], stale: &[Structure]) {
    for Backlog { stage, count: left } in waiting {
        let what = match stage.as_str() {
            "vectors" => "text",
            "document summaries" => "document",
            _ => "chunk",
        };
        let wait = if *left == 1 { "waits" } else { "wait" };
        say(&format!("  {} {wait} for {stage}", count(*left, what)));
    }
    for refused in refused {
        let was = match refused.cause {
            RefusalCause::Refused => "refused",
            RefusalCause::Unreadable => "answered unreadably",
        };
        say(&format!(
            "  {}: {} {was}, such as {} ({}); {}",
            mark_in_words(&refused.stage),
            refused.count,
            one_line(&refused.label),
            short(&refused.reason, 160),
            advice::REFUSED
        ));
    }
    for structure in stale {
        let wait = if *structure == Structure::Tags { "wait" } else { "waits" };
        say(&format!("  the {structure} {wait} to be built"));
    }
    if !waiting.is_empty() || !stale.is_empty() {
        say("  run `pikerag index PATH…` again to go on");
    }
}

pub(crate) async fn export(session: &Session, arguments: &Export) -> anyhow::Result<u8> {
    let export = pikerag_engine::export(session).await?;
    write_to(arguments.output.as_deref(), |writer| Ok(export.write(writer)?))?;
    Ok(0)
}

/// Writes to a new file, or to standard output: exactly, or plain where that is a terminal.
pub(super) fn write_to<T>(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    match path {
        Some(path) => {
            let file = std::fs::File::create(path)
                .with_context(|| format!("{} is not written", path.display()))?;
            through(BufWriter::new(file), write)
        }
        None => {
            let stdout = std::io::stdout();
            let is_terminal = stdout.is_terminal();
            let quiet = Quiet(stdout.lock());
            match is_terminal {
                true => through(BufWriter::new(Shown::on(quiet)), write),
                false => through(BufWriter::new(quiet), write),
            }
        }
    }
}

/// Writes all of it: what is still in a buffer when that is dropped may be lost, and nobody hears of it.
fn through<T>(
    mut to: impl Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let written = write(&mut to)?;
    to.flush()?;
    Ok(written)
}

/// A reader that has seen enough (`| head`) ends the program quietly, as tools do.
pub(super) struct Quiet<W: Write>(pub(super) W);

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        quiet_end(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        quiet_end(self.0.flush())
    }
}

fn quiet_end<T>(written: std::io::Result<T>) -> std::io::Result<T> {
    if written.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
    written
}
