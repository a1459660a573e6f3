//! Defines the errors of requests: one variant for each decision that is open to the caller. Errors
//! carry facts; each interface adds advice with its flags or commands.

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
use pikerag_postgres::ServerProblem;
use pikerag_prompt::{AskError, MarkupError};
use pikerag_retrieve::{RetrieveError, UnknownSearch};
use pikerag_store::BaseProblem;
use pikerag_train::TrainError;

pub use self::feedback::FeedbackError;
pub use self::kinds::{EndpointOf, Missing, Needed, NoWords, QuestionFile, WeightsOf};
use crate::settings::SettingsError;

/// The result of a request. Most interfaces distinguish errors by their [`EngineError::code`].
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// The reason why a request was not answered.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum EngineError {
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The settings file exists already; it is left unchanged.
    #[error("{path} exists already and was left unchanged")]
    SettingsExist { path: PathBuf },
    /// This program cannot find its own executable, which it starts to read files.
    #[error("this program cannot be found")]
    NoProgram(#[source] std::io::Error),
    /// The working folder is gone or cannot be read.
    #[error("the working folder cannot be found")]
    NoFolder(#[source] std::io::Error),
    /// The knowledge base does not exist yet.
    #[error("{folder} cannot be opened: there is no knowledge base yet")]
    NoBase {
        /// The folder where the base was searched.
        folder: PathBuf,
    },
    /// The caller sees only a part of the base, and the operation needs all of it.
    #[error("this key sees only part of the base; the operation needs all of it")]
    OnlyPart,
    /// A request has more items than one request may have.
    #[error("{given} items are too many for one request; the limit is {most}")]
    TooMany { given: usize, most: usize },
    /// The base does not have the named item, or the caller may not see it.
    #[error("{}", what.message(name))]
    NotFound { what: Missing, name: String },
    /// The request and the settings do not name something that the request needs.
    #[error("{0}")]
    Needs(Needed),
    /// A text contains no word.
    #[error("{0}")]
    NoWords(NoWords),
    /// A part of a file is not available.
    #[error("{file}: {source}")]
    File { file: String, source: FileError },
    /// The passage to correct does not occur exactly once in the text that was read of its
    /// document.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The run contained text of a document that was forgotten.
    #[error("the run {run} held the text of a document, and was forgotten with it")]
    RunForgotten { run: RunId, forgotten: Millis },
    /// The base cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A search failed: the base cannot be read, or the query cannot be embedded.
    #[error(transparent)]
    Retrieve(#[from] RetrieveError),
    /// A question could not be answered.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The method does not exist.
    #[error(transparent)]
    NoMethod(#[from] UnknownMethod),
    /// The search does not exist.
    #[error(transparent)]
    NoSearch(#[from] UnknownSearch),
    /// Questions or a preset cannot be used.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Training data cannot be made.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// An endpoint is not set up right.
    #[error("{of} is not set up right")]
    Endpoint { of: EndpointOf, source: ModelError },
    /// Local weights cannot be used; the reason names the places that were searched.
    #[error("{}", of.message(reason))]
    NoWeights { of: WeightsOf, reason: String },
    /// A file of questions cannot be read.
    #[error("{}", of.unreadable(path))]
    QuestionsUnreadable { of: QuestionFile, path: PathBuf, source: std::io::Error },
    /// A line of the file, counted from 1, is not a question.
    #[error("line {line} of {path} is not a {}", of.noun())]
    BadQuestion { of: QuestionFile, path: PathBuf, line: usize, source: serde_json::Error },
    /// Several runs begin with this name.
    #[error("several runs begin with `{name}`")]
    UnclearRun { name: String },
    /// An upload has the name of another file of the base. The absolute paths name each of them.
    #[error("several files have the name `{name}`: {}", files.join(", "))]
    UnclearFile { name: String, files: Vec<String> },
    /// Only a run with an answer can be replayed as a whole.
    #[error("the run {run} is {}, not answered", state.as_str())]
    RunNotAnswered { run: RunId, state: RunState },
    /// The run's calls name a version of a prompt that only a later pikerag has.
    #[error(
        "the run {run} was made with `{prompt}`, a prompt that this version of pikerag does not have"
    )]
    PromptMissing { run: RunId, prompt: String },
    /// A fork must begin at a decision, and this event is none.
    #[error(
        "event {seq} of the run {run} is not a decision; the decisions are: {}",
        list(decisions)
    )]
    NoDecision { run: RunId, seq: u32, decisions: Vec<u32> },
    /// Feedback on an answer cannot be kept, or is not there.
    #[error(transparent)]
    Feedback(#[from] FeedbackError),
    /// A parameter of a stored run no longer exists.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// [`crate::Engine::cancel`] was called; paid and stored results stay.
    #[error("cancelled")]
    Cancelled,
    /// The request sets a class or a level for a method that uses neither.
    #[error("`{method}` does not use the class or level of a question; `pike` does")]
    ClassOfOtherMethod {
        /// Name of the method.
        method: String,
    },
    /// A filter admits nothing, so there is nothing to search.
    #[error("nothing in the base fits the filter {filter}")]
    NothingAdmitted { filter: Filter },
    /// The model was asked for schemas and proposed none.
    #[error("the model proposes no schema")]
    NoProposal(#[source] AskError),
    /// The file cannot be read.
    #[error("{path}")]
    NotParsed { path: PathBuf, source: FileError },
    /// A file of the base cannot be deleted.
    #[error("{path} cannot be deleted")]
    NotDeleted { path: String, source: StoreError },
    /// Another class of tags has this name.
    #[error("there is a class `{name}` already")]
    TagClassExists { name: String },
    /// A file cannot be written.
    #[error("{path} cannot be written")]
    NotWritten { path: PathBuf, source: std::io::Error },
    /// The output could not be written.
    #[error("the output cannot be written")]
    Output(#[from] std::io::Error),
    /// The template of a page or of a graph file fails: a defect of pikerag.
    #[error("the page cannot be generated")]
    Page(#[from] MarkupError),
    /// A result cannot be written as JSON.
    #[error("a result cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// An evaluation names a method twice.
    #[error("`{label}` is named twice")]
    NamedTwice { label: String },
    /// A method or a search has an unknown parameter, or a value that the parameter does not take.
    #[error("`{label}` has a parameter or a value that is not known")]
    BadParameter {
        /// The method or search with its parameters.
        label: String,
        source: toml::de::Error,
    },
    /// The numbers of question files and corpora do not match.
    #[error(
        "{questions} files of questions and {corpora} corpora do not match: give one corpus for all files, or one for each (`-` for none)"
    )]
    CorporaDoNotFit { questions: usize, corpora: usize },
    /// The data set names no gold evidence, so searches cannot be compared on it.
    #[error("`{data_set}` names no gold evidence: there is nothing to find")]
    NoEvidence { data_set: String },
    /// The folder contains a run with other settings.
    #[error("{folder} contains a run with other {what}")]
    OtherRun { folder: PathBuf, what: &'static str },
    /// The rows of an earlier run cannot be read.
    #[error("{path} cannot be read")]
    BadRows { path: PathBuf, source: serde_json::Error },
    /// A file of a corpus cannot be read.
    #[error("{path}: {reason}")]
    CorpusUnreadable { path: String, reason: FileError },
    /// A corpus is not completely indexed; the paid part is kept.
    #[error("the corpus is not completely indexed, so nothing was measured: {reason}")]
    CorpusIncomplete {
        reason: String,
        /// Whether the budget is spent.
        over_budget: bool,
    },
}

fn code_of_store(error: &StoreError) -> &'static str {
    let StoreError::Failed { source, .. } = error else { return "base-failed" };
    if let Some(problem) = source.downcast_ref::<ServerProblem>() {
        return match problem {
            ServerProblem::Unreachable { .. }
            | ServerProblem::Lost { .. }
            | ServerProblem::AllInUse { .. } => "database-unreachable",
            ServerProblem::DiskFull { .. } => "disk-full",
            _ => "base-failed",
        };
    }
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

fn code_of_tables(error: &DataError) -> &'static str {
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

fn list(numbers: &[u32]) -> String {
    match numbers {
        [] => "none".to_owned(),
        numbers => numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

impl EngineError {
    /// A short name of the decision, for programs; it does not change between versions.
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
            Self::Store(StoreError::Data(error)) => code_of_tables(error),
            Self::NothingAdmitted { .. } => "nothing-admitted",
            Self::OnlyPart => "only-part",
            Self::TooMany { .. } => "too-many",
            Self::NotFound { what, .. } => what.code(),
            Self::Needs(needed) => needed.code(),
            Self::NoWords(no_words) => no_words.code(),
            Self::File { source: FileError::Refused(ParseError::NoPage { .. }), .. } => {
                "no-such-page"
            }
            Self::File { .. } => "file-not-read",
            Self::Misfit(_) => "misfit",
            Self::RunForgotten { .. } => "run-forgotten",
            Self::Store(error) | Self::Solve(SolveError::Store(error)) => code_of_store(error),
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
            Self::Train(_) => "no-training-data",
            Self::QuestionsUnreadable { of, .. } | Self::BadQuestion { of, .. } => of.code(),
            Self::Endpoint { .. } => "bad-endpoint",
            Self::NoWeights { .. } => "no-weights",
            Self::UnclearRun { .. } => "unclear-run",
            Self::UnclearFile { .. } => "unclear-file",
            Self::RunNotAnswered { .. } => "run-not-answered",
            Self::PromptMissing { .. } => "prompt-missing",
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
    fn finds_a_spent_budget_among_the_causes() {
        let spent =
            || ModelError::OverBudget { cap: "1 call".to_owned(), spent: "1 call".to_owned() };
        let solve = EngineError::from(SolveError::Retrieve(RetrieveError::Model(spent())));
        assert_eq!(solve.code(), "over-budget");
        let endpoint = EngineError::Endpoint { of: EndpointOf::Embedder, source: spent() };
        assert!(endpoint.is_over_budget());
        assert_eq!(EngineError::Needs(Needed::Judge).code(), "no-judge");
    }
}
