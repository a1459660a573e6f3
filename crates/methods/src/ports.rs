//! Defines what a method works with: the base, and the models by role.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::telemetry::TRACED;
use pikerag_knowledge::{
    CallRef, ChatModel, ChatModels, ChatReply, ChatRequest, Embedder, KnowledgeBase, Millis,
    ModelError, QueryEngine, QueryError, RecordSchema, Reranker, Role, StoreError, Structure,
};
use pikerag_prompt::AskError;
use pikerag_retrieve::{Finder, Hit, Memory, Reranking, RetrieveError};
use serde::Deserialize;
use tracing::field::Empty;
use tracing::{Instrument, info_span};

use crate::catalogs::Catalogs;

/// The models that methods ask.
#[derive(Clone, Default)]
pub struct Models {
    /// Chat models by role.
    pub chat: ChatModels,
    /// The model that is asked where a reply needs log-probabilities.
    pub scorer: Option<Arc<dyn ChatModel>>,
    /// The measure of a model's certainty.
    pub certainty: Certainty,
    /// Reranks the hits of searches; off if there is none.
    pub reranker: Option<RerankBy>,
    /// Questions that a model was tested on (SKR); the order matters only between equally near ones.
    pub labelled: Arc<[LabelledQuestion]>,
    /// Questions that were decomposed well, as examples for proposers; the order matters only between equally near ones.
    pub demonstrations: Arc<[Demonstration]>,
    /// The perspectives of agents on creative questions; if there are none, a model chooses them for each question.
    pub perspectives: Arc<[Perspective]>,
    /// Divides the remaining budget among agents that work at the same time. Without it, one agent may spend
    /// the budget that another needs.
    pub shares: Option<Arc<dyn Shares>>,
}

/// The perspective of an agent on a creative question.
#[derive(Clone)]
pub struct Perspective {
    /// Its name, a few words.
    pub name: String,
    /// What it considers; may be empty.
    pub about: String,
    /// The model that thinks and judges from it; if none, the models of the roles.
    pub model: Option<Arc<dyn ChatModel>>,
}

/// Divides the remaining budget.
pub trait Shares: Send + Sync {
    /// One of `parts` equal parts of what is left now, as a function that wraps a model. All models that it
    /// wraps spend no more than the part together; a call beyond it fails with [`ModelError::OverBudget`].
    fn part(&self, parts: usize) -> Portion;
}

/// See [`Shares::part`].
pub type Portion = Box<dyn Fn(Arc<dyn ChatModel>) -> Arc<dyn ChatModel> + Send + Sync>;

/// The reranker of search hits, and how many it reranks.
#[derive(Clone)]
pub struct RerankBy {
    /// Reads a query and a chunk together.
    pub model: Arc<dyn Reranker>,
    /// The number of hits of each search that it reads, from the first on.
    pub first: NonZeroUsize,
}

/// A question, and whether the model answered it right without retrieval.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledQuestion {
    /// The question as it was asked, unchanged.
    #[serde(rename = "question")]
    pub text: String,
    /// Whether the model knows the answer by itself.
    pub known: bool,
}

/// A question that was answered right, with the sub-questions that led to the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demonstration {
    /// The question.
    pub question: String,
    /// Its sub-questions, in order.
    pub sub_questions: Vec<String>,
}

/// The measure of a model's certainty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Log-probabilities of the reply's tokens, as in the papers. An endpoint without them is an error.
    #[default]
    LogProbabilities,
    /// A grade that the model gives itself, for endpoints without log-probabilities; the trace marks it.
    SelfAssessment,
}

impl From<ChatModels> for Models {
    fn from(chat: ChatModels) -> Self {
        Self { chat, ..Self::default() }
    }
}

impl Models {
    /// The model of a role, if there is one.
    pub fn of(&self, role: Role) -> Option<&dyn ChatModel> {
        self.chat.of(role)
    }

    /// The same models, with the log-probabilities of every reply: how sure a method is of its own answer
    /// (CRP-RAG Table 3). An endpoint without them is an error, see [`ModelError::NoLogprobs`].
    #[must_use]
    pub fn with_logprobs(self) -> Self {
        self.changing(|request| request.logprobs = true)
    }

    /// The same models for a part of a question: what they write is not shown as the final answer.
    #[must_use]
    pub fn for_parts(self) -> Self {
        self.changing(|request| request.origin.draft = None)
    }

    fn changing(self, change: fn(&mut ChatRequest)) -> Self {
        let wrap = |model: Arc<dyn ChatModel>| -> Arc<dyn ChatModel> {
            Arc::new(Changed { model, change })
        };
        let seen_by = self.perspectives.iter().cloned();
        let seen_by =
            seen_by.map(|own| Perspective { model: own.model.map(wrap), ..own }).collect();
        Self { chat: self.chat.wrapped(wrap), perspectives: seen_by, ..self }
    }

    /// The model of a role that a method cannot do without.
    ///
    /// # Errors
    /// [`SolveError::NoModel`].
    pub fn need(&self, role: Role) -> Result<&dyn ChatModel, SolveError> {
        self.of(role).ok_or(SolveError::NoModel { role })
    }
}

/// A model whose requests are changed before it gets them.
struct Changed {
    model: Arc<dyn ChatModel>,
    change: fn(&mut ChatRequest),
}

#[async_trait]
impl ChatModel for Changed {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.model.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let mut request = request.clone();
        (self.change)(&mut request);
        self.model.complete(&request).await
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        self.model.discard(calls).await
    }
}

/// All that methods may use: ports, not adapters. All questions share it, and none changes it.
#[derive(Clone)]
pub struct Ports {
    /// The part of the base that the question may see: a snapshot, perhaps filtered.
    pub base: Arc<dyn KnowledgeBase>,
    /// The embedder that the base's vectors were made with, if any.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Chat models by role; a method that lacks one quotes or fails, as its spec says.
    pub models: Models,
    /// The schemas, the engine and the catalogs for queries over records and tables.
    pub tables: Tables,
    /// Feedback from this time on is ignored, so that a repeated run sees the feedback that it saw before.
    pub feedback_before: Option<Millis>,
    /// What the question has looked up so far; none looks everything up each time.
    pub memory: Option<Arc<Memory>>,
}

/// The schemas, the engine and the catalogs for queries over records and tables.
#[derive(Clone, Default)]
pub struct Tables {
    /// The declared kinds of records, in the order of the settings.
    pub schemas: Arc<[RecordSchema]>,
    /// Computes queries. Without it no figure is computed, and questions for figures are read like others.
    pub engine: Option<Arc<dyn QueryEngine>>,
    /// The catalogs that questions are compared with, kept from one question to the next.
    pub catalogs: Arc<Catalogs>,
}

impl Ports {
    /// Ports without records.
    pub fn new(
        base: Arc<dyn KnowledgeBase>,
        embedder: Option<Arc<dyn Embedder>>,
        models: Models,
    ) -> Self {
        Self {
            base,
            embedder,
            models,
            tables: Tables::default(),
            feedback_before: None,
            memory: None,
        }
    }

    /// The same ports without the chat models of these roles.
    #[must_use]
    pub fn without(&self, roles: &[Role]) -> Self {
        let models = Models { chat: self.models.chat.without(roles), ..self.models.clone() };
        Self { models, ..self.clone() }
    }

    /// The same ports for a part of a question, see [`Models::for_parts`].
    #[must_use]
    pub fn for_parts(&self) -> Self {
        Self { models: self.models.clone().for_parts(), ..self.clone() }
    }

    /// The base and the embedder, without a chat model, because retrieval asks none.
    pub fn finder(&self) -> Finder<'_> {
        Finder {
            base: self.base.as_ref(),
            embedder: self.embedder.as_deref(),
            memory: self.memory.as_deref(),
        }
    }

    /// The `k` best hits of a search for `query`, reranked if a reranker is set. `search` returns as many
    /// hits as its argument says, best first.
    ///
    /// # Errors
    /// See [`RetrieveError`].
    pub async fn best<F>(
        &self,
        query: &str,
        k: usize,
        search: impl FnOnce(usize) -> F,
    ) -> Result<Vec<Hit>, RetrieveError>
    where
        F: Future<Output = Result<Vec<Hit>, RetrieveError>>,
    {
        let span = info_span!(
            target: TRACED,
            "retrieval",
            gen_ai.operation.name = "retrieval",
            gen_ai.request.top_k = k.cast_signed() as i64,
            pikerag.hits = Empty,
        );
        let searching = async {
            let Some(by) = &self.models.reranker else { return search(k).await };
            let reranking = Reranking { model: by.model.as_ref(), first: by.first };
            let hits = search(reranking.depth(k)).await?;
            reranking.best(self.base.as_ref(), query, hits, k).await
        };
        let hits = searching.instrument(span.clone()).await?;
        span.record("pikerag.hits", hits.len().cast_signed() as i64);
        Ok(hits)
    }
}

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum SolveError {
    /// Nothing could be retrieved.
    #[error("retrieval failed")]
    Retrieve(#[from] RetrieveError),
    /// A model call failed.
    #[error("a model call failed")]
    Ask(#[from] AskError),
    /// The base cannot be read.
    #[error("the knowledge base cannot be read")]
    Store(#[from] StoreError),
    /// The method has a step that only a language model can take.
    #[error("this method asks a language model (`{role}`), and none is set")]
    NoModel { role: Role },
    /// The method needs token log-probabilities.
    #[error(
        "this method weighs replies by token log-probabilities, and no model that gives them is set"
    )]
    NoScorer,
    /// The method works on a structure that the base does not have.
    #[error("this method works on the {structure} of the base, which is not built")]
    NotBuilt { structure: Structure },
    /// The method has nothing to compare the question with.
    #[error(
        "this method decides by questions that are labelled as known or not, and none are given"
    )]
    NoLabelledQuestions,
    /// A query over records could not be computed.
    #[error("the query over records could not be computed")]
    Query(#[from] QueryError),
    /// No engine for queries is set.
    #[error("no engine for queries over records is set")]
    NoEngine,
    /// Somebody stopped the run.
    #[error("the run was cancelled")]
    Cancelled,
    /// A repeated run took another course: the base or the settings have changed since.
    #[error(
        "event {seq} differs from the recorded one: the base or the settings have changed since that run"
    )]
    Diverged {
        /// The first event that differs.
        seq: u32,
    },
    /// A fork's change does not fit the event that it changes.
    #[error("event {seq} can only be changed to {wanted}")]
    UnfitChange { seq: u32, wanted: &'static str },
    /// A fork chooses a candidate that is not in the list.
    #[error("there is no candidate {}: {candidates} were found", index + 1)]
    NoCandidate {
        /// From 0.
        index: usize,
        candidates: usize,
    },
}

impl SolveError {
    /// A query that could not be embedded.
    pub fn from_model(error: ModelError) -> Self {
        Self::Retrieve(RetrieveError::Model(error))
    }

    /// The model's error at the bottom, if that is what it was.
    pub fn model(&self) -> Option<&ModelError> {
        match self {
            Self::Ask(AskError::Model { source, .. })
            | Self::Retrieve(RetrieveError::Model(source) | RetrieveError::Rerank(source)) => {
                Some(source)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::{ScriptedChat, request};
    use pikerag_knowledge::DraftFields;

    use super::*;

    /// A part of a question is asked by the same request, but nobody sees its reply as the answer.
    #[tokio::test]
    async fn the_answer_of_a_part_is_not_shown_as_final() {
        let chat = ScriptedChat::by(|request| Ok(format!("{:?}", request.origin.draft)));
        let models = Models::from(ChatModels::one(Arc::new(chat)));
        let mut asked = request("Where?");
        asked.origin.draft = Some(DraftFields { answer: "answer", only_if: None, reasons: None });
        let reply = async |models: &Models| {
            models.need(Role::Answer).unwrap().complete(&asked).await.unwrap().text
        };
        assert!(reply(&models).await.contains("answer"));
        assert_eq!(reply(&models.for_parts()).await, "None");
    }
}
