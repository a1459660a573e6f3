//! Lists the pending chunks of a stage, which lack its mark, by identifier and page by page.

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use pikerag_knowledge::{Chunk, ChunkId, ChunkKind, ChunkSet, KnowledgeWriter, Stage, StoreError};

/// Chunks read at a time.
pub(crate) const PAGE: usize = 512;

/// Pieces in order, read as they are needed.
pub(crate) type Pieces<'a, T> = BoxStream<'a, Result<T, StoreError>>;

/// The pending work of a stage.
pub(crate) struct Waiting<'a, T> {
    /// The most pieces that will come.
    pub(crate) total: usize,
    pub(crate) pieces: Pieces<'a, T>,
    /// Pending chunks that need no call.
    pub(crate) passed: Vec<ChunkId>,
}

impl<'a> Waiting<'a, Chunk> {
    /// Chunks by identifier, read from the base page by page.
    pub(crate) fn chunks(base: &'a dyn KnowledgeWriter, ids: &[ChunkId]) -> Self {
        let total = ids.len();
        let pieces = paged(ids, PAGE, move |page: Vec<ChunkId>| {
            async move { base.chunks(&page).await }.boxed()
        });
        Self { total, pieces, passed: Vec::new() }
    }
}

/// The results of `read` for these keys, in order, `size` keys at a time.
pub(crate) fn paged<'a, K: Clone + Send + 'a, T: Send + 'a>(
    keys: &[K],
    size: usize,
    read: impl Fn(Vec<K>) -> BoxFuture<'a, Result<Vec<T>, StoreError>> + Send + 'a,
) -> Pieces<'a, T> {
    let pages: Vec<Vec<K>> = keys.chunks(size.max(1)).map(<[K]>::to_vec).collect();
    stream::iter(pages)
        .then(read)
        .map_ok(|found| stream::iter(found.into_iter().map(Ok)))
        .try_flatten()
        .boxed()
}

/// All chunks without a mark, by identifier.
pub(crate) async fn all_pending(
    base: &dyn KnowledgeWriter,
    mark: &Stage,
) -> Result<Vec<ChunkId>, StoreError> {
    let mut all: Vec<ChunkId> = Vec::new();
    loop {
        let page = base.pending(mark, ChunkSet::Searchable, all.last().copied(), PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// All chunks of one kind without a mark, by identifier.
pub(crate) async fn all_pending_of(
    base: &dyn KnowledgeWriter,
    mark: &Stage,
    kind: ChunkKind,
) -> Result<Vec<ChunkId>, StoreError> {
    let mut all: Vec<ChunkId> = Vec::new();
    loop {
        let page = base.pending(mark, ChunkSet::OfKind(kind), all.last().copied(), PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// The first searchable chunks, by identifier, up to `limit`. No chunk has the mark used here.
pub(crate) async fn all_chunks(
    base: &dyn KnowledgeWriter,
    limit: usize,
) -> Result<Vec<ChunkId>, StoreError> {
    base.pending(&Stage("every chunk".to_owned()), ChunkSet::Searchable, None, limit).await
}
