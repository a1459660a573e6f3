//! How is a run walked again? Up to a change with recorded replies alone, each event compared with what
//! happened then; after it with fresh calls.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pikerag_knowledge::{
    CallRef, Change, Changed, ChatModel, ChatModels, ChatReply, ChatRequest, Event, ForkPoint,
    ModelError, RunEvent, RunRecord,
};

use crate::ports::{Models, Perspective};

/// A run to be walked again.
#[derive(Clone, Debug)]
pub struct Retrace {
    events: Arc<[Event]>,
    /// Those of the run itself, and the fork's own, which is the last.
    changes: Arc<[Changed]>,
    fork: Option<ForkPoint>,
    live: Arc<AtomicBool>,
}

impl Retrace {
    /// The whole run: every event has to come as it did.
    pub fn whole(run: &RunRecord, events: &[RunEvent]) -> Self {
        Self {
            events: events.iter().map(|event| event.event.clone()).collect(),
            changes: run.changes.as_slice().into(),
            fork: None,
            live: Arc::default(),
        }
    }

    /// The run up to the event that `fork` names, which is decided otherwise.
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

    /// Models that answer from the record until the change is made, and from then on may be called.
    /// `recorded` are the same models, of the record alone.
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

    /// Whether something new is decided otherwise.
    pub fn is_fork(&self) -> bool {
        self.fork.is_some()
    }

    /// Whether the change is made: from then on models may be called.
    pub(crate) fn is_live(&self) -> bool {
        self.live.load(Ordering::SeqCst)
    }

    /// All that is decided otherwise.
    pub(crate) fn changes(&self) -> &[Changed] {
        &self.changes
    }

    /// The change that belongs to event `seq`. From the fork's own on, models may be called.
    pub(crate) fn change_at(&self, seq: u32) -> Option<Change> {
        let found = self.changes.iter().find(|changed| changed.seq == seq)?;
        if self.fork.as_ref().is_some_and(|fork| fork.seq == seq) {
            self.live.store(true, Ordering::SeqCst);
        }
        Some(found.change.clone())
    }

    /// Whether event `seq` is another than the one that happened then.
    pub(crate) fn differs(&self, seq: u32, event: &Event) -> bool {
        match self.events.get(seq as usize) {
            Some(before) => before != event && bare(before) != bare(event),
            None => self.fork.is_none(),
        }
    }

    /// The first event that ought to have happened and did not, where `count` did.
    pub(crate) fn missing(&self, count: u32) -> Option<u32> {
        let wanted = match &self.fork {
            Some(fork) => fork.seq + 1,
            None => self.events.len() as u32,
        };
        (count < wanted).then_some(count)
    }
}

/// An event without what only explains it: that may be worded otherwise in another version of the program.
fn bare(event: &Event) -> Event {
    let mut bare = event.clone();
    match &mut bare {
        Event::Classified { reasons, .. } => reasons.clear(),
        Event::Planned { because, steps, .. } => {
            because.clear();
            steps.clear();
        }
        Event::Recalled { because, .. } => because.clear(),
        _ => {}
    }
    bare
}

/// A model of the record alone, until it may be called.
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
    use pikerag_knowledge::{ClassifiedBy, TaskClass};

    use super::*;

    #[test]
    fn an_explanation_may_be_worded_otherwise_and_nothing_else() {
        let planned = |round, because: &str| Event::Planned {
            round,
            because: because.to_owned(),
            steps: vec![because.to_owned()],
        };
        assert_eq!(
            bare(&planned(1, "its words ask for a figure")),
            bare(&planned(1, "问的是数字"))
        );
        assert_ne!(bare(&planned(1, "")), bare(&planned(2, "")));
        let classified = |class, reason: &str| Event::Classified {
            class,
            by: ClassifiedBy::Rules,
            reasons: vec![reason.to_owned()],
        };
        let factual = classified(TaskClass::Factual, "one");
        assert_eq!(bare(&factual), bare(&classified(TaskClass::Factual, "two")));
        assert_ne!(bare(&factual), bare(&classified(TaskClass::Bridging, "one")));
        let answered = |answer: &str| Event::Answered { answer: answer.to_owned() };
        assert_ne!(bare(&answered("a")), bare(&answered("b")));
    }
}
