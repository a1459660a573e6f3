//! Holds the state that requests share: the engine, the bases by name, the keys.

mod host;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use pikerag_engine::keys::{Key, KeyUse, Keys, KeysError, Scope, now};
use pikerag_engine::knowledge::Condition;
use pikerag_engine::settings::ServerSettings;
use pikerag_engine::{Engine, EngineError, Session, shown_base};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::admission::{Admission, Place};
use crate::audit::Audit;
use crate::jobs::{Host, Job, JobOffer, Jobs, Work};
use crate::live::{Gone, Live};
use crate::metrics::Metrics;
use crate::problem::{Fault, Problem};
use crate::pulls::Pulls;
use crate::responses::Responses;
use crate::settings_file::SettingsFile;
use crate::wrong::WrongKeys;

/// The limit of a conversation, as a multiple of the limit of a question.
pub(crate) const CONVERSATION: usize = 8;

/// The state that all requests share.
pub(crate) type App = Arc<Shared>;

pub(crate) struct Shared {
    /// The state that new requests begin with.
    live: RwLock<Arc<Live>>,
    keys: Option<Keys>,
    /// Whether a key was ever found to be required: it stays so, whatever happens to their store.
    is_closed: AtomicBool,
    pub(crate) wrong: WrongKeys,
    rates: Mutex<HashMap<String, (NonZeroU32, Arc<DefaultDirectRateLimiter>)>>,
    runs: Admission,
    pub(crate) jobs: Jobs,
    /// The latest download of a model.
    pub(crate) pulls: Pulls,
    /// The settings file that the server was started with.
    settings_file: Option<SettingsFile>,
    /// Held while the settings file is changed, or read again.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// The server's own runtime.
    pub(crate) runtime: Handle,
    on_offer: OnOffer,
    pub(crate) audit: Audit,
    pub(crate) metrics: Metrics,
    pub(crate) responses: Responses,
    /// The address of the server.
    address: SocketAddr,
    /// Signals that no further request is accepted.
    pub(crate) stopping: CancellationToken,
}

/// Receives jobs that wait for approval.
pub(crate) type OnOffer = Box<dyn Fn(&JobOffer) + Send + Sync>;

/// The caller of a request, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The key; `None` if the server has none, and every caller has full access.
    pub(crate) key: Option<Key>,
}

impl Caller {
    /// The caller's name in logs.
    pub(crate) fn name(&self) -> &str {
        self.key.as_ref().map_or("-", |key| key.id.as_str())
    }

    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.key.as_ref().is_none_or(|key| scope <= key.params.scope)
    }

    /// Whether the caller sees all of every base.
    pub(crate) fn sees_all(&self) -> bool {
        self.key
            .as_ref()
            .is_none_or(|key| key.params.bases.is_empty() && key.params.filter.is_empty())
    }

    pub(crate) fn opens(&self, base: &str) -> bool {
        self.key.as_ref().is_none_or(|key| key.opens(base))
    }
}

impl Shared {
    /// Must be called within the runtime that the server runs on.
    pub(crate) fn new(
        engine: Engine,
        keys: Option<Keys>,
        audit: Audit,
        address: SocketAddr,
        settings: ServerSettings,
        settings_file: Option<SettingsFile>,
        on_offer: OnOffer,
    ) -> Self {
        let stopping = CancellationToken::new();
        Self {
            keys,
            is_closed: AtomicBool::new(false),
            wrong: WrongKeys::new(settings.wrong_keys),
            rates: Mutex::default(),
            runs: Admission::new(settings.runs, settings.runs_waiting),
            jobs: Jobs::default(),
            pulls: Pulls::default(),
            settings_file,
            changing: tokio::sync::Mutex::default(),
            runtime: Handle::current(),
            on_offer,
            audit,
            metrics: Metrics::new(),
            responses: Responses::of(engine.settings()),
            address,
            stopping,
            live: RwLock::new(Arc::new(Live::new(engine, settings))),
        }
    }

    /// The current settings, engine and bases. Take several of them from one result, so that they
    /// belong together.
    pub(crate) fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_live(&self, live: Live) {
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(live);
    }

    /// Learns which bases other servers over the same folder made, renamed or deleted. It reads one
    /// small file, and the folder only after a change. It does nothing while this server changes its
    /// bases.
    pub(crate) fn find_changed_bases(&self) {
        let Ok(_held) = self.changing.try_lock() else { return };
        let has_jobs = |base: &str| 0 < self.jobs.waiting(base);
        let Some((next, gone)) = self.live().with_changes(has_jobs) else { return };
        let engine = next.engine.clone();
        self.set_live(next);
        for Gone { name, deleted } in &gone {
            self.jobs.close_changed(name);
            self.metrics.drop_base(name);
            info!(base = name, is_deleted = deleted.is_some(), "another server changed this base");
            if let Some(folder) = deleted.clone() {
                let engine = engine.clone();
                let closing: JoinHandle<()> = self.runtime.spawn(async move {
                    if let Err(error) = engine.close(&folder).await {
                        let folder = shown_base(&folder);
                        warn!(folder = %folder.display(), %error, "a deleted base was not closed");
                    }
                });
                drop(closing);
            }
        }
        if !gone.is_empty() {
            // Kept responses to requests of a name are not those of a later base of this name.
            self.responses.forget();
        }
    }

    /// The session of a base that this server or another one over the same folder made. Names of the
    /// settings cost no reading.
    fn find_base(&self, name: &str) -> Option<Session> {
        if !self.live().is_declared(name) {
            self.find_changed_bases();
        }
        self.owner_of(name)
    }

    /// Whether a request needs a key: if others can reach the server, or if a key was ever made.
    pub(crate) fn needs_key(&self) -> Result<bool, KeysError> {
        let Some(keys) = &self.keys else { return Ok(!self.address.ip().is_loopback()) };
        if self.is_closed.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let needs = !self.address.ip().is_loopback() || keys.were_made()?;
        self.is_closed.fetch_or(needs, Ordering::Relaxed);
        Ok(needs)
    }

    /// The key that a request presents; `None` if it is not valid.
    pub(crate) fn find(&self, presented: &str) -> Result<Option<Key>, KeysError> {
        self.keys.as_ref().map_or(Ok(None), |keys| keys.find(presented))
    }

    /// The key with an identifier; `None` if there is none, or it has expired.
    fn key_of(&self, id: &str) -> Result<Option<Key>, KeysError> {
        let Some(keys) = &self.keys else { return Ok(None) };
        let key = keys.list()?.into_iter().map(|line| line.key).find(|key| key.id == id);
        Ok(key.filter(|key| !key.is_expired(now())))
    }

    /// The bases that a caller may use, by name.
    pub(crate) fn bases_of(&self, caller: &Caller) -> Vec<(String, Session)> {
        let live = self.live();
        let opened = live.bases.iter().filter(|(name, _)| caller.opens(name));
        opened.map(|(name, session)| (name.clone(), session.clone())).collect()
    }

    /// Opens a base with the caller's filter and cap. A base that the key does not open is reported
    /// as missing.
    pub(crate) fn base(&self, caller: &Caller, name: &str) -> Result<Session, Problem> {
        // A name that the key does not open costs nothing.
        let session = caller.opens(name).then(|| self.find_base(name)).flatten();
        let session = self.hold(name, session.ok_or_else(|| no_base(name))?)?;
        match (&caller.key, &self.keys) {
            (Some(key), Some(keys)) => Ok(session.granted(&keys.grant(key))),
            _ => Ok(session),
        }
    }

    /// Opens a base for a caller who changes it. A caller with a filter may not.
    pub(crate) fn whole_base(&self, caller: &Caller, name: &str) -> Result<Session, Problem> {
        let session = self.base(caller, name)?;
        if caller.key.as_ref().is_some_and(|key| !key.params.filter.is_empty()) {
            return Err(EngineError::OnlyPart.into());
        }
        Ok(session)
    }

    /// A session for work that belongs to no single base, for callers who see everything; `None` if
    /// there is no base.
    pub(crate) fn for_all(&self, caller: &Caller) -> Result<Option<Session>, Problem> {
        if !caller.sees_all() {
            return Err(EngineError::OnlyPart.into());
        }
        Ok(self.live().bases.values().next().cloned())
    }

    /// The store of keys, if one is set.
    pub(crate) fn keys(&self) -> Option<&Keys> {
        self.keys.as_ref()
    }

    /// The settings file that the server was started with.
    pub(crate) fn settings_file(&self) -> Option<&SettingsFile> {
        self.settings_file.as_ref()
    }

    /// What was spent with a key; `None` if it is revoked.
    pub(crate) fn use_of(&self, key: &Key) -> Result<Option<KeyUse>, KeysError> {
        let all = self.keys.as_ref().map(Keys::list).transpose()?.unwrap_or_default();
        Ok(all.into_iter().find(|line| line.key.id == key.id))
    }

    /// Records that a key was used, at most once a minute, without waiting for it.
    pub(crate) fn note_use(&self, key: &Key) {
        let Some(keys) = self.keys.as_ref().filter(|keys| keys.is_use_due(key)) else { return };
        let (keys, key) = (keys.clone(), key.clone());
        tokio::task::spawn_blocking(move || {
            if let Err(error) = keys.note_use(&key) {
                warn!(key = key.id, %error, "the last use of the key was not recorded");
            }
        });
    }

    /// This server as its jobs see it.
    pub(crate) fn host(self: &Arc<Self>) -> Arc<dyn Host> {
        Arc::clone(self) as Arc<dyn Host>
    }

    /// Queues a job of a caller behind those of its base.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        caller: &Caller,
        base: &str,
        session: &Session,
        work: Work,
    ) -> Result<Job, Problem> {
        self.jobs.begin(&self.host(), caller.key.as_ref(), base, session, work).await
    }

    /// Waits until a run of a caller may begin; see [`Admission::enter`].
    pub(crate) async fn admitted(&self, caller: &Caller) -> Result<Place, Problem> {
        let admitted = self.runs.enter(caller.name()).await;
        admitted.inspect_err(|_| self.metrics.turned_away())
    }

    /// Refuses a question with its conditions, or a query, that is too long for a run or a search.
    pub(crate) fn within(&self, words: &[&str], filter: &[Condition]) -> Result<(), Problem> {
        let words: usize = words.iter().map(|words| words.len()).sum();
        let filter: usize = filter.iter().map(|condition| condition.to_string().len()).sum();
        let what = ("a question or query, with its filter,", "问题或查询（包括过滤条件）");
        self.bounded(words + filter, 1, what)
    }

    /// Refuses a conversation that is too long.
    pub(crate) fn conversation_within(&self, bytes: usize) -> Result<(), Problem> {
        self.bounded(bytes, CONVERSATION, ("a conversation", "对话"))
    }

    fn bounded(
        &self,
        bytes: usize,
        times: usize,
        (what, in_chinese): (&str, &str),
    ) -> Result<(), Problem> {
        let most = self.live().settings.question_bytes.saturating_mul(times);
        if bytes <= most {
            return Ok(());
        }
        Err(Problem::new(413, "question-too-long", Fault::Caller)
            .saying(format!("{what} may have {most} bytes, and this one has {bytes}"))
            .in_chinese(format!("{in_chinese}最多 {most} 字节，此处有 {bytes} 字节"))
            .hint("shorten it, or ask the operator to raise `server.question_kib`"))
    }

    /// Whether the rate limit of a key allows a request now; counts the request.
    pub(crate) fn is_in_rate(&self, key: &Key) -> bool {
        let Some(per_minute) = key.params.per_minute else { return true };
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        let held = rates.get(&key.id).filter(|(held, _)| *held == per_minute);
        let limiter = match held {
            Some((_, limiter)) => Arc::clone(limiter),
            None => {
                let limiter = Arc::new(RateLimiter::direct(Quota::per_minute(per_minute)));
                rates.insert(key.id.clone(), (per_minute, Arc::clone(&limiter)));
                limiter
            }
        };
        limiter.check().is_ok()
    }

    /// The address of a passage for people and programs outside.
    pub(crate) fn permalink(&self, base: &str, chunk: impl std::fmt::Display) -> String {
        let local = || match self.address.ip().is_unspecified() {
            true => format!("http://localhost:{}", self.address.port()),
            false => format!("http://{}", self.address),
        };
        let begin = self.live().settings.public_url.clone().unwrap_or_else(local);
        format!("{begin}/passages/{base}/{chunk}")
    }
}

fn no_base(name: &str) -> Problem {
    Problem::new(404, "no-such-base", Fault::Caller)
        .saying(format!("there is no base `{name}`"))
        .in_chinese(format!("没有知识库 `{name}`"))
        .hint("GET /api/v1/bases lists those that this key opens")
}
