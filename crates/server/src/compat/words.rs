//! Words each event as the line that chat programs show while they wait.

use pikerag_engine::knowledge::{Event, RunEvent};
use pikerag_engine::narrate::{Language, narrate};

/// The largest number of characters of a line.
const LONGEST: usize = 240;

/// The event in words; `None` if it is of no use to a reader.
pub(crate) fn line(event: &RunEvent, language: Language) -> Option<String> {
    let is_shown = match &event.event {
        Event::Proposed { .. }
        | Event::Retrieved { .. }
        | Event::Selected { .. }
        | Event::Gathered { .. }
        | Event::RoundRead { .. }
        | Event::Thought { .. }
        | Event::Asked { .. }
        | Event::Resolved { .. }
        | Event::Path { .. }
        | Event::Classified { .. }
        | Event::Planned { .. }
        | Event::Recalled { .. }
        | Event::Structured { .. }
        | Event::Tabulated { .. }
        | Event::Queried { .. }
        | Event::Noted { .. } => true,
        Event::Began { .. }
        | Event::Stopped { .. }
        | Event::Unreadable { .. }
        | Event::Judged { .. }
        | Event::Node { .. }
        | Event::Merged { .. }
        | Event::Consulted { .. }
        | Event::Tagged { .. }
        | Event::SeriesForecast { .. }
        | Event::Organized { .. }
        | Event::Answered { .. } => false,
    };
    if !is_shown {
        return None;
    }
    let words = narrate(&event.event, language);
    let parts = [words.lines, words.details].map(|part| part.join(language.separator()));
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let text = parts.join(language.either(": ", "："));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    Some(short).filter(|short| !short.is_empty())
}
