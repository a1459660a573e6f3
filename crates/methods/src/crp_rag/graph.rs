//! Holds a directed acyclic graph of reasoning steps, and finds its sources, its sinks and the paths between
//! them (CRP-RAG §3.1).

use std::collections::{BTreeSet, VecDeque};

/// Paths that are found before the search ends.
const MOST_PATHS: usize = 256;

#[derive(Clone, Debug)]
struct Node {
    text: String,
    /// The nodes that it follows: all were added before it, so there are no cycles.
    after: Vec<usize>,
    /// Nothing has to follow: the last step of its path.
    is_final: bool,
}

/// `G = {V, E}`.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    /// Adds a step after others, and returns its number; without others it is a source.
    pub(super) fn add(&mut self, text: String, after: BTreeSet<usize>, is_final: bool) -> usize {
        let number = self.nodes.len();
        let after = after.into_iter().filter(|node| *node < number).collect();
        self.nodes.push(Node { text, after, is_final });
        number
    }

    /// The number of steps.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The step, in words; empty for a number that no step has.
    pub(super) fn text(&self, node: usize) -> &str {
        self.nodes.get(node).map(|node| node.text.as_str()).unwrap_or_default()
    }

    /// Replaces the text of a step.
    pub(super) fn replace(&mut self, node: usize, text: String) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.text = text;
        }
    }

    /// Marks a step as the last of its paths.
    pub(super) fn finish(&mut self, node: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.is_final = true;
        }
    }

    /// Whether a step begins a path.
    pub(super) fn is_source(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.after.is_empty())
    }

    /// The steps that nothing follows, in order.
    fn sinks(&self) -> Vec<usize> {
        let followed: BTreeSet<usize> =
            self.nodes.iter().flat_map(|node| node.after.iter().copied()).collect();
        (0..self.nodes.len()).filter(|node| !followed.contains(node)).collect()
    }

    /// The sinks that are not the last step yet.
    pub(super) fn open_sinks(&self) -> Vec<usize> {
        let mut sinks = self.sinks();
        sinks.retain(|sink| self.nodes.get(*sink).is_some_and(|node| !node.is_final));
        sinks
    }

    /// All steps that lead to a step, and the step itself, each after those it follows.
    pub(super) fn leading_to(&self, node: usize) -> Vec<usize> {
        let (mut seen, mut open) = (BTreeSet::from([node]), vec![node]);
        while let Some(next) = open.pop() {
            for before in self.nodes.get(next).map(|node| node.after.as_slice()).unwrap_or_default()
            {
                if seen.insert(*before) {
                    open.push(*before);
                }
            }
        }
        // Numbers grow along every edge.
        seen.into_iter().collect()
    }

    /// The paths from a source to a sink over `allowed` steps alone, shortest first, then by number.
    pub(super) fn paths(&self, allowed: &BTreeSet<usize>) -> Vec<Vec<usize>> {
        let mut paths = Vec::new();
        let mut open: VecDeque<Vec<usize>> = self
            .sinks()
            .into_iter()
            .filter(|sink| allowed.contains(sink))
            .map(|sink| vec![sink])
            .collect();
        // Breadth first, from the sinks backwards: short paths come out first.
        while let Some(path) = open.pop_front() {
            let Some(first) = path.first().and_then(|first| self.nodes.get(*first)) else {
                continue;
            };
            if first.after.is_empty() {
                paths.push(path);
                if paths.len() == MOST_PATHS {
                    break;
                }
                continue;
            }
            for before in first.after.iter().filter(|before| allowed.contains(before)) {
                let mut longer = vec![*before];
                longer.extend(&path);
                open.push_back(longer);
            }
        }
        paths.sort_by(|one, other| one.len().cmp(&other.len()).then_with(|| one.cmp(other)));
        paths
    }

    /// The shortest and the longest path from a source to a sink; one where they are the same.
    pub(super) fn shortest_and_longest(&self) -> Vec<Vec<usize>> {
        let all = (0..self.nodes.len()).collect();
        let mut paths = self.paths(&all);
        match paths.len() {
            0 | 1 => paths,
            _ => {
                let longest = paths.pop();
                paths.truncate(1);
                paths.extend(longest);
                paths
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(edges: &[&[usize]]) -> Graph {
        let mut graph = Graph::default();
        for after in edges {
            let number = graph.len();
            graph.add(number.to_string(), after.iter().copied().collect(), false);
        }
        graph
    }

    #[test]
    fn paths_use_allowed_steps_only() {
        // 0 → 1 → 3 → 4, 0 → 2 → 3, 2 → 5.
        let graph = graph(&[&[], &[0], &[0], &[1, 2], &[3], &[2]]);
        let all: BTreeSet<usize> = (0..6).collect();
        assert_eq!(graph.sinks(), [4, 5]);
        assert_eq!(graph.paths(&all), [vec![0, 2, 5], vec![0, 1, 3, 4], vec![0, 2, 3, 4]]);
        let without_2 = all.iter().copied().filter(|node| *node != 2).collect();
        assert_eq!(graph.paths(&without_2), [vec![0, 1, 3, 4]]);
        let without_0 = all.iter().copied().filter(|node| *node != 0).collect();
        assert_eq!(graph.paths(&without_0), Vec::<Vec<usize>>::new());
        assert_eq!(graph.shortest_and_longest(), [vec![0, 2, 5], vec![0, 2, 3, 4]]);
        assert_eq!(graph.leading_to(4), [0, 1, 2, 3, 4]);
        assert_eq!(graph.leading_to(5), [0, 2, 5]);
    }

    #[test]
    fn a_single_step_is_source_and_sink() {
        let graph = graph(&[&[]]);
        assert_eq!(graph.shortest_and_longest(), [vec![0]]);
        assert_eq!(Graph::default().shortest_and_longest(), Vec::<Vec<usize>>::new());
    }

    proptest! {
        #[test]
        fn paths_lead_from_sources_to_sinks(edges in prop::collection::vec(prop::collection::btree_set(0usize..8, 0..3), 0..8)) {
            let mut graph = Graph::default();
            for after in edges {
                graph.add(String::new(), after, false);
            }
            let all: BTreeSet<usize> = (0..graph.len()).collect();
            for path in graph.paths(&all) {
                prop_assert!(graph.is_source(path[0]));
                prop_assert!(graph.sinks().contains(path.last().unwrap()));
                for step in path.windows(2) {
                    prop_assert!(step[0] < step[1] && graph.nodes[step[1]].after.contains(&step[0]));
                }
            }
            prop_assert_eq!(graph.paths(&all).is_empty(), graph.len() == 0);
        }
    }
}
