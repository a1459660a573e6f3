//! What may a process take that reads hostile bytes? It sets that itself, and cannot lift it.

use std::io;

use rlimit::{Resource, setrlimit};

/// Whether the system takes a limit of address space. macOS refuses one: there time and files alone are limited.
pub(crate) const LIMITS_MEMORY: bool = !cfg!(target_os = "macos");

/// Limits this process: MiB of address space, seconds of processor time, MiB of a file that it writes; no core is dumped.
pub(super) fn limit(memory_mib: u64, cpu_seconds: u64, file_mib: u64) -> io::Result<()> {
    if LIMITS_MEMORY {
        setrlimit(Resource::AS, memory_mib << 20, memory_mib << 20)?;
    }
    setrlimit(Resource::CPU, cpu_seconds, cpu_seconds + 1)?;
    setrlimit(Resource::FSIZE, file_mib << 20, file_mib << 20)?;
    setrlimit(Resource::CORE, 0, 0)
}
