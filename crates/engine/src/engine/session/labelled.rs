//! Reads questions labelled as known or not, one JSON object per line, for the method `skr`.

use std::path::Path;
use std::sync::Arc;

use pikerag_methods::LabelledQuestion;

use crate::error::{EngineError, QuestionFile, Result};

/// Reads `{"question": "…", "known": true}`, line by line; empty lines are skipped.
pub(super) fn read(path: &Path) -> Result<Arc<[LabelledQuestion]>> {
    let text =
        std::fs::read_to_string(path).map_err(|source| EngineError::QuestionsUnreadable {
            of: QuestionFile::Labelled,
            path: path.to_owned(),
            source,
        })?;
    let mut labelled = Vec::new();
    for (place, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let question = serde_json::from_str(line).map_err(|source| EngineError::BadQuestion {
            of: QuestionFile::Labelled,
            path: path.to_owned(),
            line: place + 1,
            source,
        })?;
        labelled.push(question);
    }
    Ok(labelled.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<LabelledQuestion>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.jsonl");
        std::fs::write(&path, text).unwrap();
        Ok(read(&path)?.to_vec())
    }

    #[test]
    fn reads_one_question_per_line() {
        let text = "{\"question\": \"Who?\", \"known\": true}\n\n{\"known\": false, \"question\": \"Where?\"}\n";
        let label = |text: &str, known| LabelledQuestion { text: text.to_owned(), known };
        assert_eq!(read_text(text).unwrap(), [label("Who?", true), label("Where?", false)]);
        let error = read_text("\n{\"question\": \"Who?\"}").unwrap_err();
        assert!(error.to_string().starts_with("line 2 of "), "{error}");
        let error = read(Path::new("nowhere.jsonl")).unwrap_err().to_string();
        assert!(error.contains("skr_examples"), "{error}");
    }
}
