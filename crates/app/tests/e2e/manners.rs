//! Does the command line answer a mistake with a word that helps, and with the exit code that the help promises?

use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::Place;
use crate::talker::Talker;

#[test]
fn wrong_usage_ends_with_2_and_a_word_that_helps() {
    let place = Place::new();
    place.write("docs/a.md", "# Cranes\n\nFirm Ada makes cranes.\n");
    place.run_to(0, &["--offline", "index", "docs"]);
    for (arguments, said) in [
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
        assert!(ran.stderr.contains(said), "{arguments:?} is answered: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    // What goes wrong with a command that makes sense is no wrong usage.
    for arguments in
        [&["--base", "none", "ask", "Who?"][..], &["runs", "show", "x"], &["parse", "x"]]
    {
        place.run_to(1, arguments);
    }
    // What is asked for wrongly costs no file that is there.
    place.write("g.html", "of before");
    let typo = ["graph", "export", "--format", "html", "--of", "nobody", "-o", "g.html"];
    assert!(place.run_to(1, &typo).stderr.contains("`nobody` is no node"));
    assert_eq!(std::fs::read_to_string(place.path("g.html")).unwrap(), "of before");
    place.run_to(0, &["--offline", "ask", "cranes?"]);
    place.run_to(3, &["--offline", "ask", "起重机？"]);
}

/// What cannot be built is said once; what was built is kept up until somebody says otherwise.
#[test]
fn what_is_built_besides_can_be_left_out_again() {
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

    // A tree of one chunk is no tree; tags are there.
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
    // Also where the settings ask for it.
    place.write("pikerag.toml", "[index]\nwith = [\"tags\"]\n");
    assert!(offline(3, &[]).contains("tags need a chat model"));
    offline(0, &["--without", "tags"]);
}

#[test]
fn ctrl_c_is_answered() {
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
    while talker.heard().requests() == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("stopping; run the same command again to go on"), "{said}");
}

/// Written is said of what is written: a full disk is no success.
#[test]
fn a_result_that_is_not_written_is_no_success() {
    let place = Place::new();
    place.write("docs/a.md", "# Cranes\n\nFirm Ada makes cranes.\n");
    place.run_to(0, &["--offline", "index", "docs"]);
    for arguments in [&["status"][..], &["--json", "status"], &["original", "docs/a.md"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = place.command(arguments).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains("No space left"), "{arguments:?}: {told}");
    }
    let ran = place.run_to(1, &["original", "docs/a.md", "--out", "/dev/full"]);
    assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
}

/// What was asked for and is built waits for nothing; what changed since waits.
#[test]
fn status_tells_what_waits_to_be_built() {
    let talker = Talker::start();
    let place = talker.place();
    place.write("pikerag.toml", "[index]\nsummarize = [\"sources\"]\n");
    for n in 0..3 {
        place.write(&format!("docs/{n}.md"), format!("# Firm {n}\n\nFirm {n} makes {n} cranes.\n"));
    }
    let waits = |place: &Place| {
        let status = place.run_to(0, &["--json", "status"]).json();
        (status["waiting"].clone(), status["stale"].clone())
    };
    place.run_to(0, &["index", "--with", "graph,tree", "docs"]);
    assert_eq!(waits(&place), (serde_json::json!([]), serde_json::json!([])));
    place.run_to(0, &["delete", "docs/0.md"]);
    assert_eq!(waits(&place).1, serde_json::json!(["graph", "tree"]));
    let told = place.run_to(0, &["status"]).stdout;
    assert!(told.contains("the tree waits to be built"), "{told}");
}

/// Another base would be written than the one that is meant.
#[test]
fn a_variable_that_is_no_text_is_told() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let mut command = place.command(&["status"]);
    let ran = command.env("PIKERAG_BASE", std::ffi::OsStr::from_bytes(b"/\xff")).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success() && told.contains("PIKERAG_BASE is not UTF-8"), "{told}");
}
