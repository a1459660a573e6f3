//! Fuses the lists of hops, layers, and words or meaning by reciprocal rank (ours), and weighs each
//! list by how far links can be trusted. Trust comes from the base's titles, the names in the
//! question, and the question's length.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use pikerag_knowledge::{ChunkId, NameKey};
use pikerag_language::fold::tokens;
use pikerag_language::terms;
use serde::{Deserialize, Serialize};

use crate::chunks::nearest;
use crate::finder::{Finder, Hit, RetrieveError};
use crate::hops::{HopParams, hops_of};
use crate::known::KnownState;
use crate::layers::{LayerParams, spread_scores};
use crate::question::{Asked, CLOSEST};
use crate::titles::{MOST_BEARERS, key};

/// The weights of the lists. Trust in links, from 0 to 1, is a product: how title-like the base's
/// titles are, times how surely the question names something. Hops weigh `hops · trust`; layers
/// always weigh the same. Words weigh `words · (1 - trust) · (1 - short / 2)` and meaning `meaning
/// · (1 - trust) · short`. `short` runs from 0 for long questions to 1 for short ones.
///
/// Chosen on train splits and even halves of data sets; docs/explain/retrieval.md has the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoParams {
    /// Weight of hop retrieval if links are trusted.
    pub hops: f32,
    /// Weight of all layers at once.
    pub layers: f32,
    /// Weight of words if links are not trusted; half of it if the question is short and there is
    /// an embedder.
    pub words: f32,
    /// Weight of meaning for a short question if links are not trusted and an embedder knows its
    /// language. One vector cannot represent a question about many things.
    pub meaning: f32,
    /// The most words of a short question; two Chinese characters count as one word.
    pub short: f32,
    /// The fewest words of a long question; between the two it is partly short.
    pub long: f32,
    /// A chunk at rank r of a list adds the list's weight / (offset + r). A smaller offset makes
    /// the first ranks count more.
    pub offset: f32,
    /// Titles name the subjects of chunks if few chunks share one. Up to this mean of 1 / (chunks
    /// that share the title), no link is trusted: the documents have several chunks each.
    pub shared_titles: f32,
    /// The mean from which links are trusted fully: hardly any chunk shares its title.
    pub own_titles: f32,
    /// How surely the question must name a chunk by its title for full trust.
    pub named: f32,
    /// Trust if the question names no chunk that surely, but titles link the first chunks.
    pub unnamed: f32,
    /// Trust if no title links them either.
    pub unlinked: f32,
    /// The number of further words up to which a question that names something asks for little
    /// ("What is the occupation of X?"). Hops then bring only chunks that are named, or whose title
    /// a chosen chunk mentions. The named page is found already, and the meaning of the other words
    /// would match pages about other people.
    pub left: u32,
}

impl Default for AutoParams {
    fn default() -> Self {
        Self {
            hops: 3.0,
            layers: 1.0,
            words: 1.0,
            meaning: 1.5,
            short: 12.0,
            long: 24.0,
            offset: 3.0,
            shared_titles: 0.6,
            own_titles: 0.85,
            named: 0.5,
            unnamed: 0.5,
            unlinked: 0.1,
            left: 2,
        }
    }
}

/// Parts of a hop's score.
const NAMED: &str = "named_in_question";
const LINKS: &str = "title_links";
/// The fewest chunks that each list brings: a chunk late in several lists may be among the best.
const DEPTH: usize = 30;
/// The same for hops: each hop costs its own look-up.
const HOPS: usize = 16;
/// The number of chunks whose titles represent the base.
const SAMPLE: usize = 256;
/// The ranks after the first in which links are looked for, and the least strength of such a link.
const LINKED: std::ops::Range<usize> = 1..6;
const LINK: f32 = 0.1;
/// The strength of a link to a chunk whose title a chosen chunk mentions; links back, and names in
/// common, are weaker.
const MENTIONED: f32 = 0.25;

/// The `k` best chunks of all lists together, best first, ties by identifier.
///
/// # Errors
/// See [`RetrieveError`].
pub(crate) async fn auto(
    finder: Finder<'_>,
    query: &str,
    k: usize,
    weights: AutoParams,
    of_lists: (HopParams, LayerParams),
) -> Result<Vec<Hit>, RetrieveError> {
    let depth = k.max(DEPTH);
    let what = format!("auto {weights:?} {of_lists:?} {query}");
    let lists = match finder.memory.and_then(|memory| memory.lookup::<Lists>(&what)) {
        Some(lists) => lists,
        None => {
            let lists = Arc::new(look_up(finder, query, weights, of_lists).await?);
            if let Some(memory) = finder.memory {
                memory.add_lookup(what, &lists);
            }
            lists
        }
    };
    let Lists { asked, trust, by_hops, by_layers } = lists.as_ref();
    let short = if asked.vector.is_some() { weights.shortness(asked.length) } else { 0.0 };
    let plain = 1.0 - trust;
    let by_words = match depth <= CLOSEST {
        true => ranked(&asked.matching, depth),
        false => nearest(Finder { embedder: None, ..finder }, query, depth, 0.0).await?,
    };
    let by_meaning = ranked(&asked.closest, depth);
    let by_layers = by_layers.get(..depth).unwrap_or(by_layers);
    let lists = [
        ("hops", weights.hops * trust, by_hops.as_slice()),
        ("layers", weights.layers, by_layers),
        ("meaning", weights.meaning * plain * short, &by_meaning),
        ("words", weights.words * plain * (1.0 - short / 2.0), &by_words),
    ];
    let mut fused = fuse(&lists, weights.offset);
    fused.truncate(k);
    Ok(fused)
}

/// The lists of one query, however many hits are wanted.
struct Lists {
    asked: Arc<Asked>,
    /// How far links can be trusted, from 0 to 1.
    trust: f32,
    by_hops: Vec<Hit>,
    /// All chunks that have a score over the layers, the best first.
    by_layers: Vec<Hit>,
}

async fn look_up(
    finder: Finder<'_>,
    query: &str,
    weights: AutoParams,
    (of_hops, of_layers): (HopParams, LayerParams),
) -> Result<Lists, RetrieveError> {
    let floor = of_hops.rarity_floor.min(of_layers.rarity_floor);
    let asked = Arc::new(Asked::new(finder, query, floor).await?);
    let titles = weights.of_titles(own_titles(finder).await?);
    let by_hops = match 0.0 < titles {
        true => hops_of(finder, Arc::clone(&asked), HOPS, of_hops).await?,
        false => Vec::new(),
    };
    let trust = titles * weights.of_question(&by_hops);
    let by_hops = match weights.asks_for_little(finder, &asked, &by_hops).await? {
        true => by_hops.into_iter().filter(is_reached).collect(),
        false => by_hops,
    };
    let by_layers = spread_scores(finder, &asked, of_layers).await?;
    Ok(Lists { asked, trust, by_hops, by_layers })
}

impl AutoParams {
    fn of_titles(self, own: f32) -> f32 {
        let range = (self.own_titles - self.shared_titles).max(f32::EPSILON);
        ((own - self.shared_titles) / range).clamp(0.0, 1.0)
    }

    /// How short a question of `words` words is, from 0 to 1.
    fn shortness(self, words: f32) -> f32 {
        ((self.long - words) / (self.long - self.short).max(f32::EPSILON)).clamp(0.0, 1.0)
    }

    /// Whether the question asks hardly anything beside its names.
    async fn asks_for_little(
        self,
        finder: Finder<'_>,
        asked: &Asked,
        hops: &[Hit],
    ) -> Result<bool, RetrieveError> {
        let is_named = |hit: &&Hit| self.named <= part(hit, NAMED);
        let named: Vec<ChunkId> = hops.iter().filter(is_named).map(|hit| hit.chunk).collect();
        if named.is_empty() {
            return Ok(false);
        }
        let chunks = finder.base.chunks(&named).await?;
        let titles: HashSet<String> = chunks.iter().flat_map(|chunk| terms(&chunk.title)).collect();
        Ok(asked.words.iter().filter(|word| !titles.contains(*word)).count() <= self.left as usize)
    }

    fn of_question(self, hops: &[Hit]) -> f32 {
        let strongest =
            |hits: &[Hit], name: &str| hits.iter().map(|hit| part(hit, name)).fold(0.0, f32::max);
        let linked = hops.get(LINKED.start..LINKED.end.min(hops.len())).unwrap_or_default();
        if self.named <= strongest(hops, NAMED) {
            1.0
        } else if LINK <= strongest(linked, LINKS) {
            self.unnamed
        } else {
            self.unlinked
        }
    }
}

/// A part of a hop's score; 0 if the hop has no such part.
fn part(hit: &Hit, name: &str) -> f32 {
    hit.parts.get(name).copied().unwrap_or_default()
}

/// Whether hops reached a chunk by its name, not by similarity.
fn is_reached(hit: &Hit) -> bool {
    0.0 < part(hit, NAMED) || MENTIONED <= part(hit, LINKS)
}

/// The first of a list, as hits.
fn ranked(list: &[(ChunkId, f32)], depth: usize) -> Vec<Hit> {
    let hit = |(chunk, score): &(ChunkId, f32)| Hit {
        chunk: *chunk,
        score: *score,
        parts: BTreeMap::new(),
    };
    list.iter().take(depth).map(hit).collect()
}

/// The share of its title that a chunk has for itself, on average: 1 if no two chunks share a
/// title. A title too long for a name counts as 0.
async fn own_titles(finder: Finder<'_>) -> Result<f32, RetrieveError> {
    if let Some(own) = finder.known().and_then(KnownState::own_titles) {
        return Ok(own);
    }
    let titles = finder.base.sample_titles(SAMPLE).await?;
    let keys: Vec<NameKey> = titles
        .iter()
        .map(|title| key(&tokens(title).into_iter().map(|token| token.folded).collect::<Vec<_>>()))
        .collect();
    let bearers = finder.base.chunks_by_title(&keys, MOST_BEARERS).await?;
    let shares = bearers.iter().filter(|all| 0 < all.count).map(|all| 1.0 / all.count as f32);
    let own = shares.sum::<f32>() / titles.len().max(1) as f32;
    if let Some(known) = finder.known() {
        known.add_own_titles(own);
    }
    Ok(own)
}

/// Weighted reciprocal ranks; the parts of a score are the sums that each list adds.
fn fuse(lists: &[(&str, f32, &[Hit])], offset: f32) -> Vec<Hit> {
    let mut all: BTreeMap<ChunkId, BTreeMap<String, f32>> = BTreeMap::new();
    for (name, weight, hits) in lists.iter().filter(|(_, weight, _)| 0.0 < *weight) {
        for (place, hit) in hits.iter().enumerate() {
            let part = weight / (offset + (place + 1) as f32);
            all.entry(hit.chunk).or_default().insert((*name).to_owned(), part);
        }
    }
    let hit = |(chunk, parts): (ChunkId, BTreeMap<String, f32>)| Hit {
        chunk,
        score: parts.values().sum(),
        parts,
    };
    let mut fused: Vec<Hit> = all.into_iter().map(hit).collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(id: u64, parts: &[(&str, f32)]) -> Hit {
        let parts = parts.iter().map(|(name, part)| ((*name).to_owned(), *part)).collect();
        Hit { chunk: ChunkId(id), score: 9.0, parts }
    }

    fn list(ids: &[u64]) -> Vec<Hit> {
        ids.iter().map(|id| hit(*id, &[])).collect()
    }

    #[test]
    fn lists_count_by_weight_and_ties_go_by_id() {
        let [hops, words, layers] = [list(&[7, 2]), list(&[3, 2]), list(&[9])];
        let lists = [("hops", 2.0, &hops[..]), ("words", 1.0, &words), ("layers", 0.0, &layers)];
        let fused = fuse(&lists, 1.0);
        let order: Vec<u64> = fused.iter().map(|hit| hit.chunk.0).collect();
        assert_eq!(
            order,
            [2, 7, 3],
            "2/3 + 1/3 is as much as 2/2; a list without weight brings nothing"
        );
        assert_eq!(fused[0].parts.keys().collect::<Vec<_>>(), ["hops", "words"]);
        for hit in &fused {
            assert!((hit.score - hit.parts.values().sum::<f32>()).abs() < 1e-6);
        }
    }

    #[test]
    fn links_are_trusted_if_titles_and_question_name_things() {
        let params = AutoParams::default();
        let trust = [0.1, 0.6, 0.85, 1.0].map(|own| params.of_titles(own));
        assert_eq!(format!("{trust:?}"), "[0.0, 0.0, 1.0, 1.0]");
        let named = [hit(1, &[("named_in_question", 0.9)])];
        let linked = [hit(1, &[]), hit(2, &[("title_links", 0.3)])];
        let first_only = [hit(1, &[("title_links", 0.3)]), hit(2, &[])];
        let trust = [&named[..], &linked, &first_only, &[]].map(|hops| params.of_question(hops));
        assert_eq!(format!("{trust:?}"), "[1.0, 0.5, 0.1, 0.1]");
        let short = [0.0, 12.0, 18.0, 24.0, 99.0].map(|words| params.shortness(words));
        assert_eq!(format!("{short:?}"), "[1.0, 1.0, 0.5, 0.0, 0.0]");
    }

    #[test]
    fn chunks_are_reached_by_name_or_mention_and_not_backwards() {
        let parts = [
            ("named_in_question", 0.1),
            ("title_links", 0.7),
            ("title_links", 0.2),
            ("meaning", 0.9),
        ];
        let reached = parts.map(|part| is_reached(&hit(1, &[part])));
        assert_eq!(reached, [true, true, false, false]);
    }
}
