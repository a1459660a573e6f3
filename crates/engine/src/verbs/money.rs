//! What do the calls of a run come to?

use std::collections::BTreeMap;

use pikerag_knowledge::{Cost, Role, Spent};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Engine;

/// US dollars of a run's calls, at the prices that are set now for the models that are set now.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RunUsd {
    /// All calls, whether made or read from the ledger; none where a role's price is not known.
    #[schema(required)]
    pub spent: Option<f64>,
    /// Those that were really made; none where a role's price is not known.
    #[schema(required)]
    pub paid: Option<f64>,
    /// Those that were really made, by role, as far as prices are known.
    #[schema(value_type = BTreeMap<String, f64>)]
    pub paid_by_role: BTreeMap<Role, f64>,
}

impl Engine {
    pub(super) fn usd_of(&self, cost: &Cost) -> RunUsd {
        let (_, spent) = self.price_of(&cost.spent);
        let (paid_by_role, paid) = self.price_of(&cost.paid);
        RunUsd { spent, paid, paid_by_role }
    }

    /// US dollars by role, as far as prices are known, and of all where each is.
    fn price_of(&self, spent: &Spent) -> (BTreeMap<Role, f64>, Option<f64>) {
        let prices = self.settings().prices_by_role();
        let by_role: BTreeMap<Role, f64> = spent
            .by_role
            .iter()
            .filter_map(|(role, (_, used))| Some((*role, used.priced(*prices.get(role)?))))
            .collect();
        // Nothing spent and nothing known: then nothing can be said.
        let is_known = !prices.is_empty() && by_role.len() == spent.by_role.len();
        let all = is_known.then(|| by_role.values().sum());
        (by_role, all)
    }
}
