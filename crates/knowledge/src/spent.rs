//! Counts the calls and tokens of models by role.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ports::{Role, Usage};

/// Calls and tokens by role; the same for a replayed run, whatever was really paid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Spent {
    /// By role: the number of calls and their usage.
    pub by_role: BTreeMap<Role, (usize, Usage)>,
    /// Tokens of the prompts that endpoints had in their caches. Only calls that were really made
    /// count, and only at endpoints that report them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Spent {
    /// Adds one call.
    pub fn add(&mut self, role: Role, usage: Usage) {
        let (calls, used) = self.by_role.entry(role).or_default();
        *calls += 1;
        *used += usage;
    }

    /// Adds another account.
    pub fn merge(&mut self, other: &Self) {
        for (role, (calls, used)) in &other.by_role {
            let mine = self.by_role.entry(*role).or_default();
            mine.0 += calls;
            mine.1 += *used;
        }
        self.cached_tokens += other.cached_tokens;
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

    /// The cost, by prices for a million tokens of prompts and of replies; `None` if a price is
    /// unknown.
    pub fn priced(&self, prices: &BTreeMap<Role, (f64, f64)>) -> Option<f64> {
        // Without prices nothing is known, even for no calls.
        if prices.is_empty() {
            return None;
        }
        // Starts at 0.0, because `sum` starts at -0.0.
        let mut costs = self.by_role.iter();
        costs.try_fold(0.0, |sum, (role, (_, used))| Some(sum + used.priced(*prices.get(role)?)))
    }
}
