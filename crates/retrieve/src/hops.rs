//! Gathers the chunks of a multi-hop question (ours): takes the best chunk, follows its links and
//! names, discounts covered words, and takes the next. It calls no model.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pikerag_knowledge::ChunkId;
use serde::{Deserialize, Serialize};

use crate::finder::{Finder, Hit, RetrieveError};
use crate::links::{Expansion, LinkParams, expand};
use crate::question::Asked;

/// The weights of hops, one set for every base. Halving or doubling any of them moves recall by a
/// few points at most (docs/explain/retrieval.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HopParams {
    /// Weight of the question's words, if there are vectors too.
    pub words: f32,
    /// Weight of the question's words, without vectors.
    pub words_alone: f32,
    /// Weight of meaning for the first chunk.
    pub meaning: f32,
    /// The share of that weight for later chunks: they need not resemble the question.
    pub meaning_later: f32,
    /// Weight of a chunk that the question names.
    pub named: f32,
    /// Weight of a chunk whose title a chosen chunk names.
    pub named_by_chosen: f32,
    /// Weight of a chunk that names a chosen chunk by its title.
    pub names_chosen: f32,
    /// Weight of rare names in common with a chosen chunk.
    pub shared: f32,
    /// The rarity that a name must exceed to count, on a logarithmic scale: 1 for a name that only
    /// one chunk has, 0 for one that all chunks have.
    pub rarity_floor: f32,
    /// The factor by which links fade with each hop …
    pub fade: f32,
    /// … except links of chunks that the question names: their share is this times how surely it
    /// names them.
    pub named_keeps: f32,
    /// The share of a word's weight that is taken away once a chosen chunk holds the word.
    pub covered: f32,
    /// Weight of the links of the best-looking chunks before any is chosen.
    pub ahead: f32,
    /// The number of these chunks.
    pub n_ahead: usize,
    /// Weight of entities in common with a chosen chunk, or related to one of its own, beside
    /// names; 0 follows names alone.
    pub entities: f32,
    /// Weight of scores spread over the layers, if the search joins them with hops.
    pub prior: f32,
}

impl Default for HopParams {
    fn default() -> Self {
        Self {
            words: 1.5,
            words_alone: 2.5,
            meaning: 1.0,
            meaning_later: 0.7,
            named: 1.0,
            named_by_chosen: 0.7,
            names_chosen: 0.2,
            shared: 0.7,
            rarity_floor: 0.35,
            fade: 0.5,
            named_keeps: 1.2,
            covered: 0.8,
            ahead: 0.5,
            n_ahead: 5,
            entities: 0.0,
            prior: 0.5,
        }
    }
}

impl HopParams {
    fn of_links(self) -> LinkParams {
        LinkParams {
            named_by: self.named_by_chosen,
            names: self.names_chosen,
            entities: self.entities,
            rarity_floor: self.rarity_floor,
        }
    }
}

/// The `k` chunks that hop retrieval gathers, in the order chosen; fewer if no candidates are left.
/// A score is that of the chunk when it was chosen, so scores may rise along the list.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn hops(
    finder: Finder<'_>,
    question: &str,
    k: usize,
    params: HopParams,
) -> Result<Vec<Hit>, RetrieveError> {
    Walk::begin(finder, question, params).await?.gather(finder, k).await
}

/// As [`hops`], for a question that was looked up already.
pub(crate) async fn hops_of(
    finder: Finder<'_>,
    asked: Arc<Asked>,
    k: usize,
    params: HopParams,
) -> Result<Vec<Hit>, RetrieveError> {
    Walk::along(finder, asked, params, BTreeMap::new()).await?.gather(finder, k).await
}

/// Hop retrieval step by step: the caller decides which chunk to take.
pub struct Walk {
    params: HopParams,
    asked: Arc<Asked>,
    /// The remaining weight of each question word, by word.
    uncovered: Vec<f32>,
    candidates: BTreeMap<ChunkId, Node>,
    expanded: HashMap<ChunkId, Expansion>,
    chosen: Vec<ChunkId>,
    prior: BTreeMap<ChunkId, f32>,
}

/// The facts about a candidate.
#[derive(Clone, Debug, Default)]
struct Node {
    /// What each question word in it contributes, already weighted, by the word's place.
    words: Vec<(usize, f32)>,
    meaning: f32,
    named: f32,
    prior: f32,
    ahead: f32,
    /// The strongest title link from a chosen chunk.
    linked: f32,
    /// The sum of rare names shared with chosen chunks.
    shared: f32,
}

impl Walk {
    /// Prepares a walk: scores by words and meaning, the names in the question, and a look ahead
    /// along the links of the best-looking chunks.
    ///
    /// # Errors
    /// See [`RetrieveError`].
    pub async fn begin(
        finder: Finder<'_>,
        question: &str,
        params: HopParams,
    ) -> Result<Self, RetrieveError> {
        Self::begin_with(finder, question, params, BTreeMap::new()).await
    }

    /// As [`Walk::begin`], with a prior for each chunk, from 0 to 1, weighed by
    /// [`HopParams::prior`]; all chunks with a prior are candidates.
    ///
    /// # Errors
    /// See [`RetrieveError`].
    pub async fn begin_with(
        finder: Finder<'_>,
        question: &str,
        params: HopParams,
        prior: BTreeMap<ChunkId, f32>,
    ) -> Result<Self, RetrieveError> {
        let asked = Arc::new(Asked::new(finder, question, params.rarity_floor).await?);
        Self::along(finder, asked, params, prior).await
    }

    /// As [`Walk::begin_with`], for a question that was looked up already.
    pub(crate) async fn along(
        finder: Finder<'_>,
        asked: Arc<Asked>,
        params: HopParams,
        prior: BTreeMap<ChunkId, f32>,
    ) -> Result<Self, RetrieveError> {
        let uncovered = vec![1.0; asked.words.len()];
        let mut walk = Self {
            params,
            asked,
            uncovered,
            candidates: BTreeMap::new(),
            expanded: HashMap::new(),
            chosen: Vec::new(),
            prior,
        };
        let mut seeds = walk.asked.seeds();
        seeds.extend(walk.prior.keys());
        seeds.sort_unstable();
        seeds.dedup();
        walk.admit(finder, seeds).await?;
        walk.look_ahead(finder).await?;
        Ok(walk)
    }

    /// Takes the best candidate `k` times, and returns the chunks in that order.
    pub(crate) async fn gather(
        &mut self,
        finder: Finder<'_>,
        k: usize,
    ) -> Result<Vec<Hit>, RetrieveError> {
        let mut gathered = Vec::new();
        while gathered.len() < k {
            let Some(best) = self.best() else { break };
            self.take(finder, best.chunk).await?;
            gathered.push(best);
        }
        Ok(gathered)
    }

    /// The `k` best candidates not yet taken, best first, ties by identifier.
    pub fn top(&self, k: usize) -> Vec<Hit> {
        let mut scored: Vec<(f32, ChunkId, &Node)> =
            self.open().map(|(chunk, node)| (self.score(node), *chunk, node)).collect();
        let best_first = |a: &(f32, ChunkId, &Node), b: &(f32, ChunkId, &Node)| {
            b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
        };
        if k < scored.len() {
            scored.select_nth_unstable_by(k, best_first);
            scored.truncate(k);
        }
        scored.sort_by(best_first);
        scored.into_iter().map(|(_, chunk, node)| self.hit(chunk, node)).collect()
    }

    /// The best candidate not yet taken, of equals the first by identifier.
    fn best(&self) -> Option<Hit> {
        let mut best: Option<(f32, ChunkId, &Node)> = None;
        for (chunk, node) in self.open() {
            let score = self.score(node);
            if best.is_none_or(|(most, ..)| most.total_cmp(&score).is_lt()) {
                best = Some((score, *chunk, node));
            }
        }
        best.map(|(_, chunk, node)| self.hit(chunk, node))
    }

    fn open(&self) -> impl Iterator<Item = (&ChunkId, &Node)> {
        self.candidates.iter().filter(|(chunk, _)| !self.chosen.contains(chunk))
    }

    /// Takes a chunk: from now on its links count, and the words that it holds count less. Taking
    /// it again changes nothing.
    ///
    /// # Errors
    /// See [`RetrieveError`].
    pub async fn take(&mut self, finder: Finder<'_>, chunk: ChunkId) -> Result<(), RetrieveError> {
        if self.chosen.contains(&chunk) {
            return Ok(());
        }
        let hop = self.chosen.len();
        self.chosen.push(chunk);
        let expansion = self.expansion(finder, chunk).await?;
        self.admit(finder, expansion.reached()).await?;
        let named = self.asked.named.get(&chunk).copied().unwrap_or_default();
        let faded = self.params.fade.powi(i32::try_from(hop).unwrap_or(i32::MAX));
        let factor = faded.max((self.params.named_keeps * named).min(1.0));
        for (target, strength) in &expansion.titles {
            if let Some(node) = self.candidates.get_mut(target) {
                node.linked = node.linked.max(factor * strength);
            }
        }
        for (target, strength) in &expansion.names {
            if let Some(node) = self.candidates.get_mut(target) {
                node.shared += factor * strength;
            }
        }
        for (word, left) in self.asked.words.iter().zip(&mut self.uncovered) {
            if expansion.holds(word) {
                *left *= 1.0 - self.params.covered;
            }
        }
        Ok(())
    }

    /// The links of the best-looking chunks, weighed by each chunk's share of their scores.
    async fn look_ahead(&mut self, finder: Finder<'_>) -> Result<(), RetrieveError> {
        let first = self.top(self.params.n_ahead);
        let best = first.first().map_or(0.0, |hit| hit.score.max(0.0));
        if best <= 0.0 {
            return Ok(());
        }
        let shares: Vec<f32> =
            first.iter().map(|hit| (hit.score.max(0.0) / best).powi(2)).collect();
        let all: f32 = shares.iter().sum();
        for (hit, share) in first.iter().zip(shares) {
            let expansion = self.expansion(finder, hit.chunk).await?;
            self.admit(finder, expansion.reached()).await?;
            for target in expansion.reached() {
                let title = expansion.titles.get(&target).copied().unwrap_or_default();
                let names = expansion.names.get(&target).copied().unwrap_or_default();
                let strength = self.params.ahead * share / all * (title + self.saturated(names));
                if let Some(node) = self.candidates.get_mut(&target) {
                    node.ahead += strength;
                }
            }
        }
        Ok(())
    }

    async fn expansion(
        &mut self,
        finder: Finder<'_>,
        chunk: ChunkId,
    ) -> Result<Expansion, RetrieveError> {
        if let Some(known) = self.expanded.get(&chunk) {
            return Ok(known.clone());
        }
        let expansion = expand(finder, &self.asked, self.params.of_links(), chunk).await?;
        self.expanded.insert(chunk, expansion.clone());
        Ok(expansion)
    }

    /// Makes chunks candidates, with their scores by words and meaning.
    async fn admit(
        &mut self,
        finder: Finder<'_>,
        chunks: Vec<ChunkId>,
    ) -> Result<(), RetrieveError> {
        let new: Vec<ChunkId> =
            chunks.into_iter().filter(|chunk| !self.candidates.contains_key(chunk)).collect();
        let meaning = self.asked.meaning_of(finder, &new).await?;
        let words = self.asked.words_of(finder, &new).await?;
        let has_meaning = self.asked.vector.is_some();
        let of_words = if has_meaning { self.params.words } else { self.params.words_alone };
        for ((chunk, meaning), words) in new.into_iter().zip(meaning).zip(words) {
            let words = words.into_iter().enumerate().filter(|(_, weight)| *weight != 0.0);
            let words = words.map(|(word, weight)| (word, weight * of_words)).collect();
            let meaning = self.params.meaning * meaning;
            let named =
                self.params.named * self.asked.named.get(&chunk).copied().unwrap_or_default();
            let prior = self.params.prior * self.prior.get(&chunk).copied().unwrap_or_default();
            self.candidates.insert(chunk, Node { words, meaning, named, prior, ..Node::default() });
        }
        Ok(())
    }

    fn saturated(&self, names: f32) -> f32 {
        self.params.shared * (1.0 - (-names).exp())
    }

    fn parts(&self, node: &Node) -> [(&'static str, f32); 7] {
        let left = |word: usize| self.uncovered.get(word).copied().unwrap_or_default();
        let words = node.words.iter().map(|(word, weight)| weight * left(*word)).sum();
        let later = if self.chosen.is_empty() { 1.0 } else { self.params.meaning_later };
        [
            ("words", words),
            ("meaning", node.meaning * later),
            ("named_in_question", node.named),
            ("layers", node.prior),
            ("links_ahead", node.ahead),
            ("title_links", node.linked),
            ("shared_names", self.saturated(node.shared)),
        ]
    }

    fn score(&self, node: &Node) -> f32 {
        self.parts(node).iter().map(|(_, part)| part).sum()
    }

    fn hit(&self, chunk: ChunkId, node: &Node) -> Hit {
        let parts = self.parts(node);
        let named_parts = parts.iter().filter(|(_, part)| *part != 0.0);
        Hit {
            chunk,
            score: parts.iter().map(|(_, part)| part).sum(),
            parts: named_parts.map(|(name, part)| ((*name).to_owned(), *part)).collect(),
        }
    }
}
