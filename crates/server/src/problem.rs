//! Turns errors into problems (RFC 9457): a code that is stable across versions, the party at
//! fault, and what to do next.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pikerag_engine::EngineError;
use pikerag_engine::keys::KeysError;
use pikerag_engine::knowledge::{ModelError, error_chain};
use pikerag_engine::narrate::{InWords, Language};
use pikerag_engine::parts::SolveError;
use serde::Serialize;
use tracing::error;
use utoipa::ToSchema;

use self::hint::hint;
use crate::pace::{SlowBody, is_slow};

/// `false` forbids clients of OpenAI to repeat a request, which they do after 409 and server errors.
pub(crate) const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// The party that must act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fault {
    /// The caller: the request is wrong.
    Caller,
    /// A model, or the connection to it.
    Model,
    /// The operator of the server.
    Server,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "ProblemAsJson")]
pub(crate) struct Problem {
    status: u16,
    detail: Box<str>,
    detail_zh: Option<Box<str>>,
    code: Box<str>,
    fault: Fault,
    hint: Option<Box<str>>,
    id: Option<Box<str>>,
    seq: Option<u32>,
    param: Option<Box<str>>,
}

/// A problem as JSON (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem, description = "Why a request failed.")]
struct ProblemAsJson {
    /// The kind of problem, as an address.
    #[serde(rename = "type")]
    kind: String,
    /// The status of the response.
    status: u16,
    /// The kind in words.
    title: String,
    /// The cause in this case.
    #[serde(skip_serializing_if = "str::is_empty")]
    #[schema(value_type = String)]
    detail: Box<str>,
    /// The same in Chinese, if a translation exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    detail_zh: Option<Box<str>>,
    /// A short name of the kind, stable across versions.
    #[schema(value_type = String)]
    code: Box<str>,
    /// The party that must act.
    fault: Fault,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    hint: Option<Box<str>>,
    /// Only if the caller is not at fault: the server's log explains the problem under this
    /// identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    id: Option<Box<str>>,
    /// Only with `run-diverged`: the number of the first event that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u32>,
    /// The field of the request that must change, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    param: Option<Box<str>>,
}

impl From<Problem> for ProblemAsJson {
    fn from(problem: Problem) -> Self {
        let Problem { status, detail, detail_zh, code, fault, hint, id, seq, param } = problem;
        let (kind, title) = (format!("urn:pikerag:problem:{code}"), code.replace('-', " "));
        Self { kind, status, title, detail, detail_zh, code, fault, hint, id, seq, param }
    }
}

impl utoipa::PartialSchema for Problem {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        ProblemAsJson::schema()
    }
}

impl ToSchema for Problem {
    fn name() -> Cow<'static, str> {
        ProblemAsJson::name()
    }

    fn schemas(schemas: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
        ProblemAsJson::schemas(schemas);
    }
}

impl Problem {
    pub(crate) fn new(status: u16, code: &str, fault: Fault) -> Self {
        Self {
            status,
            detail: "".into(),
            detail_zh: None,
            code: code.into(),
            fault,
            hint: None,
            id: None,
            seq: None,
            param: None,
        }
    }

    pub(crate) fn saying(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into().into();
        self
    }

    /// The same in Chinese.
    pub(crate) fn in_chinese(mut self, detail: impl Into<String>) -> Self {
        self.detail_zh = Some(detail.into().into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into());
        self
    }

    /// The field of the request that must change.
    pub(crate) fn about(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into().into());
        self
    }

    /// Logs the cause for the server's operator, and adds the log entry's identifier to the
    /// response.
    pub(crate) fn logged(mut self, what: &str) -> Self {
        let id = format!("{:08x}", RandomState::new().hash_one(&self.code) >> 32);
        error!(id, code = %self.code, error = what, "a request failed");
        self.detail = format!("{}; see {id} in the server's log", self.detail()).into();
        self.id = Some(id.into());
        self
    }

    /// The body arrives too slowly.
    pub(crate) fn slow() -> Self {
        Self::new(408, "too-slow", Fault::Caller).saying(SlowBody.to_string())
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

    /// The cause in a sentence.
    pub(crate) fn detail(&self) -> String {
        if self.detail.is_empty() { self.code.replace('-', " ") } else { self.detail.to_string() }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        Self::worded(&error, Language::English)
    }
}

impl Problem {
    /// The problem in the language of the caller.
    pub(crate) fn worded(error: &EngineError, language: Language) -> Self {
        let code = error.code();
        let (status, fault) = judged(code, error);
        let mut problem = Self::new(status, code, fault);
        problem = match fault {
            Fault::Caller => problem.saying(error.in_words(language)),
            _ if OWN_WORDS.contains(&code) => problem.saying(error.in_words(language)),
            _ => problem.saying(outside(code, error, language)).logged(&error_chain(error)),
        };
        if fault == Fault::Caller || OWN_WORDS.contains(&code) {
            problem.detail_zh = Some(error.in_words(Language::Chinese).into());
        }
        if let EngineError::Solve(SolveError::Diverged { seq }) = error {
            problem.seq = Some(*seq);
        }
        match hint(code) {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

/// Codes of server errors that have texts of their own, which name no path.
const OWN_WORDS: [&str; 6] = [
    "no-model",
    "no-log-probabilities",
    "not-built",
    "no-judge",
    "no-labelled-questions",
    "cancelled",
];

/// The public text of an error that is not the caller's fault: it names no file of this machine and
/// no model's address.
fn outside(code: &str, error: &EngineError, language: Language) -> String {
    let chinese = language == Language::Chinese;
    if let Some(model) = of_model(error) {
        return match chinese {
            true => format!("模型调用失败（{}）", model.kind()),
            false => model.to_string(),
        };
    }
    let (english, in_chinese) = match code {
        "no-base" => ("there is no knowledge base yet", "还没有知识库"),
        "base-busy" => ("another process holds the base", "另一进程正占用知识库"),
        "base-read-only" => ("the base cannot be written", "知识库不可写"),
        "database-unreachable" => {
            ("the database of the base cannot be reached", "无法连接知识库所在的数据库")
        }
        "disk-full" => ("the disk of the database is full", "数据库的磁盘已满"),
        _ => ("the server failed to do this", "服务器未能完成"),
    };
    if chinese { in_chinese } else { english }.to_owned()
}

/// Removes addresses and absolute paths from a text.
pub(crate) fn without_places(text: &str) -> String {
    let is_place = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"/[]".contains(c));
        word.contains("://")
            || bare.starts_with('/')
            || bare.parse::<SocketAddr>().is_ok()
            || bare.parse::<IpAddr>().is_ok()
    };
    let shown = |word| if is_place(word) { "…" } else { word };
    text.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

/// The status of an error, and the party at fault.
fn judged(code: &str, error: &EngineError) -> (u16, Fault) {
    match code {
        "no-base" => (404, Fault::Server),
        // An unknown method or search is a wrong request; other errors may disappear later.
        "no-such-method" | "no-such-search" | "bad-questions" | "bad-sql" | "sql-not-allowed"
        | "bad-plan" => (400, Fault::Caller),
        "no-original" | "run-forgotten" => (404, Fault::Caller),
        "file-not-read" | "unreadable-file" | "sql-too-slow" => (422, Fault::Caller),
        code if code.starts_with("no-such-") => (404, Fault::Caller),
        "only-part" => (403, Fault::Caller),
        "over-budget" => (402, Fault::Caller),
        "key-ended" => (401, Fault::Caller),
        "misfit" | "nothing-admitted" | "run-not-answered" | "unclear-run" | "unclear-file"
        | "run-diverged" | "prompt-missing" | "no-embedder" | "no-reranker"
        | "tag-class-exists" | "no-tag-classes" | "base-exists" | "file-exists"
        | "bad-parameter" => (409, Fault::Caller),
        "no-model"
        | "no-log-probabilities"
        | "not-built"
        | "no-judge"
        | "no-labelled-questions" => (409, Fault::Server),
        "base-busy"
        | "base-still-read"
        | "base-read-only"
        | "database-unreachable"
        | "cancelled" => (503, Fault::Server),
        "disk-full" => (507, Fault::Server),
        "model-failed" | "retrieval-failed" if of_model(error).is_some() => (502, Fault::Model),
        _ if error.is_misuse() => (400, Fault::Caller),
        _ => (500, Fault::Server),
    }
}

fn of_model(error: &EngineError) -> Option<&ModelError> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(model) = error.downcast_ref() {
            return Some(model);
        }
        cause = error.source();
    }
    None
}

impl From<KeysError> for Problem {
    fn from(error: KeysError) -> Self {
        Self::new(500, "keys-failed", Fault::Server)
            .saying("the store of keys cannot be read or written")
            .logged(&error_chain(&error))
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        if is_slow(&rejection) {
            return Self::slow();
        }
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
        let again = match (self.status, &*self.code) {
            // Its work may have been paid, so no client repeats it by itself.
            (_, "cancelled") => {
                response.headers_mut().insert(SHOULD_RETRY, HeaderValue::from_static("false"));
                None
            }
            (429, "too-many-runs") => Some("10"),
            (429, _) => Some("60"),
            (503, _) => Some("5"),
            _ => None,
        };
        if let Some(again) = again {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(again));
        }
        response
    }
}

/// A JSON body, a query and a path, whose errors become problems.
pub(crate) use extract::{Body as JsonBody, LooseJson, Parts, Query};

mod extract;
mod hint;

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::{Value, json};

    use super::*;

    /// Each response with 503 has a problem as its body, and the time of the next attempt.
    #[tokio::test]
    async fn unavailable_responses_have_a_body_and_the_time_to_retry() {
        let busy = Problem::new(503, "too-busy", Fault::Server).saying("too many requests");
        for problem in [busy, Problem::new(503, "base-busy", Fault::Server).saying("it is held")] {
            let code = problem.code().to_owned();
            let response = problem.into_response();
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{code}");
            assert_eq!(response.headers()[header::RETRY_AFTER], "5", "{code}");
            assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
            let body = to_bytes(response.into_body(), 10_000).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((body["code"].as_str(), body["status"].as_u64()), (Some(&*code), Some(503)));
            assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{body}");
        }
    }

    #[test]
    fn a_cancelled_request_is_not_repeated_by_itself() {
        for error in [EngineError::Cancelled, EngineError::Solve(SolveError::Cancelled)] {
            let problem = Problem::from(error);
            assert_eq!(problem.code(), "cancelled");
            assert!(json!(problem)["hint"].is_string() && json!(problem)["detail_zh"].is_string());
            let response = problem.into_response();
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(response.headers().get(header::RETRY_AFTER), None);
            assert_eq!(response.headers()[SHOULD_RETRY], "false");
        }
    }

    #[test]
    fn addresses_and_absolute_paths_are_left_out() {
        let text = without_places(
            "m is out of reach: http://10.0.0.7:8000/v1: (10.0.0.7:8000) at /srv/law/base.sqlite, not 7/8 of it",
        );
        assert_eq!(text, "m is out of reach: … … at … not 7/8 of it");
    }
}
