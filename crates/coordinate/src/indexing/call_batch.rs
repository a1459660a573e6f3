//! How are many model calls made at a time? Each result is stored as soon as it is there, in small
//! batches; once the run has to end, no call begins, and those under way are waited for: they are paid.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::channel::mpsc;
use futures::future::{self, ready};
use futures::stream::StreamExt;
use pikerag_knowledge::{ModelError, StoreError, error_chain};
use pikerag_prompt::AskError;

use super::outcome::{Progress, Report};
use super::pending::Pieces;
use super::tools::Watch;

/// Results stored in one transaction, at most.
const STORED: usize = 64;
/// Refusals in a row after which every further call would be refused too (a bad key).
const REFUSALS: usize = 3;
/// Failures that a report lists one by one.
const LISTED: usize = 10;

/// What is done, how much of it there is, and how many calls may be under way.
#[derive(Clone, Copy)]
pub(crate) struct CallBatch<'a> {
    pub(crate) name: &'static str,
    pub(crate) total: usize,
    pub(crate) at_once: usize,
    pub(crate) watch: Watch<'a>,
}

/// Asks for each item and hands what came of it to `keep`; `None` stands for a reply that stayed
/// unreadable. Calls that fail are booked here: `label` says whose they were.
pub(crate) async fn run_calls<T, R, A>(
    batch: CallBatch<'_>,
    pieces: Pieces<'_, T>,
    ask: impl Fn(T) -> A,
    label: impl Fn(&T) -> String,
    report: &mut Report,
    mut keep: impl AsyncFnMut(Vec<(T, Option<R>)>, &mut Report) -> Result<(), StoreError>,
) -> Result<(), StoreError>
where
    A: Future<Output = (T, Result<R, AskError>)>,
{
    let ending = &AtomicBool::new(false);
    let ask = &ask;
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
        let mut refusals = 0;
        let mut done = 0;
        let mut ready_batches = results.ready_chunks(STORED);
        while let Some(ready) = ready_batches.next().await {
            let mut came = Vec::with_capacity(ready.len());
            for result in ready {
                let (item, result): (T, Result<R, AskError>) = result?;
                done += 1;
                match result {
                    Ok(reply) => came.push((item, Some(reply))),
                    Err(AskError::Unreadable { reason, .. }) => {
                        tracing::warn!(of = label(&item), %reason, "a reply stayed unreadable");
                        came.push((item, None));
                    }
                    Err(error) => {
                        blame(&label(&item), &error, &mut refusals, report);
                        continue;
                    }
                }
                refusals = 0;
            }
            ending.fetch_or(report.stopped.is_some(), Ordering::Relaxed);
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

/// Notes a call that failed, and whether the run has to end with it.
pub(crate) fn blame(label: &str, error: &AskError, refusals: &mut usize, report: &mut Report) {
    let refused = matches!(error, AskError::Model { source: ModelError::Refused { .. }, .. });
    *refusals = if refused { *refusals + 1 } else { 0 };
    if ends_the_run(error) || REFUSALS <= *refusals {
        report.stopped.get_or_insert(error_chain(error));
        report.over_budget |=
            matches!(error, AskError::Model { source: ModelError::OverBudget { .. }, .. });
        return;
    }
    report.failures += 1;
    if report.failed.len() < LISTED {
        report.failed.push((label.to_owned(), error_chain(error)));
    }
}

pub(crate) fn ends_the_run(error: &AskError) -> bool {
    match error {
        AskError::Model { source, .. } => model_ends_the_run(source),
        AskError::Template { .. } => true,
        AskError::Unreadable { .. } => false,
    }
}

fn model_ends_the_run(error: &ModelError) -> bool {
    match error {
        ModelError::OverBudget { .. }
        | ModelError::NotRecorded { .. }
        | ModelError::Unsupported { .. }
        | ModelError::NoLogprobs { .. }
        | ModelError::Ledger { .. } => true,
        ModelError::Busy { .. } | ModelError::Refused { .. } | ModelError::Broken { .. } => false,
    }
}
