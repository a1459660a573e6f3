//! Selects the nodes of a page if a base has too many: the documents with most edges, their chunks
//! with most edges, and the nodes derived from those.

use std::collections::{BTreeMap, HashMap, HashSet};

use pikerag_knowledge::LayerKind;

use super::around::{Around, Export};
use super::{Line, NodeId, is_contains, line};

/// Layer and kind of each node; kinds are numbers, in the order of the export.
type Kinds = HashMap<NodeId, (LayerKind, u8)>;

/// The nodes and edges of a page, and the totals of the graph.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) around: Around,
    /// Nodes and edges of the whole graph.
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
}

/// At most `most` nodes: all of them, or one eighth documents and three eighths sections and
/// chunks.
pub(crate) fn select(
    nodes: Export<'_>,
    edges: Export<'_>,
    most: usize,
) -> crate::Result<Selection> {
    let mut layers = Kinds::new();
    let mut names: Vec<String> = Vec::new();
    let mut degree: HashMap<NodeId, u32> = HashMap::new();
    let mut parent: HashMap<NodeId, NodeId> = HashMap::new();
    let mut selection = Selection::default();
    nodes(&mut |value| {
        match line(&value) {
            Some(Line::Node(node)) => {
                selection.nodes += 1;
                // Relations are drawn as edges between entities.
                if node.kind != "relation" {
                    let place = names.iter().position(|name| *name == node.kind);
                    let kind = place.unwrap_or(names.len()) as u8;
                    layers.insert(node.id, (node.layer, kind));
                    if place.is_none() {
                        names.push(node.kind);
                    }
                }
            }
            Some(Line::Edge(edge)) => {
                selection.edges += 1;
                *degree.entry(edge.from).or_default() += 1;
                *degree.entry(edge.to).or_default() += 1;
                if is_contains(&edge) {
                    parent.insert(edge.to, edge.from);
                }
            }
            None => {}
        }
        Ok(())
    })?;
    let held: HashSet<NodeId> = match layers.len() <= most {
        true => layers.keys().copied().collect(),
        false => choose(edges, most, &layers, &degree, &parent)?,
    };
    collect(nodes, &held, &mut selection.around)?;
    selection.around.left_out = selection.nodes.saturating_sub(held.len());
    Ok(selection)
}

/// Reads the nodes of a set and the edges among them.
fn collect(export: Export<'_>, held: &HashSet<NodeId>, around: &mut Around) -> crate::Result<()> {
    export(&mut |value| {
        match line(&value) {
            Some(Line::Node(node)) if held.contains(&node.id) => {
                around.nodes.insert(node.id, node);
            }
            Some(Line::Edge(edge)) if held.contains(&edge.from) && held.contains(&edge.to) => {
                around.edges.push(edge);
            }
            _ => {}
        }
        Ok(())
    })?;
    around.edges.sort();
    Ok(())
}

fn choose(
    edges: Export<'_>,
    most: usize,
    layers: &Kinds,
    degree: &HashMap<NodeId, u32>,
    parent: &HashMap<NodeId, NodeId>,
) -> crate::Result<HashSet<NodeId>> {
    let best = |mut ids: Vec<NodeId>, n: usize| {
        let of = |id: &NodeId| degree.get(id).copied().unwrap_or_default();
        ids.sort_by(|a, b| of(b).cmp(&of(a)).then(a.cmp(b)));
        ids.truncate(n);
        ids
    };
    let in_layer = |layer: LayerKind| {
        layers.iter().filter(move |(_, (of, _))| *of == layer).map(|(id, _)| *id)
    };
    let mut held: HashSet<NodeId> =
        best(in_layer(LayerKind::Source).collect(), (most / 8).max(1)).into_iter().collect();
    // A section or chunk with all its ancestors. The depth is bounded, whatever the edges say.
    let path = |id: NodeId| {
        let mut path = vec![id];
        while let Some(above) =
            path.last().and_then(|id| parent.get(id)).filter(|_| path.len() < 16)
        {
            path.push(*above);
        }
        path
    };
    let inside = in_layer(LayerKind::Corpus)
        .filter(|id| path(*id).last().is_some_and(|root| held.contains(root)))
        .collect();
    for id in best(inside, most / 2) {
        if held.len() < most / 2 {
            held.extend(path(id));
        }
    }
    // First the nodes derived from these; then, up to the limit, the nodes derived from those:
    // communities, summaries.
    for most in [most - most / 8, most] {
        let mut made: BTreeMap<u8, HashSet<NodeId>> = BTreeMap::new();
        edges(&mut |value| {
            if let Some(Line::Edge(edge)) = line(&value) {
                for (near, far) in [(edge.from, edge.to), (edge.to, edge.from)] {
                    if let Some((LayerKind::Distilled, kind)) = layers.get(&far)
                        && held.contains(&near)
                        && !held.contains(&far)
                    {
                        made.entry(*kind).or_default().insert(far);
                    }
                }
            }
            Ok(())
        })?;
        // Each kind has an equal share; an unused rest goes to the other kinds.
        let mut made: Vec<Vec<NodeId>> =
            made.into_values().map(|ids| ids.into_iter().collect()).collect();
        made.sort_by_key(Vec::len);
        while let Some(ids) = made.first().cloned() {
            let free = most.saturating_sub(held.len());
            held.extend(best(ids, free / made.len()));
            made.remove(0);
        }
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::export;

    #[test]
    fn shows_few_nodes_all_and_selects_among_many() {
        let all = select(&export, &export, 100).unwrap();
        assert_eq!(
            (all.nodes, all.edges, all.around.nodes.len(), all.around.left_out),
            (8, 7, 8, 0)
        );
        let few = select(&export, &export, 6).unwrap();
        let mut shown: Vec<NodeId> = few.around.nodes.keys().copied().collect();
        shown.sort_unstable();
        assert_eq!((shown, few.around.left_out), (vec![1, 3, 4, 6, 7, 8], 2));
        assert!(few.around.edges.iter().all(|edge| edge.from != 2 && edge.to != 2));
    }
}
