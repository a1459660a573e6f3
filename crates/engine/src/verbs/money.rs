//! What do the calls of a run come to?

use std::collections::BTreeMap;

use pikerag_knowledge::{Cost, Role};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Session;

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

pub(super) fn usd_of(session: &Session, cost: &Cost) -> RunUsd {
    let prices = session.settings().prices_by_role();
    let paid = cost.paid.by_role.iter();
    let by_role =
        paid.filter_map(|(role, (_, used))| Some((*role, used.priced(*prices.get(role)?))));
    RunUsd {
        spent: cost.spent.priced(&prices),
        paid: cost.paid.priced(&prices),
        paid_by_role: by_role.collect(),
    }
}
