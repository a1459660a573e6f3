//! The port to one state of the base, of which a question may see a part.

use std::sync::Arc;

use async_trait::async_trait;

use super::{KnowledgeBase, StoreError};
use crate::filter::Filter;

/// Who can be read as it stands at one moment.
#[async_trait]
pub trait Snapshots: Send + Sync {
    /// The base as it stands now, of it what the caller may see (`visible`), and of that what `filter` admits. What is written later is not seen, and
    /// what is deleted later stays to be read until the snapshot is dropped.
    ///
    /// A filter admits chunks. The snapshot reads as if no other chunk had ever been there: its atoms,
    /// names, records, tags and mentions are gone; so are sources and sections that hold no admitted chunk;
    /// so is what was made of several chunks, unless all of them are admitted (reports on communities,
    /// summaries, what a model says of a document as a whole). Counts are counts of what is admitted.
    /// Only what a search weighs by comes from the whole base: how rare a word is (BM25), where the scale
    /// of an embedder begins, the vectors of entities, sources and sections. A source's text is the whole
    /// text too: spans count in it.
    ///
    /// # Errors
    /// [`StoreError::NoField`], where `filter` asks for a field that the visible part does not have; the base cannot be
    /// read. A field of `visible` that the base does not have admits nothing.
    async fn snapshot(
        &self,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Arc<dyn KnowledgeBase>, StoreError>;
}
