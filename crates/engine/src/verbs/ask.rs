//! `ask`: what the base is for. Each question is a run that is kept, whatever comes of it.

pub(super) mod keeping;

use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_eval::cost_model::Asked;
use pikerag_knowledge::{
    Answer, Event, Filter, Level, Question, Role, RunEvent, RunRecord, RunSink, RunState, Spent,
    TaskClass,
};
use pikerag_methods::{Finished, Retrace, SolveError, TagUse, Turn, pike};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use self::keeping::keep_run;
use super::money::RunUsd;
use crate::engine::{DEFAULT_METHOD, Session};
use crate::error::{EngineError, Result, Wordless};
use crate::notice::Notice;

/// A question, and how to answer it.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// The question; at least one word.
    pub question: String,
    /// A method by name; `pike`, if none is named.
    #[serde(default)]
    pub method: String,
    /// The class of the question, where whoever asks knows it; with `pike` alone.
    #[serde(default)]
    pub class: Option<TaskClass>,
    /// The level of the answer (`L1` to `L4`); with `pike` alone.
    #[serde(default)]
    pub level: Option<Level>,
    /// What may be seen: conditions such as `folder=law`, `date>=2020`, all of which must fit.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub filter: Filter,
    /// What was said before, the oldest first: a question that points back is written to stand alone, where there is a model.
    #[serde(default)]
    pub earlier: Vec<Turn>,
    /// Hears what happens while it happens.
    #[serde(skip)]
    pub listener: Option<Arc<dyn RunSink>>,
    /// Stops the run: no model call is begun after that, and those under way are given up. The engine's own
    /// [`Engine::cancel`](crate::Engine::cancel) stops it too.
    #[serde(skip)]
    pub cancel: CancellationToken,
}

/// What is asked, and how.
pub(super) struct Asking<'a> {
    pub(super) question: &'a Question,
    pub(super) method: Method,
    /// What the ports were filtered by.
    pub(super) filter: &'a Filter,
    /// What the question's tags are used for.
    pub(super) tags: TagUse,
    pub(super) retrace: Option<Retrace>,
}

/// A run that has ended: with an answer, an error, or because somebody stopped it.
#[derive(Debug)]
pub struct AskResponse {
    /// Its name, state, cost and answer.
    pub run: RunRecord,
    /// What happened, in order.
    pub events: Vec<RunEvent>,
    /// The answer, or why there is none.
    pub result: Result<Answer, SolveError>,
    /// What its calls come to.
    pub usd: RunUsd,
    /// Whether the base keeps the run: not a mere repetition, and not where none are to be kept.
    pub is_kept: bool,
    /// What to know besides.
    pub notices: Vec<Notice>,
}

impl Serialize for AskResponse {
    /// Question, method, answer (with `trace` and `spent`; null where there is none), the run's name, and what it comes to.
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

/// An answer with what led to it.
#[derive(Serialize, ToSchema)]
pub struct TracedAnswer<'a> {
    /// The answer.
    #[serde(flatten)]
    answer: &'a Answer,
    /// What happened, in order.
    trace: Vec<&'a Event>,
    /// Calls and tokens, whether made or read from the record.
    spent: &'a Spent,
}

/// Whether there is anything to look for: `???` is no question.
pub(super) fn has_word(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// An answer with what led to it, as files and programs read it.
pub(crate) fn traced(answer: &Answer, run: &Finished) -> Value {
    with_trace(answer, &run.events, &run.record)
}

fn with_trace(answer: &Answer, events: &[RunEvent], run: &RunRecord) -> Value {
    let trace = events.iter().map(|event| &event.event).collect();
    json!(TracedAnswer { answer, trace, spent: &run.cost.spent })
}

/// Answers a question, in a run that is kept.
///
/// # Errors
/// There is no such method or no base. What goes wrong in the run itself is in the response, with its trace and
/// its cost.
///
/// # Cancel safety
/// Dropping the future leaves a run without an end; stop it by the request's `cancel` instead.
pub async fn ask(session: &Session, request: &AskRequest) -> Result<AskResponse> {
    let rewritten = match request.earlier.is_empty() {
        true => None,
        false => Some(standalone(session, request.clone()).await?),
    };
    let request = rewritten.as_ref().unwrap_or(request);
    let name = match request.method.trim() {
        "" => DEFAULT_METHOD,
        name => name,
    };
    let method = session.method(name)?;
    let text = request.question.trim();
    if !has_word(text) {
        return Err(EngineError::Wordless(Wordless::Question));
    }
    let base = session.base_for_a_question().await?;
    let seen = session.snapshot(&base, &request.filter).await?;
    let (ports, notices) = session.ports(&base, seen).await?;
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
    let (filter, tags) = (session.seen(&request.filter), session.settings().methods.weights.tags);
    let asking = Asking { question: &question, method, filter: &filter, tags, retrace: None };
    let run = keep_run(session, &base, &ports, asking, request).await?;
    remember(session, name, method, &run.finished.record);
    Ok(run.response(session, notices))
}

/// Keeps what an answer cost, for forecasts: of the method as it is, without parameters of the user's own.
fn remember(session: &Session, name: &str, method: Method, run: &RunRecord) {
    let is_plain = method.to_string() == name;
    if session.settings().replay || !is_plain || run.state != RunState::Answered {
        return;
    }
    let (spent, mut asked) = (&run.cost.spent, Asked::default());
    let usage = spent.usage();
    asked.add(spent.calls() as u64, usage.prompt_tokens, usage.completion_tokens);
    session.costs().add(session.answering_model(), name, asked);
}

/// The request with a question that can be understood without what was said earlier: written by the model of the role
/// `rewrite`, whose call is recorded and paid like any. Where nothing was said earlier, or there is no model, as it stands.
///
/// # Errors
/// There is no base, or the model's call failed.
pub async fn standalone(session: &Session, mut request: AskRequest) -> Result<AskRequest> {
    let turns = std::mem::take(&mut request.earlier);
    let base = session.base_for_a_question().await?;
    if !turns.is_empty()
        && let Some(model) = session.recorded_chat(&base, Role::Rewrite)?
    {
        let told = pikerag_methods::standalone(model.as_ref(), &turns, &request.question);
        request.question =
            session.unless_cancelled(async { Ok(told.await.map_err(SolveError::Ask)?) }).await?;
    }
    Ok(request)
}
