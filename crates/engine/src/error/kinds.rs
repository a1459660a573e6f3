//! Names the subjects of errors in which one decision of the caller covers several subjects.

use std::fmt;
use std::path::{Path, PathBuf};

use pikerag_knowledge::Role;

/// A kind of item that the base does not have, or that the caller may not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum Missing {
    /// A chunk, by identifier.
    Chunk,
    /// A file, by path.
    File,
    /// The bytes of a file, by its path.
    Original,
    /// A correction of a file, by number.
    Correction,
    /// A report of an evaluation, by name.
    Evaluation,
    /// A backup, by path.
    Backup,
    /// A run, by its name or the beginning of it.
    Run,
    /// A node of the graph, by name or identifier.
    Node,
    /// A class of tags, by name.
    TagClass,
    /// A pair of tags, by its words.
    TagPair,
}

impl Missing {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Chunk => "no-such-chunk",
            Self::File => "no-such-file",
            Self::Original => "no-original",
            Self::Correction => "no-such-correction",
            Self::Evaluation => "no-such-evaluation",
            Self::Backup => "no-such-backup",
            Self::Run => "no-such-run",
            Self::Node => "no-such-node",
            Self::TagClass => "no-such-tag-class",
            Self::TagPair => "no-such-tag-pair",
        }
    }

    pub(super) fn message(self, name: &str) -> String {
        match self {
            Self::Chunk => format!("there is no chunk {name}"),
            Self::File => format!("{name} is not in the knowledge base"),
            Self::Original => format!("the bytes of {name} are not kept"),
            Self::Correction => format!("there is no correction {name}"),
            Self::Evaluation => format!("there is no evaluation `{name}`"),
            Self::Backup => format!("there is no backup {name}"),
            Self::Run => format!("there is no run `{name}`"),
            Self::Node => format!("there is no node `{name}` in this base"),
            Self::TagClass => format!("there is no class `{name}`"),
            Self::TagPair => format!("there is no pair `{name}`"),
        }
    }
}

/// Something that a request needs and that neither the request nor the settings name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum Needed {
    /// An embedder.
    Embedder,
    /// A reranker.
    Reranker,
    /// A chat model, to learn pairs of tags.
    ChatForPairs,
    /// A model that judges answers.
    Judge,
    /// A model that gives log-probabilities.
    LogProbabilities,
    /// The folder of an evaluation run.
    RunFolder,
    /// The folder with the data sets of a preset.
    DataFolder,
    /// Classes of tags, to learn pairs for.
    TagClasses,
    /// The parts of the base that the methods of an evaluation work on; notices name them.
    PartsOfBase,
}

impl Needed {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Embedder => "no-embedder",
            Self::Reranker => "no-reranker",
            Self::ChatForPairs => "no-model",
            Self::Judge => "no-judge",
            Self::LogProbabilities => "no-log-probabilities",
            Self::RunFolder => "no-run-folder",
            Self::DataFolder => "no-data-folder",
            Self::TagClasses => "no-tag-classes",
            Self::PartsOfBase => "not-built",
        }
    }
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embedder => "there is no embedder",
            Self::Reranker => "there is no reranker",
            Self::ChatForPairs => "learning pairs needs a chat model",
            Self::Judge => "there is no model to judge with",
            Self::LogProbabilities => {
                "no model is set that gives log-probabilities, so there is no perplexity"
            }
            Self::RunFolder => "no folder is given for the run",
            Self::DataFolder => {
                "a preset needs the folder with the data sets, or files of questions"
            }
            Self::TagClasses => "there are no tag classes yet",
            Self::PartsOfBase => "no method is left to measure: what they work on is missing",
        })
    }
}

/// A text that contains no word and needs one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoWords {
    /// A question.
    Question,
    /// A query of a search.
    Query,
    /// A tag, a class or a part of a pair.
    Name(String),
}

impl NoWords {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Question => "empty-question",
            Self::Query => "empty-query",
            Self::Name(_) => "no-word",
        }
    }
}

impl fmt::Display for NoWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Question => f.write_str("the question holds no word"),
            Self::Query => f.write_str("there is no word to look for"),
            Self::Name(name) => write!(f, "`{name}` holds no word"),
        }
    }
}

/// The task of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointOf {
    /// A chat model's role.
    Role(Role),
    /// Vectors.
    Embedder,
    /// Reranking.
    Reranker,
}

impl fmt::Display for EndpointOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role(role) => write!(f, "the model for `{role}`"),
            Self::Embedder => f.write_str("the embedder"),
            Self::Reranker => f.write_str("the reranker"),
        }
    }
}

/// The task of local weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightsOf {
    /// Vectors.
    Embedder,
    /// Reranking, with the weights in this folder.
    Reranker(PathBuf),
}

impl WeightsOf {
    pub(super) fn message(&self, reason: &str) -> String {
        match self {
            Self::Embedder => reason.to_owned(),
            Self::Reranker(folder) => format!(
                "the weights in {}, which `rerank.weights` names, cannot be used: {reason}",
                folder.display()
            ),
        }
    }
}

/// The use of a file of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionFile {
    /// Questions to ask.
    Asked,
    /// Questions labelled as known or not, for the method `skr`.
    Labelled,
    /// Trajectories of questions that were answered right, examples for `kar3`.
    Demonstrations,
}

impl QuestionFile {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Asked => "bad-questions",
            Self::Labelled | Self::Demonstrations => "bad-labelled-questions",
        }
    }

    pub(super) fn unreadable(self, path: &Path) -> String {
        match self {
            Self::Asked => format!("{} cannot be read", path.display()),
            Self::Labelled => {
                format!("{}, which `methods.skr_examples` names, cannot be read", path.display())
            }
            Self::Demonstrations => {
                format!("{}, of `methods.demonstrations`, cannot be read", path.display())
            }
        }
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Asked => "question",
            Self::Labelled => "labelled question",
            Self::Demonstrations => "trajectory",
        }
    }
}
