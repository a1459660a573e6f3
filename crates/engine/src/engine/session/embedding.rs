//! Chooses the embedder: the configured one, else the local one for the documents' languages.

use std::sync::Arc;

use pikerag_knowledge::{Embedder, Ledger};
use pikerag_models::{MemoryLedger, Mode};
use pikerag_narrate::Words;

use super::{Session, endpoints, named, weights};
use crate::base::Base;
use crate::error::{EngineError, Result, WeightsOf};
use crate::notice::Notice;
use crate::settings::EmbedSettings;

/// The language that every local embedder knows.
const ENGLISH: &str = "eng";

impl Session {
    /// The embedder, with calls not recorded.
    pub(crate) fn bare_embedder(&self) -> Result<Option<Arc<dyn Embedder>>> {
        self.embedder_with(Arc::new(MemoryLedger::default()))
    }

    /// The embedder with recorded calls, under the name that this base uses. If none is set and two
    /// local ones exist, it is the one that made the base's vectors, else the one for the
    /// documents' languages.
    pub(crate) async fn embedder_on(&self, base: &Base) -> Result<Option<Arc<dyn Embedder>>> {
        self.embedder_recorded_by(base, base.arc()).await
    }

    pub(super) async fn embedder_recorded_by(
        &self,
        base: &Base,
        ledger: Arc<dyn Ledger>,
    ) -> Result<Option<Arc<dyn Embedder>>> {
        let Some(usual) = self.embedder_with(ledger)? else { return Ok(None) };
        let is_english = self.is_english(usual.name());
        let usual = named::on(self.settings(), usual, base).await?;
        let made_by = base.state().await?.embedder;
        if !is_english || made_by.as_deref() == Some(usual.name()) {
            return Ok(Some(usual));
        }
        let Some(other) = self.multilingual() else { return Ok(Some(usual)) };
        let other = named::on(self.settings(), other, base).await?;
        let fits = match made_by {
            Some(name) => name == other.name(),
            None => is_foreign(base).await?,
        };
        Ok(Some(if fits { other } else { usual }))
    }

    /// A notice if the embedder is made for English and most of the documents are in other
    /// languages.
    pub(crate) async fn foreign(&self, base: &Base, name: &str) -> Result<Option<Notice>> {
        let is_foreign = self.is_english(name) && is_foreign(base).await?;
        Ok(is_foreign.then(|| Notice::Foreign { embedder: name.to_owned() }))
    }

    /// The reason why there is no embedder.
    pub(crate) fn no_embedder_reason(&self) -> Words {
        match self.settings().embed {
            EmbedSettings::Off => Words::new(
                "none, by the settings: searching by words only",
                "按设置不使用：只按词检索",
            ),
            _ => match self.local() {
                Ok(_) => Words::new("none", "没有"),
                Err(reason) => Words::new(
                    format!("none: searching by words only ({reason})"),
                    format!("没有：只按词检索（{}）", weights::in_chinese(&reason)),
                ),
            },
        }
    }

    fn embedder_with(&self, ledger: Arc<dyn Ledger>) -> Result<Option<Arc<dyn Embedder>>> {
        match &self.settings().embed {
            EmbedSettings::Off | EmbedSettings::Offline => Ok(None),
            EmbedSettings::Endpoint { endpoint, batch } => {
                let upstreams = &self.shared().upstreams;
                let calls = self.calls(ledger, Mode::Record);
                endpoints::embedder(self.settings(), endpoint, *batch, upstreams, &calls).map(Some)
            }
            EmbedSettings::Local { required } => match self.local() {
                Ok(local) => Ok(Some(local.embedder)),
                Err(reason) if *required => {
                    Err(EngineError::NoWeights { of: WeightsOf::Embedder, reason })
                }
                Err(reason) => {
                    tracing::info!(reason, "no embedder");
                    Ok(None)
                }
            },
        }
    }

    /// Whether this is the name of the local embedder and it is made for English. The name may
    /// carry the suffix that prefixes add.
    fn is_english(&self, name: &str) -> bool {
        let is_local = matches!(self.settings().embed, EmbedSettings::Local { .. });
        let is_of = |local: weights::Local| {
            local.is_english && name.split('#').next() == Some(local.embedder.name())
        };
        is_local && self.local().is_ok_and(is_of)
    }

    fn local(&self) -> Result<weights::Local, String> {
        self.shared().weights.usual.get_or_init(|| weights::open(&self.settings().weights)).clone()
    }

    fn multilingual(&self) -> Option<Arc<dyn Embedder>> {
        let open = || weights::open_multilingual(&self.settings().weights);
        self.shared().weights.multilingual.get_or_init(open).clone()
    }
}

/// Whether most documents with a detected language are not in English.
async fn is_foreign(base: &Base) -> Result<bool> {
    let (mut known, mut foreign) = (0, 0);
    for (language, documents) in base.languages().await? {
        let Some(language) = language else { continue };
        known += documents;
        foreign += if language == ENGLISH { 0 } else { documents };
    }
    Ok(known < 2 * foreign)
}
