//! Rewrites the last message of a conversation as a question of its own.

use pikerag_knowledge::Role;
use pikerag_methods::SolveError;

use super::ask::AskRequest;
use crate::engine::Session;
use crate::error::Result;

/// The request with a question that can be understood without what was said earlier: written by the model of the role
/// `rewrite`, whose call is recorded and paid like any. Where nothing was said earlier, or there is no model, as it stands.
///
/// # Errors
/// There is no base, or the model's call failed.
pub async fn standalone(session: &Session, mut request: AskRequest) -> Result<AskRequest> {
    let turns = std::mem::take(&mut request.earlier);
    let base = session.base_in_part().await?;
    if let Some(model) = session.recorded_chat(&base, Role::Rewrite)?
        && !turns.is_empty()
    {
        let told = pikerag_methods::standalone(model.as_ref(), &turns, &request.question);
        request.question =
            session.unless_cancelled(async { Ok(told.await.map_err(SolveError::Ask)?) }).await?;
    }
    Ok(request)
}
