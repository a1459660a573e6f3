//! Makes atoms of what several chunks of a document say together: of a section, a chapter, or all of a short document (PIKE-RAG
//! §5.3.1, atoms of summary chunks).

use std::collections::{BTreeSet, HashSet};

use async_trait::async_trait;
use futures::future::FutureExt;
use pikerag_extract::{Atomized, section_atoms, section_prompt};
use pikerag_knowledge::{
    ChatModel, Chunk, ChunkId, ChunkKind, ChunkResults, ChunksOf, InChunk, KnowledgeWriter, NodeId,
    Role, SourceId, Stage as Mark,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::AskError;

use super::atoms::store;
use crate::bill::Bill;
use crate::outcome::Report;
use crate::pending::{PAGE, Waiting, all_pending, paged};
use crate::stage::{Answers, ByPiece, Done, Found, Job, New, Piece};

/// The most chunks of a part.
const MOST: usize = 12;
/// Questions of a part, and tokens of each with the numbers of its passages, estimated.
const QUESTIONS: u64 = 5;
const TOKENS: u64 = 28;

/// The questions of sections.
pub(crate) struct Sections;

/// Chunks of one document that follow each other, at least two.
pub(crate) struct Part(Vec<Chunk>);

impl Piece for Part {
    fn label(&self) -> String {
        self.0.first().map(|chunk| chunk.uri.clone()).unwrap_or_default()
    }
}

#[async_trait]
impl ByPiece for Sections {
    type Piece = Part;
    type Reply = Vec<InChunk<Atomized>>;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Part> {
        let pending = all_pending(base, &Mark::atomize_sections()).await?;
        let waiting: HashSet<ChunkId> = pending.iter().copied().collect();
        let mut sources: BTreeSet<SourceId> = BTreeSet::new();
        for page in pending.chunks(PAGE) {
            sources.extend(base.chunks(page).await?.into_iter().map(|chunk| chunk.source));
        }
        let sources: Vec<SourceId> = sources.into_iter().collect();
        let (mut parts, mut passed): (Vec<Vec<ChunkId>>, Vec<ChunkId>) = (Vec::new(), Vec::new());
        for list in base.chunks_of(ChunksOf::Sources(&sources), usize::MAX).await? {
            let (tables, texts): (Vec<Chunk>, Vec<Chunk>) =
                base.chunks(&list.chunks).await?.into_iter().partition(is_table);
            passed.extend(tables.iter().map(|table| table.id).filter(|id| waiting.contains(id)));
            for part in cut(texts) {
                let ids: Vec<ChunkId> = part.iter().map(|chunk| chunk.id).collect();
                match ids.as_slice() {
                    [alone] => passed.extend(Some(*alone).filter(|id| waiting.contains(id))),
                    ids if ids.iter().any(|id| waiting.contains(id)) => parts.push(ids.to_vec()),
                    _ => {}
                }
            }
        }
        let total = parts.len();
        let pieces = paged(&parts, 1, move |part: Vec<Vec<ChunkId>>| {
            async move { Ok(vec![Part(base.chunks(&part.concat()).await?)]) }.boxed()
        });
        Ok(Waiting { total, pieces, passed })
    }

    fn piece_of(&self, _new: &New<'_>) -> Option<Part> {
        None
    }

    fn pieces_of(&self, new: &New<'_>) -> Vec<Part> {
        let New::Document { graph, has_new_chunk: true } = new else { return Vec::new() };
        let texts = graph.chunks.iter().filter(|chunk| !chunk.hidden && !is_table(chunk));
        cut(texts.cloned().collect()).into_iter().filter(|part| 1 < part.len()).map(Part).collect()
    }

    async fn ask(
        &self,
        model: &dyn ChatModel,
        Part(chunks): &Part,
    ) -> Result<Self::Reply, AskError> {
        section_atoms(model, chunks).await
    }

    fn marks(&self, Part(chunks): &Part) -> Vec<(Mark, NodeId)> {
        chunks.iter().map(|chunk| (Mark::atomize_sections(), chunk.id.into())).collect()
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done {
        let mut atoms = Vec::new();
        for (Part(chunks), reply) in answers {
            report.undecided += usize::from(reply.is_none());
            let none = |chunk: &Chunk| InChunk { chunk: chunk.id, found: Atomized::default() };
            for InChunk { chunk, found } in
                reply.unwrap_or_else(|| chunks.iter().map(none).collect())
            {
                report.duplicates += found.duplicates;
                report.pronouns += found.pronouns;
                atoms.push(InChunk { chunk, found: found.atoms });
            }
        }
        store(job, Mark::atomize_sections(), atoms, report).await
    }

    async fn pass(&self, base: &dyn KnowledgeWriter, passed: Vec<ChunkId>) -> Done {
        let none = passed.into_iter().map(|chunk| InChunk { chunk, found: Vec::new() }).collect();
        base.put_chunk_results(ChunkResults::Atoms(Mark::atomize_sections(), none)).await
    }

    fn forecast(&self, Part(chunks): &Part, bill: &mut Bill) {
        let prompt = section_prompt(chunks).map_or(0, |prompt| estimate_tokens(&prompt));
        bill.call(Role::Atomize, prompt, QUESTIONS * TOKENS);
        // Each question leads to two chunks or more.
        bill.embed(2 * QUESTIONS * (TOKENS - 10));
    }
}

/// The rows of a table are counted and searched; they tell nothing together.
fn is_table(chunk: &Chunk) -> bool {
    chunk.kind == ChunkKind::Table
}

/// Cuts the chunks of a document, in reading order, where a section begins, so that no part has more than [`MOST`]: the whole
/// document, else its chapters, else their sections. A longer section is cut after that many chunks.
fn cut(chunks: Vec<Chunk>) -> Vec<Vec<Chunk>> {
    cut_below(chunks, 0)
}

fn cut_below(chunks: Vec<Chunk>, level: usize) -> Vec<Vec<Chunk>> {
    if chunks.len() <= MOST {
        return if chunks.is_empty() { Vec::new() } else { vec![chunks] };
    }
    let deepest = chunks.iter().map(|chunk| chunk.headings.len()).max().unwrap_or_default();
    if deepest <= level {
        return chunks.chunks(MOST).map(<[Chunk]>::to_vec).collect();
    }
    let heading = |chunk: &Chunk| chunk.headings.get(level).cloned();
    let mut parts: Vec<Vec<Chunk>> = Vec::new();
    for part in chunks.chunk_by(|a, b| heading(a) == heading(b)) {
        match parts.last_mut() {
            // Short sections beside each other are read together.
            Some(last) if last.len() + part.len() <= MOST => last.extend_from_slice(part),
            _ => parts.extend(cut_below(part.to_vec(), level + 1)),
        }
    }
    parts
}
