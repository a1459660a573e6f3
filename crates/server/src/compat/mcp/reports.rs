//! Reports the progress of a call, so that a client whose timeout restarts with each report waits
//! for the end.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::time::Duration;

use futures::future::BoxFuture;
use pikerag_engine::narrate::Language;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::task_manager::TaskContext;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// The longest time between two reports. Clients give up after 60 seconds without one.
const PERIOD: Duration = Duration::from_secs(10);

/// Sends one notification.
type Notify = Box<dyn Fn(ProgressNotificationParam) -> BoxFuture<'static, ()> + Send + Sync>;

/// The reports of one call.
pub(super) struct Reports {
    /// `None` if the client wants no notifications.
    to: Option<(ProgressToken, Notify)>,
    /// The task that the call has become.
    task: OnceLock<TaskContext>,
    language: Language,
    began: Instant,
    /// Held while a report is sent, so that reports arrive in order.
    last: Mutex<Last>,
}

/// The last report.
struct Last {
    number: u32,
    at: Instant,
}

impl Reports {
    /// The reports of the call of this request, in the language of the caller.
    pub(super) fn of(context: &RequestContext<RoleServer>, language: Language) -> Self {
        let to = context.meta.get_progress_token().map(|token| {
            let peer = context.peer.clone();
            let notify: Notify = Box::new(move |progress| {
                let peer = peer.clone();
                Box::pin(async move {
                    // The client may have left.
                    let _ = peer.notify_progress(progress).await;
                })
            });
            (token, notify)
        });
        Self::new(to, language)
    }

    fn new(to: Option<(ProgressToken, Notify)>, language: Language) -> Self {
        let began = Instant::now();
        let last = Mutex::new(Last { number: 0, at: began });
        Self { to, task: OnceLock::new(), language, began, last }
    }

    /// The language of the reports.
    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// From now on, the steps also go to a task, as its status.
    pub(super) fn follow(&self, task: TaskContext) {
        // A call becomes a task once.
        let _ = self.task.set(task);
    }

    /// Reports one step of the call.
    pub(super) async fn step(&self, message: String) {
        if let Some(task) = self.task.get() {
            task.set_status_message(message.clone());
        }
        if self.to.is_some() {
            let mut last = self.last.lock().await;
            self.send(&mut last, message).await;
        }
    }

    /// Awaits `work`. Meanwhile, reports every [`PERIOD`] without a step that it still runs.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        if self.to.is_none() {
            return work.await;
        }
        tokio::select! {
            biased;
            came = work => came,
            never = self.repeat() => match never {},
        }
    }

    async fn repeat(&self) -> Infallible {
        loop {
            let due = self.last.lock().await.at + PERIOD;
            sleep_until(due).await;
            let mut last = self.last.lock().await;
            // A step may have come in the meantime.
            if last.at + PERIOD <= Instant::now() {
                let seconds = self.began.elapsed().as_secs();
                let message = match self.language {
                    Language::English => format!("Still working, for {seconds} s"),
                    Language::Chinese => format!("仍在处理，已用 {seconds} 秒"),
                };
                self.send(&mut last, message).await;
            }
        }
    }

    async fn send(&self, last: &mut Last, message: String) {
        let Some((token, notify)) = &self.to else { return };
        last.number = last.number.saturating_add(1);
        last.at = Instant::now();
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(last.number));
        notify(progress.with_message(message)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rmcp::model::NumberOrString;
    use tokio::time::sleep;

    use super::*;

    type Sent = Arc<std::sync::Mutex<Vec<(f64, String)>>>;

    impl Reports {
        /// Reports of a call whose client wants none.
        pub(in crate::compat::mcp) fn silent(language: Language) -> Self {
            Self::new(None, language)
        }
    }

    /// Reports that are kept instead of sent.
    fn kept(language: Language) -> (Reports, Sent) {
        let sent = Sent::default();
        let keeps = Arc::clone(&sent);
        let notify: Notify = Box::new(move |progress| {
            keeps.lock().unwrap().push((progress.progress, progress.message.unwrap_or_default()));
            Box::pin(std::future::ready(()))
        });
        let token = ProgressToken(NumberOrString::Number(7));
        (Reports::new(Some((token, notify)), language), sent)
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_steps_is_reported_every_ten_seconds() {
        let (reports, sent) = kept(Language::English);
        let work = async {
            sleep(Duration::from_secs(4)).await;
            reports.step("It searches".to_owned()).await;
            sleep(Duration::from_secs(25)).await;
            reports.step("It reads".to_owned()).await;
            "done"
        };
        assert_eq!(reports.during(work).await, "done");
        let wanted =
            ["It searches", "Still working, for 14 s", "Still working, for 24 s", "It reads"];
        let sent = sent.lock().unwrap();
        let words: Vec<&str> = sent.iter().map(|(_, message)| message.as_str()).collect();
        assert_eq!(words, wanted);
        assert!(sent.windows(2).all(|pair| pair[0].0 < pair[1].0), "{sent:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn reports_are_in_the_language_of_the_question() {
        let (reports, sent) = kept(Language::Chinese);
        reports.during(sleep(Duration::from_secs(11))).await;
        assert_eq!(*sent.lock().unwrap(), [(1.0, "仍在处理，已用 10 秒".to_owned())]);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_token_nothing_is_sent() {
        let reports = Reports::silent(Language::English);
        reports.step("It searches".to_owned()).await;
        reports.during(sleep(Duration::from_secs(30))).await;
        assert_eq!(reports.last.lock().await.number, 0);
    }
}
