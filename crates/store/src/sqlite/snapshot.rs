//! Shows a question one state of the base: a read transaction that is held, and full text from the
//! same moment. With a filter, views show only what it admits.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use pikerag_knowledge::{BaseState, DataTable, Filter, StoreError, VectorSet, cosine};
use pikerag_scan::{Best, CODES_ERR, Near, Parts, Rows};
use rusqlite::{Connection, OptionalExtension};

use super::counters::{TEXT_GENERATION, counter};
use super::gate::Held;
use super::inner::Inner;
use super::locks::locked;
use super::scope::{self, Scope};
use super::threads::Place;
use super::{admit, rows, vectors};
use crate::error::Context;
use crate::fulltext::{Admitted, TextSnapshot, without_panic};

/// One state of the base. When it is dropped, its connection is free for others.
pub(super) struct Snapshot {
    inner: Arc<Inner>,
    /// In a transaction from the beginning to the end of the snapshot.
    connection: Mutex<Option<Connection>>,
    /// Full text, and the chunks that may be found in it.
    text: Mutex<(TextSnapshot, Admitted)>,
    /// What a filter admits; `None` without a filter.
    scope: Option<Arc<Scope>>,
    codes: Mutex<BTreeMap<VectorSet, AdmittedCodes>>,
    /// The typed tables, once they are read.
    tables: Mutex<Option<Vec<DataTable>>>,
    /// The size and the embedder, once they are read.
    state: Mutex<Option<BaseState>>,
    /// Released after the connection, for the next question.
    _place: (Held, Place),
}

/// The fewest candidates by codes that are scored again exactly, unless the rest is clearly worse.
const RESCORED: usize = 50;

/// The codes of a set, and the admitted rows of each part.
pub(super) type AdmittedCodes = (Parts, Option<Arc<Vec<Arc<Rows>>>>);

impl Snapshot {
    pub(super) fn take(
        inner: Arc<Inner>,
        visible: &Filter,
        filter: &Filter,
        place: (Held, Place),
    ) -> Result<Self, StoreError> {
        let doing = "taking a snapshot of the base";
        let connection = inner.reader()?;
        connection.execute_batch("BEGIN").context(doing)?;
        // The first read fixes the state.
        let generation = counter(&connection, TEXT_GENERATION).context(doing)?;
        let index = inner.text_at(&connection)?;
        let text = index.snapshot();
        let stamp = inner.stamp(generation);
        let scope = match visible.is_empty() && filter.is_empty() {
            true => None,
            false => Some(admit::admit(&connection, &inner.scopes, visible, filter)?),
        };
        let found = match &scope {
            Some(scope) => Some(Arc::clone(&scope.chunks)),
            // Another writer committed since, so full text may contain chunks that this state does
            // not have.
            None if index.stamp()? != stamp => Some(Arc::new(all(&connection).context(doing)?)),
            None => None,
        };
        Ok(Self {
            inner,
            connection: Mutex::new(Some(connection)),
            text: Mutex::new((text, found)),
            scope,
            codes: Mutex::default(),
            tables: Mutex::default(),
            state: Mutex::default(),
            _place: place,
        })
    }

    pub(super) fn view<T>(
        &self,
        what: &str,
        work: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let connection = locked(&self.connection);
        // It is taken out only when the snapshot is dropped.
        let Some(connection) = connection.as_ref() else {
            return Err(StoreError::Missing { what: format!("the snapshot for {what}") });
        };
        work(&View { inner: &self.inner, connection, snapshot: Some(self) })
    }

    /// Full text, and the chunks that may be found in it.
    pub(super) fn text(&self) -> (TextSnapshot, Admitted) {
        locked(&self.text).clone()
    }

    /// Replaces full text that proved to be damaged by rebuilt full text, which may show a later
    /// state.
    pub(super) fn replace_text(
        &self,
        connection: &Connection,
        rebuilt: TextSnapshot,
    ) -> Result<(TextSnapshot, Admitted), StoreError> {
        let admitted = match self.admitted() {
            Some(admitted) => admitted,
            None => Arc::new(all(connection).context("reading chunks")?),
        };
        let replaced = (rebuilt, Some(admitted));
        locked(&self.text).clone_from(&replaced);
        Ok(replaced)
    }

    /// The typed tables of this state, read once.
    pub(super) fn tables(
        &self,
        read: impl FnOnce() -> Result<Vec<DataTable>, StoreError>,
    ) -> Result<Vec<DataTable>, StoreError> {
        once(&self.tables, read)
    }

    /// The size and the embedder of this state, read once.
    pub(super) fn state(
        &self,
        read: impl FnOnce() -> Result<BaseState, StoreError>,
    ) -> Result<BaseState, StoreError> {
        once(&self.state, read)
    }

    /// The chunks that a filter admits; `None` without a filter.
    pub(super) fn admitted(&self) -> Option<Arc<HashSet<u64>>> {
        self.scope.as_ref().map(|scope| Arc::clone(&scope.chunks))
    }

    /// The codes of this state, and the admitted rows; computed once per set.
    pub(super) fn codes(
        &self,
        connection: &Connection,
        set: VectorSet,
    ) -> Result<AdmittedCodes, StoreError> {
        if let Some(held) = locked(&self.codes).get(&set) {
            return Ok(held.clone());
        }
        let codes = self.inner.codes(connection, set)?;
        let rows = match self.scope.as_ref().map(|scope| scope.rows(set, &codes)) {
            None => None,
            Some(Some(known)) => Some(known),
            Some(None) => {
                let nodes = vectors::admitted(connection, set).context("reading vectors")?;
                Some(codes.rows(|id, _| nodes.contains(&id)))
            }
        };
        let found = (codes, rows.map(Arc::new));
        locked(&self.codes).insert(set, found.clone());
        Ok(found)
    }
}

/// What is held; read first if nothing is.
fn once<T: Clone>(
    held: &Mutex<Option<T>>,
    read: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut held = locked(held);
    match held.as_ref() {
        Some(known) => Ok(known.clone()),
        None => Ok(held.insert(read()?).clone()),
    }
}

/// One state of the base, for a read.
pub(super) struct View<'a> {
    pub(super) inner: &'a Inner,
    pub(super) connection: &'a Connection,
    pub(super) snapshot: Option<&'a Snapshot>,
}

impl View<'_> {
    /// Searches full text in this state, or in the closest available one, for admitted chunks. An
    /// index that proves to be damaged is rebuilt.
    pub(super) fn in_text<T>(
        &self,
        search: impl Fn(&TextSnapshot, Admitted) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let doing = "searching the full-text index";
        let (text, admitted) = match self.snapshot {
            Some(snapshot) => snapshot.text(),
            None => (self.inner.text_at(self.connection)?.snapshot(), None),
        };
        let failed = match without_panic(doing, || search(&text, admitted)) {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        let rebuilt = self.inner.rebuilt_text(failed)?.snapshot();
        let (text, admitted) = match self.snapshot {
            Some(snapshot) => snapshot.replace_text(self.connection, rebuilt)?,
            None => (rebuilt, None),
        };
        without_panic(doing, || search(&text, admitted))
    }

    /// Whether a filter limits what is visible.
    pub(super) fn is_filtered(&self) -> bool {
        self.scope().is_some()
    }

    /// The chunks that a filter admits; `None` without a filter.
    pub(super) fn admitted(&self) -> Option<Arc<HashSet<u64>>> {
        self.snapshot.and_then(Snapshot::admitted)
    }

    /// What a filter admits; `None` without a filter.
    pub(super) fn scope(&self) -> Option<&Scope> {
        self.snapshot.and_then(|snapshot| snapshot.scope.as_deref())
    }

    /// The codes of a set in this state, and the admitted rows.
    pub(super) fn codes(&self, set: VectorSet) -> Result<AdmittedCodes, StoreError> {
        match self.snapshot {
            Some(snapshot) => snapshot.codes(self.connection, set),
            None => Ok((self.inner.codes(self.connection, set)?, None)),
        }
    }

    /// The `k` nearest of a set with exact scores, per query.
    pub(super) fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vec<f32>],
        k: usize,
        min_score: f32,
        exclude: &HashSet<u64>,
    ) -> Result<Vec<Vec<Near>>, StoreError> {
        let (codes, rows) = self.codes(set)?;
        let wanted = if k == 0 { 0 } else { RESCORED.max(4 * k) };
        let mut lists =
            codes.nearest(queries, wanted, min_score, exclude, rows.as_deref().map(Vec::as_slice));
        let sql = format!("SELECT vector FROM {} WHERE node = ?1", vectors::table(set));
        let mut statement = self.connection.prepare_cached(&sql).context("reading vectors")?;
        for (list, query) in lists.iter_mut().zip(queries) {
            let mut best = Best::new(k);
            for near in &*list {
                // The rest of the list resembles the query less than the best `k` do.
                if near.score + CODES_ERR < best.worst() {
                    break;
                }
                let vector = statement
                    .query_row([near.id.cast_signed()], |row| {
                        Ok(rows::floats(row.get_ref(0)?.as_blob()?))
                    })
                    .optional()
                    .context("reading vectors")?;
                // Without a vector: another process deleted it since the codes were read.
                if let Some(vector) = vector {
                    let score = cosine(query, &vector);
                    if min_score <= score && score.is_finite() {
                        best.offer(Near { score, ..*near });
                    }
                }
            }
            *list = best.sorted();
        }
        Ok(lists)
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let connection = locked(&self.connection).take();
        // Views and their content go with the transaction; a connection that cannot end it is
        // closed.
        if let Some(connection) = connection
            && connection.execute_batch("ROLLBACK").is_ok()
        {
            if self.scope.is_some() {
                scope::hide(&connection);
            }
            self.inner.put_back(connection);
        }
    }
}

fn all(connection: &Connection) -> rusqlite::Result<HashSet<u64>> {
    connection
        .prepare_cached("SELECT id FROM chunks")?
        .query_map([], |row| rows::id(row, 0))?
        .collect()
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{CallOrigin, CallRecord, Ledger, Usage};

    use super::*;
    use crate::Base;

    #[tokio::test]
    async fn what_a_filter_admits_is_kept_until_documents_change() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let law = Filter { conditions: vec!["folder=law".parse().unwrap()] };
        let scope = async || {
            let held = base.seen_through(&Filter::default(), &law).await.unwrap();
            held.view("a test", |view| Ok(view.snapshot.and_then(|held| held.scope.clone())))
                .unwrap()
                .unwrap()
        };
        let first = scope().await;
        let call = CallRecord {
            key: "k".to_owned(),
            role: "answer".to_owned(),
            model: "fake".to_owned(),
            request: "x".to_owned(),
            reply: "y".to_owned(),
            usage: Usage::default(),
            unusable: false,
            origin: CallOrigin::default(),
        };
        base.keep_all(vec![call]).await.unwrap();
        assert!(Arc::ptr_eq(&first, &scope().await), "a reply changes no filter");
        // Another process may change them, too.
        let other = Connection::open(folder.path().join(crate::DATABASE)).unwrap();
        let file = "INSERT INTO files VALUES ('law/a.md', 'h', 'r')";
        let source = "INSERT INTO sources VALUES (1, 'law/a.md', 'law/a.md', 't', 'm', 'h', NULL, '{}', 'x', NULL)";
        let chunk = "INSERT INTO chunks(id, source, headings, ordinal, kind, text, span_start, span_end, hidden, generation)
             VALUES (5, 1, '[]', 0, 'text', 'x', 0, 1, 0, 1)";
        other.execute_batch(&format!("{file}; {source}; {chunk};")).unwrap();
        let next = scope().await;
        assert_eq!((first.chunks.len(), next.chunks.len(), next.sources.len()), (0, 1, 1));
        other.execute_batch("UPDATE sources SET uri = 'tea/a.md'").unwrap();
        assert_eq!(scope().await.chunks.len(), 0);
    }

    /// A new table needs a view for filters, or an entry below that says why not.
    #[test]
    fn every_table_has_a_view_for_filters() {
        /// No question reads these: counters, the ledger with its origins, runs, jobs, original
        /// files with their corrections, and rows that will be deleted. Tag pairs bring their
        /// samples along.
        const OTHERS: [&str; 20] = [
            "call_sources",
            "calls",
            "claims",
            "corrections",
            "data_gone",
            "forgotten_runs",
            "gone",
            "job_files",
            "job_leases",
            "jobs",
            "meta",
            "originals",
            "refusals",
            "run_calls",
            "run_events",
            "run_sources",
            "runs",
            "tag_samples",
            "templates",
            "vector_log",
        ];
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let connection = base.inner.reader().unwrap();
        let none = Filter { conditions: vec!["folder=nowhere".parse().unwrap()] };
        connection.execute_batch("BEGIN").unwrap();
        let scopes = &base.inner.scopes;
        let scope = admit::admit(&connection, scopes, &Filter::default(), &none).unwrap();
        assert_eq!(scope.chunks.len(), 0);
        let names = |schema: &str, kind: &str| -> Vec<String> {
            let sql = format!("SELECT name FROM {schema} WHERE type = '{kind}' ORDER BY name");
            let mut statement = connection.prepare(&sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let views = names("temp.sqlite_schema", "view");
        let mut tables = names("main.sqlite_schema", "table");
        tables.retain(|table| !views.contains(table) && !table.starts_with("sqlite_"));
        assert_eq!(tables, OTHERS);
        for view in views {
            connection.prepare(&format!("SELECT * FROM {view}")).unwrap();
        }
    }
}
