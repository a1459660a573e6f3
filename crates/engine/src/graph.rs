//! Shows and exports the graph from the lines of the export: counts, the surroundings of a node,
//! GraphML for graph programs, an HTML page.

mod around;
mod graphml;
mod html;
mod select;

use pikerag_knowledge::{EdgeKind, LayerKind};
use pikerag_store::ExportLine;
use serde_json::Value;

pub(crate) use around::{Around, around, find};
pub use around::{TreeEdge, TreeEnd, TreeLine, called};
pub(crate) use graphml::graphml;
pub(crate) use html::html;
pub(crate) use select::{Selection, select};

/// The most characters of a label.
const LABEL: usize = 80;

/// A node's identifier, as a number, so that all identifiers of a large base fit into memory.
pub(crate) type NodeId = u64;

/// A line of the export.
pub(crate) enum Line {
    Node(Node),
    Edge(Edge),
}

/// A node as graph programs and pages show it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) id: NodeId,
    /// `source`, `chunk`, `atom`, …: as in the export.
    pub(crate) kind: String,
    /// The sort within the kind: a table, a question, a schema; may be empty.
    pub(crate) sort: String,
    pub(crate) layer: LayerKind,
    pub(crate) label: String,
    /// The text; empty for documents, whose chunks hold it.
    pub(crate) text: String,
    /// The URI of its document; may be empty.
    pub(crate) uri: String,
    pub(crate) page: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    /// The kind, as in the export.
    pub(crate) kind: String,
    /// For `refers_to`, the means: a link, a title, …; otherwise empty.
    pub(crate) how: String,
    /// For `refers_to`, the chunk that contains the reference.
    pub(crate) chunk: Option<NodeId>,
}

/// Reads a line; `None` for a kind that this version does not know.
pub(crate) fn line(value: &ExportLine) -> Option<Line> {
    if let Some(kind) = value.get("edge").and_then(Value::as_str) {
        return Some(Line::Edge(Edge {
            from: id(value, "from")?,
            to: id(value, "to")?,
            kind: kind.to_owned(),
            how: text(value, "how"),
            chunk: id(value, "chunk"),
        }));
    }
    let kind = value.get("node").and_then(Value::as_str)?;
    let layer = match kind {
        "source" => LayerKind::Source,
        "section" | "chunk" => LayerKind::Corpus,
        _ => LayerKind::Distilled,
    };
    let (label, body) = name_and_text(kind, value);
    let sort = match kind {
        "source" => text(value, "media_type"),
        "record" => text(value, "schema"),
        _ => text(value, "kind"),
    };
    Some(Line::Node(Node {
        id: id(value, "id")?,
        kind: kind.to_owned(),
        sort,
        layer,
        label: label_of(&label),
        text: body,
        uri: text(value, "uri"),
        page: value.get("page").and_then(Value::as_u64),
    }))
}

/// The name and the text of a node.
fn name_and_text(kind: &str, value: &Value) -> (String, String) {
    match kind {
        "source" => (text(value, "title"), text(value, "summary")),
        "section" => (text(value, "heading"), String::new()),
        "record" => {
            let fields: Vec<String> = value
                .get("fields")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .map(|field| format!("{}: {}", text(field, "name"), text(field, "raw")))
                .collect();
            (fields.first().cloned().unwrap_or_default(), fields.join("\n"))
        }
        "community" => {
            let report = value.get("report").unwrap_or(&Value::Null);
            let members = value.get("members").and_then(Value::as_array).map_or(0, Vec::len);
            let title = text(report, "title");
            let title = if title.is_empty() { format!("{members} entities") } else { title };
            (title, text(report, "summary"))
        }
        _ => {
            let name = ["name", "label", "title"].map(|key| text(value, key));
            let body = ["text", "answer", "description"].map(|key| text(value, key));
            let body = body.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
            let own_name = name.into_iter().find(|name| !name.is_empty() && kind != "chunk");
            (own_name.unwrap_or_else(|| body.clone()), body)
        }
    }
}

fn id(value: &Value, key: &str) -> Option<NodeId> {
    u64::from_str_radix(value.get(key)?.as_str()?, 16).ok()
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The text on one line, cut to [`LABEL`] characters.
fn label_of(text: &str) -> String {
    let shown = |c: char| if c.is_control() && !c.is_whitespace() { '\u{fffd}' } else { c };
    let text: String = text.chars().map(shown).collect();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LABEL) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// Whether the edge leads from a whole to its part.
pub(crate) fn is_contains(edge: &Edge) -> bool {
    serde_json::to_value(EdgeKind::Contains).is_ok_and(|kind| kind == edge.kind.as_str())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The export of a small base.
    pub(crate) const LINES: &str = r#"{"node":"source","id":"0000000000000001","uri":"a.md","title":"Crane <Manual> & 手册","media_type":"text/markdown"}
{"node":"source","id":"0000000000000002","uri":"b.md","title":"Tea","media_type":"text/markdown"}
{"node":"section","id":"0000000000000003","heading":"Use"}
{"node":"chunk","id":"0000000000000004","uri":"a.md","title":"Crane","kind":"text","page":3,"text":"The crane lifts\nforty tons.\u0007"}
{"node":"chunk","id":"0000000000000005","uri":"b.md","title":"Tea","kind":"table","text":"Tea is hot."}
{"node":"atom","id":"0000000000000006","kind":"question","text":"What lifts?"}
{"node":"record","id":"0000000000000007","schema":"load","uri":"a.md","fields":[{"name":"machine","raw":"crane"},{"name":"tons","raw":"40"}]}
{"node":"entity","id":"0000000000000008","name":"Crane","kind":"machine","description":"It lifts."}
{"edge":"contains","from":"0000000000000001","to":"0000000000000003"}
{"edge":"contains","from":"0000000000000003","to":"0000000000000004"}
{"edge":"contains","from":"0000000000000002","to":"0000000000000005"}
{"edge":"refers_to","from":"0000000000000002","to":"0000000000000001","how":"title","chunk":"0000000000000005"}
{"edge":"answers","from":"0000000000000006","to":"0000000000000004"}
{"edge":"derived_from","from":"0000000000000007","to":"0000000000000004"}
{"edge":"mentions","from":"0000000000000004","to":"0000000000000008"}"#;

    pub(crate) fn export(
        each: &mut (dyn FnMut(ExportLine) -> std::io::Result<()> + Send),
    ) -> crate::Result<()> {
        for line in LINES.lines() {
            each(serde_json::from_str(line).unwrap())?;
        }
        Ok(())
    }

    /// The lines that have one of these identifiers under one of these keys.
    fn among(ids: &[NodeId], keys: &[&str]) -> crate::Result<Vec<ExportLine>> {
        let mut found = Vec::new();
        export(&mut |line| {
            if keys.iter().any(|key| id(&line, key).is_some_and(|id| ids.contains(&id))) {
                found.push(line);
            }
            Ok(())
        })?;
        Ok(found)
    }

    pub(crate) fn by_id(ids: &[NodeId]) -> crate::Result<Vec<ExportLine>> {
        among(ids, &["id"])
    }

    pub(crate) fn edges_of(ids: &[NodeId]) -> crate::Result<Vec<ExportLine>> {
        among(ids, &["from", "to"])
    }

    #[test]
    fn lines_become_nodes_and_edges() {
        let mut shown = Vec::new();
        export(&mut |value| {
            shown.push(match line(&value).unwrap() {
                Line::Node(node) => format!(
                    "{:?} {} {} | {} | {:?}",
                    node.layer, node.kind, node.sort, node.label, node.text
                ),
                Line::Edge(edge) => {
                    format!("{} {:x} -> {:x} {}", edge.kind, edge.from, edge.to, edge.how)
                }
            });
            Ok(())
        })
        .unwrap();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        Source source text/markdown | Crane <Manual> & 手册 | ""
        Source source text/markdown | Tea | ""
        Corpus section  | Use | ""
        Corpus chunk text | The crane lifts forty tons.� | "The crane lifts\nforty tons.\u{7}"
        Corpus chunk table | Tea is hot. | "Tea is hot."
        Distilled atom question | What lifts? | "What lifts?"
        Distilled record load | machine: crane | "machine: crane\ntons: 40"
        Distilled entity machine | Crane | "It lifts."
        contains 1 -> 3 
        contains 3 -> 4 
        contains 2 -> 5 
        refers_to 2 -> 1 title
        answers 6 -> 4 
        derived_from 7 -> 4 
        mentions 4 -> 8
        "#);
        assert!(line(&serde_json::json!({"node": "x"})).is_none());
    }
}
