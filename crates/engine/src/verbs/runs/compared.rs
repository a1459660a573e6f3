//! Compares two runs: the events at which they differ, and the chunks of their answers.

use std::collections::BTreeSet;

use pikerag_knowledge::{ChunkId, Event, RunEvent, RunRecord};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use utoipa::ToSchema;

use super::{RunSummary, run_by_name};
use crate::engine::Session;
use crate::error::Result;

/// Two runs side by side.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DiffResponse {
    /// The run that was named first.
    pub first: RunSummary,
    /// The run that it is compared with.
    pub second: RunSummary,
    /// The number of equal events from the start, except for the methods' names.
    pub alike: usize,
    /// All events of both; equal ones are listed once.
    pub lines: Vec<DiffLine>,
    /// The number of chunks that both answers were written from.
    pub both: usize,
    /// Titles of chunks that only the first has.
    pub only_first: Vec<String>,
    /// Titles of chunks that only the second has.
    pub only_second: Vec<String>,
}

/// An event of one run, or of both.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DiffLine {
    /// The runs that have it.
    pub of: DiffSide,
    /// The event, with its number in its own run.
    pub event: RunEvent,
}

/// The runs that have an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffSide {
    /// Both have it at this place.
    Both,
    /// Only the first run.
    First,
    /// Only the second run.
    Second,
}

/// The events at which two runs differ, and the chunks of their answers.
///
/// # Errors
/// There is no such run.
///
/// # Examples
/// ```no_run
/// # use pikerag_engine::{Result, Session};
/// # async fn f(session: &Session, first: &str, second: &str) -> Result<()> {
/// let diff = pikerag_engine::diff_runs(session, first, second).await?;
/// println!("{} equal events, then:", diff.alike);
/// for line in diff.lines.iter().skip(diff.alike) {
///     println!("{:?}: {:?}", line.of, line.event.event);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn diff_runs(session: &Session, first: &str, second: &str) -> Result<DiffResponse> {
    let first = run_by_name(session, first).await?;
    let second = run_by_name(session, second).await?;
    let lines = diff(&first.events, &second.events)?;
    let alike = lines.iter().take_while(|line| line.of == DiffSide::Both).count();
    let titles = |of: &RunRecord, other: &RunRecord| {
        let held = context(other);
        let chunks = of.answer.iter().flat_map(|answer| &answer.context.chunks);
        let alone = chunks.filter(|chunk| !held.contains(&chunk.chunk.id));
        alone.map(|chunk| chunk.chunk.full_title()).collect()
    };
    let (one, other) = (&first.summary.run, &second.summary.run);
    Ok(DiffResponse {
        alike,
        lines,
        both: context(one).intersection(&context(other)).count(),
        only_first: titles(one, other),
        only_second: titles(other, one),
        first: first.summary,
        second: second.summary,
    })
}

fn context(run: &RunRecord) -> BTreeSet<ChunkId> {
    run.answer.iter().flat_map(|answer| answer.context.ids()).collect()
}

/// The event without its time and without the method's name.
fn comparable(event: &RunEvent) -> Result<String> {
    let event = match &event.event {
        Event::Began { question, .. } => {
            Event::Began { method: String::new(), question: question.clone() }
        }
        other => other.clone(),
    };
    Ok(serde_json::to_string(&event)?)
}

fn diff(first: &[RunEvent], second: &[RunEvent]) -> Result<Vec<DiffLine>> {
    let one = first.iter().map(comparable).collect::<Result<Vec<_>>>()?;
    let other = second.iter().map(comparable).collect::<Result<Vec<_>>>()?;
    let (one, other): (Vec<&str>, Vec<&str>) =
        (one.iter().map(String::as_str).collect(), other.iter().map(String::as_str).collect());
    let mut lines = Vec::new();
    for change in TextDiff::from_slices(&one, &other).iter_all_changes() {
        let (of, event) = match change.tag() {
            ChangeTag::Equal => (DiffSide::Both, change.old_index().and_then(|at| first.get(at))),
            ChangeTag::Delete => (DiffSide::First, change.old_index().and_then(|at| first.get(at))),
            ChangeTag::Insert => {
                (DiffSide::Second, change.new_index().and_then(|at| second.get(at)))
            }
        };
        lines.extend(event.map(|event| DiffLine { of, event: event.clone() }));
    }
    Ok(lines)
}
