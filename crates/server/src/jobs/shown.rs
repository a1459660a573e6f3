//! Shows a job as responses and streams have it.

use pikerag_engine::IndexResponse;
use pikerag_engine::knowledge::{JobBill, JobKind, JobRecord, JobState, Millis};
use pikerag_engine::parts::Estimate;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::problem::Problem;

/// A job of indexing.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    /// Names it.
    pub(super) id: u64,
    /// The base that it works for.
    pub(super) base: String,
    /// What it does.
    pub(super) kind: JobKind,
    /// How far it has come.
    pub(super) stand: JobState,
    /// What it is at: `reading`, `vectors`, …
    pub(super) stage: String,
    /// Pieces of that which are done.
    pub(super) done: usize,
    /// Pieces of it in all; 0 where that is not known.
    pub(super) total: usize,
    /// What the calls of models will take, once that is known.
    #[schema(required, value_type = Option<Bill>)]
    pub(super) bill: Option<Value>,
    /// Files that failed, each with its reason.
    #[schema(value_type = Vec<FailedFile>)]
    pub(super) failed: Value,
    /// What came of it.
    #[schema(required, value_type = Option<IndexResponse>)]
    pub(super) report: Option<Value>,
    /// Why it did not come to an end.
    #[schema(required, value_type = Option<Problem>)]
    pub(super) problem: Option<Value>,
    /// Identifier of the key that asked for it.
    #[schema(required)]
    pub(super) key: Option<String>,
    /// What that key may spend over all its life, in US dollars.
    #[schema(required)]
    pub(super) cap_usd: Option<f64>,
    /// The bill that was accepted; of a job that is offered, the bill to accept.
    #[schema(required)]
    pub(super) accepted: Option<JobBill>,
    /// How often it was begun.
    pub(super) attempts: u32,
    /// Why the last attempt failed, or why the job is offered or set aside.
    #[schema(required)]
    pub(super) reason: Option<String>,
    /// When it was asked for, in milliseconds since 1970.
    #[schema(value_type = u64)]
    pub(super) added: Millis,
    /// When it was last begun.
    #[schema(required, value_type = Option<u64>)]
    pub(super) started: Option<Millis>,
    /// When it was over.
    #[schema(required, value_type = Option<u64>)]
    pub(super) ended: Option<Millis>,
}

/// What the calls of models will take.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Bill {
    /// Calls and tokens, in all and by role.
    pub(super) estimate: Estimate,
    /// US dollars, where the prices are known.
    #[schema(required)]
    pub(super) usd: Option<f64>,
}

/// A file that could not be read.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FailedFile {
    /// As the base would call it.
    pub(super) file: String,
    /// What it was called when it came over the wire, if it did: `POST …/index` takes it again by this name.
    #[schema(required)]
    pub(super) sent_as: Option<String>,
    /// Why.
    pub(super) reason: String,
}

impl Job {
    pub(super) fn of(base: &str, record: &JobRecord) -> Self {
        let outcome = record.outcome.as_ref();
        let part = |name: &str| outcome?.get(name).filter(|part| !part.is_null()).cloned();
        Self {
            id: record.id,
            base: base.to_owned(),
            kind: record.kind,
            stand: record.state,
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
            added: record.added,
            started: record.started,
            ended: record.ended,
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stand.is_over()
    }
}
