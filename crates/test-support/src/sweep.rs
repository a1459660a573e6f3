//! Measures lost data and repeated costs when indexing ends at any system call, or the disk is full
//! from there on. It builds a small base again and again, each time with trouble at another call.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::{Faults, Interposer, Server, Sizes, Trouble, World, oracle};

/// The calls and texts that may be running when the process ends, as the settings allow.
const CHATS_IN_FLIGHT: u64 = 2;
const TEXTS_IN_FLIGHT: u64 = 8;
const SETTINGS: &str = "[chat]\nin_flight = 2\n[embed]\nbatch = 4\nin_flight = 2\n";

/// A base under construction, with its expected content.
pub struct Sweep {
    interposer: Interposer,
    program: PathBuf,
    folder: TempDir,
    server: Server,
    /// The base that each attempt begins with; `None` begins without a base.
    before: Option<PathBuf>,
    /// The result of an undisturbed run.
    whole: Whole,
    calls: u64,
    writes: u64,
}

#[derive(PartialEq)]
struct Whole {
    export: String,
    /// Only the document names, not the scores: full-text statistics include deleted documents for
    /// a while.
    found: BTreeSet<String>,
    chats: u64,
}

/// The result of trouble at one call.
#[derive(Debug)]
pub struct Point {
    /// Whether the run reached that call.
    pub is_reached: bool,
    /// The damage: a base that differs from an undisturbed run's, or a failing run.
    pub lost: Option<String>,
    /// Repeated paid calls beyond those that were running.
    pub calls_twice: u64,
    /// Repeated embedded texts beyond those that were running.
    pub texts_twice: u64,
}

/// The results of several points.
#[derive(Debug, Default)]
pub struct Tally {
    /// Points that were reached.
    pub tried: u64,
    /// The damage, point by point.
    pub lost: Vec<String>,
    /// Repeated paid calls and texts beyond those that were running.
    pub paid_twice: u64,
    /// The points of these repetitions.
    pub paid_at: Vec<String>,
}

impl Tally {
    /// Adds the result of one point.
    pub fn count(&mut self, trouble: Trouble, at: u64, point: Point) {
        self.tried += u64::from(point.is_reached);
        let (calls, texts) = (point.calls_twice, point.texts_twice);
        if 0 < calls + texts {
            self.paid_twice += calls + texts;
            self.paid_at.push(format!("{trouble:?} at {at}: {calls} calls, {texts} texts"));
        }
        self.lost.extend(point.lost.map(|lost| format!("{trouble:?} at {at}: {lost}")));
    }
}

impl Sweep {
    /// Trouble during the first build of a base; `None` if this machine cannot inject it.
    ///
    /// # Panics
    /// An undisturbed run fails.
    #[must_use]
    pub fn fresh(program: &Path) -> Option<Self> {
        Self::begin(program, |_| None)
    }

    /// Trouble during an update: some files changed, some deleted, some new.
    ///
    /// # Panics
    /// An undisturbed run fails.
    #[must_use]
    pub fn update(program: &Path) -> Option<Self> {
        Self::begin(program, |sweep| {
            sweep.succeed(&["index", "docs"]);
            let before = sweep.path("before");
            fs::rename(sweep.path("base"), &before).unwrap();
            write_second(&sweep.path("docs"));
            Some(before)
        })
    }

    fn begin(program: &Path, prepare: impl FnOnce(&Self) -> Option<PathBuf>) -> Option<Self> {
        let server = Server::start(oracle, Faults::default(), Duration::from_millis(1));
        let folder = tempfile::tempdir().unwrap();
        let mut sweep = Self {
            interposer: Interposer::build()?,
            program: program.to_owned(),
            folder,
            server,
            before: None,
            whole: Whole { export: String::new(), found: BTreeSet::new(), chats: 0 },
            calls: 0,
            writes: 0,
        };
        fs::write(sweep.path("pikerag.toml"), SETTINGS).unwrap();
        write_first(&sweep.path("docs"));
        sweep.before = prepare(&sweep);
        for trouble in [Trouble::None, Trouble::Full] {
            sweep.renew();
            let ran = sweep.index(trouble, u64::MAX);
            assert!(ran.status.success(), "{}", output_of(&ran));
            match trouble {
                Trouble::Full => sweep.writes = sweep.interposer.counted(),
                _ => sweep.calls = sweep.interposer.counted(),
            }
        }
        sweep.whole = sweep.made();
        Some(sweep)
    }

    /// The number of points with such trouble: the calls of an undisturbed run that change files of
    /// the base. Threads race for the order of some.
    #[must_use]
    pub fn points(&self, trouble: Trouble) -> u64 {
        match trouble {
            Trouble::Full => self.writes,
            _ => self.calls,
        }
    }

    /// Injects trouble at a call, runs again without, and compares the result.
    ///
    /// # Panics
    /// The program does not start.
    #[must_use]
    pub fn meet(&self, trouble: Trouble, at: u64) -> Point {
        self.renew();
        let ran = self.index(trouble, at);
        let is_reached = at <= self.interposer.counted();
        let ended = match trouble {
            Trouble::Kill | Trouble::Tear => ran.status.signal() == Some(9),
            // The full-text index is derived: with a full disk a run may still succeed.
            Trouble::None | Trouble::Full => ran.status.code().is_some_and(|code| code < 100),
        };
        let mut lost = None;
        if is_reached && !ended || output_of(&ran).contains("panicked") {
            lost = Some(format!("it ended with {}: {}", ran.status, output_of(&ran)));
        }
        let again = self.run(&["index", "--prune", "docs"]);
        if !again.status.success() {
            lost = lost.or(Some(format!(
                "the next run ended with {}: {}",
                again.status,
                output_of(&again)
            )));
        }
        let received = self.server.received();
        let made = self.made();
        if made != self.whole && lost.is_none() {
            let same = |same: bool| if same { "the same" } else { "another" };
            lost = Some(format!(
                "{} export, {} finds, {} calls instead of {}",
                same(made.export == self.whole.export),
                same(made.found == self.whole.found),
                made.chats,
                self.whole.chats
            ));
        }
        let calls_twice = received.repeated_chats.saturating_sub(CHATS_IN_FLIGHT);
        let texts_twice = received.repeated_texts.saturating_sub(TEXTS_IN_FLIGHT);
        Point { is_reached, lost, calls_twice, texts_twice }
    }

    /// Injects trouble at `count` points, spread evenly.
    ///
    /// # Panics
    /// The program does not start.
    #[must_use]
    pub fn sample(&self, trouble: Trouble, count: u64) -> Tally {
        let all = self.points(trouble);
        self.each(trouble, (0..count).map(|n| 1 + n * (all - 1) / (count - 1).max(1)))
    }

    /// Injects trouble at each of these points.
    ///
    /// # Panics
    /// The program does not start.
    #[must_use]
    pub fn each(&self, trouble: Trouble, points: impl IntoIterator<Item = u64>) -> Tally {
        let mut tally = Tally::default();
        for at in points {
            tally.count(trouble, at, self.meet(trouble, at));
        }
        tally
    }

    /// Restores the base and resets the counts.
    fn renew(&self) {
        let base = self.path("base");
        if base.exists() {
            fs::remove_dir_all(&base).unwrap();
        }
        if let Some(before) = &self.before {
            copy(before, &base);
        }
        self.server.reset();
    }

    fn index(&self, trouble: Trouble, at: u64) -> Output {
        let mut command = self.command(&["index", "--prune", "docs"]);
        self.interposer.put_before(&mut command, &self.path("base"), trouble, at);
        command.output().unwrap()
    }

    fn made(&self) -> Whole {
        let received = self.server.received();
        Whole {
            export: self.succeed(&["export"]),
            found: uris(&self.succeed(&["--json", "search", "a ship of the harbour 港口"])),
            // Running calls are repeated after the kill.
            chats: received.chats - received.repeated_chats,
        }
    }

    fn succeed(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        match ran.status.success() {
            true => String::from_utf8(ran.stdout).unwrap(),
            // This output differs from every output of an undisturbed run.
            false => output_of(&ran),
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The program with an empty environment.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--base")
            .arg(self.path("base"))
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("OPENAI_BASE_URL", self.server.url())
            .env("OPENAI_MODEL", "stub")
            .env("PIKERAG_EMBED_MODEL", "stub-embedding")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        // The interposer compares canonical paths.
        self.folder.path().canonicalize().unwrap().join(name)
    }
}

fn output_of(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).trim().to_owned()
}

/// A world in two languages, a page with a table, a note.
fn write_first(docs: &Path) {
    fs::create_dir_all(docs).unwrap();
    let world = World::generate(5, Sizes { paragraphs: 12, questions: 2 });
    for (name, text) in [
        ("world.jsonl", world.corpus().as_str()),
        ("page.md", "# Cranes\n\nThey lift.\n\n| Crane | Load |\n|---|---|\n| KX-40 | 40 t |\n"),
        ("note.txt", "起重机停在北岸。它明天工作。\n"),
    ] {
        fs::write(docs.join(name), text).unwrap();
    }
}

/// One file changed, one deleted, one new.
fn write_second(docs: &Path) {
    fs::write(docs.join("page.md"), "# Cranes\n\nThey lift more.\n").unwrap();
    fs::remove_file(docs.join("note.txt")).unwrap();
    fs::write(docs.join("new.txt"), "The north quay is closed.\n").unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// The documents of hits; unreadable output gives a set that equals no other.
fn uris(hits: &str) -> BTreeSet<String> {
    let Ok(Value::Array(hits)) = serde_json::from_str(hits) else {
        return BTreeSet::from([hits.to_owned()]);
    };
    hits.iter().map(|hit| hit.pointer("/chunk/uri").unwrap_or(&hit["uri"]).to_string()).collect()
}
