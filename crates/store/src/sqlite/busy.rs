//! Waits, for a minute at most, while another connection has the file locked.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;

/// How long another connection may keep the file locked.
pub(super) const LOCKED_FOR: Duration = Duration::from_mins(1);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// Repeats an attempt that finds the file locked, for as long as any lock is waited for. SQLite
/// itself does not wait in two cases: when a base begins to keep a log, and when data that was read
/// has changed before it is written. Both happen when two processes create one base.
pub(crate) fn unless_busy<T>(
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && began.elapsed() < LOCKED_FOR => thread::sleep(PAUSE),
            done => return done,
        }
    }
}

/// Whether another connection has the file locked.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    let busy = [ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked];
    error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}
