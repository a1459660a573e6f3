//! Opens one state of a database with a read-only session, and reads its chosen tables.

use std::collections::{HashMap, HashSet};

use pikerag_indexing::{DatabaseFault, ReadFile};

use crate::catalog::{Relation, check_files, describe, relations};
use crate::choice::Choice;
use crate::connect::Connected;
use crate::document::{digest_of_table, document};
use crate::layout::{Cells, Layout};
use crate::limits::ReadLimits;
use crate::rows::{digest, digest_of_rows, read};
use crate::url::{DatabaseUrl, Target};

/// One state of a database: what is changed meanwhile is read by the next snapshot. Dropping it ends
/// the session.
pub struct Snapshot {
    connected: Connected,
    target: Target,
    limits: ReadLimits,
    tables: HashMap<String, Chosen>,
    /// The names of the chosen tables, in the order of the catalogue.
    names: Vec<String>,
    /// Tables and patterns that cannot be read.
    left_out: Vec<(String, DatabaseFault)>,
    /// The names of chosen tables without permission: they exist.
    forbidden: HashSet<String>,
}

/// A chosen table.
struct Chosen {
    relation: Relation,
    layout: Layout,
}

impl Snapshot {
    /// Connects to a database and chooses its tables: each by the first choice that takes it. The
    /// transaction writes nothing, whatever the account may.
    ///
    /// # Errors
    /// The database cannot be reached, refuses the account, or has no table that is chosen.
    pub async fn open(
        url: &DatabaseUrl,
        choices: &[Choice],
        limits: ReadLimits,
    ) -> Result<Self, DatabaseFault> {
        let target = url.target()?;
        let mut connected = Connected::to(&target, limits.statement).await?;
        connected.execute("SET default_transaction_read_only = on").await?;
        connected.execute(&beginning(limits)).await?;
        let all = relations(&mut connected).await?;
        let unused = choices.iter().flat_map(|choice| choice.unused(&all));
        let mut left_out: Vec<(String, DatabaseFault)> = unused
            .map(|pattern| {
                let fault = DatabaseFault::UnusedPattern { pattern: pattern.to_string() };
                (target.identity.clone(), fault)
            })
            .collect();
        let (mut tables, mut names, mut forbidden) = (HashMap::new(), Vec::new(), HashSet::new());
        for mut relation in all {
            let Some(choice) = choices.iter().find(|choice| choice.takes(&relation)) else {
                continue;
            };
            let name = target.name_of(&relation.schema, &relation.table);
            if !relation.is_readable {
                forbidden.insert(name.clone());
                // Without patterns, all tables that the account can read are chosen.
                if !choice.tables.is_empty() {
                    left_out.push((name, DatabaseFault::NoPermission));
                }
                continue;
            }
            describe(&mut connected, &mut relation).await?;
            let layout = Layout::of(&relation, choice);
            tables.insert(name.clone(), Chosen { relation, layout });
            names.push(name);
        }
        if names.is_empty() && left_out.is_empty() {
            return Err(DatabaseFault::NoTable);
        }
        Ok(Self { connected, target, limits, tables, names, left_out, forbidden })
    }

    /// The names of the chosen tables: `postgres://host/database/schema.table`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Chosen tables that cannot be read, and patterns that fit no table, by name.
    pub fn left_out(&self) -> &[(String, DatabaseFault)] {
        &self.left_out
    }

    /// Whether a name is that of a table of this database which no longer exists, or which the
    /// choices no longer take. A table without permission still exists.
    pub fn is_gone(&self, name: &str) -> bool {
        let is_ours =
            name.strip_prefix(&self.target.identity).is_some_and(|rest| rest.starts_with('/'));
        is_ours && !self.tables.contains_key(name) && !self.forbidden.contains(name)
    }

    /// The layout of a chosen table.
    pub(crate) fn layout(&self, name: &str) -> Option<&Layout> {
        self.tables.get(name).map(|chosen| &chosen.layout)
    }

    /// The digest of a table with all its rows. It keeps no row.
    pub(crate) async fn hash(&mut self, name: &str) -> Result<String, DatabaseFault> {
        let Self { connected, tables, limits, .. } = self;
        let chosen = tables.get(name).ok_or(DatabaseFault::Vanished)?;
        connected.execute(SAVE).await?;
        let rows = digest(connected, &chosen.layout, *limits).await;
        let rows = ended(connected, chosen.relation.oid, rows).await?;
        Ok(whole(digest_of_table(&chosen.relation, &chosen.layout), rows))
    }

    /// A table as a document. `stored` are its rows in the base, by key.
    pub(crate) async fn read(
        &mut self,
        name: &str,
        stored: HashMap<Cells, Cells>,
    ) -> Result<ReadFile, DatabaseFault> {
        let Self { connected, target, tables, limits, .. } = self;
        let Chosen { relation, layout } = tables.get(name).ok_or(DatabaseFault::Vanished)?;
        connected.execute(SAVE).await?;
        let rows = read(connected, layout, stored, *limits).await;
        let rows = ended(connected, relation.oid, rows).await?;
        let digest = digest_of_rows(layout, &rows.rows);
        let hash = whole(digest_of_table(relation, layout), digest);
        Ok(ReadFile { hash, parsed: document(target, relation, layout, rows) })
    }
}

/// One table that cannot be read must not end the transaction that reads the others.
const SAVE: &str = "SAVEPOINT one_table";
const FREE: &str = "RELEASE SAVEPOINT one_table";
const RESTORE: &str = "ROLLBACK TO SAVEPOINT one_table";

/// Ends the reading of one table.
async fn ended<T>(
    connected: &mut Connected,
    oid: u32,
    result: Result<T, DatabaseFault>,
) -> Result<T, DatabaseFault> {
    let checked = match result {
        Ok(found) => check_files(connected, oid).await.map(|()| found),
        fault => fault,
    };
    match checked {
        Ok(found) => connected.execute(FREE).await.map(|()| found),
        Err(fault) => {
            // If the connection has ended, the first fault says why.
            let _ = connected.execute(RESTORE).await;
            Err(fault)
        }
    }
}

/// The statements that begin the transaction: one snapshot, no writing, and texts in one form
/// whatever the settings of the server.
fn beginning(limits: ReadLimits) -> String {
    let milliseconds = limits.statement.as_millis().clamp(1, i32::MAX.unsigned_abs().into());
    format!(
        "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
        SET LOCAL statement_timeout = {milliseconds};
        SET LOCAL lock_timeout = {};
        SET LOCAL search_path = pg_catalog;
        SET LOCAL DateStyle = 'ISO, YMD';
        SET LOCAL IntervalStyle = 'postgres';
        SET LOCAL TimeZone = 'UTC';
        SET LOCAL extra_float_digits = 1;
        SET LOCAL standard_conforming_strings = on",
        milliseconds.min(30_000)
    )
}

/// The hash of a table, as hexadecimal digits.
fn whole(table: blake3::Hash, rows: blake3::Hash) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(table.as_bytes());
    hasher.update(rows.as_bytes());
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pikerag_test_support::absent;
    use tokio_postgres::NoTls;

    use super::*;

    /// A job that loads a whole table empties it first.
    #[tokio::test]
    async fn a_table_that_was_emptied_meanwhile_is_not_read_as_empty() {
        let Ok(url) = std::env::var("PIKERAG_TEST_POSTGRES") else {
            absent("a PostgreSQL server", "is not named by PIKERAG_TEST_POSTGRES");
            return;
        };
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(async { drop(connection.await) });
        let table = format!("public.pikerag_emptied_{}", std::process::id());
        let run = async |statements: &str| {
            client.batch_execute(&statements.replace("$T", &table)).await.unwrap();
        };
        run("CREATE TABLE $T (id int); INSERT INTO $T VALUES (1)").await;
        let choices = [Choice { tables: vec![table.parse().unwrap()], ..Choice::default() }];
        let url = DatabaseUrl::of(&url).unwrap();
        let opened = Snapshot::open(&url, &choices, ReadLimits::default()).await;
        let mut snapshot = opened.ok().unwrap();
        let name = snapshot.names()[0].clone();
        assert!(snapshot.hash(&name).await.is_ok());
        drop(snapshot);
        let opened = Snapshot::open(&url, &choices, ReadLimits::default()).await;
        let mut snapshot = opened.ok().unwrap();
        run("TRUNCATE $T; INSERT INTO $T VALUES (2)").await;
        let read = snapshot.hash(&name).await;
        drop(snapshot);
        run("DROP TABLE $T").await;
        assert_eq!(read, Err(DatabaseFault::Vanished));
    }

    #[test]
    fn a_transaction_reads_one_state_and_writes_nothing() {
        let statements = beginning(ReadLimits::default());
        for part in
            ["REPEATABLE READ READ ONLY", "statement_timeout = 300000", "lock_timeout = 30000"]
        {
            assert!(statements.contains(part), "{part}: {statements}");
        }
        let short = ReadLimits { statement: Duration::ZERO, ..ReadLimits::default() };
        assert!(beginning(short).contains("statement_timeout = 1;"));
    }
}
