//! Why was a request not answered? One variant per decision that is open to the caller. Errors carry facts; what
//! to do about them, in words of flags and commands, each face adds itself.

mod feedback;
mod judged;
mod kinds;

use std::path::PathBuf;

use pikerag_baselines::{BadParameter, UnknownMethod};
use pikerag_eval::EvalError;
use pikerag_indexing::FileError;
use pikerag_knowledge::{
    DataError, Filter, Millis, Misfit, ModelError, RunId, RunState, StoreError,
};
use pikerag_methods::SolveError;
use pikerag_parse::ParseError;
use pikerag_prompt::{AskError, MarkupError};
use pikerag_retrieve::{RetrieveError, UnknownSearch};
use pikerag_store::BaseProblem;

pub use self::feedback::FeedbackError;
pub use self::kinds::{EndpointOf, Missing, Needed, QuestionFile, WeightsOf, Wordless};
use crate::settings::SettingsError;

/// What requests return: most faces tell an error by its [`EngineError::code`].
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum EngineError {
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// There is a settings file already: it is left as it is.
    #[error("{path} is there already, and was left as it is")]
    SettingsExist { path: PathBuf },
    /// This program cannot find itself, which it starts to read files.
    #[error("this program cannot be found")]
    NoProgram(#[source] std::io::Error),
    /// The folder that we run in is not there any more, or cannot be read.
    #[error("the working folder cannot be found")]
    NoFolder(#[source] std::io::Error),
    /// There is no knowledge base yet.
    #[error("{folder} cannot be opened: there is no knowledge base yet")]
    NoBase {
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Whoever asks may see a part of the base, and this cannot be done with a part.
    #[error("this needs all of the base, and a part of it may be seen")]
    OnlyPart,
    /// More was given in one request than is taken.
    #[error("{given} are too many for one request: {most} at most")]
    TooMany { given: usize, most: usize },
    /// The base does not have it, or the caller may not see it.
    #[error("{}", what.message(name))]
    NotFound { what: Missing, name: String },
    /// A request needs it, and neither the request nor the settings name one.
    #[error("{0}")]
    Needs(Needed),
    /// A text holds no word.
    #[error("{0}")]
    Wordless(Wordless),
    /// Something of a file cannot be had.
    #[error("{file}: {source}")]
    File { file: String, source: FileError },
    /// A passage that is to be mended is not in a document's reading once.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The run held the text of a document that was forgotten.
    #[error("the run {run} held the text of a document, and was forgotten with it")]
    RunForgotten { run: RunId, forgotten: Millis },
    /// The base cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A search failed: the base cannot be read, or the query not be embedded.
    #[error(transparent)]
    Retrieve(#[from] RetrieveError),
    /// A question was not answered.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// There is no such method.
    #[error(transparent)]
    NoMethod(#[from] UnknownMethod),
    /// There is no such search.
    #[error(transparent)]
    NoSearch(#[from] UnknownSearch),
    /// Questions or a preset cannot be used.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// An endpoint is not set up right.
    #[error("{of} is not set up right")]
    Endpoint { of: EndpointOf, source: ModelError },
    /// Local weights cannot be used; the reason says where they were looked for.
    #[error("{}", of.message(reason))]
    NoWeights { of: WeightsOf, reason: String },
    /// A file of questions cannot be read.
    #[error("{}", of.unreadable(path))]
    QuestionsUnreadable { of: QuestionFile, path: PathBuf, source: std::io::Error },
    /// A line of it, from 1, is no question.
    #[error("line {line} of {path} is no {}", of.noun())]
    BadQuestion { of: QuestionFile, path: PathBuf, line: usize, source: serde_json::Error },
    /// Several runs are named so.
    #[error("several runs begin with `{name}`")]
    UnclearRun { name: String },
    /// Only a run that was answered can be walked again as a whole.
    #[error("the run {run} is {}, not answered", state.as_str())]
    RunNotAnswered { run: RunId, state: RunState },
    /// A fork is to begin where nothing was decided.
    #[error("event {seq} of the run {run} is no decision; these are: {}", listed(decisions))]
    NoDecision { run: RunId, seq: u32, decisions: Vec<u32> },
    /// What somebody says of an answer cannot be kept, or is not there.
    #[error(transparent)]
    Feedback(#[from] FeedbackError),
    /// A parameter of a kept run is no longer known.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// [`crate::Engine::cancel`] was called; what was paid and stored stays.
    #[error("cancelled")]
    Cancelled,
    /// A class or a level was asked for of a method that goes by neither.
    #[error("`{method}` answers all questions alike, whatever their class; `pike` goes by it")]
    ClassOfOtherMethod {
        /// Name of the method.
        method: String,
    },
    /// A filter admits nothing: there is nothing to look through.
    #[error("nothing in the base fits the filter {filter}")]
    NothingAdmitted { filter: Filter },
    /// A model that was asked for schemas gave none.
    #[error("the model proposes no schema")]
    NoProposal(#[source] AskError),
    /// The file cannot be read.
    #[error("{path}")]
    NotParsed { path: PathBuf, source: FileError },
    /// A file of the base was not deleted.
    #[error("{path} is not deleted")]
    NotDeleted { path: String, source: StoreError },
    /// Another class of tags has this name.
    #[error("there is a class `{name}` already")]
    TagClassExists { name: String },
    /// A file cannot be written.
    #[error("{path} is not written")]
    NotWritten { path: PathBuf, source: std::io::Error },
    /// What was to be handed on could not be.
    #[error("the output cannot be written")]
    Output(#[from] std::io::Error),
    /// A page or a file of a graph cannot be filled in: a defect of ours.
    #[error("the page cannot be filled in")]
    Page(#[from] MarkupError),
    /// What was to be kept cannot be written as JSON.
    #[error("a result cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// A method is to be measured twice.
    #[error("`{label}` is named twice")]
    NamedTwice { label: String },
    /// A method or a search bears a parameter that it does not have, or a value that it does not take.
    #[error("`{label}` has a parameter that is not known")]
    BadParameter {
        /// The method or search with its parameters.
        label: String,
        source: toml::de::Error,
    },
    /// Files of questions and corpora do not go together.
    #[error(
        "{questions} files of questions and {corpora} corpora: give one for all, or one for each (`-` for none)"
    )]
    CorporaDoNotFit { questions: usize, corpora: usize },
    /// A data set names no gold evidence that searches could be compared on.
    #[error("`{data_set}` names no gold evidence: there is nothing to find")]
    NoEvidence { data_set: String },
    /// The folder holds a run that was made otherwise.
    #[error("{folder} holds a run with other {what}")]
    OtherRun { folder: PathBuf, what: &'static str },
    /// The rows of an earlier run cannot be read.
    #[error("{path} cannot be read")]
    BadRows { path: PathBuf, source: serde_json::Error },
    /// A file of a corpus cannot be read.
    #[error("{path}: {reason}")]
    CorpusUnreadable { path: String, reason: FileError },
    /// A corpus is not wholly indexed; what was paid is kept.
    #[error("the corpus is not wholly indexed, so nothing is measured ({reason})")]
    CorpusIncomplete {
        reason: String,
        /// Whether the budget is spent.
        over_budget: bool,
    },
}

fn base_failed(error: &StoreError) -> &'static str {
    let StoreError::Failed { source, .. } = error else { return "base-failed" };
    match source.downcast_ref() {
        Some(BaseProblem::ReadOnly { .. }) => "base-read-only",
        Some(BaseProblem::Busy { .. }) => "base-busy",
        Some(BaseProblem::StillRead { .. }) => "base-still-read",
        Some(BaseProblem::Forgotten { .. }) => "base-forgotten",
        Some(BaseProblem::Exists { .. }) => "base-exists",
        Some(BaseProblem::FileThere { .. }) => "file-exists",
        Some(BaseProblem::DamagedDatabase { .. }) => "base-damaged",
        None => "base-failed",
    }
}

fn of_tables(error: &DataError) -> &'static str {
    match error {
        DataError::NoTable { .. } => "no-such-table",
        DataError::NoColumn { .. } => "no-such-column",
        DataError::BadStatement { .. } => "bad-sql",
        DataError::NotAllowed { .. } => "sql-not-allowed",
        DataError::TooLong { .. } => "sql-too-slow",
        DataError::WrongKind { .. }
        | DataError::TwiceJoined { .. }
        | DataError::NoMeasure
        | DataError::NoGroup { .. } => "bad-plan",
    }
}

fn listed(numbers: &[u32]) -> String {
    match numbers {
        [] => "none".to_owned(),
        numbers => numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

impl EngineError {
    /// A short name of the decision, for machines; it stays as it is from version to version.
    pub fn code(&self) -> &'static str {
        match self {
            _ if self.is_over_budget() => "over-budget",
            _ if self.is_key_ended() => "key-ended",
            Self::Settings(_) => "bad-settings",
            Self::SettingsExist { .. } => "settings-exist",
            Self::NoProgram(_) => "no-program",
            Self::NoFolder(_) => "no-folder",
            Self::NoBase { .. } => "no-base",
            Self::Store(StoreError::NoField { .. }) => "no-such-field",
            Self::Store(StoreError::Data(error)) => of_tables(error),
            Self::NothingAdmitted { .. } => "nothing-admitted",
            Self::OnlyPart => "only-part",
            Self::TooMany { .. } => "too-many",
            Self::NotFound { what, .. } => what.code(),
            Self::Needs(needed) => needed.code(),
            Self::Wordless(wordless) => wordless.code(),
            Self::File { source: FileError::Refused(ParseError::NoPage { .. }), .. } => {
                "no-such-page"
            }
            Self::File { .. } => "file-not-read",
            Self::Misfit(_) => "misfit",
            Self::RunForgotten { .. } => "run-forgotten",
            Self::Store(error) | Self::Solve(SolveError::Store(error)) => base_failed(error),
            Self::Retrieve(_) | Self::Solve(SolveError::Retrieve(_)) => "retrieval-failed",
            Self::Solve(SolveError::Ask(_)) => "model-failed",
            Self::Solve(SolveError::NoModel { .. }) => "no-model",
            Self::Solve(SolveError::NoScorer) => "no-log-probabilities",
            Self::Solve(SolveError::NotBuilt { .. }) => "not-built",
            Self::Solve(SolveError::NoLabelledQuestions) => "no-labelled-questions",
            Self::Solve(SolveError::Query(_) | SolveError::NoEngine) => "not-reckoned",
            Self::NoMethod(_) => "no-such-method",
            Self::NoSearch(_) => "no-such-search",
            Self::Eval(_) => "bad-questions",
            Self::QuestionsUnreadable { of, .. } | Self::BadQuestion { of, .. } => of.code(),
            Self::Endpoint { .. } => "bad-endpoint",
            Self::NoWeights { .. } => "no-weights",
            Self::UnclearRun { .. } => "unclear-run",
            Self::RunNotAnswered { .. } => "run-not-answered",
            Self::Feedback(error) => error.code(),
            Self::NoDecision { .. }
            | Self::Solve(SolveError::UnfitChange { .. } | SolveError::NoCandidate { .. }) => {
                "no-such-decision"
            }
            Self::Solve(SolveError::Diverged { .. }) => "run-diverged",
            Self::Cancelled | Self::Solve(SolveError::Cancelled) => "cancelled",
            Self::ClassOfOtherMethod { .. } => "class-of-other-method",
            Self::NoProposal(_) => "no-proposal",
            Self::NotParsed { .. } => "unreadable-file",
            Self::NotDeleted { .. } => "not-deleted",
            Self::TagClassExists { .. } => "tag-class-exists",
            Self::NotWritten { .. } | Self::Output(_) | Self::Page(_) | Self::Json(_) => {
                "not-written"
            }
            Self::NamedTwice { .. } => "named-twice",
            Self::Parameter(_) | Self::BadParameter { .. } => "bad-parameter",
            Self::CorporaDoNotFit { .. } => "corpora-do-not-fit",
            Self::NoEvidence { .. } => "no-evidence",
            Self::OtherRun { .. } => "other-run",
            Self::BadRows { .. } => "bad-rows",
            Self::CorpusUnreadable { .. } => "unreadable-corpus",
            Self::CorpusIncomplete { .. } => "incomplete-corpus",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spent_budget_is_found_at_the_bottom() {
        let spent =
            || ModelError::OverBudget { cap: "1 call".to_owned(), spent: "1 call".to_owned() };
        let solve = EngineError::from(SolveError::Retrieve(RetrieveError::Model(spent())));
        assert_eq!(solve.code(), "over-budget");
        let endpoint = EngineError::Endpoint { of: EndpointOf::Embedder, source: spent() };
        assert!(endpoint.is_over_budget());
        assert_eq!(EngineError::Needs(Needed::Judge).code(), "no-judge");
    }
}
