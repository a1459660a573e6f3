//! Defines the parameters of collecting. Where the paper prints no value, or its text and Algorithm 2 differ, each
//! reading is an option.

use std::num::{NonZeroU32, NonZeroUsize};

use pikerag_knowledge::AtomKind;
use serde::{Deserialize, Serialize};

use crate::ucb::Pool;

/// Which pairs a selector chooses from.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Split {
    /// Pairs with a similarity of δ or more (Algorithm 2, line 10).
    #[default]
    Threshold,
    /// Of these, the K nearest of each proposal (the text).
    TopK,
}

/// What a round without a choice does.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Empty {
    /// It ends the loop (Algorithm 2, lines 17 to 19).
    #[default]
    Ends,
    /// The next round samples another chunk, unless the model says that the context is enough (ours).
    Samples,
}

/// Which answers are right.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumMessage,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Right {
    /// Those that equal a label after normalization.
    #[default]
    Em,
    /// Those that contain a label word for word.
    Contains,
    /// Those that a model finds right; one call each.
    Judge,
}

/// The parameters of Algorithm 2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// N: rounds of an attempt, at most (§6.4: 10).
    pub rounds: NonZeroUsize,
    /// Attempts at a question, at most.
    pub attempts: NonZeroU32,
    /// Whether a right answer ends the attempts.
    pub stops_when_right: bool,
    /// α: the weight of exploration. Not printed.
    pub alpha: f64,
    /// K: candidates for each proposal; [`Split::TopK`] reads it.
    pub k: NonZeroUsize,
    /// K′ > K: pairs for each proposal. Not printed.
    pub near_k: NonZeroUsize,
    /// δ; `None`: calibrated on the base.
    pub delta: Option<f32>,
    /// δ′; `None`: `near_share` of δ. Not printed.
    pub near_delta: Option<f32>,
    /// δ′ / δ where δ′ is not set.
    pub near_share: f32,
    /// The chunks that can be sampled.
    pub pool: Pool,
    /// Which pairs are candidates.
    pub split: Split,
    /// What a round without a choice does.
    pub on_empty: Empty,
    /// Which answers are right.
    pub right: Right,
    /// Atomic questions, or sentences where a base has no questions; the sub-question is a proposal then.
    pub atoms: AtomKind,
    /// The temperature of proposals from the second attempt on; the first one has 0.
    pub temperature: f32,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            rounds: const { NonZeroUsize::new(10).unwrap() },
            attempts: const { NonZeroU32::new(4).unwrap() },
            stops_when_right: true,
            alpha: 0.5,
            k: const { NonZeroUsize::new(4).unwrap() },
            near_k: const { NonZeroUsize::new(16).unwrap() },
            delta: None,
            near_delta: None,
            near_share: 0.6,
            pool: Pool::Scored,
            split: Split::Threshold,
            on_empty: Empty::Ends,
            right: Right::Em,
            atoms: AtomKind::Question,
            temperature: 0.7,
            seed: 1,
        }
    }
}

impl Params {
    /// Calls of a question: typically, and at most. A round proposes, selects and answers its sub-question; an
    /// attempt ends with one call, or two with a judge. Typical: `rounds_taken` rounds in the only attempt.
    pub fn calls(&self, rounds_taken: f64) -> (f64, u64) {
        let last = 1 + u64::from(self.right == Right::Judge);
        let most = u64::from(self.attempts.get()) * (3 * self.rounds.get() as u64 + last);
        // The last round proposes nothing more.
        (3.0 * rounds_taken + 1.0 + last as f64, most)
    }
}
