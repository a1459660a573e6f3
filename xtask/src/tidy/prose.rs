//! Checks the wording of comments, string literals and names (STYLE.md, Words) in the crates that use plain words.

use super::rust::{code_only, is_word};
use super::{Finding, Tree, has_ending};

/// Folders whose Rust files are checked, one for each crate that uses plain words throughout.
const DONE: [&str; 28] = [
    "crates/app/",
    "crates/baselines/",
    "crates/contract/",
    "crates/doubles/",
    "crates/engine/",
    "crates/eval/",
    "crates/extract/",
    "crates/indexing/",
    "crates/knowledge/",
    "crates/language/",
    "crates/layout/",
    "crates/methods/",
    "crates/models/",
    "crates/narrate/",
    "crates/parse/",
    "crates/postgres/",
    "crates/prompt/",
    "crates/reason/",
    "crates/records/",
    "crates/retrieve/",
    "crates/server/",
    "crates/sources/",
    "crates/store/",
    "crates/tables/",
    "crates/test-support/",
    "crates/typing/",
    "crates/unpack/",
    "xtask/",
];

/// This file must contain the phrases that others must not.
const SELF: &str = "xtask/src/tidy/prose.rs";

/// Words and phrases that STYLE.md replaces, in lower case. A phrase may continue on the next line.
const BANNED: [&str; 12] = [
    "told",
    "whoever",
    "reckon",
    "reckons",
    "reckoned",
    "foretold",
    "anew",
    "bears out",
    "at hand",
    "so many",
    "is to be",
    "are to be",
];

/// Files in which a phrase is allowed, each with its reason.
const EXCEPTIONS: [(&str, &str, &str); 8] = [
    ("crates/baselines/tests/model_output/tags.rs", "whoever", "documents, which are test data"),
    ("crates/engine/src/error.rs", "reckoned", "a published error code"),
    ("crates/knowledge/src/correction.rs", "is to be", "a published error message"),
    ("crates/knowledge/src/trace.rs", "foretold", "a published name of an event"),
    ("crates/methods/src/pike/params.rs", "told", "a published value of a setting"),
    ("crates/prompt/src/ask.rs", "told", "a sentence of a model's reply, which is test data"),
    ("crates/store/src/sqlite/data/expressions.rs", "told", "an error that goes into a prompt"),
    ("crates/test-support/src/oracle.rs", "told", "a model's reply, which is test data"),
];

/// Words that no name contains, in lower case. A name is split at `_` and at capital letters.
const BANNED_IN_NAMES: [&str; 22] = [
    "told", "said", "lacking", "stand", "stands", "tongue", "doubt", "deaf", "heard", "anew",
    "reckon", "reckons", "reckoned", "mend", "mends", "mended", "foretold", "whoever", "wordless",
    "unseen", "kin", "fly",
];

/// Names that are allowed in a file, each with its reason.
const NAME_EXCEPTIONS: [(&str, &str, &str); 2] = [
    ("crates/engine/src/verbs/lost.rs", "Unseen", "a published name of a schema"),
    ("crates/server/src/metrics.rs", "stand", "a published label of the metrics"),
];

/// Documents that must contain the phrases: the table of words, what was released, the count of words.
const WITH_OLD_WORDS: [&str; 3] = ["STYLE.md", "CHANGELOG.md", "docs/bench/results/words.md"];

/// The first line of each checked file asks no question, and no comment, string or character of it
/// contains a banned phrase. No document does outside of code. No name contains a banned word.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = in_folders(tree, &DONE, &EXCEPTIONS);
    findings.extend(in_names(tree, &DONE, &NAME_EXCEPTIONS));
    findings.extend(in_documents(tree, &EXCEPTIONS));
    findings
}

fn in_documents(tree: &Tree, exceptions: &[(&str, &str, &str)]) -> Vec<Finding> {
    let is_ours = |path: &str| {
        let is_document = path.starts_with("docs/") || !path.contains('/');
        is_document && !WITH_OLD_WORDS.contains(&path)
    };
    let documents = tree.iter().filter(|(path, _)| has_ending(path, "md") && is_ours(path));
    documents.flat_map(|(path, text)| banned(path, &outside_code(text), exceptions)).collect()
}

/// `text` with blanks in place of code between backticks or fences.
fn outside_code(text: &str) -> String {
    let mut is_fenced = false;
    let lines = text.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            return String::new();
        }
        let parts = line.split('`').enumerate();
        let prose = parts.filter(|(at, _)| at % 2 == 0 && !is_fenced).map(|(_, part)| part);
        prose.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn in_folders(tree: &Tree, done: &[&str], exceptions: &[(&str, &str, &str)]) -> Vec<Finding> {
    let is_done = |path: &str| path != SELF && done.iter().any(|folder| path.starts_with(folder));
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| has_ending(path, "rs") && is_done(path)) {
        let first = text.lines().next().unwrap_or_default();
        if first.contains(['?', '？']) {
            let problem = "the first line asks a question: state what the file does".to_owned();
            findings.push(Finding { path: path.clone(), line: 1, problem });
        }
        findings.extend(banned(path, &prose_only(text), exceptions));
    }
    findings
}

/// The names with a banned word: items, variants, fields, parameters, variables.
fn in_names(tree: &Tree, done: &[&str], exceptions: &[(&str, &str, &str)]) -> Vec<Finding> {
    let is_done = |path: &str| done.iter().any(|folder| path.starts_with(folder));
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| has_ending(path, "rs") && is_done(path)) {
        for (line, code) in (1..).zip(code_only(text).lines()) {
            for name in code.split(|c| !is_word(c)).filter(|name| !name.is_empty()) {
                let is_excepted =
                    exceptions.iter().any(|(file, excepted, _)| path == file && name == *excepted);
                let words = words_of_name(name);
                let banned = words.iter().find(|word| BANNED_IN_NAMES.contains(&word.as_str()));
                if let (Some(word), false) = (banned, is_excepted) {
                    let problem = format!(
                        "the name `{name}` contains `{word}`: use plain words (STYLE.md, Words)"
                    );
                    findings.push(Finding { path: path.clone(), line, problem });
                }
            }
        }
    }
    findings
}

/// The words of a name in lower case: `AskedAgain` and `asked_again` have two.
fn words_of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if let (Some(word), true) = (words.last_mut(), c.is_alphabetic()) {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    words
}

/// The banned phrases of a file, whose code is blank.
fn banned(path: &str, prose: &str, exceptions: &[(&str, &str, &str)]) -> Vec<Finding> {
    let words = words(prose);
    let mut findings = Vec::new();
    for phrase in BANNED {
        let is_excepted = |(file, word, _): &(&str, &str, &str)| path == *file && *word == phrase;
        if exceptions.iter().any(is_excepted) {
            continue;
        }
        for line in lines_with(&words, phrase) {
            let problem = format!("`{phrase}`: write plain words (STYLE.md, Words)");
            findings.push(Finding { path: path.to_owned(), line, problem });
        }
    }
    findings
}

/// `text` with blanks in place of code, so that comments, strings and characters are left.
fn prose_only(text: &str) -> String {
    let code = code_only(text);
    let pairs = text.chars().zip(code.chars());
    pairs.map(|(c, code)| if c == code && !c.is_whitespace() { ' ' } else { c }).collect()
}

/// A word in lower case, or a mark that ends a phrase, with its line from 1.
type Words = Vec<(usize, String)>;

fn words(prose: &str) -> Words {
    let mut words = Words::new();
    for (line, text) in (1..).zip(prose.lines()) {
        // A line break within a string reads as a space.
        let text = text.replace("\\n", " ");
        let (mut before, mut rest) = (' ', text.as_str());
        while let Some(c) = rest.chars().next() {
            let n_bytes = if is_word(c) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else {
                c.len_utf8()
            };
            let (word, after) = rest.split_at(n_bytes);
            // The name of a variable that a format string shows.
            let is_shown = before == '{' && after.starts_with(['}', ':']);
            if (is_word(c) && !is_shown) || matches!(c, '.' | ',' | ';' | ':' | '?') {
                words.push((line, word.to_lowercase()));
            }
            (before, rest) = (c, after);
        }
    }
    words
}

/// The line of each occurrence of `phrase`, whose words are separated by single spaces.
fn lines_with(words: &Words, phrase: &str) -> Vec<usize> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let is_phrase = |window: &[(usize, String)]| {
        window.iter().map(|(_, word)| word.as_str()).eq(phrase.iter().copied())
    };
    let windows = words.windows(phrase.len()).filter(|window| is_phrase(window));
    windows.filter_map(|window| window.first().map(|(line, _)| *line)).collect()
}

#[cfg(test)]
mod tests {
    use super::{in_documents, in_folders, in_names};
    use crate::tidy::Tree;

    const FILE: &str = "crates/a/src/lib.rs";

    fn found(text: &str, exceptions: &[(&str, &str, &str)]) -> Vec<String> {
        let files =
            [(FILE, text), ("crates/ab/src/lib.rs", "//! Told?\n"), ("crates/a/b.md", "told")];
        let tree: Tree =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let found = in_folders(&tree, &["crates/a/"], exceptions);
        found.iter().map(|finding| format!("{}: {}", finding.line, finding.problem)).collect()
    }

    #[test]
    fn finds_a_question_in_the_first_line_only() {
        let question = "1: the first line asks a question: state what the file does";
        assert_eq!(found("//! What is it?\n", &[]), [question]);
        assert_eq!(found("//! Is it? It is.\n", &[]), [question]);
        assert_eq!(found("//! Answers.\n// Is it?\nfn a() -> B { c()? }\n", &[]), [""; 0]);
    }

    #[test]
    fn finds_banned_phrases_in_comments_and_strings() {
        let banned = |line: usize, phrase: &str| {
            format!("{line}: `{phrase}`: write plain words (STYLE.md, Words)")
        };
        let text = "//! As told.\n/// So\n/// many, and whoever.\nfn a() {\n    let b = \"it is \\\n\
                    to be\";\n    c() // made anew\n}\n";
        let wanted = [
            banned(1, "told"),
            banned(3, "whoever"),
            banned(7, "anew"),
            banned(2, "so many"),
            banned(5, "is to be"),
        ];
        assert_eq!(found(text, &[]), wanted);
    }

    #[test]
    fn finds_banned_phrases_of_documents_outside_code() {
        let text = "# As told\n\n`told` and\n```\nanew\n```\nwho`x`ever\nat\nhand\n";
        let tree: Tree = [("docs/a.md", text), ("web/b.md", "told"), ("README.md", "anew")]
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into();
        let found = in_documents(&tree, &[]);
        let found: Vec<String> =
            found.iter().map(|it| format!("{}:{}", it.path, it.line)).collect();
        assert_eq!(found, ["README.md:1", "docs/a.md:1", "docs/a.md:8"]);
    }

    #[test]
    fn passes_code_other_words_and_exceptions() {
        let text = "//! Untold and retold.\nfn told(whoever: u8) {}\n// So. Many are; it is, to be sure.\n\
                    const A: &str = \"{told} {told:?}\";\n";
        assert_eq!(found(text, &[]), [""; 0]);
        let text = "//! The word \"told\".\n// Begun anew.\n";
        let only_one = ["2: `anew`: write plain words (STYLE.md, Words)"];
        assert_eq!(found(text, &[(FILE, "told", "the prompt's word")]), only_one);
        assert_eq!(found(text, &[("crates/a/src/b.rs", "told", "another file")]).len(), 2);
    }

    #[test]
    fn finds_banned_words_in_names() {
        let text = "//! As told.\nstruct JobStand;\nfn told_of(x: u8) {}\nconst DEAF: &str = \"said\";\n\
                    fn standard(holder: Understand, r#stands: u8) { retold }\nenum A { Heard2 }\n";
        let tree: Tree = [(FILE, text), ("crates/b/src/lib.rs", "fn told() {}\n")]
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .into();
        let found = |exceptions: &[(&str, &str, &str)]| {
            let found = in_names(&tree, &["crates/a/"], exceptions);
            let shown = found.iter().map(|it| format!("{}: {}", it.line, it.problem));
            shown.map(|it| it.split(" contains").next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let all = [
            "2: the name `JobStand`",
            "3: the name `told_of`",
            "4: the name `DEAF`",
            "5: the name `stands`",
            "6: the name `Heard2`",
        ];
        assert_eq!(found(&[]), all);
        assert_eq!(found(&[(FILE, "told_of", "a published name")]).len(), 4);
    }
}
