//! Holds the text of a reply while the model writes it, for those who wait for it.

mod partial;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pikerag_knowledge::{DraftFields, DraftPart};
use tokio::sync::watch;

use self::partial::text_so_far;

tokio::task_local! {
    /// The draft of the current call.
    static WATCHED: Arc<Draft>;
}

/// Makes a call whose reply is shown in this draft as it arrives. A model that receives replies in
/// one piece leaves it empty.
pub(crate) async fn watched_by<T>(draft: Arc<Draft>, call: impl Future<Output = T>) -> T {
    WATCHED.scope(draft, call).await
}

/// The draft of the current call; `None` if nobody watches it.
pub(crate) fn watched() -> Option<Arc<Draft>> {
    WATCHED.try_with(Arc::clone).ok()
}

/// The bytes of a reply that are kept for those who wait; later ones are not shown.
const LONGEST: usize = 256 << 10;

/// The beginning of an answer or of its reasons, unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftText {
    /// Distinguishes drafts: a later text with this number begins with this text.
    pub number: u64,
    /// What the text is.
    pub part: DraftPart,
    /// The text so far; not empty.
    pub text: String,
}

/// The reply of one call as far as it has arrived.
#[derive(Debug)]
pub(crate) struct Draft {
    fields: DraftFields,
    written: Mutex<Written>,
    /// The number of changes so far, of all drafts that are watched together.
    changes: Arc<watch::Sender<u64>>,
}

#[derive(Debug, Default)]
struct Written {
    number: u64,
    reply: String,
    /// Whether a piece was left out for its length.
    is_full: bool,
    /// When its first piece arrived.
    first: Option<Instant>,
}

impl Draft {
    /// An empty draft that reports its changes to `changes`.
    pub(crate) fn new(fields: DraftFields, changes: Arc<watch::Sender<u64>>) -> Self {
        Self { fields, written: Mutex::default(), changes }
    }

    /// Begins a new attempt, whose text replaces that of the attempt before.
    pub(crate) fn restart(&self) {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        *self.written() = Written { number, ..Written::default() };
        self.changed();
    }

    /// Adds a piece of the reply.
    pub(crate) fn push(&self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        {
            let mut written = self.written();
            written.first.get_or_insert_with(Instant::now);
            written.is_full |= LONGEST < written.reply.len() + piece.len();
            if written.is_full {
                return;
            }
            written.reply.push_str(piece);
        }
        self.changed();
    }

    /// The text of the answer so far, or that of its reasons; `None` if the reply has reached neither.
    pub(crate) fn text(&self) -> Option<DraftText> {
        let DraftFields { answer, only_if, reasons } = self.fields;
        let written = self.written();
        let of = |name, only_if| {
            text_so_far(&written.reply, name, only_if).filter(|text| !text.is_empty())
        };
        let (part, text) = match of(answer, only_if) {
            Some(text) => (DraftPart::Answer, text),
            None => (DraftPart::Reasons, of(reasons?, None)?),
        };
        // The two parts are drafts of their own.
        let number = 2 * written.number + u64::from(part == DraftPart::Answer);
        Some(DraftText { number, part, text })
    }

    /// When the first piece of the last attempt arrived.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.written().first
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: DraftFields =
        DraftFields { answer: "answer", only_if: None, reasons: Some("rationale") };

    #[test]
    fn reasons_are_shown_until_the_answer_begins() {
        let draft = Draft::new(ANSWER, Arc::new(watch::Sender::new(0)));
        draft.restart();
        draft.push(r#"{"rationale": "So"#);
        let reasons = draft.text().unwrap();
        draft.push(r#" it is.", "answer": ""#);
        let grown = draft.text().unwrap();
        draft.push("Os");
        let answer = draft.text().unwrap();
        assert_eq!((reasons.part, reasons.text.as_str()), (DraftPart::Reasons, "So"));
        assert_eq!((grown.number, grown.text.as_str()), (reasons.number, "So it is."));
        assert_eq!((answer.part, answer.text.as_str()), (DraftPart::Answer, "Os"));
        assert_ne!(answer.number, reasons.number);
    }

    #[test]
    fn an_endless_reply_is_not_kept() {
        let draft = Draft::new(ANSWER, Arc::new(watch::Sender::new(0)));
        draft.restart();
        draft.push(r#"{"answer": "x"#);
        for _ in 0..20 {
            draft.push(&"x".repeat(LONGEST / 10));
        }
        assert!(draft.text().unwrap().text.len() <= LONGEST);
    }

    #[test]
    fn a_draft_grows_and_a_new_attempt_replaces_it() {
        let changes = Arc::new(watch::Sender::new(0));
        let draft = Draft::new(ANSWER, Arc::clone(&changes));
        draft.restart();
        assert_eq!((draft.text(), draft.first()), (None, None));
        draft.push(r#"{"rationale": "so", "answer": "Os"#);
        let begun = draft.text().unwrap();
        draft.push("");
        draft.push(r#"lo"}"#);
        let grown = draft.text().unwrap();
        assert_eq!((begun.text.as_str(), grown.text.as_str()), ("Os", "Oslo"));
        assert_eq!(begun.number, grown.number);
        assert_eq!(*changes.borrow(), 3);

        draft.restart();
        assert_eq!((draft.text(), draft.first()), (None, None));
        draft.push(r#"{"answer": "Os"#);
        assert_ne!(draft.text().unwrap().number, begun.number);
    }

    #[tokio::test]
    async fn only_calls_within_the_scope_are_watched() {
        assert!(watched().is_none());
        let draft = Arc::new(Draft::new(ANSWER, Arc::new(watch::Sender::new(0))));
        let inner = watched_by(Arc::clone(&draft), async { watched() }).await;
        assert!(Arc::ptr_eq(&inner.unwrap(), &draft));
        assert!(watched().is_none());
    }
}
