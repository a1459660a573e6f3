//! Reports the progress of a verb through a callback, for progress bars and the like.

use pikerag_indexing::estimate::Estimate;

use crate::engine::Session;
use crate::notice::Notice;

/// Receives progress. It is called from several threads and must not block.
pub type OnProgress<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// The progress of a verb.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// A stage has done `done` of `total` pieces.
    Stage {
        /// `reading`, `atomizing`, `embedding`, …
        name: String,
        /// Pieces done.
        done: usize,
        /// All pieces; 0 if unknown.
        total: usize,
    },
    /// The cost of the model calls to come, reported before the first of them.
    Bill {
        /// The estimate.
        estimate: Estimate,
        /// US dollars, if the prices are known.
        usd: Option<f64>,
    },
    /// The cost of the remaining questions, computed from the answered ones. Reported after each
    /// question.
    ToGo {
        /// Calls to models.
        calls: u64,
        /// Tokens of prompts and replies.
        tokens: u64,
    },
    /// A notice.
    Notice(Notice),
    /// A part has ended; another may begin.
    Ended,
}

/// Passes on the progress of indexing.
pub(super) fn report_progress(
    session: &Session,
    progress: OnProgress<'_>,
    of: pikerag_indexing::Progress,
) {
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

/// Reports the notices about the settings.
pub(super) fn report_notices(session: &Session, progress: OnProgress<'_>) {
    for notice in &session.settings().notices {
        progress(Progress::Notice(notice.clone()));
    }
}
