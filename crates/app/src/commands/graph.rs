//! `graph`: what the base consists of, what stands around a node, and the graph for other programs.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufWriter, Write};

use anyhow::Context;
use pikerag_knowledge::LayerKind;
use pikerag_store::{Base, ExportLine};
use serde_json::{Value, json};

use super::inspect::quiet_end;
use crate::cli::{Graph, GraphCommand, GraphExport, GraphFormat};
use crate::exit;
use crate::graph::{self, Line, Selection, around, called, find, graphml, html, select};
use crate::output::{note, say, say_json};
use crate::render::count;
use crate::wiring::Wiring;
use crate::words;

/// Nodes around a node that are shown as a tree, at most.
const MOST: usize = 500;

#[expect(clippy::unused_async, reason = "as all commands are")]
pub(crate) async fn graph(wiring: &Wiring, arguments: &Graph) -> anyhow::Result<u8> {
    let base = wiring.base()?;
    match (&arguments.command, &arguments.of) {
        (Some(GraphCommand::Export(export)), _) => self::export(&base, export),
        (None, Some(of)) => show(wiring, &base, of, arguments.depth),
        (None, None) => summary(wiring, &base),
    }
}

type Each<'a> = &'a mut dyn FnMut(ExportLine) -> std::io::Result<()>;

/// The whole graph, line by line.
fn all(base: &Base) -> impl Fn(Each<'_>) -> anyhow::Result<()> + '_ {
    |each: Each<'_>| Ok(base.export(each)?)
}

/// Its edges alone.
fn edges(base: &Base) -> impl Fn(Each<'_>) -> anyhow::Result<()> + '_ {
    |each: Each<'_>| Ok(base.export_edges(each)?)
}

fn summary(wiring: &Wiring, base: &Base) -> anyhow::Result<u8> {
    let mut nodes: BTreeMap<(LayerKind, String), usize> = BTreeMap::new();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    all(base)(&mut |value| {
        match graph::line(&value) {
            Some(Line::Node(node)) => {
                let kind = match node.kind.as_str() {
                    "atom" | "record" => format!("{} ({})", node.kind, node.sort),
                    _ => node.kind,
                };
                *nodes.entry((node.layer, kind)).or_default() += 1;
            }
            Some(Line::Edge(edge)) => {
                let kind = match edge.how.as_str() {
                    "" => edge.kind,
                    how => format!("{} ({how})", edge.kind),
                };
                *found.entry(kind).or_default() += 1;
            }
            None => {}
        }
        Ok(())
    })?;
    if wiring.json {
        let mut by_layer: BTreeMap<LayerKind, BTreeMap<&str, usize>> = BTreeMap::new();
        for ((layer, kind), n) in &nodes {
            by_layer.entry(*layer).or_default().insert(kind, *n);
        }
        say_json(&json!({ "nodes": by_layer, "edges": found }))?;
        return Ok(0);
    }
    let layers = [
        (LayerKind::Source, "I  documents"),
        (LayerKind::Corpus, "C  sections and chunks"),
        (LayerKind::Distilled, "D  distilled from chunks"),
    ];
    for (layer, name) in layers {
        say(name);
        for ((_, kind), n) in nodes.iter().filter(|((of, _), _)| *of == layer) {
            say(&format!("   {n:>8}  {}", words::nodes(kind, *n)));
        }
    }
    say("edges");
    for (kind, n) in &found {
        say(&format!("   {n:>8}  {}", called(kind)));
    }
    Ok(0)
}

fn show(wiring: &Wiring, base: &Base, of: &str, depth: u8) -> anyhow::Result<u8> {
    let Some((node, others)) = find(&all(base), of)? else {
        note(&format!("`{of}` is no node of this base; `pikerag graph export` lists them all"));
        return Ok(exit::FAILED);
    };
    if 0 < others {
        note(&format!(
            "{others} more are called so; `pikerag graph export` has their identifiers, and --of takes one"
        ));
    }
    let found = around(&all(base), &edges(base), node.id, depth, MOST)?;
    if wiring.json {
        let mut shown: Vec<Value> = found
            .nodes
            .values()
            .map(|node| {
                json!({ "id": format!("{:016x}", node.id), "node": node.kind, "kind": node.sort, "layer": node.layer,
                    "label": node.label, "text": node.text, "uri": node.uri, "page": node.page })
            })
            .collect();
        shown.sort_by_key(|node| node["id"].to_string());
        let edge = |edge: &graph::Edge| json!({ "edge": edge.kind, "from": format!("{:016x}", edge.from), "to": format!("{:016x}", edge.to) });
        let edges: Vec<Value> = found.edges.iter().map(edge).collect();
        say_json(
            &json!({ "of": format!("{:016x}", node.id), "nodes": shown, "edges": edges, "left_out": found.left_out }),
        )?;
        return Ok(0);
    }
    for line in found.tree(node.id, depth) {
        say(&line);
    }
    if 0 < found.left_out {
        note(&format!("{} further away are left out", count(found.left_out, "node")));
    }
    Ok(0)
}

fn export(base: &Base, arguments: &GraphExport) -> anyhow::Result<u8> {
    match &arguments.output {
        Some(path) => {
            let file = std::fs::File::create(path)
                .with_context(|| format!("{} is not written", path.display()))?;
            let mut writer = BufWriter::new(file);
            write(base, arguments, &mut writer)?;
            writer.flush()?;
        }
        None => {
            let mut writer = Quiet(BufWriter::new(std::io::stdout().lock()));
            write(base, arguments, &mut writer)?;
            writer.flush()?;
        }
    }
    Ok(0)
}

fn write(base: &Base, arguments: &GraphExport, writer: &mut dyn Write) -> anyhow::Result<()> {
    match arguments.format {
        GraphFormat::Jsonl => Ok(base.export(|line| writeln!(writer, "{line}"))?),
        GraphFormat::Graphml => graphml(&all(base), writer),
        GraphFormat::Html => {
            let (selection, start) = page(base, arguments)?;
            let name = base.folder().display().to_string();
            writer.write_all(
                html(&selection, start, &format!("pikerag graph: {name}"))?.as_bytes(),
            )?;
            if 0 < selection.around.left_out {
                note(&format!(
                    "{} of {} shown; --nodes shows more, --of what stands around one",
                    selection.around.nodes.len(),
                    count(selection.nodes, "node")
                ));
            }
            Ok(())
        }
    }
}

fn page(base: &Base, arguments: &GraphExport) -> anyhow::Result<(Selection, Option<u64>)> {
    let Some(of) = &arguments.of else {
        return Ok((select(&all(base), &edges(base), arguments.nodes)?, None));
    };
    let found = find(&all(base), of)?;
    let (node, _) = found.with_context(|| format!("`{of}` is no node of this base"))?;
    let mut totals: HashMap<bool, usize> = HashMap::new();
    all(base)(&mut |value| {
        *totals.entry(value.get("node").is_some()).or_default() += 1;
        Ok(())
    })?;
    let mut around = around(&all(base), &edges(base), node.id, 3, arguments.nodes)?;
    // Relations are drawn as edges between entities.
    around.nodes.retain(|id, found| found.kind != "relation" || *id == node.id);
    let total = |is_node| totals.get(&is_node).copied().unwrap_or_default();
    let left_out = total(true).saturating_sub(around.nodes.len());
    let around = graph::Around { left_out, ..around };
    Ok((Selection { around, nodes: total(true), edges: total(false) }, Some(node.id)))
}

/// A reader that has seen enough (`| head`) ends the program quietly.
struct Quiet<W: Write>(W);

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.0.write(bytes);
        if let Err(error) = &written {
            quiet_end(Err(std::io::Error::from(error.kind())))?;
        }
        written
    }

    fn flush(&mut self) -> std::io::Result<()> {
        quiet_end(self.0.flush())
    }
}
