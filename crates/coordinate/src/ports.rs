//! What does a method have at hand? The base, the models by role, and the account of its own run.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use pikerag_knowledge::{
    ChatModel, Embedder, Event, KnowledgeBase, ModelError, Question, Role, Scorer, Spent,
    StoreError, Structure, Trace,
};
use pikerag_prompt::{AskError, Prompt, Reply, ask, ask_sample};
use pikerag_retrieve::{Finder, RetrieveError};
use serde::Deserialize;

/// Chat models by role. None at all: the offline mode.
#[derive(Clone, Default)]
pub struct Models {
    /// Serves every role without a model of its own.
    pub default: Option<Arc<dyn ChatModel>>,
    /// Models of single roles.
    pub by_role: BTreeMap<Role, Arc<dyn ChatModel>>,
    /// Gives token log-probabilities along with its replies, where a model is set.
    pub scorer: Option<Arc<dyn Scorer>>,
    /// How sure a model is, by which measure.
    pub certainty: Certainty,
    /// Questions that a model was tried on (SKR); the order matters only between equally near ones.
    pub labelled: Arc<[LabelledQuestion]>,
}

/// A question, and whether the model answered it right without retrieval.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledQuestion {
    /// The question.
    #[serde(rename = "question")]
    pub text: String,
    /// Whether the model knows the answer by itself.
    pub known: bool,
}

/// By which measure a model's certainty is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// The papers': log-probabilities of the reply's tokens. An endpoint without them is an error.
    #[default]
    LogProbabilities,
    /// For endpoints without: a grade that the model gives itself, which the trace marks.
    SelfAssessment,
}

impl Models {
    /// The model of a role, if there is one.
    pub fn of(&self, role: Role) -> Option<&dyn ChatModel> {
        self.by_role.get(&role).or(self.default.as_ref()).map(AsRef::as_ref)
    }

    /// The model of a role that a method cannot do without.
    ///
    /// # Errors
    /// [`SolveError::NoModel`].
    pub fn need(&self, role: Role) -> Result<&dyn ChatModel, SolveError> {
        self.of(role).ok_or(SolveError::NoModel { role })
    }
}

/// All that methods may use: ports, never adapters. Shared by all questions, changed by none.
#[derive(Clone)]
pub struct Ports {
    /// The knowledge base, for reading.
    pub base: Arc<dyn KnowledgeBase>,
    /// The embedder that the base's vectors were made with, if any.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Chat models.
    pub models: Models,
}

impl Ports {
    /// What retrieval needs.
    pub fn finder(&self) -> Finder<'_> {
        Finder { base: self.base.as_ref(), embedder: self.embedder.as_deref() }
    }
}

/// The account of one question: its trace and what it spent. Never shared between questions.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The steps so far.
    pub trace: Trace,
    /// Calls and tokens so far.
    pub spent: Spent,
}

impl Run {
    /// Begins the account of a question.
    pub fn begin(method: &str, question: &Question) -> Self {
        let mut run = Self::default();
        run.trace.push(Event::Began { method: method.to_owned(), question: question.text.clone() });
        run
    }

    /// Adds the steps and the bill of a part that ran side by side with others.
    pub fn absorb(&mut self, part: Self) {
        self.trace.events.extend(part.trace.events);
        self.spent.merge(&part.spent);
    }

    /// Asks the model of the prompt's role; `None` where its reply stayed unreadable, which the trace
    /// then says.
    ///
    /// # Errors
    /// There is no such model, or the call failed.
    pub async fn ask<R: Reply>(
        &mut self,
        ports: &Ports,
        prompt: &Prompt,
        inputs: &[(&str, &str)],
    ) -> Result<Option<R>, SolveError> {
        let model = ports.models.need(prompt.role)?;
        let asked = ask(model, prompt, inputs, &mut self.spent).await;
        Ok(self.readable(prompt.role, asked)?)
    }

    /// Asks about many things at once; the replies and their account come in the order of `inputs`,
    /// whichever is there first. The number is the sample: 0 unless one request is sampled often.
    ///
    /// # Errors
    /// As [`Run::ask`]; the first in order.
    pub async fn ask_each<R: Reply>(
        &mut self,
        ports: &Ports,
        prompt: &Prompt,
        inputs: &[(Vec<(&str, &str)>, u32)],
    ) -> Result<Vec<Option<R>>, SolveError> {
        let model = ports.models.need(prompt.role)?;
        let mut calls = Vec::with_capacity(inputs.len());
        for (inputs, sample) in inputs {
            calls.push(async move {
                let mut spent = Spent::default();
                let reply = ask_sample::<R>(model, prompt, inputs, *sample, &mut spent).await;
                (reply, spent)
            });
        }
        let mut replies = Vec::with_capacity(inputs.len());
        for (reply, spent) in join_all(calls).await {
            self.spent.merge(&spent);
            replies.push(self.readable(prompt.role, reply)?);
        }
        Ok(replies)
    }

    /// The reply of a step; `None` where it stayed unreadable, which the trace then says.
    ///
    /// # Errors
    /// Whatever else made the call fail.
    pub fn readable<T>(
        &mut self,
        role: Role,
        asked: Result<T, AskError>,
    ) -> Result<Option<T>, AskError> {
        match asked {
            Ok(reply) => Ok(Some(reply)),
            Err(AskError::Unreadable { reason, .. }) => {
                tracing::warn!(%role, %reason, "a reply stayed unreadable; going on without it");
                self.trace.push(Event::Unreadable { role, reason: reason.to_string() });
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }
}

/// Why a question was not answered.
#[derive(Debug, thiserror::Error)]
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
    NoModel {
        /// The step.
        role: Role,
    },
    /// The method needs token log-probabilities.
    #[error(
        "this method weighs replies by token log-probabilities, and no model that gives them is set"
    )]
    NoScorer,
    /// The method works on a structure that the base does not have.
    #[error("this method works on the {structure} of the base, which is not built")]
    NotBuilt {
        /// The structure.
        structure: Structure,
    },
    /// The method has nothing to compare the question with.
    #[error(
        "this method decides by questions that are labelled as known or not, and none are given"
    )]
    NoLabelledQuestions,
}

impl SolveError {
    /// A query that could not be embedded.
    pub(crate) fn from_model(error: ModelError) -> Self {
        Self::Retrieve(RetrieveError::Model(error))
    }

    /// The model's error at the bottom, if that is what it was.
    pub fn model(&self) -> Option<&ModelError> {
        match self {
            Self::Ask(AskError::Model { source, .. })
            | Self::Retrieve(RetrieveError::Model(source)) => Some(source),
            _ => None,
        }
    }
}
