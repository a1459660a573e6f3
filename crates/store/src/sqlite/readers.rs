//! Lends connections that read: as many as are asked for at a time, and few for long.

use std::sync::Weak;
use std::time::Duration;

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, OpenFlags};

use super::inner::{DATABASE, Inner};
use super::opening::{self, tune};
use crate::error::Context;

/// How long a connection is kept for the next read, and how often that is looked at.
const IDLE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_secs(1);

impl Inner {
    pub(super) fn with_reader<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let connection = self.reader()?;
        let result = work(&connection);
        self.put_back(connection);
        result
    }

    /// A connection that nobody else has; whoever has it puts it back.
    pub(super) fn reader(&self) -> Result<Connection, StoreError> {
        let path = self.folder.join(DATABASE);
        if self.writer.is_none() {
            // A new one each time: somebody who can write may have begun to.
            return opening::reader(&path);
        }
        if let Some(connection) = self.idle.take() {
            return Ok(connection);
        }
        self.fresh_reader()
    }

    /// A connection that nobody else had or will have.
    pub(super) fn fresh_reader(&self) -> Result<Connection, StoreError> {
        let path = self.folder.join(DATABASE);
        if self.writer.is_none() {
            return opening::reader(&path);
        }
        let doing = "opening the database to read";
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).context(doing)?;
        tune(&connection).context(doing)?;
        Ok(connection)
    }

    pub(super) fn put_back(&self, connection: Connection) {
        if self.writer.is_some() && self.idle.put(connection) {
            let me = Weak::clone(&self.me);
            let begun =
                std::thread::Builder::new().name("readers".to_owned()).spawn(move || shrink(&me));
            if begun.is_err() {
                // They are closed another time.
                self.idle.rest();
            }
        }
    }
}

/// Closes connections as they stay unused, until few are left or the base is closed.
fn shrink(base: &Weak<Inner>) {
    loop {
        std::thread::sleep(LOOK);
        let Some(inner) = base.upgrade() else { return };
        if inner.idle.shrink(IDLE) {
            return;
        }
    }
}
