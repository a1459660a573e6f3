//! Offers what the base still lacks and models are paid for: nobody has accepted it, so it waits for somebody who does.

use std::sync::Arc;

use pikerag_engine::knowledge::{JobBill, JobKind, JobQuery, JobRecord, JobState};
use pikerag_engine::{left_to_do, setup};

use super::line::Line;
use super::{Host, Job, JobOffer, failed, now, there};
use crate::problem::Problem;

/// Keeps the one offer of the base at what it lacks now, and shows it where it is new.
pub(super) async fn offer(host: &Arc<dyn Host>, line: &Line) -> Result<(), Problem> {
    let Some(session) = host.owner_of(&line.base) else { return Ok(()) };
    let Some(store) = there(&session).await? else { return Ok(()) };
    let bill = match session.indexes_for_free() {
        true => JobBill::default(),
        false => left_to_do(&session).await?.bill(),
    };
    let _order = line.order.lock().await;
    let unfinished = store.jobs(JobQuery::Unfinished).await.map_err(failed)?;
    let held = unfinished.into_iter().find(|job| job.kind == JobKind::Complete);
    let mut record = match held {
        // Somebody has accepted it.
        Some(held) if held.state != JobState::Offered => return Ok(()),
        Some(held) if held.bill == Some(bill) => {
            tell(host, line, &held);
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
            retry_refused: false,
            attempts: 0,
            reason: Some("nobody has accepted its bill".to_owned()),
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
        record.reason = Some("nothing of it is left to do".to_owned());
    }
    if record.id == 0 {
        record.id = store.add_job(record.clone(), Vec::new()).await.map_err(failed)?;
        host.jobs().follow(&Job::of(&line.base, &record));
    }
    host.jobs().keep(&line.base, store.as_ref(), &record).await;
    tell(host, line, &record);
    Ok(())
}

/// Tells the terminal of an offer, once for each bill.
pub(super) fn tell(host: &Arc<dyn Host>, line: &Line, job: &JobRecord) {
    let Some(bill) = job.bill.filter(|_| job.state == JobState::Offered) else { return };
    if line.is_new_offer(job.id, bill) {
        host.offered(&JobOffer { base: line.base.clone(), id: job.id, bill });
    }
}
