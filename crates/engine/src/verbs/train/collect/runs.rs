//! Collects trajectories from the runs that the base keeps, each run once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use futures::stream::{self, StreamExt};
use pikerag_knowledge::{Chunk, Role, RunId, RunQuery, RunRecord, RunState, Seeded};
use pikerag_methods::SolveError;
use pikerag_train::Trajectory;
use pikerag_train::answers::answer_steps;
use pikerag_train::runs::{Known, ReadRun, Unused, next_attempts, read};
use serde::Serialize;

use super::super::kept::{Header, Kept};
use super::{CollectForecast, CollectRequest, data_set};
use crate::base::Base;
use crate::engine::Session;
use crate::error::Result;
use crate::verbs::eval::ports_for_measuring;
use crate::verbs::progress::Progress;

/// The kept runs that were read. After an early end, the runs that were not reached are only in `read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CollectedRuns {
    /// All kept runs of the base.
    pub read: usize,
    /// Runs that the folder has from an earlier collection, with the verdict of that time.
    pub earlier: usize,
    /// Runs that became trajectories, those that failed included.
    pub used: usize,
    /// Runs that are left out, by reason.
    pub left_out: BTreeMap<Unused, usize>,
}

/// A run to collect, with the chunks of its steps.
struct Ready {
    run: ReadRun,
    chunks: Vec<Chunk>,
}

/// Adds the runs that the folder does not have yet, in order of time.
pub(super) async fn from_runs(
    session: &Session,
    request: &CollectRequest<'_>,
    header: &mut Header,
) -> Result<(Kept<Trajectory>, Option<SolveError>, CollectedRuns)> {
    let base = session.base().await?.for_a_question().await?;
    let known = known(&base, request).await?;
    let ports = ports_for_measuring(session, &base, request.progress).await?;
    let model = ports.models.of(Role::Answer);
    if let Some(model) = model {
        header.models.insert(Role::Answer.to_string(), model.name().to_owned());
        header.prices = session.settings().prices_by_role();
    }
    let mut kept: Kept<Trajectory> = Kept::open(&request.out, header, request.fresh)?;
    let earlier: BTreeSet<RunId> = kept.all.iter().filter_map(|one| one.run.clone()).collect();
    let (ready, mut counts) = survey(&base, &known, request, &earlier, model.is_some()).await?;
    let (total, mut done, mut stopped) = (ready.len(), 0, None);
    let mut next = next_attempts(&kept.all);
    let is_stopped = AtomicBool::new(false);
    let completed = stream::iter(ready).map(|Ready { mut run, chunks }| {
        // After an error that concerns all runs, no further one begins; begun ones end, because their calls are paid.
        let (ports, is_stopped) = (&ports, &is_stopped);
        async move {
            if is_stopped.load(Ordering::Relaxed) {
                return None;
            }
            let result = answer_steps(ports, &mut run, &chunks).await;
            Some((run.trajectory, result))
        }
    });
    // In order, because attempts are numbered in order of time.
    let mut completed = completed.buffered(request.concurrency.max(1));
    while let Some(ended) = completed.next().await {
        let Some((mut trajectory, result)) = ended else { continue };
        if let Err(error) = result {
            is_stopped.store(true, Ordering::Relaxed);
            stopped = stopped.or(Some(error));
            continue;
        }
        let attempt = next.entry(trajectory.item.clone()).or_default();
        trajectory.attempt = *attempt;
        *attempt += 1;
        kept.keep(vec![trajectory])?;
        counts.used += 1;
        done += 1;
        (request.progress)(Progress::Stage { name: "collecting".to_owned(), done, total });
    }
    (request.progress)(Progress::Ended);
    Ok((kept, stopped, counts))
}

/// The calls of collecting all runs, without a call and without a written file.
pub(super) async fn forecast_runs(
    session: &Session,
    request: &CollectRequest<'_>,
) -> Result<CollectForecast> {
    let base = session.base().await?.for_a_question().await?;
    let known = known(&base, request).await?;
    let has_model = session.bare_chat(Role::Answer)?.is_some();
    let (ready, counts) = survey(&base, &known, request, &BTreeSet::new(), has_model).await?;
    let calls: usize = ready.iter().map(|one| one.run.unanswered.len()).sum();
    let (typical_calls, most_calls) = (calls as u64, calls as u64);
    let runs = Some(CollectedRuns { used: ready.len(), ..counts });
    Ok(CollectForecast { questions: items(&ready).len(), typical_calls, most_calls, runs })
}

/// What feedback and the file of questions say about right answers.
async fn known(base: &Base, request: &CollectRequest<'_>) -> Result<Known> {
    let items = match request.questions {
        Some(_) => data_set(request)?.items,
        None => Vec::new(),
    };
    Ok(Known::new(base.verified().await?, &items, request.params.right)?)
}

/// The runs to collect, the earliest first, and the counts of the others.
async fn survey(
    base: &Base,
    known: &Known,
    request: &CollectRequest<'_>,
    earlier: &BTreeSet<RunId>,
    has_model: bool,
) -> Result<(Vec<Ready>, CollectedRuns)> {
    let mut runs = base.runs(RunQuery::Latest(usize::MAX)).await?;
    runs.reverse();
    let mut counts = CollectedRuns { read: runs.len(), ..CollectedRuns::default() };
    let mut ready = Vec::new();
    for run in &runs {
        if earlier.contains(&run.id) {
            counts.earlier += 1;
            continue;
        }
        match usable(base, known, run, has_model).await? {
            Ok(run) => ready.push(run),
            Err(reason) => *counts.left_out.entry(reason).or_default() += 1,
        }
    }
    if let Some(limit) = request.limit {
        let all: Vec<String> = items(&ready).into_iter().map(str::to_owned).collect();
        let order = Seeded::new(request.params.seed).shuffled(all.len());
        let drawn: BTreeSet<&String> =
            order.iter().take(limit).filter_map(|place| all.get(*place)).collect();
        let before = ready.len();
        ready.retain(|one| drawn.contains(&one.run.trajectory.item));
        if ready.len() < before {
            counts.left_out.insert(Unused::NotDrawn, before - ready.len());
        }
    }
    Ok((ready, counts))
}

/// The run as a trajectory, or the reason why there is none.
async fn usable(
    base: &Base,
    known: &Known,
    run: &RunRecord,
    has_model: bool,
) -> Result<Result<Ready, Unused>> {
    if run.state != RunState::Answered {
        return Ok(Err(Unused::NotAnswered));
    }
    let Some(verdict) = known.verdict(run) else { return Ok(Err(Unused::Unknown)) };
    let events = base.run_events(&run.id).await?;
    let Some(run) = read(run, &events, verdict) else { return Ok(Err(Unused::NoSteps)) };
    let ids = run.trajectory.context(usize::MAX);
    let chunks = base.chunks(&ids).await?;
    if !ids.iter().all(|id| chunks.iter().any(|chunk| chunk.id == *id)) {
        return Ok(Err(Unused::Gone));
    }
    match run.unanswered.is_empty() || has_model {
        true => Ok(Ok(Ready { run, chunks })),
        false => Ok(Err(Unused::NoAnswers)),
    }
}

/// The questions of the runs, by identifier.
fn items(ready: &[Ready]) -> BTreeSet<&str> {
    ready.iter().map(|one| one.run.trajectory.item.as_str()).collect()
}
