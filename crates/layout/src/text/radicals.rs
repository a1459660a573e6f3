//! Replaces radicals by the characters that they look like.
//!
//! Fonts draw 一 and the radical ⼀ with one glyph, and programs that write PDF (browsers, when they
//! print) name the wrong one. Searches for 一 would then miss the text, and no quote of it would
//! match.

use unicode_normalization::UnicodeNormalization;

/// The character that a radical of Kangxi or of the supplement represents; `None` if it is not a
/// radical, or represents only itself.
pub(super) fn ideograph(c: char) -> Option<char> {
    match c {
        '\u{2f00}'..='\u{2fd5}' => std::iter::once(c).nfkc().next(),
        '\u{2e80}'..='\u{2ef3}' => {
            SUPPLEMENT.iter().find(|(radical, _)| *radical == c).map(|(_, plain)| *plain)
        }
        _ => None,
    }
}

/// Radicals of the supplement that look like a separate character. Unlike those of Kangxi, they
/// have no decomposition. After Unicode's `EquivalentUnifiedIdeograph.txt`, without radicals that
/// occur only inside characters.
const SUPPLEMENT: [(char, char); 43] = [
    ('⺁', '厂'),
    ('⺄', '乙'),
    ('⺈', '刀'),
    ('⺊', '卜'),
    ('⺌', '小'),
    ('⺎', '兀'),
    ('⺜', '日'),
    ('⺝', '月'),
    ('⺟', '母'),
    ('⺠', '民'),
    ('⺧', '牛'),
    ('⺩', '王'),
    ('⺫', '目'),
    ('⺬', '示'),
    ('⺶', '羊'),
    ('⺼', '肉'),
    ('⻁', '虎'),
    ('⻄', '西'),
    ('⻅', '见'),
    ('⻆', '角'),
    ('⻉', '贝'),
    ('⻋', '车'),
    ('⻑', '長'),
    ('⻓', '长'),
    ('⻔', '门'),
    ('⻗', '雨'),
    ('⻘', '青'),
    ('⻙', '韦'),
    ('⻚', '页'),
    ('⻛', '风'),
    ('⻜', '飞'),
    ('⻝', '食'),
    ('⻢', '马'),
    ('⻣', '骨'),
    ('⻤', '鬼'),
    ('⻥', '鱼'),
    ('⻦', '鸟'),
    ('⻧', '卤'),
    ('⻨', '麦'),
    ('⻩', '黄'),
    ('⻬', '齐'),
    ('⻰', '龙'),
    ('⻳', '龟'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radicals_are_read_as_characters() {
        let read = |text: &str| text.chars().map(|c| ideograph(c).unwrap_or(c)).collect::<String>();
        assert_eq!(read("绞⻋可拉⼗⼀吨，⼤⻔⾼⼆⽶。"), "绞车可拉十一吨，大门高二米。");
        assert_eq!(read("车门一十 crane ︙"), "车门一十 crane ︙");
    }

    /// Spans count bytes, so the replacement has the same number of bytes.
    #[test]
    fn replacements_have_the_same_length() {
        for c in ('\u{2e80}'..='\u{2fdf}').filter_map(|c| Some((c, ideograph(c)?))) {
            assert_eq!(c.0.len_utf8(), c.1.len_utf8(), "{c:?}");
            assert_eq!(ideograph(c.1), None, "{c:?}");
        }
    }
}
