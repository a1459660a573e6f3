//! Holds what requests share: the engine, the bases by name, the keys and what was spent with each.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use pikerag_engine::keys::{Key, Keys, KeysError, Scope};
use pikerag_engine::knowledge::Condition;
use pikerag_engine::settings::{DEFAULT_BASE, ServerSettings};
use pikerag_engine::{Engine, EngineError, Grant, Session, Share};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::admission::{Admission, Place};
use crate::audit::Audit;
use crate::jobs::{Job, Jobs, Work};
use crate::metrics::Metrics;
use crate::problem::{Fault, Problem};

/// How many times as long as a question a conversation may be.
const CONVERSATION: usize = 8;

/// What all requests share.
pub(crate) type App = Arc<Shared>;

pub(crate) struct Shared {
    pub(crate) settings: ServerSettings,
    keys: Option<Keys>,
    engine: Engine,
    bases: BTreeMap<String, Session>,
    shares: Mutex<HashMap<String, Spent>>,
    rates: Mutex<HashMap<String, (u32, Arc<DefaultDirectRateLimiter>)>>,
    runs: Admission,
    pub(crate) jobs: Jobs,
    pub(crate) audit: Audit,
    pub(crate) metrics: Metrics,
    /// Where the server listens.
    address: SocketAddr,
    /// Says that no further request is taken.
    pub(crate) stopping: CancellationToken,
}

/// What was spent with a key, and how much of that is on record.
struct Spent {
    grant: (Option<f64>, String),
    share: Share,
    booked_usd: f64,
}

/// Who asks, as far as that was told.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The key; none where there are no keys, and whoever reaches the server may do all.
    pub(crate) key: Option<Key>,
}

impl Caller {
    /// What logs call this caller.
    pub(crate) fn name(&self) -> &str {
        self.key.as_ref().map_or("-", |key| key.id.as_str())
    }

    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.key.as_ref().is_none_or(|key| scope <= key.params.scope)
    }

    /// Whether nothing of any base is kept from this caller.
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
    /// To be called within the runtime that the server runs on.
    pub(crate) fn new(
        engine: Engine,
        keys: Option<Keys>,
        audit: Audit,
        address: SocketAddr,
        settings: ServerSettings,
    ) -> Self {
        let stopping = CancellationToken::new();
        let mut bases: BTreeMap<String, Session> = BTreeMap::new();
        for (name, folder) in &settings.bases {
            bases.insert(name.clone(), engine.session_over(folder.clone()));
        }
        bases.insert(DEFAULT_BASE.to_owned(), engine.session());
        Self {
            keys,
            engine,
            bases,
            shares: Mutex::default(),
            rates: Mutex::default(),
            runs: Admission::new(settings.runs, settings.runs_waiting),
            jobs: Jobs::new(stopping.clone(), Handle::current()),
            audit,
            metrics: Metrics::new(),
            address,
            stopping,
            settings,
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// All bases, by name.
    pub(crate) fn all_bases(&self) -> impl Iterator<Item = (&String, &Session)> {
        self.bases.iter()
    }

    /// Whether there is a key at all: then every request needs one.
    pub(crate) fn has_keys(&self) -> Result<bool, KeysError> {
        self.keys.as_ref().map_or(Ok(false), |keys| Ok(!keys.list()?.is_empty()))
    }

    /// Who presents this key; `None` where nobody does.
    pub(crate) fn find(&self, presented: &str) -> Result<Option<Key>, KeysError> {
        self.keys.as_ref().map_or(Ok(None), |keys| keys.find(presented))
    }

    /// The bases that a caller may use, by name.
    pub(crate) fn bases_of<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> impl Iterator<Item = (&'a str, &'a Session)> {
        let bases = self.bases.iter().map(|(name, session)| (name.as_str(), session));
        bases.filter(|(name, _)| caller.opens(name))
    }

    /// A base for a caller, who sees and spends of it what was granted. A base that the key does not open is as one that
    /// is not there.
    pub(crate) fn base(&self, caller: &Caller, name: &str) -> Result<Session, Problem> {
        let session = self.bases.get(name).filter(|_| caller.opens(name));
        let Some(session) = session else {
            return Err(Problem::new(404, "no-such-base", Fault::Caller)
                .saying(format!("there is no base `{name}`"))
                .hint("GET /api/v1/bases lists those that this key opens"));
        };
        let Some(key) = &caller.key else { return Ok(session.clone()) };
        let share = self.share_of(key)?;
        Ok(session.granted(&key.grant(0.0), &share))
    }

    /// A base for a caller who changes it: who sees a part of it changes none.
    pub(crate) fn whole_base(&self, caller: &Caller, name: &str) -> Result<Session, Problem> {
        let session = self.base(caller, name)?;
        if caller.key.as_ref().is_some_and(|key| !key.params.filter.is_empty()) {
            return Err(EngineError::OnlyPart.into());
        }
        Ok(session)
    }

    /// A session for what is no single base's, for a caller from whom nothing is kept; `None` where there is no base.
    pub(crate) fn for_all(&self, caller: &Caller) -> Result<Option<Session>, Problem> {
        if !caller.sees_all() {
            return Err(EngineError::OnlyPart.into());
        }
        Ok(self.bases.values().next().cloned())
    }

    /// The keys, where there is a place for them.
    pub(crate) fn keys(&self) -> Option<&Keys> {
        self.keys.as_ref()
    }

    /// US dollars that were spent with a key, by now.
    pub(crate) fn spent_with(&self, key: &Key) -> Result<f64, KeysError> {
        self.book(&Caller { key: Some(key.clone()) });
        let spent = self.keys.as_ref().map(Keys::spent).transpose()?;
        Ok(spent.and_then(|spent| spent.get(&key.id).copied()).unwrap_or_default())
    }

    /// What a key spends is counted over all its requests and bases, and what it has spent before counts too.
    fn share_of(&self, key: &Key) -> Result<Share, Problem> {
        let Some(keys) = &self.keys else { return Ok(self.engine.share(&Grant::default())) };
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let grant = (key.params.cap_usd, key.params.filter.to_string());
        if let Some(held) = shares.get(&key.id).filter(|held| held.grant == grant) {
            return Ok(held.share.clone());
        }
        let spent = keys.spent()?.get(&key.id).copied().unwrap_or_default();
        let share = self.engine.share(&key.grant(spent));
        let held = Spent { grant, share: share.clone(), booked_usd: 0.0 };
        shares.insert(key.id.clone(), held);
        Ok(share)
    }

    /// Books what was spent with a caller's key since the last time.
    pub(crate) fn book(&self, caller: &Caller) {
        let (Some(keys), Some(key)) = (&self.keys, &caller.key) else { return };
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(held) = shares.get_mut(&key.id) else { return };
        let spent = held.share.spent_usd();
        if held.booked_usd < spent {
            match keys.book(&key.id, spent - held.booked_usd) {
                Ok(()) => held.booked_usd = spent,
                Err(error) => warn!(key = key.id, %error, "what was spent is not on record"),
            }
        }
    }

    /// Puts a job behind those of its base; what it costs is booked to the caller.
    pub(crate) fn begin(
        self: &Arc<Self>,
        caller: &Caller,
        base: &str,
        session: Session,
        work: Work,
    ) -> Result<Job, Problem> {
        let (app, caller) = (Arc::clone(self), caller.clone());
        let ended = move |job: &Job| {
            app.book(&caller);
            app.metrics.indexed(job.base(), job.stand());
        };
        self.jobs.begin(base, session, work, Box::new(ended))
    }

    /// Waits until a run of a caller may begin; see [`Admission::enter`].
    pub(crate) async fn admitted(&self, caller: &Caller) -> Result<Place, Problem> {
        let admitted = self.runs.enter(caller.name()).await;
        admitted.inspect_err(|_| self.metrics.turned_away())
    }

    /// Refuses words that a run or a search would take too long over: a question and its conditions, a query.
    pub(crate) fn within(&self, words: &[&str], filter: &[Condition]) -> Result<(), Problem> {
        let words: usize = words.iter().map(|words| words.len()).sum();
        let filter: usize = filter.iter().map(|condition| condition.to_string().len()).sum();
        self.bounded(words + filter, 1, "a question or query, with its filter,")
    }

    /// The same for what was said before a question.
    pub(crate) fn conversation_within(&self, bytes: usize) -> Result<(), Problem> {
        self.bounded(bytes, CONVERSATION, "a conversation")
    }

    fn bounded(&self, bytes: usize, times: usize, what: &str) -> Result<(), Problem> {
        let most = self.settings.question_bytes.saturating_mul(times);
        if bytes <= most {
            return Ok(());
        }
        Err(Problem::new(413, "question-too-long", Fault::Caller)
            .saying(format!("{what} has {most} bytes at most, and this one has {bytes}"))
            .hint("ask about less, or have `server.question_kib` raised"))
    }

    /// Whether a key may be used now; else in how many seconds.
    pub(crate) fn is_in_rate(&self, key: &Key) -> bool {
        let Some(per_minute) = key.params.per_minute else { return true };
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        let held = rates.get(&key.id).filter(|(held, _)| *held == per_minute);
        let limiter = match held {
            Some((_, limiter)) => Arc::clone(limiter),
            None => {
                let quota =
                    Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
                let limiter = Arc::new(RateLimiter::direct(quota));
                rates.insert(key.id.clone(), (per_minute, Arc::clone(&limiter)));
                limiter
            }
        };
        limiter.check().is_ok()
    }

    /// Where a passage is shown, for people and programs outside.
    pub(crate) fn permalink(&self, base: &str, chunk: impl std::fmt::Display) -> String {
        let local = || match self.address.ip().is_unspecified() {
            true => format!("http://localhost:{}", self.address.port()),
            false => format!("http://{}", self.address),
        };
        let begin = self.settings.public_url.clone().unwrap_or_else(local);
        format!("{begin}/passages/{base}/{chunk}")
    }
}
