//! Lists, shows, replays, forks and compares runs (`runs`).

mod compared;
mod prompts;

use std::collections::BTreeSet;

use pikerag_baselines::{Method, Overrides};
use pikerag_knowledge::{Change, Event, ForkPoint, RunEvent, RunId, RunQuery, RunRecord, RunState};
use pikerag_methods::spec::Weights;
use pikerag_methods::{Retrace, VerifiedUse};
use pikerag_postgres::Location;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;
use utoipa::ToSchema;

use super::ask::{AskRequest, AskResponse, Asking};
use super::money::RunUsd;
use crate::base::Base;
use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};
use crate::sandbox::is_alive;
use crate::verbs::ask::keeping::keep_run;
use crate::verbs::money::usd_of;
use crate::words::chinese_reason;

pub use compared::{DiffLine, DiffResponse, DiffSide, diff_runs};

/// Why a run failed whose server ended before it did.
const SERVER_ENDED: &str = "the server that ran it has ended";

/// A run without its events.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunSummary {
    /// Its name, question, state and cost.
    #[serde(flatten)]
    pub run: RunRecord,
    /// Whether its process ended before the run did.
    pub interrupted: bool,
    /// The cost of its calls.
    pub usd: RunUsd,
    /// The error of a failed run in Chinese.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_zh: Option<String>,
}

/// A run with its events.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunResponse {
    /// Its name, question, state, cost and answer.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// The events, in order.
    pub events: Vec<RunEvent>,
}

/// A fork: the decision to change.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkRequest {
    /// The run's name, or the beginning of it.
    #[serde(skip)]
    pub run: String,
    /// The number of the event to decide differently.
    pub at: u32,
    /// The new decision.
    pub change: Change,
    /// The listener and the cancellation of the fork; the question and method are those of the run.
    #[serde(skip)]
    pub ask: AskRequest,
}

/// The latest runs, the latest first.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for summary in pikerag_engine::runs(session, 20).await? {
///     let run = &summary.run;
///     println!("{} {}: {}", run.id, run.state.as_str(), run.question.text);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn runs(session: &Session, limit: usize) -> Result<Vec<RunSummary>> {
    let base = session.base_in_part().await?;
    // Runs that the caller may not see do not count towards the limit.
    let read = if session.sees_all() { limit } else { usize::MAX };
    let silent = base.silent_runs().await?;
    let runs = base
        .runs(RunQuery::Latest(read))
        .await?
        .into_iter()
        .filter(|run| session.may_see(&run.filter));
    Ok(runs.take(limit).map(|run| summary(session, run, silent.as_ref())).collect())
}

/// One run, by its name or the beginning of it.
///
/// # Errors
/// [`EngineError::NotFound`] and [`EngineError::UnclearRun`].
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let response = pikerag_engine::run_by_name(session, "last").await?;
/// for event in &response.events {
///     println!("{}: {:?}", event.seq, event.event);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn run_by_name(session: &Session, name: &str) -> Result<RunResponse> {
    let base = session.base_in_part().await?;
    let run = named(session, &base, name).await?;
    let events = base.run_events(&run.id).await?;
    let silent = base.silent_runs().await?;
    Ok(RunResponse { summary: summary(session, run, silent.as_ref()), events })
}

/// One run with its events behind the event `after`, to follow it. Any process may run it.
///
/// # Errors
/// As [`run_by_name`].
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let mut last = None;
/// for event in pikerag_engine::follow_run(session, "last", last).await?.events {
///     println!("{}: {:?}", event.seq, event.event);
///     last = Some(event.seq);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn follow_run(session: &Session, name: &str, after: Option<u32>) -> Result<RunResponse> {
    let base = session.base_in_part().await?;
    // The record first: then it never shows an end without the last events.
    let run = named(session, &base, name).await?;
    let silent = base.silent_runs().await?;
    let events = base.run_events_after(&run.id, after).await?;
    Ok(RunResponse { summary: summary(session, run, silent.as_ref()), events })
}

/// A number that changes when a run of any process has more events; `None` for a base in a folder. A
/// change may be missed, so read from time to time without it.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// if let Some(mut changes) = pikerag_engine::run_changes(session).await? {
///     let _ = changes.changed().await;
/// }
/// # Ok(())
/// # }
/// ```
pub async fn run_changes(session: &Session) -> Result<Option<watch::Receiver<u64>>> {
    Ok(session.base_in_part().await?.run_changes())
}

/// Records that runs of a base in a database failed whose server has ended: they showed no sign for a
/// minute. Returns their number.
///
/// # Errors
/// The base cannot be read or written.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// println!("{} runs have ended with their servers", pikerag_engine::end_silent_runs(session).await?);
/// # Ok(())
/// # }
/// ```
pub async fn end_silent_runs(session: &Session) -> Result<usize> {
    // A base in a folder is not opened for it: its processes are on this machine.
    if !Location::is_address(session.folder()) || !session.has_base().await? {
        return Ok(0);
    }
    let base = session.base_in_part().await?;
    match base.silent_runs().await? {
        Some(silent) if !silent.is_empty() && !base.is_read_only() => {
            Ok(base.end_silent_runs(SERVER_ENDED).await?)
        }
        _ => Ok(0),
    }
}

/// Replays a run with recorded replies only: it makes no calls, and every event must be the same. A
/// replay is not a new run and is not kept.
///
/// # Errors
/// There is no such run. If an event differs, the response says which.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{AskRequest, replay_run};
///
/// let again = replay_run(session, "last", &AskRequest::default()).await?;
/// match again.result {
///     Ok(_) => println!("all {} events are the same", again.events.len()),
///     Err(error) => println!("{error}"),
/// }
/// # Ok(())
/// # }
/// ```
pub async fn replay_run(
    session: &Session,
    name: &str,
    request: &AskRequest,
) -> Result<AskResponse> {
    let base = session.base_for_a_question().await?;
    let (run, events) = ended(session, &base, name).await?;
    let seen = session.snapshot(&base, &run.filter).await?;
    let (mut ports, notices) = session.ports(&base, seen).await?;
    prompts::check(&base, &run.id, &events).await?;
    ports.models = recorded_models(session, &base, &ports, &events)?;
    ports.feedback_before = Some(run.started);
    let retrace = Retrace::whole(&run, &events);
    let asking = asking_again(session, &run, retrace)?;
    let again = keep_run(session, &base, ports, asking, request).await?;
    Ok(again.response(session, notices))
}

/// Replays a run up to a decision, with recorded replies only; makes the other decision; and
/// continues, with calls where replies are missing. The fork is a new run.
///
/// # Errors
/// There is no such run, or the event is not a decision. Later errors are in the response.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::knowledge::Change;
/// use pikerag_engine::{AskRequest, ForkRequest, fork_run};
///
/// let request = ForkRequest {
///     run: "last".to_owned(),
///     at: 3,
///     change: Change::Choice(Some(1)), // The second candidate.
///     ask: AskRequest::default(),
/// };
/// println!("the fork is run {}", fork_run(session, &request).await?.run.id);
/// # Ok(())
/// # }
/// ```
pub async fn fork_run(session: &Session, request: &ForkRequest) -> Result<AskResponse> {
    let session = &session.observed_by(request.ask.open_calls.as_ref());
    let base = session.base_for_a_question().await?;
    let run = named(session, &base, &request.run).await?;
    let events = own_events(&base, &run.id).await?;
    let decisions = events.iter().filter(|event| event.decision).map(|event| event.seq);
    let decisions: Vec<u32> = decisions.collect();
    if !decisions.contains(&request.at) {
        return Err(EngineError::NoDecision { run: run.id, seq: request.at, decisions });
    }
    let seen = session.snapshot(&base, &run.filter).await?;
    let (mut ports, notices) = session.ports(&base, seen).await?;
    let repeated = events.get(..request.at as usize).unwrap_or_default();
    prompts::check(&base, &run.id, repeated).await?;
    let recorded = recorded_models(session, &base, &ports, &events)?;
    ports.feedback_before = Some(run.started);
    let fork = ForkPoint { run: run.id.clone(), seq: request.at, change: request.change.clone() };
    let retrace = Retrace::up_to(&run, &events, fork);
    ports.models = retrace.models(&ports.models, &recorded);
    let asking = asking_again(session, &run, retrace)?;
    let forked = keep_run(session, &base, ports, asking, &request.ask).await?;
    Ok(forked.response(session, notices))
}

/// The run with this name, or whose name begins with it, among those that the caller may see;
/// `last` is the latest run.
pub(super) async fn named(session: &Session, base: &Base, name: &str) -> Result<RunRecord> {
    let name = name.trim();
    let query = if name == "last" { RunQuery::Latest(1) } else { RunQuery::Named(name) };
    let mut found = base.runs(query).await?;
    found.retain(|run| session.may_see(&run.filter));
    let is_exact = |run: &RunRecord| run.id == RunId(name.to_owned());
    match <[RunRecord; 1]>::try_from(found) {
        Ok([run]) => Ok(run),
        Err(several) => match several.iter().find(|run| is_exact(run)) {
            Some(exact) => Ok(exact.clone()),
            None if several.is_empty() => match base.forgotten_run(name).await? {
                Some((run, forgotten)) if session.sees_all() => {
                    Err(EngineError::RunForgotten { run, forgotten })
                }
                _ => Err(EngineError::NotFound { what: Missing::Run, name: name.to_owned() }),
            },
            None => Err(EngineError::UnclearRun { name: name.to_owned() }),
        },
    }
}

/// `silent` are the runs without a sign, where servers on several machines use the base: the number of a
/// process means nothing on another machine.
fn summary(session: &Session, run: RunRecord, silent: Option<&BTreeSet<RunId>>) -> RunSummary {
    let has_ended = match silent {
        Some(silent) => silent.contains(&run.id),
        None => !is_alive(run.process),
    };
    let interrupted = run.state == RunState::Running && has_ended;
    let usd = usd_of(session, &run.cost);
    let error_zh = run.error.as_deref().map(chinese_reason);
    RunSummary { run, interrupted, usd, error_zh }
}

fn asking_again<'a>(session: &Session, run: &'a RunRecord, retrace: Retrace) -> Result<Asking<'a>> {
    let (question, filter) = (&run.question, &run.filter);
    let (method, weights) = (method_of(session, run)?, weights_of(session, run)?);
    let Weights { tags, verified, .. } = weights;
    let (reads_at_most, retrace) = (run.reads_at_most, Some(retrace));
    Ok(Asking { question, method, filter, tags, verified, reads_at_most, retrace })
}

async fn ended(session: &Session, base: &Base, name: &str) -> Result<(RunRecord, Vec<RunEvent>)> {
    let run = named(session, base, name).await?;
    if run.state != RunState::Answered {
        return Err(EngineError::RunNotAnswered { run: run.id, state: run.state });
    }
    let events = own_events(base, &run.id).await?;
    Ok((run, events))
}

/// The events of a run that its method made. A replay fills no schema, so that event would be missing.
async fn own_events(base: &Base, run: &RunId) -> Result<Vec<RunEvent>> {
    let mut events = base.run_events(run).await?;
    events.retain(|event| !matches!(event.event, Event::Filled { .. }));
    Ok(events)
}

fn recorded_models(
    session: &Session,
    base: &Base,
    ports: &pikerag_methods::Ports,
    events: &[RunEvent],
) -> Result<pikerag_methods::Models> {
    let mut models = session.models_of_run(base, events)?;
    models.labelled = ports.models.labelled.clone();
    models.reranker.clone_from(&ports.models.reranker);
    Ok(models)
}

/// The run's weights; the current ones if the run was stored without weights.
fn weights_of(session: &Session, run: &RunRecord) -> Result<Weights> {
    match &run.weights {
        Value::Null => {
            Ok(Weights { verified: VerifiedUse::Ignored, ..session.settings().methods.weights })
        }
        kept => Ok(serde_json::from_value(kept.clone())?),
    }
}

/// The run's method with the run's parameters and weights.
fn method_of(session: &Session, run: &RunRecord) -> Result<Method> {
    let mut set = Overrides::default().weighed(weights_of(session, run)?);
    if run.method == "pike" {
        // Runs of earlier versions did without these steps.
        for name in ["plan_steps", "structure_chunks", "agent_questions"] {
            set.set(name, Value::from(0))?;
        }
    }
    if run.method == "pike" || run.method == "adaptive" {
        // Reading rounds of earlier versions read whole passages.
        set.set("look_reads", Value::from("passages"))?;
        set.set("look_ends", Value::from("sufficient"))?;
    }
    for (name, value) in &run.parameters {
        set.set(name, value.clone())?;
    }
    Ok(run.method.parse::<Method>()?.with(&set))
}
