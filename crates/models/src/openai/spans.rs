//! Records spans of network calls: model, tokens and outcome, never prompts or replies
//! (`OpenTelemetry`'s conventions for generative AI).

use pikerag_knowledge::telemetry::TRACED;
use pikerag_knowledge::{ChatReply, ChatRequest, FinishReason, ModelError};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::Endpoint;

/// A call of the operation `chat`, `embeddings` or `rerank`.
pub(super) fn call(endpoint: &Endpoint, operation: &'static str) -> Span {
    let provider = match endpoint.azure_api_version {
        Some(_) => "azure.ai.openai",
        None => "openai",
    };
    info_span!(
        target: TRACED,
        "model call",
        otel.name = format!("{operation} {}", endpoint.model),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = operation,
        gen_ai.provider.name = provider,
        gen_ai.request.model = endpoint.model,
        gen_ai.request.temperature = Empty,
        gen_ai.request.max_tokens = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        server.address = host(&endpoint.base_url),
        pikerag.role = Empty,
        error.type = Empty,
    )
}

/// A call of a chat model.
pub(super) fn chat(endpoint: &Endpoint, request: &ChatRequest) -> Span {
    let span = call(endpoint, "chat");
    span.record("pikerag.role", request.role.as_str());
    span.record("gen_ai.request.max_tokens", i64::from(request.max_tokens));
    if endpoint.send_temperature {
        span.record("gen_ai.request.temperature", f64::from(request.temperature));
    }
    span
}

/// Records the outcome of a chat call.
pub(super) fn replied(span: &Span, reply: &Result<ChatReply, ModelError>) {
    match reply {
        Ok(reply) => {
            span.record("gen_ai.usage.input_tokens", reply.usage.prompt_tokens.cast_signed());
            span.record("gen_ai.usage.output_tokens", reply.usage.completion_tokens.cast_signed());
            let finish = match reply.finish {
                Some(FinishReason::Stop) => "stop",
                Some(FinishReason::Length) => "length",
                Some(FinishReason::ContentFilter) => "content_filter",
                Some(FinishReason::Other) => "other",
                None => return,
            };
            span.record("gen_ai.response.finish_reasons", finish);
        }
        Err(error) => failed(span, error),
    }
}

/// Records a failed call.
pub(super) fn failed(span: &Span, error: &ModelError) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", error.kind());
}

/// The host of an address, without its secret parts.
fn host(url: &str) -> &str {
    let rest = url.split_once("//").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn hosts_are_shown_without_secrets() {
        for (url, expected) in [
            ("https://api.openai.com/v1", "api.openai.com"),
            ("http://me:secret@models.local:8080/v1", "models.local"),
            ("http://[::1]:8080/v1", "::1"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(host(url), expected);
        }
    }
}
