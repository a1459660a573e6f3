//! Makes several model calls at a time and stores results in small batches as they arrive. Once the run must
//! end, no call begins; calls in flight are awaited because they are paid.

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

/// The most results stored in one transaction.
const STORED: usize = 64;

/// The name of the results, the number of pieces, and the most calls in flight.
#[derive(Clone, Copy)]
pub(crate) struct CallBatch<'a> {
    pub(crate) name: &'static str,
    pub(crate) total: usize,
    pub(crate) at_once: usize,
    pub(crate) watch: Watch<'a>,
    /// The base in which refusals are noted.
    pub(crate) base: &'a dyn KnowledgeWriter,
}

/// The piece of a call.
pub(crate) struct Named {
    /// Its name, as shown to people.
    pub(crate) label: String,
    /// The place where a refusal is noted.
    pub(crate) place: Place,
}

/// The handling of a piece that a model refuses.
pub(crate) enum Place {
    /// Rules are used instead, and a retry may be requested under each of these marks.
    Marked(Vec<(Stage, NodeId)>),
    /// The run continues without it.
    Dispensable,
    /// It has no replacement, so the call counts as failed.
    Needed,
}

/// The calls of a batch, which run while results are stored. A call cannot pass on its result only if
/// storing has ended, and storing returns the reason.
pub(crate) type Calling<'a> = BoxFuture<'a, ()>;

/// The results of a batch, as they arrive.
pub(crate) struct Results<'a, T, R> {
    batch: CallBatch<'a>,
    ready: ReadyChunks<mpsc::Receiver<Result<Made<T, R>, StoreError>>>,
    name: Box<dyn Fn(&T) -> Named + Send + Sync + 'a>,
    ending: Arc<AtomicBool>,
    /// Whether refusals are noted. A piece that was noted but not stored, because the process was killed
    /// in between, is asked for again.
    any_noted: bool,
    done: usize,
}

/// An item, and the reply to the call about it.
type Made<T, R> = (T, Result<R, AskError>);

impl<'a> CallBatch<'a> {
    /// Asks about each piece, in no order, so that a slow call delays no other. `name` gives the piece of a
    /// failed call. Drive both parts together by [`finish`].
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
                        // Set before the result is stored, because further calls could no longer be recorded.
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
    /// The next results to store; `None` after the last. A reply is `None` if the model refused or its
    /// replies could not be read. Failed calls are noted in the report.
    ///
    /// # Errors
    /// The base cannot be read or written.
    pub(crate) async fn next(
        &mut self,
        report: &mut Report,
    ) -> Result<Option<Vec<(T, Option<R>)>>, StoreError> {
        if 0 < self.done {
            self.report_progress();
        }
        loop {
            let Some(ready) = self.ready.next().await else { return Ok(None) };
            let mut answers = Vec::with_capacity(ready.len());
            let (mut refused, mut answered) = (Vec::new(), Vec::new());
            for result in ready {
                let (item, result) = result?;
                self.done += 1;
                let named = (self.name)(&item);
                match result {
                    Ok(reply) => {
                        answered.extend(named.places().filter(|_| self.any_noted));
                        answers.push((item, Some(reply)));
                    }
                    Err(error) => match refusals(&named, &error, report) {
                        Some(noted) => {
                            refused.extend(noted);
                            answers.push((item, None));
                        }
                        None => note_failed_call(&named.label, &error, report),
                    },
                }
            }
            self.ending.fetch_or(report.stopped.is_some(), Ordering::Relaxed);
            if !refused.is_empty() || !answered.is_empty() {
                // Before its replacement is stored, so that a refusal is not taken for a reply.
                self.batch.base.put_refusals(refused, answered).await?;
            }
            if !answers.is_empty() {
                return Ok(Some(answers));
            }
            self.report_progress();
        }
    }

    fn report_progress(&self) {
        let CallBatch { name, total, watch, .. } = self.batch;
        watch(Progress::Stage { name, done: self.done, total });
    }
}

/// Makes the calls of a batch while `storing` stores their results, until both end.
///
/// # Errors
/// `storing` fails.
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

/// The notes on a piece for which the model gave no reply; `None` if its call failed.
fn refusals(named: &Named, error: &AskError, report: &mut Report) -> Option<Vec<Refusal>> {
    let (cause, reason) = match error {
        AskError::Unreadable { reason, .. } => {
            tracing::warn!(of = named.label, %reason, "a reply could not be read");
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

/// Notes a failed call, and stops the run if no further call can succeed.
pub(crate) fn note_failed_call(label: &str, error: &AskError, report: &mut Report) {
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
