//! How are many model calls made at a time? Each result is stored as soon as it is there, in small
//! batches; once the run has to end, no call begins, and those under way are waited for: they are paid.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::channel::mpsc;
use futures::future::{self, ready};
use futures::stream::StreamExt;
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

/// Asks for each item and hands what came of it to `keep`; `None` stands for what the model did not give: it
/// refused, or its replies stayed unreadable. Calls that fail are booked here: `name` says whose they were.
pub(crate) async fn run_calls<T, R, A>(
    batch: CallBatch<'_>,
    pieces: Pieces<'_, T>,
    ask: impl Fn(T) -> A,
    name: impl Fn(&T) -> Named,
    report: &mut Report,
    mut keep: impl AsyncFnMut(Vec<(T, Option<R>)>, &mut Report) -> Result<(), StoreError>,
) -> Result<(), StoreError>
where
    A: Future<Output = (T, Result<R, AskError>)>,
{
    let ending = &AtomicBool::new(false);
    let ask = &ask;
    // What was noted and not stored, because a kill came between, is asked for again.
    let any_noted = !batch.base.refusals().await?.is_empty();
    let calls = pieces.map(|item| async move {
        match item {
            Ok(_) if ending.load(Ordering::Relaxed) => None,
            Ok(item) => {
                let (item, result) = ask(item).await;
                // At once: what waits to be stored may be followed by calls that nobody could record.
                if result.as_ref().is_err_and(ends_the_run) {
                    ending.store(true, Ordering::Relaxed);
                }
                Some(Ok((item, result)))
            }
            Err(error) => Some(Err(error)),
        }
    });
    let in_flight = batch.at_once.max(1);
    // Unordered: one slow call holds up none. Through a channel: calls go on while results are stored.
    let (made, results) = mpsc::channel(in_flight);
    let calling =
        calls.buffer_unordered(in_flight).filter_map(|result| ready(result.map(Ok))).forward(made);
    let storing = async {
        let mut done = 0;
        let mut ready_batches = results.ready_chunks(STORED);
        while let Some(ready) = ready_batches.next().await {
            let mut came = Vec::with_capacity(ready.len());
            let (mut refused, mut answered) = (Vec::new(), Vec::new());
            for result in ready {
                let (item, result): (T, Result<R, AskError>) = result?;
                done += 1;
                let named = name(&item);
                match result {
                    Ok(reply) => {
                        answered.extend(named.places().filter(|_| any_noted));
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
            ending.fetch_or(report.stopped.is_some(), Ordering::Relaxed);
            if !refused.is_empty() || !answered.is_empty() {
                // Before what stands in for it: a refusal is never taken for a reply.
                batch.base.put_refusals(refused, answered).await?;
            }
            if !came.is_empty() {
                keep(came, report).await?;
            }
            (batch.watch)(Progress::Stage { name: batch.name, done, total: batch.total });
        }
        Ok(())
    };
    // Sending fails only where storing has ended, and then that says why.
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
