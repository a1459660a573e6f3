//! Defines the four judgements of Self-RAG and reads their replies (Asai et al., 2024, Table 1).

use pikerag_knowledge::{Role, Schema};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, shape, text};
use serde_json::json;

use pikerag_methods::verdict::yes_or_no;

pub(super) const RETRIEVAL: Prompt =
    Prompt::new(Role::Know, include_str!("../prompts/self_rag_retrieve.md"), 1024).with_earlier(
        "baselines/self_rag_retrieve",
        &[include_str!("../prompts/earlier/self_rag_retrieve.1.md")],
    );
pub(super) const RELEVANCE: Prompt =
    Prompt::new(Role::Relevant, include_str!("../prompts/self_rag_relevant.md"), 1024)
        .with_earlier(
            "baselines/self_rag_relevant",
            &[include_str!("../prompts/earlier/self_rag_relevant.1.md")],
        );
pub(super) const SUPPORT: Prompt =
    Prompt::new(Role::Grade, include_str!("../prompts/self_rag_supported.md"), 1024).with_earlier(
        "baselines/self_rag_supported",
        &[include_str!("../prompts/earlier/self_rag_supported.1.md")],
    );
pub(super) const USEFULNESS: Prompt =
    SUPPORT.with_template(include_str!("../prompts/self_rag_useful.md")).with_earlier(
        "baselines/self_rag_useful",
        &[include_str!("../prompts/earlier/self_rag_useful.1.md")],
    );

/// Whether passages would help.
pub(super) struct Retrieval(pub(super) bool);

impl Reply for Retrieval {
    fn schema() -> Option<Schema> {
        Some(shape("retrieve", json!({"retrieve": {"type": "boolean"}})))
    }
    fn read(reply: &str) -> Result<Self, Unreadable> {
        yes_or_no(reply, "retrieve").map(Self)
    }
}

/// Whether a passage is about the question.
pub(super) struct Relevance(pub(super) bool);

impl Reply for Relevance {
    fn schema() -> Option<Schema> {
        Some(shape("relevant", json!({"relevant": {"type": "boolean"}})))
    }
    fn read(reply: &str) -> Result<Self, Unreadable> {
        yes_or_no(reply, "relevant").map(Self)
    }
}

/// How well a passage supports a segment: 1, 0.5 or 0.
pub(super) struct Support(pub(super) f64);

impl Reply for Support {
    fn schema() -> Option<Schema> {
        Some(shape(
            "supported",
            json!({"supported": {"type": "string", "enum": ["fully", "partially", "no"]}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let supported = object(reply, &["supported"])?;
        let supported = text(&supported, "supported").unwrap_or_default().to_lowercase();
        // Models also write "Fully supported", "No support", or a bare yes or no.
        match supported.split_whitespace().next().map(|word| word.trim_end_matches(['.', ','])) {
            Some("fully" | "full" | "yes") => Ok(Self(1.0)),
            Some("partially" | "partly" | "partial") => Ok(Self(0.5)),
            Some("no" | "not" | "none") => Ok(Self(0.0)),
            _ => Err(Unreadable::key("supported", "fully, partially or no")),
        }
    }
}

/// How useful a segment is, from 1 to 5.
pub(super) struct Usefulness(pub(super) u8);

impl Usefulness {
    /// -1, -0.5, 0, 0.5 or 1: the paper's weights of the five tokens.
    pub(super) fn scale(&self) -> f64 {
        f64::from(self.0) / 2.0 - 1.5
    }
}

impl Reply for Usefulness {
    fn schema() -> Option<Schema> {
        Some(shape("useful", json!({"useful": {"type": "integer", "minimum": 1, "maximum": 5}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let useful = text(&object(reply, &["useful"])?, "useful").unwrap_or_default();
        // Models also write "4/5".
        let number = useful.split('/').next().and_then(|number| number.trim().parse().ok());
        number.filter(|number| (1..=5).contains(number)).map(Self).ok_or_else(|| {
            let expected = "a whole number from 1 to 5".to_owned();
            Unreadable::BadKey { key: "useful".to_owned(), expected }
        })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_retrieval: Retrieval, reply_relevance: Relevance, reply_support: Support, reply_usefulness: Usefulness }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn support_is_read_in_many_forms() {
        let read = |value: &str| {
            Support::read(&format!(r#"{{"supported": {value}}}"#)).map(|support| support.0).ok()
        };
        assert_eq!(read(r#""fully""#), Some(1.0));
        assert_eq!(read(r#""Partially supported""#), Some(0.5));
        assert_eq!(read(r#""No support.""#), Some(0.0));
        assert_eq!(read("true"), Some(1.0));
        assert_eq!(read(r#""nothing""#), None);
        assert_eq!(read("null"), None);
    }

    #[test]
    fn usefulness_maps_to_the_papers_scale() {
        let read = |value: &str| {
            Usefulness::read(&format!(r#"{{"useful": {value}}}"#)).map(|useful| useful.scale()).ok()
        };
        let read_all: Vec<Option<f64>> =
            ["1", "2", "3", "\"4/5\"", "5"].into_iter().map(read).collect();
        assert_eq!(read_all, [Some(-1.0), Some(-0.5), Some(0.0), Some(0.5), Some(1.0)]);
        assert_eq!((read("0"), read("6"), read("\"very\"")), (None, None, None));
    }
}
