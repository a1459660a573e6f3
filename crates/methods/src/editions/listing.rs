//! Lists the documents of a base that newer editions replace.

use std::collections::BTreeMap;

use pikerag_knowledge::uri::file_uri;
use pikerag_knowledge::{CorpusReader, ReplacedBy, SourceId, StoreError, Which};
use serde::Serialize;
use utoipa::ToSchema;

use super::edition::name_key;
use super::{Document, ReadEditions, replacements};

/// Files of a base whose names are compared, at most: a larger base has no list.
const FILES: usize = 10_000;
/// Documents that are read, at most: those of the first names in alphabetical order.
const DOCUMENTS: usize = 200;

/// A document, and the newest edition that replaces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReplacedDocument {
    /// The file of the older edition.
    pub uri: String,
    /// The newest edition.
    pub by: ReplacedBy,
}

/// The documents among these files that others of them replace, by URI. Documents inside a file are not compared. At most
/// 200 documents are read, those whose names are equal without versions and dates; of more than 10,000 files, none.
///
/// # Errors
/// The base cannot be read.
pub async fn replaced_documents(
    base: &dyn CorpusReader,
    paths: &[&str],
) -> Result<Vec<ReplacedDocument>, StoreError> {
    if FILES < paths.len() {
        return Ok(Vec::new());
    }
    let mut by_name: BTreeMap<Vec<String>, Vec<&str>> = BTreeMap::new();
    for path in paths {
        by_name.entry(name_key(path)).or_default().push(path);
    }
    let alike = by_name.into_values().filter(|paths| 1 < paths.len()).flatten();
    let ids = alike.take(DOCUMENTS).map(|path| SourceId::of(&file_uri(path)));
    let ids: Vec<SourceId> = ids.collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sources = base.sources(Which::Of(&ids)).await?.into_iter();
    let documents: Vec<Document> = sources
        .map(|source| Document { source: source.id, uri: source.uri, title: source.title })
        .collect();
    let mut replaced = Vec::new();
    for found in replacements(base, &ReadEditions::default(), &documents).await? {
        let older = documents.iter().find(|document| document.source == found.older);
        let uri = older.map(|document| document.uri.clone()).unwrap_or_default();
        replaced.push(ReplacedDocument { uri, by: found.by });
    }
    replaced.sort_by(|one, other| one.uri.cmp(&other.uri));
    Ok(replaced)
}
