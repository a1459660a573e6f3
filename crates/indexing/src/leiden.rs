//! Finds communities by the Leiden algorithm (Traag, Waltman and van Eck, 2019) on modularity: it moves
//! nodes, refines, aggregates and repeats. Like GraphRAG, it splits large communities into a hierarchy. The
//! same graph and seed give the same communities.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pikerag_knowledge::Seeded;

/// The randomness of the refinement (θ in the paper).
const THETA: f64 = 0.01;
/// The most passes over the whole graph; each begins with the communities of the last one.
const PASSES: usize = 10;
/// The least gain; smaller ones are rounding errors.
const LEAST_GAIN: f64 = 1e-12;

/// A weighted undirected graph over the nodes `0 … n - 1`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Graph {
    /// Neighbours of each node with the weight of the edge; no node is its own neighbour.
    neighbours: Vec<Vec<(usize, f64)>>,
    /// Weight inside each node: a node of an aggregate contains the edges of its community.
    inside: Vec<f64>,
    /// Sum of the weights at each node, those inside counted twice.
    strength: Vec<f64>,
}

impl Graph {
    /// The graph of these edges. Weights of edges between the same nodes add up. Edges to unknown nodes and
    /// edges without a positive, finite weight are left out.
    pub(crate) fn new(nodes: usize, edges: &[(usize, usize, f64)]) -> Self {
        let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        let mut inside = vec![0.0; nodes];
        for &(a, b, weight) in edges {
            if nodes <= a.max(b) || !weight.is_finite() || weight <= 0.0 {
                continue;
            }
            if a == b {
                add(&mut inside, a, weight);
            } else {
                *sums.entry((a.min(b), a.max(b))).or_default() += weight;
            }
        }
        let mut neighbours = vec![Vec::new(); nodes];
        let mut strength: Vec<f64> = inside.iter().map(|weight| 2.0 * weight).collect();
        for (&(a, b), &weight) in &sums {
            push(&mut neighbours, a, (b, weight));
            push(&mut neighbours, b, (a, weight));
            add(&mut strength, a, weight);
            add(&mut strength, b, weight);
        }
        Self { neighbours, inside, strength }
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.neighbours.len()
    }

    fn neighbours(&self, node: usize) -> &[(usize, f64)] {
        self.neighbours.get(node).map_or(&[], Vec::as_slice)
    }

    /// Twice the weight of all edges (2m).
    fn total(&self) -> f64 {
        self.strength.iter().sum()
    }

    /// The part of the graph over some of its nodes, in their order.
    fn part(&self, nodes: &[usize]) -> Self {
        let place: BTreeMap<usize, usize> =
            nodes.iter().enumerate().map(|(place, node)| (*node, place)).collect();
        let mut edges = Vec::new();
        for (here, node) in nodes.iter().enumerate() {
            edges.push((here, here, at(&self.inside, *node)));
            for (other, weight) in self.neighbours(*node) {
                if let Some(&there) = place.get(other)
                    && here < there
                {
                    edges.push((here, there, *weight));
                }
            }
        }
        Self::new(nodes.len(), &edges)
    }

    /// The graph whose nodes are the communities of this one.
    fn aggregate(&self, community: &[usize], communities: usize) -> Self {
        let mut edges = Vec::new();
        for (node, own) in community.iter().enumerate() {
            edges.push((*own, *own, at(&self.inside, node)));
            for (other, weight) in self.neighbours(node) {
                if node < *other {
                    edges.push((*own, at(community, *other), *weight));
                }
            }
        }
        Self::new(communities, &edges)
    }
}

/// The modularity of a partition: from -½ to 1, 0 for everything in one community.
pub(crate) fn modularity(graph: &Graph, community: &[usize]) -> f64 {
    let total = graph.total();
    if total <= 0.0 {
        return 0.0;
    }
    let count = community.iter().max().map_or(0, |last| last + 1);
    let (mut within, mut strength) = (vec![0.0; count], vec![0.0; count]);
    for (node, own) in community.iter().enumerate() {
        add(&mut strength, *own, at(&graph.strength, node));
        add(&mut within, *own, 2.0 * at(&graph.inside, node));
        for (other, weight) in graph.neighbours(node) {
            if at(community, *other) == *own {
                add(&mut within, *own, *weight);
            }
        }
    }
    let part = |(within, strength): (&f64, &f64)| within / total - (strength / total).powi(2);
    within.iter().zip(&strength).map(part).sum()
}

/// The community of each node, numbered from 0 in the order of their first nodes. Every community is
/// connected.
pub(crate) fn leiden(graph: &Graph, seed: u64) -> Vec<usize> {
    let mut random = Seeded::new(seed);
    let mut best: Vec<usize> = (0..graph.len()).collect();
    let mut quality = modularity(graph, &best);
    for _ in 0..PASSES {
        let found = connected_parts(graph, &one_pass(graph, &best, &mut random));
        let better = modularity(graph, &found);
        if better <= quality + LEAST_GAIN {
            break;
        }
        (best, quality) = (found, better);
    }
    numbered(&best).0
}

/// Moves, refines and aggregates until every community is one node of the aggregate.
fn one_pass(graph: &Graph, start: &[usize], random: &mut Seeded) -> Vec<usize> {
    let mut graph = graph.clone();
    let mut community = start.to_vec();
    // By original node, the node of the current aggregate that contains it.
    let mut node_of: Vec<usize> = (0..graph.len()).collect();
    loop {
        community = move_nodes(&graph, &community, random);
        let refined = refine(&graph, &community, random);
        let (refined, count) = numbered(&refined);
        if count == graph.len() {
            return node_of.iter().map(|node| at(&community, *node)).collect();
        }
        let mut above = vec![0; count];
        for (node, part) in refined.iter().enumerate() {
            set(&mut above, *part, at(&community, node));
        }
        for node in &mut node_of {
            *node = at(&refined, *node);
        }
        graph = graph.aggregate(&refined, count);
        community = above;
    }
}

/// Moves each node to the neighbouring community with the greatest gain, until no move gains. Only the
/// neighbours of moved nodes are visited again.
pub(crate) fn move_nodes(graph: &Graph, start: &[usize], random: &mut Seeded) -> Vec<usize> {
    let total = graph.total();
    let (mut community, _) = numbered(start);
    // One number more than nodes, so that a node can always leave for an empty community.
    let mut strength = vec![0.0; graph.len() + 1];
    let mut size = vec![0_usize; graph.len() + 1];
    for (node, own) in community.iter().enumerate() {
        add(&mut strength, *own, at(&graph.strength, node));
        count_up(&mut size, *own);
    }
    let mut empty: BTreeSet<usize> =
        size.iter().enumerate().filter(|(_, size)| **size == 0).map(|(at, _)| at).collect();
    let mut queue: VecDeque<usize> = random.shuffled(graph.len()).into();
    let mut is_queued = vec![true; graph.len()];
    while let Some(node) = queue.pop_front() {
        set(&mut is_queued, node, false);
        let (own, own_strength) = (at(&community, node), at(&graph.strength, node));
        let mut towards: BTreeMap<usize, f64> = BTreeMap::new();
        for (other, weight) in graph.neighbours(node) {
            *towards.entry(at(&community, *other)).or_default() += weight;
        }
        add(&mut strength, own, -own_strength);
        let gain = |to: usize, weight: f64| weight - own_strength * at(&strength, to) / total;
        let stay = gain(own, towards.get(&own).copied().unwrap_or_default());
        let (mut best, mut best_gain) = (own, stay);
        for (to, weight) in &towards {
            let gain = gain(*to, *weight);
            if best_gain + LEAST_GAIN < gain {
                (best, best_gain) = (*to, gain);
            }
        }
        if best_gain + LEAST_GAIN < 0.0
            && let Some(alone) = empty.first()
        {
            best = *alone;
        }
        add(&mut strength, best, own_strength);
        if best == own {
            continue;
        }
        set(&mut community, node, best);
        count_up(&mut size, best);
        empty.remove(&best);
        if let Some(left) = size.get_mut(own) {
            *left -= 1;
            if *left == 0 {
                empty.insert(own);
            }
        }
        for (other, _) in graph.neighbours(node) {
            if at(&community, *other) != best && !at(&is_queued, *other) {
                set(&mut is_queued, *other, true);
                queue.push_back(*other);
            }
        }
    }
    community
}

/// Splits communities into well-connected parts. A single node joins a neighbouring part of its community
/// at random; parts with more gain are more likely.
fn refine(graph: &Graph, community: &[usize], random: &mut Seeded) -> Vec<usize> {
    let total = graph.total();
    let mut whole: BTreeMap<usize, f64> = BTreeMap::new();
    for (node, own) in community.iter().enumerate() {
        *whole.entry(*own).or_default() += at(&graph.strength, node);
    }
    let whole_of = |own: usize| whole.get(&own).copied().unwrap_or_default();
    let mut part: Vec<usize> = (0..graph.len()).collect();
    let mut strength = graph.strength.clone();
    let mut alone = vec![true; graph.len()];
    // Weight from each part to the rest of its community.
    let mut outward: Vec<f64> = Vec::with_capacity(graph.len());
    for (node, own) in community.iter().enumerate() {
        let inner =
            graph.neighbours(node).iter().filter(|(other, _)| at(community, *other) == *own);
        outward.push(inner.map(|(_, weight)| weight).sum());
    }
    for node in random.shuffled(graph.len()) {
        let (own, own_strength) = (at(community, node), at(&graph.strength, node));
        let is_well_connected = |strength: f64, outward: f64| {
            strength * (whole_of(own) - strength) / total <= outward + LEAST_GAIN
        };
        if !at(&alone, node) || !is_well_connected(own_strength, at(&outward, node)) {
            continue;
        }
        let mut towards: BTreeMap<usize, f64> = BTreeMap::new();
        for (other, weight) in graph.neighbours(node) {
            if at(community, *other) == own {
                *towards.entry(at(&part, *other)).or_default() += weight;
            }
        }
        let mut choices = Vec::new();
        for (to, weight) in towards {
            let gain = weight - own_strength * at(&strength, to) / total;
            if 0.0 <= gain && is_well_connected(at(&strength, to), at(&outward, to)) {
                choices.push((to, weight, gain));
            }
        }
        let Some((to, weight)) = draw_by_gain(random, &choices, total) else { continue };
        set(&mut part, node, to);
        set(&mut alone, to, false);
        set(&mut alone, node, false);
        add(&mut strength, to, own_strength);
        let joined = at(&outward, node) - 2.0 * weight;
        add(&mut outward, to, joined);
    }
    part
}

/// Draws one of (community, weight, gain) with probability proportional to `exp(gain / θ)`, with gains as
/// shares of the total weight.
fn draw_by_gain(
    random: &mut Seeded,
    choices: &[(usize, f64, f64)],
    total: f64,
) -> Option<(usize, f64)> {
    let most = choices.iter().map(|choice| choice.2).fold(f64::NEG_INFINITY, f64::max);
    let odds = |gain: f64| ((gain - most) / (THETA * total)).exp();
    let all: f64 = choices.iter().map(|choice| odds(choice.2)).sum();
    let mut left = random.fraction() * all;
    for (to, weight, gain) in choices {
        left -= odds(*gain);
        if left <= 0.0 {
            return Some((*to, *weight));
        }
    }
    choices.last().map(|(to, weight, _)| (*to, *weight))
}

/// Splits communities that are not connected, which does not lower modularity.
fn connected_parts(graph: &Graph, community: &[usize]) -> Vec<usize> {
    let mut part = vec![usize::MAX; graph.len()];
    let mut next = 0;
    for start in 0..graph.len() {
        if at(&part, start) != usize::MAX {
            continue;
        }
        set(&mut part, start, next);
        let mut reached = vec![start];
        while let Some(node) = reached.pop() {
            for (other, _) in graph.neighbours(node) {
                if at(&part, *other) == usize::MAX && at(community, *other) == at(community, start)
                {
                    set(&mut part, *other, next);
                    reached.push(*other);
                }
            }
        }
        next += 1;
    }
    part
}

/// Communities numbered from 0 in the order of their first nodes, and their number.
fn numbered(community: &[usize]) -> (Vec<usize>, usize) {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut named = Vec::with_capacity(community.len());
    for own in community {
        let next = numbers.len();
        named.push(*numbers.entry(*own).or_insert(next));
    }
    (named, numbers.len())
}

/// A community in a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// 0 for the communities of the whole graph, 1 for their parts, …
    pub(crate) level: u8,
    /// The position in the list of its parent community, which comes before it.
    pub(crate) parent: Option<usize>,
    /// Its nodes, in order.
    pub(crate) nodes: Vec<usize>,
}

/// Communities of the whole graph, and the communities within each one of more than `largest` nodes, until
/// nothing splits. Parents come before their parts.
///
/// The communities within another depend only on its nodes and edges.
pub(crate) fn hierarchy(graph: &Graph, largest: usize, seed: u64) -> Vec<Branch> {
    let mut branches: Vec<Branch> = Vec::new();
    let mut queue: VecDeque<(u8, Option<usize>, Vec<usize>)> = VecDeque::new();
    queue.push_back((0, None, (0..graph.len()).collect()));
    while let Some((level, parent, nodes)) = queue.pop_front() {
        let within = graph.part(&nodes);
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, community) in leiden(&within, seed).into_iter().enumerate() {
            groups.entry(community).or_default().push(at(&nodes, place));
        }
        if parent.is_some() && groups.len() < 2 {
            continue; // It does not split.
        }
        for nodes in groups.into_values() {
            if largest < nodes.len() && level < u8::MAX {
                queue.push_back((level + 1, Some(branches.len()), nodes.clone()));
            }
            branches.push(Branch { level, parent, nodes });
        }
    }
    branches
}

fn at<T: Copy + Default>(values: &[T], place: usize) -> T {
    values.get(place).copied().unwrap_or_default()
}

fn set<T>(values: &mut [T], place: usize, value: T) {
    if let Some(slot) = values.get_mut(place) {
        *slot = value;
    }
}

fn add(values: &mut [f64], place: usize, more: f64) {
    if let Some(slot) = values.get_mut(place) {
        *slot += more;
    }
}

fn count_up(values: &mut [usize], place: usize) {
    if let Some(slot) = values.get_mut(place) {
        *slot += 1;
    }
}

fn push<T>(lists: &mut [Vec<T>], place: usize, item: T) {
    if let Some(list) = lists.get_mut(place) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Zachary's karate club (1977): the members who met outside the club.
    const KARATE: [(usize, usize); 78] = [
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 4),
        (0, 5),
        (0, 6),
        (0, 7),
        (0, 8),
        (0, 10),
        (0, 11),
        (0, 12),
        (0, 13),
        (0, 17),
        (0, 19),
        (0, 21),
        (0, 31),
        (1, 2),
        (1, 3),
        (1, 7),
        (1, 13),
        (1, 17),
        (1, 19),
        (1, 21),
        (1, 30),
        (2, 3),
        (2, 7),
        (2, 8),
        (2, 9),
        (2, 13),
        (2, 27),
        (2, 28),
        (2, 32),
        (3, 7),
        (3, 12),
        (3, 13),
        (4, 6),
        (4, 10),
        (5, 6),
        (5, 10),
        (5, 16),
        (6, 16),
        (8, 30),
        (8, 32),
        (8, 33),
        (9, 33),
        (13, 33),
        (14, 32),
        (14, 33),
        (15, 32),
        (15, 33),
        (18, 32),
        (18, 33),
        (19, 33),
        (20, 32),
        (20, 33),
        (22, 32),
        (22, 33),
        (23, 25),
        (23, 27),
        (23, 29),
        (23, 32),
        (23, 33),
        (24, 25),
        (24, 27),
        (24, 31),
        (25, 31),
        (26, 29),
        (26, 33),
        (27, 33),
        (28, 31),
        (28, 33),
        (29, 32),
        (29, 33),
        (30, 32),
        (30, 33),
        (31, 32),
        (31, 33),
        (32, 33),
    ];

    fn karate() -> Graph {
        Graph::new(34, &KARATE.map(|(a, b)| (a, b, 1.0)))
    }

    /// The best partition known has four communities and a modularity of 0.4198.
    #[test]
    fn the_karate_club_splits_as_it_did() {
        for seed in 0..20 {
            let community = leiden(&karate(), seed);
            let found = modularity(&karate(), &community);
            assert!((0.41..0.4199).contains(&found), "{seed}: {found}");
        }
        let community = leiden(&karate(), 0);
        // The instructor's side and the administrator's side.
        assert_ne!(community[0], community[33]);
        assert_eq!(community[0], community[1]);
        assert_eq!(community[32], community[33]);
    }

    #[test]
    fn large_communities_are_split_within() {
        let branches = hierarchy(&karate(), 10, 0);
        assert_is_hierarchy(&karate(), &branches, 10);
        assert!(branches.iter().any(|branch| branch.level == 1), "{branches:?}");
        assert_eq!(hierarchy(&Graph::default(), 10, 0), []);
        assert_eq!(hierarchy(&Graph::new(1, &[]), 10, 0).len(), 1);
    }

    #[test]
    fn unconnected_parts_are_communities() {
        let graph =
            Graph::new(6, &[(0, 1, 2.0), (1, 2, 1.0), (3, 4, 1.0), (4, 3, 1.0), (5, 9, 1.0)]);
        assert_eq!(leiden(&graph, 7), [0, 0, 0, 1, 1, 2]);
        assert!((modularity(&graph, &[0; 6])).abs() < 1e-12);
    }

    fn graphs() -> impl Strategy<Value = Graph> {
        (1_usize..24).prop_flat_map(|n| {
            let edge = (0..n, 0..n, prop_oneof![Just(1.0), 0.1_f64..5.0]);
            prop::collection::vec(edge, 0..60).prop_map(move |edges| Graph::new(n, &edges))
        })
    }

    /// Checks that parts make up their parent, that level 0 makes up the graph, and that each community is
    /// connected.
    fn assert_is_hierarchy(graph: &Graph, branches: &[Branch], largest: usize) {
        let gathered = |parent: Option<usize>| {
            let parts = branches.iter().filter(|branch| branch.parent == parent);
            let mut nodes: Vec<usize> = parts.flat_map(|branch| branch.nodes.clone()).collect();
            nodes.sort_unstable();
            nodes
        };
        assert_eq!(gathered(None), (0..graph.len()).collect::<Vec<_>>());
        for (place, branch) in branches.iter().enumerate() {
            let within = gathered(Some(place));
            assert!(within.is_empty() || (within == branch.nodes && largest < within.len()));
            let part = graph.part(&branch.nodes);
            assert!(connected_parts(&part, &vec![0; part.len()]).iter().all(|part| *part == 0));
            let parent = branch.parent.map(|parent| branches[parent].level + 1);
            assert_eq!(branch.level, parent.unwrap_or(0));
        }
    }

    proptest! {
        #[test]
        fn any_graph_gets_valid_communities(graph in graphs(), seed in any::<u64>()) {
            let community = leiden(&graph, seed);
            prop_assert_eq!(&community, &leiden(&graph, seed));
            prop_assert_eq!(community.len(), graph.len());
            let quality = modularity(&graph, &community);
            let alone: Vec<usize> = (0..graph.len()).collect();
            prop_assert!(modularity(&graph, &alone) <= quality + 1e-9);
            // Louvain's first step from the same start.
            let moved = move_nodes(&graph, &alone, &mut Seeded::new(seed));
            prop_assert!(modularity(&graph, &moved) <= quality + 1e-9);
            assert_is_hierarchy(&graph, &hierarchy(&graph, 4, seed), 4);
        }

        /// Parts of a graph that share no edge share no community.
        #[test]
        fn unconnected_graphs_do_not_mix(graph in graphs(), seed in any::<u64>()) {
            let n = graph.len();
            let mut edges = Vec::new();
            for (node, list) in graph.neighbours.iter().enumerate() {
                for (other, weight) in list.iter().filter(|(other, _)| node < *other) {
                    edges.extend([(node, *other, *weight), (n + node, n + other, *weight)]);
                }
            }
            let community = leiden(&Graph::new(2 * n, &edges), seed);
            prop_assert!(community[..n].iter().all(|one| !community[n..].contains(one)));
        }
    }
}
