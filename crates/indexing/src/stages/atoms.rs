//! Makes the atoms by which a chunk is found: questions and statements that a model writes, or its sentences
//! (KAR³ §3.3, Table 13).

use std::ops::ControlFlow;

use async_trait::async_trait;
use pikerag_extract::{
    Atomized, atomize_prompt, question_atoms, sentence_atoms, statement_atoms, statements_prompt,
};
use pikerag_knowledge::{
    Atom, AtomId, AtomKind, ChatModel, Chunk, ChunkResults, InChunk, KnowledgeWriter, NodeId, Role,
    Stage as Mark, StoreError,
};
use pikerag_language::{estimate_tokens, sentences};
use pikerag_prompt::AskError;

use crate::bill::Bill;
use crate::fresh::NewAtom;
use crate::outcome::Report;
use crate::pending::{Waiting, all_pending};
use crate::stage::{Answers, ByPiece, Done, Found, Job, New, Ran, Row, Stage};

/// Questions that a model writes per sentence, and tokens per question with its quotes and comma. Derived
/// from the paper's costs: KAR³ Tables 10–12 count about as many reply tokens as content tokens.
const QUESTIONS_PER_SENTENCE: f64 = 1.3;
const TOKENS_PER_QUESTION: u64 = 16;
/// Statements that a model writes per sentence, and tokens of statements per token of text, because each
/// repeats its subject.
const STATEMENTS_PER_SENTENCE: f64 = 1.5;
const STATED: f64 = 1.4;

/// Atoms that a model writes.
#[derive(Clone, Copy)]
pub(crate) enum Written<'a> {
    /// Questions, with sample questions of readers.
    Questions(&'a [String]),
    Statements,
}

impl Written<'_> {
    fn kind(self) -> AtomKind {
        match self {
            Self::Questions(_) => AtomKind::Question,
            Self::Statements => AtomKind::Statement,
        }
    }
}

#[async_trait]
impl ByPiece for Written<'_> {
    type Piece = Chunk;
    type Reply = Atomized;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Chunk> {
        let ids = all_pending(base, &Mark::atomize(self.kind())).await?;
        Ok(Waiting::chunks(base, &ids))
    }

    fn piece_of(&self, new: &New<'_>) -> Option<Chunk> {
        new.chunk().cloned()
    }

    async fn ask(&self, model: &dyn ChatModel, chunk: &Chunk) -> Result<Atomized, AskError> {
        match self {
            Self::Questions(samples) => question_atoms(model, chunk, samples).await,
            Self::Statements => statement_atoms(model, chunk).await,
        }
    }

    fn marks(&self, chunk: &Chunk) -> Vec<(Mark, NodeId)> {
        vec![(Mark::atomize(self.kind()), chunk.id.into())]
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done {
        let mut atoms = Vec::with_capacity(answers.len());
        for (chunk, made) in answers {
            let found = read(&chunk, self.kind(), made, report);
            atoms.push(InChunk { chunk: chunk.id, found });
        }
        store(job, Mark::atomize(self.kind()), atoms, report).await
    }

    fn forecast(&self, chunk: &Chunk, bill: &mut Bill) {
        let text = estimate_tokens(&chunk.reading_text());
        let sentences = sentences(&chunk.text).len() as f64;
        match self {
            Self::Questions(samples) => {
                let asked = (sentences * QUESTIONS_PER_SENTENCE).ceil() as u64;
                let prompt =
                    atomize_prompt(chunk, samples).map_or(text, |prompt| estimate_tokens(&prompt));
                bill.call(Role::Atomize, prompt, asked * TOKENS_PER_QUESTION + 6);
                bill.embed(asked * (TOKENS_PER_QUESTION - 3));
            }
            Self::Statements => {
                let stated = (text as f64 * STATED).ceil() as u64;
                let marks = (sentences * STATEMENTS_PER_SENTENCE * 3.0).ceil() as u64;
                let prompt =
                    statements_prompt(chunk).map_or(text, |prompt| estimate_tokens(&prompt));
                bill.call(Role::Atomize, prompt, stated + marks + 6);
                bill.embed(stated);
            }
        }
        bill.embed_chunk(chunk);
    }
}

/// The sentences of chunks, unchanged.
pub(crate) struct Sentences;

#[async_trait]
impl Stage for Sentences {
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        let kind = AtomKind::Sentence;
        let pending = all_pending(job.base(), &Mark::atomize(kind)).await?;
        for (page, done) in job.pages(row, &pending) {
            let chunks = job.base().chunks(page).await?;
            let atoms = |chunk: &Chunk| InChunk { chunk: chunk.id, found: sentence_atoms(chunk) };
            store(job, Mark::atomize(kind), chunks.iter().map(atoms).collect(), report).await?;
            done();
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The atoms to store for a chunk: those of the reply, or its sentences if the reply could not be read.
fn read(chunk: &Chunk, kind: AtomKind, made: Option<Atomized>, report: &mut Report) -> Vec<Atom> {
    let Some(made) = made else {
        report.unreadable += 1;
        let as_kind = |atom: Atom| {
            let id = AtomId::of(atom.chunk, kind.as_str(), &atom.text);
            Atom { id, kind, ..atom }
        };
        return sentence_atoms(chunk).into_iter().map(as_kind).collect();
    };
    report.duplicates += made.duplicates;
    report.pronouns += made.pronouns;
    made.atoms
}

/// Stores atoms under a mark, then sends them to the embedder, which reads those beyond its capacity from the base.
pub(super) async fn store(
    job: &Job<'_>,
    mark: Mark,
    atoms: Vec<InChunk<Vec<Atom>>>,
    report: &mut Report,
) -> Result<(), StoreError> {
    report.atomized += atoms.len();
    report.atoms += atoms.iter().map(|atoms| atoms.found.len()).sum::<usize>();
    let sender = job.new_atoms.as_ref().filter(|sender| !sender.is_closed());
    let new_atoms: Vec<NewAtom> = match sender {
        Some(_) => atoms.iter().flat_map(|atoms| &atoms.found).map(NewAtom::of).collect(),
        None => Vec::new(),
    };
    job.base().put_chunk_results(ChunkResults::Atoms(mark, atoms)).await?;
    if let Some(sender) = sender {
        sender.send(new_atoms);
    }
    Ok(())
}
