//! Which chunks does a question need when one leads to the next? Hop retrieval (ours): take the
//! best chunk, follow what it names, count covered words less, take the next. No model call.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pikerag_knowledge::ChunkId;
use serde::{Deserialize, Serialize};

use crate::finder::{Finder, Hit, RetrieveError};
use crate::links::{Expansion, LinkParams, expand};
use crate::question::Asked;

/// How hops are weighed. One set of weights for every base; halving or doubling any of them moves
/// recall by a few points at most (docs/retrieval.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HopParams {
    /// Weight of the question's words, where there are vectors too.
    pub words: f32,
    /// Weight of the question's words, where there are no vectors.
    pub words_alone: f32,
    /// Weight of meaning for the first chunk.
    pub meaning: f32,
    /// The part of that for later chunks: they need not look like the question.
    pub meaning_later: f32,
    /// Weight of being named in the question.
    pub named: f32,
    /// Weight of being named, by its title, in a chosen chunk.
    pub named_by_chosen: f32,
    /// Weight of naming a chosen chunk by its title.
    pub names_chosen: f32,
    /// Weight of sharing rare names with a chosen chunk.
    pub shared: f32,
    /// Names less rare than this share nothing; 1 is a name that only one chunk has, 0 one that all
    /// chunks have, on a logarithmic scale.
    pub rarity_floor: f32,
    /// Links fade with each hop by this factor …
    pub fade: f32,
    /// … but not those of chunks that the question names: their share is this times how surely.
    pub named_keeps: f32,
    /// How much of a word's weight goes once a chosen chunk holds it.
    pub covered: f32,
    /// Weight of the links of chunks that look best before any is chosen.
    pub ahead: f32,
    /// How many chunks that is.
    pub n_ahead: usize,
    /// Weight of entities in common with a chosen chunk, or related to one of its own, beside names;
    /// 0 walks along names alone.
    pub entities: f32,
    /// Weight of scores spread over the layers, where they are joined with hops.
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

/// The `k` chunks that hop retrieval gathers, in the order chosen.
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

/// The same for a question that was looked up already.
pub(crate) async fn hops_of(
    finder: Finder<'_>,
    asked: Arc<Asked>,
    k: usize,
    params: HopParams,
) -> Result<Vec<Hit>, RetrieveError> {
    Walk::along(finder, asked, params, BTreeMap::new()).await?.gather(finder, k).await
}

/// Hop retrieval step by step: whoever walks decides which chunk to take.
pub struct Walk {
    params: HopParams,
    asked: Arc<Asked>,
    /// Left of each question word's weight, by word.
    uncovered: Vec<f32>,
    candidates: BTreeMap<ChunkId, Node>,
    expanded: HashMap<ChunkId, Expansion>,
    chosen: Vec<ChunkId>,
    prior: BTreeMap<ChunkId, f32>,
}

/// What is known of a candidate.
#[derive(Clone, Debug, Default)]
struct Node {
    /// What each question word contributes, already weighted.
    words: Vec<f32>,
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
    /// Prepares a walk: scores by words and meaning, what the question names, and a look ahead at
    /// where the best-looking chunks lead.
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

    /// As [`Walk::begin`], with what else speaks for each chunk, from 0 to 1, weighed by
    /// [`HopParams::prior`]; all chunks that have it are candidates.
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

    /// Takes the best candidate, `k` times; in the order taken.
    pub(crate) async fn gather(
        &mut self,
        finder: Finder<'_>,
        k: usize,
    ) -> Result<Vec<Hit>, RetrieveError> {
        let mut gathered = Vec::new();
        while gathered.len() < k {
            let Some(best) = self.top(1).pop() else { break };
            self.take(finder, best.chunk).await?;
            gathered.push(best);
        }
        Ok(gathered)
    }

    /// The `k` best candidates not taken yet, best first, ties by identifier.
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

    fn open(&self) -> impl Iterator<Item = (&ChunkId, &Node)> {
        self.candidates.iter().filter(|(chunk, _)| !self.chosen.contains(chunk))
    }

    /// Takes a chunk: its links count from now on, and the words it holds count less.
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
            if expansion.terms.contains(word) {
                *left *= 1.0 - self.params.covered;
            }
        }
        Ok(())
    }

    /// The links of the chunks that look best, shared out by how good they look.
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
        for ((chunk, meaning), mut words) in new.into_iter().zip(meaning).zip(words) {
            for word in &mut words {
                *word *= of_words;
            }
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
        let words =
            node.words.iter().zip(&self.uncovered).map(|(weight, left)| weight * left).sum();
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
