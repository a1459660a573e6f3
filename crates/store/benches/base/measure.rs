//! Measures the resources that this process has used, as Linux counts them; elsewhere the figures
//! are 0.

use std::fs;
use std::time::{Duration, Instant};

/// Ends a measurement where processor time cannot be read.
const MAX_TIME: Duration = Duration::from_secs(30);

/// Processor time of all threads, in steps of 10 ms.
pub(crate) fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // proc(5): utime and stime are fields 14 and 15; the second, a name, may hold anything.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// The most memory that was ever resident, in MiB.
pub(crate) fn peak_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// Processor time of one call in ms, over as many calls as take a second, after one to warm up.
pub(crate) fn processor_time_per_call(mut call: impl FnMut()) -> f64 {
    call();
    let (began, before, mut calls) = (Instant::now(), processor_time(), 0);
    loop {
        call();
        calls += 1;
        let used = processor_time().saturating_sub(before);
        if Duration::from_secs(1) <= used || MAX_TIME <= began.elapsed() {
            return used.as_secs_f64() * 1e3 / f64::from(calls);
        }
    }
}
