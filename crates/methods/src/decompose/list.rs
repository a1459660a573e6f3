//! Reads the sub-questions that a model lists without looking anything up.

use pikerag_knowledge::Schema;
use pikerag_prompt::{Reply, Unreadable, object, shape, texts};
use serde_json::json;

/// Sub-questions, each once, in the model's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubQuestions(pub Vec<String>);

impl Reply for SubQuestions {
    fn schema() -> Option<Schema> {
        Some(shape(
            "sub_questions",
            json!({"sub_questions": {"type": "array", "items": {"type": "string"}}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let mut listed = texts(&object(reply, &["sub_questions"])?, "sub_questions")?;
        let mut seen = std::collections::HashSet::new();
        listed.retain(|question| seen.insert(question.to_lowercase()));
        Ok(Self(listed))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_sub_questions: SubQuestions }
