//! Rewrites the last message of a conversation as a question of its own.

use pikerag_knowledge::Role;
use pikerag_methods::{SolveError, Turn};

use crate::engine::Session;
use crate::error::Result;

/// The last message as a question that can be understood without the turns before it: written by the model of the role
/// `rewrite`, whose call is recorded and paid like any. Where there are no turns, or no model, the message as it stands.
///
/// # Errors
/// There is no base, or the model's call failed.
pub async fn standalone(session: &Session, turns: &[Turn], message: &str) -> Result<String> {
    let base = session.base_in_part().await?;
    match session.recorded_chat(&base, Role::Rewrite)? {
        Some(model) if !turns.is_empty() => {
            let told = pikerag_methods::standalone(model.as_ref(), turns, message);
            session.unless_cancelled(async { Ok(told.await.map_err(SolveError::Ask)?) }).await
        }
        _ => Ok(message.to_owned()),
    }
}
