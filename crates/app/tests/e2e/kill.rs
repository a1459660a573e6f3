//! Tests that a kill at any moment costs at most the calls in flight, and that the next run
//! completes the same base as an undisturbed run.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::common::Place;
use crate::talker::Talker;

/// The number of kills of fresh bases, each at another point of a run: by time, and again by
/// progress.
const FRESH: u32 = 13;
/// The number of kills of one base, each a little later than the one before.
const SUCCESSIVE: u64 = 16;

const IN_FLIGHT: u64 = 4;
/// The number of texts that are embedded at a time: two requests of eight.
const EMBEDDING: u64 = 16;
const SETTINGS: &str = "[chat]\nin_flight = 4\n[embed]\nbatch = 8\nin_flight = 2\n";

/// Settings that use models for everything that indexing offers.
const EVERYTHING: &str = r#"
[index]
max_tokens = 60
chunking = "enhanced"
min_tokens = 20
summarize = ["tables", "sources"]
describe = true
atoms = ["questions", "statements"]
with = ["graph", "tree", "tags"]
[[records]]
name = "machine"
key = ["name"]
fields = [{ name = "name" }]
"#;

const INDEX: [&str; 4] = ["--base", "base", "index", "docs"];

/// A small corpus, and the result of an undisturbed run.
struct Bench {
    talker: Talker,
    place: Place,
    calls: u64,
    requests: u64,
    export: String,
    found: String,
    takes: Duration,
    /// The number of kills between the first model call and the last.
    amid: u32,
}

impl Bench {
    /// Chunks with the questions that they answer.
    fn plain(chunks: usize) -> Self {
        let mut corpus = String::new();
        for n in 0..chunks {
            let text = format!("Firm {n} makes cranes of {n} tons in Port {}.", n % 7);
            let record = serde_json::json!({"title": format!("Firm {n}"), "text": text});
            writeln!(corpus, "{record}").unwrap();
        }
        let bench = Self::new(SETTINGS, &[("docs/corpus.jsonl", corpus.into_bytes())]);
        assert_eq!(bench.calls, chunks as u64);
        bench
    }

    /// Documents with all derived structures.
    fn full() -> Self {
        let mut files = Vec::new();
        for n in 0..3 {
            files.push((format!("docs/{n}.md"), document(n).into_bytes()));
            files.push((format!("docs/{n}.docx"), word_document(n)));
        }
        let files: Vec<_> =
            files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        Self::new(&format!("{SETTINGS}{EVERYTHING}"), &files)
    }

    fn new(settings: &str, files: &[(&str, Vec<u8>)]) -> Self {
        let talker = Talker::start();
        let place = talker.place();
        place.write("pikerag.toml", settings);
        for (name, bytes) in files {
            place.write(name, bytes);
        }
        let began = Instant::now();
        place.run_to(0, &INDEX);
        let takes = began.elapsed();
        let (calls, requests) = (talker.received().chats, talker.received().requests());
        let (export, found) = (place.export("base"), search(&place));
        Self { talker, place, calls, requests, export, found, takes, amid: 0 }
    }

    /// Removes the base and resets the counts of the server.
    fn begin(&self) {
        std::fs::remove_dir_all(self.place.path("base")).unwrap();
        self.talker.reset();
    }

    /// Kills indexing after this number of requests has reached the server, which answers no more
    /// than these.
    fn kill_at(&mut self, reached: u64) {
        self.talker.answer_only(reached);
        assert!(
            self.kill(|talker| reached <= talker.received().requests()),
            "ended before {reached} requests"
        );
        self.talker.answer_all();
    }

    /// Starts indexing and kills it when `when` returns true. Returns whether it was still running.
    fn kill(&mut self, mut when: impl FnMut(&Talker) -> bool) -> bool {
        let mut command = self.place.command(&INDEX);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut ended = false;
        while !ended && !when(&self.talker) {
            std::thread::sleep(Duration::from_micros(200));
            ended = child.try_wait().unwrap().is_some();
        }
        ended = ended || child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        self.amid += u32::from((1..self.calls).contains(&self.talker.received().chats));
        !ended
    }

    /// Finishes indexing, then checks the base and its cost.
    fn finish(&self, kills: u64, at: &str) {
        self.place.run_to(0, &INDEX);
        assert!(self.place.export("base") == self.export, "another base: {at}");
        assert_eq!(search(&self.place), self.found, "{at}");
        let repeated = self.talker.received().repeated_chats;
        assert!(repeated <= IN_FLIGHT * kills, "{repeated} calls twice: {at}");
        assert_eq!(self.talker.received().chats, self.calls + repeated, "{at}");
        let repeated = self.talker.received().repeated_texts;
        assert!(repeated <= EMBEDDING * kills, "{repeated} texts twice: {at}");
    }

    /// Kills fresh bases, each after another number of requests: during the work, whatever the
    /// speed of the machine.
    fn kill_by_progress(mut self) {
        for point in 0..FRESH {
            let reached = u64::from(point) * self.requests / u64::from(FRESH);
            let at = format!("killed after {reached} requests of {}", self.requests);
            self.begin();
            self.kill_at(reached);
            self.finish(1, &at);
        }
        self.check_kills(FRESH);
    }

    /// Checks that enough kills came between model calls.
    fn check_kills(&self, kills: u32) {
        println!("{kills} kills within {} requests, {} amid model calls", self.requests, self.amid);
        assert!(
            FRESH / 5 < self.amid,
            "too few kills came during the work: this test shows little"
        );
    }
}

/// A document with sections, a table and names in two languages; no two parts are equal.
fn document(n: usize) -> String {
    let mut text = format!("# Crane KX-{n}0\n\n");
    for part in 0..4 {
        let word = format!("word{n}{part}");
        writeln!(text, "## Part {part} of KX-{n}0\n").unwrap();
        for sentence in 0..4 {
            writeln!(text, "Sentence {sentence} tells of the Slew Ring at {word} in plain words.")
                .unwrap();
        }
        writeln!(text, "\n起重机由「青砚厂{word}」制造。维修由「港务局」负责。\n").unwrap();
    }
    writeln!(text, "| Crane | load at {n} |\n|---|---|\n| KX-{n}0 | forty |\n| KX-{n}1 | fifty |")
        .unwrap();
    text
}

/// A Word document with a picture in it.
fn word_document(n: usize) -> Vec<u8> {
    let document = format!(
        r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><w:body>
<w:p><w:r><w:t>Plan {n} shows the Jetty.</w:t></w:r></w:p>
<w:p><w:r><w:drawing><a:blip r:embed="rId1"/></w:drawing></w:r></w:p></w:body></w:document>"#
    );
    let relations = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="media/a.gif"/></Relationships>"#;
    // The header of a GIF, which gives its size; nothing draws it here.
    let picture = [b"GIF89a\xf0\x00\xa0\x00".as_slice(), &[u8::try_from(n).unwrap(); 40]].concat();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", relations.as_bytes()),
        ("word/media/a.gif", &picture),
    ] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The hits of a search by words and meaning, which shows that the derived indexes are complete.
fn search(place: &Place) -> String {
    place.run_to(0, &["--base", "base", "--json", "search", "a crane in a port"]).stdout
}

#[test]
fn after_a_kill_at_any_time_the_next_run_continues() {
    let mut bench = Bench::plain(40);
    for point in 0..FRESH {
        let mut delay = bench.takes * point / FRESH;
        // A run that was faster than the measured one is killed earlier.
        loop {
            bench.begin();
            let began = Instant::now();
            if bench.kill(|_| delay <= began.elapsed()) {
                break;
            }
            delay = delay * 3 / 4;
        }
        bench.finish(1, &format!("killed after {delay:?} of {:?}", bench.takes));
    }
    println!("{FRESH} kills within {:?}, {} amid model calls", bench.takes, bench.amid);
}

#[test]
fn after_a_kill_at_any_progress_the_next_run_continues() {
    Bench::plain(40).kill_by_progress();
}

/// Enhanced chunks, summaries, descriptions, records, questions, statements, graph, tree, tags:
/// calls that were paid for before the kill are not paid for again.
#[test]
fn after_a_kill_the_next_run_completes_all_derived_structures() {
    let bench = Bench::full();
    for made in ["A picture with", "The table has", "All about", "In short:", "It is said:"] {
        assert!(bench.export.contains(made), "nothing says `{made}`");
    }
    for node in ["record", "tag", "entity", "community"] {
        assert!(bench.export.contains(&format!("\"node\":\"{node}\"")), "there is no {node}");
    }
    bench.kill_by_progress();
}

#[test]
fn many_kills_in_a_row_cost_no_more_than_each_alone() {
    for mut bench in [Bench::plain(100), Bench::full()] {
        bench.begin();
        for nth in 0..SUCCESSIVE {
            let reached = (1 + nth) * bench.requests / (1 + SUCCESSIVE);
            bench.kill_at(reached);
        }
        bench.finish(SUCCESSIVE, "killed many times");
        bench.check_kills(u32::try_from(SUCCESSIVE).unwrap());
    }
}
