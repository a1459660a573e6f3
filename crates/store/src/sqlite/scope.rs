//! Shows on a connection only what a filter admits.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex};

use pikerag_knowledge::VectorSet;
use pikerag_scan::{KnownRows, Parts, Rows};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

use super::locks::locked;
use crate::scopes::next_scope;

/// The views of a filter.
const VIEWS: &str = include_str!("scope.sql");
/// Up to this number, admitted chunks become a list, which SQLite begins a search with. More are only
/// checked where something else finds them.
const LISTED: usize = 1_000;
/// The functions of the views, with the lists that replace them.
const LISTS: [(&str, &str); 2] =
    [("admitted", "temp.admitted"), ("admitted_section", "temp.admitted_sections")];

/// What a pair of filters admits.
pub(super) struct Scope {
    /// Differs from that of every other scope of this process.
    pub(super) number: u64,
    /// The admitted chunks.
    pub(super) chunks: Arc<HashSet<u64>>,
    /// The sections that contain them, at any depth.
    pub(super) sections: Arc<HashSet<u64>>,
    /// The documents that contain them.
    pub(super) sources: HashSet<u64>,
    /// The admitted rows of codes.
    rows: Mutex<BTreeMap<VectorSet, KnownRows>>,
}

impl Scope {
    pub(super) fn new(
        chunks: HashSet<u64>,
        sections: HashSet<u64>,
        sources: HashSet<u64>,
    ) -> Arc<Self> {
        let (chunks, sections) = (Arc::new(chunks), Arc::new(sections));
        Arc::new(Self { number: next_scope(), chunks, sections, sources, rows: Mutex::default() })
    }

    /// From now on shows only this in the transaction of the connection, in which nothing else was
    /// shown before.
    pub(super) fn show(&self, connection: &Connection) -> rusqlite::Result<()> {
        self.show_as(connection, self.chunks.len() <= LISTED)
    }

    fn show_as(&self, connection: &Connection, is_list: bool) -> rusqlite::Result<()> {
        static LISTING: LazyLock<String> = LazyLock::new(|| listing(VIEWS));
        let admitted = [&self.chunks, &self.sections];
        for ((function, _), ids) in LISTS.into_iter().zip(admitted) {
            define(connection, function, Arc::clone(ids))?;
        }
        if !is_list {
            return connection.execute_batch(VIEWS);
        }
        for ((_, list), ids) in LISTS.into_iter().zip(admitted) {
            let table = list.trim_start_matches("temp.");
            connection
                .execute_batch(&format!("CREATE TEMP TABLE {table} (id INTEGER PRIMARY KEY)"))?;
            let mut insert = connection.prepare(&format!("INSERT INTO {list} VALUES (?1)"))?;
            let mut sorted: Vec<i64> = ids.iter().map(|id| id.cast_signed()).collect();
            sorted.sort_unstable();
            for id in sorted {
                insert.execute([id])?;
            }
        }
        connection.execute_batch(&LISTING)
    }

    /// The admitted rows of a set's codes; `None` for a set whose nodes do not belong to one chunk,
    /// document or section.
    pub(super) fn rows(&self, set: VectorSet, codes: &Parts) -> Option<Vec<Arc<Rows>>> {
        let mut known = locked(&self.rows);
        let known = known.entry(set).or_default();
        Some(match set {
            VectorSet::Chunks | VectorSet::Atoms(_) => {
                codes.known_rows(known, |_, owner| self.chunks.contains(&owner))
            }
            VectorSet::Sources => codes.known_rows(known, |id, _| self.sources.contains(&id)),
            VectorSet::Sections => codes.known_rows(known, |id, _| self.sections.contains(&id)),
            VectorSet::Entities | VectorSet::Summaries => return None,
        })
    }
}

/// Frees what the functions of a scope hold, after the transaction that showed it.
pub(super) fn hide(connection: &Connection) {
    for (function, _) in LISTS {
        // A connection on which this fails only holds its sets for longer.
        let _ = connection.remove_function(function, 1);
    }
}

/// Defines `function(id)`: whether the set contains it; null for null.
pub(super) fn define(
    connection: &Connection,
    function: &str,
    ids: Arc<HashSet<u64>>,
) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function(function, 1, flags, move |context| {
        Ok(match context.get_raw(0) {
            ValueRef::Integer(id) => Some(ids.contains(&id.cast_unsigned())),
            _ => None,
        })
    })
}

/// The views with lists instead of functions: `admitted(c.id)` becomes `c.id IN temp.admitted`.
fn listing(views: &str) -> String {
    let mut listing = String::with_capacity(views.len());
    for line in views.split_inclusive('\n') {
        let mut line = line.to_owned();
        if !line.starts_with("--") {
            for (function, list) in LISTS {
                line = replaced(&line, &format!("{function}("), list);
            }
        }
        listing.push_str(&line);
    }
    listing
}

/// Replaces each call of a function, whose argument contains no brackets.
fn replaced(line: &str, call: &str, list: &str) -> String {
    let mut parts = line.split(call);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (argument, rest) = part.split_once(')').unwrap_or((part, ""));
        whole.extend([argument, " IN ", list, rest]);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Base;

    #[test]
    fn functions_become_lists() {
        assert_eq!(
            listing(
                "-- admitted(x) stays\nA NOT admitted(+c.id) B admitted_section(id);\nC admitted(d)"
            ),
            "-- admitted(x) stays\nA NOT +c.id IN temp.admitted B id IN temp.admitted_sections;\n\
             C d IN temp.admitted"
        );
        assert!(
            !listing(VIEWS)
                .lines()
                .any(|line| !line.starts_with("--") && line.contains("admitted("))
        );
    }

    /// Random rows in all tables, without regard to what they mean: each view shows the same rows by
    /// a list and by a function.
    #[test]
    fn lists_and_functions_show_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let connection = base.inner.fresh_reader().unwrap();
        let texts = |sql: &str| -> Vec<String> {
            let mut statement = connection.prepare(sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        connection.execute_batch("BEGIN").unwrap();
        Scope::new(HashSet::new(), HashSet::new(), HashSet::new()).show(&connection).unwrap();
        let views = texts("SELECT name FROM temp.sqlite_schema WHERE type = 'view' ORDER BY 1");
        connection.execute_batch("ROLLBACK").unwrap();
        assert!(views.len() > 30);

        let mut random = 7_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        let writer = Connection::open(folder.path().join(crate::DATABASE)).unwrap();
        super::super::opening::tune(&writer).unwrap();
        writer.execute_batch("PRAGMA foreign_keys = OFF; BEGIN").unwrap();
        for view in &views {
            let columns = texts(&format!("SELECT type FROM pragma_table_info('{view}', 'main')"));
            if columns.is_empty() {
                continue;
            }
            for _ in 0..30 {
                let values: Vec<String> = columns
                    .iter()
                    .map(|kind| match (kind.as_str(), next(6)) {
                        ("BLOB", _) => "x'00'".to_owned(),
                        ("TEXT", number) => {
                            format!("'{}'", ["0", "1", "2", "3", "found", "{}"][number as usize])
                        }
                        (_, 5) => "NULL".to_owned(),
                        (_, number) => number.to_string(),
                    })
                    .collect();
                // Some rows break a rule of their table.
                let _ = writer
                    .execute(&format!("INSERT INTO {view} VALUES ({})", values.join(",")), []);
            }
        }
        writer.execute_batch("COMMIT").unwrap();

        let mut shown = 0;
        for admitted in 0..32_u64 {
            let some =
                |mask: u64| -> HashSet<u64> { (0..5).filter(|id| mask >> id & 1 == 1).collect() };
            let scope = Scope::new(some(admitted), some(admitted.rotate_left(1)), HashSet::new());
            let [list, function] = [true, false].map(|is_list| {
                connection.execute_batch("BEGIN").unwrap();
                scope.show_as(&connection, is_list).unwrap();
                let rows: Vec<Vec<String>> = views
                    .iter()
                    .map(|view| {
                        let mut statement =
                            connection.prepare(&format!("SELECT * FROM {view}")).unwrap();
                        let width = statement.column_count();
                        let text = |row: &rusqlite::Row<'_>| {
                            Ok(format!(
                                "{:?}",
                                (0..width).map(|at| row.get_ref(at)).collect::<Vec<_>>()
                            ))
                        };
                        let mut rows: Vec<String> =
                            statement.query_map([], text).unwrap().map(Result::unwrap).collect();
                        rows.sort();
                        rows
                    })
                    .collect();
                connection.execute_batch("ROLLBACK").unwrap();
                hide(&connection);
                rows
            });
            for ((view, list), function) in views.iter().zip(list).zip(function) {
                assert_eq!(list, function, "{view}, admitted {admitted:b}");
                shown += list.len();
            }
        }
        assert!(shown > 1_000, "{shown}");
    }
}
