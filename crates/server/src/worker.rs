//! Runs the jobs of all bases of a database, beside servers and other workers.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use pikerag_engine::keys::{Keys, Scope, now};
use pikerag_engine::knowledge::JobRecord;
use pikerag_engine::settings::{DEFAULT_BASE, Settings};
use pikerag_engine::{BaseWithJobs, Engine, Session, bases_with_jobs};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::jobs::{Host, JobOffer, Jobs};
use crate::problem::{Fault, Problem};
use crate::serve::{ServeError, keys_of};

/// The pause while no part of a job can be taken.
const IDLE: Duration = Duration::from_secs(1);
/// The pause after the database could not be read.
const BROKEN: Duration = Duration::from_secs(3);

/// The work of a worker.
#[derive(Clone, Debug)]
pub struct WorkerParams {
    /// The parts of jobs that it runs at a time.
    pub at_once: NonZeroUsize,
    /// The names of the bases, in the database or as requests use them; empty for all of them.
    pub only: Vec<String>,
}

/// An event of a worker.
#[derive(Debug)]
#[non_exhaustive]
pub enum WorkerEvent<'a> {
    /// A part of a job begins, with this number of files.
    Begun {
        /// The base.
        base: &'a str,
        /// The job.
        job: &'a JobRecord,
        /// The number of its files; 0 for work over the whole base.
        files: usize,
    },
    /// A part of a job is over; the job may go on elsewhere.
    Ended {
        /// The base.
        base: &'a str,
        /// The job.
        job: &'a JobRecord,
    },
    /// A job waits for approval.
    Offered(&'a JobOffer),
}

type OnEvent = Box<dyn Fn(&WorkerEvent<'_>) + Send + Sync>;

/// Runs jobs until `stopped`. Then running parts stop, and are put back: finished files stay. The
/// base of the engine's settings must be in a database.
///
/// # Errors
/// The keys cannot be read: see [`ServeError`].
pub async fn work(
    engine: Engine,
    params: WorkerParams,
    on_event: impl Fn(&WorkerEvent<'_>) + Send + Sync + 'static,
    stopped: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let worker = Arc::new(Worker {
        keys: keys_of(&engine)?,
        runtime: Handle::current(),
        jobs: Jobs::default(),
        stopping: CancellationToken::new(),
        bases: Mutex::default(),
        on_event: Box::new(on_event),
        only: params.only,
        engine,
    });
    let host: Arc<dyn Host> = Arc::<Worker>::clone(&worker);
    let places = (0..params.at_once.get()).map(|place| worker.run(&host, place));
    let stop = async {
        stopped.await;
        worker.stopping.cancel();
    };
    tokio::join!(join_all(places), stop);
    Ok(())
}

/// A process that runs jobs and serves nobody.
struct Worker {
    engine: Engine,
    keys: Option<Keys>,
    runtime: Handle,
    jobs: Jobs,
    stopping: CancellationToken,
    /// The visited bases, by the names that servers use.
    bases: Mutex<HashMap<String, Session>>,
    on_event: OnEvent,
    /// The names of the bases to visit; empty for all of them.
    only: Vec<String>,
}

impl Worker {
    /// Runs one part at a time until the worker stops. Places begin one after the other, so that
    /// they do not all ask at once.
    async fn run(&self, host: &Arc<dyn Host>, place: usize) {
        let mut pause = IDLE / 10 * u32::try_from(place % 10).unwrap_or_default();
        while self.stopping.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
            pause = match self.visit(host).await {
                Ok(pause) => pause,
                Err(problem) => {
                    warn!(problem = problem.detail(), "the jobs could not be read");
                    BROKEN
                }
            };
        }
    }

    /// Runs a part of the base that was served longest ago. Returns the pause before the next visit.
    async fn visit(&self, host: &Arc<dyn Host>) -> Result<Duration, Problem> {
        let mut pause = IDLE;
        for found in bases_with_jobs(&self.engine.session()).await? {
            if !self.is_wanted(&found) {
                continue;
            }
            let base = self.named(&found);
            let line = self.jobs.visited(&base);
            match Jobs::run_next(host, &line).await {
                Ok(true) => return Ok(Duration::ZERO),
                Ok(false) => {}
                // The other bases go on.
                Err(problem) => {
                    warn!(base, problem = problem.detail(), "a job could not begin");
                    pause = BROKEN;
                }
            }
        }
        let visited: Vec<String> = self.bases().keys().cloned().collect();
        for base in visited {
            let line = self.jobs.visited(&base);
            let offering = Jobs::offer_rest(host, &line);
            if let Some(Err(problem)) = self.stopping.run_until_cancelled(offering).await {
                let problem = problem.detail();
                warn!(base, problem, "the remaining work of the base was not counted");
            }
        }
        Ok(pause)
    }

    fn is_wanted(&self, found: &BaseWithJobs) -> bool {
        let is_named = |name: &String| self.only.contains(name);
        self.only.is_empty()
            || is_named(&found.name)
            || found.made_as.as_ref().is_some_and(is_named)
    }

    /// The name of a base on servers with these settings. Its session is kept.
    fn named(&self, found: &BaseWithJobs) -> String {
        let base = name_on_servers(self.engine.settings(), found);
        let mut bases = self.bases();
        // It may have had another name, and another base may have had this one.
        bases.retain(|name, session| (*name == base) == (session.folder() == found.address));
        let session = || self.engine.session_over(found.address.clone());
        bases.entry(base.clone()).or_insert_with(session);
        base
    }

    fn bases(&self) -> std::sync::MutexGuard<'_, HashMap<String, Session>> {
        self.bases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name by which keys open a base: that of the settings, else the one that it was made under, else
/// its name in the database.
fn name_on_servers(settings: &Settings, found: &BaseWithJobs) -> String {
    if settings.base == found.address {
        return DEFAULT_BASE.to_owned();
    }
    let declared = settings.server.bases.iter().find(|(_, place)| **place == found.address);
    let declared = declared.map(|(declared, _)| declared);
    declared.or(found.made_as.as_ref()).unwrap_or(&found.name).clone()
}

impl Host for Worker {
    fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    fn runtime(&self) -> &Handle {
        &self.runtime
    }

    fn runs_jobs(&self, _: &str) -> bool {
        true
    }

    fn owner_of(&self, base: &str) -> Option<Session> {
        self.bases().get(base).cloned()
    }

    fn session_of(&self, base: &str, key: Option<&str>) -> Result<Option<Session>, Problem> {
        let Some(id) = key else { return Ok(self.owner_of(base)) };
        let no_keys = || {
            Problem::new(500, "keys-failed", Fault::Server)
                .saying(format!("key `{id}` requested the job, and this worker has no keys"))
                .hint("set `server.keys` to the address of the database that the servers use")
        };
        let keys = self.keys.as_ref().ok_or_else(no_keys)?;
        if !keys.were_made()? {
            return Err(no_keys());
        }
        let all = keys.list()?.into_iter().map(|line| line.key);
        let may = |key: &pikerag_engine::keys::Key| {
            key.id == id
                && !key.is_expired(now())
                && Scope::Write <= key.params.scope
                && key.opens(base)
                && key.params.filter.is_empty()
        };
        let Some(key) = all.into_iter().find(may) else { return Ok(None) };
        Ok(self.owner_of(base).map(|session| session.granted(&keys.grant(&key))))
    }

    fn hold(&self, _: &str, session: Session) -> Result<Session, Problem> {
        Ok(session)
    }

    fn begun(&self, base: &str, job: &JobRecord, files: usize) {
        (self.on_event)(&WorkerEvent::Begun { base, job, files });
    }

    fn attempted(&self, base: &str, job: &JobRecord) {
        (self.on_event)(&WorkerEvent::Ended { base, job });
    }

    fn offered(&self, offer: &JobOffer) {
        (self.on_event)(&WorkerEvent::Offered(offer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_have_the_names_of_the_settings() {
        let mut settings = Settings::defaults().unwrap();
        settings.base = "postgres://db/x?base=law".into();
        settings.server.bases.insert("tea".to_owned(), "postgres://db/x?base=drinks".into());
        let name = |name: &str, made_as: Option<&str>| {
            let address = format!("postgres://db/x?base={name}").into();
            let made_as = made_as.map(str::to_owned);
            name_on_servers(&settings, &BaseWithJobs { name: name.to_owned(), made_as, address })
        };
        let of_settings = [name("law", None), name("drinks", None), name("ships", None)];
        assert_eq!(of_settings, [DEFAULT_BASE, "tea", "ships"]);
        // Keys name it as requests do.
        assert_eq!(name("oil-1f0c44a2", Some("oil")), "oil");
    }
}
