//! Runs the jobs of all bases of a database, beside servers and other workers.

use std::collections::{BTreeMap, HashMap};
use std::convert::identity;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use pikerag_engine::keys::{Keys, Scope, now};
use pikerag_engine::knowledge::JobRecord;
use pikerag_engine::settings::{DEFAULT_BASE, Settings};
use pikerag_engine::{Engine, EngineError, MadeBases, Session, bases_with_jobs};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
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
    /// The names of the bases in the database; empty for all of them.
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
    /// The bases in the database to visit; empty for all of them.
    only: Vec<String>,
}

impl Worker {
    /// Runs one part at a time until the worker stops. Places begin one after the other, so that
    /// they do not all ask at once.
    async fn run(&self, host: &Arc<dyn Host>, place: usize) {
        let mut pause = IDLE / 10 * u32::try_from(place % 10).unwrap_or_default();
        while self.stopping.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
            pause = match self.visit(host).await {
                Ok(true) => Duration::ZERO,
                Ok(false) => IDLE,
                Err(problem) => {
                    warn!(problem = problem.detail(), "the jobs could not be read");
                    BROKEN
                }
            };
        }
    }

    /// Runs a part of the base that was served longest ago. Returns whether there was one.
    async fn visit(&self, host: &Arc<dyn Host>) -> Result<bool, Problem> {
        let bases = bases_with_jobs(&self.engine.session()).await?;
        let made = self.made(&bases).await?;
        for (name, address) in bases {
            if !self.only.is_empty() && !self.only.contains(&name) {
                continue;
            }
            let base = self.named(&made, &name, &address);
            let line = self.jobs.visited(&base);
            match Jobs::run_next(host, &line).await {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                // The other bases go on.
                Err(problem) => warn!(base, problem = problem.detail(), "a job could not begin"),
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
        Ok(false)
    }

    /// The bases that servers made in the database, by name, if one of these is not of the settings.
    async fn made(
        &self,
        bases: &[(String, PathBuf)],
    ) -> Result<BTreeMap<String, PathBuf>, Problem> {
        let settings = self.engine.settings();
        if bases.iter().all(|(_, address)| declared_name(settings, address).is_some()) {
            return Ok(BTreeMap::new());
        }
        let made = MadeBases::of(settings);
        let read = spawn_blocking(move || made.read()).await;
        let read = read.map_err(io::Error::other).and_then(identity);
        Ok(read.map_err(EngineError::from)?)
    }

    /// The name of a base on servers with these settings. Its session is kept.
    fn named(&self, made: &BTreeMap<String, PathBuf>, name: &str, address: &Path) -> String {
        let base = name_on_servers(self.engine.settings(), made, name, address);
        let mut bases = self.bases();
        // A base that was removed and made again has another address.
        if bases.get(&base).is_none_or(|session| session.folder() != address) {
            bases.insert(base.clone(), self.engine.session_over(address.to_owned()));
        }
        base
    }

    fn bases(&self) -> std::sync::MutexGuard<'_, HashMap<String, Session>> {
        self.bases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name by which keys open a base: that of the settings or of the servers that made it, else its
/// name in the database.
fn name_on_servers(
    settings: &Settings,
    made: &BTreeMap<String, PathBuf>,
    name: &str,
    address: &Path,
) -> String {
    let made = || made.iter().find(|(_, place)| *place == address).map(|(made, _)| made.as_str());
    declared_name(settings, address).or_else(made).unwrap_or(name).to_owned()
}

/// The name that the settings give a base.
fn declared_name<'a>(settings: &'a Settings, address: &Path) -> Option<&'a str> {
    if settings.base == address {
        return Some(DEFAULT_BASE);
    }
    let declared = settings.server.bases.iter().find(|(_, place)| *place == address);
    declared.map(|(declared, _)| declared.as_str())
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
    fn bases_have_the_names_that_servers_give_them() {
        let mut settings = Settings::defaults().unwrap();
        settings.base = "postgres://db/x?base=law".into();
        settings.server.bases.insert("tea".to_owned(), "postgres://db/x?base=drinks".into());
        let made = "postgres://db/x?base=oil-1f0c44a2".into();
        let made = BTreeMap::from([("oil".to_owned(), made)]);
        let name = |name: &str| {
            let address = format!("postgres://db/x?base={name}");
            name_on_servers(&settings, &made, name, Path::new(&address))
        };
        assert_eq!([name("law"), name("drinks"), name("ships")], [DEFAULT_BASE, "tea", "ships"]);
        assert_eq!(name("oil-1f0c44a2"), "oil");
    }
}
