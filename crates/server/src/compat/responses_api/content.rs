//! Builds the items of a response: the steps, and the answer as a text, a refusal or the call of a
//! function.

use pikerag_engine::knowledge::{Citation, Spent};
use serde_json::{Value, json};

use crate::compat::cut::{Shown, cut};

/// The checked answer as an item shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// A text, or an object as JSON, with a link for each citation.
    Text { text: String, annotations: Vec<Value> },
    /// The answer in words, if it gives no values for the object that was asked for.
    Refusal(String),
    /// The call of the function that the request demands.
    Call { name: String, arguments: String },
}

/// The item of an answer.
pub(super) struct Reply {
    pub(super) content: Content,
    /// Whether the answer is longer than the request allows.
    pub(super) is_cut: bool,
    /// The calls of models for it.
    pub(super) spent: Spent,
}

impl Reply {
    /// At most `at_most` tokens of an answer, and the citations in them.
    pub(super) fn cut(
        whole: Shown<Citation>,
        at_most: Option<u64>,
        spent: Spent,
        link: impl Fn(&Citation) -> String,
    ) -> Self {
        let cut = at_most.and_then(|most| cut(&whole, most));
        let is_cut = cut.is_some();
        let (text, places) = cut.unwrap_or(whole);
        let annotations = annotations(&places, link);
        Self { content: Content::Text { text, annotations }, is_cut, spent }
    }

    /// A text without citations that cost nothing.
    pub(super) fn plain(text: String) -> Self {
        let content = Content::Text { text, annotations: Vec::new() };
        Self { content, is_cut: false, spent: Spent::default() }
    }

    /// The status of the response and of its item.
    pub(super) fn status(&self) -> &'static str {
        if self.is_cut { "incomplete" } else { "completed" }
    }

    /// The identifier of the item.
    pub(super) fn id(&self, run: &str) -> String {
        match &self.content {
            Content::Text { .. } | Content::Refusal(_) => format!("msg_{run}"),
            Content::Call { .. } => format!("fc_{run}"),
        }
    }

    pub(super) fn item(&self, run: &str) -> Value {
        match &self.content {
            Content::Call { name, arguments } => call(run, self.status(), name, arguments),
            content => message(run, self.status(), &[part(content)]),
        }
    }

    /// The item before anything of it is sent.
    pub(super) fn beginning(&self, run: &str) -> Value {
        match &self.content {
            Content::Call { name, .. } => call(run, "in_progress", name, ""),
            _ => message(run, "in_progress", &[]),
        }
    }
}

/// The citations as links, with the positions of their numbers in the text, in characters.
pub(super) fn annotations(
    places: &[(Citation, usize, usize)],
    link: impl Fn(&Citation) -> String,
) -> Vec<Value> {
    let annotation = |(citation, begins, ends): &(Citation, usize, usize)| {
        json!({
            "type": "url_citation", "url": link(citation), "title": citation.title,
            "start_index": begins, "end_index": ends,
        })
    };
    places.iter().map(annotation).collect()
}

fn message(run: &str, status: &str, content: &[Value]) -> Value {
    json!({
        "id": format!("msg_{run}"), "type": "message", "role": "assistant", "status": status,
        "content": content,
    })
}

fn call(run: &str, status: &str, name: &str, arguments: &str) -> Value {
    json!({
        "id": format!("fc_{run}"), "type": "function_call", "call_id": format!("call_{run}"),
        "name": name, "arguments": arguments, "status": status,
    })
}

/// The part of a message; a call has none.
pub(super) fn part(content: &Content) -> Value {
    match content {
        Content::Text { text, annotations } => {
            json!({"type": "output_text", "text": text, "annotations": annotations, "logprobs": []})
        }
        Content::Refusal(refusal) => json!({"type": "refusal", "refusal": refusal}),
        Content::Call { .. } => Value::Null,
    }
}

/// The item that reports the steps; none without steps.
pub(super) fn reasoning(run: &str, steps: &str) -> Vec<Value> {
    match steps {
        "" => Vec::new(),
        steps => vec![reasoning_item(run, "completed", &[summary(steps)])],
    }
}

pub(super) fn reasoning_item(run: &str, status: &str, summary: &[Value]) -> Value {
    json!({"id": format!("rs_{run}"), "type": "reasoning", "status": status, "summary": summary})
}

pub(super) fn summary(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}
