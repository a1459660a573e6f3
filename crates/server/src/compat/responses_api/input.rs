//! Reads the input of a response: a text, or a list of messages and of items of earlier responses.

use serde_json::{Value, json};

use crate::compat::chat::Message;
use crate::compat::contract::unsupported;
use crate::problem::Problem;

/// Items that report earlier steps and calls of tools. They do not change the question, so they
/// have no effect.
const WITHOUT_EFFECT: [&str; 22] = [
    "reasoning",
    "function_call",
    "custom_tool_call",
    "custom_tool_call_output",
    "file_search_call",
    "web_search_call",
    "code_interpreter_call",
    "computer_call",
    "computer_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "image_generation_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "tool_search_call",
    "tool_search_output",
];

/// An item of the input that is part of the conversation.
#[derive(Debug)]
pub(super) enum Item {
    /// A message; its role is `user`, `assistant`, `system`, or `tool` for the output of a function.
    Message(Message),
    /// The identifier of an item of an earlier response, and the path of the parameter.
    Reference { id: String, param: String },
}

/// The conversation of an input, in order.
///
/// # Errors
/// An item or a part that is no text, or that is unknown, by its path.
pub(super) fn items(input: &Value) -> Result<Vec<Item>, Problem> {
    match input {
        Value::String(text) => Ok(vec![message("user", text.clone())]),
        Value::Array(items) => {
            let read = items.iter().enumerate();
            let read = read.map(|(at, item)| item_of(item, &format!("input[{at}]")));
            Ok(read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        }
        other => {
            Err(unsupported("input", other, "send the question as text or a list of messages"))
        }
    }
}

/// A message with this text.
pub(super) fn message(role: &str, text: String) -> Item {
    Item::Message(Message { role: role.to_owned(), content: Value::String(text) })
}

/// One item; `None` if it has no effect.
fn item_of(item: &Value, param: &str) -> Result<Option<Item>, Problem> {
    let field = |name: &str| item.get(name).and_then(Value::as_str);
    match (field("type"), field("role"), field("id")) {
        (None | Some("message"), Some(role), _) => {
            let role = match role {
                "user" | "assistant" | "system" => role,
                "developer" => "system",
                other => {
                    let hint = "send `user`, `assistant`, `system` or `developer`";
                    return Err(unsupported(&format!("{param}.role"), &json!(other), hint));
                }
            };
            let content = item.get("content").unwrap_or(&Value::Null);
            Ok(Some(message(role, text_of(content, &format!("{param}.content"))?)))
        }
        (None | Some("item_reference"), None, Some(id)) => {
            Ok(Some(Item::Reference { id: id.to_owned(), param: format!("{param}.id") }))
        }
        (Some("function_call_output"), ..) => {
            let content = item.get("output").cloned().unwrap_or_default();
            Ok(Some(Item::Message(Message { role: "tool".to_owned(), content })))
        }
        (Some(kind), ..) if WITHOUT_EFFECT.contains(&kind) => Ok(None),
        (Some("message"), ..) => {
            Err(unsupported(&format!("{param}.role"), &Value::Null, "send `user` or `assistant`"))
        }
        (Some(kind), ..) => {
            Err(unsupported(&format!("{param}.type"), &json!(kind), "send messages"))
        }
        (None, ..) => Err(unsupported(param, item, "send messages, each with its `role`")),
    }
}

/// The text of a message: its content, or the texts of its parts, one on each line.
fn text_of(content: &Value, param: &str) -> Result<String, Problem> {
    let parts = match content {
        Value::String(text) => return Ok(text.clone()),
        Value::Array(parts) => parts,
        other => return Err(unsupported(param, other, "send a text or a list of parts")),
    };
    let mut texts = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let kind = part.get("type").unwrap_or(&Value::Null);
        let name = match kind.as_str() {
            Some("input_text" | "output_text" | "text") => "text",
            Some("refusal") => "refusal",
            _ => {
                let hint = "send `input_text`; files belong into the base";
                return Err(unsupported(&format!("{param}[{at}].type"), kind, hint));
            }
        };
        let Some(text) = part.get(name).and_then(Value::as_str) else {
            let text = part.get(name).unwrap_or(&Value::Null);
            return Err(unsupported(&format!("{param}[{at}].{name}"), text, "send a text"));
        };
        texts.push(text);
    }
    Ok(texts.join("\n"))
}

/// The last message is the question, so a person must have written it.
///
/// # Errors
/// There is no message, or the last one is not of the role `user`.
pub(super) fn check_question(messages: &[Message]) -> Result<(), Problem> {
    let is_spoken = |message: &&Message| message.role == "user" || message.role == "assistant";
    let last = messages.iter().rfind(is_spoken);
    let why = match last.map(|message| message.role.as_str()) {
        Some("user") => return Ok(()),
        Some(_) => "the last message of `input` is not of the role `user`",
        None => "`input` holds no message of the role `user`",
    };
    Err(Problem::bad_request(why).about("input"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The role and text of each message, and each reference.
    fn read(input: &Value) -> Vec<String> {
        let shown = |item: Item| match item {
            Item::Message(message) => format!("{}: {}", message.role, message.text()),
            Item::Reference { id, param } => format!("{param} = {id}"),
        };
        items(input).unwrap().into_iter().map(shown).collect()
    }

    #[test]
    fn inputs_of_all_forms_are_read() {
        assert_eq!(read(&json!("Who?")), ["user: Who?"]);
        assert_eq!(read(&json!([{"role": "user", "content": "Who?"}])), ["user: Who?"]);
        let conversation = json!([
            {"type": "message", "role": "developer", "content": "Be short."},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "Who built it?"},
                {"type": "input_text", "text": "And when?"},
            ]},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
                {"type": "output_text", "text": "Ilse.", "annotations": []},
                {"type": "refusal", "refusal": "No date."},
            ]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "7"},
            {"type": "item_reference", "id": "msg_2"},
            {"id": "msg_3"},
            {"role": "user", "content": "Where?"},
        ]);
        let wanted = [
            "system: Be short.",
            "user: Who built it?\nAnd when?",
            "assistant: Ilse.\nNo date.",
            "tool: 7",
            "input[6].id = msg_2",
            "input[7].id = msg_3",
            "user: Where?",
        ];
        assert_eq!(read(&conversation), wanted);
    }

    #[test]
    fn inputs_that_are_no_text_are_refused_by_their_path() {
        let content = |part: Value| json!([{"role": "user", "content": [part]}]);
        for (wrong, param) in [
            (json!(null), "input"),
            (json!(7), "input"),
            (json!([7]), "input[0]"),
            (json!([{"type": "message", "content": "q"}]), "input[0].role"),
            (json!([{"role": "tool", "content": "q"}]), "input[0].role"),
            (json!([{"role": "user"}]), "input[0].content"),
            (json!([{"type": "compaction", "id": "c"}]), "input[0].type"),
            (content(json!({"type": "input_image", "image_url": "x"})), "input[0].content[0].type"),
            (content(json!({"text": "q"})), "input[0].content[0].type"),
            (content(json!({"type": "input_text"})), "input[0].content[0].text"),
        ] {
            let refused = json!(items(&wrong).err().unwrap());
            assert_eq!(
                (&refused["status"], &refused["param"]),
                (&json!(400), &json!(param)),
                "{wrong}"
            );
        }
    }

    #[test]
    fn the_last_message_is_a_persons() {
        let check = |roles: &[&str]| {
            let message = |role: &&str| Message { role: (*role).to_owned(), content: json!("q") };
            check_question(&roles.iter().map(message).collect::<Vec<_>>()).is_ok()
        };
        assert!(check(&["user"]) && check(&["assistant", "user", "system", "tool"]));
        assert!(!check(&[]) && !check(&["system"]) && !check(&["user", "assistant"]));
    }
}
