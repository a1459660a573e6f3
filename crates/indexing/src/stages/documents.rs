//! Summarizes documents from their beginning, with one call each.

use std::collections::HashSet;

use async_trait::async_trait;
use futures::future::ready;
use futures::stream::{self, StreamExt, TryStreamExt};
use pikerag_knowledge::{
    ChatModel, Chunk, ChunkKind, KnowledgeWriter, ModelTexts, NodeId, Role, Source, SourceSummary,
    Stage as Mark, StoreError, Which,
};
use pikerag_prompt::{AskError, Prompt, one_line, quiet_headings};

use crate::bill::Bill;
use crate::outcome::Report;
use crate::pending::Waiting;
use crate::stage::{Answers, ByPiece, Done, Found, Job, New, Piece, ask_prose, prompt_tokens};

const PROMPT: Prompt = Prompt::new(Role::Summarize, include_str!("prompts/source.md"), 512);

/// The most chunks, and the most characters of them, from which a document's summary is made.
const FIRST: usize = 24;
const CONTENT: usize = 6000;
/// Tokens of a reply, estimated.
const REPLY: u64 = 90;

/// The summaries of documents.
pub(crate) struct Documents;

/// A document and the beginning of its content, which is not empty.
pub(crate) struct Document {
    source: Source,
    content: String,
}

impl Piece for Document {
    fn label(&self) -> String {
        self.source.uri.clone()
    }
}

impl Document {
    fn of(source: Source, chunks: &[Chunk]) -> Option<Self> {
        let content = beginning(chunks);
        (!content.is_empty()).then_some(Self { source, content })
    }

    fn inputs(&self) -> [(&'static str, String); 2] {
        let title = quiet_headings(&one_line(&self.source.title));
        [("title", title), ("content", self.content.clone())]
    }
}

#[async_trait]
impl ByPiece for Documents {
    type Piece = Document;
    type Reply = String;

    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Document> {
        let mut sources = base.sources(Which::All).await?;
        sources.retain(|source| source.summary.is_none());
        if let Some(files) = base.pending_files() {
            let files: HashSet<&str> = files.iter().map(String::as_str).collect();
            sources.retain(|source| is_of(&source.uri, &files));
        }
        let total = sources.len();
        let pieces = stream::iter(sources)
            .then(async move |source| {
                let chunks = base.first_chunks(source.id, FIRST).await?;
                Ok::<_, StoreError>(Document::of(source, &chunks))
            })
            .try_filter_map(|document| ready(Ok(document)))
            .boxed();
        Ok(Waiting { total, pieces, passed: Vec::new() })
    }

    fn piece_of(&self, new: &New<'_>) -> Option<Document> {
        let New::Document { graph, .. } = new else { return None };
        let visible = graph.chunks.iter().filter(|chunk| !chunk.hidden);
        let first: Vec<Chunk> = visible.take(FIRST).cloned().collect();
        Document::of(graph.source.clone(), &first)
    }

    async fn ask(&self, model: &dyn ChatModel, document: &Document) -> Result<String, AskError> {
        ask_prose(model, &PROMPT, &document.inputs(), &[]).await
    }

    fn marks(&self, document: &Document) -> Vec<(Mark, NodeId)> {
        vec![(Mark::summarize_sources(), document.source.id.into())]
    }

    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done {
        let mut made = Vec::with_capacity(answers.len());
        for (Document { source, .. }, reply) in answers {
            report.described += 1;
            report.undecided += usize::from(reply.is_none());
            // A missing reply is stored as an empty summary, so it is not requested again.
            let summary = reply.map_or_else(String::new, |reply| one_line(&reply));
            made.push(SourceSummary { source: source.id, hash: source.hash, summary });
        }
        job.base().put_texts(ModelTexts::Sources(made)).await
    }

    fn forecast(&self, document: &Document, bill: &mut Bill) {
        bill.call(Role::Summarize, prompt_tokens(&PROMPT, &document.inputs()), REPLY);
        bill.embed(REPLY);
    }
}

/// Whether a document is one of these files, or is inside one: `file#name`.
fn is_of(uri: &str, files: &HashSet<&str>) -> bool {
    let containers = uri.match_indices('#').filter_map(|(at, _)| uri.get(..at));
    containers.chain([uri]).any(|file| files.contains(file))
}

/// The beginning of a document: for each chunk of text its summary if there is one, else its text.
/// Descriptions of tables and figures are left out because they may come later or not at all.
fn beginning(chunks: &[Chunk]) -> String {
    let mut content = String::new();
    let mut left = CONTENT;
    for chunk in chunks {
        let text = match chunk.kind {
            ChunkKind::Table | ChunkKind::Figure => chunk.text.as_str(),
            _ => chunk.summary.as_deref().unwrap_or(&chunk.text),
        };
        let text: String = text.trim().chars().take(left).collect();
        left = left.saturating_sub(text.chars().count());
        content.push_str(&quiet_headings(&text));
        content.push('\n');
        if left == 0 {
            break;
        }
    }
    content.trim().to_owned()
}
