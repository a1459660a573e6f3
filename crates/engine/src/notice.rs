//! What should somebody know besides the result? Facts that change what a result is worth; what to do about
//! them, each face says in its own words.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use utoipa::ToSchema;

/// Something to know besides the result. Verbs that take long hand it to their callback as soon as it is
/// known, the others return it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "notice")]
#[expect(missing_docs, reason = "a field means what the text below says of it")]
pub enum Notice {
    /// The base's vectors were made by another embedder than the one in use.
    OtherVectors { made_by: String, in_use: String },
    /// The embedder that made the base's vectors is not at hand.
    NoEmbedder { made_by: String },
    /// The embedder is made for English, and most of the documents are in other languages.
    Foreign { embedder: String },
    /// The reranker that is set is not asked, for nothing is.
    NoReranker { model: String },
    /// The base can be asked and not changed.
    ReadOnly {
        #[schema(value_type = String)]
        folder: PathBuf,
    },
    /// A run could not be kept; its answer is not worth less for that.
    RunNotKept { reason: String },
    /// A document was forgotten while the run went on: the run is not kept, for it may hold its text.
    RunForgotten,
    /// The clock is far ahead of the run before: no run was deleted for its age.
    ClockLeap { days: u64 },
    /// Atoms are asked for that a model writes, and none is in use.
    NoAtomizer,
    /// Questions of a data set have no answer, as it says itself.
    Unanswerable {
        #[schema(value_type = String)]
        path: PathBuf,
        questions: usize,
    },
    /// Questions name no gold evidence, so that searches cannot be compared on them.
    NoEvidence { data_set: String, questions: usize, of: usize },
    /// The base holds nothing of the gold evidence of some questions: they count as not found.
    EvidenceNotIndexed { data_set: String, questions: usize, of: usize },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherVectors { made_by, in_use } => write!(
                f,
                "the vectors were made by {made_by}, not {in_use}: searching by words alone"
            ),
            Self::NoEmbedder { made_by } => write!(
                f,
                "the vectors were made by {made_by}, which is not available: searching by words alone"
            ),
            Self::Foreign { embedder } => write!(
                f,
                "{embedder} is made for English, and most of the documents are not in English: words alone will find them \
                 better than meaning"
            ),
            Self::NoReranker { model } => write!(
                f,
                "{model} is not asked offline: what is found stands in the order of the search"
            ),
            Self::ReadOnly { folder } => write!(
                f,
                "{} cannot be written: neither runs nor replies of models are kept",
                folder.display()
            ),
            Self::RunNotKept { reason } => write!(f, "the run could not be kept: {reason}"),
            Self::RunForgotten => f.write_str(
                "the run was not kept: a document was forgotten while it went on, and it may hold its text",
            ),
            Self::ClockLeap { days } => write!(
                f,
                "the clock is {days} days ahead of the run before: no run was deleted for its age; check the clock"
            ),
            Self::NoAtomizer => f.write_str(
                "`index.atoms` asks for what a model writes, but no chat model is in use: sentences take their place",
            ),
            Self::Unanswerable { path, questions } => write!(
                f,
                "{}: {questions} questions without an answer are passed over, as the data set says",
                path.display()
            ),
            Self::NoEvidence { data_set, questions, of } => write!(
                f,
                "{data_set}: {questions} of {of} questions name no gold evidence and are passed over"
            ),
            Self::EvidenceNotIndexed { data_set, questions, of } => write!(
                f,
                "{data_set}: the base holds no gold evidence of {questions} of {of} questions; they count as not found"
            ),
        }
    }
}
