//! What does a sudden end cost? At most the calls in flight, whenever it comes; and the base that
//! the next run completes is the one that an undisturbed run makes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Place, Stub, workload};

/// Kills of fresh bases, each at its own point of a run: by time, and again by progress.
const FRESH: u32 = 13;
/// Kills of one base, each a little further on.
const SUCCESSIVE: u64 = 16;

const IN_FLIGHT: u64 = 4;
/// Texts that are being embedded at a time: two requests of eight.
const EMBEDDING: u64 = 16;
const SETTINGS: &str = "[chat]\nin_flight = 4\n[embed]\nbatch = 8\nin_flight = 2\n";

const INDEX: [&str; 4] = ["--base", "base", "index", "corpus.jsonl"];

/// A small corpus, and what an undisturbed run makes of it.
struct Bench {
    stub: Stub,
    place: Place,
    chunks: u64,
    export: String,
    found: String,
    takes: Duration,
    /// How often a kill came between the first model call and the last.
    amid: u32,
}

impl Bench {
    fn new(chunks: usize) -> Option<Self> {
        let stub = Stub::start(&["--latency-ms", "2"])?;
        let place = Place::with(&stub);
        place.write("pikerag.toml", SETTINGS);
        let corpus = std::fs::read_to_string(workload("corpus.jsonl")).unwrap();
        let lines: Vec<&str> = corpus.lines().take(chunks).collect();
        place.write("corpus.jsonl", lines.join("\n"));
        let began = Instant::now();
        place.run_to(0, &INDEX);
        let takes = began.elapsed();
        let (export, found) = (place.export("base"), found(&place));
        assert_eq!(stub.count("/chat_requests"), chunks as u64);
        Some(Self { stub, place, chunks: chunks as u64, export, found, takes, amid: 0 })
    }

    /// Forgets the base and the stub's counters.
    fn begin(&self) {
        std::fs::remove_dir_all(self.place.path("base")).unwrap();
        self.stub.reset();
    }

    /// Starts indexing and kills it when `when` says so; whether it was still at work.
    fn kill(&mut self, mut when: impl FnMut(&Stub) -> bool) -> bool {
        let mut command = self.place.command(&INDEX);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut ended = false;
        while !ended && !when(&self.stub) {
            ended = child.try_wait().unwrap().is_some();
        }
        ended = ended || child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        self.amid += u32::from((1..self.chunks).contains(&self.stub.count("/chat_requests")));
        !ended
    }

    /// Lets indexing end and looks at what came of it and what it cost.
    fn end(&self, kills: u64, at: &str) {
        self.place.run_to(0, &INDEX);
        assert!(self.place.export("base") == self.export, "another base: {at}");
        assert_eq!(found(&self.place), self.found, "{at}");
        let repeated = self.stub.count("/chat_repeated_prompts");
        assert!(repeated <= IN_FLIGHT * kills, "{repeated} calls twice: {at}");
        assert_eq!(self.stub.count("/chat_requests"), self.chunks + repeated, "{at}");
        let repeated = self.stub.count("/embedding_repeated_inputs");
        assert!(repeated <= EMBEDDING * kills, "{repeated} texts twice: {at}");
    }
}

/// What a search by words and meaning gives: the derived indexes must be whole too.
fn found(place: &Place) -> String {
    place.run_to(0, &["--base", "base", "--json", "search", "a company in a city"]).stdout
}

#[test]
fn whenever_it_is_killed_the_next_run_goes_on() {
    let Some(mut bench) = Bench::new(40) else { return };
    for point in 0..FRESH {
        let mut delay = bench.takes * point / FRESH;
        // A run that was faster than the measured one is killed earlier.
        loop {
            bench.begin();
            let began = Instant::now();
            if bench.kill(|_| {
                std::thread::sleep(Duration::from_millis(1));
                delay <= began.elapsed()
            }) {
                break;
            }
            delay = delay * 3 / 4;
        }
        bench.end(1, &format!("killed after {delay:?} of {:?}", bench.takes));
    }
    println!("{FRESH} kills within {:?}, {} amid model calls", bench.takes, bench.amid);
}

/// Kills by what has reached the server: at work, whatever the speed of the machine.
#[test]
fn whatever_it_was_doing_the_next_run_goes_on() {
    let Some(mut bench) = Bench::new(40) else { return };
    let all = bench.stub.requests();
    for point in 0..FRESH {
        let reached = u64::from(point) * all / u64::from(FRESH);
        bench.begin();
        assert!(bench.kill(|stub| reached <= stub.requests()), "ended before {reached} of {all}");
        bench.end(1, &format!("killed after {reached} requests of {all}"));
    }
    println!("{FRESH} kills within {all} requests, {} amid model calls", bench.amid);
    assert!(FRESH / 5 < bench.amid, "too few kills came amid the work: this test shows little");
}

#[test]
fn many_kills_in_a_row_cost_no_more_than_each_alone() {
    let Some(mut bench) = Bench::new(100) else { return };
    let all = bench.stub.requests();
    bench.begin();
    for nth in 0..SUCCESSIVE {
        let reached = (1 + nth) * all / (1 + SUCCESSIVE);
        assert!(bench.kill(|stub| reached <= stub.requests()), "ended before {reached} of {all}");
    }
    bench.end(SUCCESSIVE, "killed many times");
    println!("{SUCCESSIVE} kills within {all} requests, {} amid model calls", bench.amid);
    assert!(5 < bench.amid, "too few kills came amid the work: this test shows little");
}
