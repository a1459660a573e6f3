//! Reads how much memory is free, from the system and from the limits of a container.

use std::fs;
use std::path::Path;

/// Bytes that new processes may use without swapping; `None` if the system does not report them.
pub(crate) fn free_memory() -> Option<u64> {
    let system = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    Some(in_container(Path::new("/sys/fs/cgroup")).map_or(system, |limit| limit.min(system)))
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib << 10)
}

/// The rest of a container's limit (cgroup 2). Pages of files count as free, since the kernel drops
/// them.
fn in_container(folder: &Path) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
    };
    let (most, used) = (number("memory.max")?, number("memory.current")?);
    let parts = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let pages = parts.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let pages = pages.and_then(|pages| pages.trim().parse().ok()).unwrap_or(0);
    Some(most.saturating_sub(used.saturating_sub(pages)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_system_and_container_is_free() {
        let meminfo = "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n";
        assert_eq!(available(meminfo), Some(8_000_000 << 10));
        assert_eq!(available("MemTotal: 1 kB"), None);
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(in_container(folder.path()), None);
        write("memory.max", "max\n");
        write("memory.current", "600\n");
        assert_eq!(in_container(folder.path()), None);
        write("memory.max", "1000\n");
        write("memory.stat", "anon 5\ninactive_file 100\n");
        assert_eq!(in_container(folder.path()), Some(500));
    }
}
