//! How is an evaluation run? Every method on every question, many at a time; each row is handed out
//! as soon as it is known, so that a run can be resumed.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use futures::stream::{self, StreamExt};
use pikerag_coordinate::{Kit, Method, SolveError, solve};
use pikerag_knowledge::{Answer, ModelError, Question};

use crate::datasets::Item;
use crate::metrics::{Scores, score, supporting_recall};
use crate::report::Row;

/// Refusals in a row after which every further question would be refused too (a bad key).
const REFUSALS: usize = 3;

/// Runs what is not in `done` yet (by method's name and question), `in_flight` questions at a time, and hands each row and answer to
/// `keep` in the order in which they were asked. Questions see nothing of each other.
///
/// A question that fails gives a row that says why, and the rest go on; a spent budget, and a
/// call that was never recorded, end the run.
///
/// # Errors
/// What ended the run, or what `keep` returned. Rows handed out before stay valid.
pub async fn run<E>(
    kit: &Kit,
    items: &[Item],
    methods: &[(String, Method)],
    done: &HashSet<(String, String)>,
    in_flight: usize,
    mut keep: impl FnMut(Row, Option<Answer>) -> Result<(), E>,
) -> Result<(), RunError<E>> {
    let mut jobs = Vec::new();
    for (name, method) in methods {
        for item in items {
            if !done.contains(&(name.clone(), item.id.clone())) {
                jobs.push((name, *method, item));
            }
        }
    }
    let answers = stream::iter(jobs.into_iter().enumerate()).map(
        |(place, (name, method, item))| async move {
            let question = Question { id: item.id.clone(), text: item.question.clone() };
            let began = Instant::now();
            let answer = solve(kit, &question, method).await;
            (place, (name, item, answer, began.elapsed().as_secs_f64()))
        },
    );
    // Unordered, so that one slow question holds no place; handed out in the order asked.
    let mut answers = answers.buffer_unordered(in_flight.max(1));
    let (mut early, mut next) = (BTreeMap::new(), 0);
    let mut refused = 0;
    while let Some((place, done)) = answers.next().await {
        early.insert(place, done);
        while let Some((name, item, answer, seconds)) = early.remove(&next) {
            next += 1;
            let refusal = matches!(&answer, Err(error) if matches!(error.model(), Some(ModelError::Refused { .. })));
            refused = if refusal { refused + 1 } else { 0 };
            match answer {
                Err(error) if REFUSALS <= refused => return Err(RunError::Solve(error)),
                Ok(answer) => {
                    keep(row(name, item, &answer, seconds), Some(answer))
                        .map_err(RunError::Keep)?;
                }
                Err(error) if ends_the_run(&error) => return Err(RunError::Solve(error)),
                Err(error) => {
                    keep(failed(name, item, &error, seconds), None).map_err(RunError::Keep)?;
                }
            }
        }
    }
    Ok(())
}

/// Why a run ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// A question could not be asked, and no other could be.
    #[error("the run ended early")]
    Solve(#[source] SolveError),
    /// A row could not be kept.
    #[error("a result could not be kept")]
    Keep(#[source] E),
}

fn ends_the_run(error: &SolveError) -> bool {
    matches!(error, SolveError::Store(_))
        || matches!(
            error.model(),
            Some(
                ModelError::OverBudget { .. }
                    | ModelError::NotRecorded { .. }
                    | ModelError::Ledger { .. }
            )
        )
}

fn row(method: &str, item: &Item, answer: &Answer, seconds: f64) -> Row {
    let usage = answer.spent.usage();
    // After each chunk that joined the context: for KAR³ that is after each iteration.
    let mut found: Vec<String> = Vec::new();
    let mut recall = Vec::new();
    for held in &answer.context.chunks {
        found.extend(item.supporting.iter().filter(|gold| is_of(&held.chunk.uri, gold)).cloned());
        recall.extend(supporting_recall(&item.supporting, &found));
    }
    Row {
        method: method.to_owned(),
        item: item.id.clone(),
        kind: item.kind.clone(),
        hops: item.hops,
        answer: answer.text.clone(),
        scores: score(&answer.text, &item.answers),
        final_recall: recall.last().copied().or_else(|| supporting_recall(&item.supporting, &[])),
        supporting_recall: recall,
        calls: answer.spent.calls() as u64,
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens,
        seconds,
        failed: None,
    }
}

fn failed(method: &str, item: &Item, error: &SolveError, seconds: f64) -> Row {
    let mut reason = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        reason = format!("{reason}: {inner}");
        cause = inner.source();
    }
    Row {
        method: method.to_owned(),
        item: item.id.clone(),
        kind: item.kind.clone(),
        hops: item.hops,
        scores: Scores::default(),
        final_recall: supporting_recall(&item.supporting, &[]),
        seconds,
        failed: Some(reason),
        ..Row::default()
    }
}

/// Whether a chunk's URI is the gold evidence: the document itself, a file of that name, or a record
/// with that identifier.
fn is_of(uri: &str, gold: &str) -> bool {
    uri.strip_suffix(gold).is_some_and(|before| before.is_empty() || before.ends_with(['/', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gold_evidence_is_named_in_three_ways() {
        assert!(is_of("docs/a.md", "a.md"));
        assert!(is_of("docs/x.jsonl#INC-1", "x.jsonl#INC-1"));
        assert!(is_of("docs/x.jsonl#p1", "p1"));
        assert!(!is_of("docs/x.jsonl#p11", "p1"));
        assert!(!is_of("docs/ba.md", "a.md"));
    }
}
