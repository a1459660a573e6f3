//! Which texts have no vector yet? Those of every layer, whatever made them.

use std::ops::ControlFlow;

use async_trait::async_trait;
use pikerag_knowledge::DocumentGraph;
use pikerag_language::estimate_tokens;

use crate::bill::Bill;
use crate::embed::embed;
use crate::outcome::Report;
use crate::stage::{Job, New, Ran, Row, Stage};

/// Vectors of all that is searched by meaning.
pub(crate) struct Vectors;

#[async_trait]
impl Stage for Vectors {
    async fn run(&self, _row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        embed(job, report).await?;
        Ok(ControlFlow::Continue(()))
    }

    /// Counts a new chunk's own text and a document's titles; what others make, they count.
    fn count_new(&self, new: &New<'_>, bill: &mut Bill) -> bool {
        match new {
            New::Chunk(new) => bill.embed_chunk(new.chunk),
            New::Document { graph, has_new_chunk: true } => bill.embed(titles(graph)),
            New::Document { .. } => return false,
        }
        true
    }
}

/// Tokens of what is embedded of a document and its sections, besides chunks.
fn titles(graph: &DocumentGraph) -> u64 {
    let title = estimate_tokens(&graph.source.title);
    let headings = graph.sections.iter().map(|section| title + estimate_tokens(&section.heading));
    title + headings.sum::<u64>()
}
