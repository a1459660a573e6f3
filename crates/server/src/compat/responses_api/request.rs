//! Reads the body of a request for a response. Each parameter is honoured, documented as without
//! effect, or refused by name.

use std::collections::BTreeMap;

use pikerag_engine::AskRequest;
use pikerag_engine::knowledge::{Filter, Level, TaskClass};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::compat::contract::{fewest_tokens, unknown, unsupported};
use crate::compat::structured::Wanted;
use crate::problem::Problem;

/// The value of `include` that requests log-probabilities.
const LOG_PROBABILITIES: &str = "message.output_text.logprobs";

/// The request that an agent or a chat program sends. Other fields are refused by name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateResponse {
    /// `pikerag` or `pikerag/METHOD`, followed by `@BASE` for another base.
    pub(super) model: String,
    /// The question as text, or a list of messages and items; the last message is the question.
    #[serde(default)]
    pub(super) input: Value,
    /// A system message. It does not change the answer.
    pub(super) instructions: Option<String>,
    /// Whether the answer comes as a stream of events.
    stream: Option<bool>,
    /// Accepted in streams, without effect: no event is padded.
    #[serde(default)]
    stream_options: Value,
    /// A response of this server whose run the base keeps: its question and answer come before
    /// `input`.
    pub(super) previous_response_id: Option<String>,
    /// The documents that the answer may use: conditions such as `folder=law`, `date>=2020`, all of
    /// which must hold. `filters` is the same.
    #[serde(default, alias = "filters")]
    #[schema(value_type = Option<Vec<String>>)]
    filter: Option<Filter>,
    /// The class of the question, if you know it; only with `pike`.
    class: Option<TaskClass>,
    /// The level of the system (`L0` to `L4`); only with `pike`.
    level: Option<Level>,
    /// The largest number of tokens of the shown answer, from 1. A longer answer is cut after a word
    /// or a citation, and the response is incomplete.
    #[serde(default)]
    #[schema(value_type = Option<u64>)]
    pub(super) max_output_tokens: Value,
    /// `format` is `text`, or the schema of an object that is filled from the answer. `verbosity`
    /// has no effect.
    #[schema(value_type = Option<Object>)]
    pub(super) text: Option<Map<String, Value>>,
    /// Tools. Only a function that `tool_choice` demands is called.
    #[schema(value_type = Option<Vec<Object>>)]
    pub(super) tools: Option<Vec<Value>>,
    /// `auto`, `none`, or one function, whose arguments are filled from the answer.
    #[serde(default)]
    pub(super) tool_choice: Value,
    /// Without effect, since at most one call is made.
    pub(super) parallel_tool_calls: Option<bool>,
    /// Without effect, since at most one call is made.
    pub(super) max_tool_calls: Option<u64>,
    /// Without effect, except that log-probabilities are refused.
    include: Option<Vec<String>>,
    /// Repeated in the reply.
    #[schema(value_type = Option<Object>)]
    pub(super) metadata: Option<Map<String, Value>>,
    /// Without effect: the settings of the server hold for its models.
    pub(super) temperature: Option<f64>,
    /// Without effect, as `temperature`.
    pub(super) top_p: Option<f64>,
    /// Without effect: the summary always reports the steps.
    #[schema(value_type = Option<Object>)]
    pub(super) reasoning: Option<Map<String, Value>>,
    /// Without effect: a conversation that is too long is refused.
    pub(super) truncation: Option<String>,
    /// Without effect: no response is stored; the settings decide whether runs are kept.
    pub(super) store: Option<bool>,
    /// Without effect.
    pub(super) service_tier: Option<String>,
    /// Without effect.
    pub(super) user: Option<String>,
    /// Without effect.
    pub(super) safety_identifier: Option<String>,
    /// Without effect.
    pub(super) prompt_cache_key: Option<String>,
    /// Without effect.
    #[serde(default)]
    pub(super) prompt_cache_retention: Value,
    /// Without effect.
    #[serde(default)]
    pub(super) prompt_cache_options: Value,
    /// `true` is refused.
    background: Option<bool>,
    /// 0; other numbers are refused.
    top_logprobs: Option<u64>,
    /// Refused, since conversations are not stored.
    #[serde(default)]
    conversation: Value,
    /// Refused, since no prompts are stored.
    #[serde(default)]
    prompt: Value,
    /// Refused.
    #[serde(default)]
    moderation: Value,
    /// Refused.
    #[serde(default)]
    context_management: Value,
    /// Refused.
    #[serde(default)]
    background_options: Value,
    /// Refused.
    #[serde(default)]
    access_programs: Value,
}

impl CreateResponse {
    /// Reads and checks a body.
    ///
    /// # Errors
    /// The first parameter that is missing, unknown, of another type, or not supported.
    pub(super) fn read(body: Value) -> Result<Self, Problem> {
        let read: Self =
            serde_path_to_error::deserialize(body).map_err(|error| unreadable(&error))?;
        read.check()?;
        Ok(read)
    }

    /// Whether the answer comes as a stream.
    pub(super) fn streams(&self) -> bool {
        self.stream == Some(true)
    }

    /// The largest number of tokens of the answer, if the request limits it.
    pub(super) fn most_tokens(&self) -> Result<Option<u64>, Problem> {
        fewest_tokens(&[("max_output_tokens", &self.max_output_tokens)])
    }

    /// The object to fill from the answer; `None` for a text.
    ///
    /// # Errors
    /// The schema cannot be filled whatever the answer, or a choice of tools cannot be honoured.
    pub(super) fn object(&self) -> Result<Option<Wanted>, Problem> {
        let format = self.text.as_ref().and_then(|text| text.get("format"));
        let mut fields = BTreeMap::from([
            ("response_format".to_owned(), json!(format)),
            ("tools".to_owned(), json!(self.tools)),
            ("tool_choice".to_owned(), self.tool_choice.clone()),
        ]);
        let object = Wanted::take(&mut fields).map_err(in_our_terms)?;
        if fields.contains_key("tool_choice") && !needs_no_call(&self.tool_choice) {
            let hint =
                "send `auto`, `none`, or one function, whose arguments are filled from the answer";
            return Err(unsupported("tool_choice", &self.tool_choice, hint));
        }
        if let Some(format) = fields.get("response_format") {
            check_format(format)?;
        }
        Ok(object)
    }

    /// The request for a method, without its question.
    pub(super) fn wanted(&self, method: String) -> AskRequest {
        let filter = self.filter.clone().unwrap_or_default();
        AskRequest { method, filter, class: self.class, level: self.level, ..AskRequest::default() }
    }

    fn check(&self) -> Result<(), Problem> {
        if self.background == Some(true) {
            let hint = "leave it out, and set `stream` to follow a long answer";
            return Err(unsupported("background", &json!(true), hint));
        }
        let empty = [
            ("conversation", &self.conversation, "send the earlier messages in `input`"),
            ("prompt", &self.prompt, "this server stores no prompts: send `input`"),
            ("moderation", &self.moderation, "answers are not moderated: leave it out"),
            ("context_management", &self.context_management, "nothing is compacted: leave it out"),
            ("background_options", &self.background_options, "leave it out"),
            ("access_programs", &self.access_programs, "leave it out"),
        ];
        for (param, value, hint) in empty {
            if !asks_for_nothing(value) {
                return Err(unsupported(param, value, hint));
            }
        }
        if let Some(include) = &self.include
            && include.iter().any(|name| name == LOG_PROBABILITIES)
        {
            let hint = "answers have no log probabilities: leave it out";
            return Err(unsupported("include", &json!(include), hint));
        }
        if let Some(most) = self.top_logprobs
            && most != 0
        {
            let hint = "answers have no log probabilities: leave it out, or send 0";
            return Err(unsupported("top_logprobs", &json!(most), hint));
        }
        if !self.stream_options.is_null() && !self.streams() {
            let hint = "leave it out, or set `stream`";
            return Err(unsupported("stream_options", &self.stream_options, hint));
        }
        self.text.as_ref().map_or(Ok(()), check_text)
    }
}

fn asks_for_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Whether an answer without a call of a tool fits the choice.
fn needs_no_call(choice: &Value) -> bool {
    match choice {
        Value::Null => true,
        Value::String(choice) => choice == "auto" || choice == "none",
        choice => {
            choice.get("type") == Some(&json!("allowed_tools"))
                && choice.get("mode") == Some(&json!("auto"))
        }
    }
}

fn check_text(text: &Map<String, Value>) -> Result<(), Problem> {
    if let Some(name) = text.keys().find(|name| !matches!(name.as_str(), "format" | "verbosity")) {
        return Err(unknown(&format!("text.{name}")));
    }
    Ok(())
}

/// Accepts text; objects were taken before.
fn check_format(format: &Value) -> Result<(), Problem> {
    if format.is_null() || format.get("type") == Some(&json!("text")) {
        return Ok(());
    }
    let hint = "send the type `text`, `json_object` or `json_schema`";
    Err(unsupported("text.format", format, hint))
}

/// A problem about a field of chat completions, by its name in this protocol.
pub(super) fn in_our_terms(problem: Problem) -> Problem {
    match json!(problem).get("param").and_then(Value::as_str) {
        Some("response_format") => problem.about("text.format"),
        Some("messages") => problem.about("input"),
        _ => problem,
    }
}

/// The refusal of a body with a parameter that is missing, unknown or of another type.
fn unreadable(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let (path, message) = (error.path().to_string(), error.inner().to_string());
    let named = |beginning: &str| message.strip_prefix(beginning)?.split('`').next();
    if let Some(name) = named("unknown field `") {
        return unknown(name);
    }
    if let Some(name) = named("missing field `") {
        return Problem::bad_request(message.as_str()).about(name);
    }
    match path.as_str() {
        "." => Problem::bad_request(message),
        path => Problem::bad_request(format!("`{path}`: {message}")).about(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problem's code and parameter; the request is a question with these fields.
    fn refused(more: &Value) -> Option<(String, Value)> {
        let mut body = json!({"model": "pikerag", "input": "q"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let read = CreateResponse::read(body)
            .and_then(|read| read.object().and_then(|_| read.most_tokens()));
        let problem = read.err()?;
        Some((problem.code().to_owned(), json!(problem)["param"].clone()))
    }

    #[test]
    fn parameters_that_ask_for_nothing_are_accepted() {
        for accepted in [
            json!({}),
            json!({"instructions": null, "stream": false, "previous_response_id": null}),
            json!({"store": true, "temperature": 0.3, "top_p": 1, "truncation": "auto", "user": "u"}),
            json!({"tools": [{"type": "function", "name": "f"}], "tool_choice": "auto"}),
            json!({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}),
            json!({"text": {"format": {"type": "text"}, "verbosity": "low"}, "background": false}),
            json!({"include": ["reasoning.encrypted_content"], "top_logprobs": 0, "metadata": {"a": "b"}}),
            json!({"reasoning": {"effort": "high", "summary": "auto"}, "conversation": null, "prompt": null}),
            json!({"stream": true, "stream_options": {"include_obfuscation": false}}),
            json!({"max_output_tokens": 16, "parallel_tool_calls": true, "max_tool_calls": 3}),
            json!({"service_tier": "auto", "safety_identifier": "s", "prompt_cache_key": "k",
                "prompt_cache_retention": "24h", "prompt_cache_options": {"mode": "implicit"}}),
        ] {
            assert_eq!(refused(&accepted), None, "{accepted}");
        }
    }

    #[test]
    fn parameters_that_cannot_be_honoured_are_refused_by_name() {
        for (wrong, code, param) in [
            (json!({"surprise": 1}), "unknown-field", "surprise"),
            (json!({"text": {"surprise": 1}}), "unknown-field", "text.surprise"),
            (json!({"background": true}), "unsupported-value", "background"),
            (json!({"conversation": "conv_1"}), "unsupported-value", "conversation"),
            (json!({"prompt": {"id": "p"}}), "unsupported-value", "prompt"),
            (json!({"tool_choice": "required"}), "unsupported-value", "tool_choice"),
            (
                json!({"tool_choice": {"type": "function", "name": "f"}}),
                "bad-request",
                "tool_choice",
            ),
            (json!({"text": {"format": {"type": "json_schema"}}}), "bad-request", "text.format"),
            (
                json!({"text": {"format": {"type": "json_schema", "schema": {"type": "array"}}}}),
                "unsupported-value",
                "text.format",
            ),
            (json!({"text": {"format": {"type": "xml"}}}), "unsupported-value", "text.format"),
            (json!({"include": [LOG_PROBABILITIES]}), "unsupported-value", "include"),
            (json!({"top_logprobs": 2}), "unsupported-value", "top_logprobs"),
            (json!({"max_output_tokens": 0}), "unsupported-value", "max_output_tokens"),
            (json!({"max_output_tokens": -1}), "unsupported-value", "max_output_tokens"),
            (json!({"stream": "yes"}), "bad-request", "stream"),
            (json!({"stream_options": {}}), "unsupported-value", "stream_options"),
            (json!({"model": null}), "bad-request", "model"),
        ] {
            assert_eq!(refused(&wrong), Some((code.to_owned(), json!(param))), "{wrong}");
        }
        let missing = CreateResponse::read(json!({"input": "q"})).err().unwrap();
        assert_eq!(json!(missing)["param"], "model");
        let no_object = CreateResponse::read(json!("q")).err().unwrap();
        assert_eq!((no_object.code(), &json!(no_object)["param"]), ("bad-request", &Value::Null));
    }

    #[test]
    fn formats_and_demanded_functions_ask_for_an_object() {
        let schema = json!({"type": "object", "properties": {"load": {"type": "string"}}});
        let tool = json!({"type": "function", "name": "Crane", "parameters": schema});
        let format =
            json!({"type": "json_schema", "name": "Crane", "schema": schema, "strict": true});
        for (more, is_object) in [
            (json!({}), false),
            (json!({"text": {"format": {"type": "text"}}, "tools": [tool]}), false),
            (json!({"text": {"format": format}}), true),
            (json!({"text": {"format": {"type": "json_object"}}}), true),
            (json!({"tools": [tool], "tool_choice": "required"}), true),
            (json!({"tools": [tool], "tool_choice": {"type": "function", "name": "Crane"}}), true),
        ] {
            let mut body = more.clone();
            body["model"] = json!("pikerag");
            let object = CreateResponse::read(body).unwrap().object().unwrap();
            assert_eq!(object.is_some(), is_object, "{more}");
        }
    }

    #[test]
    fn conditions_have_two_names() {
        for name in ["filter", "filters"] {
            let body = json!({"model": "pikerag", name: ["folder=a"], "level": "L2"});
            let wanted = CreateResponse::read(body).unwrap().wanted("pike".to_owned());
            assert_eq!(wanted.filter.to_string(), "folder=a");
            assert!(wanted.level.is_some() && wanted.method == "pike");
            let (code, param) = refused(&json!({name: ["no condition"]})).unwrap();
            assert_eq!(code, "bad-request");
            assert!(param.as_str().unwrap().starts_with("filter"), "{param}");
        }
    }
}
