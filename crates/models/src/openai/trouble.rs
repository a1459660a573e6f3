//! Why did a call bring no reply, and which decision does that leave to the caller?

use std::time::Duration;

use pikerag_knowledge::ModelError;
use pikerag_knowledge::ports::Cause;
use serde_json::Value;

use crate::secret::Secret;

/// What went wrong on the wire. Becomes the `source` of a [`ModelError`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// The endpoint answered with an error.
    #[error("HTTP {status}: {message}")]
    Status {
        /// 4xx or 5xx, mostly.
        status: u16,
        /// What it says, without secrets, cut.
        message: String,
        /// Everything it says, without secrets: the name of a refused field may stand anywhere.
        body: String,
        /// Whether it blames the key, the model or the account.
        blames_settings: bool,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The endpoint refused, perhaps because it was not sent a key that was given for another address.
    #[error("{refusal}; not sent here, for it was given for another address: {}", withheld.join(", "))]
    Withheld {
        /// What the endpoint said.
        refusal: Box<Trouble>,
        /// The settings and variables that hold the keys.
        withheld: Vec<String>,
    },
    /// No connection: nothing was sent.
    #[error("{origin} cannot be reached")]
    Unreachable {
        /// Scheme, host and port; never the path, which may hold secrets.
        origin: String,
        /// What the HTTP client says.
        source: Cause,
    },
    /// The request went out, and no whole reply came back.
    #[error("no whole reply from {origin}")]
    Cut {
        /// Scheme, host and port; never the path, which may hold secrets.
        origin: String,
        /// What the HTTP client says.
        source: Cause,
    },
    /// A whole reply, and a wrong one.
    #[error("the reply {what}")]
    Wrong {
        /// How the message goes on: `has no choices`.
        what: String,
    },
    /// A whole reply, but not one of this protocol.
    #[error("the reply {what}, and begins with {start:?}")]
    Garbled {
        /// How the message goes on: `has no choices`.
        what: String,
        /// How it begins, without secrets.
        start: String,
    },
}

impl Trouble {
    /// Reads the reply to a call that failed; what stands in `secrets` is blacked out.
    pub(super) fn status(
        status: u16,
        body: &[u8],
        retry_after: impl FnOnce(&str) -> Option<Duration>,
        secrets: &[Secret],
    ) -> Self {
        let body = redacted(String::from_utf8_lossy(body).into_owned(), secrets);
        let message = cut(&said(&body), 500);
        let retry_after = retry_after(&body);
        let blames_settings = blames_settings(&body);
        Self::Status { status, message, body: cut(&body, 4_000), blames_settings, retry_after }
    }

    /// The same of a request that some keys were kept from.
    pub(super) fn without(self, withheld: &[String]) -> Self {
        Self::Withheld { refusal: Box::new(self), withheld: withheld.to_vec() }
    }

    /// A whole reply that says the wrong thing.
    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong { what: what.into() }
    }

    /// A whole reply of the wrong shape.
    pub(super) fn garbled(what: impl Into<String>, reply: &[u8], secrets: &[Secret]) -> Self {
        let start = reply.get(..1_000).unwrap_or(reply);
        let start = redacted(String::from_utf8_lossy(start).into_owned(), secrets);
        Self::Garbled { what: what.into(), start: cut(&start, 200) }
    }

    /// Whether it is a refusal of something in the request, as `said` (lower case) recognises it.
    pub(super) fn refuses(&self, said: impl FnOnce(&str) -> bool) -> bool {
        match self {
            Self::Status { status: 400 | 422, body, .. } => said(&body.to_lowercase()),
            _ => false,
        }
    }

    /// Whether the endpoint may have worked, and billed, for nothing.
    pub(crate) fn may_be_billed(&self) -> bool {
        matches!(self, Self::Cut { .. } | Self::Wrong { .. } | Self::Garbled { .. })
    }

    /// The decision that it leaves to the caller.
    pub(super) fn into_error(self, model: &str) -> ModelError {
        let model = model.to_owned();
        // What a key was missing for is decided by what the endpoint said.
        let said = match &self {
            Self::Withheld { refusal, .. } => refusal.as_ref(),
            own => own,
        };
        match said {
            Self::Unreachable { .. } => ModelError::Unreachable { model, source: self.into() },
            Self::Cut { .. } => ModelError::Busy { model, retry_after: None, source: self.into() },
            Self::Wrong { .. } | Self::Garbled { .. } => {
                ModelError::Broken { model, source: self.into() }
            }
            // None stands within another.
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

/// Whether any other request would be refused too: by key, model, account or address. 403 also comes from
/// filters, which say so; 400 may stand for a bad key or an unknown model, which is said too.
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

/// Whether an error's code blames the key, the model or the account, or its message does so at its beginning. What
/// stands elsewhere may be the request, repeated: the words of a document end no run.
fn blames_settings(body: &str) -> bool {
    const CODES: [&str; 4] =
        ["model_not_found", "invalid_model", "invalid_api_key", "insufficient_quota"];
    const PHRASES: [&str; 4] =
        ["api key not valid", "invalid api key", "unknown model", "invalid model"];
    const BEGINNING: usize = 200;
    let Some(error) = error_in(body) else { return false };
    let says = |path: &&str, words: &[&str]| {
        let said = error.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let said = said.chars().take(BEGINNING).collect::<String>().to_lowercase();
        words.iter().any(|word| said.contains(word))
    };
    ["/error/code", "/error/type", "/code"].iter().any(|path| says(path, &CODES))
        || ["/error/message", "/message", "/error"].iter().any(|path| says(path, &PHRASES))
}

/// The settings and variables whose keys a call went without, where it was refused: they were given for another
/// address. For one error of a chain.
pub fn withheld_keys<'a>(error: &'a (dyn std::error::Error + 'static)) -> &'a [String] {
    match error.downcast_ref() {
        Some(Trouble::Withheld { withheld, .. }) => withheld,
        _ => &[],
    }
}

/// Whether asking the same again can help. An empty account answers 429 too, and stays empty; llama.cpp and Ollama
/// answer 500 to a text that is longer than they can embed, and it stays so.
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
fn said(body: &str) -> String {
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
    fn says_what_the_server_said() {
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

    /// What a server repeats of a request is no word of its own.
    #[test]
    fn the_words_of_a_document_end_no_run() {
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
