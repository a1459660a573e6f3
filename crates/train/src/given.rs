//! Reads the decompositions that a data set gives as trajectories (MuSiQue's `question_decomposition`): training data
//! without a model.

use std::path::Path;

use pikerag_eval::datasets::{DataSet, Item};
use pikerag_eval::metrics::score;
use serde::Deserialize;

use crate::error::TrainError;
use crate::trajectory::{Chosen, Origin, Round, Trajectory};

/// A step of a decomposition; `#1` in its question is the answer of the first step.
#[derive(Deserialize)]
struct Step {
    question: String,
    answer: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    paragraph_support_idx: Option<usize>,
}

#[derive(Deserialize)]
struct Record {
    id: String,
    #[serde(alias = "question_decomposition", default)]
    decomposition: Vec<Step>,
    #[serde(default)]
    paragraphs: Vec<Paragraph>,
}

#[derive(Deserialize)]
struct Paragraph {
    title: String,
}

/// The trajectories of the questions of `set` that have a decomposition, in their order. All are right.
///
/// # Errors
/// The file cannot be read; it has no decompositions.
pub fn given(path: &Path, set: &DataSet) -> Result<Vec<Trajectory>, TrainError> {
    let unreadable = |source| TrainError::Unreadable { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    // Lines of other formats are no records of this kind, and have no decompositions.
    let records = text.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok());
    let mut made = Vec::new();
    for record in records.filter(|record| !record.decomposition.is_empty()) {
        let item = set.items.iter().find(|item| item.id == record.id);
        made.extend(item.map(|item| trajectory(item, &record)));
    }
    if made.is_empty() {
        return Err(TrainError::NoDecompositions { path: path.to_owned() });
    }
    Ok(made)
}

fn trajectory(item: &Item, record: &Record) -> Trajectory {
    let mut answers: Vec<String> = Vec::new();
    let mut rounds = Vec::new();
    for step in &record.decomposition {
        let question = filled(&step.question, &answers);
        answers.push(step.answer.clone());
        let paragraph = step.paragraph_support_idx.and_then(|place| record.paragraphs.get(place));
        let title = step.title.clone().or(paragraph.map(|paragraph| paragraph.title.clone()));
        let chosen = Chosen {
            question: question.clone(),
            answer: step.answer.clone(),
            chunk: None,
            document: title.unwrap_or_default(),
            thinking: String::new(),
        };
        rounds.push(Round { proposals: vec![question], chosen: Some(chosen), ..Round::default() });
    }
    let answer = item.answers.first().cloned().unwrap_or_default();
    Trajectory {
        item: item.id.clone(),
        origin: Origin::Given,
        question: item.question.clone(),
        labels: item.answers.clone(),
        scores: score(&answer, &item.answers),
        answer,
        is_right: true,
        rounds,
        ..Trajectory::default()
    }
}

/// The question with the answers of earlier steps in place of `#1`, `#2` …, and ` >> ` of a relation as a colon.
fn filled(question: &str, answers: &[String]) -> String {
    let mut question = question.replace(" >> ", ": ");
    // From the last one, so that `#1` is not found in `#12`.
    for (number, answer) in answers.iter().enumerate().rev() {
        question = question.replace(&format!("#{}", number + 1), answer);
    }
    question
}

#[cfg(test)]
mod tests {
    use pikerag_eval::datasets;

    use super::*;

    #[test]
    fn steps_are_filled_in_with_answers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("musique.jsonl");
        let line = serde_json::json!({
            "id": "2hop__1_2", "question": "Where was the builder of the Heron born?", "answer": "Oslo",
            "answer_aliases": [], "answerable": true,
            "paragraphs": [{"title": "Heron", "paragraph_text": "Ada built it.", "is_supporting": true},
                           {"title": "Ada", "paragraph_text": "Born in Oslo.", "is_supporting": true}],
            "question_decomposition": [
                {"id": 1, "question": "Heron >> built by", "answer": "Ada", "paragraph_support_idx": 0},
                {"id": 2, "question": "Where was #1 born?", "answer": "Oslo", "paragraph_support_idx": 1}],
        });
        std::fs::write(&path, format!("{line}\n")).unwrap();
        let set = datasets::read(&path, None).unwrap();
        let made = given(&path, &set).unwrap();
        let steps: Vec<(&str, &str, &str)> =
            made[0].steps().map(|step| (&*step.question, &*step.answer, &*step.document)).collect();
        let wanted = [("Heron: built by", "Ada", "Heron"), ("Where was Ada born?", "Oslo", "Ada")];
        assert_eq!(steps, wanted);
        assert!(made[0].is_right);
    }

    #[test]
    fn a_file_without_decompositions_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plain.jsonl");
        std::fs::write(&path, "{\"id\": \"1\", \"question\": \"Who?\", \"answers\": [\"A\"]}\n")
            .unwrap();
        let set = datasets::read(&path, None).unwrap();
        assert!(matches!(given(&path, &set), Err(TrainError::NoDecompositions { .. })));
    }
}
