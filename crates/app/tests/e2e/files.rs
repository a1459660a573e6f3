//! Tests that each unreadable file is named with its reason, and that all other files are indexed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use pikerag_test_support::absent;
use pikerag_test_support::hostile::{self, CANARY};

use crate::common::{Place, Ran};

/// The files of a report: those stored or unchanged, and those left out with the reason.
type Outcomes = (Vec<String>, BTreeMap<String, String>);

fn outcomes(ran: &Ran) -> Outcomes {
    let (mut good, mut bad) = (Vec::new(), BTreeMap::new());
    for file in ran.json()["report"]["files"].as_array().unwrap() {
        let name = file[0].as_str().unwrap().to_owned();
        match file[1]["outcome"].as_str().unwrap() {
            "failed" => {
                bad.insert(name, file[1]["reason"].as_str().unwrap().to_owned());
            }
            _ => good.push(name),
        }
    }
    (good, bad)
}

#[test]
fn bad_files_are_named_and_good_ones_are_indexed() {
    let place = Place::new();
    place.write("pikerag.toml", "[limits]\nfile_mib = 1\n");
    place.write("in/good.md", "# Cranes\n\nAda Lovelace wrote notes.\n");
    place.write("in/sub/good.txt", "The crane was built in 1998.\n");
    place.write("in/deep.html", "<div>".repeat(200_000) + "Deep words.");
    place.write("in/deep.json", "[".repeat(200_000) + &"]".repeat(200_000));
    place.write("in/empty.txt", "");
    place.write("in/binary.txt", (0..9000u32).map(|n| (n * 7 % 256) as u8).collect::<Vec<_>>());
    place.write("in/report.pdf", "%PDF-1.7\n1 0 obj\n");
    place.write("in/large.txt", "word ".repeat(1 << 18));
    place.write("in/old.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0");
    // A name in Latin-1 is read; a damaged one is not.
    std::fs::write(place.path("in").join(OsStr::from_bytes(b"caf\xe9.txt")), "Coffee.").unwrap();
    let damaged = ["检索增强".as_bytes(), b"\xff.txt"].concat();
    std::fs::write(place.path("in").join(OsStr::from_bytes(&damaged)), "Coffee.").unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("in/dangling.txt")).unwrap();
    let mut expected = BTreeMap::from([
        ("in/binary.txt", "not text"),
        ("in/检索增强\u{fffd}.txt", "not UTF-8"),
        ("in/dangling.txt", "link"),
        ("in/deep.json", "recursion limit"),
        ("in/empty.txt", "empty"),
        ("in/gone.md", "no such file"),
        ("in/large.txt", "it has 1.2 MiB, over the limit of 1 MiB"),
        ("in/old.docx", "Word"),
        ("in/report.pdf", "PDF"),
    ]);
    if Command::new("mkfifo").arg(place.path("in/pipe.txt")).status().is_ok_and(|s| s.success()) {
        expected.insert("in/pipe.txt", "device");
    }
    place.write("in/locked.md", "Locked.");
    let locked = place.path("in/locked.md");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&locked).is_ok() {
        absent("permissions", "do not restrict this user");
        std::fs::remove_file(&locked).unwrap();
    } else {
        expected.insert("in/locked.md", "cannot be read");
    }

    let index = ["--base", "base", "index", "in", "in/gone.md"];
    let ran = place.run_to(3, &index);
    for (file, reason) in &expected {
        let named = ran.stderr.lines().any(|line| line.contains(file) && line.contains(reason));
        assert!(named, "{file} is not named with {reason:?}:\n{}", ran.stderr);
    }
    let summary = format!("4 files read, 0 unchanged, {} left out", expected.len());
    assert!(ran.stdout.contains(&summary), "{}", ran.stdout);

    let again = place.run_to(3, &[&index[..], &["--json"]].concat());
    let (good, bad) = outcomes(&again);
    assert_eq!(good, ["in/café.txt", "in/deep.html", "in/good.md", "in/sub/good.txt"]);
    assert!(bad.keys().eq(expected.keys()), "{bad:#?}");
    for (file, reason) in &expected {
        assert!(bad[*file].contains(reason), "{file}: {}", bad[*file]);
    }
    // A second run has nothing to do and reports the same files.
    let report = again.json()["report"].clone();
    let files = report["files"].as_array().unwrap();
    let unchanged = files.iter().filter(|file| file[1]["outcome"] == "unchanged").count();
    assert_eq!((unchanged, &report["atoms"]), (4, &0.into()));
    let found = place.run_to(0, &["--base", "base", "search", "--json", "Lovelace"]).json();
    assert_eq!(found[0]["chunk"]["uri"], "in/good.md");
}

/// The time for a very long line must grow in proportion to its length, not with its square.
/// A folder as a generator of documentation leaves it, in a repository.
fn generated_pages() -> Place {
    let place = Place::new();
    for (file, text) in [
        ("site/guide.html", "<h1>Cranes</h1><p>Ada Lovelace wrote notes on the crane.</p>"),
        ("site/searchindex-1a2b.js", "window.search = JSON.parse('{}');"),
        ("site/theme/book.js", "function open(page) { return page; }"),
        ("site/theme/text.woff2", "wOF2"),
        ("site/tools/count.py", "print('Ada counts the cranes.')"),
        ("site/node_modules/a/README.md", "# A dependency"),
        ("site/draft.md", "# Draft\n\nThe crane needs oil.\n"),
        ("site/package-lock.json", "{}"),
        (".gitignore", "draft.md\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
    ] {
        place.write(file, text);
    }
    place
}

#[test]
fn folders_give_documents_and_the_rest_is_counted_by_kind() {
    let place = generated_pages();
    let ran = place.run_to(0, &["--json", "index", "site"]);
    assert_eq!(outcomes(&ran).0, ["site/guide.html"]);
    assert!(outcomes(&ran).1.is_empty());
    let omitted = ran.json()["omitted"].as_array().unwrap().clone();
    let kinds: Vec<_> = omitted
        .iter()
        .map(|of_kind| format!("{} {}", of_kind["kind"].as_str().unwrap(), of_kind["examples"]))
        .collect();
    let expected = [
        r#"asset ["site/theme/book.js"]"#,
        r#"font ["site/theme/text.woff2"]"#,
        r#"generated ["site/searchindex-1a2b.js"]"#,
        r#"lock-file ["site/package-lock.json"]"#,
        r#"source-code ["site/tools/count.py"]"#,
        r#"build-folder ["site/node_modules/"]"#,
        r#"ignored ["site/draft.md"]"#,
    ];
    assert_eq!(kinds, expected);
    let shown = place.run_to(0, &["index", "site"]).stderr;
    assert!(shown.contains("1 font (site/theme/text.woff2)"), "{shown}");
    let ran = place.run_to(
        0,
        &[
            "--json",
            "index",
            "site",
            "--source-code",
            "--include",
            "draft.md",
            "--exclude",
            "theme/",
        ],
    );
    let expected = ["site/draft.md", "site/guide.html", "site/tools/count.py"];
    assert_eq!(outcomes(&ran).0, expected);
    let refused = place.run_to(2, &["index", "site", "--include", "{a"]).stderr;
    assert!(refused.contains("`{a` is not a glob"), "{refused}");
}

/// The base keeps a file that was named itself, or that an earlier version took from the folder.
#[test]
fn omitted_files_of_the_base_stay_and_are_reported() {
    let place = generated_pages();
    place.run_to(0, &["index", "site", "site/searchindex-1a2b.js"]);
    let ran = place.run_to(0, &["--json", "index", "--prune", "site"]);
    assert_eq!(ran.json()["pruned"].as_array().unwrap().len(), 0);
    let generated = |of_kind: &serde_json::Value| {
        of_kind["kind"] == "generated" && of_kind["examples"][0] == "site/searchindex-1a2b.js"
    };
    assert!(ran.json()["omitted_in_base"].as_array().unwrap().iter().any(generated));
    let status = place.run_to(0, &["--json", "status"]).json();
    assert!(status["omitted_in_base"].as_array().unwrap().iter().any(generated), "{status:#}");
    let shown = place.run_to(0, &["status"]).stderr;
    assert!(shown.contains("1 generated file (site/searchindex-1a2b.js)"), "{shown}");
    let estimate = place.run_to(0, &["--base", "new", "estimate", "site/searchindex-1a2b.js"]);
    assert!(estimate.stderr.contains("by its kind (generated file)"), "{}", estimate.stderr);
    place.run_to(0, &["delete", "site/searchindex-1a2b.js"]);
    let status = place.run_to(0, &["--json", "status"]).json();
    assert_eq!(status["omitted_in_base"].as_array().unwrap().len(), 0, "{status:#}");
}

#[test]
fn a_line_of_ten_megabytes_is_cut_to_size() {
    let place = Place::new();
    place.write("pikerag.toml", "[limits]\ncpu_seconds = 200\nwall_seconds = 300\n");
    place.write("line.txt", "word ".repeat(2 << 20));
    place.run_to(0, &["--base", "base", "index", "line.txt"]);
    let status = place.run_to(0, &["--base", "base", "--json", "status"]).json();
    let chunks = status["summary"]["chunks"].as_u64().unwrap();
    assert!(10_000 < chunks, "{chunks} chunks");
}

#[test]
fn a_file_that_needs_too_much_is_named() {
    let place = Place::new();
    place.write("in/good.md", "# Cranes\n\nAda Lovelace wrote notes.\n");
    place.write("in/large.html", "<p>Some words of text.</p>\n".repeat(400_000));
    let index = ["--base", "base", "--json", "index", "in"];
    for (limits, reason) in [
        ("memory_mib = 64", "limits.memory_mib"),
        ("memory_mib = 16", "limits.memory_mib"),
        ("memory_mib = 2000\ncpu_seconds = 1", "limits.cpu_seconds"),
        ("memory_mib = 2000\nwall_seconds = 1", "limits.wall_seconds"),
    ] {
        place.write("pikerag.toml", format!("[limits]\n{limits}\n"));
        let (good, bad) = outcomes(&place.run_to(3, &index));
        assert!(bad["in/large.html"].starts_with("reading it "), "{limits}: {bad:#?}");
        let stderr = place.run_to(3, &["--base", "base", "index", "in"]).stderr;
        assert!(stderr.contains(reason), "{limits}: {stderr}");
        // 16 MiB are too little to start the parser. That is reported as well and is no crash.
        assert!(
            good == ["in/good.md"] || limits == "memory_mib = 16",
            "{limits}: {good:?} {bad:?}"
        );
    }
}

/// Each text file of the hostile corpus is read, or left out with a reason.
#[test]
fn the_hostile_corpus_does_no_harm() {
    let place = Place::new();
    for (name, bytes) in hostile::texts() {
        place.write(&format!("in/{name}"), bytes);
    }
    place.write("pikerag.toml", "[limits]\nfile_mib = 8\n");
    let ran = place.run_to(3, &["--base", "base", "index", "in", "--json"]);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let (good, bad) = outcomes(&ran);
    let expected = BTreeMap::from([
        ("in/deep.json", "recursion limit"),
        ("in/nul.txt", "not text"),
        ("in/long-line.txt", "over the limit of 8 MiB"),
    ]);
    assert!(bad.keys().eq(expected.keys()), "{bad:#?}");
    for (file, reason) in &expected {
        assert!(bad[*file].contains(reason), "{file}: {}", bad[*file]);
    }
    assert_eq!(good.len(), 14, "{good:?}");

    // Text in any encoding is read correctly; text that a page hides is left out.
    let export = place.export("base");
    for words in ["Hafen heißt 港口", "检索增强生成的系统", "café naïve", "Visible"] {
        assert!(export.contains(words), "{words}");
    }
    assert!(!export.contains(CANARY));
}
