//! Judges the answers of kept runs against labels (`feedback judge`): right ones are accepted, wrong ones
//! corrected by the label (PIKE-RAG §4.1).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pikerag_eval::datasets::{self, Item, Task};
use pikerag_eval::metrics::contains;
use pikerag_knowledge::{Answer, RunQuery, RunRecord, RunState, Verified};
use pikerag_language::fold::folded;
use serde::Serialize;

use super::{FeedbackRequest, Verdict, keep};
use crate::engine::Session;
use crate::error::Result;

/// Labels for the answers of kept runs.
#[derive(Clone, Debug)]
pub struct LabelsRequest {
    /// A file of questions with right answers, in any format that `eval` reads.
    pub path: PathBuf,
    /// The author; by default the name of the file.
    pub by: Option<String>,
}

/// What labels said about the answers of kept runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LabelsResponse {
    /// The answers that contain a label word for word.
    pub accepted: Vec<Verified>,
    /// The others, with the first label as the right answer.
    pub corrected: Vec<Verified>,
    /// Labelled questions that no kept run has answered.
    pub not_asked: usize,
    /// Questions of the file whose labels do not decide what is right: ideas, figures that a forecast must come
    /// near, figures over tables, long answers, and questions without an answer.
    pub undecided: usize,
}

/// Judges the latest answer to each labelled question. An answer that contains a label word for word (as the metric
/// `contains` of evaluations) is accepted; another one is corrected by the first label, with the passages that
/// support it. No model is called.
///
/// # Errors
/// [`EngineError::Eval`](crate::EngineError::Eval) if the file cannot be read as questions; nothing is stored then.
/// There is no base, or it cannot be written: the judgements until then stay.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{LabelsRequest, judge_by_labels};
///
/// let request = LabelsRequest { path: "questions.jsonl".into(), by: None };
/// let judged = judge_by_labels(session, &request).await?;
/// println!("{} right, {} wrong", judged.accepted.len(), judged.corrected.len());
/// # Ok(()) }
/// ```
pub async fn judge_by_labels(session: &Session, request: &LabelsRequest) -> Result<LabelsResponse> {
    let set = datasets::read(&request.path, None)?;
    let base = session.base().await?.for_a_question().await?;
    let mut latest: BTreeMap<String, RunRecord> = BTreeMap::new();
    // The latest run comes first.
    for run in base.runs(RunQuery::Latest(usize::MAX)).await? {
        if run.state == RunState::Answered && session.may_see(&run.filter) {
            latest.entry(folded(run.question.query())).or_insert(run);
        }
    }
    let by = request.by.clone().unwrap_or_else(|| name_of(&request.path));
    let mut judged = LabelsResponse { undecided: set.unanswerable, ..Default::default() };
    for item in &set.items {
        let Some(label) = item.answers.first().filter(|_| is_decided(item)) else {
            judged.undecided += 1;
            continue;
        };
        let run = latest.get(&folded(item.query()));
        let Some((run, answer)) = run.and_then(|run| Some((run, run.answer.as_ref()?))) else {
            judged.not_asked += 1;
            continue;
        };
        let is_right = says_a_label(answer, item);
        let request = FeedbackRequest {
            run: run.id.to_string(),
            verdict: if is_right { Verdict::Accept } else { Verdict::Correct },
            answer: (!is_right).then(|| label.clone()),
            by: Some(by.clone()),
            note: String::new(),
        };
        let kept = keep(session, &base, run.clone(), &request).await?.verified;
        if is_right { judged.accepted.push(kept) } else { judged.corrected.push(kept) }
    }
    Ok(judged)
}

/// Whether words alone decide if an answer to the question is right.
fn is_decided(item: &Item) -> bool {
    matches!(item.task, Task::Short) && item.wanted.is_none()
}

fn says_a_label(answer: &Answer, item: &Item) -> bool {
    !answer.refused && 0.0 < contains(&answer.text, &item.answers)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
