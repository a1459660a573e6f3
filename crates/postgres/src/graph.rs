//! Stores knowledge that is distilled from many chunks, and reads nodes and edges of the graph.

use std::collections::HashSet;

use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

mod communities;
mod descriptions;
pub(crate) mod distil;
pub(crate) mod entities;
mod export;
mod links;
mod outline;
mod read;
mod references;
mod structured;
pub(crate) mod tags;
pub(crate) mod tree;
mod verified;
mod write;

/// Mentions in reading order, so that two bases with the same documents combine them equally.
const READING_ORDER: &str = "s.uri, c.ordinal, c.id";

/// Those of these chunks that exist: a document may have been deleted while a model ran.
async fn existing(tx: &Tx, chunks: &[i64]) -> Sql<HashSet<u64>> {
    let found = tx.all("SELECT id FROM chunks WHERE id = ANY($1)", &[&chunks]).await?;
    Ok(rows::ids(&found)?.into_iter().collect())
}
