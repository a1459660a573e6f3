//! Defines the classes of questions (PIKE-RAG §3.2), and the levels of systems that answer them
//! (Table 1).

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The class of a question, which may change with the base (PIKE-RAG §3.2).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
    strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TaskClass {
    /// The documents state the answer.
    Factual,
    /// The answer combines several pieces, each found through the one before.
    Bridging,
    /// The question compares two or more things.
    Comparative,
    /// The question counts, sums, ranks or averages.
    Quantitative,
    /// The question asks for a summary.
    Summarizing,
    /// The question asks about the future.
    Predictive,
    /// The question asks for something new: ideas, a plan, a design.
    Creative,
}

/// The capability of a system; each level includes the ones before it (PIKE-RAG Table 1, §4.2).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    strum::Display,
    strum::VariantNames,
)]
pub enum Level {
    /// No questions: the knowledge base alone, so that an answer is the passages that fit (§5.1).
    L0,
    /// Factual questions.
    L1,
    /// Linkable-reasoning questions, and those of L1.
    L2,
    /// Predictive questions, and those of L2.
    L3,
    /// Creative questions, and those of L3.
    L4,
}

impl TaskClass {
    /// Every class, from the lowest level up.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in settings, traces and reports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The level that it requires.
    pub fn level(self) -> Level {
        match self {
            Self::Factual => Level::L1,
            Self::Bridging | Self::Comparative | Self::Quantitative | Self::Summarizing => {
                Level::L2
            }
            Self::Predictive => Level::L3,
            Self::Creative => Level::L4,
        }
    }
}

/// A name of no class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no class of questions `{0}`; choose from factual, bridging, comparative, quantitative, summarizing, predictive, creative"
)]
pub struct UnknownClass(String);

impl FromStr for TaskClass {
    type Err = UnknownClass;

    fn from_str(name: &str) -> Result<Self, UnknownClass> {
        let found = Self::ALL.iter().copied().find(|class| class.as_str() == name.trim());
        found.ok_or_else(|| UnknownClass(name.to_owned()))
    }
}

/// A name of no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no level `{0}`; choose from L0, L1, L2, L3, L4")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        match name.trim().trim_start_matches(['L', 'l']) {
            "0" => Ok(Self::L0),
            "1" => Ok(Self::L1),
            "2" => Ok(Self::L2),
            "3" => Ok(Self::L3),
            "4" => Ok(Self::L4),
            _ => Err(UnknownLevel(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for &class in TaskClass::ALL {
            assert_eq!(class.to_string().parse(), Ok(class));
        }
        assert!("hard".parse::<TaskClass>().is_err());
        let levels: Vec<String> =
            TaskClass::ALL.iter().map(|class| class.level().to_string()).collect();
        assert_eq!(levels.join(" "), "L1 L2 L2 L2 L2 L3 L4");
    }
}
