//! Makes typed tables of the tables and records in documents: finds which rows belong together, then writes each table whose
//! rows changed again as a whole.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use async_trait::async_trait;
use pikerag_knowledge::{
    Chunk, ChunkResults, ColumnKind, DataColumn, DataValue, InChunk, KnowledgeWriter, RowReader,
    SourceId, Stage as Mark, StoreError, TableShape, Which,
};
use pikerag_tables::typing::{ColumnGuess, TypedColumn, is_left_out, sql_names};

use crate::outcome::Report;
use crate::pending::all_pending;
use crate::stage::{Job, Ran, Row, Stage};

/// The typed tables of all documents.
pub(crate) struct TypedTables;

#[async_trait]
impl Stage for TypedTables {
    async fn run(&self, row: &Row, job: &Job<'_>, _report: &mut Report) -> Ran {
        let base = job.base();
        let pending = all_pending(base, &Mark::tables()).await?;
        for (page, done) in job.pages(row, &pending) {
            let chunks = base.chunks(page).await?;
            let found = shapes(base, &chunks).await?;
            base.put_chunk_results(ChunkResults::Shapes(found)).await?;
            done();
        }
        for shape in base.stale_tables().await? {
            base.write_table(shape, Box::new(Rows::default())).await?;
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The table that the rows of each chunk belong to.
async fn shapes(
    base: &dyn KnowledgeWriter,
    chunks: &[Chunk],
) -> Result<Vec<InChunk<Option<TableShape>>>, StoreError> {
    let records: BTreeSet<SourceId> =
        chunks.iter().filter(|chunk| is_record(chunk)).map(|chunk| chunk.source).collect();
    let records: Vec<SourceId> = records.into_iter().collect();
    let mut telling = HashSet::new();
    if !records.is_empty() {
        let sources = base.sources(Which::Of(&records)).await?;
        let telling_ones = sources.iter().filter(|source| !source.metadata.is_empty());
        telling.extend(telling_ones.map(|source| source.id));
    }
    let shape = |chunk: &Chunk| match &chunk.table {
        Some(table) => TableShape::of_header(&table.header),
        None if is_record(chunk) && telling.contains(&chunk.source) => {
            TableShape::of_record(&chunk.uri)
        }
        None => None,
    };
    Ok(chunks.iter().map(|chunk| InChunk { chunk: chunk.id, found: shape(chunk) }).collect())
}

/// Whether it is the first chunk of one of several documents of a file.
fn is_record(chunk: &Chunk) -> bool {
    chunk.table.is_none() && chunk.ordinal == 0 && TableShape::of_record(&chunk.uri).is_some()
}

/// The columns of a table, guessed while its rows are seen, then typed.
#[derive(Default)]
struct Rows {
    header: Vec<String>,
    guesses: Vec<ColumnGuess>,
    typed: Vec<TypedColumn>,
    kinds: Vec<ColumnKind>,
    /// The files of the rows; more than one of them are a column.
    files: BTreeSet<String>,
}

impl RowReader for Rows {
    fn begin(&mut self, header: &[String]) {
        self.header = header.to_vec();
        self.guesses = header.iter().map(|name| ColumnGuess::new(name)).collect();
    }

    fn see(&mut self, file: &str, row: &[String]) {
        if !self.files.contains(file) {
            self.files.insert(file.to_owned());
        }
        for (guess, cell) in self.guesses.iter_mut().zip(row) {
            guess.see(cell);
        }
    }

    fn settle(&mut self) -> Vec<DataColumn> {
        let guesses = std::mem::take(&mut self.guesses);
        self.typed = guesses.into_iter().map(ColumnGuess::settle).collect();
        self.kinds = self.typed.iter().map(|typed| typed.column.kind).collect();
        let mut columns: Vec<DataColumn> =
            self.typed.iter().map(|typed| typed.column.clone()).collect();
        if self.has_file() {
            let (name, kind) = ("file".to_owned(), ColumnKind::Category);
            columns.push(DataColumn { name, kind, ..DataColumn::default() });
        }
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let sql = sql_names(&names, &mut HashSet::new());
        for (column, sql) in columns.iter_mut().zip(sql) {
            column.sql = sql;
        }
        columns
    }

    fn read(&self, file: &str, row: &[String], values: &mut Vec<DataValue>) -> bool {
        if is_left_out(&self.header, &self.kinds, row) {
            return false;
        }
        values.extend(self.typed.iter().zip(row).map(|(typed, cell)| typed.read(cell)));
        if self.has_file() {
            values.push(DataValue::Text(file.to_owned()));
        }
        true
    }

    fn name(&self, title: &str, taken: &BTreeSet<String>) -> String {
        let named = sql_names(&[title.to_owned()], &mut taken.iter().cloned().collect());
        named.into_iter().next().unwrap_or_default()
    }
}

impl Rows {
    fn has_file(&self) -> bool {
        1 < self.files.len()
    }
}
