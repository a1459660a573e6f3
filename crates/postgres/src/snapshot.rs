//! Shows a question one state of the base: a transaction that is held. With a filter, views show
//! only what it admits.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use pikerag_knowledge::{BaseState, DataTable, Filter, StoreError};

use crate::admit::{self, Scope};
use crate::inner::{Inner, locked};
use crate::tx::{Access, Tx};

/// One state of the base. When it is dropped, its connection is free for others.
pub(crate) struct Snapshot {
    tx: Arc<Tx>,
    /// What a filter admits; `None` without a filter.
    scope: Option<Arc<Scope>>,
    /// The typed tables, once they are read.
    tables: Mutex<Option<Vec<DataTable>>>,
    /// The size and the embedder, once they are read.
    state: Mutex<Option<BaseState>>,
}

impl Snapshot {
    pub(crate) async fn take(
        inner: &Inner,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Self, StoreError> {
        let mut tx = inner.database.begin(inner.number, Access::Held).await?;
        let scope = match visible.is_empty() && filter.is_empty() {
            true => None,
            false => {
                let scope = admit::admit(&mut tx, &inner.scopes, visible, filter).await;
                let doing = "reading what a filter admits";
                Some(scope.map_err(|fault| fault.in_words(doing))?)
            }
        };
        Ok(Self { tx: Arc::new(tx), scope, tables: Mutex::default(), state: Mutex::default() })
    }

    pub(crate) fn tx(&self) -> &Arc<Tx> {
        &self.tx
    }

    /// What a filter admits; `None` without a filter.
    pub(crate) fn scope(&self) -> Option<&Scope> {
        self.scope.as_deref()
    }

    /// The chunks that a filter admits; `None` without a filter.
    pub(crate) fn admitted(&self) -> Option<Arc<HashSet<u64>>> {
        self.scope.as_ref().map(|scope| Arc::clone(&scope.chunks))
    }

    /// The size and the embedder of this state, if they were read before.
    pub(crate) fn state(&self) -> Option<BaseState> {
        locked(&self.state).clone()
    }

    /// Keeps the size and the embedder of this state.
    pub(crate) fn keep_state(&self, state: &BaseState) {
        *locked(&self.state) = Some(state.clone());
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
