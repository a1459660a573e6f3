//! What did calls use? By role.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ports::{Role, Usage};

/// Calls and tokens by role; the same for a replayed run, whatever was really paid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Spent {
    /// By role: number of calls and what they used.
    pub by_role: BTreeMap<Role, (usize, Usage)>,
}

impl Spent {
    /// Adds one call.
    pub fn add(&mut self, role: Role, usage: Usage) {
        let (calls, used) = self.by_role.entry(role).or_default();
        *calls += 1;
        *used += usage;
    }

    /// Adds all of another account.
    pub fn merge(&mut self, other: &Self) {
        for (role, (calls, used)) in &other.by_role {
            let mine = self.by_role.entry(*role).or_default();
            mine.0 += calls;
            mine.1 += *used;
        }
    }

    /// Calls of all roles.
    pub fn calls(&self) -> usize {
        self.by_role.values().map(|(calls, _)| calls).sum()
    }

    /// Usage of all roles.
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        for (_, used) in self.by_role.values() {
            all += *used;
        }
        all
    }

    /// What they come to, by prices for a million tokens of prompts and of replies; none where a price is not known.
    pub fn priced(&self, prices: &BTreeMap<Role, (f64, f64)>) -> Option<f64> {
        // Nothing spent and nothing known: then nothing can be said.
        if prices.is_empty() {
            return None;
        }
        // From 0.0 on: what `sum` begins with is -0.0.
        let mut costs = self.by_role.iter();
        costs.try_fold(0.0, |sum, (role, (_, used))| Some(sum + used.priced(*prices.get(role)?)))
    }
}
