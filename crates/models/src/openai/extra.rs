//! What may the further fields of a request say, and what can they cost?

use pikerag_knowledge::Usage;
use serde_json::{Map, Value};

/// They are ours: the rest would be read for what it is not.
const OURS: [&str; 4] = ["model", "messages", "input", "stream"];

/// They ask for more than one reply, or for work that is billed beside it. We read one reply, and no cap could
/// hold what nobody counts.
const UNCOUNTED: [&str; 11] = [
    "n",
    "best_of",
    "num_return_sequences",
    "use_beam_search",
    "prediction",
    "tools",
    "functions",
    "plugins",
    "web_search",
    "web_search_options",
    "search_parameters",
];

/// What servers call the most tokens of a reply.
const LIMITS: [&str; 6] = [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "n_predict",
    "num_predict",
];

/// What some servers bill on top of that.
const ON_TOP: [&str; 2] = ["thinking_budget", "max_thinking_tokens"];

/// Why further fields cannot be sent; nothing, where they can.
pub(super) fn refused(fields: &Map<String, Value>) -> Option<String> {
    for name in fields.keys() {
        if OURS.contains(&name.as_str()) {
            return Some(format!("`{name}` cannot be an extra field"));
        }
        if UNCOUNTED.contains(&name.as_str()) {
            return Some(format!(
                "`{name}` cannot be an extra field: no budget could count what it costs"
            ));
        }
    }
    not_counted(fields).map(|name| {
        format!("the extra field `{name}` has to be a whole number of at least 1, below 2^32")
    })
}

/// A limit on tokens that is none, at any depth.
fn not_counted(fields: &Map<String, Value>) -> Option<&str> {
    for (name, value) in fields {
        if is_limit(name) && !value.is_object() && tokens(value).is_none() {
            return Some(name);
        }
        if let Some(name) = value.as_object().and_then(not_counted) {
            return Some(name);
        }
    }
    None
}

fn is_limit(name: &str) -> bool {
    LIMITS.contains(&name) || ON_TOP.contains(&name)
}

fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| (1..=u64::from(u32::MAX)).contains(tokens))
}

/// What further fields add to the most that a request can cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extra {
    /// They may all become part of the prompt.
    bytes: u64,
    /// The reply may have so many tokens, whatever the request says.
    reply: u64,
    /// And so many more.
    on_top: u64,
}

impl Extra {
    /// Of fields that are not [`refused`].
    pub(crate) fn new(fields: &Map<String, Value>) -> Self {
        if fields.is_empty() {
            return Self::default();
        }
        let bytes: usize =
            fields.iter().map(|(name, value)| name.len() + value.to_string().len()).sum();
        let mut extra = Self { bytes: bytes as u64, ..Self::default() };
        extra.look(fields);
        extra
    }

    fn look(&mut self, fields: &Map<String, Value>) {
        for (name, value) in fields {
            match tokens(value) {
                Some(tokens) if LIMITS.contains(&name.as_str()) => {
                    self.reply = self.reply.max(tokens);
                }
                Some(tokens) if ON_TOP.contains(&name.as_str()) => self.on_top += tokens,
                _ => {}
            }
            if let Some(fields) = value.as_object() {
                self.look(fields);
            }
        }
    }

    /// The most that a request can cost with them, given the most without. A lower limit of theirs counts for
    /// nothing: a server may know it by another name.
    pub(crate) fn on(self, most: Usage) -> Usage {
        Usage {
            prompt_tokens: most.prompt_tokens + self.bytes,
            completion_tokens: most.completion_tokens.max(self.reply) + self.on_top,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(fields: &Value) -> String {
        let fields = fields.as_object().unwrap();
        match refused(fields) {
            Some(reason) => reason,
            None => {
                let most =
                    Extra::new(fields).on(Usage { prompt_tokens: 0, completion_tokens: 256 });
                format!("{} + {}", most.prompt_tokens, most.completion_tokens)
            }
        }
    }

    #[test]
    fn what_cannot_be_counted_is_refused_and_the_rest_is_counted() {
        let lines = [
            told(&json!({})),
            told(&json!({"seed": 7})),
            told(&json!({"max_tokens": 9000})),
            told(&json!({"max_tokens": 10})),
            told(&json!({"max_tokens": 10, "max_completion_tokens": 9000})),
            told(&json!({"options": {"num_predict": 9000}})),
            told(&json!({"max_tokens": 1000, "thinking_budget": 8000})),
            told(&json!({"max_tokens": "9000"})),
            told(&json!({"max_completion_tokens": -1})),
            told(&json!({"options": {"num_predict": -1}})),
            told(&json!({"max_tokens": 5_000_000_000_u64})),
            told(&json!({"n": 4})),
            told(&json!({"best_of": 4})),
            told(&json!({"tools": []})),
            told(&json!({"model": "other"})),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        0 + 256
        5 + 256
        14 + 9000
        12 + 256
        37 + 9000
        27 + 9000
        33 + 9000
        the extra field `max_tokens` has to be a whole number of at least 1, below 2^32
        the extra field `max_completion_tokens` has to be a whole number of at least 1, below 2^32
        the extra field `num_predict` has to be a whole number of at least 1, below 2^32
        the extra field `max_tokens` has to be a whole number of at least 1, below 2^32
        `n` cannot be an extra field: no budget could count what it costs
        `best_of` cannot be an extra field: no budget could count what it costs
        `tools` cannot be an extra field: no budget could count what it costs
        `model` cannot be an extra field
        ");
    }
}
