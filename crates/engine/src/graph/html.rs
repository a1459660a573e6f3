//! Writes the graph as one HTML page with the three layers as bands. The page loads nothing from
//! elsewhere; it works light and dark, by mouse and keyboard, in English and Chinese.

use std::collections::HashMap;

use pikerag_knowledge::LayerKind;
use pikerag_prompt::{Markup, MarkupError};
use serde_json::json;

use super::{Node, NodeId, Selection};

/// The most characters of a text in the page.
const SHOWN: usize = 2000;

/// The page; `start` is selected when it opens.
pub(crate) fn html(
    selection: &Selection,
    start: Option<NodeId>,
    title: &str,
) -> Result<String, MarkupError> {
    let mut nodes: Vec<&Node> = selection.around.nodes.values().collect();
    // Sorted by layer, then documents by name and the rest by document and identifier, so that the
    // same base gives the same page.
    nodes.sort_by(|a, b| (a.layer, &a.uri, a.id).cmp(&(b.layer, &b.uri, b.id)));
    let place: HashMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(place, node)| (node.id, place)).collect();
    let shown: Vec<_> = nodes
        .iter()
        .map(|node| {
            let layer = match node.layer {
                LayerKind::Source => 0,
                LayerKind::Corpus => 1,
                LayerKind::Distilled => 2,
            };
            json!([
                format!("{:016x}", node.id),
                node.kind,
                node.sort,
                layer,
                node.label,
                cut(&node.text),
                node.uri,
                node.page,
            ])
        })
        .collect();
    let edges: Vec<_> = selection
        .around
        .edges
        .iter()
        .filter_map(|edge| {
            let (from, to) = (place.get(&edge.from)?, place.get(&edge.to)?);
            let chunk = edge.chunk.and_then(|chunk| place.get(&chunk));
            Some(json!([from, to, edge.kind, edge.how, chunk]))
        })
        .collect();
    let data = json!({
        "nodes": shown, "edges": edges, "start": start.and_then(|id| place.get(&id)),
        "total": {"nodes": selection.nodes, "edges": selection.edges}, "left_out": selection.around.left_out,
    });
    let page = Markup::new(&[
        ("graph.html", include_str!("templates/graph.html")),
        ("graph.css", include_str!("templates/graph.css")),
        ("graph.js", include_str!("templates/graph.js")),
    ])?;
    page.render("graph.html", json!({ "title": title, "data": data }))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::select;
    use crate::graph::tests::export;

    /// Any text stays data, and the page loads nothing from elsewhere.
    #[test]
    fn the_page_is_self_contained_and_escapes_texts() {
        let mut selection = select(&export, &export, 100).unwrap();
        if let Some(node) = selection.around.nodes.get_mut(&4) {
            node.text = "</script><script>alert(1)</script>".to_owned();
        }
        let page = html(&selection, Some(4), "a <b> & c").unwrap();
        assert_eq!(page.matches("<script").count(), 2);
        assert!(page.contains("<title>a &lt;b&gt; &amp; c</title>"));
        assert!(page.contains("\\u003c/script\\u003e") && page.contains("手册"));
        for outside in ["http:", "https:", "@import", "url("] {
            let inside = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!inside.contains(outside), "{outside} is in the page");
        }
    }
}
