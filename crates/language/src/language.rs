//! Which language is this?

/// A character of the Chinese script, rare and compatibility ones included; no punctuation.
pub fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2FA1F}')
}

/// The language of a text as an ISO 639-3 code; `None` where it is too short to tell, or doubtful.
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
