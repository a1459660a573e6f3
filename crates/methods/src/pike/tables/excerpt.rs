//! Finds answers that a model read from some rows of a table although the question asks over all of them.

use pikerag_knowledge::data::DataTable;
use pikerag_knowledge::{Answer, Chunk, Question, Reason, SourceId, WrittenBy};
use pikerag_tables::asks_over_all_rows;

use super::{Reader, names_of_columns};
use crate::ports::{Ports, SolveError};

/// A table of which only some rows were read.
struct Excerpt<'a> {
    table: &'a DataTable,
    /// Rows that were read, and rows in their document.
    read: u64,
    rows: u64,
}

impl Reader {
    /// Why an answer of a model is no figure: the question asks over all rows of a table, and the answer
    /// rests on some of them. `None` for any other answer.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(in crate::pike) async fn excerpted(
        &self,
        ports: &Ports,
        question: &Question,
        answer: &Answer,
    ) -> Result<Option<Reason>, SolveError> {
        let is_model = matches!(answer.written_by, WrittenBy::LanguageModel { .. });
        if !is_model || answer.refused || !asks_over_all_rows(question.query()) {
            return Ok(None);
        }
        let Some(Excerpt { table, read, rows }) = self.excerpt_under(answer) else {
            return Ok(None);
        };
        let (readings, statements) = self.nearest(ports, question).await?;
        Ok(Some(Reason::TableExcerpt {
            table: table.title.clone(),
            columns: names_of_columns(table),
            read,
            rows,
            readings,
            statements,
        }))
    }

    /// The first table under an answer of which not all rows were read. Each cited passage has to belong to such a table; where
    /// nothing is cited, one of those that were read.
    fn excerpt_under(&self, answer: &Answer) -> Option<Excerpt<'_>> {
        let read: Vec<&Chunk> = answer.context.chunks.iter().map(|held| &held.chunk).collect();
        if answer.citations.is_empty() {
            return read.iter().find_map(|chunk| self.excerpt(chunk, &read));
        }
        let is_cited = |chunk: &&&Chunk| answer.citations.iter().any(|it| it.chunk == chunk.id);
        let excerpts: Option<Vec<Excerpt<'_>>> =
            read.iter().filter(is_cited).map(|chunk| self.excerpt(chunk, &read)).collect();
        excerpts?.into_iter().next()
    }

    /// The table that a passage is a part of, where not all of its rows were read.
    fn excerpt(&self, chunk: &Chunk, read: &[&Chunk]) -> Option<Excerpt<'_>> {
        let header = &chunk.table.as_ref()?.header;
        let is_like = |other: &Chunk| {
            other.source == chunk.source
                && other.table.as_ref().is_some_and(|table| table.header == *header)
        };
        let n_read = read.iter().filter(|other| is_like(other)).map(|other| n_rows(other)).sum();
        let (table, rows) = self.table_with(chunk.source, header.len())?;
        (n_read < rows).then_some(Excerpt { table, read: n_read, rows })
    }

    /// The table with about `n_columns` columns that holds rows of a document, and the number of these rows.
    fn table_with(&self, source: SourceId, n_columns: usize) -> Option<(&DataTable, u64)> {
        self.catalog.tables.iter().find_map(|view| {
            let part = view.table.parts.iter().find(|part| part.source == source)?;
            // Files of one shape are one table, with the file as a further column.
            let is_wide = (n_columns..=n_columns + 1).contains(&view.table.columns.len());
            is_wide.then_some((&view.table, part.rows))
        })
    }
}

fn n_rows(chunk: &Chunk) -> u64 {
    chunk.table.as_ref().map_or(0, |table| table.rows.len() as u64)
}
