//! Sums the money that model calls have cost, and prices estimates.

use pikerag_indexing::estimate::Estimate;
use pikerag_models::Spending;
use serde::Serialize;
use utoipa::ToSchema;

use super::Session;

/// The calls paid since the engine was opened; replies from the ledger are not included.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Cost {
    /// The sum over all models, chat and embeddings.
    pub total: CostPart,
    /// The sums by role and model.
    pub parts: Vec<CostPart>,
}

/// The calls paid for one role and model, or in total.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CostPart {
    /// The role; empty in the total.
    pub role: String,
    /// The model; empty in the total.
    pub model: String,
    /// Paid calls; replays from the ledger are not included.
    pub calls: u64,
    /// Tokens sent, as the endpoint counts them.
    pub prompt_tokens: u64,
    /// Tokens received, including thinking if the endpoint bills it.
    pub completion_tokens: u64,
    /// US dollars, for the models with known prices.
    pub usd: f64,
}

impl From<&Spending> for CostPart {
    fn from(spending: &Spending) -> Self {
        Self {
            role: spending.role.clone(),
            model: spending.model.clone(),
            calls: spending.calls,
            prompt_tokens: spending.usage.prompt_tokens,
            completion_tokens: spending.usage.completion_tokens,
            usd: spending.money.dollars(),
        }
    }
}

impl Session {
    /// The cost so far.
    pub fn cost(&self) -> Cost {
        let parts = self.shared().process.meter.spending();
        Cost {
            total: CostPart::from(&self.shared().process.meter.total()),
            parts: parts.iter().map(CostPart::from).collect(),
        }
    }

    /// The cost of an estimate in US dollars, if the price is known.
    pub(crate) fn price_of_estimate(&self, estimate: &Estimate) -> Option<f64> {
        let prices = self.settings().prices_by_role();
        let mut costs = estimate.by_role.iter();
        costs.try_fold(0.0, |sum, (role, usage)| Some(sum + usage.priced(*prices.get(role)?)))
    }
}
