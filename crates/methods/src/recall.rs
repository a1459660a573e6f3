//! What did people say of questions like this one? Verified answers lead to the passages that they rest on, and to the class
//! of the question (PIKE-RAG §4.1).

use std::collections::BTreeSet;

use pikerag_knowledge::{ChunkId, KeptVerified};
use pikerag_language::fold::folded;
use pikerag_language::query_terms;

use crate::ports::{Ports, SolveError};

/// Two questions are alike where they share so much of their terms (Dice) and all of their numbers.
const ALIKE: f64 = 0.75;
/// Passages that answers to questions alike lead to, at most.
const LED_TO: usize = 4;

/// What people said, the latest first; for a run that is walked again, what they had said before it began.
pub(crate) async fn said(ports: &Ports) -> Result<Vec<KeptVerified>, SolveError> {
    let mut said = ports.base.verified().await?;
    if let Some(until) = ports.said_until {
        said.retain(|kept| kept.verified.at < until);
    }
    Ok(said)
}

/// Whether it is the same question: its words in their order, whatever stands between them.
pub(crate) fn is_same(question: &str, other: &str) -> bool {
    folded(question) == folded(other)
}

/// How much two questions have in common, where that is enough to be alike.
pub(crate) fn alike(question: &str, other: &str) -> Option<f64> {
    let share = shared_terms(question, other);
    (ALIKE <= share && numbers(question) == numbers(other)).then_some(share)
}

/// The share of terms that two texts have in common (Dice); 0 where neither has any.
pub(crate) fn shared_terms(one: &str, other: &str) -> f64 {
    let terms = |text: &str| query_terms(text).into_iter().collect::<BTreeSet<String>>();
    let (one, other) = (terms(one), terms(other));
    let both = one.intersection(&other).count();
    2.0 * both as f64 / (one.len() + other.len()).max(1) as f64
}

/// The numbers of a text, as it writes them.
pub(crate) fn numbers(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !c.is_ascii_digit());
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The passages that right answers to questions alike rest on, with how alike those are; the most alike question first.
/// What is stale leads nowhere.
pub(crate) async fn led_to(ports: &Ports, query: &str) -> Result<Vec<(ChunkId, f64)>, SolveError> {
    let mut like: Vec<(f64, KeptVerified)> = said(ports)
        .await?
        .into_iter()
        .filter(|kept| kept.verified.holds().is_some() && !kept.is_stale())
        .filter_map(|kept| Some((alike(query, &kept.verified.question)?, kept)))
        .collect();
    like.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut chunks: Vec<(ChunkId, f64)> = Vec::new();
    for (share, kept) in like {
        for ground in kept.verified.grounds {
            if chunks.len() < LED_TO && chunks.iter().all(|(held, _)| *held != ground.chunk) {
                chunks.push((ground.chunk, share));
            }
        }
    }
    Ok(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_itself_however_it_is_dressed() {
        assert!(is_same("Who calibrates the sensor?", " who calibrates  the SENSOR "));
        assert!(is_same("谁校准传感器？", "谁校准传感器"));
        assert!(!is_same("Who beat Ada?", "Who did Ada beat?"));
    }

    #[test]
    fn questions_alike_share_their_words_and_all_numbers() {
        let asked = "Who calibrates the pressure sensor of crane 4?";
        assert!(alike(asked, "Which person calibrates the pressure sensor on crane 4?").is_some());
        assert!(alike(asked, "Who calibrates the pressure sensor of crane 5?").is_none());
        assert!(alike(asked, "Who sold crane 4?").is_none());
        assert!(
            alike("4号起重机的压力传感器由谁校准？", "4号起重机的压力传感器由谁来校准").is_some()
        );
        assert!(alike("", "").is_none());
    }
}
