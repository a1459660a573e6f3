//! Uses schemas again that earlier questions derived, with the passages that they read (PIKE-RAG §4.1: organized knowledge
//! returns).

use std::collections::BTreeMap;

use pikerag_knowledge::worked::PassagesRead;
use pikerag_knowledge::{ChunkId, KeptSchema, Millis, ReadPassage, Record, RecordsOf};

use crate::ports::{Ports, SolveError};

/// Earlier schemas that a model may choose from, at most.
const CHOICES: usize = 8;

/// The kept schemas, the latest first, without those whose name is declared. A repeated run sees those of its first time.
///
/// # Errors
/// The base cannot be read.
pub(super) async fn kept(ports: &Ports) -> Result<Vec<KeptSchema>, SolveError> {
    let mut kept = ports.base.kept_schemas().await?;
    let declared = &ports.tables.schemas;
    kept.retain(|kept| declared.iter().all(|declared| declared.name != kept.schema.name));
    kept.retain(|kept| was_there(ports, kept.at));
    kept.truncate(CHOICES);
    Ok(kept)
}

/// Whether something was kept by the time that a repeated run first went on.
fn was_there(ports: &Ports, at: Millis) -> bool {
    ports.feedback_before.is_none_or(|before| at < before)
}

/// What was read under a schema before.
#[derive(Default)]
pub(super) struct Earlier {
    pub(super) records: Vec<Record>,
    pub(super) passages: BTreeMap<ChunkId, ReadPassage>,
}

impl Earlier {
    /// The records and passages of a schema.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn of(ports: &Ports, kept: &KeptSchema) -> Result<Self, SolveError> {
        let mut read = ports.base.passages_read(&kept.schema).await?;
        read.retain(|passage| was_there(ports, passage.at));
        let passages: BTreeMap<ChunkId, ReadPassage> =
            read.into_iter().map(|passage| (passage.chunk, passage)).collect();
        let mut records = ports.base.records(RecordsOf::Schema(&kept.schema.name)).await?;
        records.retain(|record| passages.contains_key(&record.chunk));
        Ok(Self { records, passages })
    }

    /// Adds to the counts of a question what was read before, and what was dropped then.
    pub(super) fn add_to(&self, read: &mut PassagesRead) {
        read.reused = self.passages.len();
        read.read += self.passages.len();
        for passage in self.passages.values() {
            read.invented += passage.invented;
            read.incomplete += passage.incomplete;
        }
    }
}
