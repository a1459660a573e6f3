//! Tries a chat model by one small call before it is set.

use serde::Serialize;
use utoipa::ToSchema;

use super::set_chat::{SettingsPlace, prepare};
use super::small_call::{PATIENCE, Tried, small_request, tried};
use crate::change_error::ChangeModelError;
use crate::engine::Session;
use crate::settings::ChatChoice;

/// The number of characters of a reply that are shown.
const SHOWN: usize = 200;

/// The result of a small call.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TriedChat {
    /// Whether the model has replied.
    pub fine: bool,
    /// The address without user, password and query; none for a model that pikerag serves.
    #[schema(required)]
    pub address: Option<String>,
    /// The time of the call, in seconds. It includes the start of a model that pikerag serves.
    pub seconds: f64,
    /// The first 200 characters of the reply; may be empty.
    pub reply: String,
    /// The kind of error in one word, such as `unreachable` or `denied`; `offline` if no call may be
    /// made.
    #[schema(required)]
    pub error: Option<String>,
    /// The error in a sentence; empty without one.
    pub says: String,
    /// The same in Chinese.
    pub says_zh: String,
}

/// Makes one small call to a chat model, with the key that would be sent if the model was set. The
/// settings file stays as it is. The call counts in the caps.
///
/// # Errors
/// The errors of [`set_chat`](crate::set_chat); a model that does not answer is no error.
///
/// # Cancel safety
/// Dropping the future aborts the call.
pub async fn try_chat(
    session: &Session,
    place: SettingsPlace<'_>,
    choice: &ChatChoice,
) -> Result<TriedChat, ChangeModelError> {
    let mut chat = prepare(session, place, choice)?.chat;
    chat.endpoint.timeout = chat.endpoint.timeout.min(PATIENCE);
    let is_local = chat.endpoint.local_name().is_some();
    let model = session.trial_chat(&chat)?;
    let Tried { seconds, outcome } = tried(session, model.complete(&small_request())).await;
    let result = TriedChat {
        fine: outcome.is_ok(),
        address: (!is_local).then(|| chat.endpoint.address()),
        seconds,
        reply: String::new(),
        error: None,
        says: String::new(),
        says_zh: String::new(),
    };
    Ok(match outcome {
        Ok(reply) => TriedChat { reply: reply.text.trim().chars().take(SHOWN).collect(), ..result },
        Err((error, words)) => {
            let (says, says_zh) = (words.english, words.chinese);
            TriedChat { error: Some(error.to_owned()), says, says_zh, ..result }
        }
    })
}

#[cfg(test)]
mod tests {
    use pikerag_models::Secret;
    use pikerag_test_support::canned::{Canned, Server, error, ok};

    use super::*;
    use crate::settings::{Environment, Settings};

    const REPLY: &str =
        r#"{"choices": [{"message": {"content": " ready "}, "finish_reason": "stop"}]}"#;

    async fn tried_with(reply: Canned) -> (TriedChat, Vec<String>) {
        let server = Server::start(vec![reply]);
        let home = tempfile::tempdir().unwrap();
        let (path, environment) = (home.path().join("pikerag.toml"), Environment::default());
        std::fs::write(&path, "").unwrap();
        let place = SettingsPlace { path: &path, is_named: true, environment: &environment };
        let choice = ChatChoice {
            role: None,
            model: "m".to_owned(),
            base_url: Some(server.base_url.clone()),
            api_key: Some(Secret::new("sk-0123456789")),
            azure_api_version: None,
        };
        let session = crate::open(Settings::defaults().unwrap()).unwrap().session();
        let tried = try_chat(&session, place, &choice).await.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        (tried, server.requests())
    }

    #[tokio::test]
    async fn one_call_shows_the_reply_or_the_error() {
        let (fine, requests) = tried_with(ok(REPLY)).await;
        assert!(fine.fine && fine.error.is_none(), "{fine:?}");
        assert_eq!((fine.reply.as_str(), requests.len()), ("ready", 1));
        assert!(requests[0].contains("authorization: Bearer sk-0123456789"), "{requests:?}");
        let body = r#"{"error": {"message": "wrong key sk-0123456789"}}"#;
        let (denied, _) = tried_with(error(401, body)).await;
        assert_eq!((denied.fine, denied.error.as_deref()), (false, Some("denied")), "{denied:?}");
        let shown = format!("{denied:?}");
        assert!(!shown.contains("sk-0123456789") && !denied.says_zh.is_empty(), "{shown}");
    }
}
