//! Remembers what an endpoint refuses, although the protocol has it.

use std::sync::atomic::{AtomicU8, Ordering};

use tracing::info;

use super::Structured;
use super::trouble::Trouble;

const NO_SCHEMA: u8 = 1;
const NO_JSON_OBJECT: u8 = 1 << 1;
const NO_MAX_TOKENS: u8 = 1 << 2;
const NO_TEMPERATURE: u8 = 1 << 3;
const NO_BOUNDS: u8 = 1 << 4;

/// What was refused so far. Only grows, so that each quirk costs one refused call per process (a few
/// where calls run side by side).
#[derive(Debug, Default)]
pub(crate) struct Quirks(AtomicU8);

/// The dialect that one request is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dialect(u8);

impl Quirks {
    /// The dialect to write the next request in.
    pub(super) fn dialect(&self) -> Dialect {
        Dialect(self.0.load(Ordering::Relaxed))
    }

    /// Remembers a dialect that was understood. One that was not teaches nothing: the error may have
    /// named a field only because it repeats the request.
    pub(super) fn remember(&self, model: &str, understood: Dialect) {
        let known = self.0.fetch_or(understood.0, Ordering::Relaxed);
        for quirk in [NO_BOUNDS, NO_SCHEMA, NO_JSON_OBJECT, NO_MAX_TOKENS, NO_TEMPERATURE] {
            if understood.has(quirk) && known & quirk == 0 {
                info!(model, refused = name(quirk), "the endpoint refuses a field; doing without");
            }
        }
    }
}

impl Dialect {
    /// The dialect to try after a refusal; None if the dialect was not to blame. Each leaves out
    /// more than the one before, so trying comes to an end.
    pub(super) fn simpler(
        self,
        asked: Structured,
        is_bounded: bool,
        trouble: &Trouble,
    ) -> Option<Self> {
        // Bounds are no part of a shape that was pinned: they only keep replies short.
        let sends_bounds = is_bounded
            && !self.has(NO_BOUNDS)
            && matches!(self.structured(asked), Structured::Auto | Structured::JsonSchema);
        let shaped = asked == Structured::Auto && self.structured(asked) != Structured::Prompt;
        let quirk = if self.has_max_tokens() && trouble.refuses(names_the_limit) {
            NO_MAX_TOKENS
        } else if self.has_temperature() && trouble.refuses(names_the_temperature) {
            NO_TEMPERATURE
        } else if sends_bounds && trouble.refuses(names_the_shape) {
            NO_BOUNDS
        } else if shaped && trouble.refuses(names_the_shape) {
            if self.has(NO_SCHEMA) { NO_JSON_OBJECT } else { NO_SCHEMA }
        } else {
            return None;
        };
        Some(Self(self.0 | quirk))
    }

    /// How to ask for the shape of a reply, `asked` being the setting.
    pub(super) fn structured(self, asked: Structured) -> Structured {
        match asked {
            Structured::Auto if self.has(NO_JSON_OBJECT) => Structured::Prompt,
            Structured::Auto if self.has(NO_SCHEMA) => Structured::JsonObject,
            Structured::Auto => Structured::JsonSchema,
            asked => asked,
        }
    }

    /// Whether a schema may say how long a string or a list may be: OpenAI's strict ones may not.
    pub(super) fn has_bounds(self) -> bool {
        !self.has(NO_BOUNDS)
    }

    /// Reasoning models of OpenAI call it `max_completion_tokens`, older endpoints `max_tokens`.
    pub(super) fn has_max_tokens(self) -> bool {
        !self.has(NO_MAX_TOKENS)
    }

    /// Reasoning models of OpenAI choose their own.
    pub(super) fn has_temperature(self) -> bool {
        !self.has(NO_TEMPERATURE)
    }

    fn has(self, quirk: u8) -> bool {
        self.0 & quirk != 0
    }
}

/// `Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead.` Not what vLLM says
/// of long prompts, `'max_tokens' or 'max_completion_tokens' is too large`.
fn names_the_limit(said: &str) -> bool {
    said.contains("max_completion_tokens") && said.contains("support")
}

/// `Unsupported value: 'temperature' does not support 0 with this model.`
fn names_the_temperature(said: &str) -> bool {
    said.contains("temperature") && said.contains("support")
}

fn names_the_shape(said: &str) -> bool {
    ["response_format", "json_schema", "json_object", "json schema", "grammar"]
        .iter()
        .any(|name| said.contains(name))
}

fn name(quirk: u8) -> &'static str {
    match quirk {
        NO_BOUNDS => "bounds in a JSON schema",
        NO_SCHEMA => "response_format json_schema",
        NO_JSON_OBJECT => "response_format json_object",
        NO_MAX_TOKENS => "max_tokens",
        _ => "temperature",
    }
}
