//! What if somebody else has the file locked? They are waited for, a minute at most.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;

/// How long somebody else may keep the file locked.
pub(super) const LOCKED_FOR: Duration = Duration::from_mins(1);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// Does again what found the file locked, as long as any lock is waited for. SQLite itself does not wait where a base begins
/// to keep a log, nor where what was read has changed before it is written: both happen when two processes make one base.
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

/// Whether somebody else has the file locked.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    let busy = [ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked];
    error.sqlite_error_code().is_some_and(|code| busy.contains(&code))
}
