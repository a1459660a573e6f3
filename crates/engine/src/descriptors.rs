//! Raises the number of files and connections that this process may have open, and bounds it.

pub use pikerag_store::hold_at_most;

/// Enough for any load of pikerag. It is bounded because some programs that children start close
/// every possible descriptor.
pub(crate) const WANTED: u64 = 1 << 16;

/// Raises the soft limit of open files as far as the hard limit allows, and returns the new limit.
pub fn raise_descriptors() -> usize {
    let raised = rlimit::increase_nofile_limit(WANTED).unwrap_or_else(|error| {
        tracing::warn!(%error, "the limit of open files stays as it is");
        1024
    });
    usize::try_from(raised).unwrap_or(usize::MAX)
}
