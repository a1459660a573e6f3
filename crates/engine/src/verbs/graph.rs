//! Counts the graph, shows the surroundings of a node, and exports the graph for other programs
//! (`graph`).

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use pikerag_knowledge::LayerKind;
use pikerag_store::{ExportLine, Line as Each};
use serde::Serialize;
use utoipa::ToSchema;

use crate::base::Base;
use crate::engine::Session;
use crate::engine::blocking;
use crate::error::{EngineError, Missing, Result};
use crate::graph::{
    self, Around, Line, Node, NodeId, Selection, TreeLine, around, find, graphml, html, select,
};

/// The most nodes that are shown around a node.
const MOST: usize = 500;

/// The counts of the graph's nodes and edges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphSummary {
    /// Nodes by layer and kind.
    pub nodes: BTreeMap<LayerKind, BTreeMap<String, usize>>,
    /// Edges by kind: `contains`, `refers_to`, …
    pub edges: BTreeMap<String, usize>,
}

/// The node whose surroundings are requested.
#[derive(Clone, Debug)]
pub struct GraphAroundRequest {
    /// An identifier, a document's path or title, or the name of an entity.
    pub of: String,
    /// The most edges away from the node.
    pub depth: u8,
    /// The most nodes, up to 500.
    pub most: usize,
}

/// A node and the nodes around it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphAround {
    /// The identifier of the node in the middle.
    pub of: String,
    /// The node and those around it, by identifier.
    pub nodes: Vec<GraphNode>,
    /// The edges among them.
    pub edges: Vec<GraphEdge>,
    /// Nodes at the same distance that exceed the limit.
    pub left_out: usize,
    /// The number of other nodes with this name.
    #[serde(skip)]
    pub others: usize,
    /// The tree that begins at the node, line by line.
    #[serde(skip)]
    pub tree: Vec<TreeLine>,
}

/// The part of the graph that a person can view: the documents with most edges, their chunks, and
/// the nodes derived from those.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GraphOverview {
    /// The nodes, by identifier.
    pub nodes: Vec<GraphNode>,
    /// The edges among them.
    pub edges: Vec<GraphEdge>,
    /// All nodes of the graph, shown or not.
    pub of: usize,
}

/// A node for display.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct GraphNode {
    /// The identifier, as edges name it.
    pub id: String,
    /// `source`, `chunk`, `atom`, …
    pub node: String,
    /// The sort within the kind; may be empty.
    pub kind: String,
    /// The layer of the paper's graph that it belongs to.
    pub layer: LayerKind,
    /// The name.
    pub label: String,
    /// The text.
    pub text: String,
    /// The URI of its document; may be empty.
    pub uri: String,
    /// The page, if the document has pages.
    #[schema(required)]
    pub page: Option<u64>,
}

/// An edge for display, from `from` to `to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphEdge {
    /// `contains`, `refers_to`, …
    pub edge: String,
    /// The node that it leads from.
    pub from: String,
    /// The node that it leads to.
    pub to: String,
}

/// The format of the exported graph.
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
    /// One JSON object per node and edge, with all data.
    #[default]
    Jsonl,
    /// XML for graph programs.
    Graphml,
    /// One self-contained HTML page.
    Html,
}

/// The part of the graph to export, and the format.
#[derive(Clone, Debug)]
pub struct GraphExportRequest {
    /// The format of the file.
    pub format: GraphFormat,
    /// Exports only the surroundings of this node (only for a page).
    pub of: Option<String>,
    /// The most nodes of a page.
    pub nodes: usize,
}

/// A base that is open for the export of its graph.
pub struct GraphExport {
    base: Base,
    request: GraphExportRequest,
    /// The node in the middle of the page.
    start: Option<Node>,
}

/// The counts of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphDrawn {
    /// Nodes on the page.
    pub shown: usize,
    /// All nodes of the graph, shown or not.
    pub nodes: usize,
    /// Nodes that exceed the limit.
    pub left_out: usize,
}

/// Counts nodes and edges by kind.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let summary = pikerag_engine::graph_summary(session).await?;
/// for (layer, kinds) in &summary.nodes {
///     println!("{layer:?}: {kinds:?}");
/// }
/// # Ok(())
/// # }
/// ```
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

/// A node with its neighbours; the rest of the graph is not read.
///
/// # Errors
/// [`EngineError::NotFound`]; there is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{GraphAroundRequest, graph_around};
///
/// let request = GraphAroundRequest { of: "Ada Lovelace".to_owned(), depth: 2, most: 50 };
/// for edge in graph_around(session, request).await?.edges {
///     println!("{} {} {}", edge.from, edge.edge, edge.to);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn graph_around(session: &Session, request: GraphAroundRequest) -> Result<GraphAround> {
    let base = session.visible_base().await?;
    let read = move || {
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
    blocking(read).await?
}

/// A selection of at most `most` nodes, up to 500. It reads the whole graph.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let overview = pikerag_engine::graph_overview(session, 300).await?;
/// println!("{} of {} nodes", overview.nodes.len(), overview.of);
/// # Ok(())
/// # }
/// ```
pub async fn graph_overview(session: &Session, most: usize) -> Result<GraphOverview> {
    let place = session.engine().long_read().await?;
    let base = session.visible_base().await?;
    let read = move || {
        let selection = select(&all(&base), &edges(&base), most.clamp(1, MOST))?;
        let (nodes, edges) = shown_of(&selection.around);
        Ok(GraphOverview { nodes, edges, of: selection.nodes })
    };
    place.run(read).await?
}

/// Opens the base for the export of its graph. Errors thus occur before an output file exists.
///
/// # Errors
/// There is no base; [`EngineError::NotFound`].
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{GraphExportRequest, GraphFormat, graph_export};
///
/// let place = session.engine().export().await?;
/// let request = GraphExportRequest { format: GraphFormat::Html, of: None, nodes: 300 };
/// let export = graph_export(session, request).await?;
/// let mut file = std::fs::File::create("graph.html")?;
/// if let Some(drawn) = place.run(move || export.write(&mut file)).await?? {
///     println!("{} of {} nodes", drawn.shown, drawn.nodes);
/// }
/// # Ok(())
/// # }
/// ```
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
    /// Writes the graph; for a page, it returns the counts.
    ///
    /// # Errors
    /// The base cannot be read, or `writer` fails.
    pub fn write(&self, writer: &mut (dyn Write + Send)) -> Result<Option<GraphDrawn>> {
        let drawn = match self.request.format {
            GraphFormat::Jsonl => {
                self.base.export(&mut |line| writeln!(writer, "{line}"))?;
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

/// The whole graph, line by line.
fn all(base: &Base) -> impl Fn(Each<'_>) -> Result<()> + '_ {
    |each: Each<'_>| Ok(base.export(each)?)
}

/// The edges of the graph, line by line.
fn edges(base: &Base) -> impl Fn(Each<'_>) -> Result<()> + '_ {
    |each: Each<'_>| Ok(base.export_edges(each)?)
}

fn by_id(base: &Base) -> impl Fn(&[NodeId]) -> Result<Vec<ExportLine>> + '_ {
    |ids: &[NodeId]| Ok(base.nodes_by_id(ids)?)
}

fn edges_of(base: &Base) -> impl Fn(&[NodeId]) -> Result<Vec<ExportLine>> + '_ {
    |ids: &[NodeId]| Ok(base.edges_of(ids)?)
}

/// The node with this name, and the number of others with it.
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
