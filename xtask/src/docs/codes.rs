//! Lists exit codes and error codes (docs/reference/codes.md).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::help::output;
use super::{one_line, row};

/// The English words of the page for each code. A test of the page checks that every code of the
/// server has some.
const WORDS: &str = "web/src/lib/words/problems.en.ts";
/// Codes that the page makes itself; the server sends none of them.
const OF_THE_PAGE: [&str; 5] =
    ["cut-off", "page-defect", "run-failed", "unreachable", "unreadable"];

/// The exit codes of the last lines of `pikerag --help`.
pub(super) fn exit_codes(program: &Path) -> Result<String> {
    let help = output(program, &["--help"])?;
    let codes = help.split("Exit codes:").nth(1).context("`--help` lists no exit codes")?;
    let codes = one_line(codes.split(".\n").next().unwrap_or_default());
    let mut table = row(&["code", "meaning"]) + "| ---: | --- |\n";
    for entry in codes.split("; ") {
        let is_word = |c: char| c.is_alphabetic();
        let after = entry.replacen(" or ", ", ", 1);
        let at = after.find(is_word).context("an exit code has no meaning")?;
        let (code, meaning) = after.split_at(at);
        table += &row(&[code.trim(), meaning.trim()]);
    }
    Ok(table)
}

/// Each code of the server with its meaning and the next step, by name.
pub(super) fn error_codes(root: &Path) -> Result<String> {
    let words = std::fs::read_to_string(root.join(WORDS))?;
    let codes = codes(&words)?;
    let mut table = row(&["code", "meaning", "next step"]) + "| --- | --- | --- |\n";
    for (code, (title, hint)) in codes {
        if !OF_THE_PAGE.contains(&code) {
            table += &row(&[&format!("`{code}`"), title, hint.unwrap_or("–")]);
        }
    }
    Ok(table)
}

/// Title and hint by code, from lines such as `"no-base": { title: "…", hint: "…" },`.
fn codes(words: &str) -> Result<BTreeMap<&str, (&str, Option<&str>)>> {
    let mut codes = BTreeMap::new();
    for line in words.lines().map(str::trim).filter(|line| line.contains("{ title: ")) {
        let (code, rest) = line.split_once(": { ").context("a code without words")?;
        let title = quoted(rest, "title: ").with_context(|| format!("{WORDS}: {line}"))?;
        ensure!(!line.contains("\\\""), "{WORDS}: a quote within words: {line}");
        codes.insert(code.trim_matches('"'), (title, quoted(rest, "hint: ")));
    }
    ensure!(!codes.is_empty(), "{WORDS} has no codes");
    Ok(codes)
}

/// The text in quotes after a name.
fn quoted<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split_once(name)?.1.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::codes;

    #[test]
    fn codes_are_read_with_their_words() {
        let words = "  codes: {\n    \"no-base\": { title: \"None\", hint: \"Add one.\" },\n    defect: { title: \"A fault\" },\n";
        let found = codes(words).unwrap();
        assert_eq!(found["no-base"], ("None", Some("Add one.")));
        assert_eq!(found["defect"], ("A fault", None));
        assert!(codes("").is_err());
    }
}
