//! Measures how long a large base takes to give its first answer, and the resources for it. Each
//! opening has its own process, so that its memory is its own.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use pikerag_knowledge::{AtomKind, nearest_atoms};
use pikerag_store::Base;

use crate::measure::{peak_memory, processor_time};
use crate::synthetic::{self, Random, Size};
use crate::{is_small, runtime};

/// The argument that makes a process open a base and report.
pub(crate) const FLAG: &str = "--open-a-base";

const LARGE: Size = Size { chunks: 100_000, atoms_per_chunk: 10 };
/// Disk space for building the large base, in GiB.
const LARGE_GIB: u64 = 8;

/// Opens the base and prints: ms to the first answer, ms of processor time, MiB at the most.
pub(crate) fn child(folder: &Path) {
    let queries = [Random(9).unit_vector()];
    let began = Instant::now();
    let base = Base::open(folder).expect("a base");
    let search = nearest_atoms(&base, AtomKind::Question, &queries, 4, -1.0, &[]);
    let found = runtime().block_on(search).expect("an answer");
    assert_eq!(found.first().map(Vec::len), Some(4), "four atoms are found");
    let wall = began.elapsed();
    println!(
        "{} {} {}",
        wall.as_secs_f64() * 1e3,
        processor_time().as_secs_f64() * 1e3,
        peak_memory()
    );
}

/// Builds the large base if needed, opens it a few times and prints the medians.
pub(crate) fn report() {
    println!("\nopening a base of 100,000 chunks and 1,000,000 atoms, to the first answer");
    if is_small() {
        println!("left out: PIKERAG_BENCH_SMALL is set");
        return;
    }
    if let Some(free) = synthetic::free_gib()
        && free < LARGE_GIB
        && !synthetic::is_built(LARGE)
    {
        println!("left out: {LARGE_GIB} GiB of disk are needed, {free} are free");
        return;
    }
    let folder = synthetic::base(LARGE);
    println!("{:24} {:>8} {:>8} {:>9}", "", "wall ms", "CPU ms", "peak MiB");
    line("codes on disk", &median(&[(); 7].map(|()| open(&folder))));
    let rebuilt = [(); 3].map(|()| {
        std::fs::remove_file(folder.join("questions.codes")).expect("the file of the codes");
        open(&folder)
    });
    line("codes to be rebuilt", &median(&rebuilt));
}

fn line(name: &str, [wall, cpu, peak]: &[f64; 3]) {
    println!("{name:24} {wall:8.0} {cpu:8.0} {peak:9.0}");
}

fn open(folder: &Path) -> [f64; 3] {
    let program = std::env::current_exe().expect("our own program");
    let output = Command::new(program).arg(FLAG).arg(folder).output().expect("a child");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = numbers.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    numbers.try_into().expect("three numbers")
}

fn median(runs: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|column| {
        let mut values: Vec<f64> = runs.iter().filter_map(|run| run.get(column).copied()).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    })
}
