//! Serves `/v1/responses` as OpenAI's Responses API, in one piece and as a stream. It stores no
//! responses; the base keeps the runs behind them.

mod content;
mod earlier;
mod events;
mod form;
mod input;
mod reply;
mod request;
mod streaming;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use pikerag_engine::keys::now;
use pikerag_engine::knowledge::RunEvent;
use pikerag_engine::narrate::Language;
use serde_json::Value;

use self::content::Reply;
use self::earlier::conversation;
use self::events::Events;
use self::form::Form;
use self::input::{check_question, items};
use self::reply::Head;
use self::request::{CreateResponse, in_our_terms};
use self::streaming::{at_once, streamed};
use super::chat::{Asked, Served, asked_with, check_length, served};
use super::progress::Progress;
use super::structured;
use super::words::line;
use crate::app::{App, Caller};
use crate::problem::{Fault, JsonBody, Parts, Problem};
use crate::streams::{Drafts, Underway, Wanted, answered};

/// The name in place of a run's, if none ran.
const BACKGROUND: &str = "background";

/// Answers the last message of the input. In a stream, a summary of reasoning reports each step as
/// it happens, and the answer while a model writes it; the checked answer is the output text, with
/// an annotation for each citation. Responses are not stored.
#[utoipa::path(post, path = "/v1/responses", tag = "compatible", request_body = CreateResponse,
    responses((status = 200, content((Value = "application/json"), (Value = "text/event-stream"))), (status = 400, body = Value)))]
pub(crate) async fn create(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<Value>,
) -> Result<Response, Problem> {
    let body = CreateResponse::read(body)?;
    let (at_most, object) = (body.most_tokens()?, body.object()?);
    let items = items(&body.input)?;
    let Served { method, base, session } = served(&app, &caller, &body.model)?;
    let messages = conversation(&session, &body, items).await?;
    check_length(&app, &messages)?;
    let (object, messages) = structured::read(object, messages).map_err(in_our_terms)?;
    if let Some(object) = &object {
        object.check(&session).map_err(in_our_terms)?;
    }
    check_question(&messages)?;
    let head = Head::new(&body, now() / 1000);
    let wanted = body.wanted(method);
    let asked = asked_with(&app, (&caller, &session), wanted, &messages).await?;
    let (request, place) = match asked {
        Asked::Question(request, place) => (request, place),
        Asked::Background(reply) => {
            let reply = Reply::plain(reply);
            if body.streams() {
                return Ok(background_stream(head, &reply));
            }
            return Ok(Json(head.ended(BACKGROUND, "", &reply, now() / 1000)).into_response());
        }
    };
    let language = Language::of(&request.question);
    let drafts = if body.streams() { Drafts::Sent } else { Drafts::LeftOut };
    let (after, filling) = object.map(|object| object.after_run(session.clone())).unzip();
    let underway =
        Underway::begin_with(&app, (place, session), Wanted::Ask(request), drafts, after);
    let mut form = Form { app, base, at_most, filling };
    if body.streams() {
        return streamed(form, head, Progress::new(language, underway)).await;
    }
    let came = answered(*underway.end().await?, language)?;
    let reply = form.reply(&came.run).await?;
    let (run, steps) = (came.run.id.to_string(), steps(&came.events, language));
    Ok(Json(head.ended(&run, &steps, &reply, now() / 1000)).into_response())
}

/// The stream of a reply to a background task of a chat program, for which no method ran.
fn background_stream(head: Head, reply: &Reply) -> Response {
    let mut events = Events::new(head, BACKGROUND.to_owned());
    let mut all = events.begin();
    all.extend(events.answer(reply, now() / 1000));
    at_once(all)
}

/// The steps of a run as a stream reports them, a line for each.
fn steps(events: &[RunEvent], language: Language) -> String {
    let lines = events.iter().filter_map(|event| line(event, language));
    lines.fold(String::new(), |steps, line| steps + &line + "\n")
}

/// Responses are not stored: always 404.
#[utoipa::path(get, path = "/v1/responses/{id}", tag = "compatible", params(("id" = String, Path)),
    responses((status = 404, body = Value)))]
pub(crate) async fn retrieve(Parts(id): Parts<String>) -> Problem {
    not_stored(&id)
}

/// Responses are not stored, so there is nothing to delete: always 404.
#[utoipa::path(delete, path = "/v1/responses/{id}", tag = "compatible", params(("id" = String, Path)),
    responses((status = 404, body = Value)))]
pub(crate) async fn delete(Parts(id): Parts<String>) -> Problem {
    not_stored(&id)
}

/// Nothing runs in the background, so there is nothing to cancel: always 404. Closing the
/// connection stops a run.
#[utoipa::path(post, path = "/v1/responses/{id}/cancel", tag = "compatible", params(("id" = String, Path)),
    responses((status = 404, body = Value)))]
pub(crate) async fn cancel(Parts(id): Parts<String>) -> Problem {
    not_stored(&id)
}

/// Responses are not stored, nor are their inputs: always 404.
#[utoipa::path(get, path = "/v1/responses/{id}/input_items", tag = "compatible", params(("id" = String, Path)),
    responses((status = 404, body = Value)))]
pub(crate) async fn input_items(Parts(id): Parts<String>) -> Problem {
    not_stored(&id)
}

fn not_stored(id: &str) -> Problem {
    let run = id.strip_prefix("resp_").unwrap_or("RUN");
    Problem::new(404, "no-such-run", Fault::Caller)
        .saying(format!("this server stores no responses, so there is no `{id}`"))
        .hint(format!("GET /api/v1/bases/BASE/runs/{run} shows the run behind a response"))
}
