//! Asks for a shape of the reply, in the forms that endpoints understand.

use std::borrow::Cow;

use pikerag_knowledge::Schema;
use serde::Serialize;
use serde_json::Value;

use crate::openai::Structured;

/// The field that asks for the shape of a reply.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ResponseFormat<'a> {
    JsonSchema { json_schema: WireSchema<'a> },
    JsonObject,
}

/// A schema with its name.
#[derive(Serialize)]
pub(super) struct WireSchema<'a> {
    name: &'a str,
    schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

/// The fields of a schema that limit lengths: they keep weak models from repeating themselves.
const BOUNDS: [&str; 2] = ["maxLength", "maxItems"];

/// Whether the schema limits a length anywhere.
pub(super) fn is_bounded(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            BOUNDS.iter().any(|bound| fields.contains_key(*bound))
                || fields.values().any(is_bounded)
        }
        Value::Array(items) => items.iter().any(is_bounded),
        _ => false,
    }
}

fn without_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !BOUNDS.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), without_bounds(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_bounds).collect()),
        other => other.clone(),
    }
}

/// The field for a schema; `None` if the prompt alone describes the shape. `strict` only for closed
/// schemas: OpenAI refuses strictness for open ones.
pub(super) fn response_format(
    schema: &Schema,
    structured: Structured,
    has_bounds: bool,
) -> Option<ResponseFormat<'_>> {
    match structured {
        Structured::Auto | Structured::JsonSchema => {
            let closed = schema.schema.get("additionalProperties") == Some(&Value::Bool(false));
            Some(ResponseFormat::JsonSchema {
                json_schema: WireSchema {
                    name: &schema.name,
                    schema: match has_bounds {
                        true => Cow::Borrowed(&schema.schema),
                        false => Cow::Owned(without_bounds(&schema.schema)),
                    },
                    strict: closed.then_some(true),
                },
            })
        }
        Structured::JsonObject => Some(ResponseFormat::JsonObject),
        Structured::Prompt => None,
    }
}
