//! Provides the data of jobs: the base's job rows, names of files and workers, the bases with jobs,
//! and the remaining work of a base.

use std::path::PathBuf;
use std::sync::Arc;

use pikerag_indexing::Params;
use pikerag_indexing::estimate::{Estimate, left};
use pikerag_knowledge::{JobBill, Jobs, Role, Stage};
use pikerag_postgres::Location;

use crate::base::{Base, address_of};
use crate::engine::Session;
use crate::error::Result;
use crate::files;
use crate::random::random_hex;
use crate::settings::EmbedSettings;

/// The remaining work of the whole base.
#[derive(Clone, Debug, PartialEq)]
pub struct RemainingWork {
    /// Calls to chat models and their tokens.
    pub estimate: Estimate,
    /// US dollars, if the prices are known.
    pub usd: Option<f64>,
    /// Texts without a vector, if vectors cost money.
    pub texts: usize,
}

impl RemainingWork {
    /// The remaining work as a bill.
    pub fn bill(&self) -> JobBill {
        bill(&self.estimate, self.usd, self.texts)
    }
}

/// An estimate as a bill.
pub(super) fn bill(estimate: &Estimate, usd: Option<f64>, texts: usize) -> JobBill {
    let (calls, texts) = (estimate.calls as u64, texts as u64);
    JobBill {
        calls,
        tokens: estimate.usage.prompt_tokens + estimate.usage.completion_tokens,
        usd,
        texts,
    }
}

/// The jobs of the base; `None` if there is no base.
///
/// # Errors
/// The base cannot be opened.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::knowledge::JobQuery;
/// use pikerag_engine::{CreateBase, jobs};
///
/// if let Some(of_base) = jobs(session, CreateBase::No).await? {
///     for job in of_base.jobs(JobQuery::Unfinished).await? {
///         println!("job {} is {}", job.id, job.state.as_str());
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub async fn jobs(session: &Session, create: CreateBase) -> Result<Option<Arc<dyn Jobs>>> {
    Ok(match create {
        CreateBase::Yes => Some(session.base_or_create().await?.arc()),
        CreateBase::No => match session.has_base().await? {
            true => Some(session.base().await?.arc()),
            false => None,
        },
    })
}

/// Whether workers of several processes may share the jobs of the base: it is in a database.
///
/// # Examples
/// ```no_run
/// # fn f(session: &pikerag_engine::Session) {
/// if !pikerag_engine::shares_jobs(session) {
///     println!("one process runs all jobs of this base");
/// }
/// # }
/// ```
pub fn shares_jobs(session: &Session) -> bool {
    Location::is_address(session.folder())
}

/// A base in a database, with a part of a job that may be taken now.
#[derive(Clone)]
pub struct BaseWithJobs {
    /// Its name in the database.
    pub name: String,
    /// The name that requests use, if a server made it.
    pub made_as: Option<String>,
    /// Its address. It contains the password: never show it.
    pub address: PathBuf,
}

/// The bases of the session's database with a part of a job that may be taken now, those first whose
/// jobs were taken longest ago. Empty unless the base is in a database.
///
/// # Errors
/// The database cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for base in pikerag_engine::bases_with_jobs(session).await? {
///     let files = pikerag_engine::files(&session.engine().session_over(base.address)).await?;
///     println!("{}: {} files", base.name, files.files.len());
/// }
/// # Ok(())
/// # }
/// ```
pub async fn bases_with_jobs(session: &Session) -> Result<Vec<BaseWithJobs>> {
    let Some(location) = address_of(session.folder())? else { return Ok(Vec::new()) };
    let made_beside = session.settings().server.bases_folder.as_deref();
    let made_beside = made_beside.map(address_of).transpose()?.flatten();
    let owner = made_beside.as_ref().unwrap_or(&location).base();
    let names = session.engine().database(&location).await?.bases_with_jobs(owner).await?;
    let with_address = |(name, made_as): (String, Option<String>)| {
        let address = match name == location.base() {
            // The same path as that of the session, so that the base is opened once.
            true => session.folder().to_owned(),
            false => location.of_base(&name).address().into(),
        };
        BaseWithJobs { name, made_as, address }
    };
    Ok(names.into_iter().map(with_address).collect())
}

/// A name for a worker of this process: its host, its process and a random part.
///
/// # Errors
/// The system gives no random bytes.
///
/// # Examples
/// ```
/// let (one, other) = (pikerag_engine::worker_name()?, pikerag_engine::worker_name()?);
/// assert_ne!(one, other);
/// # Ok::<_, pikerag_engine::EngineError>(())
/// ```
pub fn worker_name() -> Result<String> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let host = host.map_or_else(|_| "host".to_owned(), |name| name.trim().to_owned());
    let random = random_hex::<4>().map_err(std::io::Error::other)?;
    Ok(format!("{host}/{}/{random}", std::process::id()))
}

/// The names in the base of the files under some paths, including missing files.
///
/// # Errors
/// The base cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let paths = [std::path::PathBuf::from("handbook")];
/// let names = pikerag_engine::job_names(session, &paths).await?;
/// println!("the job reads {}", names.join(", "));
/// # Ok(())
/// # }
/// ```
pub async fn job_names(session: &Session, paths: &[PathBuf]) -> Result<Vec<String>> {
    let base = session.base_or_create().await?;
    let names = session.settled_names(&base).await?;
    let found = files::find(paths, &names, &session.settings().choice);
    let left_out = found.left_out.into_iter().map(|(file, _)| file);
    Ok(found.files.into_iter().chain(left_out).collect())
}

/// The places of files of the base, by their names.
///
/// # Errors
/// The base cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let places = pikerag_engine::job_places(session, &["handbook/sensor.md".to_owned()]).await?;
/// for place in places.iter().filter(|place| !place.exists()) {
///     println!("{} is gone", place.display());
/// }
/// # Ok(())
/// # }
/// ```
pub async fn job_places(session: &Session, files: &[String]) -> Result<Vec<PathBuf>> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    Ok(files.iter().map(|file| names.place(file)).collect())
}

/// Counts the remaining work of the whole base without model calls.
///
/// # Errors
/// The base cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let work = pikerag_engine::remaining_work(session).await?;
/// if work.bill().is_free() {
///     println!("the rest costs nothing");
/// } else {
///     println!("{} calls and {} texts to embed remain", work.estimate.calls, work.texts);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn remaining_work(session: &Session) -> Result<RemainingWork> {
    let base = session.base().await?;
    let params = session.ingest_params(&[], &[], None);
    remaining_in(session, &base, &params).await
}

pub(super) async fn remaining_in(
    session: &Session,
    base: &Base,
    params: &Params,
) -> Result<RemainingWork> {
    let mut texts = 0;
    if session.pays_for_vectors()
        && let Some(embedder) = session.embedder_on(base).await?
    {
        let stage = Stage::embed(embedder.name());
        let refused =
            base.refusals().await?.iter().filter(|refusal| refusal.stage == stage).count();
        texts = base.count_without_vector(embedder.name()).await?.saturating_sub(refused);
    }
    let estimate = left(&**base, params, &session.available()).await?;
    Ok(RemainingWork { usd: session.price_of_estimate(&estimate), estimate, texts })
}

/// A hash of the models and settings that decide the cost of indexing. While it is unchanged, bills
/// stay the same.
///
/// # Examples
/// ```no_run
/// # fn f(session: &pikerag_engine::Session, accepted_under: &str) {
/// if pikerag_engine::setup(session) != accepted_under {
///     println!("models or settings have changed: the accepted bill is no longer valid");
/// }
/// # }
/// ```
pub fn setup(session: &Session) -> String {
    let settings = session.settings();
    let models = Role::ALL.iter().copied().filter_map(|role| {
        let endpoint = &settings.chat(role)?.endpoint;
        Some(format!("{} {} {}", role.as_str(), endpoint.address(), endpoint.model))
    });
    let mut parts: Vec<String> = models.collect();
    if let EmbedSettings::Endpoint { endpoint, .. } = &settings.embed {
        parts.push(format!("embed {} {}", endpoint.address(), endpoint.model));
    }
    parts.push(format!("{:?}", session.ingest_params(&[], &[], None)));
    blake3::hash(parts.join("\n").as_bytes()).to_hex().to_string()
}

/// Whether a missing base is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateBase {
    /// An empty base is created.
    Yes,
    /// No base is created.
    No,
}

impl Session {
    fn pays_for_vectors(&self) -> bool {
        matches!(self.settings().embed, EmbedSettings::Endpoint { .. })
    }

    /// Whether indexing makes no paid calls.
    pub fn indexes_for_free(&self) -> bool {
        !self.pays_for_vectors() && Role::ALL.iter().copied().all(|role| !self.has_chat(role))
    }
}
