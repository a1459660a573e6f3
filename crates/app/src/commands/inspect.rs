//! `status` and `export`: what is in the base.

use std::io::{BufWriter, Write};

use anyhow::Context;
use pikerag_coordinate::ingest::mark_in_words;
use pikerag_knowledge::KnowledgeBase;

use crate::cli::Export;
use crate::output::{say, say_json};
use crate::render::count;
use crate::wiring::Wiring;
use crate::words;

pub(crate) async fn status(wiring: &Wiring) -> anyhow::Result<u8> {
    let base = wiring.base()?;
    let summary = base.summary().await?;
    if wiring.json {
        say_json(&serde_json::json!({ "base": base.folder(), "summary": summary }))?;
        return Ok(0);
    }
    say(&format!("knowledge base in {}", base.folder().display()));
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
    let embedder = summary.embedder.as_deref().unwrap_or("no embedder: words alone");
    say(&format!("  {} ({embedder})", count(summary.vectors, "vector")));
    say(&format!(
        "  {} on record, {} + {} tokens",
        count(summary.calls, "model call"),
        summary.usage.prompt_tokens,
        summary.usage.completion_tokens
    ));
    for (stage, chunks) in &summary.pending {
        say(&format!(
            "  {} wait for {}; run `pikerag index` again to go on",
            count(*chunks, "chunk"),
            mark_in_words(stage)
        ));
    }
    Ok(0)
}

pub(crate) fn export(wiring: &Wiring, arguments: &Export) -> anyhow::Result<u8> {
    let base = wiring.base()?;
    match &arguments.output {
        Some(path) => {
            let file = std::fs::File::create(path)
                .with_context(|| format!("{} is not written", path.display()))?;
            let mut writer = BufWriter::new(file);
            base.export(|line| writeln!(writer, "{line}"))?;
            writer.flush()?;
        }
        None => {
            let mut writer = BufWriter::new(std::io::stdout().lock());
            base.export(|line| quiet_end(writeln!(writer, "{line}")))?;
            quiet_end(writer.flush())?;
        }
    }
    Ok(0)
}

/// A reader that has seen enough (`| head`) ends the program quietly, as tools do.
pub(super) fn quiet_end(written: std::io::Result<()>) -> std::io::Result<()> {
    if written.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
    written
}
