//! Finds the kept runs behind identifiers of earlier responses: an identifier ends with the run's
//! name.

use pikerag_engine::{EngineError, Session};
use serde_json::json;

use super::input::{Item, message};
use super::request::CreateResponse;
use crate::compat::chat::{Message, shown};
use crate::compat::contract::unsupported;
use crate::problem::Problem;

/// The largest number of references that are looked up. Older ones are left out: a follow-up is
/// rewritten from the latest messages alone.
const LOOKED_UP: usize = 6;

/// The messages of a request: instructions, the earlier response, then the input with the answers
/// that it refers to.
///
/// # Errors
/// The base keeps no answered run of such a name.
pub(super) async fn conversation(
    session: &Session,
    body: &CreateResponse,
    items: Vec<Item>,
) -> Result<Vec<Message>, Problem> {
    let mut all: Vec<Item> = Vec::new();
    all.extend(body.instructions.iter().map(|text| message("system", text.clone())));
    if let Some(id) = &body.previous_response_id {
        let Some((question, answer)) = turn(session, id.strip_prefix("resp_")).await? else {
            return Err(not_found("previous_response_id", id, body));
        };
        all.extend([message("user", question), message("assistant", answer)]);
    }
    all.extend(items);
    let n_references = all.iter().filter(|item| is_answer(item)).count();
    let mut to_skip = n_references.saturating_sub(LOOKED_UP);
    let mut messages = Vec::new();
    for item in all {
        let has_answer = is_answer(&item);
        let (id, param) = match item {
            Item::Message(message) => {
                messages.push(message);
                continue;
            }
            Item::Reference { id, param } => (id, param),
        };
        // Steps of an earlier answer, and calls of functions, have no effect.
        if ["rs_", "fc_"].iter().any(|kind| id.starts_with(kind)) {
            continue;
        }
        if has_answer && 0 < to_skip {
            to_skip -= 1;
            continue;
        }
        let Some((_, answer)) = turn(session, id.strip_prefix("msg_")).await? else {
            return Err(not_found(&param, &id, body));
        };
        messages.push(Message { role: "assistant".to_owned(), content: answer.into() });
    }
    Ok(messages)
}

/// Whether an item refers to an answer.
fn is_answer(item: &Item) -> bool {
    matches!(item, Item::Reference { id, .. } if id.starts_with("msg_"))
}

/// The question and the shown answer of a run; `None` if the base keeps no answered run of exactly
/// this name, or the caller may not see it.
async fn turn(session: &Session, run: Option<&str>) -> Result<Option<(String, String)>, Problem> {
    let Some(name) = run else { return Ok(None) };
    let run = match pikerag_engine::run_by_name(session, name).await {
        Ok(found) => found.summary.run,
        Err(
            EngineError::NotFound { .. }
            | EngineError::RunForgotten { .. }
            | EngineError::UnclearRun { .. },
        ) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // The engine also accepts the beginning of a name.
    if run.id.to_string() != name {
        return Ok(None);
    }
    Ok(run.answer.map(|answer| (run.question.text, shown(&answer).0)))
}

fn not_found(param: &str, id: &str, body: &CreateResponse) -> Problem {
    let advice = match body.store {
        Some(false) => "",
        _ => "; the AI SDK does so with `store: false`",
    };
    let hint = format!(
        "the base keeps no answered run of this name: send the earlier messages in `input`{advice}"
    );
    unsupported(param, &json!(id), &hint)
}
