//! Fills a schema by a model, whose values must meet the schema and occur in the answer or its quotes.

use pikerag_knowledge::{Account, Answer, ChatModel, Check, Role, Schema};
use pikerag_prompt::{
    AskError, Prompt, Unreadable, ask_read, closed, find_json, or_null, quiet_headings,
    quiet_words, without_thinking,
};
use serde_json::{Map, Value, json};

use super::FillSource;
use super::fields::{root_object, type_of};
use super::grounded::{Invented, Sources, invented};
use super::schema::{Misfit, check};

const PROMPT: Prompt = Prompt::new(Role::Answer, include_str!("../prompts/fill.md"), 2048);
/// The most characters of the reason why a client refused earlier values.
const LONGEST_COMPLAINT: usize = 2000;
/// The deepest schema that an endpoint is asked to enforce.
const DEEPEST: usize = 8;
/// The most fields and choices of such a schema: references within references multiply.
const MOST_PARTS: usize = 1000;
/// Where the values must come from, for the model.
const FROM: &str = "words or a number of the answer, its reasons or its quotes";

/// Asks a model for the values: one call, two if the first reply does not fit.
///
/// # Errors
/// See [`AskError`]; unreadable if the second reply does not fit either.
pub(super) async fn fill(
    model: &dyn ChatModel,
    (name, root): (&str, &Value),
    source: &FillSource<'_>,
    account: &mut Account,
) -> Result<Value, AskError> {
    let FillSource { question, answer, complaint } = *source;
    let complaint: String = complaint.unwrap_or_default().chars().take(LONGEST_COMPLAINT).collect();
    let sources = Sources::of(answer);
    // A description may have line ends that JSON does not escape.
    let schema = quiet_headings(&root.to_string());
    let (question, text) = (quiet_headings(question), quiet_headings(answer.text.trim()));
    let (rationale, complaint) =
        (quiet_headings(answer.rationale.trim()), quiet_headings(complaint.trim()));
    let quotes = quotes(answer);
    let inputs = [
        ("schema", schema.as_str()),
        ("quotes", quotes.as_str()),
        ("question", question.as_str()),
        ("answer", text.as_str()),
        ("rationale", rationale.as_str()),
        ("complaint", complaint.as_str()),
    ];
    let enforced = enforceable(root).map(|schema| Schema { name: plain_name(name), schema });
    let read = |reply: &str| read_value(root, &sources, reply);
    ask_read(model, &PROMPT, &inputs, enforced, read, account).await
}

/// The verified quotes, each below the title of its passage.
fn quotes(answer: &Answer) -> String {
    let mut blocks = Vec::new();
    for citation in answer.citations.iter().filter(|it| it.check == Check::Verified) {
        let title = quiet_words(&citation.title.split_whitespace().collect::<Vec<_>>().join(" "));
        let columns = match citation.columns.as_slice() {
            [] => String::new(),
            columns => format!("\n{}", quiet_headings(&columns.join(" | "))),
        };
        let quote = quiet_headings(&citation.quote);
        blocks.push(format!("[{}] {title}{columns}\n{quote}", blocks.len() + 1));
    }
    if blocks.is_empty() { "(none)".to_owned() } else { blocks.join("\n\n") }
}

/// The value of a reply, if it meets the schema and comes from the sources.
fn read_value(root: &Value, sources: &Sources, reply: &str) -> Result<Value, Unreadable> {
    let reply = without_thinking(reply);
    if reply.is_empty() {
        return Err(Unreadable::Empty);
    }
    let found = find_json(reply, &[]).filter(|found| found.complete);
    let Some(found) = found else { return Err(Unreadable::NoObject { keys: names(root) }) };
    let value = without_empty(root, root, found.value);
    check(root, &value).map_err(|Misfit { path, expected }| Unreadable::key(&path, expected))?;
    match invented(sources, root, &value) {
        None => Ok(value),
        Some(Invented { path, value }) => {
            Err(Unreadable::key(&path, format!("{FROM}, else null; {value} is none of them")))
        }
    }
}

/// The names of the fields at the root, for an error about the whole reply.
fn names(root: &Value) -> String {
    let own = root_object(root).and_then(|object| object.get("properties"));
    let names = own.and_then(Value::as_object).into_iter().flat_map(Map::keys);
    names.map(String::as_str).collect::<Vec<_>>().join("`, `")
}

/// The value without nulls in fields that may be left out but not be null: models write them for nothing.
fn without_empty(root: &Value, schema: &Value, value: Value) -> Value {
    let Some(kind) = type_of(root, schema) else { return value };
    match value {
        Value::Object(fields) => {
            let own = kind.schema.get("properties").and_then(Value::as_object);
            let required = kind.schema.get("required").and_then(Value::as_array);
            let is_required =
                |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
            let mut kept = Map::new();
            for (name, value) in fields {
                let Some(schema) = own.and_then(|own| own.get(&name)) else {
                    kept.insert(name, value);
                    continue;
                };
                let is_nullable = type_of(root, schema).is_none_or(|kind| kind.is_nullable);
                if value.is_null() && !is_nullable && !is_required(&name) {
                    continue;
                }
                kept.insert(name, without_empty(root, schema, value));
            }
            Value::Object(kept)
        }
        Value::Array(items) => match kind.schema.get("items") {
            Some(schema) => {
                items.into_iter().map(|item| without_empty(root, schema, item)).collect()
            }
            None => Value::Array(items),
        },
        other => other,
    }
}

/// The shape of a schema in the keywords that all endpoints know, with references filled in and all fields required;
/// fields that may be left out may be null. `None` if it cannot be said so: an endpoint that refuses a schema would
/// get none for any prompt after that.
fn enforceable(root: &Value) -> Option<Value> {
    let mut parts_left = MOST_PARTS;
    enforceable_part(root, root, 0, &mut parts_left)
}

fn enforceable_part(
    root: &Value,
    schema: &Value,
    depth: usize,
    parts_left: &mut usize,
) -> Option<Value> {
    let kind = type_of(root, schema).filter(|_| depth < DEEPEST)?;
    let choices = kind.choices();
    *parts_left = parts_left.checked_sub(choices.len().saturating_add(1))?;
    let shape = match kind.name() {
        name @ ("string" | "number" | "integer" | "boolean") if choices.is_empty() => {
            json!({"type": name})
        }
        "string" => {
            json!({"type": "string", "enum": choices})
        }
        "array" => {
            let items = kind.schema.get("items")?;
            let items = enforceable_part(root, items, depth + 1, parts_left)?;
            json!({"type": "array", "items": items})
        }
        "object" => {
            let own = kind.schema.get("properties").and_then(Value::as_object)?;
            let required = kind.schema.get("required").and_then(Value::as_array);
            let mut fields = Map::new();
            for (name, schema) in own {
                let shape = enforceable_part(root, schema, depth + 1, parts_left)?;
                let is_required = required.is_some_and(|all| all.iter().any(|it| it == name));
                let has_null = shape.get("type").is_some_and(Value::is_array);
                let shape = if is_required || has_null { shape } else { or_nothing(shape) };
                fields.insert(name.clone(), shape);
            }
            closed(Value::Object(fields))
        }
        _ => return None,
    };
    Some(if kind.is_nullable && 0 < depth { or_nothing(shape) } else { shape })
}

/// The same shape, for a value that may also be null.
fn or_nothing(shape: Value) -> Value {
    let mut shape = or_null(shape);
    if let Some(Value::Array(choices)) = shape.get_mut("enum") {
        choices.push(Value::Null);
    }
    shape
}

/// The name of a schema in letters, digits and underscores.
fn plain_name(name: &str) -> String {
    const LONGEST: usize = 40;
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).take(LONGEST).collect();
    if name.is_empty() { "form".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::ScriptedChat;

    use super::super::samples::cited_answer;
    use super::*;

    fn form() -> Value {
        json!({
            "$defs": {"Size": {"type": "string", "enum": ["small", "large"]}},
            "type": "object",
            "properties": {
                "city": {"type": "string"}, "size": {"$ref": "#/$defs/Size"},
                "people": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "note": {"type": "string"},
            },
            "required": ["city", "size", "people"],
        })
    }

    async fn filled(
        replies: &[&str],
        complaint: Option<&str>,
    ) -> (Result<Value, AskError>, Vec<String>, Account) {
        let chat = ScriptedChat::in_order(replies.iter().copied());
        let (answer, root) = (cited_answer(), form());
        let source = FillSource { question: "Which is the capital?", answer: &answer, complaint };
        let mut account = Account::default();
        let value = fill(&chat, ("City", &root), &source, &mut account).await;
        let schema = chat.requests()[0].schema.clone().unwrap();
        assert_eq!(schema.schema["required"], json!(["city", "size", "people", "note"]));
        assert_eq!(schema.schema["properties"]["note"], json!({"type": ["string", "null"]}));
        assert_eq!(schema.schema["properties"]["people"], json!({"type": ["integer", "null"]}));
        (value, chat.prompts(), account)
    }

    #[tokio::test]
    async fn one_call_fills_the_form_from_the_answer() {
        let reply = r#"{"city": "Oslo", "size": "large", "people": null, "note": null}"#;
        let (value, prompts, account) = filled(&[reply], None).await;
        assert_eq!(value.unwrap(), json!({"city": "Oslo", "size": "large", "people": null}));
        let [prompt] = prompts.as_slice() else { panic!("{prompts:?}") };
        for part in [
            "# Passages\n[1] Guide\nOslo is the capital.",
            "# Question\nWhich is the capital?",
            "# Answer\nOslo\nBy the guide.",
            "\"enum\":[\"small\",\"large\"]",
        ] {
            assert!(prompt.contains(part), "{part}: {prompt}");
        }
        assert!(!prompt.contains("# Notes"), "{prompt}");
        assert_eq!(account.cost().spent.calls(), 1);
    }

    #[tokio::test]
    async fn an_invented_number_is_refused_and_asked_for_again() {
        let wrong = r#"{"city": "Oslo", "size": "large", "people": 709000}"#;
        let right = r#"{"city": "Oslo", "size": "large", "people": null}"#;
        let (value, prompts, _) = filled(&[wrong, right], None).await;
        assert_eq!(value.unwrap()["people"], Value::Null);
        let again = "`people` must be words or a number of the answer, its reasons or its quotes, else null; 709000 is none of them";
        assert!(prompts[1].contains(again), "{}", prompts[1]);
        let (value, prompts, _) = filled(&[wrong, wrong], None).await;
        let error = value.unwrap_err().to_string();
        assert!(error.contains("709000") && prompts.len() == 2, "{error}");
    }

    #[tokio::test]
    async fn a_reply_that_does_not_meet_the_schema_is_asked_for_again() {
        let wrong = r#"{"city": "Oslo", "size": "huge", "people": null}"#;
        let (value, prompts, _) = filled(&[wrong, "no"], Some("size: bad value")).await;
        assert!(matches!(value, Err(AskError::Unreadable { .. })), "{value:?}");
        assert!(prompts[1].contains(r#"`size` must be one of ["small","large"]"#), "{prompts:?}");
        assert!(
            prompts[0].contains(
                "# Notes\nThe program that reads the form refused earlier values:\nsize: bad value"
            ),
            "{}",
            prompts[0]
        );
    }

    #[test]
    fn only_shapes_that_all_endpoints_know_are_enforced() {
        let of = |schema: Value| enforceable(&schema);
        let open = json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}});
        let both = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}});
        let endless = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
        for schema in [open, both, endless] {
            assert_eq!(of(schema.clone()), None, "{schema}");
        }
        let list = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "pattern": "x"}}}, "required": ["a"]});
        assert_eq!(
            of(list).unwrap()["properties"]["a"],
            json!({"type": "array", "items": {"type": "string"}})
        );
    }

    #[test]
    fn references_that_multiply_are_not_enforced() {
        let mut definitions = Map::new();
        for level in 0..6 {
            let next = match level {
                5 => json!({"type": "string"}),
                _ => json!({"$ref": format!("#/$defs/{}", level + 1)}),
            };
            let fields: Map<String, Value> =
                (0..100).map(|number| (number.to_string(), next.clone())).collect();
            let object = json!({"type": "object", "properties": fields});
            definitions.insert(level.to_string(), object);
        }
        let root = json!({"$ref": "#/$defs/0", "$defs": definitions});
        assert_eq!(enforceable(&root), None);
        // The last level alone has 100 fields.
        let last = json!({"$ref": "#/$defs/5", "$defs": definitions});
        assert!(enforceable(&last).is_some());
    }
}
