//! Tests that a kill at a system call, or a disk that is full from there on, loses nothing and pays
//! nothing twice. It tries a sample of the calls; `cargo xtask bench kills` tries all.

use std::path::Path;

use pikerag_test_support::{Sweep, Trouble};

/// The number of points of each kind of trouble.
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
fn a_new_base_survives_a_kill_at_any_call() {
    check(Sweep::fresh, Trouble::Kill);
}

#[test]
fn a_new_base_survives_a_torn_write() {
    check(Sweep::fresh, Trouble::Tear);
}

#[test]
fn a_new_base_survives_a_full_disk() {
    check(Sweep::fresh, Trouble::Full);
}

#[test]
fn an_updated_base_survives_a_kill_at_any_call() {
    check(Sweep::update, Trouble::Kill);
}

#[test]
fn an_updated_base_survives_a_full_disk() {
    check(Sweep::update, Trouble::Full);
}
