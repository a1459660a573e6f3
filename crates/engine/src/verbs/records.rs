//! Lists typed records and proposes schemas for them (`records`, `schema propose`).

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use pikerag_knowledge::{
    Account, Chunk, ChunkId, ChunkSet, Filter, KnowledgeBase, KnowledgeWriter, Record,
    RecordSchema, RecordsOf, Role, Stage, Which, file_part, file_uri,
};
use pikerag_records::{propose_by_model, propose_from_columns};
use serde::Serialize;

use crate::base::Base;
use crate::engine::Session;
use crate::error::{EngineError, Result};

/// The most chunks in the prompt that proposes schemas, and their bytes in total.
const SAMPLE: usize = 24;
const SAMPLE_BYTES: usize = 24_000;
/// The most values of a column that determine its type.
const VALUES: usize = 500;
/// The fewest documents with the same metadata fields for a proposal.
const ALIKE: usize = 3;

/// The records to list.
#[derive(Clone, Debug, Default)]
pub struct RecordsRequest {
    /// The schema of the records; `None` for all.
    pub schema: Option<String>,
    /// The part of the base that may be seen.
    pub filter: Filter,
}

/// The source of proposals.
#[derive(Clone, Debug, Default)]
pub struct ProposeRequest {
    /// Files and folders of the base; empty for the whole base.
    pub paths: Vec<PathBuf>,
}

/// Schemas that could be declared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProposeResponse {
    /// Schemas from tables and documents' metadata, then from the model; no two have the same
    /// fields or name.
    pub records: Vec<RecordSchema>,
}

/// Lists typed records.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{RecordsRequest, records};
///
/// let request = RecordsRequest { schema: Some("approval".to_owned()), ..Default::default() };
/// for record in records(session, &request).await? {
///     let approved = record.field("approved").map(|field| field.raw.as_str());
///     println!("{}: {approved:?}", record.uri);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn records(session: &Session, request: &RecordsRequest) -> Result<Vec<Record>> {
    let seen = session.snapshot(&session.base_in_part().await?, &request.filter).await?;
    Ok(seen.records(request.schema.as_deref().map_or(RecordsOf::All, RecordsOf::Schema)).await?)
}

/// Proposes schemas from the base's tables and metadata; if a chat model is set, also from its
/// texts.
///
/// # Errors
/// There is no base, it cannot be read, or the model's call failed.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::settings::declaration;
/// use pikerag_engine::{ProposeRequest, propose_schemas};
///
/// let request = ProposeRequest { paths: vec!["tables".into()] };
/// for schema in propose_schemas(session, &request).await?.records {
///     println!("{}", declaration(&schema)); // As `pikerag.toml` declares it.
/// }
/// # Ok(())
/// # }
/// ```
pub async fn propose_schemas(
    session: &Session,
    request: &ProposeRequest,
) -> Result<ProposeResponse> {
    let base = session.base().await?;
    let mut kept: Vec<RecordSchema> = Vec::new();
    for mut schema in session.unless_cancelled(proposed(session, &base, request)).await? {
        if kept.iter().any(|held| held.fields == schema.fields) {
            continue;
        }
        let name = schema.name.clone();
        let mut n = 1;
        while kept.iter().any(|held| held.name == schema.name) {
            n += 1;
            schema.name = format!("{name}_{n}");
        }
        kept.push(schema);
    }
    Ok(ProposeResponse { records: kept })
}

async fn proposed(
    session: &Session,
    base: &Base,
    request: &ProposeRequest,
) -> Result<Vec<RecordSchema>> {
    let names = session.names(base).await?;
    let under = names.under(&request.paths).into_iter();
    let files: HashSet<String> = under.map(|file| file_uri(&file.path).into_owned()).collect();
    let wanted = |uri: &str| request.paths.is_empty() || files.contains(file_part(uri));
    // No chunk has done this stage, so all are pending.
    let ids =
        base.pending(&Stage("propose".to_owned()), ChunkSet::Searchable, None, usize::MAX).await?;
    let mut proposed = from_tables(&**base, &ids, &wanted).await?;
    proposed.extend(from_metadata(&**base, &wanted).await?);
    if let Some(model) = session.tools(base).await?.models.of(Role::Extract) {
        let sample = sample(&**base, &ids, &wanted).await?;
        if !sample.is_empty() {
            let by_model = propose_by_model(model, &sample, &mut Account::default()).await;
            proposed.extend(by_model.map_err(EngineError::NoProposal)?);
        }
    }
    Ok(proposed)
}

type Columns = Vec<(String, Vec<String>)>;

/// Proposes schemas from tables that share a header, the largest first.
async fn from_tables(
    base: &dyn KnowledgeWriter,
    ids: &[ChunkId],
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<RecordSchema>> {
    let mut found: BTreeMap<Vec<String>, (String, usize, Columns)> = BTreeMap::new();
    for page in ids.chunks(512) {
        for chunk in base.chunks(page).await? {
            let Some(table) = chunk.table.as_ref().filter(|table| !table.header.is_empty()) else {
                continue;
            };
            if !wanted(&chunk.uri) {
                continue;
            }
            let held = found.entry(table.header.clone()).or_insert_with(|| {
                let columns = table.header.iter().map(|name| (name.clone(), Vec::new())).collect();
                (chunk.title.clone(), 0, columns)
            });
            held.1 += table.rows.len();
            for row in &table.rows {
                for (place, (_, values)) in held.2.iter_mut().enumerate() {
                    if values.len() < VALUES {
                        values.push(row.get(place).cloned().unwrap_or_default());
                    }
                }
            }
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(found.iter().filter_map(|(name, _, columns)| propose_from_columns(name, columns)).collect())
}

/// Proposes schemas from documents' metadata, if enough documents of a file have the same fields.
async fn from_metadata(
    base: &dyn KnowledgeBase,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<RecordSchema>> {
    let mut found: BTreeMap<(String, Vec<String>), (usize, Columns)> = BTreeMap::new();
    for source in base.sources(Which::All).await? {
        if source.metadata.is_empty() || !wanted(&source.uri) {
            continue;
        }
        let file = file_part(&source.uri).to_owned();
        let names: Vec<String> = source.metadata.keys().cloned().collect();
        let held = found.entry((file, names)).or_default();
        held.0 += 1;
        let values = source.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (place, (name, value)) in
            [("title", source.title.as_str())].into_iter().chain(values).enumerate()
        {
            if held.1.len() <= place {
                held.1.push((name.to_owned(), Vec::new()));
            }
            if let Some((_, values)) =
                held.1.get_mut(place).filter(|(_, values)| values.len() < VALUES)
            {
                values.push(value.to_owned());
            }
        }
    }
    let alike = found.into_iter().filter(|(_, (documents, _))| ALIKE <= *documents);
    let named = alike.map(|((file, _), (_, columns))| {
        let stem =
            file.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default();
        (stem.to_owned(), columns)
    });
    Ok(named.filter_map(|(name, columns)| propose_from_columns(&name, &columns)).collect())
}

/// Chunks from the whole base, as many as fit into a prompt.
async fn sample(
    base: &dyn KnowledgeWriter,
    ids: &[ChunkId],
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<Chunk>> {
    // Identifiers are hashes, so their order is random.
    let mut sample = Vec::new();
    let mut bytes = 0;
    for page in ids.chunks(512) {
        for chunk in base.chunks(page).await? {
            if !wanted(&chunk.uri) || chunk.table.is_some() {
                continue;
            }
            bytes += chunk.text.len();
            if SAMPLE <= sample.len() || (SAMPLE_BYTES < bytes && !sample.is_empty()) {
                return Ok(sample);
            }
            sample.push(chunk);
        }
    }
    Ok(sample)
}
