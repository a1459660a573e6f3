//! Defines a stage of indexing: its pending pieces in the base, its calls, the storing of replies with marks,
//! and its estimate.

use std::ops::ControlFlow;

use async_trait::async_trait;
use futures::stream::StreamExt;
use pikerag_knowledge::{
    Account, AtomKind, CallRef, ChatModel, ChatReply, ChatRequest, Chunk, ChunkId, DocumentGraph,
    Image, KnowledgeWriter, ModelError, NodeId, Role, Source, Stage as Mark, StoreError, Structure,
    TagClass,
};
use pikerag_prompt::{AskError, Prompt, Prose, ask_about};

use super::bill::Bill;
use super::call_batch::{CallBatch, Named, Place, finish};
use super::fresh::AtomSender;
use super::outcome::{Progress, Report};
use super::pending::{PAGE, Waiting};
use super::plan::Plan;
use super::tools::{Tools, Watch};

/// A row of the table of stages.
pub(crate) struct Row {
    /// The name of its results, as shown to people.
    pub(crate) name: &'static str,
    /// The beginning and the end of its marks in the base; two empty texts if it leaves none.
    pub(crate) mark: (&'static str, &'static str),
    /// The role of its model, without which it does not run. `None`: it runs by rules.
    pub(crate) role: Option<Role>,
    pub(crate) part: Part,
    /// Whether the plan wants it. It then runs if its role has a model.
    pub(crate) wanted: fn(&Plan<'_>) -> bool,
    /// The stage; one for each declaration if there are several.
    pub(crate) stages: for<'a> fn(&'a Plan<'a>) -> Stages<'a>,
}

pub(crate) type Stages<'a> = Vec<Box<dyn Stage + 'a>>;

/// The part of a run that a stage belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Descriptions of tables, figures and documents, which are searched.
    Descriptions,
    Atoms(AtomKind),
    /// Vectors: after atoms, and again after each structure.
    Vectors,
    Tables,
    Records,
    Structure(Structure),
}

/// The context of every stage of a run.
pub(crate) struct Job<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) watch: Watch<'a>,
    /// Sends new atoms to the embedder, if one runs beside the stage.
    pub(crate) new_atoms: Option<AtomSender>,
}

impl<'a> Job<'a> {
    pub(crate) fn base(&self) -> &'a dyn KnowledgeWriter {
        self.tools.base.as_ref()
    }

    pub(crate) fn model(&self, row: &Row) -> Option<&'a dyn ChatModel> {
        self.tools.models.of(row.role?)
    }

    /// A batch of calls for the `total` pieces of a row.
    pub(crate) fn calls(&self, row: &Row, total: usize) -> CallBatch<'a> {
        let at_once = self.plan.params.in_flight;
        CallBatch { name: row.name, total, at_once, watch: self.watch, base: self.base() }
    }

    /// Pages of chunks that need no model, each with a function that reports it done.
    pub(crate) fn pages<'c>(
        &'c self,
        row: &'c Row,
        pending: &'c [ChunkId],
    ) -> impl Iterator<Item = (&'c [ChunkId], impl FnOnce() + Send + 'c)> + Send + 'c {
        pending.chunks(PAGE).enumerate().map(move |(nth, page)| {
            let done = nth * PAGE + page.len();
            (page, move || self.report_progress(row, done, pending.len()))
        })
    }

    pub(crate) fn report_progress(&self, row: &Row, done: usize, total: usize) {
        (self.watch)(Progress::Stage { name: row.name, done, total });
    }
}

/// The result of a stage. `Break`: the later stages of its part cannot run now.
pub(crate) type Ran = Result<ControlFlow<()>, StoreError>;
pub(crate) type Done = Result<(), StoreError>;

/// A stage of indexing.
#[async_trait]
pub(crate) trait Stage: Send + Sync {
    /// Processes its pending pieces in the base.
    ///
    /// # Errors
    /// The base cannot be read or written. Failed calls are noted in the report.
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran;

    /// Counts its pending pieces in the base, if there is one.
    async fn count_pending(&self, _base: Option<&dyn KnowledgeWriter>, _bill: &mut Bill) -> Done {
        Ok(())
    }

    /// Counts its work on a document or chunk that is not in the base yet; returns whether there is any.
    fn count_new(&self, _new: &New<'_>, _bill: &mut Bill) -> bool {
        false
    }

    /// Counts the work that depends on everything counted before.
    fn count_rest(&self, _bill: &mut Bill) {}
}

/// A document or chunk that is not in the base yet.
pub(crate) enum New<'a> {
    Document {
        graph: &'a DocumentGraph,
        /// Whether any of its chunks is new.
        has_new_chunk: bool,
    },
    Chunk(NewChunk<'a>),
}

pub(crate) struct NewChunk<'a> {
    pub(crate) chunk: &'a Chunk,
    pub(crate) source: &'a Source,
    /// The document's visible text, with white space in place of the rest.
    pub(crate) text: &'a str,
    pub(crate) image: Option<&'a Image>,
    /// The classes whose tags will be sought.
    pub(crate) classes: &'a [TagClass],
}

impl New<'_> {
    pub(crate) fn chunk(&self) -> Option<&Chunk> {
        match self {
            Self::Document { .. } => None,
            Self::Chunk(new) => Some(new.chunk),
        }
    }
}

/// The subject of one call.
pub(crate) trait Piece: Send + Sync {
    /// The name shown if its call fails.
    fn label(&self) -> String;

    /// Its chunk, if it has one.
    fn chunk(&self) -> Option<ChunkId> {
        None
    }
}

impl Piece for Chunk {
    fn label(&self) -> String {
        self.uri.clone()
    }

    fn chunk(&self) -> Option<ChunkId> {
        Some(self.id)
    }
}

pub(crate) type Found<'a, T> = Result<Waiting<'a, T>, StoreError>;
/// Pieces with their replies; `None` if the model gave none.
pub(crate) type Answers<S> = Vec<(<S as ByPiece>::Piece, Option<<S as ByPiece>::Reply>)>;

/// A stage that asks a model about each piece; all such stages share one loop.
#[async_trait]
pub(crate) trait ByPiece: Send + Sync {
    type Piece: Piece;
    type Reply: Send;

    /// Its pending pieces in the base.
    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Self::Piece>;

    /// The piece that a new document or chunk will be; `None` if this stage skips it.
    fn piece_of(&self, new: &New<'_>) -> Option<Self::Piece>;

    /// The pieces that a new document or chunk will be, if it can be several.
    fn pieces_of(&self, new: &New<'_>) -> Vec<Self::Piece> {
        self.piece_of(new).into_iter().collect()
    }

    async fn ask(
        &self,
        model: &dyn ChatModel,
        piece: &Self::Piece,
    ) -> Result<Self::Reply, AskError>;

    /// The marks of a finished piece, each with its node.
    fn marks(&self, piece: &Self::Piece) -> Vec<(Mark, NodeId)>;

    /// Stores pieces with their marks.
    async fn store(&self, job: &Job<'_>, answers: Answers<Self>, report: &mut Report) -> Done;

    /// Marks pending chunks that need no call.
    async fn pass(&self, _base: &dyn KnowledgeWriter, _passed: Vec<ChunkId>) -> Done {
        Ok(())
    }

    /// Counts the call about a piece.
    fn forecast(&self, piece: &Self::Piece, bill: &mut Bill);
}

#[async_trait]
impl<S: ByPiece> Stage for S {
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran {
        let Some(model) = job.model(row) else { return Ok(ControlFlow::Continue(())) };
        let Waiting { total, passed, pieces } = self.pending(job.base()).await?;
        if !passed.is_empty() {
            self.pass(job.base(), passed).await?;
        }
        let ask = |piece: S::Piece| async move {
            let reply = self.ask(&About { model, chunk: piece.chunk() }, &piece).await;
            (piece, reply)
        };
        let name = |piece: &S::Piece| Named {
            label: piece.label(),
            place: Place::Marked(self.marks(piece)),
        };
        let (calling, mut results) = job.calls(row, total).begin(pieces, ask, name).await?;
        let storing = async {
            while let Some(answers) = results.next(report).await? {
                self.store(job, answers, report).await?;
            }
            Ok(())
        };
        finish(calling, storing).await?;
        Ok(ControlFlow::Continue(()))
    }

    async fn count_pending(&self, base: Option<&dyn KnowledgeWriter>, bill: &mut Bill) -> Done {
        let Some(base) = base else { return Ok(()) };
        let mut pieces = self.pending(base).await?.pieces;
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            bill.add_pending(piece.chunk());
            self.forecast(&piece, bill);
        }
        Ok(())
    }

    fn count_new(&self, new: &New<'_>, bill: &mut Bill) -> bool {
        let pieces = self.pieces_of(new);
        for piece in &pieces {
            self.forecast(piece, bill);
        }
        !pieces.is_empty()
    }
}

/// A model whose calls record their chunk as their origin.
struct About<'a> {
    model: &'a dyn ChatModel,
    chunk: Option<ChunkId>,
}

#[async_trait]
impl ChatModel for About<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.model.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let mut request = request.clone();
        request.origin.passages.extend(self.chunk);
        self.model.complete(&request).await
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        self.model.discard(calls).await
    }
}

/// Asks a model for prose, with pictures (`data:` URLs) if there are any.
///
/// # Errors
/// See [`AskError`].
pub(crate) async fn ask_prose(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, String)],
    images: &[String],
) -> Result<String, AskError> {
    let inputs = borrowed(inputs);
    let reply = ask_about::<Prose>(model, prompt, &inputs, images, &mut Account::default()).await;
    reply.map(|Prose(text)| text)
}

/// An estimate of a prompt's tokens; 0 only if the template is broken.
pub(crate) fn prompt_tokens(prompt: &Prompt, inputs: &[(&str, String)]) -> u64 {
    let prompt = prompt.render(&borrowed(inputs)).unwrap_or_default();
    pikerag_language::estimate_tokens(&prompt)
}

fn borrowed<'a>(inputs: &'a [(&'a str, String)]) -> Vec<(&'a str, &'a str)> {
    inputs.iter().map(|(name, text)| (*name, text.as_str())).collect()
}
