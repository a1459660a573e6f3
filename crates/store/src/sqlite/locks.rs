//! Locks the data that several threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose holder panicked still guards consistent data: every change is a transaction.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
