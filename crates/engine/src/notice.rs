//! Defines notices: facts beside the result that change its worth. Each interface adds its own
//! advice.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use utoipa::ToSchema;

/// A fact beside the result. Long verbs hand it to their callback as soon as it is known; the
/// others return it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "notice")]
#[expect(missing_docs, reason = "a field means what the text below says of it")]
pub enum Notice {
    /// The base's vectors were made by another embedder than the one in use.
    OtherVectors { made_by: String, in_use: String },
    /// The embedder that made the base's vectors is not available.
    NoEmbedder { made_by: String },
    /// The embedder is made for English, and most documents are in other languages.
    Foreign { embedder: String },
    /// The reranker is skipped, because pikerag runs offline.
    NoReranker { model: String },
    /// The base can be read but not written.
    ReadOnly {
        #[schema(value_type = String)]
        folder: PathBuf,
    },
    /// A run could not be kept; its answer is as good as any other.
    RunNotKept { reason: String },
    /// A document was forgotten during the run. The run is not kept, because it may contain the
    /// document's text.
    RunForgotten,
    /// The clock is far ahead of the previous run, so no run was deleted for its age.
    ClockLeap { days: u64 },
    /// The settings ask for atoms that a model writes, and no model is in use.
    NoAtomizer,
    /// The settings or the environment name an endpoint for chat, and no model.
    NoModel { base_url: String },
    /// The address of a database was typed with its password, which other users of the machine and
    /// the shell's history may show.
    PasswordTyped,
    /// The data set marks questions as unanswerable.
    Unanswerable {
        #[schema(value_type = String)]
        path: PathBuf,
        questions: usize,
    },
    /// Questions name no gold evidence, so searches cannot be compared on them.
    NoEvidence { data_set: String, questions: usize, of: usize },
    /// The base contains no gold evidence for some questions; they count as not found.
    EvidenceNotIndexed { data_set: String, questions: usize, of: usize },
    /// Methods that the base of a data set cannot serve have no rows.
    MethodsLeftOut { data_set: String, methods: Vec<String>, unmet: Unmet },
}

/// Something that a method works on and that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, strum::VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Unmet {
    /// The graph of entities.
    Graph,
    /// The tree of summaries.
    Tree,
    /// Atomic questions.
    Questions,
    /// Sentences as atoms.
    Sentences,
    /// Questions that are labelled as known or not, for `skr`.
    LabelledQuestions,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Graph => "the base has no entity graph",
            Self::Tree => "the base has no tree of summaries",
            Self::Questions => "the base has no atomic questions",
            Self::Sentences => "the base has no sentences as atoms",
            Self::LabelledQuestions => "no labelled questions are given",
        })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherVectors { made_by, in_use } => write!(
                f,
                "the vectors were made by {made_by}, not {in_use}: searching by words only"
            ),
            Self::NoEmbedder { made_by } => write!(
                f,
                "the vectors were made by {made_by}, which is not available: searching by words only"
            ),
            Self::Foreign { embedder } => write!(
                f,
                "{embedder} is made for English, and most documents are in other languages: searching by words will find more \
                 than searching by meaning"
            ),
            Self::NoReranker { model } => write!(
                f,
                "offline: reranker {model} skipped; results keep the search order"
            ),
            Self::ReadOnly { folder } => write!(
                f,
                "{} cannot be written: neither runs nor replies of models are kept",
                folder.display()
            ),
            Self::RunNotKept { reason } => write!(f, "the run could not be kept: {reason}"),
            Self::RunForgotten => f.write_str(
                "the run was not kept: a document was forgotten during the run, and the run may contain its text",
            ),
            Self::ClockLeap { days } => write!(
                f,
                "the clock is {days} days ahead of the previous run: no run was deleted for its age; check the clock"
            ),
            Self::NoAtomizer => f.write_str(
                "`index.atoms` needs a chat model, and none is in use: sentences are indexed instead",
            ),
            Self::NoModel { base_url } => write!(
                f,
                "no model is in use: {base_url} is set, but not its model; set OPENAI_MODEL, or `model` under [chat]"
            ),
            Self::PasswordTyped => f.write_str(
                "the password of the database is on the command line, where the list of processes and the shell's history show it",
            ),
            Self::Unanswerable { path, questions } => write!(
                f,
                "{}: skipped {questions} questions that the data set marks as unanswerable",
                path.display()
            ),
            Self::NoEvidence { data_set, questions, of } => write!(
                f,
                "{data_set}: skipped {questions} of {of} questions, which name no gold evidence"
            ),
            Self::EvidenceNotIndexed { data_set, questions, of } => write!(
                f,
                "{data_set}: the base contains no gold evidence for {questions} of {of} questions; they count as not found"
            ),
            Self::MethodsLeftOut { data_set, methods, unmet } => {
                write!(f, "{data_set}: left out {}: {unmet}", methods.join(", "))
            }
        }
    }
}
