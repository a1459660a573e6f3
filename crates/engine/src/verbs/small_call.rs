//! Makes the small call that tries a model, and words its failure.

use std::error::Error;
use std::time::{Duration, Instant};

use pikerag_knowledge::{CallOrigin, ChatRequest, Message, ModelError, Role, error_chain};
use pikerag_narrate::Words;

use crate::engine::Session;
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

/// The longest time that a user waits for the reply of an endpoint.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// The result of a small call that tries a model.
pub(super) struct Tried<T> {
    pub(super) seconds: f64,
    /// What came, or the kind of error in one word and its words.
    pub(super) outcome: Result<T, (&'static str, Words)>,
}

/// Makes a small call, unless the program is offline.
pub(super) async fn tried<T>(
    session: &Session,
    call: impl Future<Output = Result<T, ModelError>>,
) -> Tried<T> {
    if session.settings().offline {
        let words = Words::new("no model is called offline", "离线时不调用模型");
        return Tried { seconds: 0.0, outcome: Err(("offline", words)) };
    }
    let began = Instant::now();
    let replied = call.await;
    let seconds = began.elapsed().as_secs_f64();
    Tried { seconds, outcome: replied.map_err(|error| (error.kind(), failed_call(&error))) }
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
