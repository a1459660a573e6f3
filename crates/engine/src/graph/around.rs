//! Finds a node and the nodes around it. It follows edges in both directions, level by level, and
//! reads nothing else of the graph.

use std::collections::{BTreeMap, HashMap, HashSet};

use pikerag_store::ExportLine;

use super::{Edge, Line, Node, NodeId, line};
use crate::error::Result;

/// Reads the graph once and hands over each line.
pub(crate) type Export<'a> =
    &'a dyn Fn(&mut (dyn FnMut(ExportLine) -> std::io::Result<()> + Send)) -> Result<()>;

/// Reads the lines of a few nodes, or of the edges from and to them.
pub(crate) type Among<'a> = &'a dyn Fn(&[NodeId]) -> Result<Vec<ExportLine>>;

/// Nodes around a node.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// The nodes by identifier.
    pub(crate) nodes: HashMap<NodeId, Node>,
    /// The edges among them, sorted.
    pub(crate) edges: Vec<Edge>,
    /// Nodes at the same distance that exceed the limit.
    pub(crate) left_out: usize,
}

/// The node that a user means, by identifier, URI, name or a part of its name; and the number of
/// others that fit as well. `named` are the nodes that have names for people; they are searched
/// first.
pub(crate) fn find(
    by_id: Among<'_>,
    named: Export<'_>,
    all: Export<'_>,
    wanted: &str,
) -> Result<Option<(Node, usize)>> {
    let wanted = wanted.trim();
    let id = u64::from_str_radix(wanted, 16).ok().filter(|_| wanted.len() == 16);
    if let Some(id) = id {
        for found in by_id(&[id])? {
            if let Some(Line::Node(node)) = line(&found) {
                return Ok(Some((node, 0)));
            }
        }
    }
    match best(named, wanted, true)? {
        Some(found) => Ok(Some(found)),
        None => best(all, wanted, false),
    }
}

fn best(export: Export<'_>, wanted: &str, is_named: bool) -> Result<Option<(Node, usize)>> {
    let folded = wanted.to_lowercase();
    let mut best: Option<(u8, Node, usize)> = None;
    export(&mut |value| {
        let Some(Line::Node(node)) = line(&value) else { return Ok(()) };
        let name = node.label.to_lowercase();
        let rank = match () {
            () if node.kind == "source" && node.uri == wanted => 0,
            () if node.kind == "source" && node.uri.rsplit('/').next() == Some(wanted) => 1,
            () if name == folded => 2,
            () if is_named && name.contains(&folded) => 3,
            () => return Ok(()),
        };
        match &mut best {
            Some((held, _, others)) if *held == rank => *others += 1,
            Some((held, ..)) if *held < rank => {}
            _ => best = Some((rank, node, 0)),
        }
        Ok(())
    })?;
    Ok(best.map(|(_, node, others)| (node, others)))
}

/// The nodes up to `depth` edges away from `start`, at most `most`: the nearest ones, and among
/// equals those with most edges to nodes already taken.
pub(crate) fn around(
    by_id: Among<'_>,
    edges_of: Among<'_>,
    start: NodeId,
    depth: u8,
    most: usize,
) -> Result<Around> {
    let mut held = HashSet::from([start]);
    let mut border = vec![start];
    let mut edges = Vec::new();
    let mut left_out = 0;
    for level in 0..=depth {
        let mut met: Vec<Edge> = Vec::new();
        for value in edges_of(&border)? {
            if let Some(Line::Edge(edge)) = line(&value) {
                met.push(edge);
            }
        }
        let mut next: BTreeMap<NodeId, usize> = BTreeMap::new();
        for edge in &met {
            for (near, far) in [(edge.from, edge.to), (edge.to, edge.from)] {
                if held.contains(&near) && !held.contains(&far) {
                    *next.entry(far).or_default() += 1;
                }
            }
        }
        edges.extend(met);
        if level == depth {
            break;
        }
        let mut next: Vec<(NodeId, usize)> = next.into_iter().collect();
        next.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let free = most.saturating_sub(held.len());
        left_out += next.len().saturating_sub(free);
        next.truncate(free);
        border = next.into_iter().map(|(id, _)| id).collect();
        held.extend(&border);
        if border.is_empty() {
            break;
        }
    }
    let mut ids: Vec<NodeId> = held.into_iter().collect();
    ids.sort_unstable();
    let nodes: HashMap<NodeId, Node> = by_id(&ids)?
        .iter()
        .filter_map(|value| match line(value) {
            Some(Line::Node(node)) => Some((node.id, node)),
            _ => None,
        })
        .collect();
    edges.retain(|edge| nodes.contains_key(&edge.from) && nodes.contains_key(&edge.to));
    edges.sort();
    edges.dedup();
    Ok(Around { nodes, edges, left_out })
}

/// A line of the tree around a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeLine {
    /// The number of edges from the node in the middle.
    pub depth: u8,
    /// The edge that leads here; none for the node in the middle.
    pub edge: Option<TreeEdge>,
    /// The end of the edge.
    pub end: TreeEnd,
}

/// The edge that leads to a line of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEdge {
    /// The kind: `contains`, `refers_to`, …
    pub kind: String,
    /// Whether it leads from this line's node to the one above.
    pub is_inward: bool,
}

/// The nodes at the end of an edge of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEnd {
    /// A node.
    Node {
        /// `source`, `chunk`, `atom`, …
        kind: String,
        /// The sort within the kind; may be empty.
        sort: String,
        /// The identifier.
        id: String,
        /// The name.
        label: String,
    },
    /// A number of further nodes with the same edge.
    More(usize),
}

/// The name of a kind of node or edge for people.
pub fn called(kind: &str) -> String {
    match kind {
        "source" => "document".to_owned(),
        other => other.replace('_', " "),
    }
}

impl Around {
    /// The tree from a node, one line for each node, below its nearest parent.
    pub(crate) fn tree(&self, start: NodeId, depth: u8) -> Vec<TreeLine> {
        const CHILDREN: usize = 12;
        let mut beside: HashMap<NodeId, Vec<(&str, bool, NodeId)>> = HashMap::new();
        for edge in &self.edges {
            beside.entry(edge.from).or_default().push((&edge.kind, true, edge.to));
            beside.entry(edge.to).or_default().push((&edge.kind, false, edge.from));
        }
        let mut lines = Vec::new();
        let mut seen = HashSet::from([start]);
        // The tree is printed depth first, but a node belongs to the first level that reaches it.
        let mut level: HashMap<NodeId, u8> = HashMap::from([(start, 0)]);
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            let next = level.get(&at).copied().unwrap_or_default() + 1;
            for (.., to) in beside.get(&at).into_iter().flatten() {
                if depth < next || level.contains_key(to) {
                    continue;
                }
                level.insert(*to, next);
                queue.push_back(*to);
            }
        }
        let mut open = vec![(0u8, None, Place::Node(start))];
        while let Some((deep, edge, place)) = open.pop() {
            let at = match place {
                Place::Node(at) => at,
                Place::More(n) => {
                    lines.push(TreeLine { depth: deep, edge, end: TreeEnd::More(n) });
                    continue;
                }
            };
            let Some(node) = self.nodes.get(&at) else { continue };
            let Node { kind, sort, label, .. } = node.clone();
            let end = TreeEnd::Node { kind, sort, id: format!("{at:016x}"), label };
            lines.push(TreeLine { depth: deep, edge, end });
            let mut by_edge: BTreeMap<(bool, &str), Vec<NodeId>> = BTreeMap::new();
            for (kind, out, to) in beside.get(&at).into_iter().flatten() {
                if level.get(to) == Some(&(deep + 1)) && seen.insert(*to) {
                    by_edge.entry((!*out, kind)).or_default().push(*to);
                }
            }
            let mut children = Vec::new();
            for ((is_inward, kind), ids) in by_edge {
                let edge = || Some(TreeEdge { kind: kind.to_owned(), is_inward });
                for id in ids.iter().take(CHILDREN) {
                    children.push((deep + 1, edge(), Place::Node(*id)));
                }
                if let Some(more @ 1..) = ids.len().checked_sub(CHILDREN) {
                    children.push((deep + 1, edge(), Place::More(more)));
                }
            }
            open.extend(children.into_iter().rev());
        }
        lines
    }
}

/// The end of an edge that is not yet in the tree.
enum Place {
    Node(NodeId),
    More(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::{by_id, edges_of, export};

    #[test]
    fn finds_nodes_by_identifier_uri_and_name() {
        let named = |wanted: &str| {
            find(&by_id, &export, &export, wanted).unwrap().map(|(node, others)| (node.id, others))
        };
        assert_eq!(named("0000000000000006"), Some((6, 0)));
        assert_eq!(
            [named("a.md"), named("tea"), named("crane")].map(|found| found.unwrap().0),
            [1, 2, 8]
        );
        assert_eq!(named("nothing"), None);
    }

    #[test]
    fn shows_the_tree_around_a_node() {
        let found = around(&by_id, &edges_of, 1, 3, 100).unwrap();
        let shown = |line: TreeLine| {
            let edge = line.edge.map_or_else(String::new, |edge| {
                format!("{} {} ", if edge.is_inward { "<-" } else { "->" }, edge.kind)
            });
            let indent = "  ".repeat(usize::from(line.depth));
            match line.end {
                TreeEnd::Node { kind, sort, id, label } => {
                    format!("{indent}{edge}{kind} {sort} {id} {label}")
                }
                TreeEnd::More(n) => format!("{indent}{edge}{n} more"),
            }
        };
        let lines: Vec<String> = found.tree(1, 3).into_iter().map(shown).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        source text/markdown 0000000000000001 Crane <Manual> & 手册
          -> contains section  0000000000000003 Use
            -> contains chunk text 0000000000000004 The crane lifts forty tons.�
              -> mentions entity machine 0000000000000008 Crane
              <- answers atom question 0000000000000006 What lifts?
              <- derived_from record load 0000000000000007 machine: crane
          <- refers_to source text/markdown 0000000000000002 Tea
            -> contains chunk table 0000000000000005 Tea is hot.
        ");
        let few = around(&by_id, &edges_of, 1, 3, 3).unwrap();
        assert_eq!((few.nodes.len(), few.left_out), (3, 2));
    }
}
