//! Spreads scores along edges, in one step or repeatedly as personalised `PageRank`. It pushes the
//! largest rest first (Andersen, Chung and Lang, 2006), and reads only the edges of pushed chunks.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use pikerag_knowledge::ChunkId;

use super::{LayerParams, Spread};

/// The origin of a score: first the chunk's own, then by kind of the last edge.
pub(super) type Mass = [f32; 5];
/// The index of a chunk's own score.
pub(super) const OWN: usize = 0;
/// The kinds of edges, in the order of [`Mass`] after [`OWN`].
pub(super) const KINDS: [&str; 4] = ["refers_to", "shared_names", "next", "entities"];
/// The share of all scores below which a rest is too small to push.
const LEAST: f32 = 1e-5;

/// The targets of a chunk's score, weighed by kind of edge.
pub(super) type Out = Vec<(ChunkId, [f32; 4])>;

/// Scores in motion: the settled part, and the rest that may still move.
pub(super) struct Flow {
    lambda: f32,
    is_one_step: bool,
    least: f32,
    /// The settled part of each score.
    settled: BTreeMap<ChunkId, Mass>,
    /// The rest of each score, which may still move.
    rest: BTreeMap<ChunkId, Mass>,
    queue: BTreeSet<Pending>,
}

/// Largest rest first, ties by identifier.
#[derive(Clone, Copy, PartialEq)]
struct Pending(f32, ChunkId);

impl Eq for Pending {}

impl Ord for Pending {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Flow {
    pub(super) fn new(scores: impl Iterator<Item = (ChunkId, f32)>, params: LayerParams) -> Self {
        let rest: BTreeMap<ChunkId, Mass> =
            scores.map(|(chunk, own)| (chunk, [own, 0.0, 0.0, 0.0, 0.0])).collect();
        let queue = rest.iter().map(|(chunk, mass)| Pending(total(mass), *chunk)).collect();
        let all: f32 = rest.values().map(total).sum();
        Self {
            lambda: params.lambda.clamp(0.0, 0.99),
            is_one_step: params.spread == Spread::OneStep,
            least: LEAST * all,
            settled: BTreeMap::new(),
            rest,
            queue,
        }
    }

    /// The chunk to push next; `None` if every rest is too small.
    pub(super) fn next(&mut self) -> Option<ChunkId> {
        let first = self.queue.first().filter(|first| self.least < first.0)?;
        Some(first.1)
    }

    /// Spreads the rest of a chunk: `1 - λ` of it stays, and `λ` goes along its edges by weight.
    /// Edges with a total weight below 1 carry only that share; the remainder stays too.
    pub(super) fn push(&mut self, chunk: ChunkId, out: &Out) {
        let Some(mass) = self.rest.remove(&chunk) else { return };
        self.queue.remove(&Pending(total(&mass), chunk));
        let weight: f32 = out.iter().flat_map(|(_, kinds)| kinds).sum();
        let carried = weight.min(1.0);
        // A remainder without edges would be pushed again and again: this sums up the series at
        // once.
        let away = if self.is_one_step {
            self.lambda * carried
        } else {
            self.lambda * carried / (1.0 - self.lambda * (1.0 - carried))
        };
        let settled = self.settled.entry(chunk).or_default();
        for (into, from) in settled.iter_mut().zip(mass) {
            *into += from * (1.0 - away);
        }
        let flowing = total(&mass) * away / weight.max(f32::MIN_POSITIVE);
        for (target, kinds) in out {
            let into = if self.is_one_step { &mut self.settled } else { &mut self.rest };
            let mass = into.entry(*target).or_default();
            let before = total(mass);
            for (into, kind) in mass.iter_mut().skip(OWN + 1).zip(kinds) {
                *into += flowing * kind;
            }
            if !self.is_one_step {
                let after = total(mass);
                self.queue.remove(&Pending(before, *target));
                self.queue.insert(Pending(after, *target));
            }
        }
    }

    /// All scores, including the rests that did not move on.
    pub(super) fn settle(mut self) -> BTreeMap<ChunkId, Mass> {
        for (chunk, rest) in self.rest {
            let settled = self.settled.entry(chunk).or_default();
            for (into, from) in settled.iter_mut().zip(rest) {
                *into += from;
            }
        }
        self.settled
    }
}

fn total(mass: &Mass) -> f32 {
    mass.iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NODES: usize = 8;

    /// One row per node: the weight of the edge to each other node.
    type Graph = Vec<Vec<f32>>;

    fn out_of(graph: &Graph, node: usize) -> Out {
        let edges =
            graph[node].iter().enumerate().filter(|(to, weight)| *to != node && 0.0 < **weight);
        edges.map(|(to, weight)| (ChunkId(to as u64), [*weight, 0.0, 0.0, 0.0])).collect()
    }

    fn flowed(graph: &Graph, scores: &[f32], params: LayerParams) -> Vec<f32> {
        let own = scores.iter().enumerate().filter(|(_, score)| 0.0 < **score);
        let mut flow = Flow::new(own.map(|(node, score)| (ChunkId(node as u64), *score)), params);
        for _ in 0..params.pushes {
            let Some(chunk) = flow.next() else { break };
            flow.push(chunk, &out_of(graph, chunk.0 as usize));
        }
        let settled = flow.settle();
        (0..scores.len())
            .map(|node| settled.get(&ChunkId(node as u64)).map_or(0.0, total))
            .collect()
    }

    /// The full transition matrix, with the remainders that have no edges.
    fn transitions(graph: &Graph) -> Vec<Vec<f64>> {
        let row = |node: usize| {
            let mut row: Vec<f64> = graph[node].iter().map(|weight| f64::from(*weight)).collect();
            row[node] = 0.0;
            let weight: f64 = row.iter().sum();
            for to in &mut row {
                *to /= weight.max(1.0);
            }
            row[node] = 1.0 - weight.min(1.0);
            row
        };
        (0..graph.len()).map(row).collect()
    }

    /// The brute-force twin: dense power iteration, `π ← (1 - λ)·s + λ·Wᵀ·π`.
    fn power(graph: &Graph, scores: &[f32], lambda: f64, rounds: usize) -> Vec<f64> {
        let start: Vec<f64> = scores.iter().map(|score| f64::from(*score)).collect();
        let matrix = transitions(graph);
        let step = |held: &[f64]| -> Vec<f64> {
            let into =
                |to: usize| -> f64 { held.iter().zip(&matrix).map(|(x, row)| x * row[to]).sum() };
            (0..held.len()).map(|to| (1.0 - lambda) * start[to] + lambda * into(to)).collect()
        };
        (0..rounds).fold(start.clone(), |held, _| step(&held))
    }

    fn params(spread: Spread, lambda: f32, pushes: usize) -> LayerParams {
        LayerParams { spread, lambda, pushes, ..LayerParams::default() }
    }

    fn graphs() -> impl Strategy<Value = Graph> {
        let weight = prop_oneof![2 => Just(0.0_f32), 1 => 0.01_f32..1.5];
        prop::collection::vec(prop::collection::vec(weight, NODES), NODES)
    }

    proptest! {
        #[test]
        fn pushing_equals_power_iteration(
            graph in graphs(), scores in prop::collection::vec(0.0_f32..2.0, NODES), lambda in 0.0_f32..0.9
        ) {
            let pushed = flowed(&graph, &scores, params(Spread::PageRank, lambda, 100_000));
            let dense = power(&graph, &scores, f64::from(lambda), 400);
            prop_assert_eq!(pushed.len(), dense.len());
            for (pushed, dense) in pushed.iter().zip(dense) {
                prop_assert!((f64::from(*pushed) - dense).abs() < 2e-3, "{} {}", pushed, dense);
            }
        }

        #[test]
        fn one_step_is_one_round(
            graph in graphs(), scores in prop::collection::vec(0.1_f32..2.0, NODES), lambda in 0.0_f32..0.9
        ) {
            let pushed = flowed(&graph, &scores, params(Spread::OneStep, lambda, NODES));
            let dense = power(&graph, &scores, f64::from(lambda), 1);
            prop_assert_eq!(pushed.len(), dense.len());
            for (pushed, dense) in pushed.iter().zip(dense) {
                prop_assert!((f64::from(*pushed) - dense).abs() < 1e-3, "{} {}", pushed, dense);
            }
        }

        /// After any number of pushes, the sum of all scores is the same.
        #[test]
        fn spreading_keeps_the_sum(
            graph in graphs(), scores in prop::collection::vec(0.0_f32..2.0, NODES), pushes in 0_usize..20
        ) {
            for spread in [Spread::OneStep, Spread::PageRank] {
                let all: f32 = flowed(&graph, &scores, params(spread, 0.5, pushes)).iter().sum();
                prop_assert!((all - scores.iter().sum::<f32>()).abs() < 1e-3);
            }
        }
    }
}
