//! The port to snapshots: one state of the base, limited to the part that a question may see.

use std::sync::Arc;

use async_trait::async_trait;

use super::{KnowledgeBase, StoreError};
use crate::filter::Filter;

/// A base that can be read at one moment.
#[async_trait]
pub trait Snapshots: Send + Sync {
    /// The current state of the base, limited to what the caller may see (`visible`), and further
    /// to what `filter` admits. Later writes are not visible, and deleted content stays readable
    /// until the snapshot is dropped.
    ///
    /// A filter admits chunks. The snapshot reads as if no other chunk existed: its atoms, names,
    /// records, tags and mentions are absent; so are sources and sections without an admitted
    /// chunk; so are results made from several chunks, unless all of them are admitted (community
    /// reports, summaries, a model's summary of a document). Counts include only admitted items.
    /// Only search weights come from the whole base: the rarity of a word (BM25), the beginning of
    /// an embedder's scale, the vectors of entities, sources and sections. A source's text is the
    /// whole text too, because spans refer to it.
    ///
    /// # Errors
    /// [`StoreError::NoField`] if `filter` uses a field that the visible part does not have; the
    /// base cannot be read. A field of `visible` that the base does not have admits nothing.
    async fn snapshot(
        &self,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Arc<dyn KnowledgeBase>, StoreError>;
}
