//! Builds records of the tables that a question finds, where the base has no typed tables: one of an earlier layout, whose kept
//! runs replay so (PIKE-RAG §5.4, knowledge structuring).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pikerag_knowledge::worked::NoRecord;
use pikerag_knowledge::{Chunk, ChunkId, ChunksOf, Record, Source, SourceId, Which, file_part};
use pikerag_records::{plain_records, propose_from_columns};

use super::Collection;
use crate::candidates::fetch;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};

/// The number of chunks that are searched for tables.
const CHUNKS_SEARCHED: usize = 24;
/// The most documents whose tables are read for one question.
const MOST_READ: usize = 500;
/// The most chunks of tables; a question over more of them finds none.
const MOST_CHUNKS: usize = 20_000;
/// Chunks that are fetched at once.
const PAGE: usize = 512;
/// The number of documents of one file with the same fields that are records.
const ALIKE: std::ops::RangeInclusive<usize> = 3..=5_000;
/// The most values of a column that its type is guessed from.
const VALUES: usize = 500;

/// Returns the records of the tables that a question finds, and of documents of one file that have the same fields: a collection for
/// each kind of table, the largest first. Nothing of them is stored.
///
/// # Errors
/// See [`SolveError`].
pub(crate) async fn from_tables(ports: &Ports, query: &str) -> Result<Vec<Collection>, SolveError> {
    if ports.tables.engine.is_none() {
        return Ok(Vec::new());
    }
    let params = RetrievalParams { chunks: CHUNKS_SEARCHED, ..RetrievalParams::auto() };
    let found = retrieve(ports, query, params).await?;
    let hits = fetch(ports, &found).await?;
    let headers: BTreeSet<Vec<String>> = hits
        .iter()
        .filter_map(|chunk| Some(chunk.table.as_ref()?.header.clone()))
        .filter(|header| 1 < header.len())
        .collect();
    let sources = ports.base.sources(Which::All).await?;
    let by_id: HashMap<SourceId, &Source> =
        sources.iter().map(|source| (source.id, source)).collect();
    let mut found = Vec::new();
    if !headers.is_empty() {
        let hit: BTreeSet<SourceId> = hits.iter().map(|chunk| chunk.source).collect();
        let is_table = |source: &&Source| {
            hit.contains(&source.id)
                || source.media_type.contains("csv")
                || source.media_type.contains("sheet")
        };
        // Found documents come first if there are too many.
        let mut read: Vec<&Source> = sources.iter().filter(is_table).collect();
        read.sort_by_key(|source| !hit.contains(&source.id));
        read.truncate(MOST_READ);
        let ids: Vec<SourceId> = read.iter().map(|source| source.id).collect();
        let chunks = tables_of(ports, &ids).await?;
        for header in &headers {
            let of_kind: Vec<&Chunk> =
                chunks.iter().filter(|chunk| has_header(chunk, header)).collect();
            found.extend(read_under(&of_kind, &by_id, table_columns(&of_kind), sources.len()));
        }
    }
    found.extend(from_fields(ports, &hits, &sources, &by_id).await?);
    found.sort_by(|a, b| {
        b.records.len().cmp(&a.records.len()).then(a.schema.name.cmp(&b.schema.name))
    });
    Ok(found)
}

fn has_header(chunk: &Chunk, header: &[String]) -> bool {
    chunk.table.as_ref().is_some_and(|table| table.header == header)
}

async fn tables_of(ports: &Ports, sources: &[SourceId]) -> Result<Vec<Chunk>, SolveError> {
    let ids: Vec<ChunkId> = ports
        .base
        .chunks_of(ChunksOf::Sources(sources), MOST_CHUNKS)
        .await?
        .into_iter()
        .flat_map(|list| list.chunks)
        .collect();
    let mut tables = Vec::new();
    if MOST_CHUNKS < ids.len() {
        return Ok(tables);
    }
    for page in ids.chunks(PAGE) {
        let chunks = ports.base.chunks(page).await?;
        tables.extend(chunks.into_iter().filter(|chunk| chunk.table.is_some() && !chunk.hidden));
    }
    Ok(tables)
}

type Columns = Vec<(String, Vec<String>)>;

fn table_columns(chunks: &[&Chunk]) -> (String, Columns) {
    let title = chunks.first().map(|chunk| chunk.full_title()).unwrap_or_default();
    let mut columns: Columns = Vec::new();
    for table in chunks.iter().filter_map(|chunk| chunk.table.as_ref()) {
        if columns.is_empty() {
            columns = table.header.iter().map(|name| (name.clone(), Vec::new())).collect();
        }
        for row in &table.rows {
            for (place, (_, values)) in columns.iter_mut().enumerate() {
                if values.len() < VALUES {
                    values.push(row.get(place).cloned().unwrap_or_default());
                }
            }
        }
    }
    (title, columns)
}

fn read_under(
    chunks: &[&Chunk],
    sources: &HashMap<SourceId, &Source>,
    (title, columns): (String, Columns),
    documents: usize,
) -> Option<Collection> {
    let schema = propose_from_columns(&title, &columns)?;
    let read = |chunk: &&Chunk| {
        let source = sources.get(&chunk.source)?;
        Some(plain_records(&schema, source, chunk))
    };
    let records: Vec<Record> = chunks.iter().filter_map(read).flatten().collect();
    let is_any = !records.is_empty();
    is_any.then(|| Collection::of((schema, false), records, documents, NoRecord::NoTable))
}

/// Reads documents of one file that have the same fields as records.
async fn from_fields(
    ports: &Ports,
    hits: &[Chunk],
    sources: &[Source],
    by_id: &HashMap<SourceId, &Source>,
) -> Result<Vec<Collection>, SolveError> {
    let files: BTreeSet<&str> = hits.iter().map(|chunk| file_part(&chunk.uri)).collect();
    let mut kinds: BTreeMap<(&str, Vec<&str>), Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.metadata.is_empty()) {
        let file = file_part(&source.uri);
        if files.contains(file) {
            let names = source.metadata.keys().map(String::as_str).collect();
            kinds.entry((file, names)).or_default().push(source);
        }
    }
    let mut found = Vec::new();
    for ((file, _), of_kind) in
        kinds.into_iter().filter(|(_, of_kind)| ALIKE.contains(&of_kind.len()))
    {
        let mut columns: Columns = Vec::new();
        for source in &of_kind {
            let own = source.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            for (place, (name, value)) in
                std::iter::once(("title", source.title.as_str())).chain(own).enumerate()
            {
                if columns.len() <= place {
                    columns.push((name.to_owned(), Vec::new()));
                }
                if let Some((_, values)) =
                    columns.get_mut(place).filter(|(_, held)| held.len() < VALUES)
                {
                    values.push(value.to_owned());
                }
            }
        }
        let stem =
            file.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
        let ids: Vec<SourceId> = of_kind.iter().map(|source| source.id).collect();
        let chunks: Vec<ChunkId> = ports
            .base
            .chunks_of(ChunksOf::Sources(&ids), MOST_CHUNKS)
            .await?
            .into_iter()
            .filter_map(|list| list.chunks.first().copied())
            .collect();
        let mut first = Vec::new();
        for page in chunks.chunks(PAGE) {
            first.extend(ports.base.chunks(page).await?);
        }
        let first: Vec<&Chunk> = first.iter().collect();
        found.extend(read_under(&first, by_id, (stem.to_owned(), columns), sources.len()));
    }
    Ok(found)
}
