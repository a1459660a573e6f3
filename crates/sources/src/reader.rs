//! Gives the tables of databases to indexing as files.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_indexing::{DatabaseFault, FileError, FileReader, ReadFile};
use pikerag_knowledge::{KnowledgeWriter, error_chain};
use tokio::sync::{Mutex, MutexGuard};

use crate::snapshot::Snapshot;
use crate::stored::stored_rows;

/// A reader of tables by their names. Each database is read by one statement at a time.
pub struct DatabaseReader {
    /// The snapshot of each database; `None` after [`FileReader::finish`].
    snapshots: Vec<Mutex<Option<Snapshot>>>,
    /// The database of each table.
    places: HashMap<String, usize>,
    /// The base, whose rows need not be read again; `None` if there is none yet.
    base: Option<Arc<dyn KnowledgeWriter>>,
}

impl DatabaseReader {
    /// A reader of these databases for a base.
    pub fn new(snapshots: Vec<Snapshot>, base: Option<Arc<dyn KnowledgeWriter>>) -> Self {
        let mut places = HashMap::new();
        for (place, snapshot) in snapshots.iter().enumerate() {
            places.extend(snapshot.names().iter().map(|name| (name.clone(), place)));
        }
        let snapshots = snapshots.into_iter().map(|snapshot| Mutex::new(Some(snapshot))).collect();
        Self { snapshots, places, base }
    }

    /// The snapshot that holds a table.
    async fn snapshot(&self, name: &str) -> Result<MutexGuard<'_, Option<Snapshot>>, FileError> {
        let place = self.places.get(name).and_then(|place| self.snapshots.get(*place));
        match place {
            Some(place) => Ok(place.lock().await),
            None => Err(FileError::Missing),
        }
    }
}

#[async_trait]
impl FileReader for DatabaseReader {
    async fn hash(&self, path: &str) -> Result<String, FileError> {
        let mut snapshot = self.snapshot(path).await?;
        let snapshot = snapshot.as_mut().ok_or_else(closed)?;
        Ok(snapshot.hash(path).await?)
    }

    async fn parse(&self, path: &str) -> Result<ReadFile, FileError> {
        let mut snapshot = self.snapshot(path).await?;
        let snapshot = snapshot.as_mut().ok_or_else(closed)?;
        let layout = snapshot.layout(path).filter(|layout| layout.changed.is_some());
        let stored = match (layout, &self.base) {
            (Some(layout), Some(base)) => {
                let stored = stored_rows(base.as_ref(), path, layout).await;
                stored.map_err(|error| FileError::Unreadable { reason: error_chain(&error) })?
            }
            _ => HashMap::new(),
        };
        Ok(snapshot.read(path, stored).await?)
    }

    async fn finish(&self) {
        for snapshot in &self.snapshots {
            drop(snapshot.lock().await.take());
        }
    }
}

fn closed() -> FileError {
    DatabaseFault::Lost { reason: "it is closed".to_owned() }.into()
}
