//! Restricts a session to what its caller was granted.

use std::sync::Arc;

use pikerag_knowledge::{CallRecord, Condition, Filter};
use pikerag_models::Payer;

use super::Session;

/// What a caller was granted.
#[derive(Clone, Default)]
pub struct Grant {
    /// What the caller may see of the base; all of it, where there is no condition.
    pub visible: Filter,
    /// Who pays for the caller's model calls, and says before each whether there may be another; none where nobody is asked.
    pub payer: Option<Arc<dyn Payer>>,
}

impl Session {
    /// This session for a caller who sees and spends what was granted, whatever the request says. Verbs that cannot keep to a
    /// part of the base fail with [`EngineError::OnlyPart`](crate::EngineError::OnlyPart).
    #[must_use]
    pub fn granted(&self, grant: &Grant) -> Self {
        Self { payer: grant.payer.clone(), visible: grant.visible.clone(), ..self.clone() }
    }

    /// Names the ledger of the base in reservations of money.
    pub(crate) fn ledger_name(&self) -> String {
        // Of the bytes: names that are not UTF-8 stay apart.
        blake3::hash(self.folder.as_os_str().as_encoded_bytes()).to_hex().to_string()
    }

    /// What a recorded call cost, in millionths of a millionth of a dollar, where the price by tokens is known.
    pub(crate) fn price_of_call(&self, call: &CallRecord) -> Option<u64> {
        let price = self.settings().prices.get(&call.model)?;
        let usd = call.usage.priced((price.prompt, price.completion));
        (price.search == 0.0).then(|| (usd * 1e12).round() as u64)
    }

    /// What the caller may see.
    pub(crate) fn visible(&self) -> &Filter {
        &self.visible
    }

    /// What the caller may see, and of that what the filter admits.
    pub(crate) fn seen(&self, filter: &Filter) -> Filter {
        let mut seen = self.visible.clone();
        let more = filter.conditions.iter().filter(|own| !self.visible.conditions.contains(own));
        seen.conditions.extend(more.cloned());
        seen
    }

    /// Whether something that was made under a filter holds nothing but what the caller may see.
    pub(crate) fn may_see(&self, made_under: &Filter) -> bool {
        let is_kept = |own: &Condition| made_under.conditions.contains(own);
        self.visible.conditions.iter().all(is_kept)
    }

    /// Whether the caller may see all of the base.
    pub(crate) fn sees_all(&self) -> bool {
        self.visible.is_empty()
    }
}
