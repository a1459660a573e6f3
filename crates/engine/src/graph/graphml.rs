//! Writes the graph as GraphML, line by line so that its size does not matter; for Gephi, NetworkX,
//! yEd and similar programs.

use std::borrow::Cow;
use std::io::Write;

use pikerag_knowledge::LayerKind;
use pikerag_prompt::Markup;
use serde::Serialize;

use super::around::Export;
use super::{Edge, Line, Node, NodeId, line};

/// Writes the whole graph.
pub(crate) fn graphml(export: Export<'_>, writer: &mut (dyn Write + Send)) -> crate::Result<()> {
    let templates = Markup::new(&[
        ("node.xml", include_str!("templates/node.xml")),
        ("edge.xml", include_str!("templates/edge.xml")),
    ])?;
    writer.write_all(include_str!("templates/graphml_head.xml").as_bytes())?;
    let mut n_edges = 0_usize;
    export(&mut |value| {
        let written = match line(&value) {
            Some(Line::Node(node)) => templates.render("node.xml", node_element(&node)),
            Some(Line::Edge(edge)) => {
                n_edges += 1;
                templates.render("edge.xml", edge_element(&edge, n_edges))
            }
            None => return Ok(()),
        };
        writer.write_all(written.map_err(std::io::Error::other)?.as_bytes())
    })?;
    writer.write_all(include_str!("templates/graphml_tail.xml").as_bytes())?;
    Ok(())
}

/// An element: its attributes, and its values under the keys that the head declares.
#[derive(Serialize)]
struct Element<'a> {
    id: String,
    /// The nodes that an edge leads from and to; empty for nodes.
    ends: Vec<String>,
    /// Values by key; empty values are omitted.
    data: Vec<(&'static str, Cow<'a, str>)>,
}

fn node_element(node: &Node) -> Element<'_> {
    let layer = match node.layer {
        LayerKind::Source => "source",
        LayerKind::Corpus => "corpus",
        LayerKind::Distilled => "distilled",
    };
    let page = node.page.map(|page| page.to_string()).unwrap_or_default();
    let data = vec![
        ("kind", Cow::from(&node.kind)),
        ("layer", layer.into()),
        ("label", (&node.label).into()),
        ("sort", (&node.sort).into()),
        ("text", (&node.text).into()),
        ("uri", (&node.uri).into()),
        ("page", page.into()),
    ];
    Element { id: hexadecimal(node.id), ends: Vec::new(), data }
}

fn edge_element(edge: &Edge, number: usize) -> Element<'_> {
    let chunk = edge.chunk.map(hexadecimal).unwrap_or_default();
    let data =
        vec![("edge", Cow::from(&edge.kind)), ("how", (&edge.how).into()), ("chunk", chunk.into())];
    let ends = vec![hexadecimal(edge.from), hexadecimal(edge.to)];
    Element { id: format!("e{number}"), ends, data }
}

fn hexadecimal(id: NodeId) -> String {
    format!("{id:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::export;

    #[test]
    fn writes_nodes_and_edges_with_typed_keys() {
        let mut bytes = Vec::new();
        graphml(&export, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let from = text.find("<graph id").unwrap();
        insta::assert_snapshot!(&text[from..], @r#"
        <graph id="pikerag" edgedefault="directed">
        <node id="0000000000000001"><data key="kind">source</data><data key="layer">source</data><data key="label">Crane &lt;Manual&gt; &amp; 手册</data><data key="sort">text&#x2f;markdown</data><data key="uri">a.md</data></node>
        <node id="0000000000000002"><data key="kind">source</data><data key="layer">source</data><data key="label">Tea</data><data key="sort">text&#x2f;markdown</data><data key="uri">b.md</data></node>
        <node id="0000000000000003"><data key="kind">section</data><data key="layer">corpus</data><data key="label">Use</data></node>
        <node id="0000000000000004"><data key="kind">chunk</data><data key="layer">corpus</data><data key="label">The crane lifts forty tons.�</data><data key="sort">text</data><data key="text">The crane lifts
        forty tons.�</data><data key="uri">a.md</data><data key="page">3</data></node>
        <node id="0000000000000005"><data key="kind">chunk</data><data key="layer">corpus</data><data key="label">Tea is hot.</data><data key="sort">table</data><data key="text">Tea is hot.</data><data key="uri">b.md</data></node>
        <node id="0000000000000006"><data key="kind">atom</data><data key="layer">distilled</data><data key="label">What lifts?</data><data key="sort">question</data><data key="text">What lifts?</data></node>
        <node id="0000000000000007"><data key="kind">record</data><data key="layer">distilled</data><data key="label">machine: crane</data><data key="sort">load</data><data key="text">machine: crane
        tons: 40</data><data key="uri">a.md</data></node>
        <node id="0000000000000008"><data key="kind">entity</data><data key="layer">distilled</data><data key="label">Crane</data><data key="sort">machine</data><data key="text">It lifts.</data></node>
        <edge id="e1" source="0000000000000001" target="0000000000000003"><data key="edge">contains</data></edge>
        <edge id="e2" source="0000000000000003" target="0000000000000004"><data key="edge">contains</data></edge>
        <edge id="e3" source="0000000000000002" target="0000000000000005"><data key="edge">contains</data></edge>
        <edge id="e4" source="0000000000000002" target="0000000000000001"><data key="edge">refers_to</data><data key="how">title</data><data key="chunk">0000000000000005</data></edge>
        <edge id="e5" source="0000000000000006" target="0000000000000004"><data key="edge">answers</data></edge>
        <edge id="e6" source="0000000000000007" target="0000000000000004"><data key="edge">derived_from</data></edge>
        <edge id="e7" source="0000000000000004" target="0000000000000008"><data key="edge">mentions</data></edge>
        </graph>
        </graphml>
        "#);
    }
}
