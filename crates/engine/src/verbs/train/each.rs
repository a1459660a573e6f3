//! Works on many questions at the same time, each over a snapshot of its own.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::stream::{self, StreamExt};
use pikerag_knowledge::{Filter, Snapshots};
use pikerag_methods::{Ports, SolveError};

use crate::error::Result;
use crate::verbs::progress::{OnProgress, Progress};

/// The circumstances of the work.
pub(super) struct Each<'a> {
    pub(super) ports: &'a Ports,
    pub(super) snapshots: &'a dyn Snapshots,
    /// The name of the work in the progress.
    pub(super) name: &'static str,
    /// The number of items that earlier runs did.
    pub(super) earlier: usize,
    /// Items at the same time.
    pub(super) concurrency: usize,
    pub(super) progress: OnProgress<'a>,
}

impl Each<'_> {
    /// Works on each item and hands its result to `keep`. After an error that concerns all items no further one begins,
    /// and the error is returned; running ones end, because their calls are paid. Results of both are kept.
    pub(super) async fn work<T, R: Default, F>(
        &self,
        items: Vec<T>,
        one: impl Fn(Ports, T) -> F,
        mut keep: impl FnMut(R) -> Result<()>,
    ) -> Result<Option<SolveError>>
    where
        F: Future<Output = (R, Option<SolveError>)>,
    {
        let (total, mut done) = (self.earlier + items.len(), self.earlier);
        let is_stopped = AtomicBool::new(false);
        let asked = stream::iter(items).map(|item| {
            let (one, is_stopped) = (&one, &is_stopped);
            async move {
                if is_stopped.load(Ordering::Relaxed) {
                    return None;
                }
                let all = Filter::default();
                Some(match self.snapshots.snapshot(&all, &all).await {
                    Ok(base) => one(Ports { base, memory: None, ..self.ports.clone() }, item).await,
                    Err(error) => (R::default(), Some(SolveError::Store(error))),
                })
            }
        });
        let mut asked = asked.buffer_unordered(self.concurrency.max(1));
        let mut stopped = None;
        while let Some(ended) = asked.next().await {
            let Some((made, error)) = ended else { continue };
            keep(made)?;
            done += usize::from(error.is_none());
            (self.progress)(Progress::Stage { name: self.name.to_owned(), done, total });
            if error.is_some() {
                is_stopped.store(true, Ordering::Relaxed);
                stopped = stopped.or(error);
            }
        }
        (self.progress)(Progress::Ended);
        Ok(stopped)
    }
}
