//! Remembers which features of the protocol an endpoint refuses.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tracing::info;

use super::Structured;
use super::trouble::Trouble;

const NO_SCHEMA: u8 = 1;
const NO_JSON_OBJECT: u8 = 1 << 1;
const NO_MAX_TOKENS: u8 = 1 << 2;
const NO_TEMPERATURE: u8 = 1 << 3;
const NO_BOUNDS: u8 = 1 << 4;
const NO_STREAM_OPTIONS: u8 = 1 << 5;
const NO_STREAM: u8 = 1 << 6;

const ALL: [u8; 7] = [
    NO_BOUNDS,
    NO_SCHEMA,
    NO_JSON_OBJECT,
    NO_MAX_TOKENS,
    NO_TEMPERATURE,
    NO_STREAM_OPTIONS,
    NO_STREAM,
];

/// The refused features so far. The set only grows, so that each quirk costs one refused call per
/// process (a few if calls run side by side).
#[derive(Debug, Default)]
pub(crate) struct Quirks {
    refused: AtomicU8,
    /// Whether a stream of the endpoint had its end.
    has_streamed: AtomicBool,
}

/// The dialect of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dialect(u8);

impl Quirks {
    /// The dialect for the next request.
    pub(super) fn dialect(&self) -> Dialect {
        Dialect(self.refused.load(Ordering::Relaxed))
    }

    /// Remembers a dialect that was understood. A refused one proves nothing: the error may have
    /// named a field only because it repeats the request.
    pub(super) fn remember(&self, model: &str, understood: Dialect) {
        let known = self.refused.fetch_or(understood.0, Ordering::Relaxed);
        for quirk in ALL {
            if understood.has(quirk) && known & quirk == 0 {
                info!(
                    model,
                    refused = name(quirk),
                    "the endpoint refuses a field; continuing without it"
                );
            }
        }
    }

    /// Remembers whether a stream had its end. An endpoint without one complete stream so far gets
    /// no further request for streams: each attempt would be paid, and none would count.
    pub(super) fn streamed(&self, model: &str, is_whole: bool) {
        if is_whole {
            self.has_streamed.store(true, Ordering::Relaxed);
        } else if !self.has_streamed.load(Ordering::Relaxed) {
            self.remember(model, Dialect(NO_STREAM));
        }
    }
}

impl Dialect {
    /// The dialect to try after a refusal; `None` if the dialect was not the reason. Each leaves
    /// out more than the one before, so the attempts end.
    pub(super) fn simpler(
        self,
        asked: Structured,
        is_bounded: bool,
        is_streamed: bool,
        trouble: &Trouble,
    ) -> Option<Self> {
        // Bounds are not part of a pinned shape: they only keep replies short.
        let sends_bounds = is_bounded
            && !self.has(NO_BOUNDS)
            && matches!(self.structured(asked), Structured::Auto | Structured::JsonSchema);
        let shaped = asked == Structured::Auto && self.structured(asked) != Structured::Prompt;
        let quirk = if self.has_max_tokens() && trouble.refuses(names_the_limit) {
            NO_MAX_TOKENS
        } else if self.has_temperature() && trouble.refuses(names_the_temperature) {
            NO_TEMPERATURE
        } else if is_streamed && self.has_stream_options() && trouble.refuses(names_the_options) {
            NO_STREAM_OPTIONS
        } else if is_streamed && trouble.refuses(names_the_stream) {
            NO_STREAM
        } else if sends_bounds && trouble.refuses(names_the_shape) {
            NO_BOUNDS
        } else if shaped && trouble.refuses(names_the_shape) {
            if self.has(NO_SCHEMA) { NO_JSON_OBJECT } else { NO_SCHEMA }
        } else {
            return None;
        };
        Some(Self(self.0 | quirk))
    }

    /// How to ask for the shape of a reply; `asked` is the setting.
    pub(super) fn structured(self, asked: Structured) -> Structured {
        match asked {
            Structured::Auto if self.has(NO_JSON_OBJECT) => Structured::Prompt,
            Structured::Auto if self.has(NO_SCHEMA) => Structured::JsonObject,
            Structured::Auto => Structured::JsonSchema,
            asked => asked,
        }
    }

    /// Whether a schema may limit the length of a string or a list: OpenAI's strict schemas may
    /// not.
    pub(super) fn has_bounds(self) -> bool {
        !self.has(NO_BOUNDS)
    }

    /// Whether to send `max_tokens`: OpenAI's reasoning models call it `max_completion_tokens`.
    pub(super) fn has_max_tokens(self) -> bool {
        !self.has(NO_MAX_TOKENS)
    }

    /// Whether to send a temperature: OpenAI's reasoning models choose their own.
    pub(super) fn has_temperature(self) -> bool {
        !self.has(NO_TEMPERATURE)
    }

    /// Whether to ask for the reply piece by piece.
    pub(super) fn has_stream(self) -> bool {
        !self.has(NO_STREAM)
    }

    /// Whether to ask for the usage at the end of a stream.
    pub(super) fn has_stream_options(self) -> bool {
        !self.has(NO_STREAM_OPTIONS)
    }

    fn has(self, quirk: u8) -> bool {
        self.0 & quirk != 0
    }
}

/// `Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens' instead.` It must not match
/// vLLM's message about long prompts, `'max_tokens' or 'max_completion_tokens' is too large`.
fn names_the_limit(message: &str) -> bool {
    message.contains("max_completion_tokens") && message.contains("support")
}

/// `Unsupported value: 'temperature' does not support 0 with this model.`
fn names_the_temperature(message: &str) -> bool {
    message.contains("temperature") && message.contains("support")
}

/// `Unrecognized request argument supplied: stream_options`.
fn names_the_options(message: &str) -> bool {
    message.contains("stream_options") && refuses_a_field(message)
}

/// `Streaming is not supported.` Gateways also report what an upstream server does not support.
fn names_the_stream(message: &str) -> bool {
    message.replace("upstream", "").contains("stream") && refuses_a_field(message)
}

/// An error that repeats the request contains the names of its fields, but usually none of these
/// words.
fn refuses_a_field(message: &str) -> bool {
    const REFUSALS: [&str; 9] = [
        "support",
        "permitted",
        "allowed",
        "unknown",
        "unrecognized",
        "unexpected",
        "forbidden",
        "invalid",
        "must be false",
    ];
    REFUSALS.iter().any(|word| message.contains(word))
}

fn names_the_shape(message: &str) -> bool {
    ["response_format", "json_schema", "json_object", "json schema", "grammar"]
        .iter()
        .any(|name| message.contains(name))
}

fn name(quirk: u8) -> &'static str {
    match quirk {
        NO_BOUNDS => "bounds in a JSON schema",
        NO_SCHEMA => "response_format json_schema",
        NO_JSON_OBJECT => "response_format json_object",
        NO_MAX_TOKENS => "max_tokens",
        NO_STREAM_OPTIONS => "stream_options",
        NO_STREAM => "stream",
        _ => "temperature",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_server_is_no_stream() {
        assert!(names_the_stream("streaming is not supported."));
        assert!(names_the_stream("upstream error: unknown field `stream`"));
        assert!(!names_the_stream("upstream error: json_schema is not supported"));
    }
}
