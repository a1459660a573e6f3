//! Shows a proposer how other questions were decomposed: the nearest good trajectories, without training (KAR³ §5).

use pikerag_knowledge::Question;
use pikerag_prompt::{one_line, quiet_words};

use crate::near::nearest;
use crate::ports::{Demonstration, Ports, SolveError};

/// Examples in a prompt, at most.
const MOST: usize = 3;

/// The three nearest demonstrations as a prompt shows them, nearest first; empty if there are none. A demonstration of
/// the question itself is left out, so that training data do not answer it.
///
/// # Errors
/// The embedder failed.
pub async fn shown_demonstrations(
    ports: &Ports,
    question: &Question,
) -> Result<String, SolveError> {
    let same = |text: &str| one_line(text).to_lowercase();
    let asked = same(question.query());
    let others: Vec<&Demonstration> =
        ports.models.demonstrations.iter().filter(|one| same(&one.question) != asked).collect();
    if others.is_empty() {
        return Ok(String::new());
    }
    let texts: Vec<&str> = others.iter().map(|one| one.question.as_str()).collect();
    let near = nearest(ports, question.query(), &texts, MOST).await?;
    let near = near.into_iter().filter_map(|(_, place)| others.get(place));
    Ok(near.map(|one| shown(one)).collect::<Vec<_>>().join("\n"))
}

fn shown(one: &Demonstration) -> String {
    let mut lines = vec![format!("Question: {}", quiet_words(&one_line(&one.question)))];
    let parts = one.sub_questions.iter();
    lines.extend(parts.map(|part| format!("- {}", quiet_words(&one_line(part)))));
    lines.join("\n")
}
