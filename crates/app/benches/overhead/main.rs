//! Measures the time that pikerag adds to its model calls. The program and a bare client send the
//! same requests to a stub that answers after 20 ms. (Figures: `docs/bench/README.md`.)

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod bare;
mod process;
mod proxy;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use pikerag_test_support::{Faults, Server, World, oracle};

use crate::process::{Used, load, run};
use crate::proxy::{Call, Proxy};

/// Each round measures all four, so compared figures are only seconds apart.
const ROUNDS: usize = 7;
/// Chat calls in flight while indexing.
const IN_FLIGHT: usize = 32;
/// Embedding calls in flight: pikerag's default.
const EMBEDS_IN_FLIGHT: usize = 4;
/// Questions asked at a time.
const CONCURRENCY: usize = 8;

fn main() -> Result<()> {
    if !cfg!(target_os = "linux") {
        println!("skipped: processor time and memory are read from /proc");
        return Ok(());
    }
    let stub = Server::start(oracle, Faults::default(), Duration::from_millis(20));
    let scratch = tempfile::tempdir()?;
    let place = Place { folder: scratch.path().to_owned() };
    let world = World::workload();
    fs::write(place.folder.join("corpus.jsonl"), world.corpus())?;
    fs::write(place.folder.join("questions.jsonl"), world.questions())?;
    let work = record(&place, &stub)?;
    println!(
        "{} calls to index, {} calls for {} questions; load {}",
        work.indexing.len(),
        work.questions.iter().map(Vec::len).sum::<usize>(),
        work.questions.len(),
        load()
    );
    let mut rounds = Vec::new();
    for number in 0..ROUNDS {
        rounds.push(round(&place, &stub, &work, number)?);
    }
    println!("{ROUNDS} rounds; load {}\n", load());
    tell(&rounds);
    Ok(())
}

/// The folder of the benchmark's files.
struct Place {
    folder: PathBuf,
}

/// The requests that pikerag sends.
struct Work {
    indexing: Vec<Call>,
    /// The calls of each question, in order.
    questions: Vec<Vec<Call>>,
}

/// Runs everything once through the proxy. Leaves the indexed base, which the rounds copy.
fn record(place: &Place, stub: &Server) -> Result<Work> {
    let proxy = Proxy::start(stub.port())?;
    index(place, proxy.port, &place.folder.join("indexed"))?;
    let indexing = proxy.take();
    ask(place, proxy.port, "recorded", 1)?;
    let mut questions = vec![Vec::new()];
    for call in proxy.take() {
        let is_last = call.asks_for_the_answer();
        questions.last_mut().context("there is always one")?.push(call);
        if is_last {
            questions.push(Vec::new());
        }
    }
    let left = questions.pop().unwrap_or_default();
    ensure!(left.is_empty(), "{} calls after the last answer", left.len());
    Ok(Work { indexing, questions })
}

/// One measurement of everything.
struct Round {
    index: Used,
    bare_index: Used,
    ask: Used,
    bare_ask: Used,
}

fn round(place: &Place, stub: &Server, work: &Work, number: usize) -> Result<Round> {
    let name = format!("round-{number}");
    let index_ours = || index(place, stub.port(), &place.folder.join(format!("{name}-base")));
    let index_bare = || bare::index(stub.port(), &work.indexing, IN_FLIGHT, EMBEDS_IN_FLIGHT);
    let ask_ours = || ask(place, stub.port(), &name, CONCURRENCY);
    let ask_bare = || bare::ask(stub.port(), &work.questions, CONCURRENCY);
    // The order alternates, so that neither client always runs on the machine state that the other
    // left.
    Ok(if number.is_multiple_of(2) {
        let (index, bare_index) = (index_ours()?, index_bare()?);
        Round { index, bare_index, ask: ask_ours()?, bare_ask: ask_bare()? }
    } else {
        let (bare_index, index) = (index_bare()?, index_ours()?);
        let (bare_ask, ask) = (ask_bare()?, ask_ours()?);
        Round { index, bare_index, ask, bare_ask }
    })
}

/// Indexes the corpus into a new base.
fn index(place: &Place, port: u16, base: &Path) -> Result<Used> {
    let (in_flight, corpus) = (IN_FLIGHT.to_string(), place.folder.join("corpus.jsonl"));
    let arguments: [&OsStr; 6] = [
        "index".as_ref(),
        corpus.as_ref(),
        "--base".as_ref(),
        base.as_ref(),
        "--in-flight".as_ref(),
        in_flight.as_ref(),
    ];
    run(&arguments, port, &place.folder)
}

/// Asks all questions of a copy of the indexed base, whose ledger contains none of them.
fn ask(place: &Place, port: u16, name: &str, concurrency: usize) -> Result<Used> {
    let base = place.folder.join(format!("{name}-asked"));
    copy(&place.folder.join("indexed"), &base)?;
    let (questions, out) =
        (place.folder.join("questions.jsonl"), place.folder.join(format!("{name}-out")));
    let concurrency = concurrency.to_string();
    let arguments: [&OsStr; 11] = [
        "eval".as_ref(),
        "--base".as_ref(),
        base.as_ref(),
        "--questions".as_ref(),
        questions.as_ref(),
        "--methods".as_ref(),
        "kar3".as_ref(),
        "--concurrency".as_ref(),
        concurrency.as_ref(),
        "--out".as_ref(),
        out.as_ref(),
    ];
    run(&arguments, port, &place.folder)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, to) = (entry?, to.to_owned());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        } else {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

fn tell(rounds: &[Round]) {
    println!("{:20} {:>8} {:>8} {:>8}", "medians", "pikerag", "bare", "ratio");
    let line = |name: &str, ours: fn(&Round) -> f64, bare: fn(&Round) -> f64| {
        let (ours_s, bare_s) = (median(rounds, ours), median(rounds, bare));
        let ratio = median(rounds, |round| ours(round) / bare(round));
        println!("{name:20} {ours_s:8.3} {bare_s:8.3} {ratio:8.2}");
    };
    line("index, wall s", |round| round.index.wall, |round| round.bare_index.wall);
    line("index, CPU s", |round| round.index.cpu, |round| round.bare_index.cpu);
    line("questions, wall s", |round| round.ask.wall, |round| round.bare_ask.wall);
    line("questions, CPU s", |round| round.ask.cpu, |round| round.bare_ask.cpu);
    println!("{:20} {:8.1}", "index, peak MiB", median(rounds, |round| round.index.peak_mib));
    println!("{:20} {:8.1}", "questions, peak MiB", median(rounds, |round| round.ask.peak_mib));
    println!("\ntargets: wall ratios at most 1.3; questions at most 1.3 CPU-s and 24 MiB");
}

fn median(rounds: &[Round], value: impl Fn(&Round) -> f64) -> f64 {
    let mut values: Vec<f64> = rounds.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
