//! Finds feedback on similar questions: verified answers give the passages that they rest on, and the class
//! of the question (PIKE-RAG §4.1).

use std::collections::BTreeSet;

use pikerag_knowledge::{ChunkId, KeptVerified};
use pikerag_language::fold::folded;
use pikerag_language::query_terms;

use crate::ports::{Ports, SolveError};

/// The least share of terms (Dice) of similar questions, which must also share all numbers.
const ALIKE: f64 = 0.75;
/// Passages that verified answers to similar questions give, at most.
const PASSAGES: usize = 4;

/// The feedback, the latest first; for a repeated run, only feedback from before that run.
pub(crate) async fn feedback(ports: &Ports) -> Result<Vec<KeptVerified>, SolveError> {
    let mut feedback = ports.base.verified().await?;
    if let Some(until) = ports.feedback_before {
        feedback.retain(|kept| kept.verified.at < until);
    }
    Ok(feedback)
}

/// Whether two questions have the same words in the same order, whatever is between them.
pub(crate) fn is_same(question: &str, other: &str) -> bool {
    folded(question) == folded(other)
}

/// The share of terms that two questions have in common; `None` where they are not similar.
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

/// The numbers of a text, as written.
pub(crate) fn numbers(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !c.is_ascii_digit());
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The passages that verified answers to similar questions rest on, each with the similarity of its question,
/// the most similar first. Stale answers give none.
pub(crate) async fn verified_passages(
    ports: &Ports,
    query: &str,
) -> Result<Vec<(ChunkId, f64)>, SolveError> {
    let mut similar: Vec<(f64, KeptVerified)> = feedback(ports)
        .await?
        .into_iter()
        .filter(|kept| kept.verified.holds().is_some() && !kept.is_stale())
        .filter_map(|kept| Some((alike(query, &kept.verified.question)?, kept)))
        .collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut chunks: Vec<(ChunkId, f64)> = Vec::new();
    for (share, kept) in similar {
        for ground in kept.verified.grounds {
            if chunks.len() < PASSAGES && chunks.iter().all(|(held, _)| *held != ground.chunk) {
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
    fn same_question_ignores_case_spaces_and_marks() {
        assert!(is_same("Who calibrates the sensor?", " who calibrates  the SENSOR "));
        assert!(is_same("谁校准传感器？", "谁校准传感器"));
        assert!(!is_same("Who beat Ada?", "Who did Ada beat?"));
    }

    #[test]
    fn similar_questions_share_words_and_all_numbers() {
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
