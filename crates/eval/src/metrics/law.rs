//! Finds the options, articles and crimes that an answer names (LawBench; KAR³ Tables 15 and 16).

use std::collections::BTreeSet;

use pikerag_language::{is_numeral, number};

/// The separators of list items, besides spaces.
const SEPARATORS: [char; 9] = ['、', ',', '，', '和', '及', '与', '至', '第', ' '];

/// Whether an answer chooses exactly the options of some label: 1 or 0. `None` if no label names an
/// option.
pub fn choice(answer: &str, labels: &[String]) -> Option<f64> {
    let gold: Vec<BTreeSet<char>> =
        labels.iter().map(|label| options(label)).filter(|set| !set.is_empty()).collect();
    let chosen = options(answer);
    (!gold.is_empty()).then(|| f64::from(u8::from(gold.contains(&chosen))))
}

/// The options A to D that a text chooses: those after `[正确答案]`, `答案` or `answer` up to the first
/// other word, if there are any; else all isolated ones. `ABD` is three of them.
pub fn options(text: &str) -> BTreeSet<char> {
    const MARKS: [&str; 4] = ["正确答案", "答案", "answer is", "answer:"];
    let text: String = text.chars().map(half_width).collect();
    let lower = text.to_ascii_lowercase();
    for mark in MARKS {
        // The last one: a text may restate the question before it answers.
        let Some(at) = lower.rfind(mark) else { continue };
        let chosen = leading(text.get(at + mark.len()..).unwrap_or_default());
        if !chosen.is_empty() {
            return chosen;
        }
    }
    isolated(&text)
}

/// The options at the beginning of a text, up to the first other word: `D, since A is wrong` is D.
fn leading(text: &str) -> BTreeSet<char> {
    let mut found = BTreeSet::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        let options = isolated(&word);
        if options.is_empty() && !word.is_empty() && word != "and" && !found.is_empty() {
            break;
        }
        found.extend(options);
        word.clear();
        if !found.is_empty() && !matches!(c, ' ' | ',' | '，' | '、' | '和' | '及' | '与') {
            break;
        }
    }
    found
}

fn half_width(c: char) -> char {
    match c {
        'Ａ'..='Ｄ' => {
            char::from_u32(u32::from(c) - u32::from('Ａ') + u32::from('A')).unwrap_or(c)
        }
        '；' => ';',
        '：' => ':',
        c => c,
    }
}

/// The letters of the words that consist of A to D alone, in rising order.
fn isolated(text: &str) -> BTreeSet<char> {
    let mut found = BTreeSet::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let letters: Vec<char> = word.chars().collect();
        let rising = letters.is_sorted_by(|left, right| left < right);
        if rising && letters.iter().all(|c| matches!(c, 'A'..='D')) {
            found.extend(letters);
        }
    }
    found
}

/// How well the articles in an answer fit those of the best label: whether they are the same (1 or
/// 0), and F1 over them. `None` if no label names an article.
pub fn articles_score(answer: &str, labels: &[String]) -> Option<(f64, f64)> {
    sets_score(&articles(answer), labels.iter().map(|label| articles(label)))
}

/// Crimes as [`articles_score`]: for an answer without a list of its own, the gold names that occur
/// in it.
pub fn crimes_score(answer: &str, labels: &[String]) -> Option<(f64, f64)> {
    let gold: Vec<BTreeSet<String>> = labels.iter().map(|label| crimes(label)).collect();
    let mut named = crimes(answer);
    if named.is_empty() {
        let known = gold.iter().flatten().filter(|name| answer.contains(name.as_str()));
        named = known.cloned().collect();
    }
    sets_score(&named, gold.into_iter())
}

fn sets_score(
    named: &BTreeSet<String>,
    gold: impl Iterator<Item = BTreeSet<String>>,
) -> Option<(f64, f64)> {
    let mut best: Option<(f64, f64)> = None;
    for gold in gold.filter(|gold| !gold.is_empty()) {
        let common = named.intersection(&gold).count() as f64;
        let f1 = 2.0 * common / (named.len() + gold.len()) as f64;
        let same = f64::from(u8::from(*named == gold));
        let (old_same, old_f1) = best.unwrap_or_default();
        best = Some((same.max(old_same), f1.max(old_f1)));
    }
    best
}

/// The articles of statutes that a text names, as digits: `第二百六十四条` is `264`,
/// `刑法第357、354条` are two, `第133条之一` is `133-1`. Paragraphs (款) and items (项) do not count.
pub fn articles(text: &str) -> BTreeSet<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = BTreeSet::new();
    // The end of the last article: a list may go on after it without another 第.
    let mut list_goes_on_at = None;
    for (end, _) in characters.iter().enumerate().filter(|(_, c)| **c == '条') {
        let in_list = |c: &&char| is_numeral(**c) || SEPARATORS.contains(c);
        let length = characters.iter().take(end).rev().take_while(in_list).count();
        let mut numbers: Vec<char> =
            characters.iter().skip(end - length).take(length).copied().collect();
        if let Some(first) = numbers.iter().position(|c| *c == '第') {
            if list_goes_on_at != Some(end - length) {
                numbers.drain(..first);
            }
        } else if list_goes_on_at != Some(end - length) {
            continue; // 三条规定 counts rules and names none.
        }
        let numbers: String = numbers.into_iter().collect();
        let suffix = inserted(characters.get(end + 1..).unwrap_or_default());
        let mut parts: Vec<String> = numbers
            .split(|c| SEPARATORS.contains(&c))
            .filter_map(number)
            .map(|n| n.to_string())
            .collect();
        if let (Some(last), Some(suffix)) = (parts.last_mut(), suffix) {
            *last = format!("{last}-{suffix}");
        }
        if !parts.is_empty() {
            list_goes_on_at = Some(end + 1);
        }
        found.extend(parts);
    }
    found
}

/// `之一` after an article that was inserted later.
fn inserted(behind: &[char]) -> Option<u32> {
    let [first, rest @ ..] = behind else { return None };
    let digits: String = rest.iter().take_while(|c| is_numeral(**c)).collect();
    if *first == '之' { number(&digits) } else { None }
}

/// The crimes that a text lists after `罪名`, without the closing 罪.
pub fn crimes(text: &str) -> BTreeSet<String> {
    let Some(at) = text.rfind("罪名") else { return BTreeSet::new() };
    let behind = text.get(at + "罪名".len()..).unwrap_or_default();
    let behind = behind.trim_start_matches([']', '】', ':', '：', '为', '是', ' ']);
    let end = behind.find(['。', '\n', '<']).unwrap_or(behind.len());
    // 、 occurs within a name: 走私、贩卖、运输、制造毒品.
    let names = behind.get(..end).unwrap_or_default().split([';', '；', ',', '，']);
    names
        .map(|name| name.trim().trim_end_matches('罪').to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{articles, articles_score, choice, crimes, crimes_score, options};

    #[test]
    fn options_in_many_wordings() {
        for (text, wanted) in [
            ("正确答案：C。", "C"),
            ("[正确答案]A<eoa>", "A"),
            ("[正确答案]ABD<eoa>", "ABD"),
            ("A、C", "AC"),
            ("选项A说法错误，因此正确答案是B。", "B"),
            ("The answer is D, since A is wrong.", "D"),
            ("Answer: A, B and D. C is wrong.", "ABD"),
            ("答案是B，因为A错误。", "B"),
            ("D", "D"),
            ("Ｂ。", "B"),
            ("BAD", ""),
            ("我不知道", ""),
        ] {
            assert_eq!(options(text).into_iter().collect::<String>(), wanted, "{text}");
        }
        let labels = ["正确答案：AC。".to_owned(), "AC".to_owned()];
        assert_eq!((choice("AC", &labels), choice("A", &labels)), (Some(1.0), Some(0.0)));
        assert_eq!(choice("A", &["Paris".to_owned()]), None);
    }

    #[test]
    fn articles_in_both_numerals_and_in_lists() {
        for (text, wanted) in [
            ("法条:刑法第357、354条", "354 357"),
            ("根据《刑法》第二百六十四条第一款的规定", "264"),
            ("[法条]刑法第128条、刑法第341条<eoa>", "128 341"),
            ("第一百三十三条之一", "133-1"),
            ("第六十七条、六十八条和第七十二条", "67 68 72"),
            ("一共三条规定，条件如下", ""),
            ("第２６４条", "264"),
            ("条", ""),
        ] {
            let found: Vec<String> = articles(text).into_iter().collect();
            assert_eq!(found.join(" "), wanted, "{text}");
        }
    }

    #[test]
    fn chinese_and_arabic_articles_are_equal() {
        let gold = ["法条:刑法第357、354条".to_owned()];
        assert_eq!(articles_score("刑法第三百五十七条、第三百五十四条", &gold), Some((1.0, 1.0)));
        assert_eq!(articles_score("刑法第354条", &gold), Some((0.0, 2.0 / 3.0)));
        assert_eq!(articles_score("无", &gold), Some((0.0, 0.0)));
        assert_eq!(articles_score("第1条", &["没有".to_owned()]), None);
    }

    #[test]
    fn crimes_with_and_without_a_list() {
        let gold = ["罪名:盗窃;走私、贩卖、运输、制造毒品".to_owned()];
        assert_eq!(crimes(&gold[0]).len(), 2);
        assert_eq!(
            crimes_score("[罪名]盗窃罪；走私、贩卖、运输、制造毒品罪<eoa>", &gold),
            Some((1.0, 1.0))
        );
        assert_eq!(crimes_score("被告人犯盗窃罪", &gold), Some((0.0, 2.0 / 3.0)));
        assert_eq!(crimes_score("盗窃", &["x".to_owned()]), None);
    }

    /// On every real label that names something, the gold answer scores as right.
    #[test]
    fn real_labels_agree_with_themselves() {
        for task in ["1-2", "3-6", "3-1", "3-2"] {
            let path = format!("data/lawbench/{task}.questions.jsonl");
            let Some(path) = pikerag_test_support::optional(&path) else { continue };
            let items = crate::datasets::read(&path, None).unwrap().items;
            let mut named = 0;
            for item in &items {
                let label = &item.answers[0];
                let score = match task {
                    "3-1" | "3-2" => articles_score(label, &item.answers).map(|(same, _)| same),
                    _ => choice(label, &item.answers),
                };
                assert!(score.is_none_or(|score| 0.999 < score), "{label}");
                named += usize::from(score.is_some());
            }
            println!("{task}: {named} of {} labels name something", items.len());
            assert!(items.len() * 9 <= named * 10, "{task}: only {named}");
        }
    }

    proptest! {
        #[test]
        fn survives_any_text(text in "[第条之、0-9一二百十款A-D答案正确罪名;。 \\PC]{0,40}") {
            let _ = (options(&text), articles(&text), crimes(&text));
            if let Some((same, f1)) = articles_score(&text, std::slice::from_ref(&text)) {
                prop_assert_eq!((same, f1), (1.0, 1.0));
            }
        }
    }
}
