//! What does reasoning read? The [`KnowledgeBase`] port over SQLite and its derived indexes.
// tidy: long because a port is one trait, and a trait is implemented in one block.

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, AtomKind, BaseSummary, Chunk, ChunkId, Community, Entity, EntityId, Image, KnowledgeBase,
    Mentions, NameKey, Record, Reference, Relation, Scored, SectionId, Source, SourceId,
    StoreError, Summary, SummaryId, Vector, VectorSet,
};
use rusqlite::{OptionalExtension, params};

use super::rows::limit_of;
use super::{Base, counts, graph, layers, names, records, references, rows, tree, vectors};
use crate::error::Context;

#[async_trait]
impl KnowledgeBase for Base {
    async fn nearest_atoms(
        &self,
        kind: AtomKind,
        queries: &[Vector],
        k: usize,
        min_score: f32,
        exclude: &[ChunkId],
    ) -> Result<Vec<Vec<Scored<Atom>>>, StoreError> {
        let (queries, exclude) = (queries.to_vec(), exclude.iter().map(|chunk| chunk.0).collect());
        self.reading("searching atoms", move |inner, connection| {
            let found = inner.nearest(
                connection,
                VectorSet::Atoms(kind),
                &queries,
                k,
                min_score,
                &exclude,
            )?;
            let mut statement = connection
                .prepare_cached("SELECT id, chunk, kind, text FROM atoms WHERE id = ?1")
                .context("reading atoms")?;
            let mut lists = Vec::with_capacity(found.len());
            for near in found {
                let mut list = Vec::with_capacity(near.len());
                for near in near {
                    let item = statement
                        .query_row([near.id.cast_signed()], rows::atom)
                        .context("reading atoms")?;
                    list.push(Scored { item, score: near.score });
                }
                lists.push(list);
            }
            Ok(lists)
        })
        .await
    }

    async fn unrelated_similarity(
        &self,
        kind: AtomKind,
        share: f32,
    ) -> Result<Option<f32>, StoreError> {
        self.reading("comparing atoms", move |inner, connection| {
            Ok(inner.codes(connection, VectorSet::Atoms(kind))?.unrelated_similarity(share))
        })
        .await
    }

    async fn nearest_chunks(
        &self,
        queries: &[Vector],
        k: usize,
        min_score: f32,
    ) -> Result<Vec<Vec<Scored<ChunkId>>>, StoreError> {
        let queries = queries.to_vec();
        self.reading("searching chunks", move |inner, connection| {
            let none = std::collections::HashSet::new();
            let found =
                inner.nearest(connection, VectorSet::Chunks, &queries, k, min_score, &none)?;
            let chunks = |list: Vec<crate::scan::Near>| {
                list.into_iter()
                    .map(|near| Scored { item: ChunkId(near.id), score: near.score })
                    .collect()
            };
            Ok(found.into_iter().map(chunks).collect())
        })
        .await
    }

    async fn similarities(
        &self,
        query: &Vector,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, StoreError> {
        let (query, chunks) = (query.clone(), chunks.to_vec());
        self.reading("comparing chunks", move |inner, connection| {
            let codes = inner.codes(connection, VectorSet::Chunks)?;
            let chunks: Vec<u64> = chunks.iter().map(|chunk| chunk.0).collect();
            Ok(codes.similarities(&query, &chunks))
        })
        .await
    }

    async fn matching_chunks(
        &self,
        words: &str,
        k: usize,
    ) -> Result<Vec<Scored<ChunkId>>, StoreError> {
        let words = words.to_owned();
        self.reading("searching words", move |inner, connection| {
            let mut statement = connection
                .prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")
                .context("reading chunks")?;
            let mut hits = Vec::new();
            for (id, score) in inner.in_text(connection, |index| index.search(&words, k))? {
                // Another process may be ahead of the index that this one sees.
                if statement.exists([id.cast_signed()]).context("reading chunks")? {
                    hits.push(Scored { item: ChunkId(id), score });
                }
            }
            Ok(hits)
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
                let chunk = statement
                    .query_row([id.0.cast_signed()], rows::chunk)
                    .optional()
                    .context("reading chunks")?;
                chunks.push(
                    chunk.ok_or_else(|| StoreError::Missing { what: format!("chunk {id}") })?,
                );
            }
            Ok(chunks)
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

    async fn term_scores(&self, terms: &[String]) -> Result<Vec<Vec<Scored<ChunkId>>>, StoreError> {
        let terms = terms.to_vec();
        self.reading("searching words", move |inner, connection| {
            let scored = |(id, score)| Scored { item: ChunkId(id), score };
            let list = |found: Vec<(u64, f32)>| found.into_iter().map(scored).collect();
            inner.in_text(connection, |index| {
                terms.iter().map(|term| Ok(list(index.scores(term)?))).collect()
            })
        })
        .await
    }

    async fn term_counts(&self, terms: &[String]) -> Result<Vec<usize>, StoreError> {
        let terms = terms.to_vec();
        self.reading("counting words", move |inner, connection| {
            inner.in_text(connection, |index| terms.iter().map(|term| index.count(term)).collect())
        })
        .await
    }

    async fn links_of(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<NameKey>>, StoreError> {
        let chunks = chunks.to_vec();
        self.reading("reading links", move |_, connection| {
            names::links_of(connection, &chunks).context("reading links")
        })
        .await
    }

    async fn chunks_by_title(
        &self,
        keys: &[NameKey],
    ) -> Result<Vec<Vec<(ChunkId, u8)>>, StoreError> {
        let keys = keys.to_vec();
        self.reading("reading names", move |inner, connection| {
            inner.names.chunks_by_title(connection, &keys).context("reading names")
        })
        .await
    }

    async fn mentions(&self, keys: &[NameKey], limit: usize) -> Result<Vec<Mentions>, StoreError> {
        let keys = keys.to_vec();
        self.reading("reading names", move |_, connection| {
            keys.into_iter()
                .map(|key| names::mentions(connection, key, limit).context("reading names"))
                .collect()
        })
        .await
    }

    async fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
    ) -> Result<Vec<Vec<Scored<u64>>>, StoreError> {
        let queries = queries.to_vec();
        self.reading("searching vectors", move |inner, connection| {
            let none = std::collections::HashSet::new();
            let found = inner.nearest(connection, set, &queries, k, min_score, &none)?;
            let scored = |near: crate::scan::Near| Scored { item: near.id, score: near.score };
            Ok(found.into_iter().map(|list| list.into_iter().map(scored).collect()).collect())
        })
        .await
    }

    async fn vectors(
        &self,
        set: VectorSet,
        nodes: &[u64],
    ) -> Result<Vec<Option<Vector>>, StoreError> {
        let nodes = nodes.to_vec();
        self.looking("reading vectors", move |connection| vectors::stored(connection, set, &nodes))
            .await
    }

    async fn entities(&self, ids: &[EntityId]) -> Result<Vec<Entity>, StoreError> {
        let ids = ids.to_vec();
        self.looking("reading entities", move |connection| graph::entities(connection, &ids)).await
    }

    async fn relations_of(&self, entities: &[EntityId]) -> Result<Vec<Relation>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading relations", move |connection| graph::relations_of(connection, &ids))
            .await
    }

    async fn related_to(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<EntityId>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading relations", move |connection| {
            layers::related_to(connection, &ids, limit)
        })
        .await
    }

    async fn chunks_mentioning(
        &self,
        entities: &[EntityId],
    ) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading mentions", move |connection| {
            graph::chunks_mentioning(connection, &ids)
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

    async fn entity_mentions(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Mentions>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading mentions", move |connection| {
            ids.into_iter()
                .map(|entity| layers::entity_mentions(connection, entity, limit))
                .collect()
        })
        .await
    }

    async fn entities_in(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<EntityId>>, StoreError> {
        let ids = chunks.to_vec();
        self.looking("reading mentions", move |connection| graph::entities_in(connection, &ids))
            .await
    }

    async fn communities(&self) -> Result<Vec<Community>, StoreError> {
        self.looking("reading communities", |connection| graph::communities(connection, None)).await
    }

    async fn communities_of(&self, entities: &[EntityId]) -> Result<Vec<Community>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading communities", move |connection| {
            graph::communities(connection, Some(&ids))
        })
        .await
    }

    async fn summaries(&self, ids: &[SummaryId]) -> Result<Vec<Summary>, StoreError> {
        let ids = ids.to_vec();
        self.looking("reading summaries", move |connection| tree::summaries(connection, &ids)).await
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
        self.looking("reading sources", move |connection| references::sources(connection, &ids))
            .await
    }

    async fn references(&self, sources: &[SourceId]) -> Result<Vec<Vec<Reference>>, StoreError> {
        let sources = sources.to_vec();
        self.looking("reading references", move |connection| {
            sources.iter().map(|source| references::from(connection, *source)).collect()
        })
        .await
    }

    async fn referred_by(&self, sources: &[SourceId]) -> Result<Vec<Vec<Reference>>, StoreError> {
        let sources = sources.to_vec();
        self.looking("reading references", move |connection| {
            sources.iter().map(|source| references::to(connection, *source)).collect()
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

    async fn records_of(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<Record>>, StoreError> {
        let chunks = chunks.to_vec();
        self.looking("reading records", move |connection| {
            chunks.iter().map(|chunk| records::of_chunk(connection, *chunk)).collect()
        })
        .await
    }

    async fn summary(&self) -> Result<BaseSummary, StoreError> {
        self.looking("counting", counts::summary).await
    }
}
