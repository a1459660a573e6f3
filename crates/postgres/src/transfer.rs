//! Copies a base between a SQLite file and a database, row by row, in both directions.

mod columns;

use std::path::Path;
use std::sync::Arc;

use futures::StreamExt;
use pgvector::Vector;
use pikerag_knowledge::{StoreError, VectorSet};
use pikerag_store::shared::{Cell, FileCopy, sets};
use pikerag_store::{BaseProblem, Copied};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{JoinHandle, spawn_blocking};

use self::columns::{Column, Kinds, cells};
use crate::base::Base;
use crate::database::Database;
use crate::error::Context;
use crate::fault::{Fault, Sql};
use crate::location::Location;
use crate::meta::{DATA_VERSION, FILTERABLE, UNFINISHED, advance};
use crate::search::words::WORDS_VERSION;
use crate::search::{vectors, words};
use crate::statistics::{self, Tables};
use crate::tx::{Access, Param, Tx};

/// The most rows that are copied at a time.
const MOST_ROWS: usize = 2000;
/// The most bytes that are copied at a time; a single row may have more.
const MOST_BYTES: usize = 8 << 20;
/// Batches that wait to be written.
const WAITING: usize = 2;

/// Rows of one table.
struct Batch {
    table: &'static str,
    rows: Vec<Vec<Cell>>,
    bytes: usize,
}

impl Batch {
    fn of(table: &'static str) -> Self {
        Self { table, rows: Vec::new(), bytes: 0 }
    }

    fn push(&mut self, row: Vec<Cell>) {
        for cell in &row {
            self.bytes += match cell {
                Cell::Null | Cell::Integer(_) | Cell::Real(_) => 8,
                Cell::Text(text) => text.len(),
                Cell::Bytes(bytes) => bytes.len(),
            };
        }
        self.rows.push(row);
    }

    fn is_full(&self) -> bool {
        MOST_ROWS <= self.rows.len() || MOST_BYTES <= self.bytes
    }
}

/// Creates a base in a database from a backup or from the folder of a base, which stays unchanged.
/// The words of chunks and the indexes of vectors are computed again.
///
/// # Errors
/// [`BaseProblem::Exists`] if the database has a base of this name;
/// [`BaseProblem::DamagedDatabase`] if the backup is damaged; [`StoreError::NotOurs`] if it is not a
/// backup. No base remains.
///
/// # Cancel safety
/// The copy goes on if its future is dropped.
pub async fn import(
    database: &Arc<Database>,
    location: &Location,
    file: &Path,
) -> Result<Copied, StoreError> {
    let doing = format!("restoring {}", file.display());
    let path = file.to_owned();
    let opened = spawn_blocking(move || {
        let source = FileCopy::open_to_read(&path)?;
        let counts = source.counts()?;
        Ok::<_, StoreError>((source, counts))
    });
    let (source, counts) = opened.await.context(&doing)??;
    let Some(base) = Base::create(database, location).await? else {
        let problem = BaseProblem::Exists { folder: location.shown_path() };
        return Err(problem).context(&doing);
    };
    let (send, receive) = channel(WAITING);
    let reading = spawn_blocking(move || read_file(&source, &send));
    let written = base
        .writing("restoring a base", Access::Documents, move |tx| async move {
            insert_all(&tx, receive, reading).await
        })
        .await;
    if let Err(error) = written {
        // Another process may have stored documents in it meanwhile.
        if let Err(left) = database.remove_empty(base.inner.number).await {
            let base = location.shown();
            tracing::warn!(base, error = ?left, "an empty base was left behind");
        }
        return Err(error);
    }
    if let Err(error) = statistics::update(database, Tables::All).await {
        // The base is complete, only slower at first.
        tracing::warn!(error = ?error, "statements over the restored base may be slow for a while");
    }
    Ok(counts)
}

/// Sends all rows of a file.
fn read_file(source: &FileCopy, send: &Sender<Batch>) -> Result<(), StoreError> {
    for &(table, _) in FileCopy::tables() {
        let mut batch = Batch::of(table);
        source.each(table, &mut |row| {
            batch.push(row);
            match batch.is_full() {
                true => hand(send, std::mem::replace(&mut batch, Batch::of(table))),
                false => Ok(()),
            }
        })?;
        hand(send, batch)?;
    }
    Ok(())
}

fn hand(send: &Sender<Batch>, batch: Batch) -> Result<(), StoreError> {
    // It is closed if a row could not be inserted, which is reported then.
    send.blocking_send(batch).map_err(|_| "the copy ended early").context("restoring a base")
}

async fn insert_all(
    tx: &Tx,
    mut receive: Receiver<Batch>,
    reading: JoinHandle<Result<(), StoreError>>,
) -> Sql<()> {
    let kinds = Kinds::read(tx).await?;
    while let Some(Batch { table, rows, .. }) = receive.recv().await {
        if rows.is_empty() {
            continue;
        }
        match sets().find(|set| vectors::table(*set) == table) {
            Some(set) => insert_vectors(tx, set, rows).await?,
            None => insert_rows(tx, &kinds, table, rows).await?,
        }
    }
    // Without its end, the copy is not whole.
    reading.await.map_err(Fault::content)??;
    words::rebuild(tx).await?;
    advance(tx, DATA_VERSION).await.map(drop)
}

async fn insert_rows(tx: &Tx, kinds: &Kinds, table: &'static str, rows: Vec<Vec<Cell>>) -> Sql<()> {
    let listed = FileCopy::tables().iter().find(|listed| listed.0 == table);
    let names: &'static [&'static str] = match listed {
        Some((_, names)) => names,
        None => &[],
    };
    let mut columns = Vec::with_capacity(names.len() + 1);
    for &name in names {
        columns.push(Column::new(kinds, table, name)?);
    }
    // Columns that a SQLite file does not have.
    let derived = match table {
        "sources" => names.iter().position(|name| *name == "text").map(|place| ("length", place)),
        "templates" => Some(("hash", 0)),
        _ => None,
    };
    if let Some((name, _)) = derived {
        columns.push(Column::new(kinds, table, name)?);
    }
    for mut row in rows {
        let more = derived.and_then(|(name, place)| match (name, row.get(place)) {
            ("length", Some(Cell::Text(text))) => {
                Some(Cell::Integer(crate::rows::number(text.len())))
            }
            ("hash", Some(Cell::Text(text))) => {
                Some(Cell::Bytes(blake3::hash(text.as_bytes()).as_bytes().to_vec()))
            }
            _ => None,
        });
        row.extend(more);
        for (column, cell) in columns.iter_mut().zip(row) {
            column.push(cell)?;
        }
    }
    let list: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let places: Vec<String> = (1..).zip(&columns).map(|(nth, column)| column.place(nth)).collect();
    let sql = format!(
        "INSERT INTO {table} ({}) SELECT * FROM unnest({})",
        list.join(", "),
        places.join(", ")
    );
    let params: Vec<Param<'_>> = columns.iter().map(Column::param).collect();
    tx.run(&sql, &params).await.map(drop)
}

/// Stores vectors, which are little-endian floats in a file.
async fn insert_vectors(tx: &Tx, set: VectorSet, rows: Vec<Vec<Cell>>) -> Sql<()> {
    let (mut nodes, mut embedders, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let Ok([Cell::Integer(node), Cell::Text(embedder), Cell::Bytes(bytes)]) =
            <[Cell; 3]>::try_from(row)
        else {
            return Err(Fault::content("a vector of the file has other columns"));
        };
        nodes.push(node);
        embedders.push(embedder);
        let floats = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        values.push(floats.collect());
    }
    vectors::insert(tx, set, nodes, embedders, values).await
}

/// Writes a base to a new SQLite file, from one state that concurrent writes do not change. Every
/// store restores it.
///
/// # Errors
/// The file already exists, or cannot be written; a failed write leaves no file.
pub async fn export_file(base: &Base, to: &Path) -> Result<Copied, StoreError> {
    let doing = format!("writing the backup {}", to.display());
    let inner = &base.inner;
    let tx = inner.database.begin(inner.number, Access::Read).await?;
    let (rows, written_rows) = channel(WAITING);
    let path = to.to_owned();
    let writing = spawn_blocking(move || write_file(&path, written_rows));
    let sent = send_all(&tx, rows).await;
    let written = writing.await.context(&doing)?;
    sent.map_err(|fault| fault.in_words(&doing))?;
    let written = written?;
    // It changed nothing, so a failed commit means nothing.
    let _ = tx.commit().await;
    Ok(written)
}

impl Base {
    /// See [`export_file`].
    ///
    /// # Errors
    /// The file already exists, or cannot be written.
    pub async fn backup(&self, to: &Path) -> Result<Copied, StoreError> {
        export_file(self, to).await
    }
}

/// Writes all batches to a file. `None` is the end; without it, the file is removed.
fn write_file(path: &Path, mut receive: Receiver<Option<Batch>>) -> Result<Copied, StoreError> {
    let copy = FileCopy::create(path)?;
    while let Some(batch) = receive.blocking_recv() {
        match batch {
            Some(batch) => copy.insert(batch.table, &batch.rows)?,
            None => return copy.finish(),
        }
    }
    Err("the copy ended early").context(&format!("writing the backup {}", path.display()))
}

/// Sends all rows of a base. If the receiver failed, it ends early.
async fn send_all(tx: &Tx, send: Sender<Option<Batch>>) -> Sql<()> {
    for &(table, names) in FileCopy::tables() {
        let condition = match table {
            // Numbers of this store, and a mark about its own files.
            "meta" => {
                format!(
                    " WHERE key NOT IN ('{DATA_VERSION}', '{FILTERABLE}', '{WORDS_VERSION}', '{UNFINISHED}')"
                )
            }
            _ => String::new(),
        };
        let sql = format!("SELECT {} FROM {table}{condition}", names.join(", "));
        let mut found = tx.stream(&sql, &[]).await?;
        let mut batch = Batch::of(table);
        while let Some(row) = found.next().await {
            batch.push(cells(table, names, &row?)?);
            if batch.is_full() {
                let full = std::mem::replace(&mut batch, Batch::of(table));
                if send.send(Some(full)).await.is_err() {
                    return Ok(());
                }
            }
        }
        if send.send(Some(batch)).await.is_err() {
            return Ok(());
        }
    }
    // A receiver that failed reports it.
    let _ = send.send(None).await;
    Ok(())
}

/// A vector as a file has it.
fn bytes_of(vector: &Vector) -> Vec<u8> {
    vector.as_slice().iter().flat_map(|value| value.to_le_bytes()).collect()
}
