//! Writes the table of a shape from the chunks that hold its rows. The first pass finds the
//! columns, the second stores the values. Memory holds the rows of one chunk, and the titles of all
//! documents.

use std::collections::BTreeSet;

use pikerag_knowledge::{DataColumn, DataTable, InChunk, RowReader, Span, Stage, TableShape};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::catalogue::{parts, taken, title_of};
use super::chunk_rows::{Captions, ChunkRows, NamedParts, RowForm, StoredChunk, has_own_title};
use super::naming::Named;
use super::survey::Survey;
use super::values::Bound;
use crate::sqlite::put::json;
use crate::sqlite::rows;
use crate::sqlite::rows::limit_of;

/// The fewest rows of a table.
pub const FEWEST: u64 = 2;

/// Records which table each chunk's rows belong to, and that the chunk was examined.
pub(in crate::sqlite) fn put_shapes(
    tx: &Transaction<'_>,
    found: &[InChunk<Option<TableShape>>],
) -> rusqlite::Result<()> {
    let mut source = tx.prepare_cached("SELECT source FROM chunks WHERE id = ?1")?;
    let mut shape =
        tx.prepare_cached("INSERT INTO data_tables(shape) VALUES (?1) ON CONFLICT DO NOTHING")?;
    let mut known = tx.prepare_cached("SELECT id FROM data_tables WHERE shape = ?1")?;
    let mut before = tx.prepare_cached("DELETE FROM data_chunks WHERE chunk = ?1")?;
    let mut note =
        tx.prepare_cached("INSERT INTO data_chunks(chunk, data, source) VALUES (?1, ?2, ?3)")?;
    let mut done =
        tx.prepare_cached("INSERT OR IGNORE INTO progress(stage, chunk) VALUES (?1, ?2)")?;
    let stage = Stage::tables().0;
    for InChunk { chunk, found } in found {
        let chunk = chunk.0.cast_signed();
        // Its document may have been deleted meanwhile.
        let held: Option<i64> = source.query_row([chunk], |row| row.get(0)).optional()?;
        let Some(held) = held else { continue };
        before.execute([chunk])?;
        if let Some(TableShape(key)) = found {
            shape.execute([key.cast_signed()])?;
            let table: i64 = known.query_row([key.cast_signed()], |row| row.get(0))?;
            note.execute(params![chunk, table, held])?;
        }
        done.execute(params![stage, chunk])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn stale(connection: &Connection) -> rusqlite::Result<Vec<TableShape>> {
    connection
        .prepare_cached("SELECT shape FROM data_tables WHERE is_stale ORDER BY shape")?
        .query_map([], |row| rows::id(row, 0).map(TableShape))?
        .collect()
}

/// Writes a table. Returns its number of rows; 0 for a shape that no chunk has.
pub(in crate::sqlite) fn write(
    tx: &Transaction<'_>,
    shape: TableShape,
    reader: &mut dyn RowReader,
) -> rusqlite::Result<u64> {
    let known: Option<(i64, Option<String>, String)> = tx
        .prepare_cached("SELECT id, name, title FROM data_tables WHERE shape = ?1")?
        .query_row([shape.0.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((table, name, before)) = known else { return Ok(0) };
    tx.execute_batch(&format!("DROP TABLE IF EXISTS data_{table}"))?;
    tx.execute("DELETE FROM data_parts WHERE data = ?1", [table])?;
    let rows = Rows::of(tx, table)?;
    reader.begin(&rows.form.header);
    let mut named = NamedParts::new();
    rows.each(tx, |chunk| {
        reader.enter(chunk.place());
        for row in &chunk.rows {
            reader.see(row);
        }
        chunk.name(&mut named);
        Ok(())
    })?;
    let columns = reader.settle();
    let (stored, columns) = store(tx, table, &rows, reader, columns)?;
    if stored < FEWEST {
        tx.execute_batch(&format!("DROP TABLE data_{table}"))?;
        tx.execute(
            "UPDATE data_chunks SET first = 0, rows = 0, left_out = 0 WHERE data = ?1",
            [table],
        )?;
        tx.execute(
            "UPDATE data_tables SET name = NULL, title = '', columns = '[]', is_stale = 0 WHERE id = ?1",
            [table],
        )?;
        return Ok(0);
    }
    for (source, Named { title, about }) in named.into_iter().take(DataTable::MOST_PARTS) {
        tx.prepare_cached(
            "INSERT INTO data_parts(data, source, title, about) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![table, source, title, json(&about)?])?;
    }
    let title = title_of(&parts(tx, table)?);
    let name = match name.filter(|_| title == before) {
        Some(name) => name,
        None => reader.name(&title, &taken(tx, table)?),
    };
    tx.execute(
        "UPDATE data_tables SET name = ?2, title = ?3, columns = ?4, is_stale = 0, is_surveyed = 1 WHERE id = ?1",
        params![table, name, title, json(&columns)?],
    )?;
    Ok(stored)
}

/// Stores all rows in a new table. Returns their number, and the columns with the facts from their
/// values.
fn store(
    tx: &Transaction<'_>,
    table: i64,
    rows: &Rows,
    reader: &mut dyn RowReader,
    columns: Vec<DataColumn>,
) -> rusqlite::Result<(u64, Vec<DataColumn>)> {
    let list: Vec<String> = (0..columns.len()).map(|place| format!(", c{place}")).collect();
    let list = list.concat();
    // VACUUM could change the row number if it had no column of its own.
    tx.execute_batch(&format!(
        "CREATE TABLE data_{table} (row INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, start INTEGER NOT NULL,
         stop INTEGER NOT NULL{list})"
    ))?;
    let mut insert = tx.prepare(&format!(
        "INSERT INTO data_{table} VALUES (?, ?, ?, ?{})",
        ", ?".repeat(columns.len())
    ))?;
    let mut note =
        tx.prepare("UPDATE data_chunks SET first = ?2, rows = ?3, left_out = ?4 WHERE chunk = ?1")?;
    let mut survey = Survey::new(&columns);
    let (mut values, mut row) = (Vec::with_capacity(columns.len()), 0_i64);
    rows.each(tx, |chunk| {
        let (first, mut left_out) = (row + 1, 0_u64);
        reader.enter(chunk.place());
        for (cells, span) in chunk.rows.iter().zip(&chunk.spans) {
            values.clear();
            left_out += reader.read(cells, &mut values);
            for values in values.chunks_exact(columns.len().max(1)) {
                row += 1;
                insert.raw_bind_parameter(1, row)?;
                insert.raw_bind_parameter(2, chunk.id)?;
                insert.raw_bind_parameter(3, limit_of(span.start))?;
                insert.raw_bind_parameter(4, limit_of(span.end))?;
                for (place, value) in (5..).zip(values) {
                    insert.raw_bind_parameter(place, Bound(value))?;
                }
                insert.raw_execute()?;
                survey.see(values);
            }
        }
        note.execute(params![chunk.id, first, row + 1 - first, left_out.cast_signed()]).map(drop)
    })?;
    Ok((row.cast_unsigned(), survey.described(columns)))
}

/// The chunks of a shape in the order of the documents, and how they hold its rows.
struct Rows {
    chunks: Vec<i64>,
    form: RowForm,
}

impl Rows {
    fn of(connection: &Connection, table: i64) -> rusqlite::Result<Self> {
        let chunks: Vec<i64> = connection
            .prepare_cached(
                "SELECT c.id FROM data_chunks d JOIN chunks c ON c.id = d.chunk JOIN sources s ON s.id = c.source
                 WHERE d.data = ?1 AND NOT c.hidden ORDER BY s.uri, c.ordinal",
            )?
            .query_map([table], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let cells: Option<String> = match chunks.first() {
            Some(first) => {
                connection.query_row("SELECT cells FROM chunks WHERE id = ?1", [first], |row| {
                    row.get(0)
                })?
            }
            None => None,
        };
        let form = match &cells {
            Some(cells) => RowForm::of_cells(cells).map_err(|error| rows::bad(0, error))?,
            None => RowForm::of_records(fields(connection, table)?, has_titles(connection, table)?),
        };
        Ok(Self { chunks, form })
    }

    /// Passes the rows to `hand` chunk by chunk.
    fn each(
        &self,
        connection: &Connection,
        mut hand: impl FnMut(ChunkRows) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let sql = match self.form.is_of_records {
            false => {
                "SELECT c.source, s.uri, s.title, c.headings, c.cells, c.text, c.span_start, c.span_end
                 FROM chunks c JOIN sources s ON s.id = c.source WHERE c.id = ?1"
            }
            true => {
                "SELECT c.source, s.uri, s.title, '[]', s.metadata, '', 0, octet_length(s.text)
                 FROM chunks c JOIN sources s ON s.id = c.source WHERE c.id = ?1"
            }
        };
        let mut statement = connection.prepare_cached(sql)?;
        let mut captions = Captions::default();
        for id in &self.chunks {
            let mut chunk = statement.query_row([id], |row| self.read(*id, row))?;
            captions.complete(&mut chunk);
            hand(chunk)?;
        }
        Ok(())
    }

    fn read(&self, id: i64, row: &rusqlite::Row<'_>) -> rusqlite::Result<ChunkRows> {
        let stored = StoredChunk {
            id,
            source: row.get(0)?,
            uri: row.get(1)?,
            document: row.get(2)?,
            headings: rows::json(row, 3)?,
            json: row.get_ref(4)?.as_str()?,
            text: row.get_ref(5)?.as_str()?,
            span: Span { start: rows::size(row, 6)?, end: rows::size(row, 7)? },
        };
        self.form.read(stored).map_err(|error| rows::bad(4, error))
    }
}

/// All metadata fields of the documents of a shape.
fn fields(connection: &Connection, table: i64) -> rusqlite::Result<BTreeSet<String>> {
    connection
        .prepare_cached(
            "SELECT DISTINCT j.key FROM data_chunks d JOIN sources s ON s.id = d.source, json_each(s.metadata) j
             WHERE d.data = ?1",
        )?
        .query_map([table], |row| row.get(0))?
        .collect()
}

/// Whether a record of a shape has a title of its own.
fn has_titles(connection: &Connection, table: i64) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT s.uri, s.title, json_extract(s.metadata, '$.name')
         FROM data_chunks d JOIN sources s ON s.id = d.source
         WHERE d.data = ?1 AND json_extract(s.metadata, '$.name') IS NOT s.title",
    )?;
    let mut rows = statement.query([table])?;
    while let Some(row) = rows.next()? {
        let (uri, title) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
        if has_own_title(uri, title, row.get_ref(2)?.as_str_or_null()?) {
            return Ok(true);
        }
    }
    Ok(false)
}
