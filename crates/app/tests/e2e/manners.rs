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
