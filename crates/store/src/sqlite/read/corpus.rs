//! Implements the [`CorpusReader`] port: the content of documents.

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, AtomKind, AtomQuery, BaseState, BaseSummary, Chunk, ChunkId, CorpusReader, Derived,
    Image, Record, RecordsOf, Source, SourceId, StoreError, Which,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::Context;
use crate::sqlite::base::Base;
use crate::sqlite::rows::{limit_of, owned};
use crate::sqlite::{counts, records, rows};

#[async_trait]
impl CorpusReader for Base {
    async fn sources(&self, which: Which<'_, SourceId>) -> Result<Vec<Source>, StoreError> {
        let of = owned(which);
        self.querying("reading sources", move |connection| match of {
            Some(ids) => sources_by_id(connection, &ids),
            None => connection
                .prepare(&format!("SELECT {} FROM sources ORDER BY uri", rows::SOURCE_COLUMNS))?
                .query_map([], rows::source)?
                .collect(),
        })
        .await
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
        self.querying("reading chunks", move |connection| {
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

    async fn sample_titles(&self, n: usize) -> Result<Vec<String>, StoreError> {
        self.querying("reading titles", move |connection| {
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
        self.querying("counting languages", move |connection| {
            connection
                .prepare("SELECT language, count(*) FROM sources GROUP BY 1 ORDER BY 2 DESC, 1")?
                .query_map([], |row| Ok((row.get(0)?, rows::size(row, 1)?)))?
                .collect()
        })
        .await
    }

    async fn figures(&self, chunks: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError> {
        let chunks = chunks.to_vec();
        self.querying("reading figures", move |connection| {
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

    async fn atoms(&self, query: AtomQuery<'_>) -> Result<Vec<Atom>, StoreError> {
        let (kind, keys): (_, Vec<u64>) = match query {
            AtomQuery::These(ids) => (None, ids.iter().map(|id| id.0).collect()),
            AtomQuery::InChunks(kind, chunks) => {
                (Some(kind), chunks.iter().map(|id| id.0).collect())
            }
        };
        self.querying("reading atoms", move |connection| {
            let condition = match kind {
                None => "id = ?1 AND ?2 IS NULL",
                Some(_) => "chunk = ?1 AND kind = ?2 ORDER BY ordinal",
            };
            let sql = format!("SELECT id, chunk, kind, text FROM atoms WHERE {condition}");
            let mut statement = connection.prepare_cached(&sql)?;
            let kind = kind.map(AtomKind::as_str);
            let mut atoms = Vec::new();
            for key in keys {
                for atom in statement.query_map(params![key.cast_signed(), kind], rows::atom)? {
                    atoms.push(atom?);
                }
            }
            Ok(atoms)
        })
        .await
    }

    async fn records(&self, of: RecordsOf<'_>) -> Result<Vec<Record>, StoreError> {
        let (schema, chunks) = match of {
            RecordsOf::All => (None, None),
            RecordsOf::Schema(name) => (Some(name.to_owned()), None),
            RecordsOf::Chunks(ids) => (None, Some(ids.to_vec())),
        };
        self.querying("reading records", move |connection| match chunks {
            Some(chunks) => records::of_chunks(connection, &chunks),
            None => records::all(connection, schema.as_deref()),
        })
        .await
    }

    async fn state(&self) -> Result<BaseState, StoreError> {
        let doing = "reading the state of the base";
        self.viewing(doing, move |view| {
            let read = || counts::state(view.connection, view.scope()).context(doing);
            match view.snapshot {
                Some(snapshot) => snapshot.state(read),
                None => read(),
            }
        })
        .await
    }

    async fn has(&self, content: Derived) -> Result<bool, StoreError> {
        self.querying("looking for derived content", move |connection| {
            counts::has(connection, content)
        })
        .await
    }

    async fn summary(&self) -> Result<BaseSummary, StoreError> {
        self.querying("counting", counts::summary).await
    }
}

/// These sources; unknown ones are left out.
fn sources_by_id(connection: &Connection, ids: &[SourceId]) -> rusqlite::Result<Vec<Source>> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {} FROM sources WHERE id = ?1", rows::SOURCE_COLUMNS))?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(statement.query_row([id.0.cast_signed()], rows::source).optional()?);
    }
    Ok(found)
}
