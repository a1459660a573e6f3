//! Defines the errors of training data.

use std::path::PathBuf;

/// Why training data could not be made.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum TrainError {
    /// The file cannot be read.
    #[error("{path} cannot be read")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A line of the file is neither a trajectory nor a label.
    #[error("{path}, line {line}: not a line that `train` writes")]
    ForeignLine {
        path: PathBuf,
        line: usize,
        #[source]
        source: serde_json::Error,
    },
    /// The data set has no decompositions.
    #[error(
        "{path} has no decompositions: no record has `question_decomposition` or `decomposition`"
    )]
    NoDecompositions { path: PathBuf },
    /// Only kept runs can be collected without a file of questions.
    #[error("no file of questions is given")]
    NoQuestions,
    /// A person or a label decides whether the answer of a kept run is right.
    #[error("no model judges the answers of kept runs")]
    JudgeOfRuns,
    /// No trajectory is right, so that there is nothing to learn from.
    #[error("none of the {trajectories} trajectories ended with a right answer")]
    NothingRight { trajectories: usize },
    /// One export cannot hold both.
    #[error("{path} holds {holds}; export trajectories and labels apart from each other")]
    Mixed { path: PathBuf, holds: &'static str },
    /// All questions share documents, so that no split keeps documents apart.
    #[error(
        "{largest} of {questions} questions are connected by documents that they share; they cannot be split by document"
    )]
    Connected { largest: usize, questions: usize },
}
