//! Checks the lease of a worker.

use pikerag_knowledge::Lease;
use rusqlite::Connection;

/// Whether a lease has not ended.
pub(super) fn is_held(connection: &Connection, lease: Lease) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM job_leases WHERE fence = ?1";
    connection.prepare_cached(sql)?.exists([lease.fence.cast_signed()])
}
