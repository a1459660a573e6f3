//! Makes the request that tries a model, and words its failure.

use std::error::Error;

use pikerag_knowledge::{CallOrigin, ChatRequest, Message, ModelError, Role, error_chain};
use pikerag_narrate::Words;

use crate::local_error::LocalModelError;
use crate::words::{chinese_chain, remedy};

/// A request whose reply is a word.
pub(super) fn small_request() -> ChatRequest {
    let text = "Reply with the word: ready".to_owned();
    ChatRequest {
        role: Role::Answer,
        messages: vec![Message::User { text, images: Vec::new() }],
        temperature: 0.0,
        max_tokens: 16,
        schema: None,
        prompt: None,
        sample: 0,
        logprobs: false,
        origin: CallOrigin::default(),
    }
}

/// An error with its causes.
pub(super) fn failure(error: &(dyn Error + 'static)) -> Words {
    Words::new(error_chain(error), chinese_chain(error))
}

/// A failed call of a model. A model of this machine comes with the command that helps.
pub(super) fn failed_call(error: &ModelError) -> Words {
    let Words { english, chinese } = failure(error);
    let local = match error {
        ModelError::NotStarted { source, .. } => {
            source.downcast_ref::<LocalModelError>().and_then(remedy)
        }
        _ => None,
    };
    match local {
        Some(advice) => Words::new(
            format!("{english}; {}", advice.english),
            format!("{chinese}；{}", advice.chinese),
        ),
        None => Words::new(english, chinese),
    }
}
