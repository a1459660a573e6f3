//! Tests that forgetting removes every byte of a document, and that bases survive backups, damage
//! and read-only folders.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, capability_is_in_bounding_set, remove_capability_from_bounding_set,
};
use serde_json::Value;

use crate::common::Place;
use crate::talker::Talker;

const KEPT: &str = "# Harbour rules\n\nEvery crane of the harbour is inspected in spring. The harbour \
                    master signs the list. This sentence stands in both documents.\n\n港口的起重机每年春天检查一次。\n";

const SECRET: &str = "# Wage agreement 2031\n\nMs. Okonkwo earns \"ninety-one thousand\" a year.\nHer bonus is\npaid in \
     gold \\ silver.   The agreement was signed in Windhoek, 安全部门的王建国每月领取津贴。\n\n他的奖金用黄金支付，从未公开。\n\n\
     | name | account |\n| --- | --- |\n| Okonkwo, Adaeze | NA-7731-0091-22 |\n| Wang Jianguo | CN-4410-5567-80 |\n\n\
     This sentence stands in both documents.\n";

/// Sentences, lines and cells that only the secret document contains.
const OWN: &[&str] = &[
    "Wage agreement 2031",
    "Ms. Okonkwo earns \"ninety-one thousand\" a year.",
    "paid in gold \\ silver.",
    "The agreement was signed in Windhoek",
    "安全部门的王建国每月领取津贴。",
    "他的奖金用黄金支付，从未公开。",
    "Okonkwo, Adaeze",
    "NA-7731-0091-22",
    "CN-4410-5567-80",
];

/// A base of both documents, with runs about each.
fn indexed(talker: &Talker, with: &[&str]) -> Place {
    let place = talker.place();
    place.write("docs/rules.md", KEPT);
    place.write("docs/wages.md", SECRET);
    let index = [&["--base", "base", "index", "docs"], with].concat();
    let ran = place.run(&index);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    for (method, question) in [
        ("naive-rag", "What does Ms. Okonkwo earn?"),
        ("kar3", "王建国每月领取什么？"),
        ("naive-rag", "When are the cranes inspected?"),
    ] {
        place.run_to(0, &["--base", "base", "ask", "--method", method, question]);
    }
    place
}

/// The result of a read; `None` if the file no longer exists.
fn if_exists<T>(read: io::Result<T>) -> Option<T> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        read => Some(read.unwrap()),
    }
}

/// Files of the base that hold a text, as it is or escaped as JSON does.
pub(crate) fn files_with(place: &Place, text: &str) -> Vec<String> {
    let escaped = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    let ascii = |text: &str| -> String {
        let unit = |unit: u16| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
            _ => format!("\\u{unit:04x}"),
        };
        text.encode_utf16().map(unit).collect()
    };
    let once = escaped(text);
    let forms = [text.to_owned(), escaped(&once), ascii(text), once];
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(place.path("base")) {
        // A file that the server removes meanwhile contains nothing.
        let Some(entry) =
            if_exists(entry.map_err(Into::into)).filter(|entry| entry.file_type().is_file())
        else {
            continue;
        };
        let Some(bytes) = if_exists(fs::read(entry.path())) else { continue };
        let holds = |form: &String| bytes.windows(form.len()).any(|at| at == form.as_bytes());
        if forms.iter().any(holds) {
            files.push(entry.path().display().to_string());
        }
    }
    files
}

#[test]
fn forgetting_leaves_no_byte_and_the_rest_replays() {
    let talker = Talker::start();
    let place = indexed(&talker, &[]);
    for text in OWN {
        assert!(!files_with(&place, text).is_empty(), "{text}: the test looks for nothing");
    }
    let runs = place.run_to(0, &["--base", "base", "--json", "runs"]).json();
    // A plain delete reports what it leaves. A replay then restores the document from the ledger.
    let plain = place.run_to(0, &["--base", "base", "delete", "docs/wages.md"]);
    assert!(plain.stderr.contains("still contain the text"), "{}", plain.stderr);
    assert!(!files_with(&place, OWN[1]).is_empty(), "a plain delete does not forget");
    place.run_to(0, &["--base", "base", "--replay", "index", "docs"]);

    let ran = place.run_to(0, &["--base", "base", "--json", "delete", "--forget", "docs/wages.md"]);
    let forgotten = &ran.json()["forgotten"];
    assert!(0 < forgotten["calls"].as_u64().unwrap(), "{forgotten:#}");
    assert!(0 < forgotten["runs"].as_u64().unwrap(), "{forgotten:#}");
    for text in OWN {
        assert_eq!(files_with(&place, text), Vec::<String>::new(), "{text}");
    }
    assert!(!files_with(&place, "This sentence stands in both documents.").is_empty());
    place.run_to(0, &["--base", "base", "check"]);

    // The error for a forgotten run differs from that for an unknown run.
    let gone = runs.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap());
    let left = place.run_to(0, &["--base", "base", "--json", "runs"]).json();
    let is_left = |id: &&str| left.as_array().unwrap().iter().any(|run| run["id"] == *id);
    let gone: Vec<&str> = gone.filter(|id| !is_left(id)).collect();
    assert_eq!(gone.len() as u64, forgotten["runs"].as_u64().unwrap());
    let ran = place.run_to(1, &["--base", "base", "runs", "replay", gone[0]]);
    assert!(ran.stderr.contains("was forgotten"), "{}", ran.stderr);
    let ran = place.run_to(1, &["--base", "base", "runs", "replay", "nobody"]);
    assert!(ran.stderr.contains("there is no run"), "{}", ran.stderr);

    // Calls for the other document are still recorded. Those for this one are not, and the error
    // says so.
    place.run_to(0, &["--base", "base", "delete", "docs/rules.md"]);
    let index = ["--base", "base", "--json", "--replay", "index", "docs/rules.md"];
    let report = place.run_to(0, &index).json();
    assert_eq!(report["spent"]["total"]["calls"], 0, "{report:#}");
    assert!(0 < report["report"]["atoms"].as_u64().unwrap(), "{report:#}");
    let ran = place.run(&["--base", "base", "--replay", "index", "docs"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("never recorded"), "{}", ran.stderr);
}

/// Forgetting also removes derived data: entities, reports, summaries, tags, and the calls that
/// made them.
#[test]
fn derived_data_is_forgotten_too() {
    let talker = Talker::start();
    let place = indexed(&talker, &["--with", "graph,tree,tags"]);
    place.run_to(0, &["--base", "base", "delete", "--forget", "docs/wages.md"]);
    for text in OWN {
        assert_eq!(files_with(&place, text), Vec::<String>::new(), "{text}");
    }
    // A document that is no longer in the base cannot be forgotten.
    let none = place.run_to(1, &["--base", "base", "delete", "--forget", "docs/wages.md"]);
    assert!(none.stderr.contains("the base has no file of this name"), "{}", none.stderr);
}

/// A read-only base answers without writing anything, even if full text must be built in memory.
#[test]
fn a_read_only_base_answers() {
    let place = Place::new();
    place.write("docs/rules.md", KEPT);
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let search = ["--base", "base", "--json", "search", "--by", "words", "起重机"];
    let ask = ["--base", "base", "--json", "--offline", "ask", "When are the cranes inspected?"];
    let found = place.run_to(0, &search).stdout;
    let answer = place.run_to(0, &ask).json()["answer"].clone();
    for has_text in [true, false] {
        if !has_text {
            let entries =
                fs::read_dir(place.path("base")).unwrap().map(|entry| entry.unwrap().path());
            fs::remove_dir_all(entries.into_iter().find(|path| path.is_dir()).unwrap()).unwrap();
        }
        let _locked = Locked::new(&place);
        let before = names(&place);
        let ran = unprivileged(&place, &search);
        assert_eq!(
            (ran.status.code(), text(&ran.stdout)),
            (Some(0), found.clone()),
            "{}",
            text(&ran.stderr)
        );
        let ran = unprivileged(&place, &ask);
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
        let output: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(output["answer"], answer);
        assert!(text(&ran.stderr).contains("neither runs nor replies of models are kept"));
        let ran = unprivileged(&place, &["--base", "base", "index", "docs"]);
        assert_eq!(ran.status.code(), Some(1));
        assert!(text(&ran.stderr).contains("base cannot be written"), "{}", text(&ran.stderr));
        assert_eq!(names(&place), before);
    }
}

/// Reading its log would require writing. The program reports this and does not ignore the log.
#[test]
fn an_unclosed_read_only_base_is_refused() {
    let place = Place::new();
    place.write("docs/rules.md", KEPT);
    place.run_to(0, &["--base", "base", "index", "docs"]);
    fs::write(place.path("base/base.sqlite-wal"), "the log of a killed process").unwrap();
    let _locked = Locked::new(&place);
    let ran = unprivileged(&place, &["--base", "base", "status"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(text(&ran.stderr).contains("it was not closed in order"), "{}", text(&ran.stderr));
}

#[test]
fn a_base_is_backed_up_checked_repaired_and_restored() {
    let place = Place::new();
    place.write("docs/rules.md", KEPT);
    place.run_to(0, &["--base", "base", "index", "docs"]);
    let exported = place.export("base");
    let copied = place.run_to(0, &["--base", "base", "--json", "backup", "copy.pikerag"]).json();
    assert_eq!((&copied["files"], &copied["backup"]), (&1.into(), &"copy.pikerag".into()));
    let again = place.run_to(1, &["--base", "base", "backup", "copy.pikerag"]);
    assert!(again.stderr.contains("copy.pikerag"), "{}", again.stderr);

    let sound = place.run_to(0, &["--base", "base", "--json", "check"]).json();
    assert_eq!(sound["sound"], true, "{sound:#}");
    fs::write(place.path("base/sentences.codes"), "pkvec").unwrap();
    let damaged = place.run_to(1, &["--base", "base", "check"]);
    assert!(damaged.stdout.contains("DAMAGED   vectors of sentences"), "{}", damaged.stdout);
    assert!(damaged.stderr.contains("check --repair"), "{}", damaged.stderr);
    let repaired = place.run_to(0, &["--base", "base", "check", "--repair"]);
    assert!(repaired.stdout.contains("repaired  vectors of sentences"), "{}", repaired.stdout);

    let taken = place.run_to(1, &["--base", "base", "restore", "copy.pikerag"]);
    assert!(taken.stderr.contains("choose another folder with `--base DIR`"), "{}", taken.stderr);
    place.run_to(0, &["--base", "other", "restore", "copy.pikerag"]);
    assert_eq!(place.export("other"), exported);
    let found = place.run_to(0, &["--base", "other", "search", "--by", "words", "起重机"]);
    assert!(found.stdout.contains("docs/rules.md"), "{}", found.stdout);
    let missing = place.run_to(1, &["--base", "third", "restore", "none.pikerag"]);
    assert!(missing.stderr.contains("there is no backup none.pikerag"), "{}", missing.stderr);
    assert!(!place.path("third").exists());
}

#[test]
fn originals_are_kept_once_and_given_back() {
    let place = Place::new();
    let bytes = b"\xef\xbb\xbfCranes, \r\n as they were.\x0c".to_vec();
    place.write("docs/a.txt", &bytes);
    place.write("docs/b.txt", &bytes);
    place.write("docs/large.txt", format!("A large file.{}", "\n".repeat(1 << 20)));
    place.write("pikerag.toml", "[index]\noriginals_mib = 1");
    let ran = place.run_to(0, &["--base", "base", "--json", "index", "docs"]).json();
    assert_eq!(ran["originals"]["kept"], 2, "{:#}", ran["originals"]);
    assert_eq!(ran["originals"]["too_large"], serde_json::json!(["docs/large.txt"]));
    let status = place.run_to(0, &["--base", "base", "--json", "status"]).json();
    let kept = |files: u64, without: u64, bytes: usize| serde_json::json!({"files": files, "without": without, "bytes": bytes});
    assert_eq!(status["originals"], kept(2, 1, bytes.len()));
    fs::remove_file(place.path("docs/a.txt")).unwrap();
    place.run_to(0, &["--base", "base", "original", "docs/a.txt", "--out", "back.txt"]);
    assert_eq!(fs::read(place.path("back.txt")).unwrap(), bytes);
    let none = place.run_to(1, &["--base", "base", "original", "docs/large.txt"]);
    assert!(none.stderr.contains("`index.originals_mib`"), "{}", none.stderr);
    let none = place.run_to(1, &["--base", "base", "original", "docs/c.txt"]);
    assert!(none.stderr.contains("not in the knowledge base"), "{}", none.stderr);

    // Originals that an earlier run did not keep are kept later, without reading the files again.
    place.write("pikerag.toml", "[index]\noriginals = false");
    place.run_to(0, &["--base", "late", "index", "docs"]);
    place.write("pikerag.toml", "");
    let ran = place.run_to(0, &["--base", "late", "--json", "index", "docs"]).json();
    assert_eq!(ran["originals"]["kept"], 2, "{ran:#}");
    assert_eq!(ran["report"]["files"][0][1], ran["report"]["files"][1][1], "unchanged");
    place.run_to(0, &["--base", "late", "delete", "docs/b.txt"]);
    let status = place.run_to(0, &["--base", "late", "--json", "status"]).json();
    assert_eq!(status["originals"]["files"], 1, "{status:#}");
}

/// Makes the base's folder read-only until it is dropped.
struct Locked(std::path::PathBuf);

impl Locked {
    fn new(place: &Place) -> Self {
        let base = place.path("base");
        let top = base.parent().unwrap();
        allow(top, 0o755);
        for entry in walkdir::WalkDir::new(top).contents_first(true) {
            let entry = entry.unwrap();
            let is_base = entry.path().starts_with(&base);
            match (entry.file_type().is_dir(), is_base) {
                (true, true) => allow(entry.path(), 0o555),
                (true, false) => allow(entry.path(), 0o755),
                (false, true) => allow(entry.path(), 0o444),
                (false, false) => allow(entry.path(), 0o644),
            }
        }
        Self(base)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        for entry in walkdir::WalkDir::new(&self.0).into_iter().flatten() {
            allow(entry.path(), 0o755);
        }
    }
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs the program as a user whom permissions restrict, root or not. Root keeps its name but loses
/// the two capabilities that override permissions. Another user might not reach the program if the
/// target folder lies in root's own. A thread's bounding set applies to the processes that it
/// starts and ends with the thread.
fn unprivileged(place: &Place, arguments: &[&str]) -> Output {
    let mut command = place.command(arguments);
    let start = move || {
        for capability in [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH] {
            if capability_is_in_bounding_set(capability).unwrap() && geteuid().is_root() {
                remove_capability_from_bounding_set(capability).unwrap();
            }
        }
        command.output().unwrap()
    };
    std::thread::spawn(start).join().unwrap()
}

fn names(place: &Place) -> Vec<String> {
    let entries = walkdir::WalkDir::new(place.path("base")).sort_by_file_name().into_iter();
    entries.map(|entry| entry.unwrap().path().display().to_string()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
