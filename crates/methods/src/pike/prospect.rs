//! Judges a development that no series can forecast: evidence for and against it from the documents, each quote checked, and a
//! verdict that needs such evidence (PIKE-RAG §6.1, trend judgement and qualitative analysis).

mod reply;
mod search;
mod trend;

use pikerag_knowledge::worked::{Argument, Prospect};
use pikerag_knowledge::{
    Answer, Check, Chunk, Citation, Context, Event, Likelihood, Note, PlanStep, Question, Quoting,
    Reason, Role, Statement, TaskClass, Worked, WrittenBy,
};
use pikerag_language::is_chinese;
use pikerag_narrate::{InWords, Language, Sentence, prospect_answer};
use pikerag_prompt::{Prompt, passages, quiet_headings};
use pikerag_reason::{Claim, FLOOR, cite};

use self::reply::{JudgementReply, ReplyArgument, Side};
use self::search::searched;
use self::trend::trend;
use crate::fitting::fitted;
use crate::pike::classify::Evidence;
use crate::pike::words::AboutFuture;
use crate::pike::{Outcome, Params};
use crate::ports::{Ports, SolveError};
use crate::quoting::quoted;
use crate::run::Run;

const PROMPT: Prompt = Prompt::new(Role::Reason, include_str!("../prompts/prospect.md"), 1600)
    .with_earlier("methods/prospect", &[include_str!("../prompts/earlier/prospect.1.md")]);
/// Letters and digits of a quote, at least; a Chinese character counts as two of them.
const QUOTE: usize = 8;

/// Judges in place of a forecast: if the question asks for a judgement, or if nothing is a series and no figure is asked for. The
/// forecast of a series is evidence of the judgement. Any other outcome of the forecast stays.
///
/// # Errors
/// See [`SolveError`].
pub(in crate::pike) async fn judged(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
    evidence: &Evidence,
    forecast: Outcome,
) -> Result<Outcome, SolveError> {
    let has_model = ports.models.of(Role::Reason).is_some();
    let asks_for_it = evidence.future == Some(AboutFuture::Judgement);
    let (series, why) = match forecast {
        Outcome::Answered(answer) if asks_for_it && has_model && is_forecast(&answer) => {
            (Some(answer), Some(Reason::AsksForJudgement))
        }
        Outcome::Nothing(why, None)
            if asks_for_it || has_no_series(evidence.future, why.as_ref(), has_model) =>
        {
            (None, why)
        }
        other => return Ok(other),
    };
    // The words count as little as those of any other question that the documents do not cover.
    if series.is_none()
        && let Some(few) = evidence.lacks(params.coverage)
    {
        return Ok(Outcome::Nothing(Some(few), None));
    }
    plan(run, why, has_model);
    let found = searched(ports, run, question, params).await?;
    if found.is_empty() && series.is_none() {
        return Ok(Outcome::Nothing(Some(Reason::NothingToJudge), None));
    }
    if !has_model {
        return by_quotes(ports, run, question, found, Quoting::NoModel).await;
    }
    match (asked(ports, run, question, &found, series.as_ref()).await?, series) {
        (Some(reply), series) => by_model(ports, run, question, found, reply, series).await,
        (None, Some(series)) => Ok(Outcome::Answered(series)),
        (None, None) => by_quotes(ports, run, question, found, Quoting::ReplyUnreadable).await,
    }
}

fn is_forecast(answer: &Answer) -> bool {
    answer.worked.as_ref().is_some_and(|worked| worked.forecast.is_some())
}

/// Whether nothing is a series, and the question wishes for no figure. Without a model, the words that a table does not explain
/// are the better answer.
fn has_no_series(future: Option<AboutFuture>, why: Option<&Reason>, has_model: bool) -> bool {
    future != Some(AboutFuture::Figure)
        && match why {
            Some(Reason::ForecastNeedsRecords) => true,
            Some(Reason::TableUnclear { .. }) => has_model,
            _ => false,
        }
}

/// Traces the plan, made again after the forecast.
fn plan(run: &mut Run, why: Option<Reason>, has_model: bool) {
    let round = 1 + run.events().filter(|event| matches!(event, Event::Planned { .. })).count();
    let steps = match has_model {
        true => vec![PlanStep::FindPastAndCauses, PlanStep::WeighEvidence, PlanStep::CheckEvidence],
        false => vec![PlanStep::FindPastAndCauses, PlanStep::QuoteSentences],
    };
    // The reason of a refusal says what to declare; here the plan goes on.
    let why = why.map(|why| match why {
        Reason::ForecastNeedsRecords => Reason::NoRecordsForForecast,
        other => other,
    });
    let because = why.into_iter().map(Statement::from).collect();
    let steps = steps.into_iter().map(Statement::from).collect();
    run.push(Event::Planned { round, because, steps });
}

/// The model's judgement; `None` if its reply cannot be read.
async fn asked(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    found: &[Chunk],
    series: Option<&Answer>,
) -> Result<Option<JudgementReply>, SolveError> {
    let computed = series.map(|series| {
        let trend = trend(series).map(|trend| trend.in_words(Language::of(question.query())));
        format!("{}\n{}", series.text, trend.unwrap_or_default())
    });
    let figures = quiet_headings(computed.as_deref().unwrap_or("(none)"));
    let whole = Context::of(1, found.iter().cloned());
    let read = fitted(ports, question, &whole, &figures, run).await?;
    let shown = match passages(read.chunks.iter().map(|held| &held.chunk)) {
        empty if empty.is_empty() => "(no passages were found)".to_owned(),
        shown => shown,
    };
    let text = quiet_headings(&question.text);
    let inputs =
        [("figures", figures.as_str()), ("context", shown.as_str()), ("question", text.as_str())];
    let mut reply = run.ask::<JudgementReply>(ports, &PROMPT, &inputs).await?;
    // Numbers of the prompt become those of all passages.
    let sides = reply.iter_mut().flat_map(|reply| [&mut reply.for_it, &mut reply.against]);
    for argument in sides.flatten() {
        let named = argument.passage.checked_sub(1).and_then(|at| read.chunks.get(at));
        let place = named
            .and_then(|named| whole.chunks.iter().position(|held| held.chunk.id == named.chunk.id));
        argument.passage = place.map_or(0, |place| place + 1);
    }
    Ok(reply)
}

/// The answer of a model: only evidence whose quote a document contains counts.
async fn by_model(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    found: Vec<Chunk>,
    reply: JudgementReply,
    series: Option<Answer>,
) -> Result<Outcome, SolveError> {
    let mut context = Context::default();
    context.extend(1, found);
    let mut checked = Checked { context, citations: Vec::new() };
    let mut for_it = checked.arguments(ports, &reply.for_it).await?;
    let mut against = checked.arguments(ports, &reply.against).await?;
    let Checked { mut context, mut citations } = checked;
    let given = reply.for_it.len() + reply.against.len();
    let unchecked = given - for_it.len() - against.len();
    if 0 < unchecked {
        run.push(Event::Noted { note: Note::EvidenceUnchecked { unchecked, given }.into() });
    }
    let mut worked = Worked::of(TaskClass::Predictive);
    if let Some(series) = series {
        let computed = trend(&series).map(|trend| Argument {
            text: String::new(),
            citation: (!series.citations.is_empty()).then_some(citations.len() + 1),
            trend: Some(trend),
        });
        match reply.figures {
            Some(Side::For) => for_it.extend(computed),
            Some(Side::Against) => against.extend(computed),
            None => {}
        }
        if let Some(own) = series.worked {
            (worked.figures, worked.forecast) = (own.figures, own.forecast);
        }
        for held in series.context.chunks {
            context.add(held.hop, held.chunk);
        }
        citations.extend(series.citations);
        number(&mut citations);
    }
    let is_supported = match reply.verdict {
        Likelihood::Likely => leans(&for_it, &against),
        Likelihood::Unlikely => leans(&against, &for_it),
        Likelihood::Uncertain => true,
    };
    let unsupported = (!is_supported).then_some(reply.verdict);
    if let Some(verdict) = unsupported {
        run.push(Event::Noted { note: Note::VerdictUnsupported { verdict }.into() });
    }
    let prospect = Prospect {
        statement: reply.statement.unwrap_or_else(|| question.query().to_owned()),
        verdict: Some(if is_supported { reply.verdict } else { Likelihood::Uncertain }),
        unsupported,
        for_it,
        against,
        found: Vec::new(),
        unchecked,
        would_change: reply.would_change,
    };
    let language = Language::of(question.query());
    let text = prospect_answer(&prospect, &reply.reason, language);
    worked.prospect = Some(prospect);
    run.push(Event::Answered { answer: text.clone() });
    let model = ports.models.need(Role::Reason)?.name().to_owned();
    Ok(Outcome::Answered(Answer {
        text,
        rationale: String::new(),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::LanguageModel { model },
        citations,
        context,
        quotes: None,
        worked: Some(Box::new(worked)),
    }))
}

/// Whether an argument of one side counts: a computed trend, or a place that the other side does not cite as well.
fn leans(side: &[Argument], other: &[Argument]) -> bool {
    let is_own = |argument: &Argument| other.iter().all(|it| it.citation != argument.citation);
    side.iter().any(|argument| argument.trend.is_some() || is_own(argument))
}

fn number(citations: &mut [Citation]) {
    for (number, citation) in (1..).zip(citations) {
        citation.number = number;
    }
}

/// The passages, and the citations of checked quotes.
struct Checked {
    context: Context,
    citations: Vec<Citation>,
}

impl Checked {
    /// The arguments whose quotes the documents contain, in order.
    async fn arguments(
        &mut self,
        ports: &Ports,
        given: &[ReplyArgument],
    ) -> Result<Vec<Argument>, SolveError> {
        let mut checked = Vec::new();
        for argument in given {
            let chunks = &self.context.chunks;
            let named = argument.passage.checked_sub(1).and_then(|at| chunks.get(at));
            let Some(held) = named.or_else(|| chunks.first()) else { continue };
            let claim = Claim { chunk: held.chunk.id, quote: argument.quote.clone() };
            let found = cite(ports.base.as_ref(), &self.context, "", &[claim]).await?;
            let found = found
                .into_iter()
                .find(|found| found.check == Check::Verified && QUOTE <= letters(&found.quote));
            let Some(found) = found else { continue };
            let place = |own: &Citation| own.chunk == found.chunk && own.span == found.span;
            if !self.citations.iter().any(place) {
                self.citations.push(found.clone());
                number(&mut self.citations);
            }
            let citation = self.citations.iter().find(|own| place(own)).map(|own| own.number);
            checked.push(Argument { text: argument.text.clone(), citation, trend: None });
        }
        Ok(checked)
    }
}

fn letters(quote: &str) -> usize {
    let letters = quote.chars().filter(|letter| letter.is_alphanumeric());
    letters.map(|letter| if is_chinese(letter) { 2 } else { 1 }).sum()
}

/// Without a model: quotes about the development, and no verdict.
async fn by_quotes(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    found: Vec<Chunk>,
    because: Quoting,
) -> Result<Outcome, SolveError> {
    let mut context = Context::default();
    context.extend(1, found);
    let quoted = quoted(ports, question, &context, run, because).await?;
    let claims = quoted.reading.claims;
    if claims.is_empty() || quoted.fit < FLOOR {
        let why = match because {
            Quoting::NoModel => Reason::JudgementNeedsModel,
            Quoting::ReplyUnreadable | Quoting::AnswerUnsupported => Reason::NothingToJudge,
        };
        return Ok(Outcome::Nothing(Some(why), None));
    }
    let citations = cite(ports.base.as_ref(), &context, "", &claims).await?;
    let found = citations.iter().map(|citation| Argument {
        text: citation.quote.clone(),
        citation: Some(citation.number),
        trend: None,
    });
    let statement = question.query().to_owned();
    let prospect = Prospect { statement, found: found.collect(), ..Prospect::default() };
    let mut worked = Worked::of(TaskClass::Predictive);
    worked.prospect = Some(prospect);
    let sentence = match because {
        Quoting::NoModel => Sentence::JudgementNeedsModel,
        Quoting::ReplyUnreadable | Quoting::AnswerUnsupported => Sentence::JudgementUnreadable,
    };
    let text = sentence.in_words(Language::of(question.query()));
    run.push(Event::Answered { answer: text.clone() });
    Ok(Outcome::Answered(Answer {
        text,
        rationale: String::new(),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::Quotation,
        citations,
        context,
        quotes: None,
        worked: Some(Box::new(worked)),
    }))
}
