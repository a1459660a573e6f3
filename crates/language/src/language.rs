//! Detects the language of a text.

/// Whether a character belongs to the Chinese script, rare and compatibility characters included;
/// not punctuation.
pub fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2FA1F}')
}

/// The language of a text as an ISO 639-3 code; `None` if the text is too short or the result is
/// unreliable.
pub fn language_of(text: &str) -> Option<&'static str> {
    let mut end = text.len().min(4_000);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = text.get(..end)?;
    if sample.chars().take(20).count() < 20 {
        return None;
    }
    whatlang::detect(sample).filter(whatlang::Info::is_reliable).map(|info| info.lang().code())
}
