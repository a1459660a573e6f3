//! Runs `graph`: counts nodes and edges, shows a node with its neighbours, or exports the graph.

use pikerag_engine::knowledge::LayerKind;
use pikerag_engine::{GraphAroundRequest, GraphExportRequest, GraphSummary, Session};

use super::inspect::write_to;
use crate::cli::{Graph, GraphCommand, GraphExport};
use crate::output::{Output, say, say_json};
use crate::render::count;
use crate::words;

pub(crate) async fn graph(
    session: &Session,
    output: Output,
    arguments: &Graph,
) -> anyhow::Result<u8> {
    match (&arguments.command, &arguments.of) {
        (Some(GraphCommand::Export(export)), _) => self::export(session, export, output).await,
        (None, Some(of)) => show(session, output, of, arguments.depth).await,
        (None, None) => summary(output, &pikerag_engine::graph_summary(session).await?),
    }
}

fn summary(output: Output, summary: &GraphSummary) -> anyhow::Result<u8> {
    let Output { json, language } = output;
    if json {
        return say_json(summary);
    }
    let layers = [
        (LayerKind::Source, language.either("I  documents", "I  文档")),
        (LayerKind::Corpus, language.either("C  sections and chunks", "C  章节与文本块")),
        (LayerKind::Distilled, language.either("D  distilled from chunks", "D  由文本块提炼")),
    ];
    for (layer, name) in layers {
        say(name);
        for (kind, n) in summary.nodes.get(&layer).into_iter().flatten() {
            say(&format!("   {n:>8}  {}", words::nodes(kind, *n, language)));
        }
    }
    say(language.either("edges", "边"));
    for (kind, n) in &summary.edges {
        say(&format!("   {n:>8}  {}", words::edges(kind, language)));
    }
    Ok(0)
}

async fn show(session: &Session, output: Output, of: &str, depth: u8) -> anyhow::Result<u8> {
    let found = pikerag_engine::graph_around(
        session,
        GraphAroundRequest { of: of.to_owned(), depth, most: usize::MAX },
    )
    .await?;
    if 0 < found.others {
        let others = found.others;
        output.note(
            format!(
                "{others} more have this name; `pikerag graph export` shows their identifiers for --of"
            ),
            format!("另有 {others} 个同名节点；`pikerag graph export` 给出供 --of 使用的标识"),
        );
    }
    if output.json {
        return say_json(&found);
    }
    for line in &found.tree {
        say(&words::tree_line(line, output.language));
    }
    if 0 < found.left_out {
        let n = found.left_out;
        output.note(
            format!("{} further away left out", count(n, "node")),
            format!("略去较远的 {n} 个节点"),
        );
    }
    Ok(0)
}

async fn export(session: &Session, arguments: &GraphExport, output: Output) -> anyhow::Result<u8> {
    let export = pikerag_engine::graph_export(
        session,
        GraphExportRequest {
            format: arguments.format,
            of: arguments.of.clone(),
            nodes: arguments.nodes.get(),
        },
    )
    .await?;
    // Writing a graph blocks its thread.
    let drawn = tokio::task::block_in_place(|| {
        write_to(arguments.output.as_deref(), |writer| Ok(export.write(writer)?))
    })?;
    if let Some(drawn) = drawn.filter(|drawn| 0 < drawn.left_out) {
        let (shown, nodes) = (drawn.shown, drawn.nodes);
        output.note(
            format!(
                "{shown} of {} shown; --nodes shows more, --of shows the neighbours of one",
                count(nodes, "node")
            ),
            format!(
                "显示 {nodes} 个节点中的 {shown} 个；--nodes 显示更多，--of 显示一个节点的相邻节点"
            ),
        );
    }
    Ok(0)
}
