//! Caches the catalogs of typed tables that questions are compared with, so that no question reads the values
//! of large tables again.

use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use pikerag_knowledge::data::{ColumnRef, DataTable};
use pikerag_knowledge::{KnowledgeBase, StoreError};
use pikerag_tables::{Catalog, TableView};

/// Catalogs that are kept, at most: one for each state of a base that callers see.
const KEPT: usize = 8;
/// Values of a column that questions are compared with, at most.
const VALUES: usize = 10_000;

/// Catalogs by a hash of the tables' descriptions, the last used first.
#[derive(Default)]
pub struct Catalogs(Mutex<VecDeque<(u64, Arc<Catalog>)>>);

impl Catalogs {
    /// The catalog of the tables that a base shows.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(crate) async fn of(&self, base: &dyn KnowledgeBase) -> Result<Arc<Catalog>, StoreError> {
        let tables = base.data_tables().await?;
        let key = key(&tables);
        if let Some(catalog) = self.find(key) {
            return Ok(catalog);
        }
        let catalog = Arc::new(read(base, tables).await?);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front((key, Arc::clone(&catalog)));
        kept.truncate(KEPT);
        Ok(catalog)
    }

    fn find(&self, key: u64) -> Option<Arc<Catalog>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| *known == key)?;
        let found = kept.remove(at)?;
        let catalog = Arc::clone(&found.1);
        kept.push_front(found);
        Some(catalog)
    }
}

/// The hash of the tables' descriptions: rows, documents, ranges and the most frequent values. A changed
/// value that alters none of these is not found in questions until the next change. Figures are read from the
/// tables themselves.
fn key(tables: &[DataTable]) -> u64 {
    let mut hasher = DefaultHasher::new();
    // A table is plain data: writing it does not fail.
    serde_json::to_string(tables).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

async fn read(base: &dyn KnowledgeBase, tables: Vec<DataTable>) -> Result<Catalog, StoreError> {
    let mut views = Vec::new();
    for table in tables {
        let mut values = Vec::with_capacity(table.columns.len());
        for column in &table.columns {
            let mut own = Vec::new();
            if !column.kind.is_numeric() && !column.kind.is_time() {
                let column = ColumnRef { table: table.name.clone(), column: column.sql.clone() };
                let found = base.distinct(&column, VALUES).await?;
                own.extend(found.into_iter().map(|(value, _)| value.to_string()));
            }
            values.push(own);
        }
        views.push(TableView::new(table, values));
    }
    Ok(Catalog { tables: views })
}
