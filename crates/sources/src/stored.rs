//! Finds the rows of a table that the base holds already.

use std::collections::HashMap;

use pikerag_knowledge::{KnowledgeWriter, SourceId, StoreError, Which, document_uri};

use crate::document::FORMAT_FIELD;
use crate::layout::{Cells, Layout};

/// The rows of the table's document in the base, by key. Empty if there are none, if they were
/// converted or laid out otherwise, or if two of them have the same key.
pub(crate) async fn stored_rows(
    base: &dyn KnowledgeWriter,
    name: &str,
    layout: &Layout,
) -> Result<HashMap<Cells, Cells>, StoreError> {
    let source = SourceId::of(&document_uri(name, ""));
    let found = base.sources(Which::Of(&[source])).await?.pop();
    let format = found.as_ref().and_then(|source| source.metadata.get(FORMAT_FIELD));
    if format != Some(&layout.format()) {
        return Ok(HashMap::new());
    }
    let header = layout.header();
    let mut rows = HashMap::new();
    for chunk in base.first_chunks(source, usize::MAX).await? {
        let Some(table) = chunk.table else { continue };
        if table.header != header || table.key != layout.key {
            return Ok(HashMap::new());
        }
        for row in table.rows {
            let key = row.get(..layout.key).unwrap_or_default().to_vec();
            if rows.insert(key, row).is_some() {
                return Ok(HashMap::new());
            }
        }
    }
    Ok(rows)
}
