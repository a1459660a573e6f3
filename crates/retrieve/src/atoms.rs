//! Finds the stored atoms that answer a proposal, each with its chunk: path (b), `R_atom` (KAR³ eq.
//! 5).

use std::collections::{BTreeMap, HashSet};

use pikerag_knowledge::{
    Atom, AtomKind, AtomQuery, ChunkId, NodeId, Vector, VectorSet, cosine, nearest_atoms,
};
use pikerag_language::content_words;

use crate::finder::{Finder, Hit, RetrieveError};
use crate::synonyms::in_documents_words;

/// An atom found for a proposal; it leads to its chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct AtomHit {
    /// The number of the proposal that found it, from 0.
    pub proposal: usize,
    /// The atom, with the chunk that answers it.
    pub atom: Atom,
    /// Cosine of proposal and atom, from −1 to 1; without an embedder, the share of the proposal's
    /// words, from 0 to 1.
    pub score: f32,
}

/// The `k` atoms closest to each proposal, none below `min_score` (δ), none whose chunk is in
/// `exclude`. In the order of proposals, best first. An atom that several proposals find is listed
/// once, under the proposal with its best score.
///
/// Without an embedder it compares words: it takes the chunks that match a proposal best, each with
/// the atom that shares most words with it. An atom counts if it holds at least a `min_score` share
/// of the proposal's words.
///
/// `min_score` is thus a cosine from −1 to 1 by meaning, and a share from 0 to 1 by words.
/// Empty if no atom reaches it, or the base has no atoms of this kind.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn atoms(
    finder: Finder<'_>,
    kind: AtomKind,
    proposals: &[String],
    k: usize,
    min_score: f32,
    exclude: &[ChunkId],
) -> Result<Vec<AtomHit>, RetrieveError> {
    let asked = Asked::of(finder, proposals).await?;
    found(finder, kind, &asked, k, min_score, exclude).await
}

/// The hits of [`atoms`] for one query, of the first kind that has any: questions, else statements, else
/// sentences.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn closest_atoms(
    finder: Finder<'_>,
    query: &str,
    k: usize,
    min_score: f32,
) -> Result<Vec<AtomHit>, RetrieveError> {
    let asked = [query.to_owned()];
    for kind in [AtomKind::Question, AtomKind::Statement, AtomKind::Sentence] {
        let found = atoms(finder, kind, &asked, k, min_score, &[]).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The hits of [`atoms`], each with its greatest similarity to any of the proposals, also to one that did not find it
/// because `k` other atoms are closer. In the order of proposals, best first. The proposals are embedded once.
///
/// # Errors
/// See [`RetrieveError`].
pub async fn atoms_compared(
    finder: Finder<'_>,
    kind: AtomKind,
    proposals: &[String],
    k: usize,
    min_score: f32,
    exclude: &[ChunkId],
) -> Result<Vec<AtomHit>, RetrieveError> {
    let asked = Asked::of(finder, proposals).await?;
    let hits = found(finder, kind, &asked, k, min_score, exclude).await?;
    compared(finder, kind, &asked, hits).await
}

/// Proposals in the documents' words.
struct Asked {
    texts: Vec<String>,
    /// None without an embedder.
    vectors: Option<Vec<Vector>>,
}

impl Asked {
    async fn of(finder: Finder<'_>, proposals: &[String]) -> Result<Self, RetrieveError> {
        let mut texts = Vec::with_capacity(proposals.len());
        for proposal in proposals {
            texts.push(in_documents_words(finder, proposal).await?.into_owned());
        }
        let vectors = finder.vectors(&texts).await?;
        Ok(Self { texts, vectors })
    }
}

async fn found(
    finder: Finder<'_>,
    kind: AtomKind,
    asked: &Asked,
    k: usize,
    min_score: f32,
    exclude: &[ChunkId],
) -> Result<Vec<AtomHit>, RetrieveError> {
    let mut hits = Vec::new();
    if let Some(vectors) = &asked.vectors {
        let lists = nearest_atoms(finder.base, kind, vectors, k, min_score, exclude).await?;
        for (proposal, list) in lists.into_iter().enumerate() {
            hits.extend(list.into_iter().map(|hit| AtomHit {
                proposal,
                atom: hit.item,
                score: hit.score,
            }));
        }
    } else {
        for (proposal, text) in asked.texts.iter().enumerate() {
            for (atom, score) in by_words(finder, kind, text, k, exclude).await? {
                if min_score <= score {
                    hits.push(AtomHit { proposal, atom, score });
                }
            }
        }
    }
    Ok(each_once(hits))
}

async fn compared(
    finder: Finder<'_>,
    kind: AtomKind,
    asked: &Asked,
    mut hits: Vec<AtomHit>,
) -> Result<Vec<AtomHit>, RetrieveError> {
    if asked.texts.len() < 2 || hits.is_empty() {
        return Ok(hits);
    }
    let scores: Vec<Vec<f32>> = if let Some(queries) = &asked.vectors {
        let nodes: Vec<NodeId> = hits.iter().map(|hit| NodeId(hit.atom.id.0)).collect();
        let vectors = finder.base.vectors(VectorSet::Atoms(kind), &nodes).await?;
        let of_atom = |vector: Option<Vector>| match vector {
            Some(vector) => queries.iter().map(|query| cosine(query, &vector)).collect(),
            None => Vec::new(),
        };
        vectors.into_iter().map(of_atom).collect()
    } else {
        let wanted: Vec<HashSet<String>> =
            asked.texts.iter().map(|text| content_words(text).into_iter().collect()).collect();
        let of_atom =
            |hit: &AtomHit| wanted.iter().map(|wanted| share(wanted, &hit.atom.text)).collect();
        hits.iter().map(of_atom).collect()
    };
    for (hit, scores) in hits.iter_mut().zip(scores) {
        for (proposal, score) in scores.into_iter().enumerate() {
            if hit.score < score {
                (hit.proposal, hit.score) = (proposal, score);
            }
        }
    }
    hits.sort_by(|one, other| {
        one.proposal.cmp(&other.proposal).then(other.score.total_cmp(&one.score))
    });
    Ok(hits)
}

/// The share of the wanted words that a text holds, from 0 to 1.
fn share(wanted: &HashSet<String>, text: &str) -> f32 {
    let shared = content_words(text).iter().filter(|word| wanted.contains(*word)).count();
    shared as f32 / wanted.len().max(1) as f32
}

/// Keeps each atom once, with its best score, in the order of proposals.
fn each_once(hits: Vec<AtomHit>) -> Vec<AtomHit> {
    let mut best = BTreeMap::new();
    for hit in &hits {
        let entry = best.entry(hit.atom.id).or_insert((hit.score, hit.proposal));
        if entry.0 < hit.score {
            *entry = (hit.score, hit.proposal);
        }
    }
    hits.into_iter()
        .filter(|hit| best.get(&hit.atom.id).is_some_and(|(_, proposal)| *proposal == hit.proposal))
        .collect()
}

async fn by_words(
    finder: Finder<'_>,
    kind: AtomKind,
    proposal: &str,
    k: usize,
    exclude: &[ChunkId],
) -> Result<Vec<(Atom, f32)>, RetrieveError> {
    let wanted: HashSet<String> = content_words(proposal).into_iter().collect();
    let found = finder.base.matching_chunks(proposal, k + exclude.len()).await?;
    let chunks: Vec<ChunkId> =
        found.iter().map(|hit| hit.item).filter(|chunk| !exclude.contains(chunk)).take(k).collect();
    let mut best: BTreeMap<ChunkId, (Atom, f32)> = BTreeMap::new();
    for atom in finder.base.atoms(AtomQuery::InChunks(kind, &chunks)).await? {
        let score = share(&wanted, &atom.text);
        match best.get(&atom.chunk) {
            Some((_, held)) if score <= *held => {}
            _ => {
                best.insert(atom.chunk, (atom, score));
            }
        }
    }
    let mut atoms: Vec<(Atom, f32)> = best.into_values().collect();
    atoms.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.id.cmp(&b.0.id)));
    Ok(atoms)
}

impl AtomHit {
    /// The atom's chunk, as a hit with the atom's score.
    pub fn as_chunk(&self) -> Hit {
        Hit {
            chunk: self.atom.chunk,
            score: self.score,
            parts: BTreeMap::from([("atom".to_owned(), self.score)]),
        }
    }
}
