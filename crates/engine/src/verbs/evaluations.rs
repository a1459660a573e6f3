//! Lists the reports of measurements below the folder that is set for them (`evaluations`).

use std::fs;
use std::path::Path;

use pikerag_knowledge::Millis;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};

/// The most reports in the list.
const MOST: usize = 200;
/// The depth of folders that are searched below the one that is set.
const DEPTH: usize = 3;

/// A report by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct EvaluationLine {
    /// The report's folder, relative to the one that is set.
    pub name: String,
    /// The time when it was written, in milliseconds since 1970.
    #[schema(value_type = u64)]
    pub written: Millis,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct EvaluationResponse {
    /// The report's folder, relative to the one that is set.
    pub name: String,
    /// The JSON that `pikerag eval` wrote: a row for each method or search on each data set.
    pub report: Value,
}

/// The reports of `eval` below `server.evaluations`, the latest first.
///
/// # Errors
/// The folder exists and cannot be read.
///
/// # Examples
/// ```no_run
/// # fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for line in pikerag_engine::evaluations(session)? {
///     println!("{}, written {} seconds after 1970", line.name, line.written / 1000);
/// }
/// # Ok(())
/// # }
/// ```
pub fn evaluations(session: &Session) -> Result<Vec<EvaluationLine>> {
    let Some(folder) = &session.settings().server.evaluations else { return Ok(Vec::new()) };
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).max_depth(DEPTH + 1) {
        let Ok(entry) = entry else { continue };
        let report = entry.path();
        if entry.file_name() != REPORT || !entry.file_type().is_file() {
            continue;
        }
        let name = report.parent().and_then(|of| of.strip_prefix(folder).ok());
        let Some(name) = name.and_then(Path::to_str) else { continue };
        found.push(EvaluationLine { name: name.to_owned(), written: written(report) });
    }
    found.sort_by(|a, b| b.written.cmp(&a.written).then(a.name.cmp(&b.name)));
    found.truncate(MOST);
    Ok(found)
}

/// One of these reports, by its name in the list. It reads no other file.
///
/// # Errors
/// [`EngineError::NotFound`], or the report cannot be read.
///
/// # Examples
/// ```no_run
/// # fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let response = pikerag_engine::evaluation(session, "kar3-table-1")?;
/// println!("{}", response.report); // JSON.
/// # Ok(())
/// # }
/// ```
pub fn evaluation(session: &Session, name: &str) -> Result<EvaluationResponse> {
    let no_such = || EngineError::NotFound { what: Missing::Evaluation, name: name.to_owned() };
    let known = evaluations(session)?.into_iter().any(|line| line.name == name);
    let folder = session.settings().server.evaluations.as_ref().filter(|_| known);
    let path = folder.ok_or_else(no_such)?.join(name).join(REPORT);
    let text = fs::read_to_string(&path).map_err(|_| no_such())?;
    let report = serde_json::from_str(&text)
        .map_err(|source| EngineError::BadRows { path: path.clone(), source })?;
    Ok(EvaluationResponse { name: name.to_owned(), report })
}

/// The file name of a report.
const REPORT: &str = "report.json";

fn written(path: &Path) -> Millis {
    let since = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok();
    let changed = fs::metadata(path).and_then(|file| file.modified()).ok().and_then(since);
    changed.and_then(|age| Millis::try_from(age.as_millis()).ok()).unwrap_or_default()
}
