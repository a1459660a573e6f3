//! Follows a run in the words that chat programs show: its steps and the draft of its answer.

use pikerag_engine::AskResponse;
use pikerag_engine::narrate::Language;

use super::words::{DraftWords, line};
use crate::problem::Problem;
use crate::streams::{Happened, Underway, answered, broken};

/// What a client learns next.
pub(super) enum Step {
    /// The run has begun; its name.
    Began(String),
    /// Words about a step, or a piece of a draft; not empty.
    Words(String),
    /// The run is over: the checked answer, or the problem. Nothing follows.
    Ended(Result<Box<AskResponse>, Problem>),
}

/// A running run. Dropping it stops the run.
pub(super) struct Progress {
    language: Language,
    draft: DraftWords,
    underway: Underway,
}

impl Progress {
    /// Words the run in this language.
    pub(super) fn new(language: Language, underway: Underway) -> Self {
        Self { language, draft: DraftWords::default(), underway }
    }

    /// The next step.
    pub(super) async fn next(&mut self) -> Step {
        loop {
            let words = match self.underway.next().await {
                Some(Happened::Began(run)) => return Step::Began(run.id.to_string()),
                Some(Happened::Calls(_)) => continue,
                Some(Happened::Event(event)) => match line(&event, self.language) {
                    Some(line) => format!("{}{line}\n", self.draft.end()),
                    None => continue,
                },
                Some(Happened::Draft(piece)) => self.draft.next(&piece, self.language),
                Some(Happened::Ended(came)) => {
                    let came = came.and_then(|came| answered(*came, self.language));
                    return Step::Ended(came.map(Box::new));
                }
                None => return Step::Ended(Err(broken())),
            };
            if !words.is_empty() {
                return Step::Words(words);
            }
        }
    }
}
