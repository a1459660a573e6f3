//! Answers questions (`ask`). Each question is a run that is kept, whatever its outcome.

pub(super) mod keeping;

use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_eval::cost_model::Asked;
use pikerag_knowledge::{
    Answer, Event, Filter, Level, Question, Role, RunEvent, RunRecord, RunSink, RunState, Spent,
    TaskClass,
};
use pikerag_methods::spec::Weights;
use pikerag_methods::{Finished, Retrace, SolveError, TagUse, Turn, VerifiedUse, pike};
use pikerag_models::OpenCalls;
use pikerag_store::on_one_thread;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use self::keeping::keep_run;
use super::money::RunUsd;
use crate::engine::{DEFAULT_METHOD, Session};
use crate::error::{EngineError, NoWords, Result};
use crate::notice::Notice;

/// A question, and the way to answer it.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// The question; at least one word.
    pub question: String,
    /// The name of a method; `pike` if empty.
    #[serde(default)]
    pub method: String,
    /// The class of the question, if you know it; only with `pike`.
    #[serde(default)]
    pub class: Option<TaskClass>,
    /// The level of the system (`L0` to `L4`), which includes the lower ones; only with `pike`.
    #[serde(default)]
    pub level: Option<Level>,
    /// The documents that the answer may use: conditions such as `folder=law`, `date>=2020`, all of
    /// which must hold.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub filter: Filter,
    /// Earlier turns of the conversation, the oldest first. If a model is set, it rewrites a
    /// question that refers to them as a standalone one.
    #[serde(default)]
    pub earlier: Vec<Turn>,
    /// Receives the events of the run as they happen.
    #[serde(skip)]
    pub listener: Option<Arc<dyn RunSink>>,
    /// Shows the chat calls that have no reply yet.
    #[serde(skip)]
    pub open_calls: Option<Arc<OpenCalls>>,
    /// Stops the run: no model call begins after that, and running ones are aborted.
    /// [`Engine::cancel`](crate::Engine::cancel) stops it too.
    #[serde(skip)]
    pub cancel: CancellationToken,
}

/// A question with its method.
pub(super) struct Asking<'a> {
    pub(super) question: &'a Question,
    pub(super) method: Method,
    /// The filter of the ports.
    pub(super) filter: &'a Filter,
    /// The use of the question's tags.
    pub(super) tags: TagUse,
    /// Whether verified answers serve methods other than `pike`.
    pub(super) verified: VerifiedUse,
    /// The tokens that the answering model may read at a time.
    pub(super) reads_at_most: Option<u32>,
    pub(super) retrace: Option<Retrace>,
}

/// A run that has ended: with an answer, an error or a cancellation.
#[derive(Debug)]
pub struct AskResponse {
    /// Its name, state, cost and answer.
    pub run: RunRecord,
    /// The events, in order.
    pub events: Vec<RunEvent>,
    /// The answer, or the reason why there is none.
    pub result: Result<Answer, SolveError>,
    /// The cost of its calls.
    pub usd: RunUsd,
    /// Whether the base keeps the run. It does not keep replays, and none if the settings keep
    /// none.
    pub is_kept: bool,
    /// Notices about the answer.
    pub notices: Vec<Notice>,
}

impl Serialize for AskResponse {
    /// Question, method, answer (with `trace` and `spent`; null if there is none), the run's name
    /// and state, and its cost.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let answer =
            self.run.answer.as_ref().map(|answer| with_trace(answer, &self.events, &self.run));
        json!({
            "question": self.run.question.text, "method": self.run.method, "answer": answer,
            "run": self.run.id, "state": self.run.state, "usd": self.usd,
        })
        .serialize(to)
    }
}

/// An answer with its trace and cost.
#[derive(Serialize, ToSchema)]
pub struct TracedAnswer<'a> {
    /// The answer.
    #[serde(flatten)]
    answer: &'a Answer,
    /// The events, in order.
    trace: Vec<&'a Event>,
    /// Calls and tokens, made or read from the ledger.
    spent: &'a Spent,
}

/// Whether the text contains a word or number: `???` does not.
pub(super) fn has_word(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// An answer with its trace and cost, as JSON for files and programs.
pub(crate) fn traced(answer: &Answer, run: &Finished) -> Value {
    with_trace(answer, &run.events, &run.record)
}

fn with_trace(answer: &Answer, events: &[RunEvent], run: &RunRecord) -> Value {
    let trace = events.iter().map(|event| &event.event).collect();
    json!(TracedAnswer { answer, trace, spent: &run.cost.spent })
}

/// Answers a question in a run that is kept.
///
/// # Errors
/// The method or the base does not exist. Errors in the run itself are in the response, with its
/// trace and cost.
///
/// # Cancel safety
/// Dropping the future leaves a run without an end. Use the request's `cancel` to stop it.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> Result<(), Box<dyn std::error::Error>> {
/// use pikerag_engine::knowledge::Filter;
/// use pikerag_engine::{AskRequest, ask};
///
/// let request = AskRequest {
///     question: "Who calibrates the sensor?".to_owned(),
///     filter: Filter { conditions: vec!["folder=manuals".parse()?] },
///     ..Default::default()
/// };
/// let response = ask(session, &request).await?;
/// match response.result {
///     Ok(answer) => println!("{} ({} citations)", answer.text, answer.citations.len()),
///     Err(error) => println!("run {} has no answer: {error}", response.run.id),
/// }
/// # Ok(())
/// # }
/// ```
pub async fn ask(session: &Session, request: &AskRequest) -> Result<AskResponse> {
    let (session, request) = (session.observed_by(request.open_calls.as_ref()), request.clone());
    on_one_thread(async move { Box::pin(asked(&session, &request)).await }).await?
}

async fn asked(session: &Session, request: &AskRequest) -> Result<AskResponse> {
    let rewritten = match request.earlier.is_empty() {
        true => None,
        false => Some(Box::pin(standalone(session, request.clone())).await?),
    };
    let request = rewritten.as_ref().unwrap_or(request);
    let name = match request.method.trim() {
        "" => DEFAULT_METHOD,
        name => name,
    };
    let method = session.method(name)?;
    let text = request.question.trim();
    if !has_word(text) {
        return Err(EngineError::NoWords(NoWords::Question));
    }
    let base = session.base_for_a_question().await?;
    let seen = session.snapshot(&base, &request.filter).await?;
    let (ports, notices) = session.ports(&base, seen).await?;
    let ports = session.with_memory(&base, ports, &request.filter).await?;
    let reads_at_most = session.reads_at_most();
    let method = match method {
        Method::Pike(params) => {
            let params = pike::Params {
                class: request.class.or(params.class),
                level: request.level.or(params.level),
                ..params
            };
            Method::Pike(params).reading(session.reads_at_once(&base).await)
        }
        _ if request.class.is_some() || request.level.is_some() => {
            return Err(EngineError::ClassOfOtherMethod { method: name.to_owned() });
        }
        Method::Adaptive(_) => method.reading(session.reads_at_once(&base).await),
        other => other,
    };
    let question = Question::new("asked", text);
    let filter = session.seen(&request.filter);
    let Weights { tags, verified, .. } = session.settings().methods.weights;
    let asking = Asking {
        question: &question,
        method,
        filter: &filter,
        tags,
        verified,
        reads_at_most,
        retrace: None,
    };
    let run = keep_run(session, &base, ports, asking, request).await?;
    remember(session, name, method, &run.finished.record);
    Ok(run.response(session, notices))
}

/// Stores the cost of an answer for forecasts, if a model was called and the method has no
/// parameters of its own.
fn remember(session: &Session, name: &str, method: Method, run: &RunRecord) {
    let is_plain = method.to_string() == name;
    let (calls, usage) = (run.cost.spent.calls() as u64, run.cost.spent.usage());
    if session.settings().replay || !is_plain || run.state != RunState::Answered || calls == 0 {
        return;
    }
    let mut asked = Asked::default();
    asked.add(calls, usage.prompt_tokens, usage.completion_tokens);
    session.costs().add(session.answering_model(), name, asked);
}

/// The request with a standalone question, which the model of the role `rewrite` writes from the
/// earlier turns. The call is recorded and paid like any other. Without earlier turns or a model,
/// the question stays as it is.
///
/// # Errors
/// The base does not exist, or the model's call failed.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::parts::{Speaker, Turn};
/// use pikerag_engine::{AskRequest, standalone};
///
/// let request = AskRequest {
///     question: "And who calibrates it?".to_owned(),
///     earlier: vec![
///         Turn { by: Speaker::Person, text: "Which sensor measures the oil?".to_owned() },
///         Turn { by: Speaker::Assistant, text: "The PT100.".to_owned() },
///     ],
///     ..Default::default()
/// };
/// let request = standalone(session, request).await?;
/// println!("{}", request.question); // It names the sensor if a model is set.
/// # Ok(())
/// # }
/// ```
pub async fn standalone(session: &Session, mut request: AskRequest) -> Result<AskRequest> {
    let turns = std::mem::take(&mut request.earlier);
    let base = session.base_for_a_question().await?;
    if !turns.is_empty()
        && let Some(model) = session.recorded_chat(&base, Role::Rewrite)?
    {
        let rewritten = pikerag_methods::standalone(model.as_ref(), &turns, &request.question);
        request.question = session
            .unless_cancelled(async { Ok(Box::pin(rewritten).await.map_err(SolveError::Ask)?) })
            .await?;
    }
    Ok(request)
}
