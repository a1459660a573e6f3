//! Reads the rows of a table as records.

use pikerag_knowledge::records::Field;
use pikerag_knowledge::{Chunk, RecordOrigin, RecordSchema, Span, Table};

use super::{Draft, field_of_column, read_cell};

/// One record for each row, if the header names the fields that the schema needs; else none.
pub(super) fn records(schema: &RecordSchema, chunk: &Chunk, table: &Table) -> Vec<Draft> {
    let mut columns: Vec<Option<&Field>> = Vec::with_capacity(table.header.len());
    for name in &table.header {
        // One column fills a field: the first with its name.
        let field = field_of_column(schema, name);
        let taken = |field: &&Field| !columns.iter().flatten().any(|held| held.name == field.name);
        columns.push(field.filter(taken));
    }
    let named = |name: &String| columns.iter().flatten().any(|field| field.name == *name);
    let enough = schema.fields.len().min(2) <= columns.iter().flatten().count();
    if !enough || !schema.key.iter().all(named) {
        return Vec::new();
    }
    // The header has its own line only if it is in this chunk.
    let header_lines = table.lines.len().saturating_sub(table.rows.len());
    let mut drafts = Vec::with_capacity(table.rows.len());
    for (place, row) in table.rows.iter().enumerate() {
        let mut fields = Vec::new();
        for field in &schema.fields {
            let at = columns
                .iter()
                .position(|column| column.is_some_and(|held| held.name == field.name));
            let cell = at.and_then(|at| Some((table.header.get(at)?, row.get(at)?.trim())));
            if let Some((header, cell)) = cell.filter(|(_, cell)| !cell.is_empty()) {
                fields.push(read_cell(field, header, cell));
            }
        }
        let line = table.lines.get(header_lines + place).copied();
        let within = |line: &Span| chunk.span.start <= line.start && line.end <= chunk.span.end;
        let span = line.filter(within).unwrap_or(chunk.span);
        drafts.push(Draft { span, origin: RecordOrigin::Table, fields });
    }
    drafts
}
