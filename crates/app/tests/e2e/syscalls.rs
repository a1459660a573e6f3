//! Is anything lost or paid for twice if the program is killed at a system call, or the disk is full from
//! there on? A sample of the calls; `cargo xtask bench kills` tries all.

use std::path::Path;

use pikerag_test_support::{Sweep, Trouble};

/// Points of each kind of trouble.
const SAMPLE: u64 = 4;

fn check(sweep: fn(&Path) -> Option<Sweep>, trouble: Trouble) {
    let Some(sweep) = sweep(Path::new(env!("CARGO_BIN_EXE_pikerag"))) else { return };
    let tally = sweep.sample(trouble, SAMPLE);
    println!("{trouble:?}: {} of {} points", tally.tried, sweep.points(trouble));
    assert_eq!(tally.lost, [""; 0]);
    assert_eq!(tally.paid_at, [""; 0]);
    assert!(SAMPLE / 2 <= tally.tried, "only {} points were reached", tally.tried);
}

#[test]
fn a_base_in_the_making_survives_a_kill_at_any_call() {
    check(Sweep::fresh, Trouble::Kill);
}

#[test]
fn a_base_in_the_making_survives_a_torn_write() {
    check(Sweep::fresh, Trouble::Tear);
}

#[test]
fn a_base_in_the_making_survives_a_full_disk() {
    check(Sweep::fresh, Trouble::Full);
}

#[test]
fn a_base_that_follows_its_files_survives_a_kill_at_any_call() {
    check(Sweep::update, Trouble::Kill);
}

#[test]
fn a_base_that_follows_its_files_survives_a_full_disk() {
    check(Sweep::update, Trouble::Full);
}
