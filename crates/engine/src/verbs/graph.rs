//! `graph`: what the base consists of, what stands around a node, and the graph for other programs.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use pikerag_knowledge::LayerKind;
use pikerag_store::{Base, ExportLine};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Session;
use crate::engine::blocking;
use crate::error::{EngineError, Missing, Result};
use crate::graph::{
    self, Around, Line, Node, NodeId, Selection, around, find, graphml, html, select,
};

/// Nodes around a node that are shown, at most.
const MOST: usize = 500;

/// Of what the graph consists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphSummary {
    /// Nodes by layer and kind.
    pub nodes: BTreeMap<LayerKind, BTreeMap<String, usize>>,
    /// Edges by kind: `contains`, `refers_to`, …
    pub edges: BTreeMap<String, usize>,
}

/// Around which node to look.
#[derive(Clone, Debug)]
pub struct GraphAroundRequest {
    /// An identifier, a document's path or title, the name of an entity.
    pub of: String,
    /// How many edges away.
    pub depth: u8,
    /// Nodes at most; 500, if more.
    pub most: usize,
}

/// A node and what stands around it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphAround {
    /// The identifier of the node in the middle.
    pub of: String,
    /// It and those around it, by identifier.
    pub nodes: Vec<GraphNode>,
    /// The edges among them.
    pub edges: Vec<GraphEdge>,
    /// Nodes that stand as near, and were too many.
    pub left_out: usize,
    /// How many other nodes are called so.
    #[serde(skip)]
    pub others: usize,
    /// The tree that begins at the node, line by line.
    #[serde(skip)]
    pub tree: Vec<String>,
}

/// As much of the graph as can be looked at: documents with most to do with others, what they hold, what was made of that.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphOverview {
    /// By identifier.
    pub nodes: Vec<GraphNode>,
    /// The edges among them.
    pub edges: Vec<GraphEdge>,
    /// Nodes of the graph, shown or not.
    pub of: usize,
}

/// A node as a face shows it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct GraphNode {
    /// As edges name it.
    pub id: String,
    /// `source`, `chunk`, `atom`, …
    pub node: String,
    /// What of its kind; may be empty.
    pub kind: String,
    /// The layer of the paper's graph that it belongs to.
    pub layer: LayerKind,
    /// What it is called.
    pub label: String,
    /// What there is to read.
    pub text: String,
    /// The document it stands in; may be empty.
    pub uri: String,
    /// The page, where there are pages.
    #[schema(required)]
    pub page: Option<u64>,
}

/// An edge as a face shows it, from `from` to `to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphEdge {
    /// `contains`, `refers_to`, …
    pub edge: String,
    /// The node it leads from.
    pub from: String,
    /// The node it leads to.
    pub to: String,
}

/// How to write the graph.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum GraphFormat {
    /// One JSON object per node and edge; all that there is.
    #[default]
    Jsonl,
    /// XML for graph programs.
    Graphml,
    /// One page without any outside part.
    Html,
}

/// What to write of the graph.
#[derive(Clone, Debug)]
pub struct GraphExportRequest {
    /// The format of the file.
    pub format: GraphFormat,
    /// Only what stands around this node (a page).
    pub of: Option<String>,
    /// The most nodes of a page.
    pub nodes: usize,
}

/// A base that is open for the export of its graph.
pub struct GraphExport {
    base: Base,
    request: GraphExportRequest,
    /// What the page is drawn around.
    start: Option<Node>,
}

/// How much of the graph a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphDrawn {
    /// Nodes on the page.
    pub shown: usize,
    /// Nodes of the graph, shown or not.
    pub nodes: usize,
    /// Nodes that were too many.
    pub left_out: usize,
}

/// Counts nodes and edges by kind.
///
/// # Errors
/// There is no base, or it cannot be read.
pub async fn graph_summary(session: &Session) -> Result<GraphSummary> {
    let place = session.engine().long_read().await?;
    let base = session.visible_base().await?;
    place.run(move || summary(&base)).await?
}

fn summary(base: &Base) -> Result<GraphSummary> {
    let mut summary = GraphSummary { nodes: BTreeMap::new(), edges: BTreeMap::new() };
    all(base)(&mut |value| {
        match graph::line(&value) {
            Some(Line::Node(node)) => {
                let kind = match node.kind.as_str() {
                    "atom" | "record" => format!("{} ({})", node.kind, node.sort),
                    _ => node.kind,
                };
                *summary.nodes.entry(node.layer).or_default().entry(kind).or_default() += 1;
            }
            Some(Line::Edge(edge)) => {
                let kind = match edge.how.as_str() {
                    "" => edge.kind,
                    how => format!("{} ({how})", edge.kind),
                };
                *summary.edges.entry(kind).or_default() += 1;
            }
            None => {}
        }
        Ok(())
    })?;
    Ok(summary)
}

/// A node with its neighbours, read without the rest of the graph.
///
/// # Errors
/// [`EngineError::NotFound`]; there is no base, or it cannot be read.
pub async fn graph_around(session: &Session, request: GraphAroundRequest) -> Result<GraphAround> {
    let base = session.visible_base().await?;
    let look = move || {
        let (node, others) = found(&base, &request.of)?;
        let most = request.most.clamp(1, MOST);
        let found = around(&by_id(&base), &edges_of(&base), node.id, request.depth, most)?;
        let (nodes, edges) = shown_of(&found);
        Ok(GraphAround {
            of: shown(node.id),
            nodes,
            edges,
            left_out: found.left_out,
            others,
            tree: found.tree(node.id, request.depth),
        })
    };
    blocking(look).await?
}

/// As many nodes as can be looked at, at most 500. The whole graph is read for it.
///
/// # Errors
/// There is no base, or it cannot be read.
pub async fn graph_overview(session: &Session, most: usize) -> Result<GraphOverview> {
    let place = session.engine().long_read().await?;
    let base = session.visible_base().await?;
    let look = move || {
        let selection = select(&all(&base), &edges(&base), most.clamp(1, MOST))?;
        let (nodes, edges) = shown_of(&selection.around);
        Ok(GraphOverview { nodes, edges, of: selection.nodes })
    };
    place.run(look).await?
}

/// Opens the base for the export of its graph: before anybody makes a file for it.
///
/// # Errors
/// There is no base; [`EngineError::NotFound`].
pub async fn graph_export(session: &Session, request: GraphExportRequest) -> Result<GraphExport> {
    let base = session.visible_base().await?;
    let open = move || {
        let start = match &request.of {
            Some(of) => Some(found(&base, of)?.0),
            None => None,
        };
        Ok(GraphExport { base, request, start })
    };
    blocking(open).await?
}

impl GraphExport {
    /// Writes the graph; how much of it, where it is a page.
    ///
    /// # Errors
    /// The base cannot be read, or `writer` fails.
    pub fn write(&self, writer: &mut dyn Write) -> Result<Option<GraphDrawn>> {
        let drawn = match self.request.format {
            GraphFormat::Jsonl => {
                self.base.export(|line| writeln!(writer, "{line}"))?;
                None
            }
            GraphFormat::Graphml => {
                graphml(&all(&self.base), writer)?;
                None
            }
            GraphFormat::Html => {
                let (selection, start) = self.page()?;
                let title = format!("pikerag graph: {}", self.base.folder().display());
                writer.write_all(html(&selection, start, &title)?.as_bytes())?;
                Some(GraphDrawn {
                    shown: selection.around.nodes.len(),
                    nodes: selection.nodes,
                    left_out: selection.around.left_out,
                })
            }
        };
        writer.flush()?;
        Ok(drawn)
    }

    fn page(&self) -> Result<(Selection, Option<NodeId>)> {
        let (base, most) = (&self.base, self.request.nodes);
        let Some(node) = &self.start else {
            return Ok((select(&all(base), &edges(base), most)?, None));
        };
        let mut totals: HashMap<bool, usize> = HashMap::new();
        all(base)(&mut |value| {
            *totals.entry(value.get("node").is_some()).or_default() += 1;
            Ok(())
        })?;
        let mut around = around(&by_id(base), &edges_of(base), node.id, 3, most)?;
        // Relations are drawn as edges between entities.
        around.nodes.retain(|id, found| found.kind != "relation" || *id == node.id);
        let total = |is_node| totals.get(&is_node).copied().unwrap_or_default();
        let left_out = total(true).saturating_sub(around.nodes.len());
        let around = Around { left_out, ..around };
        Ok((Selection { around, nodes: total(true), edges: total(false) }, Some(node.id)))
    }
}

type Each<'a> = &'a mut dyn FnMut(ExportLine) -> std::io::Result<()>;

/// The whole graph, line by line.
fn all(base: &Base) -> impl Fn(Each<'_>) -> Result<()> + '_ {
    |each: Each<'_>| Ok(base.export(each)?)
}

/// Its edges alone.
fn edges(base: &Base) -> impl Fn(Each<'_>) -> Result<()> + '_ {
    |each: Each<'_>| Ok(base.export_edges(each)?)
}

fn by_id(base: &Base) -> impl Fn(&[NodeId]) -> Result<Vec<ExportLine>> + '_ {
    |ids: &[NodeId]| Ok(base.nodes_by_id(ids)?)
}

fn edges_of(base: &Base) -> impl Fn(&[NodeId]) -> Result<Vec<ExportLine>> + '_ {
    |ids: &[NodeId]| Ok(base.edges_of(ids)?)
}

/// The node that is called so, and how many others are.
fn found(base: &Base, of: &str) -> Result<(Node, usize)> {
    let named = |each: Each<'_>| Ok(base.export_named(each)?);
    let found = find(&by_id(base), &named, &all(base), of)?;
    found.ok_or_else(|| EngineError::NotFound { what: Missing::Node, name: of.to_owned() })
}

fn shown_of(around: &Around) -> (Vec<GraphNode>, Vec<GraphEdge>) {
    let node = |node: &Node| GraphNode {
        id: shown(node.id),
        node: node.kind.clone(),
        kind: node.sort.clone(),
        layer: node.layer,
        label: node.label.clone(),
        text: node.text.clone(),
        uri: node.uri.clone(),
        page: node.page,
    };
    let mut nodes: Vec<GraphNode> = around.nodes.values().map(node).collect();
    nodes.sort_by(|a, b| a.id.cmp(&b.id));
    let edge = |edge: &graph::Edge| GraphEdge {
        edge: edge.kind.clone(),
        from: shown(edge.from),
        to: shown(edge.to),
    };
    (nodes, around.edges.iter().map(edge).collect())
}

fn shown(id: NodeId) -> String {
    format!("{id:016x}")
}
