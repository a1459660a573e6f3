//! Fetches models of the catalogue for a running server: one at a time, with its progress.
//!
//! A download belongs to no base and is no job of one: the jobs of a base would wait for it. It
//! ends with the server, and the next one continues where it ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pikerag_engine::knowledge::error_chain;
use pikerag_engine::parts::{OpenModel, find_open_model};
use pikerag_engine::{
    LocalModelError, Progress, PullRequest, Session, chinese_chain, has_model_server, pull_model,
    pull_server,
};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::warn;
use utoipa::ToSchema;

use crate::problem::{Fault, Problem};

/// The state of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PullState {
    /// It goes on.
    Running,
    /// The model is here.
    Done,
    /// It ended with an error. The next download of this model continues.
    Failed,
    /// Somebody stopped it, or the server ends. The next download of this model continues.
    Stopped,
}

/// The current step of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PullStep {
    /// llama.cpp's server is installed, because it was missing. Its size is not known.
    Server,
    /// The file of the model is fetched.
    File,
}

/// The latest download of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ModelPull {
    /// The name of the model in the catalogue.
    name: String,
    /// Its state.
    state: PullState,
    /// Its current step.
    step: PullStep,
    /// The bytes that are here, to about one MiB; for a model of several packages, to about one
    /// package.
    bytes: u64,
    /// All bytes of the file.
    all: u64,
    /// Why it failed; empty otherwise.
    says: String,
    /// The same in Chinese.
    says_zh: String,
}

impl ModelPull {
    pub(crate) fn is_over(&self) -> bool {
        self.state != PullState::Running
    }
}

/// The latest download of the server.
#[derive(Default)]
pub(crate) struct Pulls(Mutex<Option<Latest>>);

struct Latest {
    state: Arc<watch::Sender<ModelPull>>,
    stop: CancellationToken,
}

impl Pulls {
    /// Begins to fetch a model of the catalogue, and llama.cpp's server if it is missing.
    ///
    /// # Errors
    /// The catalogue has no such model, or another download goes on.
    pub(crate) fn begin(
        &self,
        (runtime, stopping): (&Handle, &CancellationToken),
        session: Session,
        name: &str,
    ) -> Result<ModelPull, Problem> {
        let Some(known) = find_open_model(name) else {
            return Err(Problem::new(404, "no-such-model", Fault::Caller)
                .saying(format!("the catalogue has no model `{name}`"))
                .hint("GET /api/v1/models lists the models"));
        };
        let mut latest = self.lock();
        let running = latest.as_ref().map(|latest| latest.state.borrow().clone());
        if let Some(other) = running.filter(|pull| !pull.is_over()) {
            return Err(is_running(&other));
        }
        let pull = ModelPull {
            name: known.name.to_owned(),
            state: PullState::Running,
            step: if has_model_server(&session) { PullStep::File } else { PullStep::Server },
            bytes: 0,
            all: known.bytes,
            says: String::new(),
            says_zh: String::new(),
        };
        let (state, stop) = (Arc::new(watch::Sender::new(pull.clone())), stopping.child_token());
        *latest = Some(Latest { state: Arc::clone(&state), stop: stop.clone() });
        drop(latest);
        runtime.spawn(async move {
            let fetched = stop.run_until_cancelled(fetch(&session, known, &state)).await;
            state.send_modify(|pull| end(pull, fetched));
        });
        Ok(pull)
    }

    /// Checks that no download of this model goes on.
    ///
    /// # Errors
    /// One does.
    pub(crate) fn is_idle(&self, name: &str) -> Result<(), Problem> {
        let running = self.latest().filter(|pull| pull.name == name && !pull.is_over());
        match running {
            None => Ok(()),
            Some(pull) => Err(is_running(&pull)),
        }
    }

    /// The latest download, with its later states.
    ///
    /// # Errors
    /// There was none since the server started.
    pub(crate) fn watch(&self) -> Result<watch::Receiver<ModelPull>, Problem> {
        self.lock().as_ref().map(|latest| latest.state.subscribe()).ok_or_else(no_pull)
    }

    /// The latest download as it is now.
    pub(crate) fn latest(&self) -> Option<ModelPull> {
        self.lock().as_ref().map(|latest| latest.state.borrow().clone())
    }

    /// Stops the running download. The bytes that came stay.
    ///
    /// # Errors
    /// None is running.
    pub(crate) fn stop(&self) -> Result<(), Problem> {
        let latest = self.lock();
        let running = latest.as_ref().filter(|latest| !latest.state.borrow().is_over());
        running.map(|running| running.stop.cancel()).ok_or_else(no_pull)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Latest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn fetch(
    session: &Session,
    known: &'static OpenModel,
    state: &watch::Sender<ModelPull>,
) -> Result<(), LocalModelError> {
    // The server was looked for when the download began.
    let needs_server = state.borrow().step == PullStep::Server;
    if needs_server {
        pull_server(session).await?;
        state.send_modify(|pull| pull.step = PullStep::File);
    }
    let report = |progress: Progress| {
        if let Progress::Stage { done, total, .. } = progress
            && 0 < total
        {
            let bytes = known.bytes.saturating_mul(done as u64) / total as u64;
            state.send_modify(|pull| pull.bytes = bytes.min(pull.all));
        }
    };
    let request = PullRequest { what: known.name, sha256: None, progress: &report };
    pull_model(session, &request).await.map(drop)
}

/// Notes the end of a download; `None` if it was stopped.
fn end(pull: &mut ModelPull, fetched: Option<Result<(), LocalModelError>>) {
    match fetched {
        None => pull.state = PullState::Stopped,
        Some(Ok(())) => (pull.state, pull.bytes) = (PullState::Done, pull.all),
        Some(Err(error)) => {
            warn!(model = pull.name, error = error_chain(&error), "a model was not fetched");
            pull.state = PullState::Failed;
            (pull.says, pull.says_zh) = (error_chain(&error), chinese_chain(&error));
        }
    }
}

fn is_running(pull: &ModelPull) -> Problem {
    Problem::new(409, "pull-running", Fault::Caller)
        .saying(format!("`{}` is being fetched", pull.name))
        .hint("wait for its end, or DELETE /api/v1/models/pull")
}

fn no_pull() -> Problem {
    Problem::new(404, "no-such-pull", Fault::Caller).saying("no model is being fetched")
}

#[cfg(test)]
mod tests {
    use pikerag_engine::settings::Settings;

    use super::*;

    fn offline() -> (tempfile::TempDir, Session) {
        let home = tempfile::tempdir().unwrap();
        let mut settings = Settings::defaults().unwrap();
        settings.local.folder = home.path().join("models");
        settings.offline = true;
        let session = pikerag_engine::open(settings).unwrap().session();
        (home, session)
    }

    #[tokio::test]
    async fn a_failed_download_says_why_and_another_may_begin() {
        let (_home, session) = offline();
        let (pulls, stopping) = (Pulls::default(), CancellationToken::new());
        let place = (&Handle::current(), &stopping);
        assert_eq!(pulls.stop().unwrap_err().code(), "no-such-pull");
        assert_eq!(
            pulls.begin(place, session.clone(), "none").unwrap_err().code(),
            "no-such-model"
        );
        for _ in 0..2 {
            let begun = pulls.begin(place, session.clone(), "smollm2-135m").unwrap();
            assert_eq!((begun.state, begun.bytes), (PullState::Running, 0));
            // The task has not run yet: the runtime of this test has one thread.
            let refused = pulls.begin(place, session.clone(), "qwen3-4b").unwrap_err();
            assert_eq!(refused.code(), "pull-running");
            let mut watched = pulls.watch().unwrap();
            let ended = watched.wait_for(ModelPull::is_over).await.unwrap().clone();
            assert_eq!(ended.state, PullState::Failed);
            assert!(ended.says.contains("offline") && ended.says_zh.contains("离线"), "{ended:?}");
            assert_eq!(pulls.latest(), Some(ended));
        }
    }

    #[tokio::test]
    async fn a_download_can_be_stopped() {
        let (_home, session) = offline();
        let (pulls, stopping) = (Pulls::default(), CancellationToken::new());
        pulls.begin((&Handle::current(), &stopping), session, "smollm2-135m").unwrap();
        pulls.stop().unwrap();
        let mut watched = pulls.watch().unwrap();
        let ended = watched.wait_for(ModelPull::is_over).await.unwrap().clone();
        assert_eq!((ended.state, ended.says.as_str()), (PullState::Stopped, ""));
    }
}
