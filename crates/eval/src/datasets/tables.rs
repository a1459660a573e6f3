//! Reads the questions over tables of `examples/tables`.

use serde::Deserialize;
use serde_json::{Error, Value};

use super::{Item, Task};
use crate::metrics::{Wanted, WantedKind};

/// The tolerance of a number if its question does not give one.
const TOLERANCE: f64 = 1e-6;

#[derive(Deserialize)]
struct Raw {
    id: String,
    question: String,
    language: String,
    kind: WantedKind,
    answers: Vec<String>,
    tolerance: Option<f64>,
    files: Vec<String>,
}

/// A question; its class is its language.
pub(super) fn item(record: Value) -> Result<Item, Error> {
    let raw: Raw = serde_json::from_value(record)?;
    let tolerance = raw.tolerance.unwrap_or(TOLERANCE);
    Ok(Item {
        id: raw.id,
        question: raw.question,
        answers: raw.answers,
        kind: Some(raw.language),
        supporting: raw.files,
        task: Task::Figure,
        wanted: Some(Wanted { kind: raw.kind, tolerance }),
        ..Item::default()
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::EvalError;
    use crate::datasets::{Task, read};
    use crate::metrics::WantedKind;

    #[test]
    fn questions_over_tables_give_the_right_answer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main").join("questions.jsonl");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let line = |kind: &str, answers: &str| {
            format!(
                r#"{{"id": "{kind}", "question": "How many?", "language": "en", "files": ["a.csv"], "operation": "count", "kind": "{kind}", "answers": {answers}}}"#
            )
        };
        let write =
            |path: &Path, lines: [String; 2]| std::fs::write(path, lines.join("\n")).unwrap();
        write(&path, [line("number", r#"["7"]"#), line("none", "[]")]);
        let set = read(&path, None).unwrap();
        assert_eq!(set.name, "tables");
        let kinds: Vec<WantedKind> =
            set.items.iter().filter_map(|item| Some(item.wanted?.kind)).collect();
        assert_eq!(kinds, [WantedKind::Number, WantedKind::None]);
        assert!(set.items.iter().all(|item| item.task == Task::Figure));
        assert_eq!(set.items[0].supporting, ["a.csv"]);
        write(&path, [line("number", "[]"), line("none", "[]")]);
        assert!(matches!(read(&path, None), Err(EvalError::NoAnswer { .. })));
    }
}
