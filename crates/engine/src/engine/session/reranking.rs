//! Builds the reranker for the hits of searches.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use pikerag_knowledge::{Ledger, Reranker, error_chain};
use pikerag_methods::RerankBy;
use pikerag_models::{MemoryLedger, Mode};
use pikerag_weights::{LaterReranker, Weights};

use super::{Session, endpoints};
use crate::base::Base;
use crate::error::{EngineError, Result, WeightsOf};
use crate::notice::Notice;
use crate::settings::Reranks;

impl Session {
    /// The reranker that is set, for the first `first` hits. `None` if `first` is 0, or, with a
    /// notice, if the reranker is not used offline.
    ///
    /// # Errors
    /// The settings cannot be used. No call was made yet.
    pub(super) fn reranking(
        &self,
        ledger: Arc<dyn Ledger>,
        first: usize,
        notices: &mut Vec<Notice>,
    ) -> Result<Option<RerankBy>> {
        let Some(first) = NonZeroUsize::new(first) else { return Ok(None) };
        if let Reranks::Offline { model } = &self.settings().rerank.by {
            notices.push(Notice::NoReranker { model: model.clone() });
        }
        let model = self.reranker_with(ledger)?;
        Ok(model.map(|model| RerankBy { model, first }))
    }

    /// The reranker, with calls not recorded.
    pub(crate) fn bare_reranker(&self) -> Result<Option<Arc<dyn Reranker>>> {
        self.reranker_with(Arc::new(MemoryLedger::default()))
    }

    /// The reranker, with calls recorded in the base.
    pub(crate) fn recorded_reranker(&self, base: &Base) -> Result<Option<Arc<dyn Reranker>>> {
        self.reranker_with(base.arc())
    }

    fn reranker_with(&self, ledger: Arc<dyn Ledger>) -> Result<Option<Arc<dyn Reranker>>> {
        match &self.settings().rerank.by {
            Reranks::Off | Reranks::Offline { .. } => Ok(None),
            Reranks::Endpoint { endpoint, batch } => {
                let calls = self.calls(ledger, Mode::Record);
                endpoints::reranker(
                    self.settings(),
                    endpoint,
                    *batch,
                    &self.shared().upstreams,
                    &calls,
                )
                .map(Some)
            }
            Reranks::Local { folder } => {
                let rerankers = &self.shared().weights.rerankers;
                let mut rerankers = rerankers.lock().unwrap_or_else(PoisonError::into_inner);
                let opened = rerankers.entry(folder.clone()).or_insert_with(|| open(folder));
                opened.clone().map(Some).map_err(|reason| EngineError::NoWeights {
                    of: WeightsOf::Reranker(folder.clone()),
                    reason,
                })
            }
        }
    }
}

/// Local weights, loaded with the first texts; otherwise a readable reason why they cannot be used.
fn open(folder: &Path) -> Result<Arc<dyn Reranker>, String> {
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    let weights = Weights { name, folder: folder.to_owned() };
    let reranker = LaterReranker::new(weights).map_err(|error| error_chain(&error))?;
    Ok(Arc::new(reranker))
}
