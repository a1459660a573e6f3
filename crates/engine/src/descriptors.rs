//! Raises how many files and connections this process may have open, and keeps to it.

pub use pikerag_store::hold_at_most;

/// As many as any load of ours takes; some programs that children start close all that they might have.
const WANTED: u64 = 1 << 16;

/// Raises the soft limit of open files as far as the hard one allows; what it is then.
pub fn raise_descriptors() -> usize {
    let raised = rlimit::increase_nofile_limit(WANTED).unwrap_or_else(|error| {
        tracing::warn!(%error, "the limit of open files stays as it is");
        1024
    });
    usize::try_from(raised).unwrap_or(usize::MAX)
}
