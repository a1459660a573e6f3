//! What is a stage of indexing? What waits for it in the base, how a model is asked about it, how the
//! reply is stored with its mark, and what all that will take.

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
use super::fresh::Offer;
use super::outcome::{Progress, Report};
use super::pending::{PAGE, Waiting};
use super::plan::Plan;
use super::tools::{Tools, Watch};

/// A row of the table of stages.
pub(crate) struct Row {
    /// What it makes, in the words that people read.
    pub(crate) name: &'static str,
    /// How its marks in the base begin and end; two empty texts where it leaves none.
    pub(crate) mark: (&'static str, &'static str),
    /// Whose model is asked: without that model it does not run. `None`: rules do it.
    pub(crate) role: Option<Role>,
    pub(crate) part: Part,
    /// Whether it is wanted; with a model for its role, it then runs.
    pub(crate) wanted: fn(&Plan<'_>) -> bool,
    /// The stage itself; several where it is done once for each of several declarations.
    pub(crate) stages: for<'a> fn(&'a Plan<'a>) -> Stages<'a>,
}

pub(crate) type Stages<'a> = Vec<Box<dyn Stage + 'a>>;

/// Which part of a run a stage belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What is said of tables, figures and documents: chunks are found by it.
    Descriptions,
    Atoms(AtomKind),
    /// After atoms, and again after each structure.
    Vectors,
    Tables,
    Records,
    Structure(Structure),
}

/// What every stage of a run works with.
pub(crate) struct Job<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) watch: Watch<'a>,
    /// Takes atoms to whoever makes vectors meanwhile, if anybody does.
    pub(crate) fresh: Option<Offer>,
}

impl<'a> Job<'a> {
    pub(crate) fn base(&self) -> &'a dyn KnowledgeWriter {
        self.tools.base.as_ref()
    }

    pub(crate) fn model(&self, row: &Row) -> Option<&'a dyn ChatModel> {
        self.tools.models.of(row.role?)
    }

    /// Calls for `total` pieces of what the row makes.
    pub(crate) fn calls(&self, row: &Row, total: usize) -> CallBatch<'a> {
        let at_once = self.plan.params.in_flight;
        CallBatch { name: row.name, total, at_once, watch: self.watch, base: self.base() }
    }

    /// Pages of chunks that nobody is asked about, each with what tells that it is done.
    pub(crate) fn pages<'c>(
        &'c self,
        row: &'c Row,
        pending: &'c [ChunkId],
    ) -> impl Iterator<Item = (&'c [ChunkId], impl FnOnce() + Send + 'c)> + Send + 'c {
        pending.chunks(PAGE).enumerate().map(move |(nth, page)| {
            let done = nth * PAGE + page.len();
            (page, move || self.tell(row, done, pending.len()))
        })
    }

    pub(crate) fn tell(&self, row: &Row, done: usize, total: usize) {
        (self.watch)(Progress::Stage { name: row.name, done, total });
    }
}

/// What came of a stage. `Break`: what comes after it in its part cannot be done now.
pub(crate) type Ran = Result<ControlFlow<()>, StoreError>;
pub(crate) type Done = Result<(), StoreError>;

/// A stage of indexing.
#[async_trait]
pub(crate) trait Stage: Send + Sync {
    /// Does what waits for it in the base.
    ///
    /// # Errors
    /// The base cannot be read or written. What a model's call fails of is in the report.
    async fn run(&self, row: &Row, job: &Job<'_>, report: &mut Report) -> Ran;

    /// Counts what waits for it in the base, if there is one.
    async fn count_pending(&self, _base: Option<&dyn KnowledgeWriter>, _bill: &mut Bill) -> Done {
        Ok(())
    }

    /// Counts what it will do with something that is not in the base yet; whether it will do anything.
    fn count_new(&self, _new: &New<'_>, _bill: &mut Bill) -> bool {
        false
    }

    /// Counts what hangs together over all that was counted.
    fn count_rest(&self, _bill: &mut Bill) {}
}

/// What is not in the base yet.
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
    /// What a reader sees of the document's text, with white space for the rest.
    pub(crate) text: &'a str,
    pub(crate) image: Option<&'a Image>,
    /// The classes that tags will be looked for in.
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

/// What one call is about.
pub(crate) trait Piece: Send + Sync {
    /// Whose call it was, where one failed.
    fn label(&self) -> String;

    /// The chunk that it counts as, if it is one.
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
/// Pieces with what was said of them; `None` stands for what the model did not give.
pub(crate) type Came<S> = Vec<(<S as ByPiece>::Piece, Option<<S as ByPiece>::Reply>)>;

/// A stage that asks a model about piece after piece: the loop over them is the same for all.
#[async_trait]
pub(crate) trait ByPiece: Send + Sync {
    type Piece: Piece;
    type Reply: Send;

    /// What waits for it in the base.
    async fn pending<'a>(&'a self, base: &'a dyn KnowledgeWriter) -> Found<'a, Self::Piece>;

    /// The piece that something new will be; `None` where it is not for this stage.
    fn piece_of(&self, new: &New<'_>) -> Option<Self::Piece>;

    async fn ask(
        &self,
        model: &dyn ChatModel,
        piece: &Self::Piece,
    ) -> Result<Self::Reply, AskError>;

    /// What a piece is marked by once it is done: each stage, and the node.
    fn marks(&self, piece: &Self::Piece) -> Vec<(Mark, NodeId)>;

    /// Stores pieces with their marks.
    async fn store(&self, job: &Job<'_>, came: Came<Self>, report: &mut Report) -> Done;

    /// Marks chunks that wait, and that there is nothing to ask about.
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
            while let Some(came) = results.next(report).await? {
                self.store(job, came, report).await?;
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
            bill.meet(piece.chunk());
            self.forecast(&piece, bill);
        }
        Ok(())
    }

    fn count_new(&self, new: &New<'_>, bill: &mut Bill) -> bool {
        let piece = self.piece_of(new);
        if let Some(piece) = &piece {
            self.forecast(piece, bill);
        }
        piece.is_some()
    }
}

/// A model whose calls are noted as made of a chunk.
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

/// What a model says to a prompt in its own words, beside pictures (`data:` URLs) where there are any.
///
/// # Errors
/// See [`AskError`].
pub(crate) async fn said(
    model: &dyn ChatModel,
    prompt: &Prompt,
    inputs: &[(&str, String)],
    images: &[String],
) -> Result<String, AskError> {
    let inputs = borrowed(inputs);
    let reply = ask_about::<Prose>(model, prompt, &inputs, images, &mut Account::default()).await;
    reply.map(|Prose(said)| said)
}

/// Tokens of a prompt, about; 0 only where the template is broken.
pub(crate) fn prompt_tokens(prompt: &Prompt, inputs: &[(&str, String)]) -> u64 {
    let prompt = prompt.render(&borrowed(inputs)).unwrap_or_default();
    pikerag_language::estimate_tokens(&prompt)
}

fn borrowed<'a>(inputs: &'a [(&'a str, String)]) -> Vec<(&'a str, &'a str)> {
    inputs.iter().map(|(name, text)| (*name, text.as_str())).collect()
}
