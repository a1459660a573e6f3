//! Fills a JSON Schema from a checked answer: by rules where the schema is simple, else by one call of a model.
//!
//! No value is invented: each comes from the answer, its reasons or its verified quotes.

mod fields;
mod grounded;
mod model;
mod numbers;
mod rules;
#[cfg(test)]
mod samples;
mod schema;

use pikerag_knowledge::facts::UnreadableReply;
use pikerag_knowledge::{Account, Answer, ChatModel};
use pikerag_narrate::{InWords, Words};
use pikerag_prompt::AskError;
use serde_json::Value;

use self::fields::{are_simple, fields, root_object};
use self::schema::{MOST_PATTERNS, Uncheckable, uncheckable};

/// The most bytes of a schema: it is a part of a prompt.
const LONGEST: usize = 30_000;

/// A JSON Schema that an answer can fill.
#[derive(Clone, Debug, PartialEq)]
pub struct FillSchema {
    name: String,
    /// None for any object.
    root: Option<Value>,
}

/// Why a schema cannot be filled, whatever the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnusableSchema {
    /// Its root is no object with properties.
    NoObject,
    /// It has too many bytes.
    TooLong {
        /// The most bytes.
        most: usize,
    },
    /// It refers to a place outside of it, or to one that does not exist.
    Reference {
        /// The reference.
        reference: String,
    },
    /// It has a regular expression that pikerag cannot read, or that needs too much memory.
    Pattern {
        /// The expression.
        pattern: String,
    },
    /// It has too many different regular expressions.
    Patterns {
        /// The most of them.
        most: usize,
    },
}

/// The values come from these.
#[derive(Clone, Copy, Debug)]
pub struct FillSource<'a> {
    /// The question, as it was asked.
    pub question: &'a str,
    /// The checked answer.
    pub answer: &'a Answer,
    /// The reason why a client refused earlier values, if it did.
    pub complaint: Option<&'a str>,
}

/// The outcome of filling a schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Filled {
    /// An object that meets the schema.
    Value(Value),
    /// The answer is withheld or was not found, and the schema does not allow null in its place.
    Withheld,
    /// The answer does not give the values.
    Not(NotFilled),
}

/// Why an answer does not give the values of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFilled {
    /// Rules find no single value for a field, and no model is set.
    Unclear {
        /// The field.
        field: String,
    },
    /// The replies of the model did not meet the schema, or had values that the answer does not give.
    Reply {
        /// The fault of the second reply.
        fault: UnreadableReply,
    },
}

impl FillSchema {
    /// A schema with its name.
    ///
    /// # Errors
    /// The schema cannot be filled, whatever the answer.
    pub fn new(name: impl Into<String>, root: Value) -> Result<Self, UnusableSchema> {
        let object = root_object(&root).ok_or(UnusableSchema::NoObject)?;
        if !object.contains_key("properties") && !object.contains_key("additionalProperties") {
            return Ok(Self { name: name.into(), root: None });
        }
        if LONGEST < root.to_string().len() {
            return Err(UnusableSchema::TooLong { most: LONGEST });
        }
        match uncheckable(&root) {
            Some(Uncheckable::Reference(reference)) => Err(UnusableSchema::Reference { reference }),
            Some(Uncheckable::Pattern(pattern)) => Err(UnusableSchema::Pattern { pattern }),
            Some(Uncheckable::Patterns) => Err(UnusableSchema::Patterns { most: MOST_PATTERNS }),
            None => Ok(Self { name: name.into(), root: Some(root) }),
        }
    }

    /// A schema that any object meets. The object has pikerag's own names: `answer`, `rationale`, `refused`,
    /// `missing`, `citations`.
    pub fn any_object() -> Self {
        Self { name: String::new(), root: None }
    }

    /// Its name; empty if it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether rules do not know what each field takes, so that a model must fill them.
    pub fn needs_model(&self) -> bool {
        self.root.as_ref().is_some_and(|root| !are_simple(root, &fields(root)))
    }
}

/// Fills a schema: by rules, or else by the model, with one or two calls. After a complaint, the model is asked first.
/// An unusable reply is no error.
///
/// # Errors
/// The model cannot be reached, or refuses.
pub async fn fill(
    model: Option<&dyn ChatModel>,
    schema: &FillSchema,
    source: &FillSource<'_>,
    account: &mut Account,
) -> Result<Filled, AskError> {
    let answer = source.answer;
    let Some(root) = &schema.root else { return Ok(Filled::Value(rules::whole(answer))) };
    if rules::is_withheld(answer) {
        let filled = rules::fill_withheld(root, answer);
        return Ok(filled.map_or(Filled::Withheld, Filled::Value));
    }
    let by_rules = rules::fill(root, source.question, answer);
    let (by_rules, model) = match (by_rules, model) {
        (Ok(value), None) => return Ok(Filled::Value(value)),
        (Ok(value), Some(_)) if source.complaint.is_none() => return Ok(Filled::Value(value)),
        (Err(field), None) => return Ok(Filled::Not(NotFilled::Unclear { field })),
        (by_rules, Some(model)) => (by_rules, model),
    };
    match model::fill(model, (schema.name.as_str(), root), source, account).await {
        Ok(value) => Ok(Filled::Value(value)),
        Err(AskError::Unreadable { reason, .. }) => Ok(match by_rules {
            Ok(value) => Filled::Value(value),
            Err(_) => Filled::Not(NotFilled::Reply { fault: reason.into() }),
        }),
        Err(error) => Err(error),
    }
}

impl InWords for UnusableSchema {
    fn words(&self) -> Words {
        match self {
            Self::NoObject => {
                Words::new("the root of the schema is not an object", "JSON Schema 的根不是对象")
            }
            Self::TooLong { most } => Words::new(
                format!("the schema has more than {most} bytes"),
                format!("JSON Schema 超过 {most} 字节"),
            ),
            Self::Reference { reference } => Words::new(
                format!("the schema has no part `{reference}`"),
                format!("JSON Schema 里没有“{reference}”"),
            ),
            Self::Pattern { pattern } => Words::new(
                format!("the schema's pattern `{pattern}` cannot be read"),
                format!("JSON Schema 的正则表达式“{pattern}”无法读取"),
            ),
            Self::Patterns { most } => Words::new(
                format!("the schema has more than {most} patterns"),
                format!("JSON Schema 的正则表达式超过 {most} 个"),
            ),
        }
    }
}

impl InWords for NotFilled {
    fn words(&self) -> Words {
        match self {
            Self::Unclear { field } => Words::new(
                format!("the answer gives no single value for `{field}`, and no chat model is set"),
                format!("回答没有给出“{field}”的唯一值，也没有设置聊天模型"),
            ),
            Self::Reply { fault } => {
                let fault = fault.words();
                Words::new(
                    format!(
                        "the model's values do not fit the schema and the answer: {}",
                        fault.english
                    ),
                    format!("模型给出的值不符合 JSON Schema 或回答：{}", fault.chinese),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::ScriptedChat;
    use serde_json::json;

    use super::samples::{answer, cited_answer};
    use super::*;

    fn schema(root: &Value) -> FillSchema {
        FillSchema::new("form", root.clone()).unwrap()
    }

    async fn filled(chat: Option<&ScriptedChat>, root: &Value, source: &FillSource<'_>) -> Filled {
        let model = chat.map(|chat| chat as &dyn ChatModel);
        fill(model, &schema(root), source, &mut Account::default()).await.unwrap()
    }

    fn of(answer: &Answer) -> FillSource<'_> {
        FillSource { question: "Which is the capital?", answer, complaint: None }
    }

    #[tokio::test]
    async fn simple_schemas_make_no_call() {
        let chat = ScriptedChat::by(|_| panic!("no call"));
        let one = json!({"type": "object", "properties": {"capital": {"type": "string"}}, "required": ["capital"]});
        let answer = cited_answer();
        assert_eq!(
            filled(Some(&chat), &one, &of(&answer)).await,
            Filled::Value(json!({"capital": "Oslo"}))
        );
        let (schema_of_any, mut account) = (FillSchema::any_object(), Account::default());
        let any = fill(None, &schema_of_any, &of(&answer), &mut account).await.unwrap();
        let Filled::Value(any) = any else { panic!("not filled") };
        assert_eq!(
            (&any["answer"], &any["citations"][0]["uri"]),
            (&json!("Oslo"), &json!("guide.md"))
        );
        let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
        assert_eq!(filled(Some(&chat), &empty, &of(&answer)).await, Filled::Value(json!({})));
        assert_eq!(
            schema(&json!({"type": "object"})),
            FillSchema { name: "form".to_owned(), root: None }
        );
    }

    #[tokio::test]
    async fn a_model_fills_what_rules_cannot() {
        let two = json!({"type": "object", "properties": {"city": {"type": "string"}, "book": {"type": "string"}}, "required": ["city", "book"]});
        assert!(schema(&two).needs_model());
        let answer = cited_answer();
        let unclear = Filled::Not(NotFilled::Unclear { field: "city".to_owned() });
        assert_eq!(filled(None, &two, &of(&answer)).await, unclear);
        let values = json!({"city": "Oslo", "book": "guide"});
        let chat = ScriptedChat::in_order([values.to_string()]);
        assert_eq!(filled(Some(&chat), &two, &of(&answer)).await, Filled::Value(values));
        let wrong = json!({"city": "Bergen", "book": "guide"}).to_string();
        let chat = ScriptedChat::in_order([wrong.clone(), wrong]);
        let Filled::Not(reason) = filled(Some(&chat), &two, &of(&answer)).await else {
            panic!("an invented value was accepted");
        };
        let Words { english, chinese } = reason.words();
        assert!(
            english.contains("\"Bergen\"") && chinese.contains("\"Bergen\""),
            "{english} {chinese}"
        );
    }

    #[tokio::test]
    async fn a_withheld_answer_is_not_filled_by_a_model() {
        let chat = ScriptedChat::by(|_| panic!("no call"));
        let withheld = Answer { refused: true, ..answer("The guide does not say it.") };
        let strict = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]});
        assert_eq!(filled(Some(&chat), &strict, &of(&withheld)).await, Filled::Withheld);
    }

    #[tokio::test]
    async fn after_a_complaint_the_model_is_asked() {
        let one = json!({"type": "object", "properties": {"capital": {"type": "string"}}, "required": ["capital"]});
        let answer = Answer { text: "It is Oslo.".to_owned(), ..cited_answer() };
        let source = FillSource { complaint: Some("capital: one word"), ..of(&answer) };
        let chat = ScriptedChat::in_order([r#"{"capital": "Oslo"}"#]);
        assert_eq!(
            filled(Some(&chat), &one, &source).await,
            Filled::Value(json!({"capital": "Oslo"}))
        );
        // Without a usable reply or a model, the rules decide again.
        let chat = ScriptedChat::in_order(["no", "no"]);
        let by_rules = Filled::Value(json!({"capital": "It is Oslo."}));
        assert_eq!(filled(Some(&chat), &one, &source).await, by_rules);
        assert_eq!(filled(None, &one, &source).await, by_rules);
    }

    #[test]
    fn schemas_that_nothing_can_fill_are_refused() {
        let of = |root: Value| FillSchema::new("form", root).unwrap_err();
        assert_eq!(of(json!({"type": "array"})), UnusableSchema::NoObject);
        let long =
            json!({"type": "object", "properties": {"a": {"description": "x".repeat(LONGEST)}}});
        assert_eq!(of(long), UnusableSchema::TooLong { most: LONGEST });
        let dangling = json!({"type": "object", "properties": {"a": {"$ref": "other.json"}}});
        assert_eq!(of(dangling), UnusableSchema::Reference { reference: "other.json".to_owned() });
    }
}
