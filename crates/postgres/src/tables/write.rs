//! Implements the [`DataWriter`] port: writes the table of a shape from the chunks that hold its
//! rows. The first pass finds the columns, the second stores the values.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use futures::StreamExt;
use pikerag_knowledge::{
    DataColumn, DataTable, DataWriter, RowReader, Span, StoreError, TableShape,
};
use pikerag_store::shared::chunk_rows::{
    Captions, ChunkRows, NamedParts, RowForm, StoredChunk, has_own_title,
};
use pikerag_store::shared::{FEWEST, Survey};

use crate::base::Base;
use crate::catalogue::{taken, title_of};
use crate::fault::Sql;
use crate::meta::{DATA_VERSION, advance};
use crate::rows::{self, Text};
use crate::tx::{Access, Tx};

/// Chunks that are read at a time.
const BATCH: usize = 256;

#[async_trait]
impl DataWriter for Base {
    async fn stale_tables(&self) -> Result<Vec<TableShape>, StoreError> {
        self.reading("finding stale tables", |tx| async move {
            let sql = "SELECT shape FROM data_tables WHERE is_stale ORDER BY shape";
            let shapes = rows::ids(&tx.all(sql, &[]).await?)?;
            Ok(shapes.into_iter().map(TableShape).collect())
        })
        .await
    }

    async fn write_table(
        &self,
        shape: TableShape,
        mut reader: Box<dyn RowReader>,
    ) -> Result<u64, StoreError> {
        self.writing("writing a table", Access::Documents, move |tx| async move {
            write(&tx, shape, reader.as_mut()).await
        })
        .await
    }
}

/// Writes a table. Returns its number of rows; 0 for a shape that no chunk has.
async fn write(tx: &Tx, shape: TableShape, reader: &mut dyn RowReader) -> Sql<u64> {
    let sql = "SELECT id, name, title FROM data_tables WHERE shape = $1";
    let Some(known) = tx.optional(sql, &[&shape.0.cast_signed()]).await? else { return Ok(0) };
    let table: i64 = known.try_get(0)?;
    let (name, before) = (rows::optional_text(&known, 1)?, rows::text(&known, 2)?);
    advance(tx, DATA_VERSION).await?;
    tx.run("DELETE FROM data_rows WHERE data = $1", &[&table]).await?;
    tx.run("DELETE FROM data_parts WHERE data = $1", &[&table]).await?;
    let chunks = Chunks::of(tx, table).await?;
    let named = survey_texts(tx, &chunks, reader).await?;
    let columns = reader.settle();
    let (stored, columns) = store(tx, table, &chunks, reader, columns).await?;
    if stored < FEWEST {
        remove(tx, table).await?;
        return Ok(0);
    }
    put_parts(tx, table, named).await?;
    let title = title_of(tx, table).await?;
    let name = match name.filter(|_| title == before) {
        Some(name) => name,
        None => {
            let taken = taken(tx, table).await?;
            reader.name(&title, &taken)
        }
    };
    let sql = "UPDATE data_tables SET name = $2, title = $3, columns = $4, is_stale = false, is_surveyed = true
         WHERE id = $1";
    let columns = rows::to_json(&columns)?;
    tx.run(sql, &[&table, &Text(&name), &Text(&title), &columns]).await?;
    Ok(stored)
}

/// Passes all rows to the reader, which then knows the columns. Returns the titles that documents
/// give their rows.
async fn survey_texts(tx: &Tx, chunks: &Chunks, reader: &mut dyn RowReader) -> Sql<NamedParts> {
    reader.begin(&chunks.form.header);
    let (mut named, mut captions) = (NamedParts::new(), Captions::default());
    for ids in chunks.ids.chunks(BATCH) {
        for mut chunk in chunks.read(tx, ids).await? {
            captions.complete(&mut chunk);
            reader.enter(chunk.place());
            for row in &chunk.rows {
                reader.see(row);
            }
            chunk.name(&mut named);
        }
    }
    Ok(named)
}

/// A shape of which too few rows are left has no table.
async fn remove(tx: &Tx, table: i64) -> Sql<()> {
    tx.run("DELETE FROM data_rows WHERE data = $1", &[&table]).await?;
    let sql = "UPDATE data_chunks SET first = 0, rows = 0, left_out = 0 WHERE data = $1";
    tx.run(sql, &[&table]).await?;
    let sql = "UPDATE data_tables SET name = NULL, title = '', columns = '[]', is_stale = false WHERE id = $1";
    tx.run(sql, &[&table]).await.map(drop)
}

async fn put_parts(tx: &Tx, table: i64, named: NamedParts) -> Sql<()> {
    let (mut sources, mut titles, mut about) = (Vec::new(), Vec::new(), Vec::new());
    for (source, named) in named.into_iter().take(DataTable::MOST_PARTS) {
        sources.push(source);
        titles.push(named.title);
        about.push(rows::to_json(&named.about)?);
    }
    let sql = "INSERT INTO data_parts (data, source, title, about)
         SELECT $1::bigint, w.source, w.title, w.about
         FROM unnest($2::bigint[], $3::text[], $4::text[]) AS w(source, title, about)";
    tx.run(sql, &[&table, &sources, &Text::all(&titles), &about]).await.map(drop)
}

/// Rows that are stored in one statement.
#[derive(Default)]
struct Stored {
    numbers: Vec<i64>,
    chunks: Vec<i64>,
    starts: Vec<i64>,
    stops: Vec<i64>,
    cells: Vec<String>,
}

/// The numbers of rows of some chunks.
#[derive(Default)]
struct Placed {
    chunks: Vec<i64>,
    firsts: Vec<i64>,
    rows: Vec<i64>,
    left_out: Vec<i64>,
}

/// Stores all rows. Returns their number, and the columns with the facts from their values.
async fn store(
    tx: &Tx,
    table: i64,
    chunks: &Chunks,
    reader: &mut dyn RowReader,
    columns: Vec<DataColumn>,
) -> Sql<(u64, Vec<DataColumn>)> {
    let (mut survey, mut captions) = (Survey::new(&columns), Captions::default());
    let (mut values, mut number) = (Vec::with_capacity(columns.len()), 0_i64);
    for ids in chunks.ids.chunks(BATCH) {
        let (mut stored, mut placed) = (Stored::default(), Placed::default());
        for mut chunk in chunks.read(tx, ids).await? {
            captions.complete(&mut chunk);
            let (first, mut left_out) = (number + 1, 0_u64);
            reader.enter(chunk.place());
            for (texts, span) in chunk.rows.iter().zip(&chunk.spans) {
                values.clear();
                left_out += reader.read(texts, &mut values);
                for values in values.chunks_exact(columns.len().max(1)) {
                    number += 1;
                    stored.add(number, chunk.id, *span, rows::to_json(&values)?);
                    survey.see(values);
                }
            }
            placed.chunks.push(chunk.id);
            placed.firsts.push(first);
            placed.rows.push(number + 1 - first);
            placed.left_out.push(left_out.cast_signed());
        }
        stored.put(tx, table).await?;
        placed.put(tx).await?;
    }
    Ok((number.cast_unsigned(), survey.described(columns)))
}

impl Stored {
    fn add(&mut self, number: i64, chunk: i64, span: Span, cells: String) {
        self.numbers.push(number);
        self.chunks.push(chunk);
        self.starts.push(rows::number(span.start));
        self.stops.push(rows::number(span.end));
        self.cells.push(cells);
    }

    async fn put(&self, tx: &Tx, table: i64) -> Sql<()> {
        let sql = "INSERT INTO data_rows (data, number, chunk, start, stop, cells)
             SELECT $1::bigint, w.number, w.chunk, w.start, w.stop, w.cells
             FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
             AS w(number, chunk, start, stop, cells)";
        let Self { numbers, chunks, starts, stops, cells } = self;
        tx.run(sql, &[&table, numbers, chunks, starts, stops, cells]).await.map(drop)
    }
}

impl Placed {
    async fn put(&self, tx: &Tx) -> Sql<()> {
        let sql = "UPDATE data_chunks d SET first = w.first, rows = w.rows, left_out = w.left_out
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
             AS w(chunk, first, rows, left_out) WHERE d.chunk = w.chunk";
        let Self { chunks, firsts, rows, left_out } = self;
        tx.run(sql, &[chunks, firsts, rows, left_out]).await.map(drop)
    }
}

/// The chunks of a shape in the order of the documents, and how they hold its rows.
struct Chunks {
    ids: Vec<i64>,
    form: RowForm,
}

impl Chunks {
    async fn of(tx: &Tx, table: i64) -> Sql<Self> {
        let sql = "SELECT c.id FROM data_chunks d JOIN chunks c ON c.id = d.chunk JOIN sources s ON s.id = c.source
             WHERE d.data = $1 AND NOT c.hidden ORDER BY s.uri, c.ordinal";
        let found = tx.all(sql, &[&table]).await?;
        let mut ids: Vec<i64> = Vec::with_capacity(found.len());
        for row in &found {
            ids.push(row.try_get(0)?);
        }
        let cells: Option<String> = match ids.first() {
            Some(first) => {
                tx.one("SELECT cells FROM chunks WHERE id = $1", &[first]).await?.try_get(0)?
            }
            None => None,
        };
        let form = match &cells {
            Some(cells) => RowForm::of_cells(cells)?,
            None => of_records(tx, table).await?,
        };
        Ok(Self { ids, form })
    }

    /// The rows of some of the chunks, in the order of `ids`.
    async fn read(&self, tx: &Tx, ids: &[i64]) -> Sql<Vec<ChunkRows>> {
        let sql = match self.form.is_of_records {
            false => {
                "SELECT c.id, c.source, s.uri, s.title, c.headings, c.cells, c.text, c.span_start, c.span_end
                 FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth)
                 JOIN chunks c ON c.id = w.id JOIN sources s ON s.id = c.source ORDER BY w.nth"
            }
            true => {
                "SELECT c.id, c.source, s.uri, s.title, '[]'::text, s.metadata, ''::text, 0::bigint, s.length
                 FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth)
                 JOIN chunks c ON c.id = w.id JOIN sources s ON s.id = c.source ORDER BY w.nth"
            }
        };
        let found = tx.all(sql, &[&ids]).await?;
        let mut read = Vec::with_capacity(found.len());
        for row in &found {
            let text = rows::text(row, 6)?;
            let stored = StoredChunk {
                id: row.try_get(0)?,
                source: row.try_get(1)?,
                uri: rows::text(row, 2)?,
                document: rows::text(row, 3)?,
                headings: rows::json(row, 4)?,
                json: row.try_get(5)?,
                text: &text,
                span: rows::span(row, 7)?,
            };
            read.push(self.form.read(stored)?);
        }
        Ok(read)
    }
}

/// The form of rows that are the metadata of documents.
async fn of_records(tx: &Tx, table: i64) -> Sql<RowForm> {
    let sql = "SELECT s.uri, s.title, s.metadata FROM sources s
         WHERE s.id IN (SELECT d.source FROM data_chunks d WHERE d.data = $1)";
    let mut documents = tx.stream(sql, &[&table]).await?;
    let (mut fields, mut has_title) = (BTreeSet::new(), false);
    while let Some(row) = documents.next().await {
        let row = row?;
        let metadata: BTreeMap<String, String> = rows::json(&row, 2)?;
        if !has_title {
            let (uri, title) = (rows::text(&row, 0)?, rows::text(&row, 1)?);
            has_title = has_own_title(&uri, &title, metadata.get("name").map(String::as_str));
        }
        fields.extend(metadata.into_keys());
    }
    Ok(RowForm::of_records(fields, has_title))
}
