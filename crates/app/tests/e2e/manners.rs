//! Tests that mistakes on the command line get a helpful message and the exit code that the help
//! names.

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::Place;
use crate::talker::Talker;

#[test]
fn wrong_usage_ends_with_2_and_a_hint() {
    let place = Place::new();
    place.write("docs/a.md", "# Cranes\n\nFirm Ada makes cranes.\n");
    place.run_to(0, &["--offline", "index", "docs"]);
    for (arguments, hint) in [
        (&["ask", "-m", "guess", "Who makes cranes?"][..], "`pikerag methods`"),
        (&["methods", "guess"], "`guess`"),
        (&["ask", ""], "pikerag ask \""),
        (&["ask", "???"], "the question holds no word"),
        (&["ask", "？！"], "the question holds no word"),
        (&["search", ""], "there is no word to look for"),
        (&["search", "--by", "words", " ?"], "there is no word to look for"),
        (&["ask", "Who", "makes", "cranes?"], "pikerag ask \"Who makes cranes?\""),
        (&["search", "cranes", "port"], "pikerag search \"cranes port\""),
        (&["search", "-k", "0", "cranes"], "-k"),
        (&["search", "-k", "many", "cranes"], "-k"),
        (&["search", "--by", "luck", "cranes"], "--by"),
        (&["--in-flight", "0", "status"], "--in-flight"),
        (&["--budget", "nan", "status"], "--budget"),
        (&["--budget", "inf", "status"], "--budget"),
        (&["--budget=-1", "status"], "--budget"),
        (&["--budget-calls", "few", "status"], "--budget-calls"),
        (&["runs", "--limit", "0"], "--limit"),
        (&["tags", "show", "class", "-k", "0"], "-k"),
        (&["tags", "add-class", "?", "nothing"], "`?` holds no word"),
        (&["graph", "export", "--nodes", "0"], "--nodes"),
        (&["graph", "export", "--of", "docs/a.md", "-o", "g"], "`--format html`"),
        (
            &["eval", "--questions", "q", "--searches", "hops", "--dry-run", "--out", "o"],
            "--searches",
        ),
        (&["index", "--with", "forest", "docs"], "forest"),
        (&["index", "--with", "tree", "--without", "tree", "docs"], "--without"),
        (&["eval", "--questions", "q.jsonl", "--format", "guess", "--out", "o"], "`guess`"),
        (&["eval", "--preset", "guess", "--out", "o"], "guess"),
        (&["eval", "--questions", "q.jsonl", "--limit", "0", "--out", "o"], "--limit"),
        (&["eval", "--questions", "q.jsonl", "--concurrency", "0", "--out", "o"], "--concurrency"),
    ] {
        let ran = place.run(&[&["--offline"], arguments].concat());
        assert!(ran.code == Some(2), "{arguments:?} ended with {:?}: {}", ran.code, ran.stderr);
        assert!(ran.stderr.contains(hint), "{arguments:?} is answered: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    // The failure of a valid command is no wrong usage.
    for arguments in
        [&["--base", "none", "ask", "Who?"][..], &["runs", "show", "x"], &["parse", "x"]]
    {
        place.run_to(1, arguments);
    }
    // A failing export leaves an existing file unchanged.
    place.write("g.html", "of before");
    let typo = ["graph", "export", "--format", "html", "--of", "nobody", "-o", "g.html"];
    assert!(place.run_to(1, &typo).stderr.contains("there is no node `nobody`"));
    assert_eq!(std::fs::read_to_string(place.path("g.html")).unwrap(), "of before");
    place.run_to(0, &["--offline", "ask", "cranes?"]);
    place.run_to(3, &["--offline", "ask", "起重机？"]);
}

/// A structure that cannot be built is reported once; a built one is maintained until it is left
/// out.
#[test]
fn structures_are_maintained_until_they_are_left_out() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("docs/a.md", "# Cranes\n\nFirm Ada makes cranes in Port Brandt.\n");
    let index = |code, arguments: &[&str]| {
        let all = [&["--base", "base", "index"], arguments, &["docs"]].concat();
        place.run_to(code, &all).stderr
    };
    let offline = |code, arguments: &[&str]| {
        let all = [&["--offline", "--base", "base", "index"], arguments, &["docs"]].concat();
        place.run_to(code, &all).stderr
    };
    assert!(offline(3, &["--with", "graph,tree,tags"]).contains("needs an embedder"));
    let again = offline(0, &[]);
    assert!(!again.contains("chat model"), "{again}");

    // One chunk gives no tree, but tags.
    let built = index(0, &["--with", "tags"]);
    assert!(!built.contains("stays as it is"), "{built}");
    place.write("docs/b.md", "# Ports\n\nPort Brandt has cranes of Firm Ada.\n");
    let stale = offline(0, &[]);
    assert!(stale.contains("`pikerag index --without tags PATH…`"), "{stale}");
    let left = offline(0, &["--without", "tags"]);
    assert!(!left.contains("stays as it is"), "{left}");
    place.write("docs/c.md", "# Cities\n\nPort Brandt is a city of cranes.\n");
    let later = offline(0, &[]);
    assert!(!later.contains("stays as it is"), "{later}");
    // `--without` also overrides the settings.
    place.write("pikerag.toml", "[index]\nwith = [\"tags\"]\n");
    assert!(offline(3, &[]).contains("tags need a chat model"));
    offline(0, &["--without", "tags"]);
}

#[test]
fn ctrl_c_ends_the_program_with_a_message() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("docs/a.md", "# Cranes\n\nFirm Ada makes cranes in Port Brandt.\n");
    talker.answer_only(0);
    let mut child = place
        .command(&["--base", "base", "index", "docs"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while talker.received().requests() == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut message = String::new();
    child.stderr.unwrap().read_to_string(&mut message).unwrap();
    assert!(message.contains("stopping; run the same command again to continue"), "{message}");
}

/// A result that a full disk does not take is a failure.
#[test]
fn a_result_that_is_not_written_is_no_success() {
    let place = Place::new();
    place.write("docs/a.md", "# Cranes\n\nFirm Ada makes cranes.\n");
    place.run_to(0, &["--offline", "index", "docs"]);
    for arguments in [&["status"][..], &["--json", "status"], &["original", "docs/a.md"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = place.command(arguments).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("No space left"), "{arguments:?}: {stderr}");
    }
    let ran = place.run_to(1, &["original", "docs/a.md", "--out", "/dev/full"]);
    assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
}

/// Structures that are built are not pending; those whose documents changed are.
#[test]
fn status_lists_pending_structures() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("pikerag.toml", "[index]\nsummarize = [\"sources\"]\n");
    for n in 0..3 {
        place.write(&format!("docs/{n}.md"), format!("# Firm {n}\n\nFirm {n} makes {n} cranes.\n"));
    }
    let pending = |place: &Place| {
        let status = place.run_to(0, &["--json", "status"]).json();
        (status["waiting"].clone(), status["stale"].clone())
    };
    place.run_to(0, &["index", "--with", "graph,tree", "docs"]);
    assert_eq!(pending(&place), (serde_json::json!([]), serde_json::json!([])));
    place.run_to(0, &["delete", "docs/0.md"]);
    assert_eq!(pending(&place).1, serde_json::json!(["graph", "tree"]));
    let shown = place.run_to(0, &["status"]).stdout;
    assert!(shown.contains("the tree waits to be built"), "{shown}");
}

/// Otherwise the program would write another base than the intended one.
#[test]
fn an_environment_variable_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let mut command = place.command(&["status"]);
    let ran = command.env("PIKERAG_BASE", std::ffi::OsStr::from_bytes(b"/\xff")).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success() && stderr.contains("PIKERAG_BASE is not UTF-8"), "{stderr}");
}
