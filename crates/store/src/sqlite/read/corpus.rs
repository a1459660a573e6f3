//! What stands in the documents? The [`CorpusReader`] port.

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, AtomKind, BaseSummary, Chunk, ChunkId, CorpusReader, Image, Record, SectionId, Source,
    SourceId, StoreError,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::Context;
use crate::sqlite::rows::limit_of;
use crate::sqlite::{Base, counts, layers, records, rows};

#[async_trait]
impl CorpusReader for Base {
    async fn sources(&self) -> Result<Vec<Source>, StoreError> {
        self.reading("reading sources", |_, connection| {
            connection
                .prepare("SELECT id, uri, title, media_type, hash, language, metadata, summary FROM sources ORDER BY uri")
                .context("reading sources")?
                .query_map([], rows::source)
                .and_then(Iterator::collect)
                .context("reading sources")
        })
        .await
    }

    async fn sources_by_id(&self, ids: &[SourceId]) -> Result<Vec<Source>, StoreError> {
        let ids = ids.to_vec();
        self.looking("reading sources", move |connection| sources_by_id(connection, &ids)).await
    }

    async fn source_text(&self, source: SourceId) -> Result<String, StoreError> {
        self.reading("reading a source", move |_, connection| {
            connection
                .prepare_cached("SELECT text FROM sources WHERE id = ?1")
                .context("reading a source")?
                .query_row([source.0.cast_signed()], |row| row.get(0))
                .optional()
                .context("reading a source")?
                .ok_or_else(|| StoreError::Missing { what: format!("source {source}") })
        })
        .await
    }

    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>, StoreError> {
        let ids = ids.to_vec();
        self.reading("reading chunks", move |_, connection| {
            let sql = format!(
                "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source WHERE c.id = ?1",
                rows::CHUNK_COLUMNS
            );
            let mut statement = connection.prepare_cached(&sql).context("reading chunks")?;
            let mut chunks = Vec::with_capacity(ids.len());
            for id in ids {
                let chunk = statement.query_row([id.0.cast_signed()], rows::chunk).optional();
                chunks.extend(chunk.context("reading chunks")?);
            }
            Ok(chunks)
        })
        .await
    }

    async fn first_chunks(&self, source: SourceId, limit: usize) -> Result<Vec<Chunk>, StoreError> {
        self.looking("reading chunks", move |connection| {
            let sql = format!(
                "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source
                 WHERE c.source = ?1 AND NOT c.hidden ORDER BY c.ordinal LIMIT ?2",
                rows::CHUNK_COLUMNS
            );
            connection
                .prepare_cached(&sql)?
                .query_map(params![source.0.cast_signed(), limit_of(limit)], rows::chunk)?
                .collect()
        })
        .await
    }

    async fn neighbours(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let ids = chunks.to_vec();
        self.looking("reading neighbours", move |connection| layers::neighbours(connection, &ids))
            .await
    }

    async fn chunks_in_sources(
        &self,
        sources: &[SourceId],
        limit: usize,
    ) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let ids: Vec<u64> = sources.iter().map(|source| source.0).collect();
        self.looking("reading chunks of sources", move |connection| {
            layers::chunks_in(connection, layers::Around::Sources, &ids, limit)
        })
        .await
    }

    async fn chunks_in_sections(
        &self,
        sections: &[SectionId],
        limit: usize,
    ) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let ids: Vec<u64> = sections.iter().map(|section| section.0).collect();
        self.looking("reading chunks of sections", move |connection| {
            layers::chunks_in(connection, layers::Around::Sections, &ids, limit)
        })
        .await
    }

    async fn sample_titles(&self, n: usize) -> Result<Vec<String>, StoreError> {
        self.looking("reading titles", move |connection| {
            connection
                .prepare_cached(
                    "SELECT s.title FROM chunks c JOIN sources s ON s.id = c.source
                     WHERE NOT c.hidden ORDER BY c.id LIMIT ?1",
                )?
                .query_map([limit_of(n)], |row| row.get(0))?
                .collect()
        })
        .await
    }

    async fn languages(&self) -> Result<Vec<(Option<String>, usize)>, StoreError> {
        self.looking("counting languages", move |connection| {
            connection
                .prepare("SELECT language, count(*) FROM sources GROUP BY 1 ORDER BY 2 DESC, 1")?
                .query_map([], |row| Ok((row.get(0)?, rows::size(row, 1)?)))?
                .collect()
        })
        .await
    }

    async fn chunk_count(&self) -> Result<usize, StoreError> {
        self.reading("counting chunks", |_, connection| {
            connection
                .prepare_cached("SELECT count(*) FROM chunks")
                .context("counting chunks")?
                .query_row([], |row| rows::size(row, 0))
                .context("counting chunks")
        })
        .await
    }

    async fn figures(&self, chunks: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError> {
        let chunks = chunks.to_vec();
        self.looking("reading figures", move |connection| {
            let mut statement = connection
                .prepare_cached("SELECT media_type, bytes FROM figures WHERE chunk = ?1")?;
            let image =
                |row: &rusqlite::Row<'_>| Ok(Image { media_type: row.get(0)?, bytes: row.get(1)? });
            chunks
                .iter()
                .map(|chunk| statement.query_row([chunk.0.cast_signed()], image).optional())
                .collect()
        })
        .await
    }

    async fn atoms_of(&self, kind: AtomKind, chunks: &[ChunkId]) -> Result<Vec<Atom>, StoreError> {
        let chunks = chunks.to_vec();
        self.reading("reading atoms", move |_, connection| {
            let sql = "SELECT id, chunk, kind, text FROM atoms WHERE chunk = ?1 AND kind = ?2 ORDER BY ordinal";
            let mut statement = connection.prepare_cached(sql).context("reading atoms")?;
            let mut atoms = Vec::new();
            for chunk in chunks {
                let found = statement
                    .query_map(params![chunk.0.cast_signed(), kind.as_str()], rows::atom)
                    .context("reading atoms")?;
                for atom in found {
                    atoms.push(atom.context("reading atoms")?);
                }
            }
            Ok(atoms)
        })
        .await
    }

    async fn records(&self, schema: Option<&str>) -> Result<Vec<Record>, StoreError> {
        let schema = schema.map(str::to_owned);
        self.looking("reading records", move |connection| {
            records::all(connection, schema.as_deref())
        })
        .await
    }

    async fn embedder(&self) -> Result<Option<String>, StoreError> {
        self.looking("looking for the embedder", counts::embedder).await
    }

    async fn summary(&self) -> Result<BaseSummary, StoreError> {
        self.looking("counting", counts::summary).await
    }
}

/// These sources; unknown ones are left out.
fn sources_by_id(connection: &Connection, ids: &[SourceId]) -> rusqlite::Result<Vec<Source>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, uri, title, media_type, hash, language, metadata, summary FROM sources WHERE id = ?1",
    )?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(statement.query_row([id.0.cast_signed()], rows::source).optional()?);
    }
    Ok(found)
}
