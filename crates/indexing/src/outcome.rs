//! What does indexing tell of itself? How far it has come, what came of each file, and of all of them.

use pikerag_knowledge::{ModelError, Problem, PutReport};
use serde::Serialize;
use utoipa::ToSchema;

use super::bill::Estimate;
use super::error::FileError;
use super::plan::Lacking;

/// Failures and refusals that a report lists one by one.
const LISTED: usize = 10;

/// How far indexing has come; for progress bars.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Files are read, several at a time: told before the first, and as each is done.
    Reading {
        /// Files done.
        done: usize,
        /// Files in all.
        total: usize,
    },
    /// All files are read; this is what the model calls will take. Sent before the first of them.
    Bill(Estimate),
    /// A stage has done `done` of `total` pieces.
    Stage {
        /// What it makes, in people's words: `atomic questions`, `vectors`, …
        name: &'static str,
        /// Pieces done.
        done: usize,
        /// Pieces in all; 0 where nobody knows.
        total: usize,
    },
}

/// What came of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FileOutcome)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Read and stored.
    Stored {
        // What that changed.
        #[serde(flatten)]
        #[schema(inline)]
        #[expect(
            missing_docs,
            reason = "beside an inlined type it is an object of its own in the OpenAPI document"
        )]
        report: PutReport,
        /// Documents in the file.
        documents: usize,
    },
    /// The same bytes under the same settings: nothing to do.
    Unchanged,
    /// A model call failed or was too dear while the file was cut into chunks: the next run goes on with
    /// it. What an earlier version of it gave is kept.
    Waiting {
        /// Why.
        reason: String,
    },
    /// Left out; what an earlier version of it gave is kept.
    Failed {
        /// Why.
        #[schema(value_type = String)]
        reason: FileError,
    },
}

/// What came of an indexing run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = IndexReport)]
pub struct Report {
    /// By file, in the order given.
    pub files: Vec<(String, Outcome)>,
    /// Files whose bytes are known by another name now: (old name, new name).
    pub moved: Vec<(String, String)>,
    /// What parsers could not read inside files that were stored: (file, problem).
    pub problems: Vec<(String, Problem)>,
    /// Chunks atomized in this run; one that became two kinds of atoms counts twice.
    pub atomized: usize,
    /// Atoms of all kinds made of them.
    pub atoms: usize,
    /// Questions dropped because they repeat another.
    pub duplicates: usize,
    /// Questions dropped because they name nothing.
    pub pronouns: usize,
    /// Chunks whose questions stayed unreadable: their sentences serve instead.
    pub unreadable: usize,
    /// Chunks whose entities and relations were found in this run.
    pub extracted: usize,
    /// Chunks, communities and clusters for which the model's reply stayed unreadable: names and
    /// sentences serve instead.
    pub unextracted: usize,
    /// Typed records read in this run, by rule and by model.
    pub records: usize,
    /// Values of them that could not be read as their field's type: kept as they stand.
    pub untyped_values: usize,
    /// Values that a model gave and that do not stand in the text: dropped.
    pub invented_values: usize,
    /// Chunks whose reply stayed unreadable when a model was asked for records: they have none.
    pub unread_records: usize,
    /// Community reports written in this run, and sentences that stand for them.
    pub reports: usize,
    /// Summaries of the tree written in this run, on all levels.
    pub summaries: usize,
    /// Ends of chunks, or their summaries, that a model did not give: there the structure decided.
    pub undecided: usize,
    /// Tables and documents summed up, and figures described, in this run.
    pub described: usize,
    /// Chunks looked through for tags in this run.
    pub tagged: usize,
    /// Tags found in them; what two chunks bear counts twice.
    pub tags: usize,
    /// What kept structures from being built.
    #[schema(value_type = Vec<String>)]
    pub lacking: Vec<Lacking>,
    /// What kept structures of earlier runs from being brought up to date: they stay as they are.
    #[schema(value_type = Vec<String>)]
    pub stale: Vec<Lacking>,
    /// Chunks whose call failed; the next run tries them again: (chunk, reason), the first few.
    pub failed: Vec<(String, String)>,
    /// Calls that failed in all; those that ended the run are not among them.
    pub failures: usize,
    /// What models refused in this run, one by one, and rules stand in for: (piece, reason), the first few.
    pub refusals: Vec<(String, String)>,
    /// Refused in all. They are asked for again on request.
    pub refused: usize,
    /// Vectors made in this run, of every layer.
    pub vectors: usize,
    /// Why the run ended early, if it did; the next run goes on from there.
    #[schema(required)]
    pub stopped: Option<String>,
    /// Whether it ended because the budget was spent.
    pub over_budget: bool,
    /// Whether it ended because nobody answered where a model is served.
    pub out_of_reach: bool,
}

impl Report {
    /// Files left out; those that wait for a model are not among them.
    pub fn failed_files(&self) -> usize {
        self.files.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Failed { .. })).count()
    }

    pub(crate) fn note_failure(&mut self, label: &str, reason: String) {
        self.failures += 1;
        if self.failed.len() < LISTED {
            self.failed.push((label.to_owned(), reason));
        }
    }

    pub(crate) fn note_refusal(&mut self, label: &str, reason: String) {
        self.refused += 1;
        if self.refusals.len() < LISTED {
            self.refusals.push((label.to_owned(), reason));
        }
    }

    /// Adds what was done for vectors beside this.
    pub(crate) fn join_vectors(&mut self, other: Self) {
        self.vectors += other.vectors;
        self.refused += other.refused;
        let room = LISTED.saturating_sub(self.refusals.len());
        self.refusals.extend(other.refusals.into_iter().take(room));
    }

    /// Notes why the run ends early; of several reasons the first.
    pub(crate) fn stop(&mut self, told: String, by: Option<&ModelError>) {
        self.over_budget |= matches!(by, Some(ModelError::OverBudget { .. }));
        if self.stopped.is_none() {
            self.out_of_reach = matches!(by, Some(ModelError::Unreachable { .. }));
            self.stopped = Some(told);
        }
    }

    /// Whether all that was asked for is in the base, as models made it.
    pub fn is_whole(&self) -> bool {
        self.is_complete() && self.refused == 0
    }

    /// The same where rules may stand in for what models refused.
    pub fn is_complete(&self) -> bool {
        let waits = |outcome: &Outcome| matches!(outcome, Outcome::Waiting { .. });
        let nothing_failed = self.failed_files() == 0
            && self.failures == 0
            && !self.files.iter().any(|(_, outcome)| waits(outcome));
        nothing_failed && self.lacking.is_empty() && self.stopped.is_none()
    }
}
