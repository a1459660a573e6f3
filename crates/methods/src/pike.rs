//! Classifies a question by its words and by what the base offers, and answers it by the strategy of its
//! class (`pike`). If a strategy fails, a plainer one is planned (PIKE-RAG §3.2, §3.3, §4.1).

mod ahead;
mod cited;
mod classed;
mod classify;
mod compare;
mod create;
mod figures;
mod l2;
mod level;
mod limit;
mod params;
mod plan;
mod predict;
mod prospect;
mod read;
mod scheme;
mod stated;
mod structured;
mod summarize;
mod tables;
mod things;
mod words;

use futures::FutureExt;
use futures::future::BoxFuture;
use pikerag_knowledge::{
    Answer, Context, Event, Level, Question, Reason, Recollection, Role, Statement, TaskClass,
    Worked, WrittenBy,
};
use pikerag_narrate::{InWords, Language, Sentence};
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span, instrument};

pub use self::classed::{Classed, classed};
pub use self::classify::Classifier;
use self::classify::Evidence;
use self::figures::as_figures;
pub use self::l2::L2;
use self::level::{passages, verdict};
use self::limit::too_high;
pub use self::params::{Params, Unsettled};
use self::read::read;
use self::scheme::steps;
use self::tables::Foreseen;
use crate::collections::Collection;
use crate::decompose::inquire;
use crate::feedback::Recall;
use crate::fitting::in_little_time;
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::verified_use::VerifiedUse;
use pikerag_records::inquiry::{Form, Inquiry, Source};

/// Schemes of one question, at most: each class falls back to a plainer one.
const ROUNDS: usize = 3;

/// The result of a strategy.
enum Outcome {
    Answered(Answer),
    /// No answer: why, and the class that is tried instead; no class where none can help.
    Nothing(Option<Reason>, Option<TaskClass>),
}

/// Answers `question` by the strategy of its class. Without a model it still gives figures, forecasts, tables
/// of records and quotes; it refuses ideas.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "pike", skip_all, fields(question = %question.id, class = Empty))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let without_feedback;
    let ports = match params.verified {
        VerifiedUse::Used => ports,
        // As if there were no feedback.
        VerifiedUse::Ignored => {
            without_feedback = Ports { feedback_before: Some(0), ..ports.clone() };
            &without_feedback
        }
    };
    solved(ports, run, question, params).await
}

/// Answers a question, or one of the questions of a plan.
async fn solved(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    if params.level == Some(Level::L0) {
        return passages(ports, run, question).await;
    }
    // Who sets the class, or lets the model find it, wants its steps, too.
    let is_usual = params.class.is_none() && params.classify != Classifier::Model;
    let in_time = in_little_time(ports, run).filter(|_| is_usual);
    let ports = in_time.as_ref().unwrap_or(ports);
    let evidence = gathered(ports, question, params).await?;
    let recall = Recall::of(ports, question, &evidence.found).await?;
    let why_again = if params.class.is_some() || params.level.is_some() {
        Some(Recollection::ClassRequested)
    } else {
        evidence.understood().map(|_| Recollection::RecordsAnswer)
    };
    if let Some(answer) = recall.taken(ports, run, why_again).await? {
        return Ok(answer);
    }
    let mut answer = routed(ports, run, question, params, &evidence, &recall).await?;
    recall.beside(&mut answer);
    Ok(answer)
}

/// Answers a question of an agent by the strategy of its class. Ideas are no answer for an agent: where the
/// class asks for some, the documents are read.
fn answer_for_agent<'a>(
    ports: &'a Ports,
    run: &'a mut Run,
    question: &'a Question,
    params: Params,
) -> BoxFuture<'a, Result<Answer, SolveError>> {
    let params = Params { class: None, level: None, by_agent: true, ..params };
    let span = info_span!("agent_question", class = Empty);
    let ports = ports.for_parts();
    let answer = async move {
        let ports = &ports;
        let evidence = gathered(ports, question, params).await?;
        let recall = Recall::of(ports, question, &evidence.found).await?;
        routed(ports, run, question, params, &evidence, &recall).await
    };
    answer.instrument(span).boxed()
}

/// What the base offers for a question; no figure is collected from passages where the parameters switch that off.
async fn gathered(
    ports: &Ports,
    question: &Question,
    params: Params,
) -> Result<Evidence, SolveError> {
    let evidence = Evidence::gather(ports, question).await?;
    Ok(if params.structured == 0 { evidence.without_collecting() } else { evidence })
}

/// Answers by the strategy of the question's class.
async fn routed(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    evidence: &Evidence,
    recall: &Recall,
) -> Result<Answer, SolveError> {
    if let Some(answer) = plan::answer(ports, run, question, params, evidence).await? {
        return Ok(answer);
    }
    // Declared records come before undeclared tables.
    if evidence.understood().is_none() {
        let wanted = (params.class, params.level);
        match evidence.tables.foreseen(ports, run, question, wanted).await? {
            Some(Foreseen::Answered(answer)) => return Ok(*answer),
            Some(Foreseen::Lacks(why)) => {
                let language = Language::of(question.query());
                let lacks = Outcome::Nothing(Some(why), None);
                let judged =
                    prospect::judged(ports, run, question, params, evidence, lacks).await?;
                return Ok(match judged {
                    Outcome::Answered(answer) => of_class(answer, TaskClass::Predictive),
                    Outcome::Nothing(why, _) => refusal(run, TaskClass::Predictive, why, language),
                });
            }
            None => {}
        }
        if let Some(answer) = evidence.tables.solve(ports, run, question, wanted).await? {
            return Ok(answer);
        }
    }
    let verdict = verdict(ports, run, question, evidence, params, recall).await?;
    let language = Language::of(question.query());
    if let Some(why) = too_high(params.level, verdict.class) {
        run.classified(verdict.class, verdict.by, verdict.reasons)?;
        return Ok(refusal(run, verdict.class, Some(why), language));
    }
    let mut because = verdict.reasons.clone();
    let mut class = run.classified(verdict.class, verdict.by, verdict.reasons)?;
    let asked = class;
    for round in 1..=ROUNDS {
        Span::current().record("class", class.as_str());
        let steps =
            steps(ports, params, class, evidence).into_iter().map(Statement::from).collect();
        run.push(Event::Planned { round, because, steps });
        match answered(ports, run, question, params, class, evidence).await? {
            Outcome::Answered(mut answer) => {
                if let Some(why) = evidence.tables.excerpted(ports, question, &answer).await? {
                    return Ok(refusal(run, asked, Some(why), language));
                }
                // Quoted rows of a table are no figure.
                if answer.is_plain_quotation()
                    && (answer.rationale.is_empty()
                        || matches!(class, TaskClass::Factual | TaskClass::Bridging))
                    && let Some(advice) = evidence.tables.advice(ports, question).await?
                {
                    answer.rationale = advice;
                }
                return Ok(of_class(answer, class));
            }
            Outcome::Nothing(why, Some(next)) if round < ROUNDS => {
                because = why.into_iter().map(Statement::from).collect();
                class = next;
            }
            Outcome::Nothing(why, _) => {
                return Ok(refusal(run, asked, why, language));
            }
        }
    }
    Ok(refusal(run, asked, None, language))
}

async fn answered(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    class: TaskClass,
    evidence: &Evidence,
) -> Result<Outcome, SolveError> {
    if matches!(class, TaskClass::Factual | TaskClass::Bridging | TaskClass::Comparative)
        && let Some(why) = evidence.lacks(params.coverage)
    {
        return Ok(Outcome::Nothing(Some(why), None));
    }
    match class {
        TaskClass::Factual => listed_or_read(ports, run, question, params, evidence).await,
        TaskClass::Bridging => read(ports, run, question, params).await,
        // The table of a comparison takes longer to write than the time for an answer.
        TaskClass::Comparative if run.has_little_time() && params.class.is_none() => {
            read(ports, run, question, params).await
        }
        TaskClass::Comparative => compare::answer(ports, run, question, params, evidence).await,
        TaskClass::Summarizing => summarize::answer(ports, run, question, params).await,
        TaskClass::Creative => {
            let offers = [evidence.offers_in_words(), evidence.tables.in_words(question)];
            create::answer(ports, run, question, params, offers.join("\n").trim()).await
        }
        TaskClass::Quantitative => {
            // A model reads declared records first, if the class is set.
            if evidence.understood().is_none()
                && (params.class.is_none() || evidence.collections.is_empty())
                && let Some(answer) =
                    evidence.tables.figure(ports, run, question, params.class).await?
            {
                return Ok(Outcome::Answered(answer));
            }
            let Some((collection, inquiry)) =
                understood(ports, run, question, evidence, false).await?
            else {
                let why = match structured::answer(ports, run, question, params, evidence).await? {
                    Ok(answer) => return Ok(Outcome::Answered(*answer)),
                    Err(why) => why,
                };
                // A model can still read the documents.
                let is_unread = ports.models.of(Role::Decompose).is_none();
                let unclear = match is_unread {
                    true => evidence.tables.unclear(ports, question).await?,
                    false => None,
                };
                return Ok(match unclear {
                    Some(unclear) => Outcome::Nothing(Some(unclear), None),
                    None => nothing(why.unwrap_or_else(|| not_understood(evidence))),
                });
            };
            collection.trace(run);
            match figures::answer(ports, run, question, collection, &inquiry).await? {
                Some(answer) => Ok(Outcome::Answered(answer)),
                None => Ok(nothing(Reason::RecordsLackAnswer)),
            }
        }
        TaskClass::Predictive => {
            let forecast = ahead::answer(ports, run, question, params, evidence).await?;
            prospect::judged(ports, run, question, params, evidence, forecast).await
        }
    }
}

/// Answers with a list that one document gives; otherwise reads the documents.
async fn listed_or_read(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    evidence: &Evidence,
) -> Result<Outcome, SolveError> {
    let listed = evidence.understood().filter(|(_, inquiry)| inquiry.form == Form::List);
    if let Some((collection, inquiry)) = listed {
        collection.trace(run);
        if let Some(answer) = figures::answer(ports, run, question, collection, inquiry).await? {
            return Ok(Outcome::Answered(answer));
        }
    }
    read(ports, run, question, params).await
}

/// The plan failed, and the documents are read instead.
fn nothing(why: Reason) -> Outcome {
    Outcome::Nothing(Some(why), Some(TaskClass::Bridging))
}

/// The records and the query of a question; from a model where rules leave words unexplained.
async fn understood<'a>(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    evidence: &'a Evidence,
    is_ahead: bool,
) -> Result<Option<(&'a Collection, Inquiry)>, SolveError> {
    let fits = |inquiry: &Inquiry| {
        let looks_ahead = matches!(inquiry.form, Form::Series { .. } | Form::Kinds { .. });
        looks_ahead == is_ahead
    };
    if let Some((collection, inquiry)) = evidence.understood() {
        if fits(inquiry) {
            return Ok(Some((collection, inquiry.clone())));
        }
        if !is_ahead {
            return Ok(Some((collection, as_figures(inquiry))));
        }
    }
    let Some(model) = ports.models.of(Role::Decompose).filter(|_| !evidence.collections.is_empty())
    else {
        return Ok(None);
    };
    let sources: Vec<Source<'_>> =
        evidence.collections.iter().take(4).map(Collection::source).collect();
    let inquiry = inquire(model, question, &sources, run).await?;
    let inquiry = inquiry.filter(fits);
    Ok(inquiry.and_then(|inquiry| Some((evidence.collections.get(inquiry.schema)?, inquiry))))
}

fn not_understood(evidence: &Evidence) -> Reason {
    match evidence.collection() {
        Some((collection, inquiry)) if !inquiry.unexplained.is_empty() => {
            Reason::RecordsDoNotMention {
                schema: collection.schema.name.clone(),
                words: inquiry.unexplained.clone(),
            }
        }
        _ => Reason::NoMatchingRecords,
    }
}

/// A refusal that says what an answer needs.
fn refusal(run: &mut Run, class: TaskClass, why: Option<Reason>, language: Language) -> Answer {
    let text = match &why {
        Some(few @ Reason::TooLittleCovered { .. }) => {
            Sentence::Insufficient(&few.in_words(language)).in_words(language)
        }
        Some(why) => why.in_words(language),
        None => String::new(),
    };
    run.push(Event::Answered { answer: text.clone() });
    Answer {
        missing: vec![text.clone()],
        text,
        rationale: String::new(),
        refused: true,
        written_by: WrittenBy::Computation,
        citations: Vec::new(),
        context: Context::default(),
        quotes: None,
        worked: Some(Box::new(Worked { refusal: why, ..Worked::of(class) })),
    }
}

fn of_class(mut answer: Answer, class: TaskClass) -> Answer {
    answer.worked.get_or_insert_with(|| Box::new(Worked::of(class)));
    answer
}
