//! Measures how fast a base finds things, and how fast it opens. (Figures: `docs/bench/README.md`.)
//!
//! Reports wall time by divan, then processor time, then opening a large base in a process of its
//! own. Bases are built once and kept in the target folder; `PIKERAG_BENCH_SMALL=1` leaves out
//! sizes above 10,000 chunks.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where a step fails"
)]

mod busy;
mod filtered;
mod measure;
mod opening;
mod synthetic;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use divan::Bencher;
use pikerag_knowledge::{ChunkId, SearchIndex};
use pikerag_scan::{Among, Codes, Near, Rows};
use pikerag_store::Base;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::runtime::{Builder, Runtime};

use crate::measure::processor_time_per_call;
use crate::synthetic::{Random, Size};

/// Candidates that the store finds before the exact scores decide.
const SCANNED: usize = 50;
/// Hits that hybrid search requests from each side.
const FOUND: usize = 100;
/// The argument that reports the processor time of scans alone.
const PROCESSOR: &str = "processor";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, folder] = arguments.as_slice()
        && flag == opening::FLAG
    {
        opening::child(Path::new(folder));
        return;
    }
    if arguments.iter().any(|argument| argument == busy::NAME) {
        busy::report();
        return;
    }
    if arguments.iter().any(|argument| argument == PROCESSOR) {
        scans_in_processor_time();
        return;
    }
    // An argument that names a benchmark runs that one alone.
    let is_whole = arguments.iter().all(|argument| argument == "--bench");
    if is_whole {
        for n in chunks() {
            base(n);
        }
    }
    divan::main();
    if is_whole {
        processor_time();
        opening::report();
        busy::report();
    }
}

/// Whether only sizes that are quickly built are measured.
fn is_small() -> bool {
    std::env::var_os("PIKERAG_BENCH_SMALL").is_some_and(|value| value == "1")
}

fn vectors() -> Vec<usize> {
    if is_small() { vec![10_000] } else { vec![10_000, 100_000, 1_000_000] }
}

fn chunks() -> Vec<usize> {
    if is_small() { vec![10_000] } else { vec![10_000, 100_000] }
}

/// One case of a scan.
#[derive(Clone, Copy)]
struct Scan {
    vectors: usize,
    queries: usize,
    /// 0 uses all cores.
    threads: usize,
}

impl fmt::Display for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = if self.threads == 0 { "all threads" } else { "1 thread" };
        write!(f, "{} vectors, {} at a time, {threads}", self.vectors, self.queries)
    }
}

fn scans() -> Vec<Scan> {
    let mut all = Vec::new();
    for vectors in vectors() {
        for queries in [1, 8] {
            all.extend([1, 0].map(|threads| Scan { vectors, queries, threads }));
        }
    }
    all
}

/// Codes alone: the cost of a search before anything is read from disk.
#[divan::bench(args = scans(), max_time = 5)]
fn scan(bencher: Bencher<'_, '_>, case: Scan) {
    let (codes, pool, queries) = (codes(case.vectors), pool(case.threads), queries(case.queries));
    bencher.bench_local(|| scan_once(&codes, &pool, &queries));
}

fn scan_once(codes: &Codes, pool: &ThreadPool, queries: &[Vec<f32>]) -> Vec<Vec<Near>> {
    pool.install(|| {
        codes.nearest(queries, SCANNED, -1.0, Among { exclude: &HashSet::new(), rows: None })
    })
}

/// The same through the port: the best fifty are scored again from the stored vectors.
#[divan::bench(args = chunks(), consts = [1, 8], max_time = 5)]
fn nearest_chunks<const QUERIES: usize>(bencher: Bencher<'_, '_>, chunks: usize) {
    let (base, runtime, queries) = (base(chunks), runtime(), queries(QUERIES));
    bencher.bench_local(|| {
        runtime.block_on(pikerag_knowledge::nearest_chunks(&base, &queries, 8, -1.0))
    });
}

/// BM25: six words, the best hundred.
#[divan::bench(args = chunks(), max_time = 5)]
fn matching_chunks(bencher: Bencher<'_, '_>, chunks: usize) {
    let (base, runtime, mut questions) = (base(chunks), runtime(), questions());
    bencher.with_inputs(|| questions.next().unwrap_or_default()).bench_local_values(|words| {
        runtime.block_on(base.matching_chunks(&words.join(" "), FOUND))
    });
}

/// The scores of six words in the best hundred chunks, with which hop retrieval begins.
#[divan::bench(args = chunks(), max_time = 5)]
fn term_scores(bencher: Bencher<'_, '_>, chunks: usize) {
    let (base, runtime, mut questions) = (base(chunks), runtime(), questions());
    let inputs = || {
        let words = questions.next().unwrap_or_default();
        let best = found(&runtime, &base, &words);
        (words, best)
    };
    bencher
        .with_inputs(inputs)
        .bench_local_values(|(words, best)| runtime.block_on(base.term_scores(&words, &best)));
}

/// The best chunks for these words.
fn found(runtime: &Runtime, base: &(impl SearchIndex + ?Sized), words: &[String]) -> Vec<ChunkId> {
    let hits = runtime.block_on(base.matching_chunks(&words.join(" "), FOUND)).expect("found");
    hits.into_iter().map(|hit| hit.item).collect()
}

/// Repeats the scans in processor time, which other work on the machine hardly changes.
fn scans_in_processor_time() {
    println!("\nprocessor time, in ms a query");
    for case in scans().into_iter().filter(|case| case.threads == 1) {
        let (codes, pool, queries) = (codes(case.vectors), pool(1), queries(case.queries));
        let each = processor_time_per_call(|| drop(scan_once(&codes, &pool, &queries)));
        println!("{:44} {:8.3}", format!("scan, {case}"), each / case.queries as f64);
    }
    let n = vectors().into_iter().max().unwrap_or_default();
    let (codes, pool) = (codes(n), pool(1));
    for percent in [1, 10, 50, 100] {
        let rows =
            Rows::of(&codes, |id, _| id.wrapping_mul(0x9E37_79B9) >> 7 & 127 < percent * 128 / 100);
        let among = Among { exclude: &HashSet::new(), rows: Some(&rows) };
        for n_queries in [1, 8] {
            let queries = queries(n_queries);
            let scan = || drop(codes.nearest(&queries, SCANNED, -1.0, among));
            let each = processor_time_per_call(|| pool.install(scan));
            let name = format!("scan of {percent} % of {n}, {n_queries} at a time");
            println!("{name:44} {:8.3}", each / n_queries as f64);
        }
    }
}

/// Repeats the same calls in processor time.
fn processor_time() {
    scans_in_processor_time();
    for n in chunks() {
        let (base, runtime) = (base(n), runtime());
        for n_queries in [1, 8] {
            let queries = queries(n_queries);
            let each = processor_time_per_call(|| {
                runtime
                    .block_on(pikerag_knowledge::nearest_chunks(&base, &queries, 8, -1.0))
                    .expect("found");
            });
            let name = format!("nearest_chunks, {n:>6} chunks, {n_queries} at a time");
            println!("{name:44} {:8.3}", each / n_queries as f64);
        }
        let mut all = questions();
        let mut words = || all.next().unwrap_or_default();
        let each = processor_time_per_call(|| {
            runtime.block_on(base.matching_chunks(&words().join(" "), FOUND)).expect("found");
        });
        println!("{:44} {each:8.3}", format!("matching_chunks, {n:>6} chunks"));
        let question = words();
        let best = found(&runtime, &base, &question);
        let each = processor_time_per_call(|| {
            runtime.block_on(base.term_scores(&question, &best)).expect("found");
        });
        println!("{:44} {each:8.3}", format!("term_scores, {n:>6} chunks"));
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn queries(n: usize) -> Vec<Vec<f32>> {
    let mut random = Random(7);
    (0..n).map(|_| random.unit_vector()).collect()
}

/// Questions of six words without end, the same in every run.
fn questions() -> impl Iterator<Item = Vec<String>> {
    let mut random = Random(8);
    std::iter::repeat_with(move || random.question(6))
}

/// Codes of `n` vectors; the last ones requested are kept.
fn codes(n: usize) -> Arc<Codes> {
    static MADE: Mutex<Option<(usize, Arc<Codes>)>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((size, codes)) = made.as_ref()
        && *size == n
    {
        return Arc::clone(codes);
    }
    let (mut random, mut codes) = (Random(1), Codes::default());
    for id in 0..n as u64 {
        assert!(codes.push(id, id, &random.unit_vector()), "all have the same length");
    }
    let codes = Arc::new(codes);
    *made = Some((n, Arc::clone(&codes)));
    codes
}

/// A base with this many chunks and their vectors, opened and warm.
fn base(chunks: usize) -> Base {
    static OPENED: OnceLock<Mutex<BTreeMap<usize, Base>>> = OnceLock::new();
    let opened = OPENED.get_or_init(Mutex::default);
    let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
    let open =
        || Base::open(&synthetic::base(Size { chunks, atoms_per_chunk: 0 })).expect("a base");
    opened.entry(chunks).or_insert_with(open).clone()
}
