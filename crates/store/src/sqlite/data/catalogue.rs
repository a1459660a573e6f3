//! Reads the tables of one state of the base, as far as a filter admits their rows.

use std::collections::{BTreeSet, HashMap};

use pikerag_knowledge::{DataColumn, DataPart, DataTable, SourceId};
use rusqlite::{Connection, params};

use super::naming::{self, Named};
use super::survey::{surveyed, without_facts};
use crate::sqlite::rows;
use crate::sqlite::rows::limit_of;

/// The most rows of a table's visible part that are surveyed. For a larger part, least and greatest
/// values, samples and the number of distinct values are left out.
const SURVEYED: u64 = 200_000;

/// A table without the facts that come from all of its rows.
pub(in crate::sqlite) struct Entry {
    pub(in crate::sqlite) id: i64,
    pub(in crate::sqlite) table: DataTable,
    /// Whether all of its rows are visible and were surveyed.
    is_known: bool,
    /// Whether some of its rows are hidden.
    is_part: bool,
}

impl Entry {
    /// Whether [`described`] reads its rows.
    pub(in crate::sqlite) fn needs_rows(&self) -> bool {
        !self.is_known && !self.is_too_large()
    }

    /// Whether its visible part is too large to be surveyed.
    fn is_too_large(&self) -> bool {
        self.is_part && SURVEYED < self.table.rows
    }
}

/// The condition that visible rows of a table, or of its alias, fulfil.
pub(super) fn visible_rows(is_filtered: bool, alias: &str) -> String {
    match (is_filtered, alias) {
        (false, _) => "TRUE".to_owned(),
        (true, "") => "admitted(chunk)".to_owned(),
        (true, alias) => format!("admitted({alias}.chunk)"),
    }
}

/// All tables that have a visible row, by name.
pub(in crate::sqlite) fn entries(
    connection: &Connection,
    is_filtered: bool,
) -> rusqlite::Result<Vec<Entry>> {
    let counts = counted(connection, "data_chunks")?;
    let whole = match is_filtered {
        true => counted(connection, "main.data_chunks")?,
        false => HashMap::new(),
    };
    let mut statement = connection.prepare_cached(
        "SELECT id, name, title, columns, is_surveyed FROM data_tables WHERE name IS NOT NULL",
    )?;
    let mut found = statement.query([])?;
    let mut entries = Vec::new();
    while let Some(row) = found.next()? {
        let id: i64 = row.get(0)?;
        let Some(&(rows, left_out)) = counts.get(&id) else { continue };
        if rows == 0 {
            continue;
        }
        let is_part = whole.get(&id).is_some_and(|(all, _)| *all != rows);
        let columns: Vec<DataColumn> = rows::json(row, 3)?;
        let table = DataTable {
            name: row.get(1)?,
            title: row.get(2)?,
            columns,
            rows,
            left_out,
            ..DataTable::default()
        };
        entries.push(Entry { id, table, is_known: !is_part && row.get(4)?, is_part });
    }
    rename(connection, &mut entries)?;
    entries.sort_by(|a, b| a.table.name.cmp(&b.table.name));
    Ok(entries)
}

/// Renames tables whose title comes from hidden documents too. Their new names differ from those of
/// the other tables.
fn rename(connection: &Connection, entries: &mut [Entry]) -> rusqlite::Result<()> {
    let mut others = Vec::new();
    let mut taken = BTreeSet::new();
    for entry in entries {
        if entry.is_part {
            let title = title_of(&parts(connection, entry.id)?);
            if title != entry.table.title {
                entry.table.title = title;
                others.push(entry);
                continue;
            }
        }
        taken.insert(entry.table.name.clone());
    }
    others.sort_by_key(|entry| entry.id);
    for entry in others {
        entry.table.name = naming::in_sql(&entry.table.title, |name| taken.contains(name));
        taken.insert(entry.table.name.clone());
    }
    Ok(())
}

/// Rows and rows left out, by table.
fn counted(connection: &Connection, chunks: &str) -> rusqlite::Result<HashMap<i64, (u64, u64)>> {
    let sql = format!("SELECT data, sum(rows), sum(left_out) FROM {chunks} GROUP BY data");
    connection
        .prepare_cached(&sql)?
        .query_map([], |row| Ok((row.get(0)?, (rows::id(row, 1)?, rows::id(row, 2)?))))?
        .collect()
}

/// A document that rows of a table come from.
pub(super) struct Part {
    pub(super) part: DataPart,
    named: Option<Named>,
}

/// The documents that hold rows of a table, by name; of very many, some.
pub(super) fn parts(connection: &Connection, table: i64) -> rusqlite::Result<Vec<Part>> {
    connection
        .prepare_cached(
            "SELECT d.source, s.uri, d.rows, p.title, p.about
             FROM (SELECT source, sum(rows) AS rows FROM data_chunks WHERE data = ?1 GROUP BY source LIMIT ?2) d
             JOIN sources s ON s.id = d.source
             LEFT JOIN data_parts p ON p.data = ?1 AND p.source = d.source
             WHERE 0 < d.rows ORDER BY s.uri",
        )?
        .query_map(params![table, limit_of(DataTable::MOST_PARTS)], |row| {
            let part = DataPart {
                source: SourceId(rows::id(row, 0)?),
                uri: row.get(1)?,
                rows: rows::id(row, 2)?,
            };
            let title: Option<String> = row.get(3)?;
            let named = match title {
                Some(title) => Some(Named { title, about: rows::json(row, 4)? }),
                None => None,
            };
            Ok(Part { part, named })
        })?
        .collect()
}

/// The title of the rows of these documents.
pub(super) fn title_of(parts: &[Part]) -> String {
    let title = |part: &Part| match &part.named {
        Some(named) => named.title.clone(),
        None => naming::stem(&part.part.uri),
    };
    let titles: Vec<String> = parts.iter().map(title).collect();
    naming::of_parts(titles.iter().map(String::as_str))
}

/// A table with all its facts.
pub(in crate::sqlite) fn described(
    connection: &Connection,
    entry: Entry,
) -> rusqlite::Result<DataTable> {
    let (needs_rows, is_too_large) = (entry.needs_rows(), entry.is_too_large());
    let Entry { id, mut table, is_part, .. } = entry;
    let parts = parts(connection, id)?;
    for part in &parts {
        let named = part.named.iter();
        let words = named.flat_map(|named| [&named.title].into_iter().chain(&named.about).cloned());
        for words in words.chain([naming::stem(&part.part.uri)]) {
            naming::add(&mut table.about, words);
        }
    }
    table.about.retain(|words| *words != table.title);
    table.parts = parts.into_iter().map(|part| part.part).collect();
    if is_too_large {
        table.columns = table.columns.into_iter().map(without_facts).collect();
    } else if needs_rows {
        table.columns = surveyed(connection, id, &visible_rows(is_part, ""), table.columns)?;
    }
    Ok(table)
}

/// The names of tables besides this one.
pub(super) fn taken(connection: &Connection, table: i64) -> rusqlite::Result<BTreeSet<String>> {
    connection
        .prepare_cached("SELECT name FROM data_tables WHERE name IS NOT NULL AND id <> ?1")?
        .query_map([table], |row| row.get(0))?
        .collect()
}
