//! Holds what all handles of a base share in this process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pikerag_knowledge::CallRecord;
use pikerag_store::shared::{ProcessIdentity, Scopes};
use tokio::runtime::Handle;
use tokio::sync::RwLock;

use crate::admit::Scope;
use crate::database::Database;
use crate::mirror::Mirrors;

/// The data that all copies of a base share.
pub(crate) struct Inner {
    pub(crate) database: Arc<Database>,
    /// The base's number in every table.
    pub(crate) number: i32,
    /// Distinguishes this opening from all others of this process.
    pub(crate) opening: u64,
    /// Its address without the password.
    pub(crate) shown: PathBuf,
    pub(crate) who: ProcessIdentity,
    /// For exports, whose callers are on threads of their own.
    pub(crate) runtime: Handle,
    /// Replies that are not known to be written, by key; each with the number of forget operations
    /// when its question began.
    pub(crate) unwritten: Mutex<HashMap<String, (CallRecord, Option<i64>)>>,
    /// Released claims that are still in the database: (holder, key).
    pub(crate) released: Mutex<Vec<(u64, String)>>,
    /// The number of chunks, with their generation.
    pub(crate) chunks: Mutex<Option<(i64, usize)>>,
    /// The totals of full text, with their generation.
    pub(crate) word_totals: Mutex<Option<(i64, WordTotals)>>,
    pub(crate) mirrors: Mirrors,
    /// What the last filters admitted.
    pub(crate) scopes: Scopes<Scope>,
    /// Held by each write of a port while it runs.
    pub(crate) under_way: Arc<RwLock<()>>,
}

/// The totals of full text that weights of words need, over the whole base.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WordTotals {
    /// Chunks that can be searched.
    pub(crate) chunks: i64,
    /// The terms of all of them together.
    pub(crate) length: i64,
}

/// A lock whose holder panicked still guards consistent data.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
