//! Repeats a run: with recorded replies up to a change, where each event is compared with the recorded one,
//! and with new calls after it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pikerag_knowledge::{
    CallRef, Change, Changed, ChatModel, ChatModels, ChatReply, ChatRequest, Event, ForkPoint,
    ModelError, RunEvent, RunRecord, Statement,
};

use crate::ports::{Models, Perspective};

/// A run to repeat.
#[derive(Clone, Debug)]
pub struct Retrace {
    events: Arc<[Event]>,
    /// The run's own changes, and the fork's, which is the last.
    changes: Arc<[Changed]>,
    fork: Option<ForkPoint>,
    live: Arc<AtomicBool>,
}

impl Retrace {
    /// The whole run: every event must happen as recorded.
    pub fn whole(run: &RunRecord, events: &[RunEvent]) -> Self {
        Self {
            events: events.iter().map(|event| event.event.clone()).collect(),
            changes: run.changes.as_slice().into(),
            fork: None,
            live: Arc::default(),
        }
    }

    /// The run up to the event that `fork` decides differently.
    pub fn up_to(run: &RunRecord, events: &[RunEvent], fork: ForkPoint) -> Self {
        let before = events.iter().filter(|event| event.seq < fork.seq);
        let mut changes = run.changes.clone();
        changes.retain(|changed| changed.seq < fork.seq);
        changes.push(Changed { seq: fork.seq, change: fork.change.clone() });
        Self {
            events: before.map(|event| event.event.clone()).collect(),
            changes: changes.into(),
            fork: Some(fork),
            live: Arc::default(),
        }
    }

    /// Models that answer from the record until the change is made; from then on they may be called.
    /// `recorded` holds the same models, which answer from the record alone.
    #[must_use]
    pub fn models(&self, live: &Models, recorded: &Models) -> Models {
        let switch = |live: &Arc<dyn ChatModel>, recorded: Option<&Arc<dyn ChatModel>>| {
            let recorded = recorded.unwrap_or(live).clone();
            let is_live = self.live.clone();
            Arc::new(Switch { live: live.clone(), recorded, is_live }) as Arc<dyn ChatModel>
        };
        let both = |live: &Option<Arc<dyn ChatModel>>, recorded: &Option<Arc<dyn ChatModel>>| {
            live.as_ref().map(|live| switch(live, recorded.as_ref()))
        };
        let mut by_role = BTreeMap::new();
        for (role, model) in &live.chat.by_role {
            by_role.insert(*role, switch(model, recorded.chat.by_role.get(role)));
        }
        let default = both(&live.chat.default, &recorded.chat.default);
        let perspectives = live.perspectives.iter().enumerate().map(|(at, own)| {
            let of_record = recorded.perspectives.get(at).and_then(|own| own.model.clone());
            Perspective { model: both(&own.model, &of_record), ..own.clone() }
        });
        Models {
            perspectives: perspectives.collect(),
            chat: ChatModels { default, by_role },
            scorer: both(&live.scorer, &recorded.scorer),
            ..live.clone()
        }
    }

    pub(crate) fn fork_point(&self) -> Option<ForkPoint> {
        self.fork.clone()
    }

    /// Whether the run decides an event differently.
    pub fn is_fork(&self) -> bool {
        self.fork.is_some()
    }

    /// Whether the change is made; from then on models may be called.
    pub(crate) fn is_live(&self) -> bool {
        self.live.load(Ordering::SeqCst)
    }

    /// All decisions that are changed.
    pub(crate) fn changes(&self) -> &[Changed] {
        &self.changes
    }

    /// The change of event `seq`. From the fork's own change on, models may be called.
    pub(crate) fn change_at(&self, seq: u32) -> Option<Change> {
        let found = self.changes.iter().find(|changed| changed.seq == seq)?;
        if self.fork.as_ref().is_some_and(|fork| fork.seq == seq) {
            self.live.store(true, Ordering::SeqCst);
        }
        Some(found.change.clone())
    }

    /// Whether event `seq` differs from the recorded one.
    pub(crate) fn differs(&self, seq: u32, event: &Event) -> bool {
        match self.events.get(seq as usize) {
            Some(before) => differ(before, event),
            None => self.fork.is_none(),
        }
    }

    /// The first expected event that did not happen, if only `count` events did.
    pub(crate) fn missing(&self, count: u32) -> Option<u32> {
        let wanted = match &self.fork {
            Some(fork) => fork.seq + 1,
            None => self.events.len() as u32,
        };
        (count < wanted).then_some(count)
    }
}

/// Whether two events differ. Explanations are not compared, nor facts with words, because earlier versions
/// of the program stored words.
fn differ(before: &Event, now: &Event) -> bool {
    match (before, now) {
        (Event::Noted { note: before }, Event::Noted { note: now }) => {
            !before.is_text() && !now.is_text() && before != now
        }
        (Event::Unreadable { role, reason }, Event::Unreadable { role: other, reason: now }) => {
            role != other || (!reason.is_text() && !now.is_text() && reason != now)
        }
        (
            Event::Tabulated { query, matched, rows },
            Event::Tabulated { query: other, matched: count, rows: now },
        ) => {
            let are_words = rows.iter().chain(now).any(Statement::is_text);
            query != other || matched != count || (!are_words && rows != now)
        }
        _ => before != now && bare(before) != bare(now),
    }
}

/// An event without its explanations.
fn bare(event: &Event) -> Event {
    let mut bare = event.clone();
    match &mut bare {
        // The label names parameters that differ from the defaults, which change between versions.
        Event::Began { method, .. } => method.clear(),
        Event::Classified { reasons, .. } => reasons.clear(),
        Event::Planned { because, steps, .. } => {
            because.clear();
            steps.clear();
        }
        Event::Recalled { because, .. } => *because = Statement::Text(String::new()),
        _ => {}
    }
    bare
}

/// A model that answers from the record until it may be called.
struct Switch {
    live: Arc<dyn ChatModel>,
    recorded: Arc<dyn ChatModel>,
    is_live: Arc<AtomicBool>,
}

#[async_trait]
impl ChatModel for Switch {
    fn name(&self) -> &str {
        self.live.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.live.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        match self.is_live.load(Ordering::SeqCst) {
            true => self.live.complete(request).await,
            false => self.recorded.complete(request).await,
        }
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        match self.is_live.load(Ordering::SeqCst) {
            true => self.live.discard(calls).await,
            false => self.recorded.discard(calls).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::facts::{TabulatedRow, UnreadableReply};
    use pikerag_knowledge::{ClassifiedBy, Note, PlanStep, Reason, RecordQuery, Role, TaskClass};

    use super::*;

    #[test]
    fn only_explanations_are_not_compared() {
        let planned = |round, because: Statement<Reason>| Event::Planned {
            round,
            because: vec![because],
            steps: vec![PlanStep::FindPassages.into()],
        };
        let words = |words: &str| Statement::Text(words.to_owned());
        assert!(!differ(
            &planned(1, words("its words compare")),
            &planned(1, Reason::Compares.into())
        ));
        assert!(differ(&planned(1, words("")), &planned(2, words(""))));
        let classified = |class, reason: Reason| Event::Classified {
            class,
            by: ClassifiedBy::Rules,
            reasons: vec![reason.into()],
        };
        let factual = classified(TaskClass::Factual, Reason::Compares);
        assert!(!differ(&factual, &classified(TaskClass::Factual, Reason::IsChain)));
        assert!(differ(&factual, &classified(TaskClass::Bridging, Reason::Compares)));
        let answered = |answer: &str| Event::Answered { answer: answer.to_owned() };
        assert!(differ(&answered("a"), &answered("b")));
    }

    #[test]
    fn facts_are_compared_with_facts_and_not_with_words() {
        let noted = |note| Event::Noted { note };
        let kept = noted(Statement::Text("No tags of the base are in the question.".to_owned()));
        assert!(!differ(&kept, &noted(Note::NoTags.into())));
        assert!(differ(&noted(Note::SummaryQuotes.into()), &noted(Note::NoTags.into())));
        let unreadable = |role, reason| Event::Unreadable { role, reason };
        let kept = unreadable(Role::Answer, Statement::Text("it was empty".to_owned()));
        assert!(!differ(&kept, &unreadable(Role::Answer, UnreadableReply::Empty.into())));
        assert!(differ(&kept, &unreadable(Role::Look, UnreadableReply::Empty.into())));
        let tabulated = |matched, row| Event::Tabulated {
            query: RecordQuery::default(),
            matched,
            rows: vec![row],
        };
        let row = |value| TabulatedRow { key: Vec::new(), value, unit: None };
        let kept = tabulated(4, Statement::Text("4".to_owned()));
        assert!(!differ(&kept, &tabulated(4, row(4.0).into())));
        assert!(differ(&kept, &tabulated(5, row(5.0).into())));
        assert!(differ(&tabulated(4, row(4.0).into()), &tabulated(4, row(5.0).into())));
    }
}
