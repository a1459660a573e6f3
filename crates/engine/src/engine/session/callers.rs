//! Restricts a session to what its caller was granted.

use std::sync::Arc;

use pikerag_knowledge::{Condition, Filter};
use pikerag_models::{Cap, Meter, Prices};

use super::Session;

/// What a caller was granted.
#[derive(Clone, Debug, Default)]
pub struct Grant {
    /// What the caller may see of the base; all of it, where there is no condition.
    pub visible: Filter,
    /// What the caller may spend on chat models; as much as all callers together, where nothing is named.
    pub cap: Cap,
}

/// What a caller has spent of a grant; shared by all sessions that are made for it.
#[derive(Clone, Debug)]
pub struct Share(Arc<Meter>);

impl Share {
    pub(crate) fn new(prices: &Prices, grant: &Grant) -> Self {
        Self(Arc::new(Meter::new(prices.clone(), grant.cap)))
    }

    /// US dollars on chat models so far, as far as prices are known.
    pub fn spent_usd(&self) -> f64 {
        self.0.total().money.dollars()
    }
}

impl Session {
    /// This session for a caller who sees and spends what was granted, whatever the request says. Verbs that cannot keep to a
    /// part of the base fail with [`EngineError::OnlyPart`](crate::EngineError::OnlyPart).
    #[must_use]
    pub fn granted(&self, grant: &Grant, share: &Share) -> Self {
        Self { share: Some(Arc::clone(&share.0)), visible: grant.visible.clone(), ..self.clone() }
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
