//! What happens in a run, as a line that chat programs show while they wait.

use pikerag_engine::knowledge::{Event, RunEvent};

/// Characters of a line.
const LONGEST: usize = 240;

/// The event in words; `None` where it tells a reader nothing.
pub(crate) fn line(event: &RunEvent) -> Option<String> {
    let told = match &event.event {
        Event::Classified { class, reasons, .. } => {
            format!("A {} question: {}", class.as_str(), reasons.join("; "))
        }
        Event::Planned { because, steps, .. } => format!("Plan ({because}): {}", steps.join("; ")),
        Event::Proposed { proposals, .. } => format!("To be asked: {}", proposals.join(" · ")),
        Event::Selected { title, .. } => format!("Reads: {title}"),
        Event::Gathered { candidates } | Event::Retrieved { candidates, .. } => {
            format!("{} passages found", candidates.len())
        }
        Event::Looked { look, facts, .. } => match facts.last() {
            Some(fact) => format!("Look {look}: {} facts, the last: {}", facts.len(), fact.text),
            None => format!("Look {look}: no fact yet"),
        },
        Event::Thought { text, .. } => text.clone(),
        Event::Asked { question, .. } => format!("Asks: {question}"),
        Event::Resolved { question, answer, .. } => format!("{question} → {answer}"),
        Event::Structured { schema, .. } => format!("Gathers records: {schema}"),
        Event::Tabulated { matched, rows, .. } => {
            format!("{matched} fulfil the conditions: {}", rows.join("; "))
        }
        Event::Recalled { question, by, because, .. } => {
            format!("{by} has verified an answer to “{question}”: {because}")
        }
        Event::Path { answer, .. } => format!("One path: {answer}"),
        Event::Noted { note } => note.clone(),
        _ => return None,
    };
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = told.chars().take(LONGEST).collect();
    if short.len() < told.len() {
        short.push('…');
    }
    Some(short).filter(|short| !short.is_empty())
}
