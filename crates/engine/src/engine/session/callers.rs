//! Restricts a session to the view, payer and priority that its caller was granted.

use std::sync::Arc;

use pikerag_knowledge::{CallRecord, Condition, Filter, Lease};
use pikerag_models::Payer;
use pikerag_postgres::Location;

use super::Session;
use crate::base::Base;
use crate::error::Result;
use crate::in_use::InUse;

/// The rights of a caller.
#[derive(Clone, Default)]
pub struct Grant {
    /// The part of the base that the caller may see; all of it if there is no condition.
    pub visible: Filter,
    /// Pays for the caller's model calls and allows or refuses each one beforehand; `None` if no
    /// payer must agree.
    pub payer: Option<Arc<dyn Payer>>,
}

impl Session {
    /// This session with granted rights, whatever the request says. Verbs that need the whole base
    /// fail with [`EngineError::OnlyPart`](crate::EngineError::OnlyPart).
    #[must_use]
    pub fn granted(&self, grant: &Grant) -> Self {
        Self { payer: grant.payer.clone(), visible: grant.visible.clone(), ..self.clone() }
    }

    /// This session for background work: its model calls let those of questions go first.
    #[must_use]
    pub fn in_background(self) -> Self {
        Self { is_background: true, ..self }
    }

    /// This session for a worker: after its lease has ended, its documents and results are refused.
    #[must_use]
    pub fn leased(self, lease: Lease) -> Self {
        Self { lease: Some(lease), ..self }
    }

    /// A snapshot of the part of the base that the caller may see, for verbs that read much of it.
    pub(crate) async fn visible_base(&self) -> Result<Base> {
        let base = self.base_in_part().await?;
        Ok(base.seen_through(&self.visible, &Filter::default()).await?)
    }

    /// The base for the worker of this session, if it is one. A worker in another process notices some
    /// seconds late that a document is forgotten: replies that arrive meanwhile are not kept.
    pub(super) async fn under_lease(&self, base: Base) -> Result<Base> {
        match self.lease {
            Some(lease) if Location::is_address(&self.folder) => {
                Ok(base.leased(lease).for_a_question().await?)
            }
            Some(lease) => Ok(base.leased(lease)),
            None => Ok(base),
        }
    }

    /// This session, which keeps other servers from removing the base.
    pub(in crate::engine) fn used(self, used: Arc<InUse>) -> Self {
        Self { _used: Some(used), ..self }
    }

    /// The name of the base's ledger in reservations of money.
    pub(crate) fn ledger_name(&self) -> String {
        // The hash is of the bytes, so that names that are not UTF-8 stay distinct.
        blake3::hash(self.folder.as_os_str().as_encoded_bytes()).to_hex().to_string()
    }

    /// The cost of a recorded call, in millionths of a millionth of a dollar, if the price by
    /// tokens is known.
    pub(crate) fn price_of_call(&self, call: &CallRecord) -> Option<u64> {
        let price = self.settings().prices.get(&call.model)?;
        let usd = call.usage.priced((price.prompt, price.completion));
        (price.search == 0.0).then(|| (usd * 1e12).round() as u64)
    }

    /// The filter of the part that the caller may see.
    pub(crate) fn visible(&self) -> &Filter {
        &self.visible
    }

    /// The conditions of the caller and those of the filter together.
    pub(crate) fn seen(&self, filter: &Filter) -> Filter {
        let mut seen = self.visible.clone();
        let more = filter.conditions.iter().filter(|own| !self.visible.conditions.contains(own));
        seen.conditions.extend(more.cloned());
        seen
    }

    /// Whether a result that was made under a filter contains only text that the caller may see.
    pub(crate) fn may_see(&self, made_under: &Filter) -> bool {
        let is_kept = |own: &Condition| made_under.conditions.contains(own);
        self.visible.conditions.iter().all(is_kept)
    }

    /// Whether the caller may see all of the base.
    pub(crate) fn sees_all(&self) -> bool {
        self.visible.is_empty()
    }
}
