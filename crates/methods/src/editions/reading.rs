//! Reads documents as editions, each once for a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pikerag_knowledge::uri::file_path;
use pikerag_knowledge::{CorpusReader, SourceId, StoreError, Which};

use super::Document;
use super::edition::{Edition, Stored};

/// Passages of a document that are read, at most.
const PASSAGES: usize = 64;

/// The documents of one base that were read as editions. Clones share them: a run and its parts read a document once.
#[derive(Clone, Default)]
pub struct ReadEditions(Arc<Mutex<HashMap<SourceId, Arc<Edition>>>>);

impl ReadEditions {
    /// Documents as editions, in their order; those that were not read before are read from `base`.
    pub(super) async fn editions<'a>(
        &self,
        base: &dyn CorpusReader,
        documents: &[&'a Document],
    ) -> Result<Vec<(&'a Document, Arc<Edition>)>, StoreError> {
        let mut unread = documents.to_vec();
        unread.retain(|document| !self.read().contains_key(&document.source));
        if !unread.is_empty() {
            let ids: Vec<SourceId> = unread.iter().map(|document| document.source).collect();
            let sources = base.sources(Which::Of(&ids)).await?;
            for document in unread {
                let source = sources.iter().find(|source| source.id == document.source);
                let date = source.and_then(|source| {
                    ["date", "revdate"].iter().find_map(|key| source.metadata.get(*key))
                });
                let edition = edition(base, document, date.map(String::as_str)).await?;
                self.read().insert(document.source, Arc::new(edition));
            }
        }
        let read = self.read();
        let found = documents.iter().filter_map(|document| {
            let edition = read.get(&document.source)?;
            Some((*document, Arc::clone(edition)))
        });
        Ok(found.collect())
    }

    fn read(&self) -> MutexGuard<'_, HashMap<SourceId, Arc<Edition>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn edition(
    base: &dyn CorpusReader,
    document: &Document,
    date: Option<&str>,
) -> Result<Edition, StoreError> {
    let chunks = base.first_chunks(document.source, PASSAGES).await?;
    let text: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    Ok(Edition::of(Stored {
        path: &file_path(&document.uri),
        title: &document.title,
        text: &text.join("\n"),
        date,
    }))
}
