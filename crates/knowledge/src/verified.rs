//! What have people said of answers? What they accept or correct returns to the base as distilled knowledge, with who said
//! it, when, and what it rests on (PIKE-RAG §4.1).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::class::TaskClass;
use crate::document::Span;
use crate::id::{ChunkId, RunId, VerifiedId, content_id};
use crate::time::Millis;

/// What somebody says of an answer.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    strum::Display,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Judgement {
    /// It is right.
    Accepted,
    /// Another answer is right.
    Corrected,
    /// It is wrong; nobody said what is right.
    Rejected,
}

impl Judgement {
    /// Its name in the base, in lists and in `--json`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An answer that a person has judged: a node of the layer `D`, derived from the chunks of its grounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Verified {
    /// Derived from question, judged answer and author: who judges the same answer again says it anew.
    pub id: VerifiedId,
    /// The question, word for word.
    pub question: String,
    /// What was said of the answer.
    pub judgement: Judgement,
    /// The answer that was judged.
    pub given: String,
    /// What is right in its place; with [`Judgement::Corrected`] alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub correction: Option<String>,
    /// Who said so.
    pub by: String,
    /// When, in universal time.
    #[schema(value_type = u64)]
    pub at: Millis,
    /// What else there is to say of it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The class that the question was answered as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub class: Option<TaskClass>,
    /// The method that gave the judged answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub method: String,
    /// The run that gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run: Option<RunId>,
    /// What the right answer rests on, each passage once; empty where it is the person's word alone.
    pub grounds: Vec<Ground>,
    /// Every chunk that the judged answer was written from: who may not see one of them does not see this either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ChunkId>,
}

impl Verified {
    /// The identifier of what `by` says of the answer `given` to `question`.
    pub fn id_of(question: &str, given: &str, by: &str) -> VerifiedId {
        let parts = [question.trim(), given.trim(), by.trim()].map(str::as_bytes);
        VerifiedId(content_id("verified", &parts))
    }

    /// The answer that holds; none where one was only rejected.
    pub fn holds(&self) -> Option<&str> {
        match self.judgement {
            Judgement::Accepted => Some(&self.given),
            Judgement::Corrected => self.correction.as_deref(),
            Judgement::Rejected => None,
        }
    }

    /// The chunks that it rests on or was written from, each once.
    pub fn chunks(&self) -> Vec<ChunkId> {
        let mut all: Vec<ChunkId> = self.grounds.iter().map(|ground| ground.chunk).collect();
        all.extend(&self.context);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A passage that a verified answer rests on, as it stood when somebody looked at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ground {
    /// The chunk; as long as it is there, its words are what they were.
    pub chunk: ChunkId,
    /// The document as the user named it.
    pub uri: String,
    /// Title of the passage.
    pub title: String,
    /// Page, from 1, where the format has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub page: Option<u32>,
    /// Where it stands in the document's text.
    pub span: Span,
    /// What stands there.
    pub quote: String,
}

/// A verified answer, and how it stands to the documents of today.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KeptVerified {
    /// What was said.
    #[serde(flatten)]
    pub verified: Verified,
    /// The documents whose passages it rests on and that read otherwise now, or are gone; each once, by name. It is stale
    /// where there is one: somebody has to look at it again.
    pub changed: Vec<String>,
}

impl KeptVerified {
    /// Whether what it rests on has changed.
    pub fn is_stale(&self) -> bool {
        !self.changed.is_empty()
    }
}

/// How an answer of today stands to what people had said of the question before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Recalled {
    /// What was said before.
    #[serde(flatten)]
    pub kept: KeptVerified,
    /// Passages that are about the question and that nobody had seen then.
    pub newer: usize,
    /// What became of it.
    pub agreement: Agreement,
}

/// How an answer agrees with what was verified.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// It is the verified answer: the documents have nothing new to say.
    Taken,
    /// It was made anew, and says the same.
    Same,
    /// It was made anew, and says something else: a person has to decide.
    Other,
    /// It was made anew, and is what a person rejected.
    Rejected,
}
