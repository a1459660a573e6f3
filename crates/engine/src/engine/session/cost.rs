//! What was paid, and what would be?

use pikerag_indexing::estimate::Estimate;
use pikerag_models::Spending;
use serde::Serialize;
use utoipa::ToSchema;

use super::Session;

/// What was really paid since the engine was opened; what the record answered is not in it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Cost {
    /// The sum over all models, chat and embeddings.
    pub total: CostPart,
    /// By role and model.
    pub parts: Vec<CostPart>,
}

/// What was paid for one role and model, or in all.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CostPart {
    /// The role; empty in the total.
    pub role: String,
    /// The model; empty in the total.
    pub model: String,
    /// Calls that were paid; replays from the ledger are not among them.
    pub calls: u64,
    /// Tokens sent, as the endpoint counts them.
    pub prompt_tokens: u64,
    /// Tokens received, thinking included where the endpoint bills it.
    pub completion_tokens: u64,
    /// US dollars, as far as prices are known.
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
    /// What was paid so far.
    pub fn cost(&self) -> Cost {
        let parts = self.shared().process.meter.spending();
        Cost {
            total: CostPart::from(&self.shared().process.meter.total()),
            parts: parts.iter().map(CostPart::from).collect(),
        }
    }

    /// What an estimate costs in US dollars, where the price is known.
    pub(crate) fn price_of_estimate(&self, estimate: &Estimate) -> Option<f64> {
        let prices = self.settings().prices_by_role();
        let mut costs = estimate.by_role.iter();
        costs.try_fold(0.0, |sum, (role, usage)| Some(sum + usage.priced(*prices.get(role)?)))
    }
}
