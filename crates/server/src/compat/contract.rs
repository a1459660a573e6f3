//! Decides about the fields of OpenAI's requests that no answer depends on: each is accepted, or
//! refused by its name.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::chat::{Message, shortened};
use crate::problem::{Fault, Problem};

/// Fields that are accepted without an effect. They tune how a model samples, caches or bills, which
/// changes no checked answer, or describe the request for its sender.
const WITHOUT_EFFECT: &[&str] = &[
    // OpenAI; no tool is called.
    "frequency_penalty",
    "functions",
    "metadata",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "safety_identifier",
    "seed",
    "service_tier",
    "store",
    "temperature",
    "tools",
    "top_p",
    "user",
    "verbosity",
    // Servers of open models and Ollama, as chat programs offer them.
    "cache_prompt",
    "chat_template_kwargs",
    "enable_thinking",
    "include_reasoning",
    "keep_alive",
    "min_p",
    "mirostat",
    "mirostat_eta",
    "mirostat_tau",
    "num_batch",
    "num_ctx",
    "num_gpu",
    "num_keep",
    "num_thread",
    "reasoning",
    "repeat_last_n",
    "repeat_penalty",
    "repetition_penalty",
    "tfs_z",
    "think",
    "thinking",
    "top_k",
    "typical_p",
    "use_mlock",
    "use_mmap",
    // Open WebUI, which applies them itself before it sends the request.
    "background_tasks",
    "chat_id",
    "features",
    "files",
    "filter_ids",
    "folder_id",
    "id",
    "message_id",
    "model_item",
    "params",
    "session_id",
    "skill_ids",
    "terminal_id",
    "title",
    "tool_ids",
    "tool_servers",
    "variables",
];

/// Checks the other fields of a request. A null asks for nothing.
///
/// # Errors
/// A field is unknown, or its value asks for something that is not served.
pub(super) fn check(others: &BTreeMap<String, Value>) -> Result<(), Problem> {
    for (name, value) in others {
        let is_accepted = value.is_null() || WITHOUT_EFFECT.contains(&name.as_str());
        if !is_accepted {
            check_value(name, value)?;
        }
    }
    Ok(())
}

fn check_value(name: &str, value: &Value) -> Result<(), Problem> {
    let (asks_for_nothing, hint) = match name {
        "tool_choice" | "function_call" => {
            let hint =
                "send `auto`, `none`, or one function, whose arguments are filled from the answer";
            (is_free_choice(value), hint)
        }
        "n" => (value.as_u64() == Some(1), "each request gets one answer: leave it out, or send 1"),
        "logprobs" => (value == &json!(false), "answers have no log probabilities: leave it out"),
        "top_logprobs" => {
            (value.as_u64() == Some(0), "answers have no log probabilities: leave it out")
        }
        "logit_bias" => (is_empty(value), "the words of an answer cannot be biased: leave it out"),
        "modalities" => (value == &json!(["text"]), "answers are text: leave it out"),
        "audio" => (false, "answers are text: leave it out"),
        "moderation" => (is_empty(value), "answers are not moderated: leave it out"),
        "web_search_options" => (false, "answers come from the base alone: leave it out"),
        "response_format" => (
            value.get("type") == Some(&json!("text")),
            "send the type `text`, `json_object` or `json_schema`",
        ),
        _ => return Err(unknown(name)),
    };
    if asks_for_nothing { Ok(()) } else { Err(unsupported(name, value, hint)) }
}

/// Whether the model may decide to call no tool.
fn is_free_choice(value: &Value) -> bool {
    // `allowed_tools` limits the choice to some tools, and has a mode of its own.
    let allowed = value.get("allowed_tools").unwrap_or(value);
    let mode = allowed.as_str().or_else(|| allowed.get("mode")?.as_str());
    matches!(mode, Some("auto" | "none" | ""))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.iter().all(is_empty),
        Value::Object(fields) => fields.is_empty(),
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Refuses a field that no route of this kind knows.
pub(super) fn unknown(name: &str) -> Problem {
    Problem::new(400, "unknown-field", Fault::Caller)
        .saying(format!("the field `{name}` is unknown"))
        .hint("leave it out; a misspelt field would have no effect")
        .about(name)
}

/// Refuses a value that is not served.
pub(super) fn unsupported(name: &str, value: &Value, hint: &str) -> Problem {
    const LONGEST: usize = 80;
    let short = shortened(&value.to_string(), LONGEST);
    Problem::new(400, "unsupported-value", Fault::Caller)
        .saying(format!("`{name}` cannot be {short}"))
        .hint(hint)
        .about(name)
}

/// The smallest of these limits of tokens; none if all are null.
///
/// # Errors
/// A limit is no whole number from 1.
pub(super) fn fewest_tokens(limits: &[(&str, &Value)]) -> Result<Option<u64>, Problem> {
    let mut fewest: Option<u64> = None;
    for (name, value) in limits.iter().filter(|(_, value)| !value.is_null()) {
        let most = value.as_u64().filter(|most| 1 <= *most);
        let Some(most) = most else {
            return Err(unsupported(name, value, "send a whole number from 1, or leave it out"));
        };
        fewest = Some(fewest.map_or(most, |fewest| fewest.min(most)));
    }
    Ok(fewest)
}

/// The sequences before which an answer ends: a text, or a list of at most `most` texts. Empty texts
/// ask for nothing.
///
/// # Errors
/// The value is neither, or the list is longer.
pub(super) fn stop_sequences(
    name: &str,
    value: &Value,
    most: usize,
) -> Result<Vec<String>, Problem> {
    let parts: &[Value] = match value {
        Value::Null => &[],
        Value::Array(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    let mut stops = Vec::new();
    for part in parts.iter().filter(|part| !part.is_null()) {
        let Some(stop) = part.as_str() else {
            return Err(unsupported(name, value, "send a text, or a list of texts"));
        };
        if !stop.is_empty() {
            stops.push(stop.to_owned());
        }
    }
    if most < stops.len() {
        return Err(unsupported(name, value, &format!("send at most {most} sequences")));
    }
    Ok(stops)
}

/// Refuses pictures, sounds and files in the last message, which would be left out of the question.
pub(super) fn check_parts(messages: &[Message]) -> Result<(), Problem> {
    let Some(Value::Array(parts)) = messages.last().map(|last| &last.content) else {
        return Ok(());
    };
    let kind = |part: &Value| part.get("type").and_then(Value::as_str).map(str::to_owned);
    let other = parts.iter().filter(|part| part.get("text").is_none()).find_map(kind);
    match other {
        Some(kind) => Err(Problem::new(400, "unsupported-value", Fault::Caller)
            .saying(format!("a message cannot hold a part of the type `{kind}`"))
            .hint("send text; files belong into the base")
            .about("messages")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of the problem and its field; nothing if the fields are accepted.
    fn refused(fields: Value) -> Option<(String, String)> {
        let others: BTreeMap<String, Value> = serde_json::from_value(fields).unwrap();
        let problem = check(&others).err()?;
        let param = json!(problem)["param"].as_str().unwrap().to_owned();
        Some((problem.code().to_owned(), param))
    }

    #[test]
    fn values_that_ask_for_nothing_are_accepted() {
        let accepted = [
            json!({"n": 1, "logprobs": false, "top_logprobs": 0, "logit_bias": {}}),
            json!({"modalities": ["text"], "response_format": {"type": "text"}}),
            json!({"n": null, "tool_choice": null, "misspelt": null, "audio": null}),
            json!({"tool_choice": "auto", "tools": [{"type": "function"}], "parallel_tool_calls": true}),
            json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}}),
            json!({"functions": [{"name": "f"}], "function_call": "none"}),
            json!({"temperature": 0, "top_p": 0.1, "seed": 7, "user": "u", "metadata": {"a": "b"}, "store": true}),
            // Open WebUI, with its options for servers of open models.
            json!({"chat_id": "c", "session_id": "s", "id": "m", "files": [{"id": "f"}], "variables": {"{{USER}}": "Ada"},
                "features": {"web_search": true}, "model_item": {"id": "pikerag"},
                "background_tasks": {"title_generation": true}, "num_ctx": 8192, "mirostat": 0}),
        ];
        for fields in accepted {
            assert_eq!(refused(fields.clone()), None, "{fields}");
        }
    }

    #[test]
    fn other_values_and_unknown_fields_are_refused_by_name() {
        let cases = [
            ("n", json!(2)),
            ("logprobs", json!(true)),
            ("top_logprobs", json!(3)),
            ("logit_bias", json!({"50256": -100})),
            ("tool_choice", json!("required")),
            ("tool_choice", json!({"type": "function", "function": {"name": "f"}})),
            (
                "tool_choice",
                json!({"type": "allowed_tools", "allowed_tools": {"mode": "required"}}),
            ),
            ("function_call", json!({"name": "f"})),
            ("modalities", json!(["text", "audio"])),
            ("audio", json!({"voice": "alloy"})),
            ("web_search_options", json!({})),
        ];
        for (name, value) in cases {
            let code = Some(("unsupported-value".to_owned(), name.to_owned()));
            assert_eq!(refused(json!({name: value})), code, "{name}: {value}");
        }
        let unknown = Some(("unknown-field".to_owned(), "filtres".to_owned()));
        assert_eq!(refused(json!({"filtres": ["folder=law"]})), unknown);
    }

    #[test]
    fn the_smallest_limit_of_tokens_holds() {
        let of = |first: Value, second: Value| fewest_tokens(&[("a", &first), ("b", &second)]);
        assert_eq!(of(json!(null), json!(null)).unwrap(), None);
        assert_eq!(of(json!(40), json!(20)).unwrap(), Some(20));
        for wrong in [json!(0), json!(-1), json!(1.5), json!("9")] {
            assert_eq!(of(json!(null), wrong).unwrap_err().code(), "unsupported-value");
        }
    }

    #[test]
    fn stop_sequences_are_a_text_or_a_few() {
        let of = |value: Value| stop_sequences("stop", &value, 4);
        for nothing in [json!(null), json!(""), json!([]), json!(["", null])] {
            assert!(of(nothing.clone()).unwrap().is_empty(), "{nothing}");
        }
        assert_eq!(of(json!("END")).unwrap(), ["END"]);
        assert_eq!(of(json!(["\n", "", "b", "c", "d"])).unwrap(), ["\n", "b", "c", "d"]);
        for wrong in [json!(1), json!([1]), json!({"a": "b"}), json!(["a", "b", "c", "d", "e"])] {
            let problem = of(wrong.clone()).unwrap_err();
            assert_eq!(
                (problem.code(), &json!(problem)["param"]),
                ("unsupported-value", &json!("stop")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn parts_that_are_no_text_are_refused_in_the_last_message() {
        let message = |content: Value| -> Message {
            serde_json::from_value(json!({"role": "user", "content": content})).unwrap()
        };
        let text = message(json!([{"type": "text", "text": "Who?"}]));
        let picture = message(
            json!([{"type": "text", "text": "Who?"}, {"type": "image_url", "image_url": {"url": "x"}}]),
        );
        assert!(check_parts(&[picture.clone(), text.clone()]).is_ok());
        assert!(check_parts(&[text, message(json!("Who?"))]).is_ok());
        let refused = check_parts(&[picture]).unwrap_err();
        assert!(refused.detail().contains("image_url"), "{refused:?}");
    }
}
