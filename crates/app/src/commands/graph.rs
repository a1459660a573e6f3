//! `graph`: what the base consists of, what stands around a node, and the graph for other programs.

use pikerag_engine::knowledge::LayerKind;
use pikerag_engine::{GraphAroundRequest, GraphExportRequest, GraphSummary, Session, called};

use super::inspect::write_to;
use crate::cli::{Graph, GraphCommand, GraphExport};
use crate::output::{note, say, say_json};
use crate::render::count;
use crate::words;

pub(crate) async fn graph(session: &Session, json: bool, arguments: &Graph) -> anyhow::Result<u8> {
    match (&arguments.command, &arguments.of) {
        (Some(GraphCommand::Export(export)), _) => self::export(session, export).await,
        (None, Some(of)) => show(session, json, of, arguments.depth).await,
        (None, None) => summary(json, &pikerag_engine::graph_summary(session).await?),
    }
}

fn summary(json: bool, summary: &GraphSummary) -> anyhow::Result<u8> {
    if json {
        return say_json(summary);
    }
    let layers = [
        (LayerKind::Source, "I  documents"),
        (LayerKind::Corpus, "C  sections and chunks"),
        (LayerKind::Distilled, "D  distilled from chunks"),
    ];
    for (layer, name) in layers {
        say(name);
        for (kind, n) in summary.nodes.get(&layer).into_iter().flatten() {
            say(&format!("   {n:>8}  {}", words::nodes(kind, *n)));
        }
    }
    say("edges");
    for (kind, n) in &summary.edges {
        say(&format!("   {n:>8}  {}", called(kind)));
    }
    Ok(0)
}

async fn show(session: &Session, json: bool, of: &str, depth: u8) -> anyhow::Result<u8> {
    let found = pikerag_engine::graph_around(
        session,
        GraphAroundRequest { of: of.to_owned(), depth, most: usize::MAX },
    )
    .await?;
    if 0 < found.others {
        note(&format!(
            "{} more are called so; `pikerag graph export` has their identifiers, and --of takes one",
            found.others
        ));
    }
    if json {
        return say_json(&found);
    }
    for line in &found.tree {
        say(line);
    }
    if 0 < found.left_out {
        note(&format!("{} further away are left out", count(found.left_out, "node")));
    }
    Ok(0)
}

async fn export(session: &Session, arguments: &GraphExport) -> anyhow::Result<u8> {
    let export = pikerag_engine::graph_export(
        session,
        GraphExportRequest {
            format: arguments.format,
            of: arguments.of.clone(),
            nodes: arguments.nodes.get(),
        },
    )
    .await?;
    let drawn = write_to(arguments.output.as_deref(), |writer| Ok(export.write(writer)?))?;
    if let Some(drawn) = drawn.filter(|drawn| 0 < drawn.left_out) {
        note(&format!(
            "{} of {} shown; --nodes shows more, --of what stands around one",
            drawn.shown,
            count(drawn.nodes, "node")
        ));
    }
    Ok(0)
}
