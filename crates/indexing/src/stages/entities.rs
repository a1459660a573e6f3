//! Extracts entities and relations chunk by chunk, by a model or by proper names, and shortens long
//! descriptions (GraphRAG §3.1).

use std::ops::ControlFlow;

use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use pikerag_extract::{extract, extract_names, extract_prompt};
use pikerag_knowledge::{
    Account, ChatModel, Chunk, ChunkResults, ExtractBy, Extraction, InChunk, KnowledgeWriter,
    LongDescription, ModelTexts, NodeId, Role, ShortDescription, Stage as Mark,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{AskError, Prompt, quiet_headings};

use crate::bill::Bill;
use crate::outcome::Report;
use crate::pending::{Waiting, all_pending};
use crate::stage::{
    Answers, ByPiece, Done, Found, Job, New, Piece, Ran, Row, Stage, ask_prose, prompt_tokens,
};

/// The most tokens of descriptions of an entity or relation; a model shortens longer ones.
const LONG: u64 = 600;
/// Tokens of entities and relations that a model lists per token of text, with their JSON, estimated.
const EXTRACTED: f64 = 1.0;
/// Tokens of a description, estimated.
const DESCRIPTION: u64 = 200;

const DESCRIBE: Prompt = Prompt::new(Role::Summarize, include_str!("prompts/describe.md"), 512);

/// Entities and relations that a model extracts from chunks.
pub(crate) struct Entities;

#[async_trait]
impl ByPiece for Entities {
    type Piece = Chunk;
    type Reply = Extraction;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Chunk> {
        let ids = all_pending(base, &Mark::extract(ExtractBy::Model)).await?;
        Ok(Waiting::chunks(base, &ids))
    }

    fn piece_of(&self, new: &New<'_>) -> Option<Chunk> {
        new.chunk().cloned()
    }

    async fn ask(&self, model: &dyn ChatModel, chunk: &Chunk) -> Result<Extraction, AskError> {
        extract(model, chunk, &mut Account::default()).await
    }

    fn marks(&self, chunk: &Chunk) -> Vec<(Mark, NodeId)> {
        vec![(Mark::extract(ExtractBy::Model), chunk.id.into())]
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done {
        let mut found = Vec::with_capacity(answers.len());
        for (chunk, read) in answers {
            report.extracted += 1;
            report.unextracted += usize::from(read.is_none());
            let found_here = read.unwrap_or_else(|| extract_names(&chunk));
            found.push(InChunk { chunk: chunk.id, found: found_here });
        }
        job.base().put_chunk_results(ChunkResults::Extractions(ExtractBy::Model, found)).await
    }

    fn forecast(&self, chunk: &Chunk, bill: &mut Bill) {
        let text = estimate_tokens(&chunk.reading_text());
        let prompt = extract_prompt(chunk).map_or(text, |prompt| estimate_tokens(&prompt));
        bill.call(Role::Extract, prompt, (text as f64 * EXTRACTED).ceil() as u64);
        bill.graph_chunks += 1;
        bill.embed(text);
        bill.embed_chunk(chunk);
    }
}

/// Proper names in chunks, related if they are in one sentence.
pub(crate) struct Names;

#[async_trait]
impl Stage for Names {
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        let by = ExtractBy::Names;
        let pending = all_pending(job.base(), &Mark::extract(by)).await?;
        for (page, done) in job.pages(row, &pending) {
            let chunks = job.base().chunks(page).await?;
            report.extracted += chunks.len();
            let named = |chunk: &Chunk| InChunk { chunk: chunk.id, found: extract_names(chunk) };
            let found = chunks.iter().map(named).collect();
            job.base().put_chunk_results(ChunkResults::Extractions(by, found)).await?;
            done();
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Short descriptions of entities and relations whose descriptions are long.
pub(crate) struct LongDescriptions;

impl Piece for LongDescription {
    fn label(&self) -> String {
        self.name.clone()
    }
}

#[async_trait]
impl ByPiece for LongDescriptions {
    type Piece = LongDescription;
    type Reply = String;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, LongDescription> {
        // A byte is at most one token in every script.
        let mut long = base.long_descriptions(LONG as usize).await?;
        let mut refused = base.refusals().await?;
        refused.retain(|refusal| refusal.stage == Mark::describe_entities());
        long.retain(|long| refused.iter().all(|refusal| refusal.node != long.node));
        long.retain(|long| LONG < estimate_tokens(&long.descriptions.join(" ")));
        let total = long.len();
        let pieces = stream::iter(long.into_iter().map(Ok)).boxed();
        Ok(Waiting { total, pieces, passed: Vec::new() })
    }

    /// The length of an entity's descriptions is known only after extraction.
    fn piece_of(&self, _new: &New<'_>) -> Option<LongDescription> {
        None
    }

    async fn ask(&self, model: &dyn ChatModel, long: &LongDescription) -> Result<String, AskError> {
        ask_prose(model, &DESCRIBE, &long_inputs(long), &[]).await
    }

    fn marks(&self, long: &LongDescription) -> Vec<(Mark, NodeId)> {
        vec![(Mark::describe_entities(), long.node)]
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, _report: &mut Report) -> Done {
        let made = answers.into_iter().filter_map(|(long, reply)| {
            Some(ShortDescription { node: long.node, made_from: long.key(), text: reply? })
        });
        job.base().put_texts(ModelTexts::Descriptions(made.collect())).await
    }

    fn forecast(&self, long: &LongDescription, bill: &mut Bill) {
        bill.call(Role::Summarize, prompt_tokens(&DESCRIBE, &long_inputs(long)), DESCRIPTION);
    }
}

fn long_inputs(long: &LongDescription) -> [(&'static str, String); 2] {
    let listed: Vec<String> = long.descriptions.iter().map(|text| format!("- {text}")).collect();
    [("name", quiet_headings(&long.name)), ("descriptions", quiet_headings(&listed.join("\n")))]
}
