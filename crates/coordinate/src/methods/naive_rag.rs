//! Naive RAG: one retrieval, one answer (Lewis et al., 2020; parameters of KAR³ §A.3 and §A.4).

use pikerag_knowledge::{Answer, AtomKind, Context, Event, Question, Via};
use pikerag_retrieve::{atoms, hybrid, nearest};
use tracing::instrument;

use crate::conclude::conclude;
use crate::kit::{Kit, Run, SolveError};
use crate::methods::Method;
use crate::methods::kar3::{atom_candidates, chunk_candidates, fetch};

/// How chunks are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// By meaning, as in the paper; by words where there is no embedder.
    Meaning,
    /// By words and meaning, fused.
    Hybrid,
}

/// What is retrieved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// How chunks are found.
    pub path: Path,
    /// Chunks by path (a).
    pub chunks: usize,
    /// The least cosine of those.
    pub chunk_floor: f32,
    /// Atoms by path (b); 0 for `R`, more for `H-R`.
    pub atoms: usize,
    /// The least cosine of those.
    pub atom_floor: f32,
}

impl Params {
    /// `R`: 16 chunks, score ≥ 0.2.
    pub fn chunks() -> Self {
        Self { path: Path::Meaning, chunks: 16, chunk_floor: 0.2, atoms: 0, atom_floor: 0.5 }
    }

    /// Ours: 16 chunks by words and meaning.
    pub fn hybrid() -> Self {
        Self { path: Path::Hybrid, ..Self::chunks() }
    }

    /// `H-R`: 8 chunks, score ≥ 0.5, and those of 4 atoms, score ≥ 0.5.
    pub fn hierarchical() -> Self {
        Self { path: Path::Meaning, chunks: 8, chunk_floor: 0.5, atoms: 4, atom_floor: 0.5 }
    }
}

/// Answers `question` from one retrieval: one chat call.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "naive_rag", skip_all, fields(question = %question.id))]
pub async fn solve(kit: &Kit, question: &Question, params: Params) -> Result<Answer, SolveError> {
    let mut run = Run::begin(&Method::NaiveRag(params).to_string(), question);
    let hits = match params.path {
        Path::Meaning => {
            nearest(kit.finder(), &question.text, params.chunks, params.chunk_floor).await?
        }
        Path::Hybrid => hybrid(kit.finder(), &question.text, params.chunks).await?,
    };
    let mut candidates = chunk_candidates(kit, &hits, Via::Chunks, &question.text).await?;
    if 0 < params.atoms {
        let asked = [question.text.clone()];
        let (k, floor) = (params.atoms, params.atom_floor);
        let mut found = atoms(kit.finder(), AtomKind::Question, &asked, k, floor, &[]).await?;
        if found.is_empty() {
            // A base made without a model has sentences in place of questions.
            found = atoms(kit.finder(), AtomKind::Sentence, &asked, k, floor, &[]).await?;
        }
        for candidate in atom_candidates(kit, &found, &asked, Via::Atoms).await? {
            if !candidates.iter().any(|held| held.chunk == candidate.chunk) {
                candidates.push(candidate);
            }
        }
    }
    let mut context = Context::default();
    for chunk in fetch(kit, &candidates).await? {
        context.add(1, chunk);
    }
    run.trace.push(Event::Gathered { candidates });
    conclude(kit, question, context, run).await
}
