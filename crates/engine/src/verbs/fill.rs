//! Fills a JSON Schema from a checked answer (`response_format` of other programs).

use pikerag_knowledge::{Account, Event, Role, RunEvent, error_chain};
use pikerag_methods::{FillSchema, FillSource, Filled, SolveError};
use tokio_util::sync::CancellationToken;

use super::ask::AskResponse;
use super::money::usd_of;
use crate::base::Base;
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::notice::Notice;
use crate::verbs::ask::keeping::now;

/// A schema to fill from an answer.
#[derive(Clone, Debug)]
pub struct FillRequest {
    /// The schema.
    pub schema: FillSchema,
    /// The reason why a client refused earlier values, if it did.
    pub complaint: Option<String>,
    /// Stops the filling: no model call begins after that.
    pub cancel: CancellationToken,
}

/// Whether the schema can be filled: by rules, or by a chat model that is set.
pub fn can_fill(session: &Session, schema: &FillSchema) -> bool {
    !schema.needs_model() || session.has_chat(Role::Answer)
}

/// Fills a schema from the checked answer of a run. Each value comes from the answer, its reasons or its verified
/// quotes. Rules fill simple schemas; for others, the model of the role `answer` makes one call, two if the first reply
/// does not fit. The calls are recorded and paid like any other, and count in the cost of the run. If the base keeps
/// the run, it keeps them as its last event. A run without an answer is withheld.
///
/// # Errors
/// The base does not exist, the model's call failed, or the request was cancelled. Calls before that count in the run,
/// too. An answer that does not give the values is no error.
///
/// # Cancel safety
/// Dropping the future aborts the call; calls before it are missing in the run. Use the request's `cancel`.
///
/// # Examples
/// ```no_run
/// # async fn f(
/// #     session: &pikerag_engine::Session, response: &mut pikerag_engine::AskResponse,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// use pikerag_engine::parts::{FillSchema, Filled};
/// use pikerag_engine::{FillRequest, fill};
///
/// let schema = r#"{"type": "object", "properties": {"tons": {"type": "number"}}}"#;
/// let schema = FillSchema::new("crane", schema.parse()?).map_err(|_| "no schema")?;
/// let request = FillRequest { schema, complaint: None, cancel: Default::default() };
/// if let Filled::Value(value) = fill(session, &request, response).await? {
///     println!("{value}"); // {"tons":40}
/// }
/// # Ok(())
/// # }
/// ```
pub async fn fill(
    session: &Session,
    request: &FillRequest,
    response: &mut AskResponse,
) -> Result<Filled> {
    let Some(answer) = response.run.answer.clone() else { return Ok(Filled::Withheld) };
    let base = match session.has_chat(Role::Answer) {
        true => Some(session.base_for_a_question().await?),
        false => None,
    };
    let model = match &base {
        Some(base) => session.recorded_chat(base, Role::Answer)?,
        None => None,
    };
    let question = response.run.question.text.clone();
    let complaint = request.complaint.as_deref();
    let source = FillSource { question: &question, answer: &answer, complaint };
    let mut account = Account::default();
    let filling = pikerag_methods::fill(model.as_deref(), &request.schema, &source, &mut account);
    let filling =
        session.unless_cancelled(async { Ok(Box::pin(filling).await.map_err(SolveError::Ask)?) });
    let filled = tokio::select! {
        biased;
        () = request.cancel.cancelled() => Err(EngineError::Cancelled),
        filled = filling => filled,
    };
    if let Some(base) = &base {
        let schema = request.schema.name().to_owned();
        let is_filled = matches!(filled, Ok(Filled::Value(_)));
        record(session, base, response, account, Event::Filled { schema, is_filled }).await;
    }
    filled
}

/// Adds the calls that filled a schema to a run that has ended: they are a part of its bill. Without a
/// call, the run stays as it is.
async fn record(
    session: &Session,
    base: &Base,
    response: &mut AskResponse,
    account: Account,
    event: Event,
) {
    let cost = account.cost();
    if cost.spent.calls() == 0 {
        return;
    }
    let AskResponse { run, events, .. } = response;
    run.cost.spent.merge(&cost.spent);
    run.cost.paid.merge(&cost.paid);
    let seq = events.last().map_or(0, |last| last.seq.saturating_add(1));
    let event = RunEvent {
        run: run.id.clone(),
        seq,
        parent: seq.checked_sub(1),
        time: now(),
        decision: false,
        calls: account.calls,
        event,
    };
    events.push(event.clone());
    response.usd = usd_of(session, &response.run.cost);
    if !response.is_kept {
        return;
    }
    if let Err(error) = base.keep_run(response.run.clone(), vec![event]).await {
        response.notices.push(Notice::RunNotKept { reason: error_chain(&error) });
    }
}
