//! Reads the catalogue of typed tables, and names tables by the documents that hold their rows.

use std::collections::BTreeSet;

use pikerag_knowledge::DataTable;
use pikerag_store::shared::{Catalogue, CatalogueChunk, CataloguePart, CatalogueTable, naming};

use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// The catalogue of the whole base, whatever a filter hides.
pub(crate) async fn catalogue(tx: &Tx) -> Sql<Catalogue> {
    let mut catalogue = Catalogue::default();
    let sql = "SELECT id, name, title, columns, is_surveyed FROM pikerag_base.data_tables
         WHERE name IS NOT NULL";
    for row in tx.all(sql, &[]).await? {
        catalogue.tables.push(CatalogueTable {
            id: row.try_get(0)?,
            name: rows::text(&row, 1)?,
            title: rows::text(&row, 2)?,
            columns: row.try_get(3)?,
            is_surveyed: row.try_get(4)?,
        });
    }
    if catalogue.tables.is_empty() {
        return Ok(catalogue);
    }
    let sql = "SELECT d.chunk, d.data, d.source, d.rows, d.left_out FROM pikerag_base.data_chunks d
         JOIN pikerag_base.data_tables t ON t.id = d.data WHERE t.name IS NOT NULL";
    for row in tx.all(sql, &[]).await? {
        catalogue.chunks.push(CatalogueChunk {
            chunk: row.try_get(0)?,
            data: row.try_get(1)?,
            source: row.try_get(2)?,
            rows: row.try_get(3)?,
            left_out: row.try_get(4)?,
        });
    }
    let sql = "SELECT data, source, title, about FROM pikerag_base.data_parts";
    for row in tx.all(sql, &[]).await? {
        catalogue.parts.push(CataloguePart {
            data: row.try_get(0)?,
            source: row.try_get(1)?,
            title: rows::text(&row, 2)?,
            about: row.try_get(3)?,
        });
    }
    let sql = "SELECT id, uri FROM pikerag_base.sources
         WHERE id IN (SELECT source FROM pikerag_base.data_chunks)";
    for row in tx.all(sql, &[]).await? {
        catalogue.sources.push((row.try_get(0)?, rows::text(&row, 1)?));
    }
    Ok(catalogue)
}

/// The title of a table, by the documents that hold its rows; of very many, by some.
pub(crate) async fn title_of(tx: &Tx, table: i64) -> Sql<String> {
    let sql = "SELECT s.uri, p.title
         FROM (SELECT source, sum(rows) AS rows FROM data_chunks WHERE data = $1 GROUP BY source
               ORDER BY source LIMIT $2) d
         JOIN sources s ON s.id = d.source
         LEFT JOIN data_parts p ON p.data = $1 AND p.source = d.source
         WHERE 0 < d.rows ORDER BY s.uri";
    let parts = tx.all(sql, &[&table, &rows::number(DataTable::MOST_PARTS)]).await?;
    let mut titles = Vec::with_capacity(parts.len());
    for row in &parts {
        let title = match rows::optional_text(row, 1)? {
            Some(title) => title,
            None => naming::stem(&rows::text(row, 0)?),
        };
        titles.push(title);
    }
    Ok(naming::of_parts(titles.iter().map(String::as_str)))
}

/// The names of tables besides this one.
pub(crate) async fn taken(tx: &Tx, table: i64) -> Sql<BTreeSet<String>> {
    let sql = "SELECT name FROM data_tables WHERE name IS NOT NULL AND id <> $1";
    let names = tx.all(sql, &[&table]).await?;
    names.iter().map(|row| rows::text(row, 0)).collect()
}
