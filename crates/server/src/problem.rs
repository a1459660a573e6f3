//! What does a request get that was not done? A problem (RFC 9457) with a code that stays as it is from version to version,
//! whose fault it is, and what to do.

use axum::body::Body;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pikerag_engine::EngineError;
use pikerag_engine::keys::KeysError;
use pikerag_engine::knowledge::{ModelError, error_chain};
use pikerag_engine::narrate::{InWords, Language};
use pikerag_engine::parts::SolveError;
use serde::Serialize;
use tracing::error;
use utoipa::ToSchema;

/// Who has to do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fault {
    /// Whoever asks: the request is wrong.
    Caller,
    /// A model that was asked, or the way to it.
    Model,
    /// Whoever runs the server.
    Server,
}

/// Why a request was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Names the kind of problem, as an address.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: Box<str>,
    /// The status of the response.
    status: u16,
    /// The kind in words.
    #[schema(value_type = String)]
    title: Box<str>,
    /// What is the case here.
    #[serde(skip_serializing_if = "str::is_empty")]
    #[schema(value_type = String)]
    detail: Box<str>,
    /// A short name of the kind; stays as it is from version to version.
    #[schema(value_type = String)]
    code: Box<str>,
    /// Who has to do something about it.
    fault: Fault,
    /// What can be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    hint: Option<Box<str>>,
    /// With `run-diverged`: the number of the event that did not come as it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u32>,
}

impl Problem {
    pub(crate) fn new(status: u16, code: &str, fault: Fault) -> Self {
        Self {
            kind: format!("urn:pikerag:problem:{code}").into(),
            status,
            title: code.replace('-', " ").into(),
            detail: "".into(),
            code: code.into(),
            fault,
            hint: None,
            seq: None,
        }
    }

    pub(crate) fn saying(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into().into();
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into());
        self
    }

    /// The request is wrong.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(400, "bad-request", Fault::Caller).saying(detail)
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// What is the case, in a sentence.
    pub(crate) fn detail(&self) -> &str {
        if self.detail.is_empty() { &self.title } else { &self.detail }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        Self::worded(&error, Language::English)
    }
}

impl Problem {
    /// The same in the language of whoever asked.
    pub(crate) fn worded(error: &EngineError, language: Language) -> Self {
        let code = error.code();
        let (status, fault) = judged(code, error);
        if status == 500 {
            error!(code, error = error_chain(error), "a request failed");
        }
        // What went wrong inside may name files of this machine: the log has it.
        let detail = match fault {
            Fault::Server => error.to_string(),
            _ => error.in_words(language),
        };
        let mut problem = Self::new(status, code, fault).saying(detail);
        if let EngineError::Solve(SolveError::Diverged { seq }) = error {
            problem.seq = Some(*seq);
        }
        match hint(code) {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

/// The status of an error, and whose fault it is.
fn judged(code: &str, error: &EngineError) -> (u16, Fault) {
    match code {
        "no-base" => (404, Fault::Server),
        // A method or a search that there is not is a wrong request; all else may be there another day.
        "no-such-method" | "no-such-search" | "bad-questions" => (400, Fault::Caller),
        "no-original" | "run-forgotten" => (404, Fault::Caller),
        "file-not-read" | "unreadable-file" => (422, Fault::Caller),
        code if code.starts_with("no-such-") => (404, Fault::Caller),
        "only-part" => (403, Fault::Caller),
        "over-budget" => (402, Fault::Caller),
        "key-ended" => (401, Fault::Caller),
        "misfit" | "nothing-admitted" | "run-not-answered" | "unclear-run" | "run-diverged"
        | "no-embedder" | "no-reranker" | "tag-class-exists" | "no-tag-classes" | "base-exists"
        | "file-exists" | "bad-parameter" => (409, Fault::Caller),
        "no-model"
        | "no-log-probabilities"
        | "not-built"
        | "no-judge"
        | "no-labelled-questions" => (409, Fault::Server),
        "base-busy" | "base-read-only" | "cancelled" => (503, Fault::Server),
        "model-failed" | "retrieval-failed" if is_of_model(error) => (502, Fault::Model),
        _ if error.is_misuse() => (400, Fault::Caller),
        _ => (500, Fault::Server),
    }
}

fn is_of_model(error: &EngineError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<ModelError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

fn hint(code: &str) -> Option<&'static str> {
    Some(match code {
        "no-base" => "bring documents in: `pikerag index PATH…`",
        "over-budget" => {
            "the cap of this key, or of the server, is reached: ask whoever runs it to raise it"
        }
        "key-ended" => "send a key that is good: whoever runs the server makes one",
        "no-model" => {
            "set a chat model for the server, or choose a method that needs none (GET /api/v1/methods)"
        }
        "no-such-method" => "GET /api/v1/methods lists those that there are",
        "only-part" => {
            "this key shows a part of the base; what needs all of it takes a key without a filter"
        }
        "nothing-admitted" => "loosen the filter",
        "model-failed" => "see that the model's endpoint runs: `pikerag doctor`",
        "base-busy" => "try again in a moment",
        "no-such-run" => "GET …/runs lists those that are kept",
        _ => return None,
    })
}

impl From<KeysError> for Problem {
    fn from(error: KeysError) -> Self {
        error!(error = error_chain(&error), "keys cannot be read or kept");
        Self::new(500, "keys-failed", Fault::Server).saying("the keys cannot be read or kept")
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        let status = rejection.status().as_u16();
        let code = match status {
            413 => "too-large",
            415 => "no-json",
            _ => "bad-request",
        };
        Self::new(if status == 422 { 400 } else { status }, code, Fault::Caller)
            .saying(rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad_request(rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::bad_request(rejection.body_text())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if self.status == 401 {
            let how = HeaderValue::from_static("Bearer realm=\"pikerag\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, how);
        }
        if self.status == 429 {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        }
        response
    }
}

/// A JSON body, a query, a path; what cannot be read of them is a problem.
pub(crate) use extract::{Body as JsonBody, Parts, Query};

mod extract {
    use axum::Json;
    use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
    use axum::extract::{FromRequest, FromRequestParts, Path, Query as AxumQuery};

    use super::Problem;

    #[derive(FromRequest)]
    #[from_request(via(Json), rejection(Problem))]
    pub(crate) struct Body<T>(pub(crate) T);

    #[derive(FromRequestParts)]
    #[from_request(via(AxumQuery), rejection(Problem))]
    pub(crate) struct Query<T>(pub(crate) T);

    #[derive(FromRequestParts)]
    #[from_request(via(Path), rejection(Problem))]
    pub(crate) struct Parts<T>(pub(crate) T);

    const _: fn(JsonRejection) -> Problem = Problem::from;
    const _: fn(QueryRejection) -> Problem = Problem::from;
    const _: fn(PathRejection) -> Problem = Problem::from;
}
