//! Tests how the base names its files, how files leave it, and what is reported of missing files.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Place, Ran};
use crate::talker::Talker;

/// Runs the program in a folder below the place.
fn run_in(place: &Place, folder: &str, arguments: &[&str]) -> Ran {
    let mut command = place.command(arguments);
    let output = command.current_dir(place.path(folder)).stdin(Stdio::null()).output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The names of the files of a base; a file that is not on the disk carries its state.
fn files(place: &Place, base: &str) -> Vec<String> {
    let listed = place.run_to(0, &["--base", base, "--json", "files"]).json();
    let name = |file: &Value| {
        let name = file["name"].as_str().unwrap().to_owned();
        match file["on_disk"].as_str().unwrap() {
            "there" => name,
            other => format!("{name} ({other})"),
        }
    };
    listed["files"].as_array().unwrap().iter().map(name).collect()
}

fn two_projects() -> Place {
    let place = Place::new();
    place.write("one/docs/a.md", "# Cranes\n\nThe crane stands in Port One.\n");
    place.write("two/docs/a.md", "# Cranes\n\nThe crane stands in Port Two.\n");
    place
}

#[test]
fn two_working_folders_keep_their_files_apart() {
    let place = two_projects();
    for folder in ["one", "two"] {
        assert_eq!(run_in(&place, folder, &["--base", "../base", "index", "docs"]).code, Some(0));
    }
    assert_eq!(files(&place, "base"), ["one/docs/a.md", "two/docs/a.md"]);
    let found = place.run_to(0, &["--base", "base", "--json", "search", "crane port"]).json();
    assert_eq!(found.as_array().unwrap().len(), 2, "{found:#}");
    // All spellings of a path name the same file.
    let whole = place.path("one/docs/a.md").display().to_string();
    for typed in ["one/docs/a.md", "./two/../one/docs", &whole] {
        let again = place.run_to(0, &["--base", "base", "--json", "index", typed]).json();
        assert_eq!(again["report"]["files"], json!([["one/docs/a.md", {"outcome": "unchanged"}]]));
    }
    // Files beside the folder are not in it.
    let deleted = run_in(&place, "one", &["--base", "../base", "--json", "delete", "."]);
    assert_eq!(deleted.json()["deleted"], json!(["one/docs/a.md"]));
    assert_eq!(files(&place, "base"), ["two/docs/a.md"]);
}

#[test]
fn a_project_moves_with_its_base() {
    let place = two_projects();
    assert_eq!(run_in(&place, "one", &["index", "docs"]).code, Some(0));
    fs::rename(place.path("one"), place.path("three")).unwrap();
    let again = run_in(&place, "three/docs", &["--base", "../.pikerag", "--json", "index", "."]);
    assert_eq!(again.json()["report"]["files"], json!([["docs/a.md", {"outcome": "unchanged"}]]));
    // A file outside the root of the base is named by its whole path.
    let report = run_in(&place, "two", &["--base", "../three/.pikerag", "--json", "index", "docs"]);
    let name = place.path("two/docs/a.md").canonicalize().unwrap();
    assert_eq!(report.json()["report"]["files"][0][0], name.display().to_string());
}

#[test]
fn only_certainly_missing_files_are_pruned() {
    let place = Place::new();
    for file in ["docs/a.md", "docs/sub/b.md", "docs/disk/c.md", "more/d.md"] {
        place.write(file, format!("# Of {file}\n\nSome words of {file}.\n"));
    }
    let prune = ["--base", "base", "index", "--prune", "docs"];
    place.run_to(0, &["--base", "base", "index", "docs", "more"]);
    // As after an unmount, the folder exists and is empty.
    fs::rename(place.path("docs/disk/c.md"), place.path("c.md")).unwrap();
    fs::remove_file(place.path("docs/a.md")).unwrap();
    fs::remove_file(place.path("more/d.md")).unwrap();
    let ran = place.run_to(3, &prune);
    assert!(ran.stdout.contains("removed docs/a.md"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("not found: 1 file in ")
            && ran.stderr.contains("docs/disk: it is empty"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        files(&place, "base"),
        ["docs/disk/c.md (unclear)", "docs/sub/b.md", "more/d.md (unclear)"]
    );
    // The link leads nowhere, so the folder cannot be listed.
    fs::remove_dir(place.path("docs/disk")).unwrap();
    std::os::unix::fs::symlink("disk", place.path("docs/disk")).unwrap();
    let ran = place.run_to(3, &prune);
    assert!(ran.stderr.contains("docs/disk: it cannot be read"), "{}", ran.stderr);
    assert_eq!(files(&place, "base").len(), 3);
    // The whole folder is missing.
    fs::rename(place.path("docs"), place.path("away")).unwrap();
    let ran = place.run_to(3, &prune);
    assert!(
        ran.stderr.contains("docs: it does not exist") && ran.stderr.contains("pikerag delete"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("no such file"), "{}", ran.stderr);
    assert_eq!(files(&place, "base").len(), 3);
    // A listing of the folder above shows that the file is gone.
    place.write("other.md", "# Other\n\nOther words.\n");
    let ran = place.run_to(3, &["--base", "base", "index", "--prune", "."]);
    assert!(ran.stdout.contains("removed docs/disk/c.md"), "{}", ran.stdout);
}

#[test]
fn moved_files_are_not_found_twice() {
    let place = Place::new();
    for file in ["docs/a.md", "docs/b.md", "docs/c.md"] {
        place.write(file, format!("# Of {file}\n\nSome words of {file}.\n"));
    }
    place.run_to(0, &["--base", "base", "index", "docs"]);
    fs::rename(place.path("docs"), place.path("documents")).unwrap();
    place.write("documents/b.md", "# Other\n\nOther words.\n");
    let ran = place.run_to(0, &["--base", "base", "index", "documents"]);
    assert!(ran.stdout.contains("removed docs/a.md: renamed to documents/a.md"), "{}", ran.stdout);
    // A file that is gone and has no new place stays in the base, and this is reported.
    assert!(ran.stderr.contains("missing on disk: docs/b.md"), "{}", ran.stderr);
    assert!(ran.stderr.contains("still contains 1 file"), "{}", ran.stderr);
    let there = ["docs/b.md (gone)", "documents/a.md", "documents/b.md", "documents/c.md"];
    assert_eq!(files(&place, "base"), there);
    let fresh = place.run_to(0, &["--base", "base", "delete", "docs"]);
    assert_eq!(fresh.stdout, "deleted docs/b.md\n");
    place.run_to(0, &["--base", "fresh", "index", "documents"]);
    assert!(place.export("base") == place.export("fresh"), "something of the old names is left");
}

#[test]
fn nothing_to_read_makes_no_base_and_is_reported() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).unwrap();
    let ran = place.run_to(3, &["index", "nofolder"]);
    assert!(ran.stderr.contains("nofolder: there is no such file"), "{}", ran.stderr);
    let ran = place.run_to(3, &["index", "empty"]);
    assert!(ran.stderr.contains("empty: it is a folder without files"), "{}", ran.stderr);
    assert!(!place.path(".pikerag").exists());
}

/// A record of a JSON file, and a file whose name looks like that record.
#[test]
fn a_record_and_a_file_do_not_take_each_others_place() {
    let place = Place::new();
    place.write(
        "r.jsonl",
        "{\"id\": \"x.md\", \"title\": \"Record\", \"text\": \"The record speaks.\"}\n",
    );
    place.write("r.jsonl#x.md", "# File\n\nThe file speaks.\n");
    place.run_to(0, &["--base", "base", "index", "r.jsonl", "r.jsonl#x.md"]);
    let found = place.run_to(0, &["--base", "base", "--json", "search", "speaks"]).json();
    let mut uris: Vec<&str> =
        found.as_array().unwrap().iter().map(|hit| hit["chunk"]["uri"].as_str().unwrap()).collect();
    uris.sort_unstable();
    assert_eq!(uris, ["r.jsonl#x.md", "r.jsonl%23x.md"]);
    place.run_to(0, &["--base", "base", "delete", "r.jsonl#x.md"]);
    let left = place.run_to(0, &["--base", "base", "--json", "search", "speaks"]).json();
    assert_eq!(left[0]["chunk"]["title"], "Record");
    assert_eq!(left.as_array().unwrap().len(), 1);
}

/// A base of an earlier version names files as they were typed and stores no root.
#[test]
fn files_of_an_earlier_base_are_recognized() {
    let place = Place::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/layout-3");
    for folder in ["base", "docs"] {
        for file in fs::read_dir(fixture.join(folder)).unwrap() {
            let file = file.unwrap();
            let name = format!("{folder}/{}", file.file_name().to_str().unwrap());
            place.write(&name, fs::read(file.path()).unwrap());
        }
    }
    place.write("elsewhere/docs/company-guide.md", "# Another\n\nOf another project.\n");
    let toml = fs::read_to_string(fixture.join("pikerag.toml")).unwrap();
    place.write("elsewhere/pikerag.toml", toml.replace("base = \"base\"", "base = \"../base\""));
    // From another folder, which has a file with a name of the base.
    let report = run_in(
        &place,
        "elsewhere",
        &[
            "--config",
            "pikerag.toml",
            "--base",
            "../base",
            "--offline",
            "--json",
            "index",
            "docs",
            "../docs",
        ],
    )
    .json();
    let outcomes: Vec<(&str, &str)> = report["report"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file[0].as_str().unwrap(), file[1]["outcome"].as_str().unwrap()))
        .collect();
    assert!(outcomes.contains(&("elsewhere/docs/company-guide.md", "stored")), "{outcomes:?}");
    assert!(outcomes.contains(&("docs/company-guide.md", "unchanged")), "{outcomes:?}");
    assert_eq!(
        outcomes.iter().filter(|(_, outcome)| *outcome == "unchanged").count(),
        7,
        "{outcomes:?}"
    );
}

/// The base was indexed without a model. A model and an embedder are set now, but none of their
/// work was ever begun.
#[test]
fn status_lists_pending_work_and_duplicates() {
    let talker = Talker::start();
    let place = talker.place();
    for file in ["docs/a.md", "docs/b.md"] {
        place.write(file, "# Cranes\n\nThe crane stands in Port One.\n");
    }
    place.run_to(0, &["--offline", "index", "docs"]);
    let status = place.run_to(0, &["--json", "status"]).json();
    assert_eq!(
        status["waiting"][0],
        json!({"stage": "atomic questions", "count": 2}),
        "{status:#}"
    );
    assert_eq!(status["waiting"][1]["stage"], "vectors", "{status:#}");
    assert_eq!(status["same"], json!([["docs/a.md", "docs/b.md"]]));
    let shown = place.run_to(0, &["status"]).stdout;
    for part in
        ["talker-embedding makes them", "2 chunks wait for atomic questions", "wait for vectors"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("words alone"), "{shown}");
    place.run_to(0, &["index", "docs"]);
    let status = place.run_to(0, &["--json", "status"]).json();
    assert_eq!((&status["waiting"], &status["gone"]), (&json!([]), &json!([])), "{status:#}");
}
