//! Defines the catalogue of typed tables in memory, and its tables in SQLite.

use rusqlite::{Transaction, params};

/// The content of a [`TableMirror`](super::TableMirror) besides rows.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The tables that have a name.
    pub tables: Vec<CatalogueTable>,
    /// The chunks that hold rows of shapes.
    pub chunks: Vec<CatalogueChunk>,
    /// The titles that documents give their rows.
    pub parts: Vec<CataloguePart>,
    /// The number and name of each document that has such a chunk.
    pub sources: Vec<(i64, String)>,
}

/// A table of a [`Catalogue`].
#[derive(Clone, Debug)]
pub struct CatalogueTable {
    /// Its number.
    pub id: i64,
    /// Its name in SQL.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its columns as JSON.
    pub columns: String,
    /// Whether the columns have the facts that come from all rows.
    pub is_surveyed: bool,
}

/// A chunk of a [`Catalogue`].
#[derive(Clone, Copy, Debug)]
pub struct CatalogueChunk {
    /// The chunk.
    pub chunk: i64,
    /// The table.
    pub data: i64,
    /// Its document.
    pub source: i64,
    /// Its rows in the table.
    pub rows: i64,
    /// Its rows that are not in the table.
    pub left_out: i64,
}

/// A document of a [`Catalogue`].
#[derive(Clone, Debug)]
pub struct CataloguePart {
    /// The table.
    pub data: i64,
    /// The document.
    pub source: i64,
    /// The title that it gives the rows.
    pub title: String,
    /// Further words for them, as JSON.
    pub about: String,
}

/// The tables of layout 9, as far as plans and statements read them.
const TABLES: &str = "
    CREATE TABLE data_tables (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL, columns TEXT NOT NULL, is_surveyed INTEGER NOT NULL
    );
    CREATE TABLE data_chunks (
        chunk INTEGER PRIMARY KEY, data INTEGER NOT NULL, source INTEGER NOT NULL, rows INTEGER NOT NULL,
        left_out INTEGER NOT NULL
    );
    CREATE INDEX data_chunks_by_table ON data_chunks(data, source, chunk, rows, left_out);
    CREATE TABLE data_parts (
        data INTEGER NOT NULL, source INTEGER NOT NULL, title TEXT NOT NULL, about TEXT NOT NULL, PRIMARY KEY (data, source)
    ) WITHOUT ROWID;
    CREATE TABLE sources (id INTEGER PRIMARY KEY, uri TEXT NOT NULL);";

impl Catalogue {
    /// Makes its tables and writes its rows.
    pub(super) fn fill(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        tx.execute_batch(TABLES)?;
        let mut table = tx.prepare("INSERT INTO data_tables VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for CatalogueTable { id, name, title, columns, is_surveyed } in &self.tables {
            table.execute(params![id, name, title, columns, is_surveyed])?;
        }
        let mut chunk_of = tx.prepare("INSERT INTO data_chunks VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for CatalogueChunk { chunk, data, source, rows, left_out } in &self.chunks {
            chunk_of.execute([chunk, data, source, rows, left_out])?;
        }
        let mut part = tx.prepare("INSERT INTO data_parts VALUES (?1, ?2, ?3, ?4)")?;
        for CataloguePart { data, source, title, about } in &self.parts {
            part.execute(params![data, source, title, about])?;
        }
        let mut document = tx.prepare("INSERT INTO sources VALUES (?1, ?2)")?;
        for (id, uri) in &self.sources {
            document.execute(params![id, uri])?;
        }
        Ok(())
    }
}
