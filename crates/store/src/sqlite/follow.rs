//! How does full text follow the database? It is told what was added and gone since its last commit.

use pikerag_knowledge::StoreError;
use rusqlite::Connection;

use super::write::searchable;
use super::{Inner, TEXT_GENERATION, counter, rows};
use crate::error::Doing;
use crate::fulltext::Changes;

impl Inner {
    /// Commits to full text what changed since its last commit, or all if it cannot be followed.
    pub(super) fn refresh_text(&self) -> Result<(), StoreError> {
        let doing = "following the database with full text";
        let index = self.fulltext()?;
        let turn = index.turn()?;
        // A snapshot taken now: whoever had the turn before may have committed later changes than
        // the caller's snapshot knows.
        self.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction().doing(doing)?;
            match self.changes(&snapshot, &index.stamp()).doing(doing)? {
                Some(changes) => index.apply(&turn, changes),
                None => index.reload(),
            }
        })
    }

    /// What full text that stands at this stamp is missing; `None` where it is up to date.
    fn changes(
        &self,
        connection: &Connection,
        standing: &str,
    ) -> rusqlite::Result<Option<Changes>> {
        let generation = counter(connection, TEXT_GENERATION)?;
        if standing == self.stamp(generation) {
            return Ok(None);
        }
        let known = standing
            .strip_prefix(&format!("{}:", self.identity))
            .and_then(|number| number.parse::<i64>().ok())
            .filter(|known| *known <= generation);
        let gone = known
            .map(|known| {
                connection
                    .prepare_cached(
                        "SELECT chunk FROM gone WHERE generation > ?1 ORDER BY generation, chunk",
                    )?
                    .query_map([known], |row| rows::id(row, 0))?
                    .collect()
            })
            .transpose()?;
        let sql = format!(
            "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source WHERE c.generation > ?1 AND NOT c.hidden ORDER BY c.id",
            rows::CHUNK_COLUMNS
        );
        let added = connection
            .prepare_cached(&sql)?
            .query_map([known.unwrap_or(-1)], |row| {
                let chunk = rows::chunk(row)?;
                Ok((chunk.id.0, searchable(&chunk)))
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(Some(Changes { stamp: self.stamp(generation), gone, added }))
    }
}
