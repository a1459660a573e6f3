//! Answers a question for a figure, or for a forecast, from passages that are read as records for it (PIKE-RAG §5.4).

use pikerag_knowledge::{Answer, Question, Reason, Value};
use pikerag_narrate::{Language, gaps};

use super::classify::Evidence;
use super::read::settled;
use super::{Params, figures};
use crate::collections::Collection;
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::structure::{Found, Wanted, can_structure, structure};
use pikerag_records::inquiry::{Form, Inquiry};

/// For each thing that lacks what the figure needs, this many must fit the question; with fewer, no figure is given.
const UNKNOWN: usize = 2;

/// The figure, with what may be missing from it; else why there is none, where something was tried.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    evidence: &Evidence,
) -> Result<Result<Box<Answer>, Option<Reason>>, SolveError> {
    let is_tried = 0 < params.structured && can_structure(ports);
    if !is_tried || evidence.lacks(params.coverage).is_some() {
        return Ok(Err(None));
    }
    let found =
        structure(ports, run, question, &evidence.cues, Wanted::Figures, params.structured).await?;
    let (collection, inquiry) = match found {
        Found::Things(collection, inquiry) => (collection, inquiry),
        Found::Nothing(why) => return Ok(Err(why)),
    };
    collection.trace(run);
    let engine = ports.tables.engine.as_ref().ok_or(SolveError::NoEngine)?;
    let table = engine.tabulate(&collection.unified.frame, &inquiry.query)?;
    let unknown = table.undecided + table.unmeasured;
    // No passage supports a count of none, and a figure that leaves out many things is none.
    if table.matched == 0 || table.matched < UNKNOWN * unknown {
        return Ok(Err(Some(Reason::RecordsLackAnswer)));
    }
    let answer = figures::answer(ports, run, question, &collection, &inquiry).await?;
    let Some(mut answer) = answer else { return Ok(Err(Some(Reason::RecordsLackAnswer))) };
    let language = Language::of(question.query());
    let worked = answer.worked.iter().find_map(|worked| worked.figures.as_ref());
    answer.missing = worked.map(|it| gaps(&it.coverage, language)).unwrap_or_default();
    Ok(Ok(Box::new(settled(answer, params, language))))
}

/// The series that a question for a forecast carries on; `None` where passages give none, or where too many of their things
/// have no date.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn series(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    evidence: &Evidence,
) -> Result<Option<(Box<Collection>, Inquiry)>, SolveError> {
    if !evidence.may_be_collected || evidence.lacks(params.coverage).is_some() {
        return Ok(None);
    }
    let found =
        structure(ports, run, question, &evidence.cues, Wanted::Series, params.structured).await?;
    let Found::Things(collection, inquiry) = found else { return Ok(None) };
    let Form::Series { date, .. } = &inquiry.form else { return Ok(None) };
    let frame = &collection.unified.frame;
    let is_dated = |thing: &usize| {
        frame.cell(*thing, date).is_some_and(|cell| matches!(cell.value, Value::Date(_)))
    };
    let dated = (0..frame.things.len()).filter(is_dated).count();
    Ok((UNKNOWN * (frame.things.len() - dated) <= dated).then_some((collection, inquiry)))
}
