//! Builds the response in each of its states.

use axum::http::StatusCode;
use pikerag_engine::knowledge::Spent;
use serde_json::{Map, Value, json};

use super::content::{Reply, reasoning};
use super::request::CreateResponse;
use crate::compat::errors::Shape;
use crate::problem::Problem;

/// The fields that all states of one response repeat.
pub(super) struct Head {
    fields: Map<String, Value>,
}

impl Head {
    /// `created` counts the seconds since 1970.
    pub(super) fn new(body: &CreateResponse, created: u64) -> Self {
        let mut text = body.text.clone().unwrap_or_default();
        if text.get("format").is_none_or(Value::is_null) {
            text.insert("format".to_owned(), json!({"type": "text"}));
        }
        let tool_choice = match &body.tool_choice {
            Value::Null => json!("auto"),
            choice => choice.clone(),
        };
        let no_reasoning = || json!({"effort": null, "summary": null});
        let fields = [
            ("object", json!("response")),
            ("created_at", json!(created)),
            ("model", json!(body.model)),
            ("background", json!(false)),
            ("store", json!(false)),
            ("instructions", json!(body.instructions)),
            ("previous_response_id", json!(body.previous_response_id)),
            ("max_output_tokens", json!(body.max_output_tokens)),
            ("max_tool_calls", json!(body.max_tool_calls)),
            ("metadata", json!(body.metadata.clone().unwrap_or_default())),
            ("parallel_tool_calls", json!(body.parallel_tool_calls.unwrap_or(true))),
            ("prompt_cache_key", json!(body.prompt_cache_key)),
            ("prompt_cache_options", body.prompt_cache_options.clone()),
            ("prompt_cache_retention", body.prompt_cache_retention.clone()),
            ("reasoning", body.reasoning.clone().map_or_else(no_reasoning, Value::Object)),
            ("safety_identifier", json!(body.safety_identifier)),
            ("service_tier", json!(body.service_tier.as_ref().map(|_| "default"))),
            ("temperature", json!(body.temperature)),
            ("text", Value::Object(text)),
            ("tool_choice", tool_choice),
            ("tools", json!(body.tools.clone().unwrap_or_default())),
            ("top_logprobs", json!(0)),
            ("top_p", json!(body.top_p)),
            ("truncation", json!(body.truncation.as_deref().unwrap_or("disabled"))),
            ("user", json!(body.user)),
        ];
        Self { fields: named(fields) }
    }

    /// The response while its run goes on.
    pub(super) fn underway(&self, run: &str) -> Value {
        self.response(run, "in_progress", Vec::new(), [])
    }

    /// The response with its answer; `ended` counts the seconds since 1970.
    pub(super) fn ended(&self, run: &str, steps: &str, reply: &Reply, ended: u64) -> Value {
        let mut output = reasoning(run, steps);
        output.push(reply.item(run));
        let reason = reply.is_cut.then(|| json!({"reason": "max_output_tokens"}));
        let completed = (!reply.is_cut).then_some(ended);
        self.response(
            run,
            reply.status(),
            output,
            [
                ("completed_at", json!(completed)),
                ("incomplete_details", json!(reason)),
                ("usage", usage(&reply.spent)),
            ],
        )
    }

    /// The response of a run that failed.
    pub(super) fn failed(&self, run: &str, steps: &str, problem: &Problem) -> Value {
        self.response(run, "failed", reasoning(run, steps), [("error", failure(problem))])
    }

    fn response<const N: usize>(
        &self,
        run: &str,
        status: &str,
        output: Vec<Value>,
        more: [(&str, Value); N],
    ) -> Value {
        let mut response = named([("id", json!(format!("resp_{run}")))]);
        response.extend(self.fields.clone());
        response.extend(named([
            ("status", json!(status)),
            ("completed_at", Value::Null),
            ("error", Value::Null),
            ("incomplete_details", Value::Null),
            ("output", Value::Array(output)),
            ("usage", Value::Null),
        ]));
        response.extend(named(more));
        Value::Object(response)
    }
}

fn named<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn usage(spent: &Spent) -> Value {
    let usage = spent.usage();
    json!({
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": spent.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    })
}

/// The error of a response that fails after it has begun. OpenAI has a closed list of codes for it,
/// so the message names ours.
fn failure(problem: &Problem) -> Value {
    let status = problem.status();
    let code = match status {
        StatusCode::PAYMENT_REQUIRED | StatusCode::TOO_MANY_REQUESTS => "rate_limit_exceeded",
        _ if status.is_client_error() => "invalid_prompt",
        _ => "server_error",
    };
    let error = Shape::OpenAi.error(problem);
    let message = error.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
    json!({"code": code, "message": format!("{message} ({})", problem.code())})
}

#[cfg(test)]
mod tests {
    use pikerag_engine::knowledge::{Check, ChunkId, Citation, Role, Span, Usage};

    use super::*;
    use crate::compat::responses_api::content::Content;
    use crate::problem::Fault;

    const TEXT: &str = "四十 tons [1]\n\nThe passage states it.";

    fn head() -> Head {
        let body = json!({"model": "pikerag/kar3", "input": "q", "metadata": {"from": "test"}});
        Head::new(&CreateResponse::read(body).unwrap(), 1_700_000_000)
    }

    /// An answer of at most this many tokens, with a citation.
    fn reply(at_most: Option<u64>) -> Reply {
        let quote = "The crane lifts forty tons.";
        let citation = Citation {
            number: 1,
            chunk: ChunkId(1),
            uri: "crane.md".to_owned(),
            title: "Crane".to_owned(),
            page: None,
            span: Span { start: 0, end: quote.len() },
            boxes: Vec::new(),
            quote: quote.to_owned(),
            columns: Vec::new(),
            best: None,
            check: Check::Verified,
            replaced_by: None,
            corrected: false,
        };
        let mut spent = Spent::default();
        spent.add(Role::Answer, Usage { prompt_tokens: 40, completion_tokens: 2 });
        spent.cached_tokens = 30;
        let whole = (TEXT.to_owned(), vec![(citation, 8, 11)]);
        Reply::cut(whole, at_most, spent, |citation| format!("http://pikerag/{}", citation.title))
    }

    #[test]
    fn a_whole_reply_has_all_fields() {
        let whole = head().ended("abc", "It searches.\n", &reply(None), 1_700_000_009);
        let output = json!([
                {"id": "rs_abc", "type": "reasoning", "status": "completed",
                    "summary": [{"type": "summary_text", "text": "It searches.\n"}]},
                {"id": "msg_abc", "type": "message", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": TEXT, "logprobs": [], "annotations": [
                        {"type": "url_citation", "url": "http://pikerag/Crane", "title": "Crane",
                            "start_index": 8, "end_index": 11},
                    ]}]},
        ]);
        let wanted = json!({
            "id": "resp_abc", "object": "response", "created_at": 1_700_000_000,
            "model": "pikerag/kar3", "background": false, "store": false, "instructions": null,
            "previous_response_id": null, "max_output_tokens": null, "max_tool_calls": null,
            "metadata": {"from": "test"}, "parallel_tool_calls": true, "prompt_cache_key": null,
            "prompt_cache_options": null, "prompt_cache_retention": null,
            "reasoning": {"effort": null, "summary": null}, "safety_identifier": null,
            "service_tier": null, "temperature": null, "text": {"format": {"type": "text"}},
            "tool_choice": "auto", "tools": [], "top_logprobs": 0, "top_p": null,
            "truncation": "disabled", "user": null,
            "status": "completed", "completed_at": 1_700_000_009, "error": null,
            "incomplete_details": null,
            "output": output,
            "usage": {
                "input_tokens": 40,
                "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 0},
                "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 42,
            },
        });
        assert_eq!(whole, wanted);
        let mark: String = TEXT.chars().skip(8).take(3).collect();
        assert_eq!(mark, "[1]");
    }

    #[test]
    fn an_answer_that_is_too_long_is_cut_and_incomplete() {
        let cut = reply(Some(4));
        let text = Content::Text { text: "四十 tons".to_owned(), annotations: Vec::new() };
        assert_eq!(cut.content, text);
        let whole = head().ended("abc", "", &cut, 7);
        assert_eq!(whole["status"], "incomplete");
        assert_eq!(whole["incomplete_details"]["reason"], "max_output_tokens");
        assert_eq!(
            (&whole["completed_at"], &whole["output"][0]["status"]),
            (&Value::Null, &json!("incomplete"))
        );
        assert_eq!(reply(Some(1000)).content, reply(None).content);
        assert_eq!(reply(Some(1000)).status(), "completed");
    }

    #[test]
    fn a_failed_response_has_an_error_and_its_steps() {
        let problem = Problem::new(502, "model-failed", Fault::Model).saying("m is busy");
        let failed = head().failed("abc", "It searches.\n", &problem);
        assert_eq!((&failed["status"], &failed["usage"]), (&json!("failed"), &Value::Null));
        let error = json!({"code": "server_error", "message": "m is busy (model-failed)"});
        assert_eq!(failed["error"], error);
        assert_eq!(failed["output"][0]["summary"][0]["text"], "It searches.\n");
        assert_eq!(head().underway("abc")["status"], "in_progress");
    }
}
