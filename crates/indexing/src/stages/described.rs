//! Describes tables and figures, with one call each. Descriptions are stored as text by a model and are
//! searched (PIKE-RAG §5.1.2).

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures::FutureExt;
use pikerag_knowledge::{
    ChatModel, ChunkId, ChunkKind, ChunkResults, Image, InChunk, KnowledgeWriter, NodeId, Role,
    Stage as Mark, StoreError,
};
use pikerag_prompt::{AskError, Prompt, one_line};

use super::shown::{Shown, shown};
use crate::bill::Bill;
use crate::outcome::Report;
use crate::pending::{PAGE, Waiting, all_pending_of, paged};
use crate::stage::{Answers, ByPiece, Done, Found, Job, New, ask_prose, prompt_tokens};

const TABLE: Prompt = Prompt::new(Role::Summarize, include_str!("prompts/table.md"), 512);
const FIGURE: Prompt = Prompt::new(Role::Describe, include_str!("prompts/figure.md"), 1024);

/// Tokens of replies, estimated.
const TABLE_REPLY: u64 = 70;
const FIGURE_REPLY: u64 = 200;
/// Tokens of a picture of ordinary size at high detail. Endpoints count from about 85 (at low detail) to
/// 1,500; some small models count more.
const IMAGE: u64 = 1000;

/// Summaries of tables in one to three sentences, which are searched with their cells.
pub(crate) struct Tables;

#[async_trait]
impl ByPiece for Tables {
    type Piece = Shown;
    type Reply = String;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Shown> {
        let kind = ChunkKind::Table;
        let ids = all_pending_of(base, &Mark::describe(kind), kind).await?;
        let total = ids.len();
        let pieces = paged(&ids, PAGE, move |page: Vec<ChunkId>| {
            async move { shown(base, &page).await }.boxed()
        });
        Ok(Waiting { total, pieces, passed: Vec::new() })
    }

    fn piece_of(&self, new: &New<'_>) -> Option<Shown> {
        match new {
            New::Chunk(new) if new.chunk.kind == ChunkKind::Table => Some(Shown::of_new(new)),
            _ => None,
        }
    }

    async fn ask(&self, model: &dyn ChatModel, shown: &Shown) -> Result<String, AskError> {
        ask_prose(model, &TABLE, &table_inputs(shown), &[]).await
    }

    fn marks(&self, shown: &Shown) -> Vec<(Mark, NodeId)> {
        vec![(Mark::describe(ChunkKind::Table), shown.chunk.id.into())]
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done {
        store(job, ChunkKind::Table, answers, report).await
    }

    fn forecast(&self, shown: &Shown, bill: &mut Bill) {
        bill.call(Role::Summarize, prompt_tokens(&TABLE, &table_inputs(shown)), TABLE_REPLY);
        bill.embed(TABLE_REPLY);
    }
}

/// Descriptions of figures. The number limits the pictures in memory, because they are large.
pub(crate) struct Figures(pub(crate) usize);

#[async_trait]
impl ByPiece for Figures {
    type Piece = Shown;
    type Reply = String;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Shown> {
        let kind = ChunkKind::Figure;
        let (mut ids, mut passed) = (Vec::new(), Vec::new());
        for page in all_pending_of(base, &Mark::describe(kind), kind).await?.chunks(self.0.max(1)) {
            for (id, image) in page.iter().zip(base.figures(page).await?) {
                if image.as_ref().is_some_and(is_supported) { &mut ids } else { &mut passed }
                    .push(*id);
            }
        }
        let total = ids.len();
        let pieces = paged(&ids, self.0, move |page: Vec<ChunkId>| {
            async move {
                let images = page.iter().copied().zip(base.figures(&page).await?);
                let mut images: BTreeMap<ChunkId, Option<Image>> = images.collect();
                let shown = shown(base, &page).await?.into_iter().map(|shown| {
                    let image = images.remove(&shown.chunk.id).flatten();
                    Shown { image, ..shown }
                });
                Ok(shown.collect())
            }
            .boxed()
        });
        Ok(Waiting { total, pieces, passed })
    }

    fn piece_of(&self, new: &New<'_>) -> Option<Shown> {
        match new {
            New::Chunk(new)
                if new.chunk.kind == ChunkKind::Figure && new.image.is_some_and(is_supported) =>
            {
                Some(Shown::of_new(new))
            }
            _ => None,
        }
    }

    async fn ask(&self, model: &dyn ChatModel, shown: &Shown) -> Result<String, AskError> {
        let images: Vec<String> = shown.image.iter().map(Image::data_url).collect();
        ask_prose(model, &FIGURE, &figure_inputs(shown), &images).await
    }

    fn marks(&self, shown: &Shown) -> Vec<(Mark, NodeId)> {
        vec![(Mark::describe(ChunkKind::Figure), shown.chunk.id.into())]
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done {
        store(job, ChunkKind::Figure, answers, report).await
    }

    /// Marks figures without a picture in a supported format as done.
    async fn pass(&self, base: &dyn KnowledgeWriter, passed: Vec<ChunkId>) -> Done {
        let none = passed.into_iter().map(|chunk| InChunk { chunk, found: None }).collect();
        base.put_chunk_results(ChunkResults::Summaries(Mark::describe(ChunkKind::Figure), none))
            .await
    }

    fn forecast(&self, shown: &Shown, bill: &mut Bill) {
        let prompt_tokens = prompt_tokens(&FIGURE, &figure_inputs(shown)) + IMAGE;
        bill.call(Role::Describe, prompt_tokens, FIGURE_REPLY);
        bill.embed(FIGURE_REPLY);
    }
}

fn table_inputs(shown: &Shown) -> [(&'static str, String); 3] {
    shown.inputs("table", &shown.chunk.reading_text())
}

fn figure_inputs(shown: &Shown) -> [(&'static str, String); 3] {
    shown.inputs("caption", &shown.chunk.text)
}

/// Whether vision models support the picture's format.
fn is_supported(image: &Image) -> bool {
    ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&image.media_type.as_str())
}

async fn store(
    job: &Job<'_>,
    kind: ChunkKind,
    answers: Vec<(Shown, Option<String>)>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let mut made = Vec::with_capacity(answers.len());
    for (shown, reply) in answers {
        report.described += 1;
        report.undecided += usize::from(reply.is_none());
        made.push(InChunk { chunk: shown.chunk.id, found: reply.map(|reply| one_line(&reply)) });
    }
    job.base().put_chunk_results(ChunkResults::Summaries(Mark::describe(kind), made)).await
}
