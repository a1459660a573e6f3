//! Keeps calls as tasks, for clients that know the extension `io.modelcontextprotocol/tasks`: the
//! client asks for the result later. A task belongs to its caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pikerag_engine::narrate::{Language, Words};
use rmcp::ErrorData;
use rmcp::model::{DetailedTask, Task};
use rmcp::task_manager::{TaskExit, TaskFuture, TaskManager, TaskOptions};
use tokio_util::sync::CancellationToken;

use super::reports::Reports;
use super::{Work, errors};
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
    /// The beginning of each task.
    began: Arc<Mutex<HashMap<String, Began>>>,
}

struct Began {
    /// The name of the caller.
    caller: String,
    /// [`Responses::forgettings`](crate::responses::Responses::forgettings) when the call began.
    forgettings: u64,
    language: Language,
}

impl LongCalls {
    /// Keeps a call that runs as a task. `Err` returns the call if there are too many tasks.
    pub(super) fn keep(
        &self,
        (caller, forgettings): (&Caller, u64),
        work: Work,
        reports: &Arc<Reports>,
        stopping: CancellationToken,
    ) -> Result<Task, Work> {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        began.retain(|task, _| self.tasks.get_task(task).is_ok());
        let of_caller = began.values().filter(|began| began.caller == caller.name()).count();
        if MOST <= began.len() || MOST_OF_CALLER <= of_caller {
            return Err(work);
        }
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let options = TaskOptions::new().with_ttl_ms(millis(KEPT));
        let options = options.with_poll_interval_ms(millis(POLLED));
        let language = reports.language();
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
        let caller = caller.name().to_owned();
        began.insert(task.task_id.clone(), Began { caller, forgettings, language });
        Ok(task)
    }

    /// The state of a caller's task, if no document was forgotten since its call began.
    ///
    /// # Errors
    /// The caller has no such task, or its result may hold the text of a forgotten document.
    pub(super) fn task(
        &self,
        caller: &Caller,
        task: &str,
        forgettings: u64,
    ) -> Result<DetailedTask, ErrorData> {
        let (began_at, language) = self.check(caller, task)?;
        if began_at < forgettings {
            let gone = Words::new(
                "a document was forgotten, or a base was renamed or deleted: call the tool again",
                "有文档被彻底删除，或有知识库被重命名或删除：请重新调用该工具",
            );
            return Err(errors::wrong(gone, language));
        }
        self.tasks.get_task(task).map_err(|_| unknown(task, language))
    }

    /// Stops a caller's task.
    ///
    /// # Errors
    /// The caller has no such task.
    pub(super) fn cancel(&self, caller: &Caller, task: &str) -> Result<(), ErrorData> {
        let (_, language) = self.check(caller, task)?;
        self.tasks.cancel_task(task).map_err(|_| unknown(task, language))
    }

    /// Returns the forgettings at the beginning of the call, and the language of its question.
    fn check(&self, caller: &Caller, task: &str) -> Result<(u64, Language), ErrorData> {
        let began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        match began.get(task).filter(|began| began.caller == caller.name()) {
            Some(began) => Ok((began.forgettings, began.language)),
            // Nothing else says in which language the client speaks.
            None => Err(unknown(task, Language::English)),
        }
    }
}

fn unknown(task: &str, language: Language) -> ErrorData {
    let words = Words::new(format!("unknown task: {task}"), format!("未知的任务：{task}"));
    errors::wrong(words, language)
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use rmcp::model::{CallToolResult, ContentBlock, TaskStatus};

    use super::*;

    fn nobody() -> Caller {
        Caller { key: None }
    }

    fn keep(long: &LongCalls, work: Work) -> Result<Task, Work> {
        let reports = Arc::new(Reports::silent(Language::Chinese));
        long.keep((&nobody(), 0), work, &reports, CancellationToken::new())
    }

    async fn wait_for(long: &LongCalls, task: &str, status: TaskStatus) {
        while long.task(&nobody(), task, 0).unwrap().status() != status {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_task_ends_with_its_result() {
        let long = LongCalls::default();
        let result = CallToolResult::success(vec![ContentBlock::text("forty tons")]);
        let task = keep(&long, Box::pin(ready(result))).ok().unwrap();
        wait_for(&long, &task.task_id, TaskStatus::Completed).await;
        // A document was forgotten: the result may hold its text.
        let gone = long.task(&nobody(), &task.task_id, 1).unwrap_err();
        assert!(gone.message.contains("请重新调用"), "{gone:?}");
        let data = gone.data.unwrap();
        assert!(data["message"].as_str().unwrap().contains("call the tool again"), "{data}");
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
        assert!(long.task(&nobody(), "00000000-0000-0000-0000-000000000000", 0).is_err());
    }
}
