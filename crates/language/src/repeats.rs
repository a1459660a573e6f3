//! Compares whole texts: whether one repeats another.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::fold::{Token, tokens};
use crate::numerals::is_numeral;

/// A text of fewer words is not compared: short texts are alike by chance. A Chinese character
/// counts as a word.
const FEWEST: usize = 40;
/// Neighbouring words that are compared as a whole (a shingle).
const SHINGLE: usize = 5;
/// Neighbouring words of a line that another text must contain for a repeat.
const RUN: usize = 3;
/// The least Jaccard index of the shingles of two texts that are alike.
const ALIKE: f64 = 0.9;

/// The words of a text in the form in which texts are compared.
#[derive(Clone, Debug)]
pub struct Wording {
    shingles: HashSet<u64>,
    runs: HashSet<u64>,
    /// Runs around a figure.
    figures: HashSet<u64>,
}

/// How a text resembles another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The other contains each run of three words within a line: nothing is lost without the text.
    Repeated,
    /// Its words differ here and there, and its figures do not: an old edition.
    Similar,
}

impl Wording {
    /// The wording of a text; `None` if it is too short to be compared.
    pub fn of(text: &str) -> Option<Self> {
        let (mut all, mut runs, mut figures) = (Vec::new(), HashSet::new(), HashSet::new());
        for line in text.lines() {
            let words: Vec<Word> = tokens(line).iter().map(|token| Word::of(token, line)).collect();
            // A shorter line is one run.
            for run in words.windows(RUN.min(words.len()).max(1)) {
                let hash = hash_of(run);
                runs.insert(hash);
                if run.iter().any(|word| word.is_figure) {
                    figures.insert(hash);
                }
            }
            all.extend(words);
        }
        if all.len() < FEWEST {
            return None;
        }
        Some(Self { shingles: all.windows(SHINGLE).map(hash_of).collect(), runs, figures })
    }

    /// How this text resembles another; `None` if it does not. The other may contain more.
    pub fn likeness_to(&self, other: &Self) -> Option<Likeness> {
        let common = self.shingles.intersection(&other.shingles).count();
        let all = self.shingles.len() + other.shingles.len() - common;
        if (common as f64) < ALIKE * all as f64 {
            return None;
        }
        if self.runs.is_subset(&other.runs) {
            return Some(Likeness::Repeated);
        }
        self.figures.is_subset(&other.figures).then_some(Likeness::Similar)
    }
}

/// A word with the signs that touch it: `-5` and `5` differ, `5%` and `5` too.
struct Word {
    hash: u64,
    is_figure: bool,
}

impl Word {
    fn of(token: &Token<'_>, line: &str) -> Self {
        let is_sign = |c: &char| !c.is_alphanumeric() && !c.is_whitespace();
        let is_figure = token.raw.chars().any(is_numeral);
        let mut hasher = DefaultHasher::new();
        token.folded.hash(&mut hasher);
        if is_figure {
            let before = line.get(..token.start).and_then(|text| text.chars().next_back());
            let after = line.get(token.end()..).and_then(|text| text.chars().next());
            before.filter(is_sign).hash(&mut hasher);
            after.filter(is_sign).hash(&mut hasher);
        }
        Self { hash: hasher.finish(), is_figure }
    }
}

fn hash_of(words: &[Word]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in words {
        word.hash.hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule for travel, long enough to be compared; `{}` is the amount per day.
    fn rules(amount: &str) -> String {
        let things = "trains buses taxis hotels meals visas cars ferries lounges parking";
        let items = (1..).zip(things.split(' ')).map(|(number, thing)| {
            format!(
                "{number}. Employees book {thing} in the portal and keep the receipt of {thing} for \
                 the yearly audit.\n"
            )
        });
        let items: Vec<String> = items.collect();
        format!("Travel rules\nThe company pays {amount} euros for each day.\n{}", items.concat())
    }

    fn likeness(one: &str, other: &str) -> Option<Likeness> {
        Wording::of(one)?.likeness_to(&Wording::of(other)?)
    }

    #[test]
    fn copies_and_print_versions_are_repeats() {
        let page = rules("40");
        assert_eq!(likeness(&page, &page), Some(Likeness::Repeated));
        let reflowed = page.replace("Travel rules", "TRAVEL  RULES");
        assert_eq!(likeness(&reflowed, &page), Some(Likeness::Repeated));
        // The print version has a footer: the page repeats it, and not the other way round.
        let print = format!("{page}Printed on paper, March 2024\n");
        assert_eq!(likeness(&page, &print), Some(Likeness::Repeated));
        assert_eq!(likeness(&print, &page), None);
    }

    #[test]
    fn texts_with_other_figures_are_no_repeats() {
        for (one, other) in [("40", "45"), ("40", "-40"), ("40", "40%"), ("四十", "五十")] {
            assert_eq!(likeness(&rules(one), &rules(other)), None, "{one} and {other}");
        }
        // The figures are the same, but at other places.
        let report = |first: u32, second: u32| {
            rules("40") + &format!("Berlin has {first} seats.\nParis has {second} seats.\n")
        };
        assert_eq!(likeness(&report(7, 8), &report(8, 7)), None);
        assert_eq!(likeness(&report(7, 8), &report(7, 8)), Some(Likeness::Repeated));
    }

    #[test]
    fn texts_with_other_words_are_only_similar() {
        let page = rules("40");
        let edition = page.replace("hotels in the portal", "hotels not in the portal");
        assert_ne!(page, edition);
        assert_eq!(likeness(&page, &edition), Some(Likeness::Similar));
        assert_eq!(likeness(&edition, &page), Some(Likeness::Similar));
        let other = page.replace("receipt", "ticket").replace("portal", "office");
        assert_eq!(likeness(&page, &other), None);
    }

    #[test]
    fn chinese_is_compared_by_characters() {
        let rules = |amount: &str, must: &str| {
            format!(
                "差旅费管理办法\n员工出差每日补助{amount}元，凭票据报销。\n出差人员{must}自行预订车票和酒店，\
                 并在返回后五个工作日内提交全部票据。\n部门负责人审核票据，财务部按季度汇总并公布结果。\n\
                 本办法由人力资源部负责解释，自发布之日起施行，原办法同时废止。\n各分公司可以根据当地情况制定实施细则，报总公司备案。\n"
            )
        };
        let page = rules("一百", "可以");
        assert_eq!(likeness(&page, &rules("一百", "可以")), Some(Likeness::Repeated));
        assert_eq!(likeness(&page, &rules("两百", "可以")), None);
        assert_eq!(likeness(&page, &rules("一百", "不可以")), Some(Likeness::Similar));
    }

    #[test]
    fn short_texts_are_not_compared() {
        assert!(Wording::of("The company pays 40 euros for each day.").is_none());
        assert!(Wording::of("").is_none());
    }
}
