//! Stores the rows and answers of a run on disk, so that a later run can continue it.

use std::fs;
use std::io::{BufRead, Write};
use std::mem;
use std::path::Path;

use pikerag_eval::report::Row;
use pikerag_methods::Finished;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::verbs::ask::traced;

use crate::error::{EngineError, Result};

/// The settings of a folder's rows. Rows of other settings need another folder.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) questions: String,
    pub(super) corpus: Vec<String>,
    pub(super) models: String,
    pub(super) embedder: Option<String>,
    pub(super) parameters: String,
    /// The tokens that a slow model may read at a time. Measured speeds change, so that a run that is continued keeps the
    /// limit of its beginning.
    #[serde(default)]
    pub(super) reads_at_most: Option<u32>,
}

/// The rows of a run, on disk and in memory.
pub(super) struct Rows {
    pub(super) all: Vec<Row>,
    /// As the header has it.
    pub(super) reads_at_most: Option<u32>,
    file: fs::File,
    answers: fs::File,
}

impl Rows {
    /// Reads the rows of an earlier run. Rows without a data set belong to `only`: older versions
    /// wrote them, when a run had one data set.
    pub(super) fn open(folder: &Path, header: &Header, only: &str, fresh: bool) -> Result<Self> {
        let path = folder.join("rows.jsonl");
        let not_kept = |source| EngineError::NotWritten { path: path.clone(), source };
        let answers = folder.join("answers.jsonl");
        if fresh {
            for file in [&path, &answers] {
                if file.exists() {
                    fs::remove_file(file).map_err(not_kept)?;
                }
            }
        }
        let bad = |source| EngineError::BadRows { path: path.clone(), source };
        let mut all = Vec::new();
        let mut whole = 0u64;
        let mut reads_at_most = header.reads_at_most;
        if let Ok(file) = fs::File::open(&path) {
            let mut lines = std::io::BufReader::new(file);
            let mut line = String::new();
            while 0 < lines.read_line(&mut line).map_err(not_kept)? {
                if !line.ends_with('\n') {
                    break; // A run was killed while it wrote the last line.
                }
                if whole == 0 {
                    let mut known: Header = serde_json::from_str(&line).map_err(bad)?;
                    reads_at_most = mem::replace(&mut known.reads_at_most, header.reads_at_most);
                    if known != *header {
                        let what = "questions, corpus or models";
                        return Err(EngineError::OtherRun { folder: folder.to_owned(), what });
                    }
                } else {
                    let mut row: Row = serde_json::from_str(&line).map_err(bad)?;
                    if row.data_set.is_empty() {
                        only.clone_into(&mut row.data_set);
                    }
                    // A later row of the same question replaces the earlier one.
                    all.retain(|other| key(other) != key(&row));
                    all.push(row);
                }
                whole += line.len() as u64;
                line.clear();
            }
        }
        let append = |path: &Path| fs::OpenOptions::new().create(true).append(true).open(path);
        let mut rows = append(&path).map_err(not_kept)?;
        rows.set_len(whole).map_err(not_kept)?;
        if whole == 0 {
            writeln!(rows, "{}", serde_json::to_string(header)?).map_err(not_kept)?;
        }
        let answers = append(&answers).map_err(not_kept)?;
        Ok(Self { all, reads_at_most, file: rows, answers })
    }

    /// Keeps a row and its run: the answer with its trace and cost, or the trace and cost of a
    /// failure. The run is written first, because a row marks its question as done.
    pub(super) fn keep(&mut self, row: Row, run: &Finished) -> std::io::Result<()> {
        let mut answer = json!({
            "method": row.method, "data_set": row.data_set, "item": row.item,
            "answer": run.result.as_ref().ok().map(|answer| traced(answer, run)),
        });
        if let (Err(_), Some(fields)) = (&run.result, answer.as_object_mut()) {
            fields.insert("trace".to_owned(), json!(run.trace().collect::<Vec<_>>()));
            fields.insert("spent".to_owned(), json!(run.record.cost.spent));
        }
        self.answers.write_all(format!("{answer}\n").as_bytes())?;
        let line = serde_json::to_string(&row)?;
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.all.retain(|other| key(other) != key(&row));
        self.all.push(row);
        Ok(())
    }
}

/// The readable rows of an earlier run, for forecasts.
pub(super) fn kept(folder: &Path) -> Vec<Row> {
    let text = fs::read_to_string(folder.join("rows.jsonl")).unwrap_or_default();
    text.lines().skip(1).filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn key(row: &Row) -> (&str, &str, &str) {
    (&row.data_set, &row.method, &row.item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(models: &str, reads_at_most: Option<u32>) -> Header {
        Header {
            questions: "q".to_owned(),
            corpus: Vec::new(),
            models: models.to_owned(),
            embedder: None,
            parameters: String::new(),
            reads_at_most,
        }
    }

    /// The speed of a model is measured again at each start; the rows of one run have one limit.
    #[test]
    fn a_continued_run_keeps_the_limit_of_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let limit = |header: Header, fresh: bool| {
            Rows::open(folder.path(), &header, "", fresh).map(|rows| rows.reads_at_most)
        };
        assert_eq!(limit(header("small", Some(768)), false).unwrap(), Some(768));
        assert_eq!(limit(header("small", Some(640)), false).unwrap(), Some(768));
        assert_eq!(limit(header("small", None), false).unwrap(), Some(768));
        assert!(limit(header("large", Some(768)), false).is_err());
        assert_eq!(limit(header("small", None), true).unwrap(), None);
        assert_eq!(limit(header("small", Some(640)), false).unwrap(), None);
    }
}
