//! Which character is meant by a radical? Fonts draw 一 and the radical ⼀ with one glyph, and programs that write PDF (browsers, when
//! they print) name the wrong one of the two: nobody who looks for 一 would find it, and no quote of it would be true.

use unicode_normalization::UnicodeNormalization;

/// The character that a radical of Kangxi or of the supplement stands for; `None` where it is none, or stands for itself alone.
pub(super) fn ideograph(c: char) -> Option<char> {
    match c {
        '\u{2f00}'..='\u{2fd5}' => std::iter::once(c).nfkc().next(),
        '\u{2e80}'..='\u{2ef3}' => {
            SUPPLEMENT.iter().find(|(radical, _)| *radical == c).map(|(_, plain)| *plain)
        }
        _ => None,
    }
}

/// Radicals of the supplement that are drawn as a character of its own is: unlike those of Kangxi they have no decomposition. After Unicode's
/// `EquivalentUnifiedIdeograph.txt`; those that only stand within characters are left out.
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
    fn radicals_are_read_as_the_characters_that_they_are_drawn_as() {
        let read = |text: &str| text.chars().map(|c| ideograph(c).unwrap_or(c)).collect::<String>();
        assert_eq!(read("绞⻋可拉⼗⼀吨，⼤⻔⾼⼆⽶。"), "绞车可拉十一吨，大门高二米。");
        assert_eq!(read("车门一十 crane ︙"), "车门一十 crane ︙");
    }

    /// Spans count bytes: what is read for another has as many.
    #[test]
    fn they_are_as_long() {
        for c in ('\u{2e80}'..='\u{2fdf}').filter_map(|c| Some((c, ideograph(c)?))) {
            assert_eq!(c.0.len_utf8(), c.1.len_utf8(), "{c:?}");
            assert_eq!(ideograph(c.1), None, "{c:?}");
        }
    }
}
