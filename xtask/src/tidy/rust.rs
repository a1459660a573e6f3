//! Separates shipped code from tests, comments and strings in a Rust file, with a simple scanner.

/// True for files that contain only tests or benchmarks: `tests/a.rs`, `src/b/tests.rs`.
pub(super) fn is_test_file(path: &str) -> bool {
    let mut parts = path.strip_suffix(".rs").unwrap_or(path).split('/');
    parts.any(|part| matches!(part, "tests" | "benches"))
}

/// The text above the `#[cfg(test)] mod … {` that ends a file; the whole text if there is none.
pub(super) fn above_tests(text: &str) -> &str {
    let mut start = 0;
    let mut test_at = None;
    for line in text.split_inclusive('\n') {
        let is_opening = line.trim_end().ends_with('{');
        match test_at {
            _ if line.trim_end() == "#[cfg(test)]" => test_at = Some(start),
            Some(at) if is_module(line) && is_opening => return text.get(..at).unwrap_or(text),
            Some(_) if line.starts_with("#[") || line.starts_with("//") => {}
            _ => test_at = None,
        }
        start += line.len();
    }
    text
}

fn is_module(line: &str) -> bool {
    ["mod ", "pub mod ", "pub(crate) mod ", "pub(super) mod "].iter().any(|m| line.starts_with(m))
}

/// Code (`code_only`) with blanks in place of every item under `#[cfg(test)]`, and the names of
/// those modules that are files of their own.
pub(super) fn without_tests(code: &str) -> (String, Vec<String>) {
    let mut kept = String::with_capacity(code.len());
    let mut modules = Vec::new();
    let mut rest = code;
    while let Some((before, item)) = rest.split_once("#[cfg(test)]") {
        kept.push_str(before);
        let (gone, after) = item.split_at(end_of_item(item));
        let words: Vec<&str> =
            gone.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
        if let [.., "mod", name] = words.as_slice() {
            modules.push((*name).to_owned());
        }
        kept.extend(gone.chars().map(|c| if c == '\n' { c } else { ' ' }));
        rest = after;
    }
    kept.push_str(rest);
    (kept, modules)
}

/// The number of bytes to the `;` or the `}` that ends an item, or to the end of its parent.
fn end_of_item(item: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in item.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return at,
            ')' | ']' => depth -= 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            ';' | ',' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    item.len()
}

/// `text` with blanks in place of comments, strings and characters; line breaks stay.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after_word = code.ends_with(is_word);
        let n_hidden = hidden(rest, after_word);
        if n_hidden == 0 {
            code.push(next);
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
        } else {
            let (gone, after) = rest.split_at(n_hidden);
            code.extend(gone.chars().map(|c| if c == '\n' { c } else { ' ' }));
            rest = after;
        }
    }
    code
}

/// True for a character of a name.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length in bytes of the comment, string or character at the beginning of `rest`; 0 if it
/// begins with code.
fn hidden(rest: &str, after_word: bool) -> usize {
    if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        block_comment(rest)
    } else if rest.starts_with('"') {
        quoted(rest, '"')
    } else if rest.starts_with('\'') {
        character(rest)
    } else if after_word {
        0
    } else {
        raw_string(rest)
    }
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(here) = rest.get(at..).filter(|here| !here.is_empty()) {
        if here.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// A string or character with its quotes; `\` escapes the next character.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// `'x'` and `'
/// '`, but not the lifetime `'x`.
fn character(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted(rest, '\''),
        _ => 0,
    }
}

/// `r"…"`, `r#"…"#`, also after `b` and `c`; not `r#name`.
fn raw_string(rest: &str) -> usize {
    let Some(marks) = rest.strip_prefix(['b', 'c']).unwrap_or(rest).strip_prefix('r') else {
        return 0;
    };
    let n_hashes = marks.len() - marks.trim_start_matches('#').len();
    let Some(body) = marks.trim_start_matches('#').strip_prefix('"') else { return 0 };
    let end = format!("\"{}", "#".repeat(n_hashes));
    body.find(&end).map_or(rest.len(), |at| rest.len() - body.len() + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::{above_tests, code_only, without_tests};

    #[test]
    fn blanks_out_comments_strings_and_characters() {
        for (text, code) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ \n */ d", "a              \n    d"),
            (r#"f("a\"b", c)"#, "f(      , c)"),
            ("f(r#\"a\"b\"#, r\"c\\\", br\"d\")", "f(        ,      ,      )"),
            ("f::<'a>('\\'', '\"', 'b')", "f::<'a>(    ,    ,    )"),
            ("r#type = 1; // x", "r#type = 1;     "),
            ("\"京\" é", "    é"),
            ("\"open", "     "),
        ] {
            assert_eq!(code_only(text).replace(' ', "·"), code.replace(' ', "·"), "{text}");
        }
    }

    #[test]
    fn ends_above_the_tests() {
        for (text, n_lines) in [
            ("a\n#[cfg(test)]\nmod tests {\nb\n}\n", 1),
            ("a\n#[cfg(test)]\n// why\n#[expect(x)]\nmod tests {\nb\n}\n", 1),
            ("#[cfg(test)]\nmod tests;\na\n", 3),
            ("#[cfg(test)]\nuse a;\nmod b {\n}\n", 4),
            ("a\nb", 2),
        ] {
            assert_eq!(above_tests(text).lines().count(), n_lines, "{text}");
        }
    }

    #[test]
    fn blanks_out_items_for_tests() {
        for (code, kept, modules) in [
            ("a; #[cfg(test)] mod b; c", "a; c", &["b"][..]),
            ("#[cfg(test)]\n#[expect(x)]\npub(crate) mod b;\nc", "\n \n \nc", &["b"]),
            ("#[cfg(test)] use a::{b, c}; d", "; d", &[]),
            ("{ #[cfg(test)] fn a(b: [u8; 2]) { c; { d } } e }", "{ e }", &[]),
            ("A { #[cfg(test)] b: u8, c: d }", "A { c: d }", &[]),
            ("A { #[cfg(test)] b }", "A { }", &[]),
        ] {
            let (found, gone) = without_tests(code);
            let found: Vec<&str> = found.split(' ').filter(|word| !word.is_empty()).collect();
            assert_eq!(found.join(" "), kept, "{code}");
            assert_eq!(gone, modules, "{code}");
        }
    }
}
