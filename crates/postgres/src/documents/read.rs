//! Implements the [`CorpusReader`] port: the content of documents.

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, AtomQuery, BaseState, BaseSummary, Chunk, ChunkId, CorpusReader, Derived, Image, Record,
    RecordsOf, Source, SourceId, StoreError, Which,
};

use super::{counts, records};
use crate::base::Base;
use crate::fault::{Fault, Sql};
use crate::rows::{self, CHUNK_COLUMNS, SOURCE_COLUMNS, number, signed};
use crate::snapshot::Snapshot;
use crate::tx::Tx;

#[async_trait]
impl CorpusReader for Base {
    async fn sources(&self, which: Which<'_, SourceId>) -> Result<Vec<Source>, StoreError> {
        self.reading("reading sources", |tx| async move { sources(&tx, which).await }).await
    }

    async fn source_text(&self, source: SourceId) -> Result<String, StoreError> {
        self.reading("reading a source", |tx| async move {
            let sql = "SELECT text FROM sources WHERE id = $1";
            match tx.optional(sql, &[&source.0.cast_signed()]).await? {
                Some(row) => rows::text(&row, 0),
                None => Err(Fault::Store(StoreError::Missing { what: format!("source {source}") })),
            }
        })
        .await
    }

    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>, StoreError> {
        let ids = signed(ids.iter().map(|chunk| chunk.0));
        self.reading("reading chunks", |tx| async move {
            let sql = format!(
                "SELECT {CHUNK_COLUMNS} FROM unnest($1::bigint[]) WITH ORDINALITY AS w(node, nth)
                 JOIN chunks c ON c.id = w.node JOIN sources s ON s.id = c.source ORDER BY w.nth"
            );
            tx.all(&sql, &[&ids]).await?.iter().map(rows::chunk).collect()
        })
        .await
    }

    async fn first_chunks(&self, source: SourceId, limit: usize) -> Result<Vec<Chunk>, StoreError> {
        self.reading("reading chunks", |tx| async move {
            let sql = format!(
                "SELECT {CHUNK_COLUMNS} FROM chunks c JOIN sources s ON s.id = c.source
                 WHERE c.source = $1 AND NOT c.hidden ORDER BY c.ordinal, c.id LIMIT $2"
            );
            let found = tx.all(&sql, &[&source.0.cast_signed(), &number(limit)]).await?;
            found.iter().map(rows::chunk).collect()
        })
        .await
    }

    async fn sample_titles(&self, n: usize) -> Result<Vec<String>, StoreError> {
        self.reading("reading titles", |tx| async move {
            let sql = "SELECT s.title FROM chunks c JOIN sources s ON s.id = c.source
                 WHERE NOT c.hidden ORDER BY c.id LIMIT $1";
            let found = tx.all(sql, &[&number(n)]).await?;
            found.iter().map(|row| rows::text(row, 0)).collect()
        })
        .await
    }

    async fn languages(&self) -> Result<Vec<(Option<String>, usize)>, StoreError> {
        self.reading("counting languages", |tx| async move {
            let sql = "SELECT language, count(*) FROM sources GROUP BY 1
                 ORDER BY 2 DESC, 1 NULLS FIRST";
            let mut languages = Vec::new();
            for row in tx.all(sql, &[]).await? {
                languages.push((rows::optional_text(&row, 0)?, rows::size(&row, 1)?));
            }
            Ok(languages)
        })
        .await
    }

    async fn figures(&self, chunks: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError> {
        let chunks = signed(chunks.iter().map(|chunk| chunk.0));
        self.reading("reading figures", |tx| async move {
            let sql = "SELECT f.media_type, f.bytes
                 FROM unnest($1::bigint[]) WITH ORDINALITY AS w(node, nth)
                 LEFT JOIN figures f ON f.chunk = w.node ORDER BY w.nth";
            let mut images = Vec::with_capacity(chunks.len());
            for row in tx.all(sql, &[&chunks]).await? {
                let media_type = rows::optional_text(&row, 0)?;
                let bytes: Option<Vec<u8>> = row.try_get(1)?;
                let image = media_type.zip(bytes);
                images.push(image.map(|(media_type, bytes)| Image { media_type, bytes }));
            }
            Ok(images)
        })
        .await
    }

    async fn atoms(&self, query: AtomQuery<'_>) -> Result<Vec<Atom>, StoreError> {
        self.reading("reading atoms", |tx| async move { atoms(&tx, query).await }).await
    }

    async fn records(&self, of: RecordsOf<'_>) -> Result<Vec<Record>, StoreError> {
        self.reading("reading records", |tx| async move {
            match of {
                RecordsOf::All => records::all(&tx, None).await,
                RecordsOf::Schema(name) => records::all(&tx, Some(name)).await,
                RecordsOf::Chunks(chunks) => records::of_chunks(&tx, chunks).await,
            }
        })
        .await
    }

    async fn state(&self) -> Result<BaseState, StoreError> {
        let snapshot = self.snapshot().map(AsRef::as_ref);
        if let Some(state) = snapshot.and_then(Snapshot::state) {
            return Ok(state);
        }
        let scope = snapshot.and_then(Snapshot::scope);
        let state = self
            .reading("reading the state of the base", |tx| async move {
                counts::state(&self.inner, &tx, scope).await
            })
            .await?;
        if let Some(snapshot) = snapshot {
            snapshot.keep_state(&state);
        }
        Ok(state)
    }

    async fn has(&self, content: Derived) -> Result<bool, StoreError> {
        self.reading("looking for derived content", move |tx| async move {
            counts::has(&tx, content).await
        })
        .await
    }

    async fn summary(&self) -> Result<BaseSummary, StoreError> {
        self.reading("counting", |tx| async move { counts::summary(&tx).await }).await
    }
}

/// All sources by URI, or these in the given order; unknown ones are left out.
async fn sources(tx: &Tx, which: Which<'_, SourceId>) -> Sql<Vec<Source>> {
    let found = match which {
        Which::All => {
            let sql = format!("SELECT {SOURCE_COLUMNS} FROM sources ORDER BY uri");
            tx.all(&sql, &[]).await?
        }
        Which::Of(ids) => {
            let ids = signed(ids.iter().map(|source| source.0));
            let sql = format!(
                "SELECT {SOURCE_COLUMNS} FROM unnest($1::bigint[]) WITH ORDINALITY AS w(node, nth)
                 JOIN sources s ON s.id = w.node ORDER BY w.nth"
            );
            tx.all(&sql, &[&ids]).await?
        }
    };
    found.iter().map(rows::source).collect()
}

async fn atoms(tx: &Tx, query: AtomQuery<'_>) -> Sql<Vec<Atom>> {
    let found = match query {
        AtomQuery::These(ids) => {
            let ids = signed(ids.iter().map(|atom| atom.0));
            let sql = "SELECT a.id, a.chunk, a.kind, a.text
                 FROM unnest($1::bigint[]) WITH ORDINALITY AS w(node, nth)
                 JOIN atoms a ON a.id = w.node ORDER BY w.nth";
            tx.all(sql, &[&ids]).await?
        }
        AtomQuery::InChunks(kind, chunks) => {
            let chunks = signed(chunks.iter().map(|chunk| chunk.0));
            let sql = "SELECT a.id, a.chunk, a.kind, a.text
                 FROM unnest($1::bigint[]) WITH ORDINALITY AS w(node, nth)
                 JOIN atoms a ON a.chunk = w.node AND a.kind = $2 ORDER BY w.nth, a.ordinal, a.id";
            tx.all(sql, &[&chunks, &kind.as_str()]).await?
        }
    };
    found.iter().map(rows::atom).collect()
}
