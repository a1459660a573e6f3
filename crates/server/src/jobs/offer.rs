//! Offers the paid work that a base still needs; it waits until somebody accepts its bill.

use std::sync::Arc;

use pikerag_engine::keys::Key;
use pikerag_engine::knowledge::{JobBill, JobKind, JobPriority, JobQuery, JobRecord, JobState};
use pikerag_engine::{Session, remaining_work, setup, shares_jobs};

use super::line::Line;
use super::reason::JobReason;
use super::{Host, Job, JobOffer, Jobs, Work, failed, made, now, there};
use crate::problem::{Fault, Problem};

impl Jobs {
    /// Begins the remaining work of a base if it is free. Paid work becomes an offer, which waits until somebody accepts
    /// its bill. A job for the remaining work that exists already is returned as it is.
    pub(crate) async fn begin_remaining(
        &self,
        host: &Arc<dyn Host>,
        key: Option<&Key>,
        base: &str,
        session: &Session,
    ) -> Result<Job, Problem> {
        let line = self.line(host, base);
        offer(host, &line).await?;
        let unfinished = made(session).await?.jobs(JobQuery::Unfinished).await.map_err(failed)?;
        if let Some(held) = unfinished.iter().find(|job| job.kind == JobKind::Complete) {
            return Ok(Job::of(base, held));
        }
        if !session.indexes_for_free() && !remaining_work(session).await?.bill().is_free() {
            return Err(Problem::new(409, "jobs-run", Fault::Caller)
                .saying(
                    "other jobs of the base run, and the rest of the work is offered when they end",
                )
                .in_chinese("本知识库还有其他任务在运行；它们结束后会提出剩余的工作")
                .hint("GET …/jobs lists them"));
        }
        let work = Work { kind: JobKind::Complete, paths: Vec::new(), retry_refused: false };
        self.begin(host, key, base, session, work).await
    }
}

/// Updates the one offer of the base to its current needs, and publishes it if it is new.
pub(super) async fn offer(host: &Arc<dyn Host>, line: &Line) -> Result<(), Problem> {
    let Some(session) = host.owner_of(&line.base) else { return Ok(()) };
    let Some(store) = there(&session).await? else { return Ok(()) };
    if shares_jobs(&session) {
        // Other processes may still do a part of the remaining work.
        let unfinished = store.jobs(JobQuery::Unfinished).await.map_err(failed)?;
        if unfinished.iter().any(|job| job.state.is_accepted()) {
            return Ok(());
        }
    }
    let bill = match session.indexes_for_free() {
        true => JobBill::default(),
        false => remaining_work(&session).await?.bill(),
    };
    let _order = line.order.lock().await;
    let unfinished = store.jobs(JobQuery::Unfinished).await.map_err(failed)?;
    let held = unfinished.into_iter().find(|job| job.kind == JobKind::Complete);
    let mut record = match held {
        // The bill has been accepted.
        Some(held) if held.state != JobState::Offered => return Ok(()),
        Some(held) if held.bill == Some(bill) => {
            report(host, line, &held);
            return Ok(());
        }
        Some(held) => held,
        None if bill.is_free() => return Ok(()),
        None => JobRecord {
            id: 0,
            kind: JobKind::Complete,
            state: JobState::Offered,
            key: None,
            cap_usd: None,
            setup: setup(&session),
            bill: None,
            priority: JobPriority::Last,
            worker: None,
            retry_refused: false,
            attempts: 0,
            reason: Some(JobReason::NotAccepted.to_string()),
            added: now(),
            started: None,
            ended: None,
            due: 0,
            outcome: None,
        },
    };
    record.bill = Some(bill);
    if bill.is_free() {
        (record.state, record.ended) = (JobState::Done, Some(now()));
        record.reason = Some(JobReason::NoWorkLeft.to_string());
    }
    if record.id == 0 {
        record.id = store.add_job(record.clone(), Vec::new()).await.map_err(failed)?;
        host.jobs().follow(&Job::of(&line.base, &record));
    }
    let others = store.jobs(JobQuery::Unfinished).await.map_err(failed)?;
    let is_earlier = |job: &JobRecord| job.kind == JobKind::Complete && job.id < record.id;
    if others.iter().any(is_earlier) {
        // Another process made the offer at the same time.
        (record.state, record.ended) = (JobState::Done, Some(now()));
        record.reason = Some(JobReason::NoWorkLeft.to_string());
    }
    host.jobs().keep(&line.base, store.as_ref(), &record).await;
    report(host, line, &record);
    Ok(())
}

/// Reports an offer to the terminal, once for each bill.
pub(super) fn report(host: &Arc<dyn Host>, line: &Line, job: &JobRecord) {
    let Some(bill) = job.bill.filter(|_| job.state == JobState::Offered) else { return };
    if line.is_new_offer(job.id, bill) {
        host.offered(&JobOffer { base: line.base.clone(), id: job.id, bill });
    }
}
