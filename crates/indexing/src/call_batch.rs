//! How are many model calls made at a time? Each result is stored as soon as it is there, in small
//! batches; once the run has to end, no call begins, and those under way are waited for: they are paid.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt;
use futures::channel::mpsc;
use futures::future::{self, BoxFuture, ready};
use futures::stream::{ReadyChunks, StreamExt};
use pikerag_knowledge::{
    KnowledgeWriter, ModelError, NodeId, Refusal, RefusalCause, Stage, StoreError, error_chain,
};
use pikerag_prompt::AskError;

use super::outcome::{Progress, Report};
use super::pending::Pieces;
use super::tools::Watch;

/// Results stored in one transaction, at most.
const STORED: usize = 64;

/// What is done, how much of it there is, and how many calls may be under way.
#[derive(Clone, Copy)]
pub(crate) struct CallBatch<'a> {
    pub(crate) name: &'static str,
    pub(crate) total: usize,
    pub(crate) at_once: usize,
    pub(crate) watch: Watch<'a>,
    /// Where refusals are noted.
    pub(crate) base: &'a dyn KnowledgeWriter,
}

/// Whose call it is.
pub(crate) struct Named {
    /// As people know it.
    pub(crate) label: String,
    /// Where a refusal is noted.
    pub(crate) place: Place,
}

/// What becomes of a piece that a model refuses.
pub(crate) enum Place {
    /// Rules stand in, and it is asked for again on request, under each of these.
    Marked(Vec<(Stage, NodeId)>),
    /// It is done without.
    Dispensable,
    /// Nothing stands in: the call has failed.
    Needed,
}

/// The calls of a batch, which go on while results are stored. A call that fails to hand on its result finds that storing
/// has ended, and storing then says why.
pub(crate) type Calling<'a> = BoxFuture<'a, ()>;

/// What came of the calls of a batch, as it comes.
pub(crate) struct Results<'a, T, R> {
    batch: CallBatch<'a>,
    ready: ReadyChunks<mpsc::Receiver<Result<Made<T, R>, StoreError>>>,
    name: Box<dyn Fn(&T) -> Named + Send + Sync + 'a>,
    ending: Arc<AtomicBool>,
    /// What was noted and not stored, because a kill came between, is asked for again.
    any_noted: bool,
    done: usize,
}

/// An item, and the reply to the call about it.
type Made<T, R> = (T, Result<R, AskError>);

impl<'a> CallBatch<'a> {
    /// Asks for each item, in no order: one slow call holds up none. `name` says whose a call is that fails. Drive both
    /// parts together by [`finish`].
    ///
    /// # Errors
    /// The base cannot be read.
    pub(crate) async fn begin<T, R, A>(
        self,
        pieces: Pieces<'a, T>,
        ask: impl Fn(T) -> A + Send + Sync + 'a,
        name: impl Fn(&T) -> Named + Send + Sync + 'a,
    ) -> Result<(Calling<'a>, Results<'a, T, R>), StoreError>
    where
        T: Send + 'a,
        R: Send + 'a,
        A: Future<Output = Made<T, R>> + Send + 'a,
    {
        let any_noted = !self.base.refusals().await?.is_empty();
        let ending = Arc::new(AtomicBool::new(false));
        let (ask, ends) = (Arc::new(ask), Arc::clone(&ending));
        let calls = pieces.map(move |item| {
            let (ask, ends) = (Arc::clone(&ask), Arc::clone(&ends));
            async move {
                match item {
                    Ok(_) if ends.load(Ordering::Relaxed) => None,
                    Ok(item) => {
                        let (item, result) = ask(item).await;
                        // At once: what waits to be stored may be followed by calls that nobody could record.
                        if result.as_ref().is_err_and(ends_the_run) {
                            ends.store(true, Ordering::Relaxed);
                        }
                        Some(Ok((item, result)))
                    }
                    Err(error) => Some(Err(error)),
                }
            }
        });
        let in_flight = self.at_once.max(1);
        let (sender, results) = mpsc::channel(in_flight);
        let made = calls.buffer_unordered(in_flight).filter_map(ready).map(Ok);
        let calling = made.forward(sender).map(drop).boxed();
        let ready = results.ready_chunks(STORED);
        let name = Box::new(name);
        Ok((calling, Results { batch: self, ready, name, ending, any_noted, done: 0 }))
    }
}

impl<T, R> Results<'_, T, R> {
    /// The next results to store; `None` in place of a reply that the model did not give: it refused, or its replies stayed
    /// unreadable. Calls that failed are booked in the report. `None` after the last.
    ///
    /// # Errors
    /// The base cannot be read or written.
    pub(crate) async fn next(
        &mut self,
        report: &mut Report,
    ) -> Result<Option<Vec<(T, Option<R>)>>, StoreError> {
        if 0 < self.done {
            self.tell();
        }
        loop {
            let Some(ready) = self.ready.next().await else { return Ok(None) };
            let mut came = Vec::with_capacity(ready.len());
            let (mut refused, mut answered) = (Vec::new(), Vec::new());
            for result in ready {
                let (item, result) = result?;
                self.done += 1;
                let named = (self.name)(&item);
                match result {
                    Ok(reply) => {
                        answered.extend(named.places().filter(|_| self.any_noted));
                        came.push((item, Some(reply)));
                    }
                    Err(error) => match refusals(&named, &error, report) {
                        Some(noted) => {
                            refused.extend(noted);
                            came.push((item, None));
                        }
                        None => blame(&named.label, &error, report),
                    },
                }
            }
            self.ending.fetch_or(report.stopped.is_some(), Ordering::Relaxed);
            if !refused.is_empty() || !answered.is_empty() {
                // Before what stands in for it: a refusal is never taken for a reply.
                self.batch.base.put_refusals(refused, answered).await?;
            }
            if !came.is_empty() {
                return Ok(Some(came));
            }
            self.tell();
        }
    }

    fn tell(&self) {
        let CallBatch { name, total, watch, .. } = self.batch;
        watch(Progress::Stage { name, done: self.done, total });
    }
}

/// Makes the calls of a batch while `storing` takes their results, to the end of both.
///
/// # Errors
/// Those of `storing`.
pub(crate) async fn finish(
    calling: Calling<'_>,
    storing: impl Future<Output = Result<(), StoreError>>,
) -> Result<(), StoreError> {
    future::join(calling, storing).await.1
}

impl Named {
    fn places(&self) -> impl Iterator<Item = (Stage, NodeId)> {
        let marks = match &self.place {
            Place::Marked(marks) => marks.as_slice(),
            Place::Dispensable | Place::Needed => &[],
        };
        marks.iter().cloned()
    }
}

/// What to note of a piece that the model did not give anything for; `None` where its call has failed.
fn refusals(named: &Named, error: &AskError, report: &mut Report) -> Option<Vec<Refusal>> {
    let (cause, reason) = match error {
        AskError::Unreadable { reason, .. } => {
            tracing::warn!(of = named.label, %reason, "a reply stayed unreadable");
            (RefusalCause::Unreadable, reason.to_string())
        }
        AskError::Model { source: ModelError::Refused { .. }, .. } => {
            if matches!(named.place, Place::Needed) {
                return None;
            }
            report.note_refusal(&named.label, error_chain(error));
            (RefusalCause::Refused, error_chain(error))
        }
        _ => return None,
    };
    let noted = named.places().map(|(stage, node)| Refusal {
        stage,
        node,
        label: named.label.clone(),
        cause,
        reason: reason.clone(),
    });
    Some(noted.collect())
}

/// Notes a call that failed, and whether the run has to end with it.
pub(crate) fn blame(label: &str, error: &AskError, report: &mut Report) {
    if ends_the_run(error) {
        let by = match error {
            AskError::Model { source, .. } => Some(source),
            _ => None,
        };
        report.stop(error_chain(error), by);
        return;
    }
    report.note_failure(label, error_chain(error));
}

pub(crate) fn ends_the_run(error: &AskError) -> bool {
    match error {
        AskError::Model { source, .. } => source.concerns_every_call(),
        AskError::Template { .. } => true,
        AskError::Unreadable { .. } => false,
    }
}
