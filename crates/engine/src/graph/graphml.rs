//! What does the graph look like as GraphML? Written line by line, so that its size does not matter; read by
//! Gephi, NetworkX, yEd and the like.

use std::io::Write;

use pikerag_knowledge::LayerKind;

use super::around::Export;
use super::{Edge, Line, Node, line};

/// What nodes and edges say: (identifier, of what, name, type).
const KEYS: [(&str, &str, &str, &str); 10] = [
    ("kind", "node", "kind", "string"),
    ("layer", "node", "layer", "string"),
    ("label", "node", "label", "string"),
    ("sort", "node", "sort", "string"),
    ("text", "node", "text", "string"),
    ("uri", "node", "uri", "string"),
    ("page", "node", "page", "int"),
    ("edge", "edge", "kind", "string"),
    ("how", "edge", "how", "string"),
    ("chunk", "edge", "chunk", "string"),
];

/// Writes the whole graph.
pub(crate) fn graphml(export: Export<'_>, writer: &mut dyn Write) -> crate::Result<()> {
    writeln!(writer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        writer,
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">"
    )?;
    for (id, of, name, kind) in KEYS {
        writeln!(
            writer,
            "<key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
        )?;
    }
    writeln!(writer, "<graph id=\"pikerag\" edgedefault=\"directed\">")?;
    let mut n_edges = 0_usize;
    export(&mut |value| match line(&value) {
        Some(Line::Node(found)) => node(writer, &found),
        Some(Line::Edge(found)) => {
            n_edges += 1;
            edge(writer, &found, n_edges)
        }
        None => Ok(()),
    })?;
    writeln!(writer, "</graph>\n</graphml>")?;
    Ok(())
}

fn node(writer: &mut dyn Write, node: &Node) -> std::io::Result<()> {
    let layer = match node.layer {
        LayerKind::Source => "source",
        LayerKind::Corpus => "corpus",
        LayerKind::Distilled => "distilled",
    };
    write!(writer, "<node id=\"{:016x}\">", node.id)?;
    let page = node.page.map(|page| page.to_string()).unwrap_or_default();
    let told = [
        ("kind", node.kind.as_str()),
        ("layer", layer),
        ("label", &node.label),
        ("sort", &node.sort),
        ("text", &node.text),
        ("uri", &node.uri),
        ("page", &page),
    ];
    data(writer, &told)?;
    writeln!(writer, "</node>")
}

fn edge(writer: &mut dyn Write, edge: &Edge, number: usize) -> std::io::Result<()> {
    write!(
        writer,
        "<edge id=\"e{number}\" source=\"{:016x}\" target=\"{:016x}\">",
        edge.from, edge.to
    )?;
    let chunk = edge.chunk.map(|id| format!("{id:016x}")).unwrap_or_default();
    data(writer, &[("edge", edge.kind.as_str()), ("how", &edge.how), ("chunk", &chunk)])?;
    writeln!(writer, "</edge>")
}

fn data(writer: &mut dyn Write, told: &[(&str, &str)]) -> std::io::Result<()> {
    for (key, value) in told.iter().filter(|(_, value)| !value.is_empty()) {
        write!(writer, "<data key=\"{key}\">{}</data>", escape(value))?;
    }
    Ok(())
}

/// Text as XML 1.0 may hold it: some characters must not even be written as numbers.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::export;

    #[test]
    fn nodes_and_edges_with_typed_keys() {
        let mut bytes = Vec::new();
        graphml(&export, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let from = text.find("<graph id").unwrap();
        insta::assert_snapshot!(&text[from..], @r#"
        <graph id="pikerag" edgedefault="directed">
        <node id="0000000000000001"><data key="kind">source</data><data key="layer">source</data><data key="label">Crane &lt;Manual&gt; &amp; 手册</data><data key="sort">text/markdown</data><data key="uri">a.md</data></node>
        <node id="0000000000000002"><data key="kind">source</data><data key="layer">source</data><data key="label">Tea</data><data key="sort">text/markdown</data><data key="uri">b.md</data></node>
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
        assert_eq!(escape("a\u{1}b\u{ffff}"), "a\u{fffd}b\u{fffd}");
    }
}
