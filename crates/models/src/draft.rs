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
    /// The place of the current call's draft for other callers who wait for the same reply.
    static SHARED: Arc<SharedDraft>;
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

/// Makes a call whose draft, if it gets one, is shown to all who join it.
pub(crate) async fn shared_by<T>(shared: Arc<SharedDraft>, call: impl Future<Output = T>) -> T {
    SHARED.scope(shared, call).await
}

/// Shows the draft of the current call to all who join it.
pub(crate) fn share(draft: &Arc<Draft>) {
    // Outside of `shared_by`, nobody joins.
    let _ = SHARED.try_with(|shared| shared.show(draft));
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
    /// Those who are notified of changes.
    changes: Mutex<Vec<Changes>>,
}

/// Counts the changes of all drafts that are watched together.
pub(crate) type Changes = Arc<watch::Sender<u64>>;

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
    pub(crate) fn new(fields: DraftFields, changes: Changes) -> Self {
        Self { fields, written: Mutex::default(), changes: Mutex::new(vec![changes]) }
    }

    /// Begins a new attempt, whose text replaces that of the attempt before.
    pub(crate) fn restart(&self) {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        *self.written() = Written { number, ..Written::default() };
        self.changed();
    }

    /// Removes the text of a call that failed.
    pub(crate) fn clear(&self) {
        *self.written() = Written::default();
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
        for changes in self.changes().iter() {
            changes.send_modify(|changes| *changes += 1);
        }
    }

    /// Also notifies these, of the text so far at once.
    fn report_to(&self, changes: &Changes) {
        self.changes().push(Arc::clone(changes));
        changes.send_modify(|changes| *changes += 1);
    }

    fn stop_reports_to(&self, changes: &Changes) {
        remove(changes, &mut self.changes());
    }

    fn changes(&self) -> MutexGuard<'_, Vec<Changes>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The draft of a call that several callers wait for.
#[derive(Debug, Default)]
pub(crate) struct SharedDraft(Mutex<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// That of the last attempt.
    draft: Option<Arc<Draft>>,
    waiting: Vec<Changes>,
}

impl SharedDraft {
    /// The draft, if the call writes one.
    pub(crate) fn draft(&self) -> Option<Arc<Draft>> {
        self.shared().draft.clone()
    }

    /// Notifies these of all changes from now on.
    pub(crate) fn join(&self, changes: &Changes) {
        let mut shared = self.shared();
        shared.waiting.push(Arc::clone(changes));
        if let Some(draft) = &shared.draft {
            draft.report_to(changes);
        }
    }

    /// Notifies these no more.
    pub(crate) fn leave(&self, changes: &Changes) {
        let mut shared = self.shared();
        remove(changes, &mut shared.waiting);
        if let Some(draft) = &shared.draft {
            draft.stop_reports_to(changes);
        }
    }

    fn show(&self, draft: &Arc<Draft>) {
        let mut shared = self.shared();
        for changes in &shared.waiting {
            draft.report_to(changes);
        }
        shared.draft = Some(Arc::clone(draft));
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes one of equal receivers: a caller may wait twice for one call.
fn remove(changes: &Changes, list: &mut Vec<Changes>) {
    if let Some(place) = list.iter().position(|held| Arc::ptr_eq(held, changes)) {
        list.remove(place);
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

    /// One caller joins before the draft begins, another later; the first leaves early.
    #[tokio::test]
    async fn those_who_join_a_call_are_notified_of_its_draft() {
        let [own, early, late] = [(); 3].map(|()| Arc::new(watch::Sender::new(0)));
        let shared = Arc::new(SharedDraft::default());
        let draft = Arc::new(Draft::new(ANSWER, Arc::clone(&own)));
        let counts = || [&own, &early, &late].map(|changes| *changes.borrow());
        shared.join(&early);
        assert!(shared.draft().is_none());
        shared_by(Arc::clone(&shared), async { share(&draft) }).await;
        assert!(Arc::ptr_eq(&shared.draft().unwrap(), &draft));
        draft.restart();
        assert_eq!(counts(), [1, 2, 0]);
        shared.join(&late);
        shared.leave(&early);
        draft.push(r#"{"answer": "Os"#);
        assert_eq!(counts(), [2, 2, 2]);
        draft.clear();
        assert_eq!((draft.text(), counts()), (None, [3, 2, 3]));
        // Nobody shares a call outside of the scope.
        share(&Arc::new(Draft::new(ANSWER, own)));
        assert!(Arc::ptr_eq(&shared.draft().unwrap(), &draft));
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
