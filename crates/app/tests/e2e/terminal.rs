//! Tests that no control sequence of a stranger reaches the terminal: from documents, names of
//! files, replies of models or words of the command line.

use serde_json::Value;

use crate::common::{Place, Ran};
use crate::talker::Talker;

/// Control sequences, each with its effect on a terminal.
const SEQUENCES: [(&str, &str); 20] = [
    ("clears the screen", "\x1b[2J"),
    ("goes to the first line", "\x1b[H"),
    ("overwrites the lines above", "\x1b[3A\x1b[K"),
    ("hides what follows", "\x1b[8m"),
    ("colours", "\x1b[31;1m"),
    ("sets the window's title", "\x1b]0;owned\x07"),
    ("makes a link of another address", "\x1b]8;;http:evil\x1b\\"),
    ("fills the clipboard", "\x1b]52;c;cm0gLXJm\x07"),
    ("makes the terminal type its status", "\x1b[6n"),
    ("makes the terminal type its name", "\x1bZ"),
    ("resets the terminal", "\x1bc"),
    ("draws lines instead of letters", "\x1b(0"),
    ("sends a device a string", "\x1bPq#0\x1b\\"),
    ("begins a command in one byte", "\u{9b}2J"),
    ("begins a title in one byte", "\u{9d}0;owned\u{9c}"),
    ("begins the line again", "\rerror: none"),
    ("erases characters", "good\x08\x08\x08\x08evil"),
    ("rings, and deletes", "\x07\x7f"),
    ("turns a line around", "\u{202e}gnp.exe\u{202c}"),
    ("isolates what it turns around", "\u{2067}abc\u{2069}\u{200f}"),
];

fn steers_terminal(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The output of a run, which must contain nothing that steers the terminal.
fn checked_output(ran: &Ran, what: &str) -> String {
    let output = format!("{}{}", ran.stdout, ran.stderr);
    if let Some(at) = output.find(steers_terminal) {
        let (before, after) = output.split_at(at);
        let before: String =
            before.chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
        panic!(
            "{what} lets through {:?} behind {before:?}",
            after.chars().take(8).collect::<String>()
        );
    }
    output
}

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let talker = Talker::start();
    let all: String = SEQUENCES.iter().map(|(_, sequence)| *sequence).collect();
    talker.set_addition(&all);
    // Some of the files cannot be read and are reported by name.
    let place = talker.place();
    for (number, (_, sequence)) in SEQUENCES.iter().enumerate() {
        let text = format!(
            "---\ntitle: \"Crane {number}\"\n---\n# Crane {number}{sequence} Port\n\nFirm {number}{sequence} makes cranes.\n"
        );
        place.write(&format!("docs/{number}{sequence}.md"), text);
        place.write(&format!("docs/{number}{sequence}.pdf"), "%PDF-1.7\nbroken");
        let html =
            format!("<title>Crane{sequence} {number}</title><p>Firm {number}{sequence} lifts.");
        place.write(&format!("docs/{number}.html"), html);
    }
    let mut shown = String::new();
    let run = |arguments: &[&str]| {
        checked_output(
            &place.run(&[&["--base", "base"], arguments].concat()),
            &format!("{arguments:?}"),
        )
    };
    shown += &run(&["-vv", "estimate", "docs"]);
    shown += &run(&["-vv", "index", "docs"]);
    shown += &run(&["status"]);
    shown += &run(&["search", "-k", "40", "crane firm port"]);
    shown += &run(&["-v", "ask", &format!("Who makes cranes{all}?")]);
    shown += &run(&["runs"]);
    let runs = place.run_to(0, &["--base", "base", "--json", "runs"]).json();
    shown += &run(&["runs", "show", runs[0]["id"].as_str().unwrap()]);
    shown += &run(&["graph", "--of", &format!("docs/0{}.md", SEQUENCES[0].1)]);
    for (number, (does, sequence)) in SEQUENCES.iter().enumerate() {
        let name = format!("docs/{number}{sequence}.md");
        let parsed = run(&["parse", &name]);
        assert!(parsed.contains(&format!("Firm {number}")), "{does}: {parsed}");
        shown += &run(&["parse", &format!("docs/{number}{sequence}.pdf")]);
        shown += &run(&["parse", &format!("docs/none{sequence}")]);
        shown += &run(&["ask", "--method", &format!("kar{sequence}"), "Who?"]);
        shown += &run(&["runs", "show", &format!("x{sequence}")]);
        shown += &run(&[&format!("--{sequence}"), "status"]);
        shown += &run(&["tags", "rename", &format!("x{sequence}"), "y"]);
        shown += &checked_output(&place.run(&["--base", &format!("b{sequence}"), "status"]), does);
    }
    shown += &run(&["index", "--prune", "elsewhere"]);
    shown += &run(&["delete", "docs"]);
    // The sequences are shown as symbols, not dropped silently.
    for picture in ["␛[2J", "␛]52;c;", "\\u{9b}2J", "␍", "␈", "\\u{202e}gnp.exe"] {
        assert!(shown.contains(picture), "{picture} is not shown");
    }
}

/// The output of `--json` is exact and steers no terminal either.
#[test]
fn json_is_exact() {
    let place = Place::new();
    for (number, (does, sequence)) in SEQUENCES.iter().enumerate() {
        let name = format!("docs/{number}{sequence}.txt");
        place.write(&name, format!("Firm {number} makes cranes.\n"));
        let ran = place.run_to(0, &["--json", "index", &name]);
        checked_output(&ran, does);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(report["report"]["files"][0][0], name, "{does}");
    }
}

/// A name with a line break cannot imitate a line of the program.
#[test]
fn a_file_name_cannot_forge_a_line() {
    const FORGED: &str = "\nerror: forged";
    let place = Place::new();
    for name in ["a", "b"] {
        place.write(&format!("docs/{name}{FORGED}.md"), "Firm Ada makes cranes.");
    }
    place.write(&format!("docs/c{FORGED}.pdf"), "%PDF-1.7\nbroken");
    place.write(&format!("in{FORGED}/d.md"), "Firm Eve makes cranes.");
    let run = |arguments: &[&str]| {
        let ran = place.run(&[&["--offline", "--base", "base"], arguments].concat());
        let output = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            !output.lines().any(|line| line.starts_with("error: forged")),
            "{arguments:?}: {output}"
        );
        output
    };
    let mut output = run(&["index", "."]);
    std::fs::remove_file(place.path(&format!("docs/b{FORGED}.md"))).unwrap();
    std::fs::remove_dir_all(place.path(&format!("in{FORGED}"))).unwrap();
    std::fs::create_dir(place.path(&format!("in{FORGED}"))).unwrap();
    for arguments in [
        &["status"][..],
        &["files"],
        &["search", "cranes"],
        &["ask", "Who makes cranes?"],
        &["index", "--prune", "docs"],
        &["delete", &format!("docs/a{FORGED}.md")],
    ] {
        output += &run(arguments);
    }
    assert!(output.contains("forged"), "the name must be shown: {output}");
}
