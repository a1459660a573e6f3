//! Keeps calls as tasks, for clients that know the extension `io.modelcontextprotocol/tasks`: the
//! client asks for the result later. A task belongs to its caller. Its result is gone once a document
//! is forgotten, because it may hold the document's text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{DetailedTask, Task};
use rmcp::task_manager::{TaskExit, TaskFuture, TaskManager, TaskOptions};
use tokio_util::sync::CancellationToken;

use super::Work;
use super::reports::Reports;
use crate::app::Caller;

/// The most tasks at a time, those with a result included.
pub(crate) const MOST: usize = 256;
/// The most of them that belong to one caller.
pub(crate) const MOST_OF_CALLER: usize = 32;
/// The longest time that a task runs, and that its result is kept.
pub(crate) const KEPT: Duration = Duration::from_hours(1);
/// The time between two requests for a task that clients should keep.
const POLLED: Duration = Duration::from_secs(2);

/// The calls that have become tasks.
#[derive(Clone, Default)]
pub(super) struct LongCalls {
    tasks: TaskManager,
    /// The owner of each task.
    owners: Arc<Mutex<HashMap<String, Owner>>>,
}

/// The owner of a task.
struct Owner {
    caller: String,
    /// How often a document had been forgotten when the call began.
    forgettings: u64,
}

impl LongCalls {
    /// Keeps a call that runs as a task; `forgettings` counts those before it began. `Err` returns the
    /// call if there are too many tasks.
    pub(super) fn keep(
        &self,
        (caller, forgettings): (&Caller, u64),
        work: Work,
        reports: &Arc<Reports>,
        stopping: CancellationToken,
    ) -> Result<Task, Work> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|task, _| self.tasks.get_task(task).is_ok());
        let of_caller = owners.values().filter(|owner| owner.caller == caller.name()).count();
        if MOST <= owners.len() || MOST_OF_CALLER <= of_caller {
            return Err(work);
        }
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let options = TaskOptions::new().with_ttl_ms(millis(KEPT));
        let options = options.with_poll_interval_ms(millis(POLLED));
        let reports = Arc::clone(reports);
        let task = self.tasks.spawn(options, move |context| -> TaskFuture {
            reports.follow(context.clone());
            Box::pin(async move {
                tokio::select! {
                    result = work => Ok(result),
                    () = context.cancelled() => Err(TaskExit::Cancelled),
                    () = stopping.cancelled() => Err(TaskExit::Cancelled),
                }
            })
        });
        let owner = Owner { caller: caller.name().to_owned(), forgettings };
        owners.insert(task.task_id.clone(), owner);
        Ok(task)
    }

    /// The state of a caller's task; `forgettings` counts those until now.
    ///
    /// # Errors
    /// The caller has no such task, or a document was forgotten since it began.
    pub(super) fn task(
        &self,
        (caller, forgettings): (&Caller, u64),
        task: &str,
    ) -> Result<DetailedTask, ErrorData> {
        if self.forgettings_before(caller, task)? < forgettings {
            let gone = format!("the task {task} is gone because a document was forgotten since");
            return Err(ErrorData::invalid_params(gone, None));
        }
        self.tasks.get_task(task)
    }

    /// Stops a caller's task.
    ///
    /// # Errors
    /// The caller has no such task.
    pub(super) fn cancel(&self, caller: &Caller, task: &str) -> Result<(), ErrorData> {
        self.forgettings_before(caller, task)?;
        self.tasks.cancel_task(task)
    }

    /// How often a document had been forgotten when a caller's task began.
    fn forgettings_before(&self, caller: &Caller, task: &str) -> Result<u64, ErrorData> {
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        match owners.get(task).filter(|owner| owner.caller == caller.name()) {
            Some(owner) => Ok(owner.forgettings),
            None => Err(ErrorData::invalid_params(format!("unknown task: {task}"), None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use pikerag_engine::narrate::Language;
    use rmcp::model::{CallToolResult, ContentBlock, TaskStatus};

    use super::*;

    fn nobody() -> Caller {
        Caller { key: None }
    }

    fn keep(long: &LongCalls, work: Work) -> Result<Task, Work> {
        let reports = Arc::new(Reports::silent(Language::English));
        long.keep((&nobody(), 0), work, &reports, CancellationToken::new())
    }

    async fn wait_for(long: &LongCalls, task: &str, status: TaskStatus) {
        while long.task((&nobody(), 0), task).unwrap().status() != status {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_task_ends_with_its_result_which_a_forgotten_document_removes() {
        let long = LongCalls::default();
        let result = CallToolResult::success(vec![ContentBlock::text("forty tons")]);
        let task = keep(&long, Box::pin(ready(result))).ok().unwrap();
        wait_for(&long, &task.task_id, TaskStatus::Completed).await;
        let gone = long.task((&nobody(), 1), &task.task_id).unwrap_err();
        assert!(gone.message.contains("forgotten"), "{gone:?}");
    }

    /// The guard is dropped with the future of the call, which stops its run.
    #[tokio::test]
    async fn a_cancelled_task_drops_its_call() {
        let long = LongCalls::default();
        let stopped = CancellationToken::new();
        let guard = stopped.clone().drop_guard();
        let work: Work = Box::pin(async move {
            let _guard = guard;
            pending().await
        });
        let task = keep(&long, work).ok().unwrap();
        assert!(!stopped.is_cancelled());
        long.cancel(&nobody(), &task.task_id).unwrap();
        stopped.cancelled().await;
        wait_for(&long, &task.task_id, TaskStatus::Cancelled).await;
    }

    #[tokio::test]
    async fn a_caller_has_a_limited_number_of_tasks() {
        let long = LongCalls::default();
        for _ in 0..MOST_OF_CALLER {
            assert!(keep(&long, Box::pin(pending())).is_ok());
        }
        assert!(keep(&long, Box::pin(pending())).is_err());
        let unknown = "00000000-0000-0000-0000-000000000000";
        assert!(long.task((&nobody(), 0), unknown).is_err());
    }
}
