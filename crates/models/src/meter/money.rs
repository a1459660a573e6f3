//! Defines prices and exact sums of money.

use std::collections::BTreeMap;
use std::fmt;

use pikerag_knowledge::Usage;
use serde::{Deserialize, Serialize};

/// The price of a million tokens, or of a thousand searches, in dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// A million tokens of prompt, or of texts to embed or to rank.
    pub prompt: f64,
    /// A million tokens of reply; embedding has no such price.
    #[serde(default)]
    pub completion: f64,
    /// A thousand searches of a reranker that is billed by search.
    #[serde(default)]
    pub search: f64,
}

/// The billed quantities of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) usage: Usage,
    /// Of a reranker; 0 for other models.
    pub(crate) searches: u64,
}

impl From<Usage> for Due {
    fn from(usage: Usage) -> Self {
        Self { usage, searches: 0 }
    }
}

/// Prices by model. A missing model has no known price.
pub type Prices = BTreeMap<String, Price>;

/// Money in picodollars (10⁻¹² dollars): a token at a microcent has 10,000 of them, and sums are
/// exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(pub(crate) u128);

impl Usd {
    /// This many dollars; zero for a negative value, or one that is not a number.
    pub fn new(dollars: f64) -> Self {
        Self((dollars * 1e12).round() as u128)
    }

    /// This many picodollars.
    pub fn from_picodollars(picodollars: u64) -> Self {
        Self(picodollars.into())
    }

    /// In picodollars; at most the largest number that fits.
    pub fn picodollars(self) -> u64 {
        u64::try_from(self.0).unwrap_or(u64::MAX)
    }

    /// In dollars, for display: sums are kept in picodollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl fmt::Display for Usd {
    /// To a millionth of a dollar, and at least to the cent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("${:.6}", self.dollars());
        let zeros = text.len() - text.trim_end_matches('0').len();
        f.write_str(text.get(..text.len() - zeros.min(4)).unwrap_or(&text))
    }
}
