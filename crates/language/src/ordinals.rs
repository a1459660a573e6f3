//! Which numbered parts does a Chinese text name? `第三十九条` and `第39条` are one term, whose number
//! no dictionary cuts to pieces.

use crate::numerals::leading_number;

/// What parts of statutes, contracts and books are called.
const PARTS: [char; 8] = ['条', '款', '项', '章', '节', '编', '篇', '卷'];
/// Numerals longer than this, in characters, number nothing.
const LONGEST: usize = 12;

/// The numbered part that a text begins with, its number in digits, and what comes after it.
pub(crate) fn ordinal(text: &str) -> Option<(Vec<String>, &str)> {
    let (number, rest) = leading_number(text.strip_prefix('第')?, LONGEST)?;
    let name = rest.chars().next().filter(|name| PARTS.contains(name))?;
    let rest = rest.get(name.len_utf8()..)?;
    // 之一: put in later.
    match rest.strip_prefix('之').and_then(|rest| leading_number(rest, LONGEST)) {
        Some((inserted, rest)) => Some((vec![format!("第{number}{name}之{inserted}")], rest)),
        None => Some((vec![format!("第{number}{name}")], rest)),
    }
}
