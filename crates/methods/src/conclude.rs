//! Ends a method: answers from the gathered passages and checks each citation.

use pikerag_knowledge::{
    Answer, ChunkId, Citation, Context, Event, Grade, Note, Question, Quotes, Quoting, Role, Span,
    Statement, WrittenBy,
};
use pikerag_narrate::{InWords, Language, Sentence};
use pikerag_reason::{Claim, Quoted, Reading, ReplyLength, cite, evidence, read_finally};

use crate::editions::with_marked_titles;
use crate::fitting::fitted;
use crate::named::absent_things;
use crate::narrowing::Narrowed;
use crate::ports::{Ports, SolveError};
use crate::quoting::quoted;
use crate::run::Run;
use crate::widened::widened;

/// Line 14 of Algorithm 1: `â ← LLM(q, C)`; without a model, quotes. An unreadable reply falls
/// back to quotes too, and the trace says so.
pub async fn conclude(
    ports: &Ports,
    question: &Question,
    context: Context,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    conclude_with(ports, question, context, "", run).await
}

/// As [`conclude`], with notes of intermediate results.
pub async fn conclude_with(
    ports: &Ports,
    question: &Question,
    context: Context,
    notes: &str,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let why = match ports.models.of(Role::Answer) {
        Some(_) => match answer_whole(ports, run, question, &context, notes).await? {
            Some(reading) => {
                return conclude_read_or_quote(ports, question, context, reading, run).await;
            }
            None => Quoting::ReplyUnreadable,
        },
        None => Quoting::NoModel,
    };
    conclude_quoting(ports, question, context, why, run).await
}

/// Answers the question itself from chunks and notes: people see the answer while the model writes it. A method may
/// still give another one. Titles of replaced documents have a mark. `None` where the reply stayed unreadable.
pub async fn answer_whole(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    context: &Context,
    notes: &str,
) -> Result<Option<Reading>, SolveError> {
    let model = ports.models.need(Role::Answer)?;
    let marked = with_marked_titles(ports, run.editions(), question, context).await?;
    let whole = marked.as_ref().unwrap_or(context);
    let shown = fitted(ports, question, whole, notes, run).await?;
    let narrowed = Narrowed::new(model, question, shown.chunks.len(), run);
    let (read, length) = ((&*shown, notes), run.reply_length());
    let asked = read_finally(&narrowed, question, read, length, &mut run.account).await;
    let reading = run.readable(Role::Answer, asked)?;
    Ok(reading.map(|reading| supported(question, context, length, reading)))
}

/// Ends with an answer to the question itself. One whose words no sentence has is left out, and quotes take its place:
/// a small model that finds no answer invents one.
pub(crate) async fn conclude_read_or_quote(
    ports: &Ports,
    question: &Question,
    context: Context,
    reading: Reading,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    match reading.is_unsupported {
        true => conclude_quoting(ports, question, context, Quoting::AnswerUnsupported, run).await,
        false => conclude_read(ports, context, reading, run).await,
    }
}

/// A reading with the words of the context that support it, where a brief reply has no quotes. Where no sentence has the
/// answer's words, the reasons say so.
pub(crate) fn supported(
    question: &Question,
    context: &Context,
    length: ReplyLength,
    mut reading: Reading,
) -> Reading {
    let has_no_quotes = length == ReplyLength::Brief && reading.claims.is_empty();
    if has_no_quotes && !reading.answer.trim().is_empty() {
        reading.claims = evidence(question, context, reading.passage, &reading.answer);
        reading.is_unsupported = reading.claims.is_empty();
        if reading.is_unsupported {
            let language = Language::of(question.query());
            reading.rationale = Sentence::AnswerUnsupported.in_words(language);
        }
    }
    reading
}

/// Ends with quotes of the context in place of a reply that could not be read.
pub async fn conclude_unread(
    ports: &Ports,
    question: &Question,
    context: Context,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    conclude_quoting(ports, question, context, Quoting::ReplyUnreadable, run).await
}

async fn conclude_quoting(
    ports: &Ports,
    question: &Question,
    context: Context,
    why: Quoting,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let context = widened(ports, question.query(), context).await?;
    let quoted = quoted(ports, question, &context, run, why).await?;
    let mut grade = quoted.grade();
    let Quoted { mut reading, best, .. } = quoted;
    let mut absent = absent_things(ports, question.query(), &context).await?;
    if !absent.is_empty() {
        grade = Grade::NotFound;
        let similar = suggested(run);
        absent.retain(|thing| !similar.iter().any(|word| thing.contains(word.as_str())));
        // The suggestion already says that no passage has the name.
        reading.rationale = match absent.is_empty() {
            true => String::new(),
            false => Sentence::NotMentioned(&absent).in_words(Language::of(question.query())),
        };
    }
    if why == Quoting::AnswerUnsupported {
        let language = Language::of(question.query());
        let left_out = Sentence::AnswerLeftOut.in_words(language);
        let gap = if reading.rationale.is_empty() { "" } else { language.either(" ", "") };
        reading.rationale = left_out + gap + &reading.rationale;
    }
    let mut answer = finish(ports, context, reading, WrittenBy::Quotation, run).await?;
    mark_best(&mut answer.citations, &best);
    answer.refused = grade == Grade::NotFound;
    answer.quotes = Some(Quotes { grade, absent });
    Ok(answer)
}

/// The names of a run's question for which the documents' names are suggested.
fn suggested(run: &Run) -> Vec<String> {
    let mut names = Vec::new();
    for event in run.events() {
        if let Event::Noted { note: Statement::Fact(Note::NamesSuggested { words }) } = event {
            names.extend(words.iter().map(|word| word.word.clone()));
        }
    }
    names
}

/// Marks the sentence or row of each quote that fits the question best.
fn mark_best(citations: &mut [Citation], best: &[(ChunkId, String)]) {
    for citation in citations {
        let own = best.iter().filter(|(chunk, _)| *chunk == citation.chunk);
        citation.best = own.map(|(_, sentence)| sentence).find_map(|sentence| {
            let start = citation.span.start + citation.quote.find(sentence.as_str())?;
            Some(Span { start, end: start + sentence.len() })
        });
    }
}

/// Ends with an answer that the method's own steps have computed.
pub async fn conclude_as(
    ports: &Ports,
    context: Context,
    answer: String,
    rationale: String,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    conclude_read(ports, context, Reading { answer, rationale, ..Reading::default() }, run).await
}

/// Ends with an answer that a step has read from the context, quotes included.
pub async fn conclude_read(
    ports: &Ports,
    context: Context,
    reading: Reading,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let model = ports.models.need(Role::Answer)?.name().to_owned();
    finish(ports, context, reading, WrittenBy::LanguageModel { model }, run).await
}

/// Ends without an answer: `missing` says what the base lacks.
pub async fn refuse(
    ports: &Ports,
    context: Context,
    missing: String,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let mut answer = conclude_as(ports, context, missing, String::new(), run).await?;
    answer.refused = true;
    answer.citations.clear();
    Ok(answer)
}

/// A model's answer, and whether it is none. Prompts ask a model to leave the answer empty if nothing suggests one; a
/// sentence reports that then. It does not say why: passages may have the question's words.
pub(crate) fn or_not_found(answer: String, language: Language) -> (String, bool) {
    match answer.trim().is_empty() {
        true => (Sentence::NoAnswer.in_words(language), true),
        false => (answer, false),
    }
}

async fn finish(
    ports: &Ports,
    context: Context,
    reading: Reading,
    written_by: WrittenBy,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    let (text, refused) = match &written_by {
        WrittenBy::LanguageModel { .. } => or_not_found(reading.answer, run.language()),
        _ => (reading.answer, false),
    };
    let claims: &[Claim] = &reading.claims;
    // Citations would support an answer that is not given.
    let citations = match refused {
        true => Vec::new(),
        false => cite(ports.base.as_ref(), &context, &text, claims).await?,
    };
    run.push(Event::Answered { answer: text.clone() });
    Ok(Answer {
        text,
        rationale: reading.rationale,
        refused,
        missing: reading.missing,
        written_by,
        citations,
        context,
        quotes: None,
        worked: None,
    })
}
