//! Detects list items, captions and numbered headings from the beginning of a line.

/// Bullets by their characters in fonts; the last ones are what symbol fonts produce.
const BULLETS: &str = "•◦▪▫●○■□◆◇►▶▸‣⁃∙➢➤✓✔–—·*-\u{f0b7}\u{f0a7}\u{f0d8}\u{f076}\u{f0fc}\u{fffd}";

/// Whether the word is only the mark of an item.
pub(crate) fn is_mark(word: &str) -> bool {
    let mut chars = word.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => BULLETS.contains(c) || c == 'o',
        (Some('\u{fffd}'), Some('\u{fffd}')) => word.chars().count() < 4,
        _ => is_number_mark(word),
    }
}

/// `3.`, `b)`, `(iv)`, `2.1.`
fn is_number_mark(word: &str) -> bool {
    let inner = word.strip_prefix('(').unwrap_or(word);
    let Some(inner) = inner.strip_suffix([')', '.', '）', '、']) else { return false };
    let roman = |text: &str| text.len() <= 5 && text.chars().all(|c| "ivxIVX".contains(c));
    let short = inner.chars().count() <= 3;
    !inner.is_empty()
        && (short && inner.chars().all(|c| c.is_ascii_digit())
            || inner.chars().count() == 1 && inner.chars().all(char::is_alphabetic)
            || roman(inner))
}

/// Whether the line begins with the mark of an item.
pub(crate) fn is_item(line: &str) -> bool {
    let Some((mark, rest)) = line.split_once(' ') else {
        return line.starts_with(['•', '●', '▪', '■', '\u{f0b7}']) && 3 < line.len();
    };
    let dash = matches!(mark, "-" | "–" | "—" | "*" | "·" | "o");
    is_mark(mark)
        && rest.chars().any(char::is_alphanumeric)
        && (!dash || rest.starts_with(char::is_alphanumeric))
}

/// The item without its mark, if the mark is a bullet.
pub(crate) fn without_bullet(line: &str) -> &str {
    let rest = line.strip_prefix(|c| BULLETS.contains(c) || c == 'o' && line.starts_with("o "));
    rest.map_or(line, |rest| rest.trim_start_matches(['\u{fffd}', ' ']))
}

/// `Figure 3`, `Table IV:`, `图 2`.
pub(crate) fn is_caption(line: &str) -> bool {
    const WORDS: [&str; 17] = [
        "figure",
        "fig.",
        "table",
        "tab.",
        "chart",
        "exhibit",
        "scheme",
        "listing",
        "abbildung",
        "abb.",
        "tabelle",
        "图",
        "表",
        "圖",
        "그림",
        "표",
        "図",
    ];
    let line = line.trim_start_matches(['[', '<', '〈', '【', '(']);
    WORDS.iter().any(|word| {
        let begins = line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let Some(rest) = line.get(word.len()..).filter(|_| begins) else { return false };
        let rest = rest.trim_start();
        let label: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '.' || *c == '-')
            .collect();
        let numbered = label.chars().any(|c| c.is_ascii_digit())
            || !label.is_empty()
                && label.trim_end_matches('.').chars().all(|c| "ivxlIVXL".contains(c));
        let after = rest.get(label.len()..).unwrap_or_default().trim_start();
        // `Figure 3 shows` is running text.
        let prose = after.starts_with(|c: char| c.is_lowercase()) && !label.ends_with('.');
        numbered && !prose && !after.starts_with([',', ')'])
    })
}

/// The depth of a numbered heading: 3 for `2.1.3 Title`; `None` without such a number.
pub(crate) fn depth(line: &str) -> Option<usize> {
    let (number, rest) = line.split_once(char::is_whitespace)?;
    let number = number.trim_end_matches('.');
    let parts: Vec<&str> = number.split('.').collect();
    let (first, others) = parts.split_first()?;
    let digits = |part: &&str| {
        !part.is_empty() && part.len() <= 3 && part.chars().all(|c| c.is_ascii_digit())
    };
    let appendix =
        first.len() == 1 && first.chars().all(|c| c.is_ascii_uppercase()) && !others.is_empty();
    let whole = (digits(first) || appendix) && others.iter().all(digits);
    (whole && rest.trim_start().starts_with(char::is_alphabetic)).then_some(parts.len())
}

/// Whether the line ends in the dots, or the number after the dots, of a table of contents.
pub(crate) fn ends_in_leader(line: &str) -> bool {
    let text =
        line.trim_end_matches(|c: char| c.is_ascii_digit() || "ivxlc".contains(c)).trim_end();
    text.len() < line.len()
        && (text.ends_with("...") || text.ends_with(". .") || text.ends_with('…'))
}
