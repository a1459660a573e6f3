//! Defines people's judgments of answers. Accepted and corrected answers return to the base as
//! distilled knowledge, with author, time and sources (PIKE-RAG §4.1).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::class::TaskClass;
use crate::document::Span;
use crate::id::{ChunkId, RunId, VerifiedId, content_id};
use crate::time::Millis;

/// A person's judgment of an answer.
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
    /// It is wrong, and no right answer was given.
    Rejected,
}

impl Judgement {
    /// Its name in the base, in lists and in `--json`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An answer that a person has judged: a node of the layer `D`, derived from the chunks of its
/// grounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Verified {
    /// Derived from question, judged answer and author: a new judgment of the same answer replaces
    /// the old one.
    pub id: VerifiedId,
    /// The question, word for word.
    pub question: String,
    /// The judgment.
    pub judgement: Judgement,
    /// The answer that was judged.
    pub given: String,
    /// The right answer; only with [`Judgement::Corrected`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub correction: Option<String>,
    /// The author of the judgment.
    pub by: String,
    /// The time of the judgment, in universal time.
    #[schema(value_type = u64)]
    pub at: Millis,
    /// A comment; may be empty.
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
    /// The sources of the right answer, each passage once; empty if the person named none.
    pub grounds: Vec<Ground>,
    /// Every chunk that the judged answer was written from: a caller must see all of them to see
    /// this judgment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ChunkId>,
}

impl Verified {
    /// The identifier of the judgment by `by` of the answer `given` to `question`.
    pub fn id_of(question: &str, given: &str, by: &str) -> VerifiedId {
        let parts = [question.trim(), given.trim(), by.trim()].map(str::as_bytes);
        VerifiedId(content_id("verified", &parts))
    }

    /// The valid answer; none if an answer was only rejected.
    pub fn holds(&self) -> Option<&str> {
        match self.judgement {
            Judgement::Accepted => Some(&self.given),
            Judgement::Corrected => self.correction.as_deref(),
            Judgement::Rejected => None,
        }
    }

    /// Its source chunks and the judged answer's chunks, each once.
    pub fn chunks(&self) -> Vec<ChunkId> {
        let mut all: Vec<ChunkId> = self.grounds.iter().map(|ground| ground.chunk).collect();
        all.extend(&self.context);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A source passage of a verified answer, with its text at that time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ground {
    /// The chunk; while it exists, its text is unchanged.
    pub chunk: ChunkId,
    /// The document as the user named it.
    pub uri: String,
    /// Title of the passage.
    pub title: String,
    /// Page, from 1, if the format has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub page: Option<u32>,
    /// Its span in the document's text.
    pub span: Span,
    /// Its text.
    pub quote: String,
}

/// A verified answer, and its state relative to the current documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct KeptVerified {
    /// The judgment.
    #[serde(flatten)]
    pub verified: Verified,
    /// The documents whose source passages have changed or are gone; each once, by name. If there
    /// is any, the judgment is stale, and a person must review it.
    pub changed: Vec<String>,
}

impl KeptVerified {
    /// Whether one of its sources has changed.
    pub fn is_stale(&self) -> bool {
        !self.changed.is_empty()
    }
}

/// The relation of a current answer to earlier judgments of the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Recalled {
    /// The earlier judgment.
    #[serde(flatten)]
    pub kept: KeptVerified,
    /// The number of passages about the question that did not exist at that time.
    pub newer: usize,
    /// The result of the comparison.
    pub agreement: Agreement,
}

/// How an answer agrees with the verified one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// It is the verified answer: the documents contain nothing new.
    Taken,
    /// It was computed again, and is the same.
    Same,
    /// It was computed again, and differs: a person must decide.
    Other,
    /// It was computed again, and is the answer that a person rejected.
    Rejected,
}
