//! How far has a verb come? Told through a callback, for progress bars and their like.

use pikerag_indexing::estimate::Estimate;

use crate::engine::Session;
use crate::notice::Notice;

/// Hears of progress. It is called from several threads, and must not block.
pub type OnProgress<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// How far a verb has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// A stage has done `done` of `total` pieces.
    Stage {
        /// `reading`, `atomizing`, `embedding`, …
        name: String,
        /// Pieces done.
        done: usize,
        /// Pieces in all; 0 where that is not known.
        total: usize,
    },
    /// What the model calls to come will take. Told before the first of them.
    Bill {
        /// What it will take, before the first call is made.
        estimate: Estimate,
        /// US dollars, where the prices are known.
        usd: Option<f64>,
    },
    /// What the questions that are left will take, told from those that were asked. Behind each stage of questions.
    ToGo {
        /// Calls to models.
        calls: u64,
        /// Tokens of prompts and replies.
        tokens: u64,
    },
    /// Something to know besides.
    Notice(Notice),
    /// A part is at its end; another may begin.
    Ended,
}

/// Hands the progress of indexing on.
pub(super) fn tell(session: &Session, progress: OnProgress<'_>, of: pikerag_indexing::Progress) {
    progress(match of {
        pikerag_indexing::Progress::Reading { done, total } => {
            Progress::Stage { name: "reading".to_owned(), done, total }
        }
        pikerag_indexing::Progress::Stage { name, done, total } => {
            Progress::Stage { name: name.to_owned(), done, total }
        }
        pikerag_indexing::Progress::Bill(estimate) => {
            Progress::Bill { usd: session.price_of_estimate(&estimate), estimate }
        }
    });
}

/// Tells what somebody who indexes should know of the settings.
pub(super) fn tell_notices(session: &Session, progress: OnProgress<'_>) {
    for notice in &session.settings().notices {
        progress(Progress::Notice(notice.clone()));
    }
}
