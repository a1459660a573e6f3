//! Which records are there to reckon with? Those under schemas that somebody declared; where none of them fits a question,
//! what the tables that it finds hold, read under a schema that is told from their columns (PIKE-RAG §5.4, knowledge
//! structuring).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pikerag_knowledge::worked::{Coverage, NoRecord};
use pikerag_knowledge::{
    Chunk, ChunkId, ChunksOf, Event, Record, RecordOrigin, RecordSchema, Role, Source, SourceId,
    Which, file_part,
};
use pikerag_language::lexicon::concepts;
use pikerag_records::unify::{Unified, unify};
use pikerag_records::{plain_records, propose_from_columns};

use crate::candidates::fetch;
use crate::ports::{Ports, SolveError};
use crate::retrieval::{RetrievalParams, retrieve};
use crate::run::Run;
use pikerag_records::inquiry;

/// Chunks that are looked at for tables.
const LOOKED_AT: usize = 24;
/// Documents whose tables are read for one question, at most.
const READ: usize = 500;
/// Chunks of tables, at most: larger ones are declared, or each question would read them all.
const CHUNKS: usize = 20_000;
/// Chunks that are fetched at once.
const PAGE: usize = 512;
/// Documents that say the same of themselves before that is taken for records; of more than so many they are declared, or
/// each question would read them all.
const ALIKE: std::ops::RangeInclusive<usize> = 3..=5_000;
/// Values of a column that its type is told from, at most.
const VALUES: usize = 500;

/// The records of one schema, and what they tell of.
pub(crate) struct Collection {
    pub(crate) schema: RecordSchema,
    pub(crate) is_declared: bool,
    /// In the order in which they are believed: plain ones before those that a model read, then by document.
    pub(crate) records: Vec<Record>,
    pub(crate) unified: Unified,
    /// What the names of their files are about.
    titles: BTreeSet<String>,
    /// How many documents could be seen, and how many of them hold records.
    pub(crate) coverage: Coverage,
}

impl Collection {
    /// As a question is held against it.
    pub(crate) fn source(&self) -> inquiry::Source<'_> {
        inquiry::Source { schema: &self.schema, frame: &self.unified.frame, titles: &self.titles }
    }

    fn of(
        schema: RecordSchema,
        is_declared: bool,
        mut records: Vec<Record>,
        documents: usize,
        why_none: NoRecord,
    ) -> Self {
        records.sort_by_key(|record| record.origin == RecordOrigin::Model);
        let unified = unify(&schema, &records);
        let with: BTreeSet<SourceId> = records.iter().map(|record| record.source).collect();
        let without = documents.saturating_sub(with.len());
        let files: BTreeSet<&str> = records.iter().map(|record| file_part(&record.uri)).collect();
        let stems =
            files.iter().take(50).filter_map(|file| file.rsplit('/').next()?.split('.').next());
        let coverage = Coverage {
            documents,
            with_records: with.len(),
            without: if without == 0 { Vec::new() } else { vec![(why_none, without)] },
            records: records.len(),
            things: unified.frame.things.len(),
            conflicts: unified.conflicts.len(),
            ..Coverage::default()
        };
        let titles = stems.flat_map(concepts).collect();
        Self { schema, is_declared, records, unified, titles, coverage }
    }

    /// Tells the trace what was gathered.
    pub(crate) fn tell(&self, run: &mut Run) {
        run.push(Event::Structured {
            schema: self.schema.name.clone(),
            is_declared: self.is_declared,
            coverage: self.coverage.clone(),
        });
    }
}

/// The records under each declared schema that has any.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn declared(ports: &Ports) -> Result<Vec<Collection>, SolveError> {
    let mut found = Vec::new();
    if ports.tables.engine.is_none() {
        return Ok(found);
    }
    let mut documents = None;
    for schema in ports.tables.schemas.iter() {
        let records = ports.base.records(Some(&schema.name)).await?;
        if records.is_empty() {
            continue;
        }
        let all = match documents {
            Some(all) => all,
            None => ports.base.sources(Which::All).await?.len(),
        };
        documents = Some(all);
        let is_read = schema.model && ports.models.of(Role::Extract).is_some();
        let why = if is_read { NoRecord::NotFound } else { NoRecord::NotPlain };
        found.push(Collection::of(schema.clone(), true, records, all, why));
    }
    Ok(found)
}

/// The records of the tables that a question finds, and of documents of one file that say the same things of themselves:
/// each kind of table under a schema of its own. What is read so is kept nowhere.
///
/// # Errors
/// See [`SolveError`].
pub(crate) async fn from_tables(ports: &Ports, query: &str) -> Result<Vec<Collection>, SolveError> {
    if ports.tables.engine.is_none() {
        return Ok(Vec::new());
    }
    let params = RetrievalParams { chunks: LOOKED_AT, ..RetrievalParams::auto() };
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
        // Those that were found come first, should there be too many.
        let mut read: Vec<&Source> = sources.iter().filter(is_table).collect();
        read.sort_by_key(|source| !hit.contains(&source.id));
        read.truncate(READ);
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
        .chunks_of(ChunksOf::Sources(sources), CHUNKS)
        .await?
        .into_iter()
        .flat_map(|list| list.chunks)
        .collect();
    let mut tables = Vec::new();
    if CHUNKS < ids.len() {
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
    is_any.then(|| Collection::of(schema, false, records, documents, NoRecord::NoTable))
}

/// Records that documents of one file are: each has the same fields.
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
            .chunks_of(ChunksOf::Sources(&ids), CHUNKS)
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
