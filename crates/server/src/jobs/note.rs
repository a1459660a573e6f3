//! Records the results of parts in their job: each part adds to the outcome, and the last one ends
//! the job.

use std::time::Duration;

use pikerag_engine::knowledge::{
    FileMark, JobBill, JobPart, JobRecord, JobState, Millis, PartsLeft, put_back,
};
use pikerag_engine::{EngineError, IndexResponse};
use serde_json::{Value, json};
use tracing::error;

use super::PAUSE;
use super::reason::JobReason;
use super::shown::FailedFile;
use crate::problem::{Fault, Problem};

/// Attempts of a job whose calls fail; the pauses between them grow fourfold.
const ATTEMPTS: u32 = 6;
/// The mark in an outcome that a part left something undone.
const IS_INCOMPLETE: &str = "is_incomplete";
/// The number of processes in an outcome that ended during the rest of the job.
const REST_CRASHES: &str = "rest_crashes";
/// The error of the last attempt in an outcome.
const PROBLEM: &str = "problem";

/// How an attempt ended.
pub(super) enum Ended {
    Came(Box<IndexResponse>, Vec<FailedFile>),
    Failed(EngineError),
    Panicked(String),
    /// The server stops, or a file of the job is deleted.
    Stopped,
}

/// What a batch means for its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// It goes on to its next part, or ends.
    GoesOn,
    /// It runs again after a pause.
    RunsAgain,
    /// It ends without a result.
    Fails,
    /// The batch counts as not begun.
    Stopped,
}

/// The result of a batch, ready to be recorded.
pub(super) struct Noted {
    /// Whether files of the batch will be read again.
    is_put_back: bool,
    course: Course,
    reason: Option<String>,
    outcome: Value,
    bill: Option<JobBill>,
    at: Millis,
}

impl Noted {
    /// A new attempt begins: the outcome of an earlier one goes, unless it is about other files.
    pub(super) fn begin(record: &mut JobRecord, part: JobPart) {
        match (part, record.outcome.as_mut().and_then(Value::as_object_mut)) {
            (JobPart::Whole, _) => record.outcome = None,
            (JobPart::Files | JobPart::Rest, Some(outcome)) => drop(outcome.remove(PROBLEM)),
            (JobPart::Files | JobPart::Rest, None) => {}
        }
    }

    /// The result of a batch; `shown` is its bill.
    pub(super) fn of(
        base: &str,
        record: &JobRecord,
        part: JobPart,
        ended: Ended,
        shown: Option<&Value>,
        at: Millis,
    ) -> Self {
        let has_attempts = record.attempts < ATTEMPTS;
        let mut noted = Self {
            is_put_back: true,
            course: Course::GoesOn,
            reason: None,
            outcome: Value::Null,
            bill: shown.and_then(bill_of).filter(|_| part == JobPart::Whole),
            at,
        };
        match ended {
            Ended::Came(response, failed) => {
                let report = &response.report;
                let first = report.failed.first().map(|(_, reason)| reason.clone());
                noted.reason = report.stopped.clone().or(first);
                noted.is_put_back = report.is_worth_a_retry() && has_attempts;
                if noted.is_put_back {
                    noted.course = Course::RunsAgain;
                }
                noted.outcome = json!({ "report": &*response, "failed": failed, "bill": shown });
                if !noted.is_put_back
                    && !report.is_whole()
                    && let Some(outcome) = noted.outcome.as_object_mut()
                {
                    outcome.insert(IS_INCOMPLETE.to_owned(), Value::Bool(true));
                }
            }
            Ended::Failed(error) => {
                noted.reason = Some(error.to_string());
                noted.course = match matches!(error, EngineError::Store(_)) && has_attempts {
                    true => Course::RunsAgain,
                    false => Course::Fails,
                };
                noted.outcome = json!({ PROBLEM: Problem::from(error) });
            }
            Ended::Panicked(message) => {
                error!(base, job = record.id, message, "a job panicked");
                noted.course = Course::Fails;
                noted.reason = Some(JobReason::Panicked { message }.to_string());
                let problem = Problem::new(500, "panicked", Fault::Server)
                    .saying("the job ended because of a program error; see the server's log");
                noted.outcome = json!({ PROBLEM: problem });
            }
            Ended::Stopped => noted.course = Course::Stopped,
        }
        noted
    }

    /// The mark of the batch's files.
    pub(super) fn mark(&self) -> FileMark {
        if self.is_put_back { FileMark::PutBack } else { FileMark::Done }
    }

    /// Changes the job.
    pub(super) fn apply(self, record: &mut JobRecord, part: JobPart, left: PartsLeft) {
        if self.course == Course::Stopped {
            put_back(record, left.leases);
            return;
        }
        if self.reason.is_some() {
            record.reason = self.reason;
        }
        // The next attempt does this part again, and reports it. Its calls must not count twice.
        let is_repeated = self.course == Course::RunsAgain && part != JobPart::Whole;
        if !is_repeated {
            let before = record.outcome.take().unwrap_or_default();
            record.outcome = Some(merged(before, self.outcome));
        }
        if record.bill.is_none() {
            record.bill = self.bill;
        }
        match self.course {
            Course::Fails => record.state = JobState::Failed,
            Course::RunsAgain if record.state == JobState::Running => again(record, self.at),
            _ => {}
        }
        if record.state.is_over() {
            record.ended = Some(self.at);
        }
    }
}

/// Ends the job after its last part. The pending work of the base is left to the next job, if one
/// waits with files.
pub(super) fn settle(record: &mut JobRecord, part: JobPart, left: PartsLeft, at: Millis) {
    let is_last = match part {
        JobPart::Whole | JobPart::Rest => true,
        JobPart::Files => left.files == 0 && left.leases == 0 && left.has_next,
    };
    if record.state != JobState::Running || !is_last {
        return;
    }
    let outcome = record.outcome.as_ref();
    let is_incomplete = outcome.is_some_and(|outcome| outcome.get(IS_INCOMPLETE).is_some());
    record.state = if is_incomplete { JobState::Incomplete } else { JobState::Done };
    record.ended = Some(at);
    if record.bill.is_none() {
        record.bill = outcome.and_then(|outcome| bill_of(outcome.get("bill")?));
    }
}

/// The calls that a part may make; `None`: those of its own estimate.
pub(super) fn allowed_calls(record: &JobRecord, part: JobPart) -> Option<u64> {
    let accepted = record.bill.map(|bill| bill.calls);
    let outcome = record.outcome.as_ref();
    let bill = outcome.and_then(|outcome| bill_of(outcome.get("bill")?));
    let used = bill.unwrap_or_default().calls;
    match part {
        JobPart::Whole => accepted,
        JobPart::Files => accepted.map(|accepted| accepted.saturating_sub(used)),
        JobPart::Rest => Some(accepted.unwrap_or_default().saturating_sub(used)),
    }
}

/// Notes that a process ended during the rest of a job. Returns the number of such processes.
pub(super) fn count_crash(record: &mut JobRecord) -> u32 {
    let Some(outcome) = record.outcome.get_or_insert_with(|| json!({})).as_object_mut() else {
        return 1;
    };
    let crashes = outcome.get(REST_CRASHES).and_then(Value::as_u64).unwrap_or_default() + 1;
    outcome.insert(REST_CRASHES.to_owned(), crashes.into());
    u32::try_from(crashes).unwrap_or(u32::MAX)
}

/// Schedules a job again whose result could not be stored; after its last attempt, it fails.
pub(super) fn unstored(record: &mut JobRecord, reason: String, at: Millis) {
    record.reason = Some(reason);
    if record.state != JobState::Running {
        return;
    }
    if record.attempts < ATTEMPTS {
        again(record, at);
    } else {
        (record.state, record.ended) = (JobState::Failed, Some(at));
    }
}

/// Schedules the job again after a pause.
fn again(record: &mut JobRecord, at: Millis) {
    let pause: Duration = PAUSE * 4_u32.pow(record.attempts.saturating_sub(1).min(ATTEMPTS));
    record.due = at.saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
    record.state = JobState::Waiting;
}

fn bill_of(shown: &Value) -> Option<JobBill> {
    let number = |at: &str| shown.pointer(at)?.as_u64();
    let calls = number("/estimate/calls")?;
    let tokens = ["/estimate/usage/prompt_tokens", "/estimate/usage/completion_tokens"];
    let tokens = tokens.into_iter().filter_map(number).sum();
    Some(JobBill { calls, tokens, usd: shown.get("usd")?.as_f64(), texts: 0 })
}

/// The outcomes of two batches as one. Figures of reading are added; figures of the whole base, such as
/// its cost, are those of the later batch.
fn merged(before: Value, after: Value) -> Value {
    let (Value::Object(mut all), Value::Object(after)) = (before, after.clone()) else {
        return after;
    };
    for (key, value) in after {
        let earlier = all.remove(&key).unwrap_or_default();
        let value = match key.as_str() {
            "report" => with_sums(earlier, value),
            "failed" | "bill" => added(earlier, value),
            _ => value,
        };
        all.insert(key, value);
    }
    Value::Object(all)
}

/// The later response, with the figures of reading of both.
fn with_sums(before: Value, mut after: Value) -> Value {
    let Value::Object(mut before) = before else { return after };
    for key in ["report", "retried", "pruned"] {
        if let (Some(earlier), Some(later)) = (before.remove(key), after.get_mut(key)) {
            *later = added(earlier, later.take());
        }
    }
    after
}

/// Adds numbers, joins lists, and does the same in objects. Of other values, the later one stays.
fn added(before: Value, after: Value) -> Value {
    match (before, after) {
        (Value::Object(mut all), Value::Object(after)) => {
            for (key, value) in after {
                let earlier = all.remove(&key).unwrap_or_default();
                all.insert(key, added(earlier, value));
            }
            Value::Object(all)
        }
        (Value::Array(mut all), Value::Array(after)) => {
            all.extend(after);
            Value::Array(all)
        }
        (Value::Number(before), Value::Number(after)) => match (before.as_u64(), after.as_u64()) {
            (Some(one), Some(other)) => one.saturating_add(other).into(),
            _ => (before.as_f64().unwrap_or_default() + after.as_f64().unwrap_or_default()).into(),
        },
        (Value::Bool(before), Value::Bool(after)) => (before || after).into(),
        (before, Value::Null) => before,
        (_, after) => after,
    }
}

#[cfg(test)]
mod tests {
    use pikerag_engine::knowledge::{JobKind, JobPriority};

    use super::*;

    fn job(state: JobState) -> JobRecord {
        JobRecord {
            id: 1,
            kind: JobKind::Index,
            state,
            priority: JobPriority::Usual,
            worker: None,
            key: None,
            cap_usd: None,
            setup: String::new(),
            bill: None,
            retry_refused: false,
            attempts: 1,
            reason: None,
            added: 0,
            started: None,
            ended: None,
            due: 0,
            outcome: None,
        }
    }

    fn read(report: &Value, calls: u64) -> Noted {
        Noted {
            is_put_back: false,
            course: Course::GoesOn,
            reason: None,
            outcome: json!({ "report": report, "failed": [], "bill": { "estimate": { "calls": calls }, "usd": null } }),
            bill: None,
            at: 7,
        }
    }

    fn report(files: &[&str], vectors: u32, spent: u32) -> Value {
        json!({ "report": { "files": files, "vectors": vectors, "stopped": null }, "spent": spent })
    }

    #[test]
    fn the_outcome_is_put_together_from_the_parts() {
        let mut record = job(JobState::Running);
        let left = PartsLeft { files: 1, leases: 1, has_next: false };
        read(&report(&["a"], 3, 5), 2).apply(&mut record, JobPart::Files, left);
        settle(&mut record, JobPart::Files, left, 7);
        assert_eq!(record.state, JobState::Running);
        read(&report(&["b"], 4, 6), 3).apply(&mut record, JobPart::Files, PartsLeft::default());
        // The rest of the base is still to do.
        settle(&mut record, JobPart::Files, PartsLeft::default(), 8);
        assert_eq!(record.state, JobState::Running);
        settle(&mut record, JobPart::Rest, PartsLeft::default(), 9);
        assert_eq!((record.state, record.ended), (JobState::Done, Some(9)));
        let outcome = record.outcome.unwrap();
        assert_eq!(outcome["report"], report(&["a", "b"], 7, 6));
        assert_eq!(record.bill.map(|bill| bill.calls), Some(5));
    }

    #[test]
    fn a_job_leaves_the_rest_to_the_next_one() {
        let mut record = job(JobState::Running);
        let left = PartsLeft { files: 0, leases: 0, has_next: true };
        let mut noted = read(&report(&["a"], 3, 5), 2);
        noted.outcome[IS_INCOMPLETE] = Value::Bool(true);
        noted.apply(&mut record, JobPart::Files, left);
        settle(&mut record, JobPart::Files, left, 7);
        assert_eq!(record.state, JobState::Incomplete);
    }

    #[test]
    fn a_part_that_runs_again_keeps_the_results_of_the_others() {
        let mut record = job(JobState::Running);
        let left = PartsLeft { files: 1, leases: 0, has_next: false };
        read(&report(&["a"], 3, 5), 2).apply(&mut record, JobPart::Files, left);
        let again = Noted {
            course: Course::RunsAgain,
            is_put_back: true,
            ..read(&report(&["b"], 0, 0), 0)
        };
        assert_eq!(again.mark(), FileMark::PutBack);
        again.apply(&mut record, JobPart::Files, left);
        settle(&mut record, JobPart::Files, left, 7);
        assert_eq!((record.state, record.due), (JobState::Waiting, 5007));
        assert_eq!(record.outcome.unwrap()["report"], report(&["a"], 3, 5));
        let mut record = job(JobState::Running);
        record.bill = Some(JobBill { calls: 9, ..JobBill::default() });
        let again =
            Noted { course: Course::RunsAgain, is_put_back: true, ..read(&report(&[], 0, 0), 5) };
        again.apply(&mut record, JobPart::Rest, PartsLeft::default());
        assert_eq!(record.state, JobState::Waiting);
        assert_eq!(allowed_calls(&record, JobPart::Rest), Some(9));
        let mut record = job(JobState::Running);
        let stopped = Noted { course: Course::Stopped, ..read(&Value::Null, 0) };
        stopped.apply(&mut record, JobPart::Files, left);
        assert_eq!((record.state, record.attempts), (JobState::Waiting, 0));
    }

    #[test]
    fn a_result_that_cannot_be_stored_is_tried_a_limited_number_of_times() {
        let mut record = job(JobState::Running);
        unstored(&mut record, "the disk is full".to_owned(), 7);
        assert_eq!((record.state, record.due, record.ended), (JobState::Waiting, 5007, None));
        let mut record = JobRecord { attempts: ATTEMPTS, ..job(JobState::Running) };
        unstored(&mut record, "the disk is full".to_owned(), 7);
        assert_eq!((record.state, record.ended), (JobState::Failed, Some(7)));
        let mut record = job(JobState::Offered);
        unstored(&mut record, "the disk is full".to_owned(), 7);
        assert_eq!(record.state, JobState::Offered);
    }

    /// Attempts of the job also count processes that ended during its files.
    #[test]
    fn crashes_of_the_rest_are_counted_alone() {
        let mut record = JobRecord { attempts: 5, ..job(JobState::Running) };
        assert_eq!(count_crash(&mut record), 1);
        read(&report(&["a"], 3, 5), 2).apply(&mut record, JobPart::Files, PartsLeft::default());
        assert_eq!(count_crash(&mut record), 2);
        assert_eq!(record.outcome.unwrap()["report"], report(&["a"], 3, 5));
    }

    #[test]
    fn parts_share_the_accepted_calls() {
        let mut record = job(JobState::Running);
        assert_eq!(allowed_calls(&record, JobPart::Files), None);
        assert_eq!(allowed_calls(&record, JobPart::Rest), Some(0));
        record.bill = Some(JobBill { calls: 9, ..JobBill::default() });
        read(&report(&["a"], 3, 5), 2).apply(&mut record, JobPart::Files, PartsLeft::default());
        assert_eq!(allowed_calls(&record, JobPart::Files), Some(7));
        assert_eq!(allowed_calls(&record, JobPart::Rest), Some(7));
        assert_eq!(allowed_calls(&record, JobPart::Whole), Some(9));
    }
}
