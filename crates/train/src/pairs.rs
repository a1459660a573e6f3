//! Makes preferences from better and worse trajectories of a question (PIKE-RAG §5.3.3: DPO).

use std::collections::BTreeMap;

use pikerag_prompt::AskError;
use serde::Serialize;

use crate::convert::{prompt, reply};
use crate::trajectory::{Chosen, Trajectory};

/// A prompt with a better and a worse reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preference {
    /// The question's identifier.
    pub item: String,
    /// The prompt up to the step where both trajectories part.
    pub prompt: String,
    /// The reply of the right trajectory.
    pub chosen: String,
    /// The reply of the other one.
    pub rejected: String,
}

/// One preference for each pair of a right and another trajectory of one question, at the first step where they
/// part; none where one begins the other word for word and differs by answers alone.
///
/// # Errors
/// [`AskError::Template`]: a defect of pikerag.
pub fn preferences(trajectories: &[Trajectory]) -> Result<Vec<Preference>, AskError> {
    let mut by_item: BTreeMap<&str, Vec<&Trajectory>> = BTreeMap::new();
    for trajectory in trajectories.iter().filter(|trajectory| trajectory.failed.is_none()) {
        by_item.entry(&trajectory.item).or_default().push(trajectory);
    }
    let mut preferences: Vec<Preference> = Vec::new();
    for of_item in by_item.values() {
        for better in of_item.iter().filter(|trajectory| trajectory.is_right) {
            for worse in of_item.iter().filter(|trajectory| !trajectory.is_right) {
                let made = preference(better, worse)?;
                preferences.extend(made.filter(|made| !preferences.contains(made)));
            }
        }
    }
    Ok(preferences)
}

fn preference(better: &Trajectory, worse: &Trajectory) -> Result<Option<Preference>, AskError> {
    let (right, wrong): (Vec<&Chosen>, Vec<&Chosen>) =
        (better.steps().collect(), worse.steps().collect());
    let is_same =
        |(a, b): &(&&Chosen, &&Chosen)| (&a.question, &a.answer) == (&b.question, &b.answer);
    let common = right.iter().zip(&wrong).take_while(is_same).count();
    let (chosen, rejected) = (reply(&right, common), reply(&wrong, common));
    if chosen == rejected {
        return Ok(None);
    }
    let (item, prompt) = (better.item.clone(), prompt(better, common)?);
    Ok(Some(Preference { item, prompt, chosen, rejected }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Round;

    fn trajectory(is_right: bool, steps: &[&str]) -> Trajectory {
        let chosen = |question: &&str| Chosen {
            question: (*question).to_owned(),
            answer: "so".to_owned(),
            chunk: None,
            document: "a.md".to_owned(),
            thinking: String::new(),
        };
        let round = |step| Round { chosen: Some(chosen(step)), ..Round::default() };
        let rounds = steps.iter().map(round).collect();
        Trajectory { item: "1".to_owned(), is_right, rounds, ..Trajectory::default() }
    }

    #[test]
    fn trajectories_part_once() {
        let made = preferences(&[
            trajectory(true, &["A?", "B?"]),
            trajectory(false, &["A?", "C?", "D?"]),
            trajectory(false, &["A?"]),
            trajectory(false, &["A?", "B?"]),
        ])
        .unwrap();
        let shown: Vec<(bool, &str, &str)> = made
            .iter()
            .map(|made| (made.prompt.contains("1. A? → so\n"), &*made.chosen, &*made.rejected))
            .collect();
        let ask = |question: &str| {
            format!("<decompose>True</decompose>\n<sub-question>{question}</sub-question>")
        };
        let (b, c) = (ask("B?"), ask("C?"));
        assert_eq!(shown, [(true, &*b, &*c), (true, &*b, "<decompose>False</decompose>")]);
        assert!(preferences(&[trajectory(false, &["A?"])]).unwrap().is_empty());
    }
}
