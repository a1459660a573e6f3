//! What does a method have at hand? The base, the models by role, and the account of its own run.

use std::collections::BTreeMap;
use std::sync::Arc;

use pikerag_knowledge::{
    ChatModel, Embedder, Event, KnowledgeBase, ModelError, Question, Role, Spent, StoreError, Trace,
};
use pikerag_prompt::AskError;
use pikerag_retrieve::{Finder, RetrieveError};

/// Chat models by role. None at all: the offline mode.
#[derive(Clone, Default)]
pub struct Models {
    /// Serves every role without a model of its own.
    pub default: Option<Arc<dyn ChatModel>>,
    /// Models of single roles.
    pub by_role: BTreeMap<Role, Arc<dyn ChatModel>>,
}

impl Models {
    /// The model of a role, if there is one.
    pub fn of(&self, role: Role) -> Option<&dyn ChatModel> {
        self.by_role.get(&role).or(self.default.as_ref()).map(AsRef::as_ref)
    }
}

/// All that methods may use: ports, never adapters. Shared by all questions, changed by none.
#[derive(Clone)]
pub struct Kit {
    /// The knowledge base, for reading.
    pub base: Arc<dyn KnowledgeBase>,
    /// The embedder that the base's vectors were made with, if any.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Chat models.
    pub models: Models,
}

impl Kit {
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
}

impl SolveError {
    /// The model's error at the bottom, if that is what it was.
    pub fn model(&self) -> Option<&ModelError> {
        match self {
            Self::Ask(AskError::Model { source, .. })
            | Self::Retrieve(RetrieveError::Model(source)) => Some(source),
            _ => None,
        }
    }
}
