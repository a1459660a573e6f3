//! Reads passages as records of a schema, several at once; each value is checked against its passage.

use std::collections::{BTreeSet, HashMap};

use futures::{StreamExt, stream};
use pikerag_knowledge::{
    ChatModel, Chunk, ReadPassage, Record, RecordSchema, Role, Source, SourceId, Which,
};
use pikerag_records::{ModelRecords, collected_records, plain_records};

use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// Passages that are read at once.
const AT_ONCE: usize = 8;

/// What was read, and what was dropped.
#[derive(Default)]
pub(super) struct Rows {
    /// The passages that were read, with their records; they may be none.
    pub(super) read: Vec<(ReadPassage, Vec<Record>)>,
    /// Passages whose reading failed.
    pub(super) failed: usize,
}

/// Reads these passages: by rules where they hold rows of the schema, else by a model, a call for each.
///
/// # Errors
/// A call failed, or the base cannot be read. `rows` then holds what was read before.
pub(super) async fn read(
    ports: &Ports,
    run: &mut Run,
    reader: &dyn ChatModel,
    schema: &RecordSchema,
    chunks: &[Chunk],
    rows: &mut Rows,
) -> Result<(), SolveError> {
    let sources: BTreeSet<SourceId> = chunks.iter().map(|chunk| chunk.source).collect();
    let sources: Vec<SourceId> = sources.into_iter().collect();
    let sources: HashMap<SourceId, Source> = ports
        .base
        .sources(Which::Of(&sources))
        .await?
        .into_iter()
        .map(|source| (source.id, source))
        .collect();
    let mut calls = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let plain = sources.get(&chunk.source).map(|source| plain_records(schema, source, chunk));
        let plain = plain.filter(|records| !records.is_empty());
        let mut account = run.account.part();
        calls.push(async move {
            let read = match plain {
                Some(records) => Ok(ModelRecords { records, ..ModelRecords::default() }),
                None => collected_records(reader, schema, chunk, &mut account).await,
            };
            (chunk.id, read, account)
        });
    }
    let at = run.now();
    let mut replies = stream::iter(calls).buffered(AT_ONCE);
    while let Some((chunk, read, account)) = replies.next().await {
        run.account.merge(account);
        match run.one_of_many(Role::Extract, read)? {
            Some(ModelRecords { records, invented, incomplete }) => {
                rows.read.push((ReadPassage { chunk, at, invented, incomplete }, records));
            }
            None => rows.failed += 1,
        }
    }
    Ok(())
}
