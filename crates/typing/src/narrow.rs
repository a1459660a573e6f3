//! Rewrites the signs of a cell to the ASCII signs that numbers, dates and marks are read by.

use std::borrow::Cow;

use pikerag_language::is_invisible;

/// A cell without surrounding space and invisible characters, with narrow digits, plain spaces and a plain minus.
pub(crate) fn narrowed(cell: &str) -> Cow<'_, str> {
    let cell = cell.trim();
    if cell.is_ascii() {
        return Cow::Borrowed(cell);
    }
    let narrow = |c: char| match c {
        c if c.is_whitespace() => ' ',
        '−' | '‑' | '﹣' => '-',
        '￥' => '¥',
        c => pikerag_language::narrow(c),
    };
    let text: String = cell.chars().filter(|c| !is_invisible(*c)).map(narrow).collect();
    Cow::Owned(text.trim().to_owned())
}
