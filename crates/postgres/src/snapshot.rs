//! Shows a question one state of the base: a transaction that is held. With a filter, views show
//! only what it admits.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use pikerag_knowledge::{DataTable, Filter, StoreError};

use crate::admit;
use crate::inner::{Inner, locked};
use crate::tx::{Access, Tx};

/// One state of the base. When it is dropped, its connection is free for others.
pub(crate) struct Snapshot {
    tx: Arc<Tx>,
    /// The admitted chunks; `None` admits all.
    admitted: Option<Arc<HashSet<u64>>>,
    /// The typed tables, once they are read.
    tables: Mutex<Option<Vec<DataTable>>>,
}

impl Snapshot {
    pub(crate) async fn take(
        inner: &Inner,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Self, StoreError> {
        let mut tx = inner.database.begin(inner.number, Access::Held).await?;
        let admitted = match visible.is_empty() && filter.is_empty() {
            true => None,
            false => {
                let admitted = admit::admit(&mut tx, visible, filter).await;
                let doing = "reading what a filter admits";
                Some(Arc::new(admitted.map_err(|fault| fault.in_words(doing))?))
            }
        };
        Ok(Self { tx: Arc::new(tx), admitted, tables: Mutex::default() })
    }

    pub(crate) fn tx(&self) -> &Arc<Tx> {
        &self.tx
    }

    /// The admitted chunks; `None` admits all.
    pub(crate) fn admitted(&self) -> Option<Arc<HashSet<u64>>> {
        self.admitted.clone()
    }

    /// The typed tables of this state, if they were read before.
    pub(crate) fn tables(&self) -> Option<Vec<DataTable>> {
        locked(&self.tables).clone()
    }

    /// Keeps the typed tables of this state.
    pub(crate) fn keep_tables(&self, tables: &[DataTable]) {
        *locked(&self.tables) = Some(tables.to_vec());
    }
}
