//! Limits the process that reads hostile bytes. It sets the limits on itself and cannot lift them.

use std::io;

use rlimit::{Resource, getrlimit, setrlimit};

/// Whether the system can limit address space. macOS cannot; there only time and files are limited.
pub(crate) const LIMITS_MEMORY: bool = !cfg!(target_os = "macos");

/// Limits this process: MiB of address space, seconds of processor time, MiB of a file that it
/// writes; it dumps no core. A lower limit of the system stays.
pub(super) fn limit(memory_mib: u64, cpu_seconds: u64, file_mib: u64) -> io::Result<()> {
    if LIMITS_MEMORY {
        at_most(Resource::AS, memory_mib << 20, memory_mib << 20)?;
    }
    at_most(Resource::CPU, cpu_seconds, cpu_seconds + 1)?;
    at_most(Resource::FSIZE, file_mib << 20, file_mib << 20)?;
    at_most(Resource::CORE, 0, 0)
}

fn at_most(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let (_, allowed) = getrlimit(resource)?;
    setrlimit(resource, soft.min(allowed), hard.min(allowed))
}
