//! Computes the cost of a run's calls in US dollars.

use std::collections::BTreeMap;

use pikerag_knowledge::{Cost, Role};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Session;

/// The cost of a run's calls in US dollars, at the current prices of the current models.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RunUsd {
    /// All calls, made or read from the ledger; none if a role's price is unknown.
    #[schema(required)]
    pub spent: Option<f64>,
    /// The calls that were made; none if a role's price is unknown.
    #[schema(required)]
    pub paid: Option<f64>,
    /// The calls that were made, by role, if the price is known.
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
