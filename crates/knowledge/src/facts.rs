//! Typed facts of a run: each has parameters and no words, so that every interface can word it in any language.

mod note;
mod plan;
mod reason;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

pub use self::note::{JudgedIdea, Note, Quoting, Respelling, UnreadableReply};
pub use self::plan::{PlanStep, Recollection, StepKind};
pub use self::reason::{OfferedRecords, Reason};

/// A fact of ours, or words that somebody else wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Statement<T> {
    /// A fact, which a narrator words.
    Fact(T),
    /// Words of a model, or of an earlier version of this program that kept no facts.
    Text(String),
}

impl<T> Statement<T> {
    /// Whether it is words and no fact.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl<T> From<T> for Statement<T> {
    fn from(fact: T) -> Self {
        Self::Fact(fact)
    }
}

/// Why a passage was left out of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[schema(as = PassageLeftOut)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// The search found it twice.
    #[serde(alias = "found twice")]
    Twice,
    /// Another passage contains nearly the same words.
    #[serde(alias = "another passage says the same")]
    Alike,
    /// The budget of tokens is used up.
    #[serde(alias = "no room")]
    NoRoom,
}

/// A verdict on a development.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Likelihood {
    /// More evidence supports it.
    Likely,
    /// More evidence contradicts it.
    Unlikely,
    /// The evidence does not lean to one side, or there is none.
    Uncertain,
}

/// One row that a query engine computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TabulatedRow {
    /// The values that the rows are grouped by; empty for one figure about all.
    pub key: Vec<String>,
    /// The figure.
    pub value: f64,
    /// Its unit; none for a count.
    #[schema(required)]
    pub unit: Option<String>,
}

/// Statements from a list, or from the one string that earlier versions kept.
///
/// # Errors
/// The value is neither.
pub(crate) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<Statement<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kept<T> {
        Many(Vec<Statement<T>>),
        One(String),
    }
    Ok(match Kept::deserialize(deserializer)? {
        Kept::Many(many) => many,
        Kept::One(text) if text.is_empty() => Vec::new(),
        Kept::One(text) => vec![Statement::Text(text)],
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;
    use crate::trace::Event;

    #[test]
    fn facts_read_back_and_bear_their_tag() {
        let reason = Statement::from(Reason::NeedsCalculation { count: 3, schema: "ships".into() });
        let kept = to_value(&reason).unwrap();
        assert_eq!(kept, json!({"reason": "needs_calculation", "count": 3, "schema": "ships"}));
        assert_eq!(from_value::<Statement<Reason>>(kept).unwrap(), reason);
    }

    #[test]
    fn runs_of_earlier_versions_open() {
        let planned = json!({"event": "planned", "round": 1, "because": "its words compare", "steps": ["read"]});
        let Event::Planned { because, steps, .. } = from_value(planned).unwrap() else { panic!() };
        assert_eq!(because, [Statement::Text("its words compare".to_owned())]);
        assert_eq!(steps, [Statement::Text("read".to_owned())]);
        let organized =
            json!({"event": "organized", "given": 2, "kept": 1, "left_out": [["no room", 1]]});
        let Event::Organized { left_out, .. } = from_value(organized).unwrap() else { panic!() };
        assert_eq!(left_out, [(LeftOut::NoRoom, 1)]);
        for (event, field) in [
            (json!({"event": "noted", "note": "n"}), "note"),
            (json!({"event": "unreadable", "role": "answer", "reason": "it was empty"}), "reason"),
            (json!({"event": "tabulated", "query": {}, "matched": 1, "rows": ["2016: 4"]}), "rows"),
            (
                json!({"event": "classified", "class": "factual", "by": "rules", "reasons": ["r"]}),
                "reasons",
            ),
        ] {
            let read: Event = from_value(event.clone()).unwrap();
            assert_eq!(to_value(&read).unwrap()[field], event[field]);
        }
    }
}
