//! Checks the further fields of a request, and computes the highest cost that they can add.

use pikerag_knowledge::Usage;
use serde_json::{Map, Value};

/// Fields that we set: with other values we would misread the reply.
const OURS: [&str; 4] = ["model", "messages", "input", "stream"];

/// Fields that ask for more than one reply, or for work that is billed separately. We read one
/// reply, and no cap could limit uncounted costs.
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

/// Servers' names for the limit on tokens of a reply.
const LIMITS: [&str; 6] = [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "n_predict",
    "num_predict",
];

/// Tokens that some servers bill in addition.
const ON_TOP: [&str; 2] = ["thinking_budget", "max_thinking_tokens"];

/// Why further fields cannot be sent; `None` if they can.
pub(super) fn refused(fields: &Map<String, Value>) -> Option<String> {
    for name in fields.keys() {
        if OURS.contains(&name.as_str()) {
            return Some(format!("`{name}` cannot be an extra field"));
        }
        if UNCOUNTED.contains(&name.as_str()) {
            return Some(format!(
                "`{name}` cannot be an extra field: no budget could count its cost"
            ));
        }
    }
    not_counted(fields).map(|name| {
        format!("the extra field `{name}` must be a whole number of at least 1, below 2^32")
    })
}

/// A field with an invalid limit on tokens, at any depth.
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

/// The highest cost that further fields add to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extra {
    /// The length of all fields: they may become part of the prompt.
    bytes: u64,
    /// The limit on tokens of the reply, whatever the request asks for.
    reply: u64,
    /// Further tokens beside the reply.
    on_top: u64,
}

impl Extra {
    /// Takes fields that are not [`refused`].
    pub(crate) fn new(fields: &Map<String, Value>) -> Self {
        if fields.is_empty() {
            return Self::default();
        }
        let bytes: usize =
            fields.iter().map(|(name, value)| name.len() + value.to_string().len()).sum();
        let mut extra = Self { bytes: bytes as u64, ..Self::default() };
        extra.add(fields);
        extra
    }

    fn add(&mut self, fields: &Map<String, Value>) {
        for (name, value) in fields {
            match tokens(value) {
                Some(tokens) if LIMITS.contains(&name.as_str()) => {
                    self.reply = self.reply.max(tokens);
                }
                Some(tokens) if ON_TOP.contains(&name.as_str()) => self.on_top += tokens,
                _ => {}
            }
            if let Some(fields) = value.as_object() {
                self.add(fields);
            }
        }
    }

    /// The highest cost of a request with these fields, given its highest cost without. A lower
    /// limit in the fields is ignored: the server may use another name for it.
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

    fn outcome(fields: &Value) -> String {
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
    fn uncountable_fields_are_refused_and_others_counted() {
        let lines = [
            outcome(&json!({})),
            outcome(&json!({"seed": 7})),
            outcome(&json!({"max_tokens": 9000})),
            outcome(&json!({"max_tokens": 10})),
            outcome(&json!({"max_tokens": 10, "max_completion_tokens": 9000})),
            outcome(&json!({"options": {"num_predict": 9000}})),
            outcome(&json!({"max_tokens": 1000, "thinking_budget": 8000})),
            outcome(&json!({"max_tokens": "9000"})),
            outcome(&json!({"max_completion_tokens": -1})),
            outcome(&json!({"options": {"num_predict": -1}})),
            outcome(&json!({"max_tokens": 5_000_000_000_u64})),
            outcome(&json!({"n": 4})),
            outcome(&json!({"best_of": 4})),
            outcome(&json!({"tools": []})),
            outcome(&json!({"model": "other"})),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        0 + 256
        5 + 256
        14 + 9000
        12 + 256
        37 + 9000
        27 + 9000
        33 + 9000
        the extra field `max_tokens` must be a whole number of at least 1, below 2^32
        the extra field `max_completion_tokens` must be a whole number of at least 1, below 2^32
        the extra field `num_predict` must be a whole number of at least 1, below 2^32
        the extra field `max_tokens` must be a whole number of at least 1, below 2^32
        `n` cannot be an extra field: no budget could count its cost
        `best_of` cannot be an extra field: no budget could count its cost
        `tools` cannot be an extra field: no budget could count its cost
        `model` cannot be an extra field
        ");
    }
}
