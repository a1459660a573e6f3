//! Defines a run: one question answered by one method, with its state, its events and its cost. All
//! interfaces share it.

mod store;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::answer::{Answer, Question};
use crate::filter::Filter;
use crate::id::RunId;
use crate::ports::{ChatReply, Role, mean_probability};
use crate::spent::Spent;
use crate::time::Millis;
use crate::trace::Event;

pub use self::store::{Pruned, RunQuery, RunStore, RunsToKeep};

/// The state of a run.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunState {
    /// It is running, or its process ended before it could record a result.
    #[default]
    Running,
    /// It has an answer; that may be a refusal.
    Answered,
    /// It ended with an error; its trace and its cost are kept.
    Failed,
    /// Somebody stopped it; no call was made after that.
    Cancelled,
}

impl RunState {
    /// Every state, in the order of a run's life.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in the base and in `--json`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One numbered event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunEvent {
    /// The run it belongs to.
    pub run: RunId,
    /// Its number, from 0, without gaps.
    pub seq: u32,
    /// The earlier event that led to it; none for the first.
    #[schema(required)]
    pub parent: Option<u32>,
    /// When it happened, in universal time.
    #[schema(value_type = u64)]
    pub time: Millis,
    /// Whether a fork may decide it differently.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decision: bool,
    /// Ledger keys of its calls, in order; those made since the event before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// The event itself; forks and diffs compare it without time and number.
    #[serde(flatten)]
    pub event: Event,
}

/// A fork's change of a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Other sub-questions, in place of those proposed.
    Proposals(Vec<String>),
    /// Another candidate, by its place in the list, from 0; `None` selects none.
    Choice(Option<usize>),
    /// Another text: of a thought, of a sub-question, of an interim answer.
    Text(String),
    /// The opposite verdict of a judgement.
    Verdict(bool),
}

/// A decision that was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Changed {
    /// Number of the event.
    pub seq: u32,
    /// The change.
    pub change: Change,
}

/// The point at which a run was forked from another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ForkPoint {
    /// The run that it follows up to the change.
    pub run: RunId,
    /// Number of the changed event.
    pub seq: u32,
    /// The change.
    pub change: Change,
}

/// Calls and tokens of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = RunCost)]
pub struct Cost {
    /// All calls, whether made or read from the ledger: a replay has the same.
    pub spent: Spent,
    /// The calls that were really made, and so paid.
    pub paid: Spent,
}

/// A run without its events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunRecord {
    /// Its identifier within its base.
    pub id: RunId,
    /// Name of the method, such as `kar3-hops`.
    pub method: String,
    /// The method's parameters by name, all of them, so that the run can be repeated.
    pub parameters: BTreeMap<String, Value>,
    /// The weights of retrieval; null in runs of versions without weights.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub weights: Value,
    /// The tokens that its model may read at a time; none without a limit. A replay uses it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reads_at_most: Option<u32>,
    /// The question, word for word.
    pub question: Question,
    /// The filter on the base; empty if everything was visible.
    #[serde(default, skip_serializing_if = "Filter::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub filter: Filter,
    /// Running until `ended`; a run whose process died stays so.
    pub state: RunState,
    /// When it began, in universal time.
    #[schema(value_type = u64)]
    pub started: Millis,
    /// When it ended; none while it runs.
    #[schema(value_type = Option<u64>, required)]
    pub ended: Option<Millis>,
    /// What it has cost so far.
    pub cost: Cost,
    /// Its answer; none unless it was answered.
    #[schema(required)]
    pub answer: Option<Answer>,
    /// The chain of causes, if it failed.
    #[schema(required)]
    pub error: Option<String>,
    /// The run that it was forked from, if any.
    #[schema(required)]
    pub forked: Option<ForkPoint>,
    /// All changes of decisions, including those of the forks that it is a fork of, in order: they
    /// make it repeatable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Changed>,
    /// The process that runs it, by its number on its machine.
    pub process: u32,
}

/// The account of one run, or of one step of indexing: the usage and the identity of its calls.
///
/// An account and its parts share the cost, so that it is known even if a part never returns.
#[derive(Clone, Debug, Default)]
pub struct Account {
    cost: Arc<Mutex<Cost>>,
    /// Ledger keys of calls that no event names yet, in the order made.
    pub calls: Vec<String>,
    /// The replies that came with log-probabilities, in the order made.
    pub scored: Vec<ScoredReply>,
}

/// A model's reply with its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredReply {
    /// The purpose of the call.
    pub role: Role,
    /// The reply, unchanged.
    pub text: String,
    /// The geometric mean of its tokens' probabilities, above 0 and at most 1.
    pub probability: f64,
}

impl Account {
    /// Books a reply to `role`.
    pub fn book(&mut self, role: Role, reply: &ChatReply) {
        let mut cost = self.cost.lock().unwrap_or_else(PoisonError::into_inner);
        cost.spent.add(role, reply.usage);
        if !reply.call.as_ref().is_some_and(|call| call.replayed) {
            cost.paid.add(role, reply.usage);
            cost.paid.cached_tokens += reply.cached_tokens;
        }
        self.calls.extend(reply.call.iter().map(|call| call.key.clone()));
        let scored = mean_probability(&reply.logprobs).map(|probability| ScoredReply {
            role,
            text: reply.text.clone(),
            probability,
        });
        self.scored.extend(scored);
    }

    /// The usage so far.
    pub fn cost(&self) -> Cost {
        self.cost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// An account for parallel work, with the same cost counter.
    #[must_use]
    pub fn part(&self) -> Self {
        Self { cost: Arc::clone(&self.cost), ..Self::default() }
    }

    /// Appends the calls of a part. Their cost is counted already.
    pub fn merge(&mut self, part: Self) {
        self.calls.extend(part.calls);
        self.scored.extend(part.scored);
    }
}

/// A receiver of the events of a run as they happen.
pub trait RunSink: Send + Sync {
    /// The run began, or its state, cost, answer or error changed.
    fn record(&self, run: &RunRecord);
    /// An event happened. Events come in the order of their numbers.
    fn event(&self, event: &RunEvent);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Note;
    use crate::ports::{CallRef, Usage};

    #[test]
    fn replayed_calls_are_not_paid() {
        let usage = Usage { prompt_tokens: 3, completion_tokens: 1 };
        let reply = |key: &str, replayed| ChatReply {
            call: Some(CallRef { key: key.to_owned(), replayed }),
            ..ChatReply::new("x", usage)
        };
        let mut account = Account::default();
        account.book(Role::Answer, &reply("one", true));
        let mut part = account.part();
        part.book(Role::Answer, &reply("two", false));
        let cost = account.cost();
        assert_eq!((cost.spent.calls(), cost.paid.calls()), (2, 1));
        account.merge(part);
        assert_eq!(account.calls, ["one", "two"]);
    }

    #[test]
    fn an_event_reads_back() {
        let event = RunEvent {
            run: RunId("k3".to_owned()),
            seq: 1,
            parent: Some(0),
            time: 7,
            decision: true,
            calls: vec!["key".to_owned()],
            event: Event::Noted { note: Note::NoTags.into() },
        };
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(
            json,
            r#"{"run":"k3","seq":1,"parent":0,"time":7,"decision":true,"calls":["key"],"event":"noted","note":{"note":"no_tags"}}"#
        );
        assert_eq!(serde_json::from_str::<RunEvent>(&json).unwrap(), event);
    }
}
