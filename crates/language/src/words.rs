//! Splits text into folded words and search terms, with terms for numbers, dates and amounts.

use std::collections::HashSet;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::asking::{is_asking, is_asking_pair, without_asking};
use crate::chinese;
use crate::fold::tokens;
use crate::language::is_chinese;
use crate::stop::is_stop_word;
use crate::written::take_written;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// The words of a text, folded: words of other scripts in order, then the Chinese ones, then the
/// terms of its numbered parts, dates and amounts (`第39条`, `2025-04-22` with its month and year,
/// `1260000`, `10%`). Long Chinese words are followed by the shorter words inside them, as in a
/// search engine.
pub fn words(text: &str) -> Vec<String> {
    Cut::new(text).words().cloned().collect()
}

/// The words that carry meaning, each once, in order of first use.
pub fn content_words(text: &str) -> Vec<String> {
    Cut::new(text).content_words()
}

/// The terms of the full-text index: stems of all words, and pairs of neighbouring Chinese
/// characters that are in no known word, without grammar. Two texts may cut the same characters
/// into different words; their pairs are the same.
pub fn terms(text: &str) -> Vec<String> {
    let cut = Cut::new(text);
    let mut terms: Vec<String> = cut.words().map(|word| stem(word)).collect();
    terms.extend(cut.pairs);
    terms
}

/// The terms of a query, each once, in order: stems of the words that carry meaning, then pairs of
/// characters as in [`terms`]. Chinese words that only ask are left out. A query that is only
/// grammar keeps all its words.
pub fn query_terms(text: &str) -> Vec<String> {
    let mut cut = Cut::new(&without_asking(text));
    let mut chosen = cut.content_words();
    chosen.retain(|word| !is_asking(word));
    cut.pairs.retain(|pair| !is_asking_pair(pair));
    if chosen.is_empty() {
        cut = Cut::new(text);
        chosen = cut.words().cloned().collect();
    }
    let mut seen = HashSet::new();
    let mut terms: Vec<String> = chosen.iter().map(|word| stem(word)).collect();
    terms.extend(cut.pairs);
    terms.retain(|term| seen.insert(term.clone()));
    terms
}

/// The parts of one text.
struct Cut {
    /// Words of other scripts, then the Chinese ones.
    plain: Vec<String>,
    /// Terms of numbered parts, dates and amounts. None of them counts as grammar, not even a date
    /// in May.
    written: Vec<String>,
    /// Pairs of neighbouring Chinese characters; a number ends a run of characters.
    pairs: Vec<String>,
}

impl Cut {
    fn new(text: &str) -> Self {
        let (written, text) = take_written(text);
        let mut plain: Vec<String> = tokens(&text)
            .into_iter()
            .filter(|token| !token.raw.chars().any(is_chinese))
            .map(|token| token.folded)
            .collect();
        let (chinese, pairs) = chinese::cut(&text);
        plain.extend(chinese);
        Self { plain, written, pairs }
    }

    fn words(&self) -> impl Iterator<Item = &String> {
        self.plain.iter().chain(&self.written)
    }

    fn content_words(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let plain = self.plain.iter().filter(|word| !is_stop_word(word));
        plain.chain(&self.written).filter(|word| seen.insert(*word)).cloned().collect()
    }
}

/// A folded word without its ending (Snowball, English); words of other scripts are returned
/// unchanged.
pub fn stem(word: &str) -> String {
    if word.is_ascii() { STEMMER.stem(word).into_owned() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_languages_in_one_text() {
        assert_eq!(words("The KX-40 crane's load"), ["the", "kx", "40", "crane", "load"]);
        let mixed = words("港口起重机 KX-40 的维护");
        assert!(mixed.contains(&"起重机".to_owned()), "{mixed:?}");
        assert!(mixed.contains(&"kx".to_owned()), "{mixed:?}");
    }

    #[test]
    fn content_words_leave_the_grammar_out() {
        assert_eq!(
            content_words("Who is the mayor of the city of Oslo?"),
            ["mayor", "city", "oslo"]
        );
        assert_eq!(content_words("谁是奥斯陆的市长？"), ["奥斯陆", "市长"]);
    }

    #[test]
    fn terms_are_stems() {
        assert_eq!(query_terms("Which cranes were lifting cranes?"), ["crane", "lift"]);
        assert_eq!(query_terms("Who was it?"), ["who", "was", "it"]);
    }

    #[test]
    fn everyday_questions_have_the_terms_of_short_ones() {
        assert_eq!(query_terms("门禁卡丢了要赔多少钱呀？"), query_terms("门禁卡丢了 赔？"));
        assert_eq!(query_terms("会议什么时候开？"), query_terms("会议 开"));
        assert!(!query_terms("要能会").is_empty());
    }

    #[test]
    fn pairs_match_across_different_word_cuts() {
        assert_eq!(terms("矿山事故 A 港"), ["a", "矿山", "事故", "港", "山事"]);
        assert_eq!(query_terms("第三十九条的港口"), ["港口", "第39条"]);
    }

    #[test]
    fn queries_match_other_notations_of_dates_and_amounts() {
        for (asked, written) in [
            ("2025-04-22", "甲方于二〇二五年四月二十二日付款"),
            ("2025年4月的发票", "invoiced on April 22, 2025"),
            ("2025", "签于２０２５年４月２２日"),
            ("5月", "付款日为2025年5月1日"),
            ("126万", "合同总价：人民币壹佰贰拾陆万元整"),
            ("1,260,000", "合同总价126万元"),
            ("10 percent", "违约金为百分之十"),
            ("3‰", "每日千分之三"),
            ("质保期是多久", "产品的质保期为两年"),
        ] {
            let held = terms(written);
            let found = query_terms(asked).into_iter().any(|term| held.contains(&term));
            assert!(found, "{asked} in {held:?}");
        }
        assert_eq!(query_terms("质保期是多久"), ["质保", "质保期"]);
        assert_eq!(query_terms("合同总价126万元？").join(" "), "合同 总价 元 1260000 同总");
    }

    proptest! {
        /// A term gives itself again when it is used as a query.
        #[test]
        fn compounds_stay_whole(year in 1000..3000, month in 1..=12, day in 1..=28, amount in 1..1_000_000_u64) {
            for text in [format!("{year}年{month}月{day}日"), format!("{amount}万"), format!("{amount}%")] {
                let whole = query_terms(&text).into_iter().next().unwrap_or_default();
                prop_assert_eq!(query_terms(&whole).into_iter().next(), Some(whole));
            }
        }
    }
}
