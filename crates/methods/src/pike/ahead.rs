//! Answers a question about what has not happened yet: carries a series on, or counts where the records reach that far already.

use pikerag_knowledge::{Event, Note, Question, Reason, TaskClass};

use super::classify::Evidence;
use super::figures::as_figures;
use super::predict::Ahead;
use super::tables::Foreseen;
use super::{Outcome, Params, figures, of_class, predict, structured, understood};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// Forecasts; `Nothing` where there is no series to carry on.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    evidence: &Evidence,
) -> Result<Outcome, SolveError> {
    if evidence.understood().is_none() {
        match evidence.tables.foreseen_by_model(ports, run, question).await? {
            Some(Foreseen::Answered(answer)) => return Ok(Outcome::Answered(*answer)),
            Some(Foreseen::Lacks(why)) => return Ok(Outcome::Nothing(Some(why), None)),
            None => {}
        }
    }
    let read;
    let (collection, inquiry) = match understood(ports, run, question, evidence, true).await? {
        Some(found) => found,
        None => {
            let found = structured::series(ports, run, question, params, evidence).await?;
            let Some((things, inquiry)) = found else {
                let unclear = evidence.tables.unclear_ahead(ports, question).await?;
                let why = unclear.unwrap_or(Reason::ForecastNeedsRecords);
                return Ok(Outcome::Nothing(Some(why), None));
            };
            read = things;
            (&*read, inquiry)
        }
    };
    collection.trace(run);
    Ok(match predict::answer(ports, run, question, collection, &inquiry).await? {
        Ahead::Answered(answer) => Outcome::Answered(*answer),
        Ahead::Lacks(why) => Outcome::Nothing(why, None),
        Ahead::Happened { last } => {
            let happened = as_figures(&inquiry);
            match figures::answer(ports, run, question, collection, &happened).await? {
                Some(answer) => {
                    run.push(Event::Noted { note: Note::CountedNotForecast { last }.into() });
                    Outcome::Answered(of_class(answer, TaskClass::Quantitative))
                }
                None => Outcome::Nothing(None, Some(TaskClass::Bridging)),
            }
        }
    })
}
