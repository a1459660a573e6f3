//! Makes, renames and removes bases of servers in a database. Names change in a list; each base keeps
//! the name that its address has, which is never used again.

use pikerag_knowledge::StoreError;
use tracing::warn;

use super::thread::BlockingThread;
use crate::database::REMOVED;
use crate::fault::Sql;
use crate::location::Location;
use crate::tx::{Access, Tx};

/// A number that differs after a change of the list.
const VERSION: &str = "SELECT version FROM pikerag.made_bases_version";

/// The bases that servers made beside one base of a database.
pub struct BasesInPostgres {
    thread: BlockingThread,
    location: Location,
}

/// The outcome of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseRemoval {
    /// The base is gone. Its rows are removed soon.
    Removed,
    /// A job of any server is running in it.
    InUse,
    /// No server made such a base.
    Missing,
}

impl BasesInPostgres {
    /// The bases that were made beside the base of an address. The database is connected to when they
    /// are first used.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn open(location: &Location) -> Result<Self, StoreError> {
        let thread = BlockingThread::start(location, "bases")?;
        Ok(Self { thread, location: location.clone() })
    }

    /// The bases: the name that requests use, and the address with its password.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn list(&self) -> Result<Vec<(String, String)>, StoreError> {
        let owner = self.owner();
        let found = self.thread.run("listing made bases", Access::Read, |tx| async move {
            let sql = "SELECT m.name, b.name FROM pikerag.made_bases m
                 JOIN pikerag.bases b ON b.id = m.id WHERE m.owner = $1 ORDER BY m.name";
            let mut found: Vec<(String, String)> = Vec::new();
            for row in &tx.all(sql, &[&owner]).await? {
                found.push((row.try_get(0)?, row.try_get(1)?));
            }
            Ok(found)
        })?;
        Ok(found.into_iter().map(|(name, base)| (name, self.address(&base))).collect())
    }

    /// A number that differs if a server changed the list meanwhile.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn version(&self) -> Result<i64, StoreError> {
        self.thread.run("reading whether bases were made", Access::Read, |tx| async move {
            tx.number(VERSION, &[]).await
        })
    }

    /// Makes an empty base, which its address calls `own`, and returns the address; `None` if another
    /// base has one of the names.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn make(&self, name: &str, own: &str) -> Result<Option<String>, StoreError> {
        let (owner, name, base) = (self.owner(), name.to_owned(), own.to_owned());
        let made = self.thread.run("making a base", Access::Records, |tx| async move {
            if is_taken(&tx, &owner, &name).await? {
                return Ok(false);
            }
            let sql = "INSERT INTO pikerag.bases (name) VALUES ($1)
                 ON CONFLICT (name) DO NOTHING RETURNING id";
            let Some(made) = tx.optional(sql, &[&base]).await? else { return Ok(false) };
            let id: i32 = made.try_get(0)?;
            let sql = "INSERT INTO pikerag.made_bases (id, owner, name) VALUES ($1, $2, $3)";
            tx.run(sql, &[&id, &owner, &name]).await?;
            advance(&tx).await?;
            Ok(true)
        })?;
        Ok(made.then(|| self.address(own)))
    }

    /// Gives the base of an address another name. False if no server made it, or another base has the
    /// name.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn rename(&self, own: &str, name: &str) -> Result<bool, StoreError> {
        let (owner, own, name) = (self.owner(), own.to_owned(), name.to_owned());
        self.thread.run("renaming a base", Access::Records, |tx| async move {
            if is_taken(&tx, &owner, &name).await? {
                return Ok(false);
            }
            let sql = "UPDATE pikerag.made_bases SET name = $3 WHERE owner = $1
                 AND id = (SELECT id FROM pikerag.bases WHERE name = $2)";
            let renamed = tx.run(sql, &[&owner, &own, &name]).await?;
            advance(&tx).await?;
            Ok(renamed != 0)
        })
    }

    /// Removes the base of an address at once. Its rows go afterwards, which may take minutes.
    ///
    /// # Errors
    /// The database cannot be written.
    pub fn remove(&self, own: &str) -> Result<BaseRemoval, StoreError> {
        let (owner, own) = (self.owner(), own.to_owned());
        let removed = self.thread.run("removing a base", Access::Records, |tx| async move {
            let sql = "SELECT m.id, EXISTS (SELECT 1 FROM pikerag.jobs j
                   WHERE j.base = m.id AND j.state = 'running')
                 FROM pikerag.made_bases m JOIN pikerag.bases b ON b.id = m.id
                 WHERE m.owner = $1 AND b.name = $2 FOR UPDATE OF m, b";
            let Some(found) = tx.optional(sql, &[&owner, &own]).await? else {
                return Ok(BaseRemoval::Missing);
            };
            if found.try_get(1)? {
                return Ok(BaseRemoval::InUse);
            }
            let id: i32 = found.try_get(0)?;
            tx.run("DELETE FROM pikerag.made_bases WHERE id = $1", &[&id]).await?;
            let sql = "UPDATE pikerag.bases SET name = $2 WHERE id = $1";
            tx.run(sql, &[&id, &format!("{REMOVED}{id}")]).await?;
            advance(&tx).await?;
            Ok(BaseRemoval::Removed)
        })?;
        self.finish_removals();
        Ok(removed)
    }

    /// Begins to remove the rows of removed bases, including those that an ended server left.
    pub fn finish_removals(&self) {
        self.thread.begin(|database| async move {
            let removed = async {
                let database = database?;
                for name in database.bases().await? {
                    if name.starts_with(REMOVED) {
                        database.remove(&name).await?;
                    }
                }
                Ok::<_, StoreError>(())
            };
            if let Err(error) = removed.await {
                warn!(%error, "rows of removed bases remain until the next start of a server");
            }
        });
    }

    fn owner(&self) -> String {
        self.location.base().to_owned()
    }

    fn address(&self, base: &str) -> String {
        self.location.of_base(base).address()
    }
}

/// Whether a base has the name. It waits for other changes of the list to end.
async fn is_taken(tx: &Tx, owner: &str, name: &str) -> Sql<bool> {
    let lock = "LOCK TABLE pikerag.made_bases IN SHARE ROW EXCLUSIVE MODE";
    tx.batch(lock).await?;
    let sql = "SELECT 1 FROM pikerag.made_bases WHERE owner = $1 AND name = $2";
    tx.exists(sql, &[&owner, &name]).await
}

/// Notes that the list has changed.
async fn advance(tx: &Tx) -> Sql<()> {
    let sql = "UPDATE pikerag.made_bases_version SET version = version + 1";
    tx.run(sql, &[]).await.map(drop)
}
