//! Makes the missing vectors of every layer.

use std::ops::ControlFlow;

use async_trait::async_trait;
use pikerag_knowledge::DocumentGraph;
use pikerag_language::estimate_tokens;

use crate::bill::Bill;
use crate::embed::embed;
use crate::outcome::Report;
use crate::stage::{Job, New, Ran, Row, Stage};

/// The vectors of all texts that are searched by meaning.
pub(crate) struct Vectors;

#[async_trait]
impl Stage for Vectors {
    async fn run(&self, _row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        embed(job, report).await?;
        Ok(ControlFlow::Continue(()))
    }

    /// Counts a new chunk's text and a document's titles. Other stages count the texts that they make.
    fn count_new(&self, new: &New<'_>, bill: &mut Bill) -> bool {
        match new {
            New::Chunk(new) => bill.embed_chunk(new.chunk),
            New::Document { graph, has_new_chunk: true } => bill.embed(titles(graph)),
            New::Document { .. } => return false,
        }
        true
    }
}

/// Tokens to embed for a document and its sections, without chunks.
fn titles(graph: &DocumentGraph) -> u64 {
    let title = estimate_tokens(&graph.source.title);
    let headings = graph.sections.iter().map(|section| title + estimate_tokens(&section.heading));
    title + headings.sum::<u64>()
}
