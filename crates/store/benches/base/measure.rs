//! What has this process used up? As Linux counts it; elsewhere the figures read 0.

use std::fs;
use std::time::Duration;

/// Processor time of all threads that are alive.
pub(crate) fn processor_time() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

/// The most memory that was ever resident, in MiB.
pub(crate) fn peak_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// Processor time of one call in ms, over as many calls as take half a second, after one to warm up.
pub(crate) fn processor_time_per_call(mut call: impl FnMut()) -> f64 {
    call();
    let before = processor_time();
    let mut calls = 0;
    loop {
        call();
        calls += 1;
        let used = processor_time().saturating_sub(before);
        if Duration::from_millis(500) < used || 5_000 <= calls {
            return used.as_secs_f64() * 1e3 / f64::from(calls);
        }
    }
}
