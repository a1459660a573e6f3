//! Reads numbered parts of Chinese texts as terms: `第三十九条` and `第39条` are one term, which the word
//! cutter does not split.

use crate::numerals::leading_number;

/// The names of parts in statutes, contracts and books.
const PARTS: [char; 8] = ['条', '款', '项', '章', '节', '编', '篇', '卷'];
/// Longer numerals, in characters, are not part numbers.
const LONGEST: usize = 12;

/// The numbered part that a text begins with, its number in digits, and the rest of the text.
pub(crate) fn ordinal(text: &str) -> Option<(Vec<String>, &str)> {
    let (number, rest) = leading_number(text.strip_prefix('第')?, LONGEST)?;
    let name = rest.chars().next().filter(|name| PARTS.contains(name))?;
    let rest = rest.get(name.len_utf8()..)?;
    // 之一 marks a part that was inserted later.
    match rest.strip_prefix('之').and_then(|rest| leading_number(rest, LONGEST)) {
        Some((inserted, rest)) => Some((vec![format!("第{number}{name}之{inserted}")], rest)),
        None => Some((vec![format!("第{number}{name}")], rest)),
    }
}
