//! Reads a model's judgement of a development.

use pikerag_knowledge::{Likelihood, Schema};
use pikerag_prompt::{Reply, Unreadable, at_most, closed, object, one_line, shape, text};
use serde_json::{Value as Json, json};

/// Arguments of a side, at most.
const ARGUMENTS: usize = 4;
/// Beginnings of our own format, which weak models return in place of their own words.
const ECHOED: [&str; 5] = [
    "what will be, as one statement",
    "one sentence",
    "one to three sentences",
    "what would change the verdict",
    "words copied from passage",
];

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    For,
    Against,
}

/// A model's judgement.
#[derive(Debug)]
pub(super) struct JudgementReply {
    pub(super) statement: Option<String>,
    pub(super) for_it: Vec<ReplyArgument>,
    pub(super) against: Vec<ReplyArgument>,
    /// The side of the computed figures.
    pub(super) figures: Option<Side>,
    pub(super) verdict: Likelihood,
    pub(super) reason: String,
    pub(super) would_change: Option<String>,
}

/// A piece of evidence as the model gave it.
#[derive(Debug)]
pub(super) struct ReplyArgument {
    pub(super) text: String,
    /// From 1; 0 if the model named none.
    pub(super) passage: usize,
    pub(super) quote: String,
}

impl Reply for JudgementReply {
    fn schema() -> Option<Schema> {
        let one = closed(
            json!({"evidence": at_most(300), "passage": {"type": "integer"}, "quote": at_most(400)}),
        );
        let side = json!({"type": "array", "items": one, "maxItems": ARGUMENTS});
        Some(shape(
            "prospect",
            json!({
                "statement": at_most(300),
                "evidence_for": side,
                "evidence_against": side,
                "figures": {"type": "string", "enum": ["for", "against", "neither"]},
                "verdict": {"type": "string", "enum": ["likely", "unlikely", "uncertain"]},
                "reason": at_most(800),
                "would_change": at_most(400)
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["verdict"])?;
        let verdict = verdict(&text(&object, "verdict")?)
            .ok_or_else(|| Unreadable::key("verdict", "`likely`, `unlikely` or `uncertain`"))?;
        let figures = text(&object, "figures").unwrap_or_default();
        let figures = match figures.trim().to_lowercase().as_str() {
            "for" | "支持" => Some(Side::For),
            "against" | "反对" => Some(Side::Against),
            _ => None,
        };
        Ok(Self {
            statement: own_words(&object, "statement"),
            for_it: arguments(&object, "evidence_for"),
            against: arguments(&object, "evidence_against"),
            figures,
            verdict,
            reason: own_words(&object, "reason").unwrap_or_default(),
            would_change: own_words(&object, "would_change"),
        })
    }
}

/// A verdict in one of the usual wordings.
fn verdict(words: &str) -> Option<Likelihood> {
    let words = words.trim().trim_end_matches(['.', '。', '!']).to_lowercase();
    Some(match words.as_str() {
        "likely" | "very likely" | "probable" | "rather likely" | "yes" | "很可能" | "可能"
        | "大概率" | "是" => Likelihood::Likely,
        "unlikely" | "very unlikely" | "improbable" | "not likely" | "no" | "不太可能"
        | "不可能" | "不大可能" | "否" => Likelihood::Unlikely,
        "uncertain" | "unclear" | "undecided" | "unknown" | "open" | "不确定" | "难以判断" => {
            Likelihood::Uncertain
        }
        _ => return None,
    })
}

/// The words under a key on one line; `None` if they are empty or an echo of the format.
fn own_words(object: &Json, key: &str) -> Option<String> {
    let words = one_line(&text(object, key).ok()?);
    let bare = words.trim().to_lowercase();
    let is_echo = ECHOED.iter().any(|echo| bare.starts_with(echo));
    (!bare.is_empty() && !is_echo).then(|| words.trim().to_owned())
}

fn arguments(object: &Json, key: &str) -> Vec<ReplyArgument> {
    let list = object.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
    let one = |one: &Json| {
        let quote = text(one, "quote").ok().filter(|quote| !quote.trim().is_empty())?;
        let passage = one.get("passage").and_then(Json::as_u64).unwrap_or(0);
        Some(ReplyArgument {
            text: own_words(one, "evidence").unwrap_or_else(|| one_line(&quote)),
            passage: usize::try_from(passage).unwrap_or(0),
            quote,
        })
    };
    list.iter().filter_map(one).take(ARGUMENTS).collect()
}

/// The queries that a model proposes, for the past and its causes, and for doubts.
#[derive(Debug)]
pub(super) struct QueriesReply(pub(super) Vec<String>);

impl Reply for QueriesReply {
    fn schema() -> Option<Schema> {
        Some(shape("prospect_queries", json!({"causes": at_most(200), "doubts": at_most(200)})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["causes", "doubts"])?;
        let queries = ["causes", "doubts"].into_iter().filter_map(|key| {
            own_words(&object, key).filter(|query| !query.starts_with("words that find"))
        });
        Ok(Self(queries.collect()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! {
    reply_judgement: JudgementReply,
    reply_prospect_queries: QueriesReply,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_tolerantly() {
        let reply = JudgementReply::read(
            r#"Sure: {"verdict": "Not likely.", "statement": "what will be, as one statement", "figures": "For",
            "evidence_for": "none", "evidence_against": [{"passage": "x", "quote": " "}, {"quote": "it was dry", "passage": 2}]}"#,
        )
        .unwrap();
        assert_eq!((reply.verdict, reply.figures), (Likelihood::Unlikely, Some(Side::For)));
        assert_eq!((reply.statement, reply.for_it.len()), (None, 0));
        assert_eq!(reply.against.len(), 1);
        assert_eq!((reply.against[0].passage, reply.against[0].text.as_str()), (2, "it was dry"));
        JudgementReply::read(r#"{"verdict": "neither likely nor unlikely"}"#).unwrap_err();
        JudgementReply::read(r#"{"statement": "x"}"#).unwrap_err();
        let queries = QueriesReply::read(r#"{"causes": "", "doubts": "dry discs"}"#).unwrap();
        assert_eq!(queries.0, ["dry discs"]);
    }
}
