//! Measures searches while the base is written. One process searches and indexes at once, as a
//! server does.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pikerag_knowledge::{AtomKind, SearchIndex, SearchWriter, nearest_atoms, nearest_chunks};
use pikerag_store::{Base, Freshness};
use tokio::runtime::{Builder, Runtime};

use crate::synthetic::{self, Random, Size};
use crate::{FOUND, is_small};

/// The argument that runs this benchmark alone.
pub(crate) const NAME: &str = "busy";

const SEARCHES: usize = 400;
/// Documents stored at a time.
const AT_A_TIME: usize = 50;

/// Copies the large base, searches the copy idle and while it is indexed, and prints the quantiles.
pub(crate) fn report() {
    let chunks = if is_small() { 10_000 } else { 100_000 };
    let size = Size { chunks, atoms_per_chunk: 10 };
    println!(
        "\nsearching {chunks} chunks and {} atoms (words, chunks and atoms by meaning), in ms",
        size.chunks * size.atoms_per_chunk
    );
    let copy = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    copy_folder(&synthetic::base(size), copy.path());
    println!("{:34} {:>8} {:>8} {:>8}", "", "p50", "p95", "most");
    for (name, freshness) in [
        ("up to 1 s behind", Freshness::Within(Duration::from_secs(1))),
        ("never behind", Freshness::Now),
    ] {
        let base = Base::open_with(copy.path(), freshness).expect("a base");
        let runtime = Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
        line("idle", searches(&runtime, &base));
        let (stop, stored) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let indexing = {
            let (base, stop, stored) = (base.clone(), Arc::clone(&stop), Arc::clone(&stored));
            runtime.spawn(async move { index(&base, name, &stop, &stored).await })
        };
        let began = Instant::now();
        line(&format!("while indexing, {name}"), searches(&runtime, &base));
        stop.store(true, Ordering::Relaxed);
        let rate = stored.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64();
        runtime.block_on(indexing).expect("indexing ends");
        println!(
            "    {rate:.0} chunks a second were stored meanwhile, each with ten atoms and vectors"
        );
    }
}

fn line(name: &str, mut took: Vec<f64>) {
    took.sort_by(f64::total_cmp);
    let at = |share: f64| {
        took.get((took.len() as f64 * share) as usize).or(took.last()).copied().unwrap_or_default()
    };
    println!("{name:34} {:8.1} {:8.1} {:8.1}", at(0.5), at(0.95), at(1.0));
}

/// Milliseconds of each search.
fn searches(runtime: &Runtime, base: &Base) -> Vec<f64> {
    let mut random = Random(11);
    let mut search = || {
        let (words, query) = (random.question(6).join(" "), [random.unit_vector()]);
        let began = Instant::now();
        runtime.block_on(async {
            base.matching_chunks(&words, FOUND).await.expect("found");
            nearest_chunks(base, &query, 8, -1.0).await.expect("found");
            nearest_atoms(base, AtomKind::Question, &query, 4, -1.0, &[]).await.expect("found");
        });
        began.elapsed().as_secs_f64() * 1e3
    };
    // The first search opens indexes, which is not measured.
    search();
    (0..SEARCHES).map(|_| search()).collect()
}

async fn index(base: &Base, name: &str, stop: &AtomicBool, stored: &AtomicUsize) {
    let mut random = Random(12);
    for file in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let path = format!("{name}-{file}.jsonl");
        synthetic::put(base, &path, AT_A_TIME, 10, &mut random).await;
        stored.fetch_add(AT_A_TIME, Ordering::Relaxed);
    }
    base.refresh().await.expect("indexes are built");
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let (entry, to) = (entry.expect("an entry"), to);
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).expect("a folder");
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
