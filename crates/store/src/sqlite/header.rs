//! Identifies a database file from its bytes and its log before anything opens it, because opening
//! a database writes beside it.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

use crate::error::is_exhaustion;

/// The header of a database, from its first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// The file is missing or empty.
    Empty,
    /// Another kind of file.
    NoDatabase,
    /// A database whose header breaks the rules of the format.
    Damaged,
    /// A database.
    Database {
        /// Its `user_version`.
        layout: i64,
        /// Its `application_id`.
        application: u32,
        /// Whether it has any table.
        has_tables: bool,
    },
}

const MAGIC: &[u8] = b"SQLite format 3\0";

/// Reads the first page as it was last committed.
pub(super) fn read(path: &Path) -> Result<Header> {
    let mut page = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(1 << 16).read_to_end(&mut page)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Header::Empty),
        Err(error) => return Err(error),
    };
    if page.is_empty() {
        return Ok(Header::Empty);
    }
    if !page.starts_with(MAGIC) {
        return Ok(Header::NoDatabase);
    }
    if let Some(newer) = committed_first_page(path)? {
        page = newer;
    }
    let (Some(layout), Some(application)) = (word(&page, 60), word(&page, 68)) else {
        return Ok(Header::NoDatabase);
    };
    if !is_sound(&page) {
        return Ok(Header::Damaged);
    }
    // The first page is the root of the schema table: a leaf without cells means no tables.
    let has_tables = page.get(100..105).is_none_or(|root| !matches!(root, [13, _, _, 0, 0]));
    Ok(Header::Database { layout: i64::from(layout.cast_signed()), application, has_tables })
}

/// Whether the header has a possible page size (1 stands for 65,536) and the fractions of payload
/// that every database has (<https://www.sqlite.org/fileformat2.html#the_database_header>).
fn is_sound(page: &[u8]) -> bool {
    let size = page.get(16..).and_then(<[u8]>::first_chunk::<2>);
    let size = size.map_or(0, |bytes| u16::from_be_bytes(*bytes));
    let is_size = size == 1 || (512 <= size && size.is_power_of_two());
    is_size && page.get(21..24) == Some([64, 32, 32].as_slice())
}

/// The write-ahead log of a database.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// Whether the log holds changes that the database does not have.
pub(super) fn has_log(path: &Path) -> bool {
    std::fs::metadata(log_of(path)).is_ok_and(|log| 0 < log.len())
}

/// The first page in the log, if a committed transaction changed it. An incomplete frame ends the
/// log, as it does for SQLite.
fn committed_first_page(path: &Path) -> Result<Option<Vec<u8>>> {
    let mut log = match File::open(log_of(path)) {
        Err(error) if is_exhaustion(&error) => return Err(error),
        Err(_) => return Ok(None),
        Ok(log) => BufReader::new(log),
    };
    let Some(head) = block(&mut log, 32)? else { return Ok(None) };
    let magic = word(&head, 0).unwrap_or_default();
    let size = word(&head, 8).unwrap_or_default();
    if magic & !1 != 0x377f_0682 || !(512..=65536).contains(&size) {
        return Ok(None);
    }
    let sum = |bytes: &[u8], from| checksum(bytes, magic & 1 == 1, from);
    let mut running = sum(head.get(..24).unwrap_or_default(), (0, 0));
    if (word(&head, 24), word(&head, 28)) != (Some(running.0), Some(running.1)) {
        return Ok(None);
    }
    let (mut written, mut committed) = (None, None);
    while let Some(frame) = block(&mut log, 24)? {
        let Some(page) = block(&mut log, size as usize)? else { break };
        running = sum(&page, sum(frame.get(..8).unwrap_or_default(), running));
        let is_whole = frame.get(8..16) == head.get(16..24)
            && (word(&frame, 16), word(&frame, 20)) == (Some(running.0), Some(running.1));
        if !is_whole {
            break;
        }
        if word(&frame, 0) == Some(1) {
            written = Some(page);
        }
        if word(&frame, 4) != Some(0) {
            committed = written.take().or(committed);
        }
    }
    Ok(committed)
}

/// The next `length` bytes; `None` if there are fewer.
fn block(log: &mut impl Read, length: usize) -> Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; length];
    match log.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// The checksum of SQLite's log format (<https://www.sqlite.org/fileformat2.html#walformat>).
fn checksum(bytes: &[u8], big_endian: bool, (mut first, mut second): (u32, u32)) -> (u32, u32) {
    let read = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
    let mut words = bytes.as_chunks::<4>().0.iter().map(|word| read(*word));
    while let (Some(one), Some(other)) = (words.next(), words.next()) {
        first = first.wrapping_add(one).wrapping_add(second);
        second = second.wrapping_add(other).wrapping_add(first);
    }
    (first, second)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// The log counts up to its last commit; a torn end does not count.
    #[test]
    fn a_file_is_identified_by_its_bytes_and_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.sqlite");
        assert_eq!(read(&path).unwrap(), Header::Empty);
        std::fs::write(&path, "no database at all, but long enough to be one").unwrap();
        assert_eq!(read(&path).unwrap(), Header::NoDatabase);
        std::fs::remove_file(&path).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        let of = |layout, has_tables| Header::Database { layout, application: 0, has_tables };
        assert_eq!(read(&path).unwrap(), of(0, false));
        connection.execute_batch("CREATE TABLE x (y); PRAGMA user_version = 7;").unwrap();
        assert_eq!(read(&path).unwrap(), of(7, true));
        connection.execute_batch("BEGIN; PRAGMA user_version = 8; ROLLBACK;").unwrap();
        assert_eq!(read(&path).unwrap(), of(7, true));
        connection.execute_batch("PRAGMA user_version = 9").unwrap();
        let whole = std::fs::read(log_of(&path)).unwrap();
        std::fs::write(log_of(&path), &whole[..whole.len() - 1]).unwrap();
        assert_eq!(read(&path).unwrap(), of(7, true));
        std::fs::write(log_of(&path), &whole).unwrap();
        assert_eq!(read(&path).unwrap(), of(9, true));
        drop(connection);
        assert_eq!(read(&path).unwrap(), of(9, true));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[16..100].fill(0);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read(&path).unwrap(), Header::Damaged);
    }
}
