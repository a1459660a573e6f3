//! Sorts failed calls by the decision that they leave to the caller.

use std::time::Duration;

use pikerag_knowledge::ModelError;
use pikerag_knowledge::ports::Cause;
use serde_json::Value;

use crate::secret::Secret;

/// A failure on the network. Becomes the `source` of a [`ModelError`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// The endpoint answered with an error.
    #[error("HTTP {status}: {message}")]
    Status {
        /// Usually 4xx or 5xx.
        status: u16,
        /// The endpoint's message, without secrets, shortened.
        message: String,
        /// The whole body, without secrets: the name of a refused field may be anywhere.
        body: String,
        /// Whether it blames the key, the model or the account.
        blames_settings: bool,
        /// The pause that the endpoint asks for.
        retry_after: Option<Duration>,
    },
    /// The endpoint refused, perhaps because a key for another address was not sent.
    #[error("{refusal}; not sent here because it was given for another address: {}", withheld.join(", "))]
    Withheld {
        /// The endpoint's refusal.
        refusal: Box<Trouble>,
        /// The settings and variables that hold the keys.
        withheld: Vec<String>,
    },
    /// No connection: nothing was sent.
    #[error("{origin} cannot be reached")]
    Unreachable {
        /// Scheme, host and port; never the path, which may hold secrets.
        origin: String,
        /// The error of the HTTP client.
        source: Cause,
    },
    /// The request was sent, and no complete reply came back.
    #[error("no whole reply from {origin}")]
    Cut {
        /// Scheme, host and port; never the path, which may hold secrets.
        origin: String,
        /// The error of the HTTP client.
        source: Cause,
    },
    /// A complete reply with a wrong content.
    #[error("the reply {what}")]
    Wrong {
        /// The rest of the message: `has no choices`.
        what: String,
    },
    /// A complete reply that does not follow the protocol.
    #[error("the reply {what}, and begins with {start:?}")]
    Garbled {
        /// The rest of the message: `has no choices`.
        what: String,
        /// Its beginning, without secrets.
        start: String,
    },
}

impl Trouble {
    /// Reads the reply to a call that failed; everything in `secrets` is blacked out.
    pub(super) fn status(
        status: u16,
        body: &[u8],
        retry_after: impl FnOnce(&str) -> Option<Duration>,
        secrets: &[Secret],
    ) -> Self {
        let body = redacted(String::from_utf8_lossy(body).into_owned(), secrets);
        let message = cut(&message_in(&body), 500);
        let retry_after = retry_after(&body);
        let blames_settings = blames_settings(&body);
        Self::Status { status, message, body: cut(&body, 4_000), blames_settings, retry_after }
    }

    /// Adds the keys that were not sent with the request.
    pub(super) fn without(self, withheld: &[String]) -> Self {
        Self::Withheld { refusal: Box::new(self), withheld: withheld.to_vec() }
    }

    /// A complete reply with a wrong content.
    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong { what: what.into() }
    }

    /// A complete reply of the wrong shape.
    pub(super) fn garbled(what: impl Into<String>, reply: &[u8], secrets: &[Secret]) -> Self {
        let start = reply.get(..1_000).unwrap_or(reply);
        let start = redacted(String::from_utf8_lossy(start).into_owned(), secrets);
        Self::Garbled { what: what.into(), start: cut(&start, 200) }
    }

    /// Whether the endpoint refused something in the request; `is_named` checks the lower-case body
    /// for it.
    pub(super) fn refuses(&self, is_named: impl FnOnce(&str) -> bool) -> bool {
        match self {
            Self::Status { status: 400 | 422, body, .. } => is_named(&body.to_lowercase()),
            _ => false,
        }
    }

    /// Whether the endpoint may have done, and billed, the work in vain.
    pub(crate) fn may_be_billed(&self) -> bool {
        matches!(self, Self::Cut { .. } | Self::Wrong { .. } | Self::Garbled { .. })
    }

    /// The decision that it leaves to the caller.
    pub(super) fn into_error(self, model: &str) -> ModelError {
        let model = model.to_owned();
        // For a call without its key, the endpoint's refusal decides.
        let refusal = match &self {
            Self::Withheld { refusal, .. } => refusal.as_ref(),
            own => own,
        };
        match refusal {
            Self::Unreachable { .. } => ModelError::Unreachable { model, source: self.into() },
            Self::Cut { .. } => ModelError::Busy { model, retry_after: None, source: self.into() },
            Self::Wrong { .. } | Self::Garbled { .. } => {
                ModelError::Broken { model, source: self.into() }
            }
            // One `Withheld` never contains another.
            Self::Withheld { .. } => ModelError::Denied { model, source: self.into() },
            Self::Status { status, message, body, blames_settings, retry_after } => {
                if passes(*status, message, body) {
                    let retry_after = *retry_after;
                    ModelError::Busy { model, retry_after, source: self.into() }
                } else if concerns_every_call(*status, body, *blames_settings) {
                    ModelError::Denied { model, source: self.into() }
                } else {
                    ModelError::Refused { model, source: self.into() }
                }
            }
        }
    }
}

/// Whether any other request would be refused too: by key, model, account or address. 403 also
/// comes from content filters, and 400 may mean a bad key or an unknown model; the body shows
/// which.
fn concerns_every_call(status: u16, body: &str, blames_settings: bool) -> bool {
    match status {
        403 => {
            let body = body.to_lowercase();
            let filters = ["moderation", "flagged", "content_filter", "content policy"];
            !filters.iter().any(|word| body.contains(word))
        }
        401 | 402 | 404 | 405 | 407 | 410 | 429 | 501 => true,
        400 | 422 => blames_settings,
        _ => status < 400,
    }
}

/// Whether an error's code blames the key, the model or the account, or the beginning of its
/// message does. The rest may repeat the request, and the words of a document must not end a run.
fn blames_settings(body: &str) -> bool {
    const CODES: [&str; 4] =
        ["model_not_found", "invalid_model", "invalid_api_key", "insufficient_quota"];
    const PHRASES: [&str; 4] =
        ["api key not valid", "invalid api key", "unknown model", "invalid model"];
    const BEGINNING: usize = 200;
    let Some(error) = error_in(body) else { return false };
    let names = |path: &&str, words: &[&str]| {
        let text = error.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let text = text.chars().take(BEGINNING).collect::<String>().to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    ["/error/code", "/error/type", "/code"].iter().any(|path| names(path, &CODES))
        || ["/error/message", "/message", "/error"].iter().any(|path| names(path, &PHRASES))
}

/// The settings and variables whose keys a refused call was sent without, because they were given
/// for another address. Takes one error of a chain.
pub fn withheld_keys<'a>(error: &'a (dyn std::error::Error + 'static)) -> &'a [String] {
    match error.downcast_ref() {
        Some(Trouble::Withheld { withheld, .. }) => withheld,
        _ => &[],
    }
}

/// Whether the same request may succeed later. An empty account also answers 429, and stays empty.
/// llama.cpp and Ollama answer 500 to a text that is too long to embed, and always will.
fn passes(status: u16, message: &str, body: &str) -> bool {
    match status {
        500 => {
            !message.contains("too large to process") && !message.contains("input length exceeds")
        }
        429 => !body.contains("insufficient_quota"),
        408 | 409 | 425 => true,
        501 => false,
        _ => 500 <= status,
    }
}

/// The message in `{"error": {"message": …}}`, `{"error": …}`, `{"message": …}`, `{"detail": …}`,
/// or else the whole body.
fn message_in(body: &str) -> String {
    let Some(json) = error_in(body) else {
        return body.to_owned();
    };
    for path in ["/error/message", "/error", "/message", "/detail"] {
        match json.pointer(path) {
            Some(Value::String(message)) => return message.clone(),
            Some(Value::Null) | None => {}
            Some(other) => return other.to_string(),
        }
    }
    body.to_owned()
}

/// The JSON of an error; Gemini wraps it in a list.
fn error_in(body: &str) -> Option<Value> {
    match serde_json::from_str(body).ok()? {
        Value::Array(errors) => errors.into_iter().next(),
        error => Some(error),
    }
}

/// One line of at most `most` characters.
fn cut(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn redacted(text: String, secrets: &[Secret]) -> String {
    secrets.iter().fold(text, |text, secret| secret.redact(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(status: u16, body: &str) -> String {
        let secrets = [Secret::new("sk-verysecret")];
        let trouble = Trouble::status(status, body.as_bytes(), |_| None, &secrets);
        let error = trouble.into_error("gpt");
        let kind = match &error {
            ModelError::Busy { .. } => "busy",
            ModelError::Refused { .. } => "refused",
            ModelError::Denied { .. } => "denied",
            _ => "other",
        };
        assert!(!format!("{error:?}").contains("verysecret"));
        format!("{kind}: {}", std::error::Error::source(&error).unwrap())
    }

    #[test]
    fn reports_the_servers_message() {
        let lines = [
            check(401, r#"{"error": {"message": "bad key sk-verysecret", "code": 1}}"#),
            check(403, r#"{"error": {"message": "not your model"}}"#),
            check(403, r#"{"error": {"message": "your input was flagged"}}"#),
            check(400, r#"{"error": {"message": "no such model", "code": "model_not_found"}}"#),
            check(400, r#"{"error": {"message": "the prompt triggered the content filter"}}"#),
            check(413, ""),
            check(404, r#"{"error": "model not found"}"#),
            check(422, r#"{"detail": [{"loc": ["body"]}]}"#),
            check(400, r#"{"message": "no"}"#),
            check(429, r#"{"error": {"message": "slow down"}}"#),
            check(429, r#"{"error": {"message": "pay", "code": "insufficient_quota"}}"#),
            check(
                500,
                r#"{"error": {"code": 500, "message": "input (613 tokens) is too large to process. increase the physical batch size (current batch size: 512)", "type": "server_error"}}"#,
            ),
            check(500, r#"{"error": "the input length exceeds the context length"}"#),
            check(500, r#"{"error": {"code": 500, "message": "oops", "type": "server_error"}}"#),
            check(503, "<html>\n<b>down</b></html>"),
            check(501, ""),
            check(302, ""),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        denied: HTTP 401: bad key ***
        denied: HTTP 403: not your model
        refused: HTTP 403: your input was flagged
        denied: HTTP 400: no such model
        refused: HTTP 400: the prompt triggered the content filter
        refused: HTTP 413: 
        denied: HTTP 404: model not found
        refused: HTTP 422: [{"loc":["body"]}]
        refused: HTTP 400: no
        busy: HTTP 429: slow down
        denied: HTTP 429: pay
        refused: HTTP 500: input (613 tokens) is too large to process. increase the physical batch size (current batch size: 512)
        refused: HTTP 500: the input length exceeds the context length
        busy: HTTP 500: oops
        busy: HTTP 503: <html> <b>down</b></html>
        denied: HTTP 501: 
        denied: HTTP 302:
        "#);
    }

    /// The words of a request that a server repeats are not its own.
    #[test]
    fn words_of_a_document_do_not_end_a_run() {
        let document = "Status 400 with `model_not_found`, insufficient_quota: invalid API key, unknown model.";
        let far = format!("{} {document}", "The input is not valid. ".repeat(10));
        for body in [
            json!({"detail": [{"loc": ["body", "input"], "input": document}]}),
            json!({"detail": document}),
            json!({"error": {"message": far, "input": document}}),
            json!({"message": "too long", "input": document}),
            json!(document),
        ] {
            assert!(check(400, &body.to_string()).starts_with("refused: "), "{body}");
            assert!(check(422, &body.to_string()).starts_with("refused: "), "{body}");
        }
        assert!(check(400, document).starts_with("refused: "));
        for body in [
            json!({"error": {"message": "no", "code": "model_not_found", "input": far.repeat(90)}}),
            json!({"error": {"message": "no", "type": "insufficient_quota"}}),
            json!({"error": {"message": "Invalid API key"}}),
            json!({"error": "unknown model `gpt`"}),
            json!({"message": "Unknown model"}),
            json!({"code": "invalid_model"}),
            json!([{"error": {"code": 400, "message": "API key not valid. Please pass a valid one."}}]),
        ] {
            assert!(check(400, &body.to_string()).starts_with("denied: "), "{body}");
        }
    }

    #[test]
    fn cuts_long_messages() {
        assert_eq!(
            check(400, &"长".repeat(501)).chars().count(),
            "refused: HTTP 400: ".len() + 501
        );
    }
}
