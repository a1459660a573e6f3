//! Makes a base whose documents are tables, with headers that declare the columns: `price:real`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use pikerag_knowledge::{
    Chunk, ChunkId, ChunkKind, ChunkResults, ChunkSet, ColumnKind, CorpusReader, CorpusWriter,
    DataColumn, DataTable, DataTables, DataValue, DataWriter, DocumentGraph, FileRecord, Filter,
    InChunk, Progress, RowPlace, RowReader, Source, SourceId, Span, Stage, Table, TableShape,
};
use pikerag_store::Base;
use tempfile::TempDir;

/// Rows per chunk.
const IN_CHUNK: usize = 3;

pub(crate) fn base() -> (TempDir, Base) {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    (folder, base)
}

/// Stores a file that is a table, and writes the tables that it changes.
pub(crate) async fn put(base: &Base, path: &str, rows: &[&str]) {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| cells(row)).collect();
    let (header, rows) = rows.split_first().unwrap();
    put_rows(base, path, header, rows).await;
    index(base).await;
}

fn cells(row: &str) -> Vec<String> {
    row.split(',').map(|cell| cell.trim().to_owned()).collect()
}

pub(crate) async fn put_rows(base: &Base, path: &str, header: &[String], rows: &[Vec<String>]) {
    let file =
        FileRecord { path: path.to_owned(), hash: format!("{rows:?}"), recipe: "r".to_owned() };
    base.put_file(&file, vec![document(path, header, rows)]).await.unwrap();
}

/// The places of a document's rows in its text.
pub(crate) fn spans(rows: &[Vec<String>]) -> Vec<Span> {
    let mut start = 0;
    let mut spans = Vec::new();
    for row in rows {
        let end = start + row.join(" | ").len();
        spans.push(Span { start, end });
        start = end + 1;
    }
    spans
}

fn document(uri: &str, header: &[String], rows: &[Vec<String>]) -> DocumentGraph {
    let id = SourceId::of(uri);
    let text: String = rows.iter().map(|row| row.join(" | ") + "\n").collect();
    let spans = spans(rows);
    let mut chunks = Vec::new();
    for (ordinal, (rows, lines)) in (0..).zip(rows.chunks(IN_CHUNK).zip(spans.chunks(IN_CHUNK))) {
        let span = Span { start: lines[0].start, end: lines[lines.len() - 1].end };
        let own = span.of(&text).unwrap().to_owned();
        let (header, rows) = (header.to_vec(), rows.to_vec());
        let table = Table { header, rows, lines: lines.to_vec(), key: 0 };
        chunks.push(Chunk {
            id: ChunkId::of(id, "", &own, ordinal),
            source: id,
            uri: uri.to_owned(),
            title: uri.to_owned(),
            section: None,
            headings: Vec::new(),
            ordinal,
            kind: ChunkKind::Table,
            text: own,
            span,
            page: None,
            area: None,
            boxes: Vec::new(),
            table: Some(table),
            summary: None,
            hidden: false,
        });
    }
    let source = Source {
        id,
        uri: uri.to_owned(),
        title: uri.to_owned(),
        media_type: "text/csv".to_owned(),
        hash: text.clone(),
        language: None,
        metadata: BTreeMap::new(),
        summary: None,
    };
    let (sections, links, figures) = (Vec::new(), Vec::new(), Vec::new());
    let (names, known_as) = (Vec::new(), Vec::new());
    DocumentGraph { source, text, sections, chunks, links, figures, names, known_as }
}

/// Does the work of the indexing stage.
pub(crate) async fn index(base: &Base) {
    let pending = base.pending(&Stage::tables(), ChunkSet::Searchable, None, 9_999).await.unwrap();
    let chunks = base.chunks(&pending).await.unwrap();
    let shape = |chunk: &Chunk| InChunk {
        chunk: chunk.id,
        found: match &chunk.table {
            Some(table) => TableShape::of_header(&table.header),
            None => TableShape::of_record(&chunk.uri),
        },
    };
    let found = chunks.iter().map(shape).collect();
    base.put_chunk_results(ChunkResults::Shapes(found)).await.unwrap();
    for shape in base.stale_tables().await.unwrap() {
        base.write_table(shape, Box::new(Declared::default())).await.unwrap();
    }
}

pub(crate) fn filter(condition: &str) -> Filter {
    Filter { conditions: vec![condition.parse().unwrap()] }
}

/// The tables as people see them.
pub(crate) async fn shown(base: &(impl DataTables + ?Sized)) -> String {
    let show = |table: DataTable| {
        let DataTable { name, title, rows, left_out, .. } = table;
        let mut text = format!("{name} ({title}): {rows} rows, {left_out} left out");
        for part in table.parts {
            let _ = write!(text, "; {} {}", part.uri, part.rows);
        }
        for column in table.columns {
            let DataColumn { sql, filled, unread, distinct, samples, .. } = column;
            let ends = [column.least, column.greatest].map(Option::unwrap_or_default).join("..");
            let kind = column.kind.as_str();
            let _ = write!(
                text,
                "\n  {sql} {kind}: {filled} filled, {unread} unread, {distinct} different, {ends} {samples:?}"
            );
        }
        text
    };
    base.data_tables().await.unwrap().into_iter().map(show).collect::<Vec<_>>().join("\n")
}

/// Reads cells as the header declares them; leaves out rows that begin with `total`.
#[derive(Default)]
pub(crate) struct Declared {
    columns: Vec<DataColumn>,
    files: BTreeSet<String>,
    file: String,
}

impl RowReader for Declared {
    fn begin(&mut self, header: &[String]) {
        self.columns = columns(header);
    }

    fn enter(&mut self, place: RowPlace<'_>) {
        place.file.clone_into(&mut self.file);
        self.files.insert(self.file.clone());
    }

    fn see(&mut self, row: &[String]) {
        assert_eq!(row.len(), self.columns.len());
    }

    fn settle(&mut self) -> Vec<DataColumn> {
        let mut columns = self.columns.clone();
        columns.extend((1 < self.files.len()).then(file_column));
        columns
    }

    fn read(&self, row: &[String], values: &mut Vec<DataValue>) -> u64 {
        if row.first().is_some_and(|cell| cell == "total") {
            return 1;
        }
        let value = |(column, cell): (&DataColumn, &String)| read(column.kind, cell);
        values.extend(self.columns.iter().zip(row).map(value));
        values.extend((1 < self.files.len()).then(|| DataValue::Text(self.file.clone())));
        0
    }

    fn name(&self, title: &str, taken: &BTreeSet<String>) -> String {
        let mut name = title.to_lowercase();
        while taken.contains(&name) {
            name.push('2');
        }
        name
    }
}

pub(crate) fn file_column() -> DataColumn {
    let kind = ColumnKind::Category;
    DataColumn { name: "file".to_owned(), sql: "file".to_owned(), kind, ..DataColumn::default() }
}

pub(crate) fn columns(header: &[String]) -> Vec<DataColumn> {
    let column = |name: &String| {
        let (name, kind) = name.split_once(':').unwrap_or((name, "text"));
        let kind = serde_json::from_value(kind.into()).unwrap();
        DataColumn { name: name.to_owned(), sql: name.to_owned(), kind, ..DataColumn::default() }
    };
    header.iter().map(column).collect()
}

pub(crate) fn read(kind: ColumnKind, cell: &str) -> DataValue {
    let number = match kind {
        _ if cell.is_empty() => Some(DataValue::Empty),
        ColumnKind::Integer | ColumnKind::Year => cell.parse().ok().map(DataValue::Integer),
        ColumnKind::Real => cell.parse().ok().map(DataValue::Real),
        ColumnKind::Boolean => match cell {
            "yes" => Some(DataValue::Integer(1)),
            "no" => Some(DataValue::Integer(0)),
            _ => None,
        },
        _ => None,
    };
    number.unwrap_or_else(|| DataValue::Text(cell.to_owned()))
}
