//! What is lost and paid for twice if indexing is killed, or the disk is full, at any system call? Every
//! call that changes a file of a small base, one after the other (or every n-th: `-- n`).

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use pikerag_test_support::{Sweep, Trouble};

fn main() -> Result<()> {
    let program = Path::new(env!("CARGO_BIN_EXE_pikerag"));
    // Cargo adds `--bench`.
    let step = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let step: usize = step.map_or(Ok(1), |step| step.parse()).context("every how many calls?")?;
    ensure!(0 < step, "every how many calls? Not every 0th");
    let mut faults = 0;
    for (what, sweep) in [("first", Sweep::fresh(program)), ("again", Sweep::update(program))] {
        let sweep = sweep.context("trouble cannot be made on this machine")?;
        for trouble in [Trouble::Kill, Trouble::Tear, Trouble::Full] {
            let began = Instant::now();
            let all = sweep.points(trouble);
            let tally = sweep.each(trouble, (1..=all).step_by(step));
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
