//! Turns right trajectories into examples (PIKE-RAG §6.4, Algorithm 3).
//!
//! Line 8 of the paper prints `prompt_y(True, aⁱ)`. The prompt's template and its example give the sub-question
//! there, and an answer could not be proposed, so that `qⁱ` is used.

use pikerag_methods::decompose::{Answered, Next, next_prompt};
use pikerag_prompt::AskError;
use serde::Serialize;

use crate::trajectory::{Chosen, Trajectory};

/// A prompt and the reply to learn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The question's identifier.
    pub item: String,
    /// `xᵢ`.
    pub prompt: String,
    /// `yᵢ`.
    pub completion: String,
}

/// The `t + 1` examples of a trajectory with `t` steps: each sub-question after those before it, and the end.
///
/// # Errors
/// [`AskError::Template`]: a defect of pikerag.
pub fn examples(trajectory: &Trajectory) -> Result<Vec<Example>, AskError> {
    let steps: Vec<&Chosen> = trajectory.steps().collect();
    let mut examples = Vec::with_capacity(steps.len() + 1);
    for place in 0..=steps.len() {
        examples.push(Example {
            item: trajectory.item.clone(),
            prompt: prompt(trajectory, place)?,
            completion: reply(&steps, place),
        });
    }
    Ok(examples)
}

/// `prompt_x` after the first `steps` steps.
pub(crate) fn prompt(trajectory: &Trajectory, steps: usize) -> Result<String, AskError> {
    let answered =
        |step: &Chosen| Answered { question: step.question.clone(), answer: step.answer.clone() };
    let before: Vec<Answered> = trajectory.steps().take(steps).map(answered).collect();
    next_prompt(&trajectory.question, &before)
}

/// `prompt_y` of the step at `place`; the end if there is none.
pub(crate) fn reply(steps: &[&Chosen], place: usize) -> String {
    steps.get(place).map_or(Next::Done, |step| Next::Ask(step.question.clone())).to_reply()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Round;

    fn trajectory(steps: &[(&str, &str)]) -> Trajectory {
        let chosen = |(question, answer): &(&str, &str)| Chosen {
            question: (*question).to_owned(),
            answer: (*answer).to_owned(),
            chunk: None,
            document: "a.md".to_owned(),
            thinking: String::new(),
        };
        // A round without a choice is no step.
        let mut rounds = vec![Round::default()];
        rounds.extend(
            steps.iter().map(|step| Round { chosen: Some(chosen(step)), ..Round::default() }),
        );
        Trajectory {
            question: "Where was its builder born?".to_owned(),
            rounds,
            ..Default::default()
        }
    }

    #[test]
    fn t_steps_give_t_plus_1_examples() {
        for steps in 0..4 {
            let pairs =
                [("Who built it?", "Brandt"), ("Where was Brandt born?", "Oslo"), ("Q", "A")];
            let examples = examples(&trajectory(&pairs[..steps])).unwrap();
            assert_eq!(examples.len(), steps + 1);
            assert_eq!(examples[steps].completion, "<decompose>False</decompose>");
        }
    }

    #[test]
    fn each_example_knows_the_steps_before_it() {
        let two = trajectory(&[("Who built it?", "Brandt"), ("Where was Brandt born?", "Oslo")]);
        let examples = examples(&two).unwrap();
        let wanted =
            "<decompose>True</decompose>\n<sub-question>Where was Brandt born?</sub-question>";
        assert_eq!(examples[1].completion, wanted);
        assert!(examples[0].prompt.contains("(none)"));
        assert!(examples[1].prompt.contains("1. Who built it? → Brandt\n"));
        assert!(!examples[1].prompt.contains("Oslo"));
        assert!(examples[2].prompt.contains("2. Where was Brandt born? → Oslo\n"));
    }
}
