//! Fills `response_format` and the arguments of a forced function from the checked answer.

mod retries;
mod schemas;

use std::collections::BTreeMap;

use pikerag_engine::knowledge::Answer;
use pikerag_engine::narrate::{InWords, Language, Words};
use pikerag_engine::parts::{FillSchema, Filled as Outcome, NotFilled, UnusableSchema};
use pikerag_engine::{AskResponse, FillRequest, Session, can_fill, fill};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use self::retries::without_retries;
use self::schemas::{described, is_described_in_words, without_request_for_json};
use super::chat::{Message, shown};
use super::cited::Place;
use super::contract::unsupported;
use crate::problem::{Fault, Problem};
use crate::streams::{After, broken};

/// The object that a request asks for in place of a text.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    schema: FillSchema,
    /// The function whose arguments it is; `None` for an object as content.
    function: Option<Function>,
    /// Why the client refused earlier values.
    complaint: Option<String>,
}

/// A function that must be called.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    name: String,
    /// Whether `tool_choice` names it; else it is the only one.
    is_named: bool,
}

/// An object that is filled as a part of a run.
pub(crate) struct Filling(oneshot::Receiver<Result<Filled, Problem>>);

/// The object in its place, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filled {
    content: Content,
    function: Option<Function>,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    /// The object as JSON.
    Object(String),
    /// The answer in words: it gives nothing, and the schema has no null for that.
    Refusal(String),
}

impl Wanted {
    /// The object that these fields ask for; `None` if they ask for a text. Fields of the Responses API, which are
    /// flat, are read too. Values that no object is made for are left to the caller.
    ///
    /// # Errors
    /// The schema is missing or cannot be filled, whatever the answer, or the forced function does not exist.
    pub(crate) fn of(
        response_format: &Value,
        tools: &Value,
        tool_choice: &Value,
    ) -> Result<Option<Self>, Problem> {
        if let Some(function) = forced(tools, tool_choice) {
            let Some(parameters) = parameters_of(tools, &function.name) else {
                return Err(Problem::bad_request(format!(
                    "`tools` has no function `{}`",
                    function.name
                ))
                .about("tool_choice"));
            };
            let schema = schema(&function.name, parameters, "tools")?;
            return Ok(Some(Self { schema, function: Some(function), complaint: None }));
        }
        let schema = match response_format.get("type").and_then(Value::as_str) {
            Some("json_object") => FillSchema::any_object(),
            Some("json_schema") => {
                let format = response_format.get("json_schema").unwrap_or(response_format);
                let Some(root) = format.get("schema").filter(|root| !root.is_null()) else {
                    return Err(Problem::bad_request("`response_format` has no schema")
                        .about("response_format"));
                };
                let name = format.get("name").and_then(Value::as_str).unwrap_or_default();
                schema(name, root.clone(), "response_format")?
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { schema, function: None, complaint: None }))
    }

    /// As [`Wanted::of`], from the other fields of a request. The fields that it honours are removed.
    ///
    /// # Errors
    /// See [`Wanted::of`].
    pub(crate) fn take(others: &mut BTreeMap<String, Value>) -> Result<Option<Self>, Problem> {
        let nothing = Value::Null;
        let field = |name: &str| others.get(name).unwrap_or(&nothing);
        let format = field("response_format");
        let wanted = Self::of(format, field("tools"), field("tool_choice"))?;
        let kind = format.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_json = matches!(kind, "json_object" | "json_schema");
        if wanted.is_some() && is_json {
            others.remove("response_format");
        }
        if wanted.as_ref().is_some_and(|wanted| wanted.function.is_some()) {
            others.remove("tool_choice");
        }
        Ok(wanted)
    }

    /// The object that Ollama's `format` asks for: any object for `json` or an empty schema, else that of the schema.
    /// `None` if it asks for a text.
    ///
    /// # Errors
    /// The value is neither `json` nor a schema, or the schema cannot be filled, whatever the answer.
    pub(crate) fn of_format(format: Option<&Value>) -> Result<Option<Self>, Problem> {
        let schema = match format {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(word)) if word.is_empty() => return Ok(None),
            Some(Value::String(word)) if word == "json" => FillSchema::any_object(),
            Some(Value::Object(root)) if root.is_empty() => FillSchema::any_object(),
            Some(root) if root.is_object() => schema("", root.clone(), "format")?,
            Some(other) => {
                return Err(unsupported("format", other, "send `json` or a JSON schema"));
            }
        };
        Ok(Some(Self { schema, function: None, complaint: None }))
    }

    /// Refuses a schema that rules cannot fill if no model is set.
    pub(crate) fn check(&self, session: &Session) -> Result<(), Problem> {
        if can_fill(session, &self.schema) {
            return Ok(());
        }
        let param = if self.function.is_some() { "tools" } else { "response_format" };
        Err(Problem::new(400, "unsupported-value", Fault::Caller)
            .saying("only a chat model can fill this schema, and none is set")
            .in_chinese("只有聊天模型能填写这个 JSON Schema，而没有设置聊天模型")
            .hint("set a chat model, or ask for one field, beside `rationale`, `citations`, `confidence`")
            .about(param))
    }

    /// The work that fills the schema after a run, in the place of that run, and its result. The session pays for it.
    pub(crate) fn after_run(self, session: Session) -> (After, Filling) {
        let (sender, receiver) = oneshot::channel();
        let after: After = Box::new(move |mut came: Box<AskResponse>, stop: CancellationToken| {
            Box::pin(async move {
                if came.result.is_ok() && came.run.answer.is_some() {
                    let filled = self.filled(&session, &mut came, stop).await;
                    // The caller may have left.
                    let _ = sender.send(filled);
                }
                came
            })
        });
        (after, Filling(receiver))
    }

    /// Fills the schema from the answer of a run. A model's calls are recorded and paid like any other, and belong to
    /// the run.
    async fn filled(
        &self,
        session: &Session,
        came: &mut AskResponse,
        cancel: CancellationToken,
    ) -> Result<Filled, Problem> {
        let (schema, complaint) = (self.schema.clone(), self.complaint.clone());
        let outcome = fill(session, &FillRequest { schema, complaint, cancel }, came).await?;
        let Some(answer) = &came.run.answer else { return Err(broken()) };
        let content = match outcome {
            Outcome::Value(value) => Content::Object(value.to_string()),
            Outcome::Withheld => Content::Refusal(shown(answer).0),
            Outcome::Not(reason) => {
                return Err(not_filled(&reason, &came.run.question.text, answer));
            }
        };
        Ok(Filled { content, function: self.function.clone() })
    }
}

/// What a request asks for, and its conversation without the messages by which a client asks to correct earlier values.
/// Some clients describe the schema in the messages.
///
/// # Errors
/// The schema in the messages cannot be filled, whatever the answer.
pub(crate) fn read(
    wanted: Option<Wanted>,
    messages: Vec<Message>,
) -> Result<(Option<Wanted>, Vec<Message>), Problem> {
    let is_open = wanted.as_ref().is_none_or(|wanted| wanted.schema == FillSchema::any_object());
    let is_asked_for = wanted.is_some() || is_described_in_words(&messages);
    let root = if is_open && is_asked_for { described(&messages) } else { None };
    let wanted = match root {
        Some(root) => {
            let function = wanted.and_then(|wanted| wanted.function);
            let schema = schema("", root, "messages")?;
            Some(Wanted { schema, function, complaint: None })
        }
        None => wanted,
    };
    let Some(wanted) = wanted else { return Ok((None, messages)) };
    let (messages, complaint) = without_retries(messages, wanted.function.is_some());
    let messages = without_request_for_json(messages);
    Ok((Some(Wanted { complaint, ..wanted }), messages))
}

/// The function that must be called.
fn forced(tools: &Value, choice: &Value) -> Option<Function> {
    let name_in = |part: &Value| {
        let name = part.get("function").unwrap_or(part).get("name")?;
        name.as_str().map(str::to_owned)
    };
    let functions = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(name_in).collect()
    };
    let only = |mut names: Vec<String>| match (names.pop(), names.is_empty()) {
        (Some(name), true) => Some(Function { name, is_named: false }),
        _ => None,
    };
    match choice.get("type").and_then(Value::as_str) {
        Some("function") => Some(Function { name: name_in(choice)?, is_named: true }),
        Some("allowed_tools") => {
            let allowed = choice.get("allowed_tools").unwrap_or(choice);
            let is_required = allowed.get("mode") == Some(&json!("required"));
            only(functions(allowed.get("tools").filter(|_| is_required)?))
        }
        _ if choice == &json!("required") => only(functions(tools)),
        _ => None,
    }
}

/// The parameters of a function; any object if it declares none.
fn parameters_of(tools: &Value, name: &str) -> Option<Value> {
    let functions = tools.as_array()?.iter().map(|tool| tool.get("function").unwrap_or(tool));
    let mut named = functions.filter(|it| it.get("name") == Some(&json!(name)));
    let parameters = named.next()?.get("parameters").filter(|it| !it.is_null());
    Some(parameters.cloned().unwrap_or_else(|| json!({"type": "object"})))
}

fn schema(name: &str, root: Value, param: &str) -> Result<FillSchema, Problem> {
    FillSchema::new(name, root).map_err(|reason: UnusableSchema| {
        let Words { english, chinese } = reason.words();
        Problem::new(400, "unsupported-value", Fault::Caller)
            .saying(english)
            .in_chinese(chinese)
            .about(param)
    })
}

/// The problem of an answer that does not give the values, with the answer in words.
fn not_filled(reason: &NotFilled, question: &str, answer: &Answer) -> Problem {
    let Words { english, chinese } = reason.words();
    let answer = shown(answer).0;
    let english = format!("{english}; the answer: {answer}");
    let chinese = format!("{chinese}；回答：{answer}");
    let problem = Problem::new(422, "schema-not-filled", Fault::Caller).in_chinese(chinese.clone());
    match Language::of(question) {
        Language::English => problem.saying(english),
        Language::Chinese => problem.saying(chinese),
    }
}

impl Filling {
    /// The object, which is there once the run has ended with an answer.
    ///
    /// # Errors
    /// The call failed, or the answer does not give the values; the problem has the answer in words.
    pub(crate) async fn filled(self) -> Result<Filled, Problem> {
        self.0.await.unwrap_or_else(|_| Err(broken()))
    }
}

impl Filled {
    /// The object as JSON; `None` for a refusal.
    pub(crate) fn object(&self) -> Option<&str> {
        match &self.content {
            Content::Object(object) => Some(object),
            Content::Refusal(_) => None,
        }
    }

    /// The answer in words, if it gives nothing and the schema has no null for that.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match &self.content {
            Content::Object(_) => None,
            Content::Refusal(words) => Some(words),
        }
    }

    /// The name of the function that is called, and its arguments as JSON.
    pub(crate) fn call(&self) -> Option<(&str, &str)> {
        let function = self.function.as_ref()?;
        Some((function.name.as_str(), self.object()?))
    }

    /// The message of a chat completion; `run` names the call of a function.
    pub(crate) fn message(&self, run: &str) -> Value {
        let (content, refusal) = (self.object(), self.refusal());
        match (content, &self.function) {
            (Some(arguments), Some(function)) => json!({
                "role": "assistant", "content": null, "refusal": null,
                "tool_calls": [call(run, &function.name, arguments)],
            }),
            _ => json!({"role": "assistant", "content": content, "refusal": refusal}),
        }
    }

    /// The same as a delta of a stream.
    pub(crate) fn delta(&self, run: &str) -> Value {
        match (&self.content, &self.function) {
            (Content::Object(arguments), Some(function)) => {
                let mut call = call(run, &function.name, arguments);
                if let Some(fields) = call.as_object_mut() {
                    fields.insert("index".to_owned(), json!(0));
                }
                json!({"tool_calls": [call]})
            }
            (Content::Object(content), None) => json!({ "content": content }),
            (Content::Refusal(words), _) => json!({ "refusal": words }),
        }
    }

    /// Why the message ends: as at OpenAI, `stop` if `tool_choice` names the function.
    pub(crate) fn finish(&self) -> &'static str {
        match &self.function {
            Some(Function { is_named: false, .. }) if self.object().is_some() => "tool_calls",
            _ => "stop",
        }
    }

    /// The citations of the answer: they belong to the whole content, which is empty for a call or a refusal.
    pub(crate) fn places(&self, of_text: Vec<Place>) -> Vec<Place> {
        let length = self.length();
        of_text.into_iter().map(|(citation, ..)| (citation, 0, length)).collect()
    }

    /// The number of characters of the content; 0 without content.
    fn length(&self) -> usize {
        match (&self.content, &self.function) {
            (Content::Object(content), None) => content.chars().count(),
            _ => 0,
        }
    }
}

fn call(run: &str, name: &str, arguments: &str) -> Value {
    json!({
        "id": format!("call_{run}"), "type": "function",
        "function": {"name": name, "arguments": arguments},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Value {
        json!({"type": "object", "properties": {"capital": {"type": "string"}}, "required": ["capital"]})
    }

    fn tool(name: &str) -> Value {
        json!({"type": "function", "function": {"name": name, "parameters": form()}})
    }

    /// The forced function, or `content`; nothing if no object is asked for.
    fn asked(fields: Value) -> Option<String> {
        let mut others: BTreeMap<String, Value> = serde_json::from_value(fields).unwrap();
        let wanted = Wanted::take(&mut others).unwrap()?;
        assert!(!others.contains_key("response_format"), "{others:?}");
        assert!(wanted.function.is_none() || !others.contains_key("tool_choice"), "{others:?}");
        Some(wanted.function.map_or("content".to_owned(), |function| function.name))
    }

    #[test]
    fn formats_and_forced_functions_ask_for_an_object() {
        let named = json!({"type": "function", "function": {"name": "City"}});
        let flat = json!({"type": "function", "name": "City"});
        let flat_tool = json!({"type": "function", "name": "City", "parameters": form()});
        let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [tool("City")]}});
        for (fields, expected) in [
            (json!({"response_format": {"type": "json_object"}}), "content"),
            (
                json!({"response_format": {"type": "json_schema", "json_schema": {"name": "City", "schema": form(), "strict": true}}}),
                "content",
            ),
            (
                json!({"response_format": {"type": "json_schema", "name": "City", "schema": form()}}),
                "content",
            ),
            (json!({"tools": [tool("Town"), tool("City")], "tool_choice": named}), "City"),
            (json!({"tools": [flat_tool], "tool_choice": flat}), "City"),
            (json!({"tools": [tool("City")], "tool_choice": "required"}), "City"),
            (json!({"tools": [tool("City"), tool("Town")], "tool_choice": allowed}), "City"),
        ] {
            assert_eq!(asked(fields.clone()).as_deref(), Some(expected), "{fields}");
        }
        for fields in [
            json!({"tools": [tool("City"), tool("Town")], "tool_choice": "required"}),
            json!({"tools": [tool("City")], "tool_choice": "auto"}),
            json!({"tools": [tool("City")]}),
            json!({}),
        ] {
            assert_eq!(asked(fields.clone()), None, "{fields}");
        }
        let mut text = BTreeMap::from([("response_format".to_owned(), json!({"type": "text"}))]);
        assert!(Wanted::take(&mut text).unwrap().is_none() && !text.is_empty());
    }

    #[test]
    fn what_cannot_be_filled_is_refused_by_its_field() {
        let list = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}});
        let none = json!({"type": "json_schema", "json_schema": {"name": "x"}});
        let other = json!({"type": "function", "function": {"name": "Town"}});
        let nothing = Value::Null;
        let tools = json!([tool("City")]);
        for (format, choice, code, param) in [
            (&list, &nothing, "unsupported-value", "response_format"),
            (&none, &nothing, "bad-request", "response_format"),
            (&nothing, &other, "bad-request", "tool_choice"),
        ] {
            let problem = Wanted::of(format, &tools, choice).unwrap_err();
            assert_eq!((problem.code(), &json!(problem)["param"]), (code, &json!(param)));
        }
    }

    #[test]
    fn a_format_of_ollama_is_json_or_a_schema() {
        let of = |format: Value| Wanted::of_format(Some(&format)).map(|wanted| wanted.is_some());
        for (format, asks) in
            [(json!("json"), true), (form(), true), (json!({}), true), (json!(""), false)]
        {
            assert_eq!(of(format.clone()).unwrap(), asks, "{format}");
        }
        assert!(Wanted::of_format(Some(&Value::Null)).unwrap().is_none());
        assert!(Wanted::of_format(None).unwrap().is_none());
        for wrong in [json!("yaml"), json!(1), json!([]), json!({"type": "array"})] {
            let problem = of(wrong.clone()).unwrap_err();
            assert_eq!(
                (problem.code(), &json!(problem)["param"]),
                ("unsupported-value", &json!("format"))
            );
        }
    }

    fn filled(content: Content, function: Option<bool>) -> Filled {
        let function = function.map(|is_named| Function { name: "City".to_owned(), is_named });
        Filled { content, function }
    }

    #[test]
    fn messages_and_deltas_have_the_form_of_openai() {
        let object = Content::Object("{\"capital\":\"Oslo\"}".to_owned());
        let content = filled(object.clone(), None);
        assert_eq!(content.message("r1")["content"], "{\"capital\":\"Oslo\"}");
        assert_eq!(content.delta("r1"), json!({"content": "{\"capital\":\"Oslo\"}"}));
        assert_eq!((content.finish(), content.length()), ("stop", 18));
        let called = filled(object, Some(false));
        let message = called.message("r1");
        assert_eq!((&message["content"], called.finish()), (&Value::Null, "tool_calls"));
        let function = json!({"name": "City", "arguments": "{\"capital\":\"Oslo\"}"});
        assert_eq!(
            message["tool_calls"],
            json!([{"id": "call_r1", "type": "function", "function": function}])
        );
        assert_eq!(called.delta("r1")["tool_calls"][0]["index"], 0);
        let refused = filled(Content::Refusal("Not found.".to_owned()), Some(true));
        let message = refused.message("r1");
        assert_eq!(
            (&message["content"], &message["refusal"]),
            (&Value::Null, &json!("Not found."))
        );
        assert_eq!(refused.delta("r1"), json!({"refusal": "Not found."}));
        assert_eq!((refused.finish(), refused.length()), ("stop", 0));
    }
}
