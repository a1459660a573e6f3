//! Searches for the documents' words in place of mistyped and everyday ones, if no model answers.

use pikerag_knowledge::{Answer, Event, Note, Question, Respelling, Statement, WrittenBy};
use pikerag_narrate::{InWords, Language, Sentence};
use pikerag_retrieve::{Spelling, respelled};

use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// The question with the documents' words for its mistyped and everyday ones beside it, as the words
/// to search for; `None` without such words. Traces the words, and names that the documents have in
/// another spelling.
pub async fn in_documents_spelling(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
) -> Result<Option<Question>, SolveError> {
    let Spelling { corrected, suggested } = respelled(ports.finder(), question.query()).await?;
    if !suggested.is_empty() {
        run.push(Event::Noted { note: Note::NamesSuggested { words: suggested }.into() });
    }
    if corrected.is_empty() {
        return Ok(None);
    }
    let words: Vec<&str> = corrected.iter().map(|word| word.to.as_str()).collect();
    let lookup = Some(format!("{} ({})", question.query(), words.join("; ")));
    run.push(Event::Noted { note: Note::SpellingCorrected { words: corrected }.into() });
    Ok(Some(Question { lookup, ..question.clone() }))
}

/// The mistyped and everyday words of a run's question, each with the documents' word.
pub(crate) fn corrected(run: &Run) -> Vec<Respelling> {
    let words = run.events().find_map(|event| match event {
        Event::Noted { note: Statement::Fact(Note::SpellingCorrected { words }) } => Some(words),
        _ => None,
    });
    words.cloned().unwrap_or_default()
}

/// Adds to the rationale of a run's answer the words that were searched for, and the names that the
/// documents have.
pub fn report_spelling(answer: &mut Answer, run: &Run, question: &Question) {
    if matches!(answer.written_by, WrittenBy::Person { .. }) {
        return;
    }
    let language = Language::of(question.query());
    let mut sentences = Vec::new();
    for event in run.events() {
        let Event::Noted { note: Statement::Fact(note) } = event else { continue };
        sentences.extend(match note {
            Note::SpellingCorrected { words } => Some(Sentence::SearchedFor(words)),
            Note::NamesSuggested { words } => Some(Sentence::DidYouMean(words)),
            _ => None,
        });
    }
    if sentences.is_empty() {
        return;
    }
    let is_empty = answer.citations.is_empty() && answer.rationale.is_empty();
    if is_empty && answer.written_by == WrittenBy::Quotation {
        answer.rationale = Sentence::NotInDocuments.in_words(language);
    }
    let mut parts: Vec<String> =
        sentences.into_iter().map(|sentence| sentence.in_words(language)).collect();
    if !answer.rationale.is_empty() {
        parts.push(std::mem::take(&mut answer.rationale));
    }
    answer.rationale = parts.join(language.either(" ", ""));
}
