//! Collects trajectories: by Algorithm 2, from a data set's own decompositions, or from kept runs.

mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pikerag_eval::datasets::{self, DataSet, Item};
use pikerag_knowledge::{Role, Spent};
use pikerag_methods::{Ports, SolveError};
use pikerag_train::card::Card;
use pikerag_train::collect::{attempts, ground};
use pikerag_train::given::given;
use pikerag_train::{Params, Right, TrainError, Trajectory};
use serde::Serialize;

pub use self::runs::CollectedRuns;
use self::runs::{forecast_runs, from_runs};
use super::each::Each;
use super::kept::{Header, Kept, TrainFrom};
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::verbs::eval::plan::hash;
use crate::verbs::eval::{as_chain, ports_for_measuring};
use crate::verbs::progress::OnProgress;

/// Rounds of an attempt as measured on the harder world of the tests; a forecast of a typical question.
const ROUNDS: f64 = 5.0;

/// The questions to attempt, and how.
#[derive(Clone)]
pub struct CollectRequest<'a> {
    /// A file of questions with their answers. Only [`TrainFrom::Runs`] can do without: its labels decide on runs that
    /// nobody has judged.
    pub questions: Option<PathBuf>,
    /// Format of the questions; `None` detects it from their first record.
    pub format: Option<String>,
    /// The source of trajectories.
    pub from: TrainFrom,
    /// The number of questions drawn with the seed; `None`: all. Of kept runs, those of all drawn questions are
    /// collected.
    pub limit: Option<usize>,
    /// The parameters of Algorithm 2. [`TrainFrom::DataSet`] reads the seed alone, [`TrainFrom::Runs`] the seed and
    /// `right`.
    pub params: Params,
    /// Questions attempted at a time, or runs completed at a time.
    pub concurrency: usize,
    /// The folder of the trajectories.
    pub out: PathBuf,
    /// Whether earlier trajectories in this folder are discarded.
    pub fresh: bool,
    /// Receives the progress.
    pub progress: OnProgress<'a>,
}

/// What was collected.
#[derive(Debug, Serialize)]
pub struct CollectResponse {
    /// The facts about all trajectories of the folder.
    pub card: Card,
    /// Calls and tokens of this run by role, made or read from the ledger.
    pub spent: Spent,
    /// The kept runs that were read, with [`TrainFrom::Runs`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<CollectedRuns>,
    /// The reason why the run ended early, if it did. The next run continues from there.
    #[serde(serialize_with = "as_chain")]
    pub stopped: Option<EngineError>,
    /// Folder of the trajectories.
    pub out: PathBuf,
}

/// The forecast cost of collecting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CollectForecast {
    /// The questions.
    pub questions: usize,
    /// Calls if each question needs one attempt of five rounds. For kept runs: one for each sub-question without an
    /// answer.
    pub typical_calls: u64,
    /// Calls if each question needs all attempts and rounds. For kept runs, the same as the typical ones.
    pub most_calls: u64,
    /// The kept runs that were read, with [`TrainFrom::Runs`], as if the folder had none of them yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<CollectedRuns>,
}

/// Attempts questions, and keeps each attempt as a trajectory. A run that was stopped continues where it was; calls
/// in the ledger are not paid again. Kept runs are not attempted again: each becomes a trajectory once.
///
/// # Errors
/// The questions cannot be read, or there are none although the source needs them; there is no base or no model;
/// `params.right` asks for a judge of kept runs; the folder belongs to other settings. An early end is in the response.
///
/// # Cancel safety
/// Dropping the future loses at most the questions in flight.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::parts::TrainParams;
/// use pikerag_engine::{CollectRequest, TrainFrom, train_collect};
///
/// let request = CollectRequest {
///     questions: Some("questions.jsonl".into()),
///     format: None,
///     from: TrainFrom::Model,
///     limit: Some(100),
///     params: TrainParams::default(),
///     concurrency: 4,
///     out: "runs/trajectories".into(),
///     fresh: false,
///     progress: &|_| {},
/// };
/// let card = train_collect(session, &request).await?.card;
/// println!("{} of {} questions have a right trajectory", card.right, card.questions);
/// # Ok(())
/// # }
/// ```
pub async fn train_collect(
    session: &Session,
    request: &CollectRequest<'_>,
) -> Result<CollectResponse> {
    Box::pin(session.unless_cancelled(collect(session, request))).await
}

/// The cost of collecting, without a call and without a written file.
///
/// # Errors
/// The questions cannot be read, or there are none although the source needs them; kept runs cannot be read.
pub async fn train_forecast(
    session: &Session,
    request: &CollectRequest<'_>,
) -> Result<CollectForecast> {
    let free = CollectForecast { questions: 0, typical_calls: 0, most_calls: 0, runs: None };
    match request.from {
        TrainFrom::DataSet => {
            let questions = given(file(request)?, &data_set(request)?)?.len();
            Ok(CollectForecast { questions, ..free })
        }
        TrainFrom::Model => {
            let questions = drawn(request, &data_set(request)?).len();
            let (typical, most) = request.params.calls(ROUNDS);
            let typical_calls = (typical * questions as f64).round() as u64;
            let most_calls = most * questions as u64;
            Ok(CollectForecast { questions, typical_calls, most_calls, ..free })
        }
        TrainFrom::Runs => {
            Box::pin(session.unless_cancelled(forecast_runs(session, request))).await
        }
    }
}

/// The file of questions.
fn file<'a>(request: &'a CollectRequest<'_>) -> Result<&'a Path> {
    Ok(request.questions.as_deref().ok_or(TrainError::NoQuestions)?)
}

/// The questions of the file.
fn data_set(request: &CollectRequest<'_>) -> Result<DataSet> {
    let format = request.format.as_deref().map(str::parse).transpose()?;
    Ok(datasets::read(file(request)?, format)?)
}

/// The questions that are attempted.
fn drawn(request: &CollectRequest<'_>, set: &DataSet) -> Vec<Item> {
    match request.limit {
        Some(limit) => datasets::sample(set.items.clone(), limit, request.params.seed),
        None => set.items.clone(),
    }
}

async fn collect(session: &Session, request: &CollectRequest<'_>) -> Result<CollectResponse> {
    let questions = request.questions.as_deref().map(hash).transpose()?;
    let mut header = Header {
        questions: questions.unwrap_or_default(),
        from: request.from,
        params: request.params,
        models: BTreeMap::new(),
        embedder: None,
        thresholds: None,
        prices: BTreeMap::new(),
    };
    let mut runs = None;
    let (kept, stopped) = match request.from {
        TrainFrom::DataSet => (by_data_set(request, &header)?, None),
        TrainFrom::Model => by_model(session, request, &mut header).await?,
        TrainFrom::Runs => {
            let (kept, stopped, counts) = from_runs(session, request, &mut header).await?;
            runs = Some(counts);
            (kept, stopped)
        }
    };
    let mut card = Card::of(&kept.all);
    card.models.clone_from(&header.models);
    let mut spent = Spent::default();
    for trajectory in kept.all.iter().skip(kept.earlier) {
        spent.merge(&trajectory.spent);
    }
    let stopped = stopped.map(EngineError::from);
    Ok(CollectResponse { card, spent, runs, stopped, out: request.out.clone() })
}

/// The decompositions of the file.
fn by_data_set(request: &CollectRequest<'_>, header: &Header) -> Result<Kept<Trajectory>> {
    let set = data_set(request)?;
    let items = drawn(request, &set);
    let asked: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    let mut made = given(file(request)?, &set)?;
    made.retain(|trajectory| asked.contains(trajectory.item.as_str()));
    let mut kept: Kept<Trajectory> = Kept::open(&request.out, header, request.fresh)?;
    let there: BTreeSet<String> = kept.all.iter().map(|one| one.item.clone()).collect();
    made.retain(|trajectory| !there.contains(&trajectory.item));
    kept.keep(made)?;
    Ok(kept)
}

/// Attempts the questions that have no right trajectory yet.
async fn by_model(
    session: &Session,
    request: &CollectRequest<'_>,
    header: &mut Header,
) -> Result<(Kept<Trajectory>, Option<SolveError>)> {
    let items = drawn(request, &data_set(request)?);
    let base = session.base_for_a_question().await?;
    let ports = ports_for_measuring(session, &base, request.progress).await?;
    let judge = (request.params.right == Right::Judge).then_some(Role::Judge);
    let roles = [Role::Propose, Role::Select, Role::Answer].into_iter().chain(judge);
    for role in roles {
        let model = ports.models.need(role).map_err(EngineError::from)?.name().to_owned();
        header.models.insert(role.to_string(), model);
    }
    header.embedder = ports.embedder.as_ref().map(|embedder| embedder.name().to_owned());
    header.prices = session.settings().prices_by_role();
    let ground = ground(&ports, &request.params).await?;
    header.thresholds = Some((ground.delta, ground.near));
    let mut kept = Kept::open(&request.out, header, request.fresh)?;
    let to_do = remaining(&kept.all, &items, &request.params);
    let each = Each {
        ports: &ports,
        snapshots: &*base,
        name: "collecting",
        earlier: items.len() - to_do.len(),
        concurrency: request.concurrency,
        progress: request.progress,
    };
    let (ground, params) = (&ground, &request.params);
    let one = |ports: Ports, (item, first)| async move {
        attempts(&ports, ground, item, params, first).await
    };
    let stopped = each.work(to_do, one, |made| kept.keep(made)).await?;
    Ok((kept, stopped))
}

/// The questions that need further attempts, each with the number of the next one.
fn remaining<'a>(made: &[Trajectory], items: &'a [Item], params: &Params) -> Vec<(&'a Item, u32)> {
    let mut before: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
    for trajectory in made {
        let (count, is_right) = before.entry(&trajectory.item).or_default();
        *count += 1;
        *is_right |= trajectory.is_right;
    }
    let to_do = items.iter().filter_map(|item| {
        let (count, is_right) = before.get(item.id.as_str()).copied().unwrap_or_default();
        let is_done = params.attempts.get() <= count || is_right && params.stops_when_right;
        (!is_done).then_some((item, count))
    });
    to_do.collect()
}
