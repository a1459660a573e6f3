//! How do chunks become typed records? Schema by schema: first what stands plainly in tables, lines and
//! metadata; then, with a model, what texts say. A changed declaration is read again, and nothing else.

use std::collections::{BTreeSet, HashMap, HashSet};

use pikerag_extract::{asks_model, model_records, plain_records};
use pikerag_knowledge::{
    Account, Chunk, ChunkId, KnowledgeBase, Record, RecordSchema, RecordsBy, Role, Source,
    SourceId, Stage, StoreError,
};

use super::call_batch::{CallBatch, run_calls};
use super::stages::{PAGE, all_pending, chunks};
use super::{Params, Progress, Report, Tools, Watch};

/// Brings records up to the chunks and to what is declared.
pub(super) async fn read_all(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let declared: Vec<(String, u64)> =
        params.records.iter().map(|schema| (schema.name.clone(), schema.hash())).collect();
    tools.base.keep_records(&declared).await?;
    for schema in &params.records {
        read_plain(tools, schema, watch, report).await?;
    }
    for schema in &params.records {
        if report.stopped.is_none() {
            read_texts(tools, params, schema, watch, report).await?;
        }
    }
    Ok(())
}

async fn read_plain(
    tools: &Tools,
    schema: &RecordSchema,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let stage = Stage::records(schema, RecordsBy::Rules);
    let pending = all_pending(tools, &stage).await?;
    let mut done = 0;
    for page in pending.chunks(PAGE) {
        let found = plain(tools.base.as_ref(), schema, page).await?;
        for (_, records) in &found {
            book(report, records);
        }
        tools.base.put_records(&stage, schema.hash(), found).await?;
        done += page.len();
        watch(Progress::Stage { name: "records", done, total: pending.len() });
    }
    Ok(())
}

/// What stands plainly in these chunks.
async fn plain(
    base: &dyn KnowledgeBase,
    schema: &RecordSchema,
    ids: &[ChunkId],
) -> Result<Vec<(ChunkId, Vec<Record>)>, StoreError> {
    let chunks = base.chunks(ids).await?;
    let sources: BTreeSet<SourceId> = chunks.iter().map(|chunk| chunk.source).collect();
    let sources: Vec<SourceId> = sources.into_iter().collect();
    let sources = base.sources_by_id(&sources).await?;
    let sources: HashMap<SourceId, &Source> =
        sources.iter().map(|source| (source.id, source)).collect();
    let read = |chunk: &Chunk| {
        let source = sources.get(&chunk.source);
        let records = source.map(|source| plain_records(schema, source, chunk));
        (chunk.id, records.unwrap_or_default())
    };
    Ok(chunks.iter().map(read).collect())
}

async fn read_texts(
    tools: &Tools,
    params: &Params,
    schema: &RecordSchema,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Extract).filter(|_| schema.model) else {
        return Ok(());
    };
    let stage = Stage::records(schema, RecordsBy::Model);
    let pending = all_pending(tools, &stage).await?;
    let asked = to_ask(tools.base.as_ref(), schema, &pending).await?;
    // The others are done without a word.
    let kept: HashSet<ChunkId> = asked.iter().copied().collect();
    let others: Vec<_> =
        pending.into_iter().filter(|id| !kept.contains(id)).map(|id| (id, Vec::new())).collect();
    tools.base.put_records(&stage, schema.hash(), others).await?;
    let at_once = params.in_flight;
    let batch = CallBatch { name: "reading records", total: asked.len(), at_once, watch };
    let ask = |chunk: Chunk| async move {
        let result = model_records(model, schema, &chunk, &mut Account::default()).await;
        (chunk, result)
    };
    let uri = |chunk: &Chunk| chunk.uri.clone();
    run_calls(batch, chunks(tools, &asked), ask, uri, report, async |came, report| {
        let mut found = Vec::with_capacity(came.len());
        for (chunk, read) in came {
            // An unreadable reply gives no record, and is not asked for again.
            report.unread_records += usize::from(read.is_none());
            let read = read.unwrap_or_default();
            report.invented_values += read.invented;
            book(report, &read.records);
            found.push((chunk.id, read.records));
        }
        tools.base.put_records(&stage, schema.hash(), found).await
    })
    .await
}

/// Of these chunks, those that a model should read: no record stands there plainly.
pub(crate) async fn to_ask(
    base: &dyn KnowledgeBase,
    schema: &RecordSchema,
    ids: &[ChunkId],
) -> Result<Vec<ChunkId>, StoreError> {
    let mut asked = Vec::new();
    for page in ids.chunks(PAGE) {
        let plain = plain(base, schema, page).await?;
        for (chunk, (_, records)) in base.chunks(page).await?.iter().zip(plain) {
            if records.is_empty() && asks_model(schema, chunk) {
                asked.push(chunk.id);
            }
        }
    }
    Ok(asked)
}

fn book(report: &mut Report, records: &[Record]) {
    report.records += records.len();
    let fields = records.iter().flat_map(|record| &record.fields);
    report.untyped_values += fields.filter(|field| field.value.is_none()).count();
}
