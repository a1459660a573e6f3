//! Asks a question and keeps the run while it continues: events go to the listener and into the
//! base as they happen.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::future::join;
use pikerag_baselines::answer;
use pikerag_knowledge::{
    Millis, Pruned, RunEvent, RunId, RunRecord, RunSink, StoreError, Structured, error_chain,
};
use pikerag_methods::{Finished, Ports, Retrace, RunParams};
use pikerag_store::RUN_BEAT;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::sleep;

use super::{AskRequest, AskResponse, Asking};
use crate::base::Base;
use crate::corrected::mark_corrected;
use crate::engine::Session;
use crate::error::Result;
use crate::notice::Notice;
use crate::verbs::money::usd_of;

/// Updates of this time are stored in one transaction, which waits for the disk. The first update
/// of a run and the last ones do not wait.
const GATHER: Duration = Duration::from_millis(100);

/// Milliseconds of a day.
const DAY: Millis = 24 * 60 * 60 * 1000;

/// A finished run, and whether it was kept.
pub(in crate::verbs) struct KeptRun {
    pub(super) finished: Finished,
    pub(super) is_kept: bool,
    pub(super) notice: Option<Notice>,
}

impl KeptRun {
    pub(in crate::verbs) fn response(
        self,
        session: &Session,
        mut notices: Vec<Notice>,
    ) -> AskResponse {
        let Finished { record, events, result, scored: _, structured: _ } = self.finished;
        notices.extend(self.notice);
        let usd = usd_of(session, &record.cost);
        AskResponse { run: record, events, result, usd, is_kept: self.is_kept, notices }
    }
}

/// Asks with a method. The base keeps the run as it continues. The ports, with their state of the
/// base, are dropped before the end of the run is stored: the database can shorten its log only
/// while nobody reads an earlier state.
pub(in crate::verbs) async fn keep_run(
    session: &Session,
    base: &Base,
    ports: Ports,
    asking: Asking<'_>,
    request: &AskRequest,
) -> Result<KeptRun> {
    let Asking { question, method, filter, tags, verified, reads_at_most, retrace } = asking;
    let keep = session.settings().runs;
    // A replay is not kept, and prunes no other run.
    let is_new = retrace.as_ref().is_none_or(Retrace::is_fork);
    let is_kept = is_new && keep.keeps_any() && !base.is_read_only();
    let (sender, updates) = unbounded_channel();
    let sink = Fan { keeper: is_kept.then_some(sender), listener: request.listener.clone() };
    let id = new_name(&question.text);
    let params = RunParams {
        id: id.clone(),
        clock: Arc::new(now),
        sink: Some(Arc::new(sink)),
        process: std::process::id(),
        retrace,
        filter: filter.clone(),
        tags,
        verified,
        reads_at_most,
    };
    let cancelled = async {
        tokio::select! {
            () = session.cancelled() => {}
            () = request.cancel.cancelled() => {}
        }
    };
    // The run owns the sink, so the updates end when the run ends.
    let asking = async move {
        let finished = answer(&ports, question, method, params, cancelled).await;
        drop(ports);
        finished
    };
    let keeping = async {
        tokio::select! {
            kept = keep_all(base, updates) => kept,
            never = beat(base, &id, is_kept) => match never {},
        }
    };
    let (mut finished, kept) = join(asking, keeping).await;
    let is_marked = mark_citations(base, &mut finished).await;
    let kept = match kept {
        // The answer was stored without its marks, which few answers have.
        Ok(()) if is_marked && is_kept => base.keep_run(finished.record.clone(), Vec::new()).await,
        kept => kept,
    };
    if let Some(calls) = &request.open_calls {
        session.paces().add(&calls.take_measured());
    }
    if is_new && !base.is_read_only() {
        keep_structured(base, std::mem::take(&mut finished.structured)).await;
    }
    let kept = match kept {
        Ok(()) if base.is_read_only() || !is_new => Ok(Pruned::default()),
        Ok(()) => base.prune_runs(keep.at(now())).await,
        Err(error) => Err(error),
    };
    let id = &finished.record.id;
    let is_forgotten = is_kept && base.forgotten_run(&id.0).await.is_ok_and(|run| run.is_some());
    let is_kept = is_kept && kept.is_ok() && !is_forgotten;
    let notice = match kept {
        Ok(_) if is_forgotten => Some(Notice::RunForgotten),
        Ok(pruned) => pruned.leap.map(|leap| Notice::ClockLeap { days: leap / DAY }),
        Err(error) => Some(Notice::RunNotKept { reason: error_chain(&error) }),
    };
    Ok(KeptRun { finished, is_kept, notice })
}

/// Marks the citations of corrected passages in the answer and its record; false if there are none.
async fn mark_citations(base: &Base, finished: &mut Finished) -> bool {
    let Ok(answer) = &mut finished.result else { return false };
    match mark_corrected(base, &mut answer.citations).await {
        Ok(true) => finished.record.answer = Some(answer.clone()),
        Ok(false) => return false,
        Err(error) => {
            tracing::warn!(error = error_chain(&error), "corrected passages are not marked");
            return false;
        }
    }
    true
}

/// Stores what the run read as records, so that the next question of the kind uses it again (PIKE-RAG §4.1). The answer
/// does not depend on it.
async fn keep_structured(base: &Base, structured: Vec<Structured>) {
    for structured in structured {
        let schema = structured.kept.schema.name.clone();
        match base.put_structured(structured).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!(
                schema,
                "records are not kept: a passage of theirs was deleted, or their name is taken"
            ),
            Err(error) => {
                tracing::warn!(schema, error = error_chain(&error), "records are not kept");
            }
        }
    }
}

/// Milliseconds since 1970.
pub(in crate::verbs) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// A new random name: two runs of a base share one once in 10¹² pairs.
fn new_name(question: &str) -> RunId {
    // The standard library seeds the hash from the system, differently each time.
    RunId::from_bits(RandomState::new().hash_one(question))
}

enum Update {
    Record(Box<RunRecord>),
    Event(Box<RunEvent>),
}

/// Passes events to the base and to the listener.
struct Fan {
    keeper: Option<UnboundedSender<Update>>,
    listener: Option<Arc<dyn RunSink>>,
}

impl RunSink for Fan {
    fn record(&self, run: &RunRecord) {
        if let Some(listener) = &self.listener {
            listener.record(run);
        }
        if let Some(keeper) = &self.keeper {
            // If keeping has failed, the receiver is gone, and the response reports it.
            let _ = keeper.send(Update::Record(Box::new(run.clone())));
        }
    }

    fn event(&self, event: &RunEvent) {
        if let Some(listener) = &self.listener {
            listener.event(event);
        }
        if let Some(keeper) = &self.keeper {
            let _ = keeper.send(Update::Event(Box::new(event.clone())));
        }
    }
}

/// Stores updates until the run ends.
async fn keep_all(base: &Base, mut updates: UnboundedReceiver<Update>) -> Result<(), StoreError> {
    let mut run: Option<RunRecord> = None;
    let mut batch = Vec::from_iter(updates.recv().await);
    while !batch.is_empty() {
        let mut events = Vec::new();
        for update in batch.drain(..) {
            match update {
                Update::Record(record) => run = Some(*record),
                Update::Event(event) => events.push(*event),
            }
        }
        if let Some(run) = &run {
            base.keep_run(run.clone(), events).await?;
        }
        batch = gathered(&mut updates).await;
    }
    Ok(())
}

/// Shows other machines that the run goes on while a model call takes long.
async fn beat(base: &Base, run: &RunId, is_kept: bool) -> Infallible {
    loop {
        sleep(RUN_BEAT).await;
        if is_kept && let Err(error) = base.beat_run(run).await {
            tracing::debug!(error = error_chain(&error), "a run does not show that it goes on");
        }
    }
}

/// The updates of a moment, or all that are left when the run ends; none if it has ended.
async fn gathered<T>(updates: &mut UnboundedReceiver<T>) -> Vec<T> {
    let mut batch = Vec::from_iter(updates.recv().await);
    let mut end = pin!(sleep(GATHER));
    loop {
        tokio::select! {
            biased;
            update = updates.recv() => match update {
                Some(update) => batch.push(update),
                None => return batch,
            },
            () = &mut end => return batch,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn updates_of_a_moment_are_one_batch_and_the_last_ones_do_not_wait() {
        let (sender, mut updates) = unbounded_channel();
        for update in [1, 2, 3] {
            sender.send(update).unwrap();
        }
        // More may come until the time is over.
        assert_eq!(gathered(&mut updates).now_or_never(), None);
        for update in [4, 5] {
            sender.send(update).unwrap();
        }
        assert_eq!(gathered(&mut updates).await, [4, 5]);
        sender.send(6).unwrap();
        drop(sender);
        assert_eq!(gathered(&mut updates).now_or_never(), Some(vec![6]));
        assert_eq!(gathered(&mut updates).now_or_never(), Some(Vec::new()));
    }
}
