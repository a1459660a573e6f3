//! Counts lost data and repeated payments after a kill or a full disk at each system call of
//! indexing. It interrupts every call that changes a file of a small base, one after the other (or
//! every n-th: `-- n`), on all cores.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use pikerag_test_support::{Sweep, Tally, Trouble};

/// Prepares the base from which a sweep begins.
type Begin = fn(&Path) -> Option<Sweep>;

fn main() -> Result<()> {
    let program = Path::new(env!("CARGO_BIN_EXE_pikerag"));
    // Cargo adds `--bench`.
    let step = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let step: usize = step.map_or(Ok(1), |step| step.parse()).context("every how many calls?")?;
    ensure!(0 < step, "every how many calls? Not every 0th");
    let cores = thread::available_parallelism()?.get();
    let mut faults = 0;
    let kinds: [(&str, Begin); 2] = [("first", Sweep::fresh), ("again", Sweep::update)];
    for (what, sweep) in kinds {
        // Each sweep has its own base and server.
        let sweeps: Option<Vec<Sweep>> = (0..cores).map(|_| sweep(program)).collect();
        let sweeps = sweeps.context("trouble cannot be made on this machine")?;
        for trouble in [Trouble::Kill, Trouble::Tear, Trouble::Full] {
            let began = Instant::now();
            let all = sweeps.iter().map(|sweep| sweep.points(trouble)).max().unwrap_or(0);
            let points: Vec<u64> = (1..=all).step_by(step).collect();
            let tally = each(&sweeps, trouble, &points);
            for fault in tally.lost.iter().chain(&tally.paid_at) {
                println!("  {fault}");
            }
            let seconds = began.elapsed().as_secs_f64();
            println!(
                "index {what}, {trouble:?}: {} of {all} points tried, {} lost, {} paid twice, {seconds:.0} s",
                tally.tried,
                tally.lost.len(),
                tally.paid_twice
            );
            faults += tally.lost.len() as u64 + tally.paid_twice;
        }
    }
    ensure!(faults == 0, "{faults} faults");
    Ok(())
}

/// Interrupts the program at each of these points, with one thread for each sweep.
fn each(sweeps: &[Sweep], trouble: Trouble, points: &[u64]) -> Tally {
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    thread::scope(|scope| {
        for sweep in sweeps {
            let (next, tally) = (&next, &tally);
            scope.spawn(move || {
                loop {
                    let done = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&at) = points.get(done) else { return };
                    let point = sweep.meet(trouble, at);
                    let tally = tally.lock();
                    tally.unwrap_or_else(PoisonError::into_inner).count(trouble, at, point);
                    if done % 200 == 199 {
                        eprintln!("{trouble:?}: {} of {} points", done + 1, points.len());
                    }
                }
            });
        }
    });
    tally.into_inner().unwrap_or_else(PoisonError::into_inner)
}
