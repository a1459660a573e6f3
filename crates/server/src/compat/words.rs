//! Words each event, and the draft of the answer, as chat programs show them while they wait.

use pikerag_engine::knowledge::{DraftPart, Event, RunEvent};
use pikerag_engine::narrate::{Language, narrate};

use super::chat::shortened;
use crate::streams::DraftPiece;

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
        | Event::Filled { .. }
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
    Some(shortened(&text, LONGEST)).filter(|short| !short.is_empty())
}

/// The draft of an answer among these lines, which cannot be taken back.
#[derive(Default)]
pub(crate) struct DraftWords {
    /// Whether the last line is a draft that may go on.
    is_open: bool,
}

impl DraftWords {
    /// The words to append for a piece: a draft begins on a line of its own, which calls it
    /// unchecked.
    pub(crate) fn next(&mut self, piece: &DraftPiece, language: Language) -> String {
        if !piece.begins && self.is_open {
            return piece.text.clone();
        }
        let end = self.end();
        if piece.text.is_empty() {
            return end.to_owned();
        }
        self.is_open = true;
        let heading = match (piece.begins, piece.part) {
            (true, DraftPart::Reasons) => language.either("Reasons so far: ", "目前的理由："),
            (true, DraftPart::Answer) => {
                language.either("Draft, not checked yet: ", "草稿（尚未核对）：")
            }
            (false, _) => "… ",
        };
        format!("{end}{heading}{}", piece.text)
    }

    /// The end of the draft's line, if there is one.
    pub(crate) fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_open) { "\n" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_has_a_line_of_its_own_between_the_others() {
        let of = |part, begins, text: &str| DraftPiece { begins, part, text: text.to_owned() };
        let piece = |begins, text: &str| of(DraftPart::Answer, begins, text);
        let mut draft = DraftWords::default();
        let mut shown = String::from("It searches.\n");
        let reasons = of(DraftPart::Reasons, true, "It is a town.");
        shown += &draft.next(&reasons, Language::English);
        for step in [piece(true, "In "), piece(false, "Oslo"), piece(true, "In Bergen")] {
            shown += &draft.next(&step, Language::English);
        }
        shown += draft.end();
        shown += "It reads.\n";
        for step in [piece(false, "."), piece(true, ""), piece(true, "")] {
            shown += &draft.next(&step, Language::English);
        }
        shown += &draft.next(&piece(true, "在青砚"), Language::Chinese);
        let lines = [
            "It searches.",
            "Reasons so far: It is a town.",
            "Draft, not checked yet: In Oslo",
            "Draft, not checked yet: In Bergen",
            "It reads.",
            "… .",
            "草稿（尚未核对）：在青砚",
        ];
        assert_eq!(shown.lines().collect::<Vec<_>>(), lines);
    }
}
