//! Reads the class that a model gives a question.

use pikerag_knowledge::{Schema, TaskClass};
use pikerag_prompt::{Reply, Unreadable, at_most, object, shape, text};
use serde_json::json;

/// A model's classification of a question.
pub(super) struct ClassReply {
    pub(super) class: TaskClass,
    pub(super) reason: String,
}

impl Reply for ClassReply {
    fn schema() -> Option<Schema> {
        let names: Vec<&str> = TaskClass::ALL.iter().map(|class| class.as_str()).collect();
        let keys = json!({"reason": at_most(200), "class": {"type": "string", "enum": names}});
        Some(shape("task_class", keys))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["class"])?;
        let class = text(&object, "class")?.to_lowercase();
        let class =
            class.parse().map_err(|_| Unreadable::key("class", "one of the seven kinds"))?;
        Ok(Self { class, reason: text(&object, "reason").unwrap_or_default() })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_class: ClassReply }
