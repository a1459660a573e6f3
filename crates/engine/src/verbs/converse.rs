//! What does the last message of a conversation ask?

use pikerag_knowledge::Role;
use pikerag_methods::{SolveError, Turn, standalone};

use crate::engine::Engine;
use crate::error::Result;

impl Engine {
    /// The last message as a question that can be understood without the turns before it: written by the model of the role
    /// `rewrite`, whose call is recorded and paid like any. Where there are no turns, or no model, the message as it stands.
    ///
    /// # Errors
    /// There is no base, or the model's call failed.
    pub async fn standalone(&self, turns: &[Turn], message: &str) -> Result<String> {
        let base = self.base_in_part()?;
        match self.recorded_chat(&base, Role::Rewrite)? {
            Some(model) if !turns.is_empty() => {
                let told = standalone(model.as_ref(), turns, message);
                self.unless_cancelled(async { Ok(told.await.map_err(SolveError::Ask)?) }).await
            }
            _ => Ok(message.to_owned()),
        }
    }
}
