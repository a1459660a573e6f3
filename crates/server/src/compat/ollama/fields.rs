//! Checks the fields of requests that pikerag does not use: those without effect are accepted, those
//! that ask for something else are refused, so that nothing is ignored in silence.

use serde_json::{Map, Value};

use crate::compat::contract::{stop_sequences, unknown, unsupported};
use crate::problem::Problem;

/// Fields that change nothing here: no model is loaded or unloaded, no prompt has a template, tools
/// need not be called, and long conversations are refused by their own limit.
const WITHOUT_EFFECT: &[&str] = &["keep_alive", "tools", "raw", "shift", "insecure", "verbose"];

/// Options that change nothing here: the settings of the server decide how models sample and where
/// they run.
const OPTIONS_WITHOUT_EFFECT: &[&str] = &[
    "draft_num_predict",
    "embedding_only",
    "f16_kv",
    "frequency_penalty",
    "logits_all",
    "low_vram",
    "main_gpu",
    "min_p",
    "mirostat",
    "mirostat_eta",
    "mirostat_tau",
    "num_batch",
    "num_ctx",
    "num_gpu",
    "num_gqa",
    "num_keep",
    "num_thread",
    "numa",
    "penalize_newline",
    "presence_penalty",
    "repeat_last_n",
    "repeat_penalty",
    "seed",
    "temperature",
    "tfs_z",
    "top_k",
    "top_p",
    "typical_p",
    "use_mlock",
    "use_mmap",
    "vocab_only",
];

/// The largest number of stop sequences. Ollama has no limit; each one is searched for in the answer.
const MOST_STOPS: usize = 64;

/// Fields that are refused if they ask for something, with what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("format", "only /api/chat and /api/generate fill it: leave it out"),
    ("images", "questions are text only: put pictures into the base"),
    ("suffix", "pikerag answers questions and completes no text: leave it out"),
    ("template", "prompts have no template here: leave it out"),
    ("context", "replies have no `context`: send the conversation to /api/chat"),
    ("logprobs", "answers have no log probabilities: leave it out"),
    ("top_logprobs", "answers have no log probabilities: leave it out"),
    ("dimensions", "only /api/embed makes vectors: leave it out"),
];

/// Checks the fields of a request that its route does not read, and its options.
///
/// # Errors
/// A field is unknown, or its value asks for something that is not served.
pub(super) fn check(more: &Map<String, Value>) -> Result<(), Problem> {
    for (name, value) in more {
        if let Some((_, hint)) = REFUSED.iter().find(|(refused, _)| name == refused) {
            if asks(value) {
                return Err(unsupported(name, value, hint));
            }
        } else if name == "truncate" {
            if *value == Value::Bool(false) {
                return Err(unsupported(name, value, "texts that are too long are cut"));
            }
        } else if name == "options" {
            check_options(value)?;
        } else if !WITHOUT_EFFECT.contains(&name.as_str()) {
            return Err(unknown(name));
        }
    }
    Ok(())
}

fn check_options(options: &Value) -> Result<(), Problem> {
    let options = match options {
        Value::Object(options) => options,
        Value::Null => return Ok(()),
        other => return Err(unsupported("options", other, "send an object")),
    };
    for (name, value) in options.iter().filter(|(_, value)| asks(value)) {
        let full_name = format!("options.{name}");
        match name.as_str() {
            "stop" => {
                stop_sequences(&full_name, value, MOST_STOPS)?;
            }
            "num_predict" => {
                tokens_of(value)?;
            }
            known if OPTIONS_WITHOUT_EFFECT.contains(&known) => {}
            _ => return Err(unknown(&full_name)),
        }
    }
    Ok(())
}

/// The largest number of tokens of an answer (`options.num_predict`); `None` without a limit.
pub(super) fn most_tokens(more: &Map<String, Value>) -> Result<Option<u64>, Problem> {
    match more.get("options").and_then(|options| options.get("num_predict")) {
        Some(value) if asks(value) => tokens_of(value),
        _ => Ok(None),
    }
}

/// The sequences before which an answer ends (`options.stop`).
pub(super) fn stops(more: &Map<String, Value>) -> Result<Vec<String>, Problem> {
    match more.get("options").and_then(|options| options.get("stop")) {
        Some(value) if asks(value) => stop_sequences("options.stop", value, MOST_STOPS),
        _ => Ok(Vec::new()),
    }
}

/// A number below 0 means no limit.
fn tokens_of(value: &Value) -> Result<Option<u64>, Problem> {
    match (value.as_u64(), value.as_i64()) {
        (Some(most), _) => Ok(Some(most)),
        (None, Some(_)) => Ok(None),
        (None, None) => {
            Err(unsupported("options.num_predict", value, "send a whole number, or leave it out"))
        }
    }
}

/// Whether a value asks for anything.
fn asks(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Whether a request asks for steps and drafts as `thinking`; `None` if it says nothing about them.
pub(super) fn thinks(think: Option<&Value>) -> Result<Option<bool>, Problem> {
    match think {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(thinks)) => Ok(Some(*thinks)),
        Some(Value::String(level)) if ["low", "medium", "high"].contains(&level.as_str()) => {
            Ok(Some(true))
        }
        Some(other) => {
            let hint = "send true, false, \"low\", \"medium\" or \"high\"";
            Err(unsupported("think", other, hint))
        }
    }
}

/// The reason why a request without a question ends: it loads the model, or unloads it if
/// `keep_alive` is 0.
pub(super) fn reason_without_question(more: &Map<String, Value>) -> &'static str {
    let unloads = match more.get("keep_alive") {
        Some(Value::Number(time)) => time.as_f64() == Some(0.0),
        Some(Value::String(time)) => ["0", "0s", "0m", "0h"].contains(&time.trim()),
        _ => false,
    };
    if unloads { "unload" } else { "load" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(more: &Value) -> Result<(), String> {
        check(more.as_object().unwrap()).map_err(|problem| problem.detail())
    }

    #[test]
    fn fields_without_effect_are_accepted() {
        let usual = json!({
            "keep_alive": "5m", "tools": [{"type": "function"}], "raw": true, "format": "",
            "images": [], "suffix": "", "context": [], "logprobs": false, "top_logprobs": 0,
            "truncate": true, "options": {"temperature": 0.2, "num_ctx": 4096, "stop": [], "num_predict": 64},
        });
        assert_eq!(checked(&usual), Ok(()));
        assert_eq!(checked(&json!({"options": null, "format": null})), Ok(()));
    }

    #[test]
    fn fields_that_ask_for_something_else_are_refused() {
        for (more, named) in [
            (json!({"format": "json"}), "`format`"),
            (json!({"format": {"type": "object"}}), "`format`"),
            (json!({"images": ["aGk="]}), "`images`"),
            (json!({"suffix": "}"}), "`suffix`"),
            (json!({"context": [1, 2]}), "`context`"),
            (json!({"logprobs": true}), "`logprobs`"),
            (json!({"dimensions": 64}), "`dimensions`"),
            (json!({"truncate": false}), "`truncate`"),
            (json!({"options": {"stop": [1]}}), "`options.stop`"),
            (json!({"options": {"stop": vec!["."; 65]}}), "`options.stop`"),
            (json!({"options": {"num_predict": 1.5}}), "`options.num_predict`"),
            (json!({"options": {"surprise": 1}}), "`options.surprise`"),
            (json!({"options": 1}), "`options`"),
            (json!({"filters": ["folder=law"]}), "`filters`"),
        ] {
            let refused = checked(&more).unwrap_err();
            assert!(refused.contains(named), "{more}: {refused}");
        }
    }

    #[test]
    fn an_answer_has_a_limit_only_above_zero() {
        let most = |options: Value| {
            most_tokens(json!({ "options": options }).as_object().unwrap()).unwrap()
        };
        assert_eq!(most(json!({"num_predict": 16})), Some(16));
        for none in [json!({"num_predict": -1}), json!({"num_predict": 0}), json!({}), json!(null)]
        {
            assert_eq!(most(none), None);
        }
    }

    #[test]
    fn an_answer_ends_before_sequences_with_text() {
        let of =
            |options: Value| stops(json!({ "options": options }).as_object().unwrap()).unwrap();
        assert_eq!(of(json!({"stop": ["User:", "", "\n"]})), ["User:", "\n"]);
        assert_eq!(of(json!({"stop": "User:"})), ["User:"]);
        for none in [json!({"stop": []}), json!({"stop": null}), json!({}), json!(null)] {
            assert!(of(none.clone()).is_empty(), "{none}");
        }
        let accepted = json!({"options": {"stop": vec!["."; 64]}});
        assert_eq!(checked(&accepted), Ok(()));
    }

    #[test]
    fn thinking_is_a_choice_or_a_level() {
        let of = |think: Value| thinks(Some(&think)).map_err(|problem| problem.detail());
        assert_eq!((of(json!(true)), of(json!("high"))), (Ok(Some(true)), Ok(Some(true))));
        assert_eq!((of(json!(false)), of(json!(null))), (Ok(Some(false)), Ok(None)));
        assert!(of(json!("much")).is_err() && of(json!(1)).is_err());
        let reason =
            |time: Value| reason_without_question(json!({"keep_alive": time}).as_object().unwrap());
        assert_eq!([json!(0), json!("0s"), json!("5m")].map(reason), ["unload", "unload", "load"]);
    }
}
