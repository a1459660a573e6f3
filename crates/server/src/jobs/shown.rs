//! Defines a job as responses and streams show it.

use pikerag_engine::IndexResponse;
use pikerag_engine::knowledge::{JobBill, JobKind, JobRecord, JobState, Millis};
use pikerag_engine::parts::Estimate;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::reason::reason_in_chinese;
use crate::problem::Problem;

/// An indexing job.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    /// Its number.
    pub(super) id: u64,
    /// The base that it works for.
    pub(super) base: String,
    /// The kind of work.
    pub(super) kind: JobKind,
    /// Its state.
    #[serde(rename = "stand")]
    pub(super) state: JobState,
    /// The current stage: `reading`, `vectors`, …
    pub(super) stage: String,
    /// The number of finished pieces of the stage.
    pub(super) done: usize,
    /// The number of all pieces of the stage; 0 if unknown.
    pub(super) total: usize,
    /// The cost of its model calls, once known.
    #[schema(required, value_type = Option<Bill>)]
    pub(super) bill: Option<Value>,
    /// Files that failed, each with its reason.
    #[schema(value_type = Vec<FailedFile>)]
    pub(super) failed: Value,
    /// The result.
    #[schema(required, value_type = Option<IndexResponse>)]
    pub(super) report: Option<Value>,
    /// Why it did not finish.
    #[schema(required, value_type = Option<Problem>)]
    pub(super) problem: Option<Value>,
    /// Identifier of the key that requested it.
    #[schema(required)]
    pub(super) key: Option<String>,
    /// What that key may spend over its whole life, in US dollars.
    #[schema(required)]
    pub(super) cap_usd: Option<f64>,
    /// The accepted bill; for an offered job, the bill to accept.
    #[schema(required)]
    pub(super) accepted: Option<JobBill>,
    /// The number of attempts.
    pub(super) attempts: u32,
    /// Why the last attempt failed, or why the job is offered or set aside.
    #[schema(required)]
    pub(super) reason: Option<String>,
    /// A short name of the reason, stable across versions, if it has one.
    #[schema(required)]
    pub(super) reason_code: Option<String>,
    /// The reason in Chinese.
    #[schema(required)]
    pub(super) reason_zh: Option<String>,
    /// When it was requested, in milliseconds since 1970.
    #[schema(value_type = u64)]
    pub(super) added: Millis,
    /// When the last attempt began.
    #[schema(required, value_type = Option<u64>)]
    pub(super) started: Option<Millis>,
    /// When it ended.
    #[schema(required, value_type = Option<u64>)]
    pub(super) ended: Option<Millis>,
}

/// The cost of model calls.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Bill {
    /// Calls and tokens, in all and by role.
    pub(super) estimate: Estimate,
    /// US dollars, if the prices are known.
    #[schema(required)]
    pub(super) usd: Option<f64>,
}

/// A file that could not be read.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FailedFile {
    /// The name that the base would use.
    pub(super) file: String,
    /// The name that it was uploaded under, if it was uploaded: `POST …/index` accepts it again by
    /// this name.
    #[schema(required)]
    pub(super) sent_as: Option<String>,
    /// Why it failed.
    pub(super) reason: String,
    /// A short name of the reason, stable across versions.
    pub(super) code: &'static str,
    /// The reason in Chinese.
    pub(super) reason_zh: String,
}

impl Job {
    pub(super) fn of(base: &str, record: &JobRecord) -> Self {
        let outcome = record.outcome.as_ref();
        let problem = outcome.and_then(|outcome| outcome.get("problem"));
        let (reason_code, reason_zh) = match record.reason.as_deref() {
            Some(reason) => reason_in_chinese(reason, problem),
            None => (None, None),
        };
        let part = |name: &str| outcome?.get(name).filter(|part| !part.is_null()).cloned();
        Self {
            id: record.id,
            base: base.to_owned(),
            kind: record.kind,
            state: record.state,
            stage: String::new(),
            done: 0,
            total: 0,
            bill: part("bill"),
            failed: part("failed").unwrap_or_else(|| Value::Array(Vec::new())),
            report: part("report"),
            problem: part("problem"),
            key: record.key.clone(),
            cap_usd: record.cap_usd,
            accepted: record.bill,
            attempts: record.attempts,
            reason: record.reason.clone(),
            reason_code,
            reason_zh,
            added: record.added,
            started: record.started,
            ended: record.ended,
        }
    }

    /// Shows that a running job waits, before the store can keep that.
    pub(super) fn wait_because(&mut self, reason: &str) {
        if self.state == JobState::Running {
            self.state = JobState::Waiting;
            self.reason = Some(reason.to_owned());
            (self.reason_code, self.reason_zh) = reason_in_chinese(reason, None);
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.is_over()
    }
}
