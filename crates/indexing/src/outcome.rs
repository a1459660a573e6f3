//! Defines the progress of indexing, the outcome of each file, and the report of a run.

use pikerag_knowledge::{ModelError, Problem, PutReport};
use serde::Serialize;
use utoipa::ToSchema;

use super::bill::Estimate;
use super::error::FileError;
use super::plan::MissingPart;

/// The most failures, and the most refusals, that a report lists.
const LISTED: usize = 10;

/// The progress of indexing, for progress bars.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Files are read, several at a time. Sent before the first, and after each.
    Reading {
        /// Finished files.
        done: usize,
        /// All files.
        total: usize,
    },
    /// The estimate of the model calls, sent before the first of them.
    Bill(Estimate),
    /// A stage has finished `done` of `total` pieces.
    Stage {
        /// The name of its results, as shown to people: `atomic questions`, `vectors`, …
        name: &'static str,
        /// Finished pieces.
        done: usize,
        /// All pieces; 0 if their number is unknown.
        total: usize,
    },
}

/// The result of indexing a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FileOutcome)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Read and stored.
    Stored {
        // The changes.
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
    /// The bytes and the settings have not changed, so nothing was done.
    Unchanged,
    /// A model call failed or was too expensive while the file was cut into chunks. The next run
    /// continues with the file. The results of its earlier version are kept.
    Waiting {
        /// The reason.
        reason: String,
    },
    /// Left out; the results of its earlier version are kept.
    Failed {
        /// The reason.
        #[schema(value_type = String)]
        reason: FileError,
    },
}

/// A file whose text repeats that of another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = RepeatedFile)]
pub struct Repeat {
    /// The file.
    pub file: String,
    /// The file that it repeats.
    pub of: String,
    /// Whether the other file contains all its words. If not, single words differ, and no figures.
    pub is_whole: bool,
    /// Whether it is left out of the base.
    pub is_left_out: bool,
}

/// The result of an indexing run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = IndexReport)]
pub struct Report {
    /// The outcome of each file, in the given order.
    pub files: Vec<(String, Outcome)>,
    /// Renamed or moved files: (old name, new name).
    pub moved: Vec<(String, String)>,
    /// New files that repeat another file, or that another file repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
    /// Parts of stored files that parsers could not read: (file, problem).
    pub problems: Vec<(String, Problem)>,
    /// Chunks atomized in this run; a chunk with two kinds of atoms counts twice.
    pub atomized: usize,
    /// Atoms of all kinds made from these chunks.
    pub atoms: usize,
    /// Questions dropped because they repeat another.
    pub duplicates: usize,
    /// Questions dropped because they name nothing.
    pub pronouns: usize,
    /// Chunks whose questions could not be read; their sentences are used instead.
    pub unreadable: usize,
    /// Chunks whose entities and relations were found in this run.
    pub extracted: usize,
    /// Chunks, communities and clusters for which the model's reply could not be read. Names and
    /// sentences are used instead.
    pub unextracted: usize,
    /// Typed records read in this run, by rule and by model.
    pub records: usize,
    /// Values that could not be read as their field's type; their text is kept.
    pub untyped_values: usize,
    /// Values from a model that were dropped because they are not in the text.
    pub invented_values: usize,
    /// Chunks without records because the model's reply could not be read.
    pub unread_records: usize,
    /// Community reports written in this run, including sentences used in place of reports.
    pub reports: usize,
    /// Summaries of the tree written in this run, on all levels.
    pub summaries: usize,
    /// Ends of chunks, descriptions and tags that a model did not give. Structure or no result is used
    /// instead.
    pub undecided: usize,
    /// Tables and documents summarized, and figures described, in this run.
    pub described: usize,
    /// Chunks searched for tags in this run.
    pub tagged: usize,
    /// Tags found in these chunks; a tag of two chunks counts twice.
    pub tags: usize,
    /// Reasons why structures could not be built.
    #[serde(rename = "lacking")]
    #[schema(value_type = Vec<String>)]
    pub missing: Vec<MissingPart>,
    /// Reasons why structures of earlier runs could not be updated. These structures stay unchanged.
    #[schema(value_type = Vec<String>)]
    pub stale: Vec<MissingPart>,
    /// The first chunks whose call failed, which the next run tries again: (chunk, reason).
    pub failed: Vec<(String, String)>,
    /// All failed calls, except those that ended the run.
    pub failures: usize,
    /// The first pieces that models refused in this run, for which rules are used instead: (piece,
    /// reason).
    pub refusals: Vec<(String, String)>,
    /// All refused pieces. pikerag asks for them again on request.
    pub refused: usize,
    /// Vectors made in this run, of every layer.
    pub vectors: usize,
    /// Why the run ended early, if it did. The next run continues from there.
    #[schema(required)]
    pub stopped: Option<String>,
    /// The same in Chinese; only in answers to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_zh: Option<String>,
    /// Whether it ended because the budget was spent.
    pub over_budget: bool,
    /// Whether it ended because a model's endpoint was unreachable.
    pub out_of_reach: bool,
    /// Whether it ended because a call could not be looked up or recorded. The base may be reachable
    /// again when the run ends.
    pub ledger_failed: bool,
}

impl Report {
    /// The number of files left out, without those that wait for a model.
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

    /// Adds the vectors and refusals of a report made in parallel.
    pub(crate) fn join_vectors(&mut self, other: Self) {
        self.vectors += other.vectors;
        self.refused += other.refused;
        let left = LISTED.saturating_sub(self.refusals.len());
        self.refusals.extend(other.refusals.into_iter().take(left));
    }

    /// Notes why the run ends early; the first reason is kept.
    pub(crate) fn stop(&mut self, reason: String, by: Option<&ModelError>) {
        self.over_budget |= matches!(by, Some(ModelError::OverBudget { .. }));
        self.ledger_failed |= matches!(by, Some(ModelError::Ledger { .. }));
        if self.stopped.is_none() {
            self.out_of_reach = matches!(by, Some(ModelError::Unreachable { .. }));
            self.stopped = Some(reason);
        }
    }

    /// Whether something is missing that a later run of the same work may make by itself, because a
    /// call failed, no model could be reached, or the ledger failed.
    pub fn is_worth_a_retry(&self) -> bool {
        0 < self.failures || self.out_of_reach || self.ledger_failed
    }

    /// Whether the base has everything requested, made by models.
    pub fn is_whole(&self) -> bool {
        self.is_complete() && self.refused == 0
    }

    /// Whether the base has everything requested, even if rules replaced refused replies.
    pub fn is_complete(&self) -> bool {
        let is_missing = |outcome: &Outcome| match outcome {
            Outcome::Waiting { .. } => true,
            Outcome::Failed { reason } => !reason.is_notice(),
            Outcome::Stored { .. } | Outcome::Unchanged => false,
        };
        let nothing_failed =
            self.failures == 0 && !self.files.iter().any(|(_, outcome)| is_missing(outcome));
        nothing_failed && self.missing.is_empty() && self.stopped.is_none()
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::StoreError;
    use pikerag_knowledge::ports::Cause;
    use pikerag_parse::ParseError;

    use super::*;

    /// The database may be back before the run ends, so that nothing else of the run fails.
    #[test]
    fn a_run_that_a_ledger_ended_is_retried_and_one_without_a_budget_is_not() {
        let stopped = |error: ModelError| {
            let mut report = Report::default();
            report.stop(error.to_string(), Some(&error));
            assert!(!report.is_complete());
            report.is_worth_a_retry()
        };
        let cause = Cause::from("the connection is closed");
        let source = StoreError::Failed { what: "recording a call".to_owned(), source: cause };
        assert!(stopped(ModelError::Ledger { source: Box::new(source) }));
        let spent = "1 call".to_owned();
        assert!(!stopped(ModelError::OverBudget { cap: spent.clone(), spent }));
        let mut failed = Report::default();
        failed.note_failure("a passage", "the reply broke off".to_owned());
        assert!(failed.is_worth_a_retry() && !Report::default().is_worth_a_retry());
    }

    #[test]
    fn a_page_that_only_redirects_leaves_the_run_complete() {
        let report = |reason: FileError| Report {
            files: vec![("old.html".to_owned(), Outcome::Failed { reason })],
            ..Report::default()
        };
        let (name, to) = ("old.html".to_owned(), "new.html".to_owned());
        let redirect = report(FileError::Refused(ParseError::Redirect { name, to }));
        assert!(redirect.is_complete());
        assert_eq!(redirect.failed_files(), 1);
        assert!(!report(FileError::NoText).is_complete());
    }
}
