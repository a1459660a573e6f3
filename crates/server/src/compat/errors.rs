//! Shows problems in the format of the protocol that a path belongs to.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use pikerag_engine::narrate::Language;
use serde_json::{Value, json};

use crate::problem::{Problem, SHOULD_RETRY};

/// The limit of bytes of a problem.
const MOST: usize = 1 << 20;
/// Ollama's routes below `/api/`; the others there are our own.
const OF_OLLAMA: [&str; 14] = [
    "version",
    "tags",
    "ps",
    "chat",
    "generate",
    "show",
    "embed",
    "embeddings",
    "pull",
    "push",
    "create",
    "copy",
    "delete",
    "blobs",
];

/// The format of errors in a protocol of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{"error": {"message", "type", "code", "param"}}`; rerankers use it too.
    OpenAi,
    /// `{"error": "…"}`.
    Ollama,
    /// `{"error_code": 1001, "error_msg": "…"}`.
    Dify,
}

/// Rewrites the errors of all routes of other protocols. Status and headers stay, such as
/// `Retry-After` and `WWW-Authenticate`.
pub(crate) async fn reshaped(request: Request, next: Next) -> Response {
    let shape = Shape::of(request.uri().path());
    let response = next.run(request).await;
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    match shape {
        Some(shape) if is_error => shape.rewritten(response).await,
        _ => response,
    }
}

impl Shape {
    /// The format for a path; `None` for our own routes.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        let is_below = |root: &str| {
            path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if is_below("/v1") || is_below("/v2") || path == "/rerank" {
            return Some(Self::OpenAi);
        }
        if path == "/retrieval" {
            return Some(Self::Dify);
        }
        let name = path.strip_prefix("/api/").and_then(|rest| rest.split('/').next());
        name.is_some_and(|name| OF_OLLAMA.contains(&name)).then_some(Self::Ollama)
    }

    /// A problem in this format, for a stream that has begun.
    pub(crate) fn error(self, problem: &Problem) -> Value {
        self.body(problem.status(), &json!(problem))
    }

    async fn rewritten(self, response: Response) -> Response {
        let (mut head, body) = response.into_parts();
        let bytes = to_bytes(body, MOST).await.unwrap_or_default();
        // A response that is no problem, such as the router's 405, is worded by its status.
        let problem: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        head.headers.remove(header::CONTENT_LENGTH);
        let json = HeaderValue::from_static("application/json");
        head.headers.insert(header::CONTENT_TYPE, json);
        if self == Self::OpenAi && head.status == StatusCode::CONFLICT {
            head.headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        let body = self.body(head.status, &problem).to_string();
        Response::from_parts(head, Body::from(body))
    }

    fn body(self, status: StatusCode, problem: &Value) -> Value {
        let text = |name: &str| problem.get(name).and_then(Value::as_str);
        let (code, message) = (text("code"), message(status, problem));
        match self {
            Self::OpenAi => json!({"error": {
                "message": message, "type": openai_type(status), "code": code.map(openai_code),
                "param": text("param"),
            }}),
            Self::Ollama => json!({ "error": message }),
            Self::Dify => json!({"error_code": dify_code(code), "error_msg": message}),
        }
    }
}

/// The cause and the next step. Next steps are English, so a cause in Chinese stays alone.
fn message(status: StatusCode, problem: &Value) -> String {
    let text = |name: &str| problem.get(name).and_then(Value::as_str);
    let by_status = status.canonical_reason().unwrap_or("failed").to_lowercase();
    let cause = text("detail").or_else(|| text("title")).unwrap_or(&by_status);
    match text("hint") {
        Some(hint) if Language::of(cause) == Language::English => format!("{cause}; {hint}"),
        _ => cause.to_owned(),
    }
}

fn openai_type(status: StatusCode) -> &'static str {
    match status {
        StatusCode::PAYMENT_REQUIRED => "insufficient_quota",
        StatusCode::TOO_MANY_REQUESTS => "requests",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    }
}

/// OpenAI's code for a problem if clients act on one, else our own.
fn openai_code(code: &str) -> &str {
    match code {
        "no-key" | "wrong-key" | "key-expired" | "key-ended" => "invalid_api_key",
        "too-often" | "too-many-runs" | "too-many-wrong-keys" => "rate_limit_exceeded",
        "over-budget" => "insufficient_quota",
        "no-such-model" | "no-such-base" | "no-such-method" => "model_not_found",
        "question-too-long" => "context_length_exceeded",
        "schema-not-filled" => "schema_not_filled",
        "unknown-field" => "unknown_parameter",
        "unsupported-value" => "unsupported_value",
        own => own,
    }
}

/// Dify's own codes: no header with a key, a key that is not valid, a missing base, anything else.
fn dify_code(code: Option<&str>) -> u32 {
    match code {
        Some("no-key") => 1001,
        Some("wrong-key" | "key-expired" | "key-ended") => 1002,
        Some("no-such-base") => 2001,
        _ => 1000,
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::post;
    use tower::ServiceExt;

    use super::*;
    use crate::problem::Fault;

    /// Status, headers and body of a request to a router whose routes fail with this problem.
    async fn reply(method: &str, path: &str, problem: Problem) -> (StatusCode, String, Value) {
        let own = move || async move { problem };
        let router = Router::new()
            .route("/v1/embeddings", post(own.clone()))
            .fallback(own)
            .layer(from_fn(reshaped));
        let request =
            axum::http::Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), format!("{:?}", response.headers()));
        let bytes = to_bytes(response.into_body(), MOST).await.unwrap();
        (status, headers, serde_json::from_slice(&bytes).unwrap())
    }

    fn wrong_key() -> Problem {
        Problem::new(401, "wrong-key", Fault::Caller).saying("this key is not valid here").hint("x")
    }

    #[tokio::test]
    async fn each_protocol_gets_its_own_format_with_status_and_headers() {
        let (status, headers, body) = reply("POST", "/v1/embeddings", wrong_key()).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        assert!(headers.contains("www-authenticate"), "{headers}");
        assert!(headers.contains("\"application/json\""), "{headers}");
        let error = json!({
            "message": "this key is not valid here; x", "type": "invalid_request_error",
            "code": "invalid_api_key", "param": null,
        });
        assert_eq!(body, json!({ "error": error }));
        let (_, _, body) = reply("POST", "/api/chat", wrong_key()).await;
        assert_eq!(body, json!({"error": "this key is not valid here; x"}));
        let (_, _, body) = reply("POST", "/retrieval", wrong_key()).await;
        assert_eq!(body["error_code"], 1002);
        for own in ["/api/v1/bases", "/api/models", "/v10/x", "/"] {
            let (_, headers, body) = reply("GET", own, wrong_key()).await;
            assert_eq!(body["code"], "wrong-key", "{own}");
            assert!(headers.contains("application/problem+json"), "{own}: {headers}");
        }
    }

    #[tokio::test]
    async fn codes_of_openai_follow_the_problem() {
        let busy = Problem::new(429, "too-many-runs", Fault::Caller);
        let (_, headers, body) = reply("POST", "/v1/embeddings", busy).await;
        assert!(headers.contains("retry-after"), "{headers}");
        let error = &body["error"];
        assert_eq!(
            (&error["type"], &error["code"]),
            (&"requests".into(), &"rate_limit_exceeded".into())
        );
        assert_eq!(error["message"], "too many runs");
        let refused = Problem::new(400, "unsupported-value", Fault::Caller).about("n");
        let (_, _, body) = reply("POST", "/rerank", refused).await;
        assert_eq!(
            (&body["error"]["code"], &body["error"]["param"]),
            (&"unsupported_value".into(), &"n".into())
        );
        let taken = Problem::new(409, "no-embedder", Fault::Caller);
        let (_, headers, body) = reply("POST", "/v1/embeddings", taken).await;
        assert!(headers.contains("x-should-retry"), "{headers}");
        assert_eq!(body["error"]["code"], "no-embedder");
    }

    #[tokio::test]
    async fn a_response_without_a_problem_is_worded_by_its_status() {
        let (status, headers, body) = reply("GET", "/v1/embeddings", wrong_key()).await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
        assert!(headers.contains("allow"), "{headers}");
        assert_eq!(body["error"]["message"], "method not allowed");
        assert_eq!(body["error"]["code"], Value::Null);
    }

    #[test]
    fn an_english_hint_does_not_follow_a_chinese_cause() {
        let problem =
            Problem::new(502, "model-failed", Fault::Model).saying("模型调用失败").hint("x");
        assert_eq!(Shape::Ollama.error(&problem), json!({"error": "模型调用失败"}));
    }
}
