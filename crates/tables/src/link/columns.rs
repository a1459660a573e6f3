//! Links words of a question to names of columns.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use pikerag_language::periods::stretches;
use pikerag_language::{is_chinese, is_stop_word};

use super::{ColumnMention, Links, Word};
use crate::catalog::ColumnWord;
use crate::cues::{Cues, Goal, Period};
use crate::scope::{ColumnPlace, Scope};

/// Stems that belong to the measure before them: `unemployment rate`.
const MEASURE_WORDS: [&str; 29] = [
    "rate", "number", "level", "valu", "amount", "total", "figur", "count", "score", "concentr",
    "measur", "degre", "率", "数", "值", "量", "数量", "费", "额", "度", "面", "浓度", "人数",
    "年", "海", "区", "人", "家", "个",
];

/// Small words between the words of one name.
const LINKING_WORDS: [&str; 5] = ["of", "the", "in", "的", "a"];

/// The shortest abbreviation in a column's name: `dep` for `departure`.
const LEAST_ABBREVIATION: usize = 3;

/// A column, and the place of a word in its name.
type WordOfColumn = (ColumnPlace, usize);

/// Links periods to columns that are named after them: `December 2009`.
pub(super) fn link_periods(cues: &Cues, scope: &Scope<'_>, links: &mut Links) {
    for period in &cues.periods {
        let (Some(from), Some(to)) = (&period.from, &period.to) else { continue };
        let ends = if period.is_range { vec![from, to] } else { vec![from] };
        // Only a question about a change can use a range of columns.
        let is_change = matches!(cues.goal, Goal::Difference | Goal::Growth);
        let mentions: Vec<ColumnMention> =
            ends.iter().filter_map(|end| mention_of_period(end, period, scope)).collect();
        if mentions.len() == ends.len() && (is_change || !period.is_range) {
            links.columns.extend(mentions);
        }
    }
}

/// The mention of the columns that are named after one end of a period.
fn mention_of_period(end: &str, period: &Period, scope: &Scope<'_>) -> Option<ColumnMention> {
    let columns: Vec<ColumnPlace> = scope
        .columns()
        .filter(|(_, column, _)| period_of_name(&column.name).as_deref() == Some(end))
        .map(|(place, ..)| place)
        .collect();
    (!columns.is_empty()).then(|| ColumnMention {
        span: period.span.clone(),
        columns,
        n_matched: 2,
        n_words: 2,
        further_spans: Vec::new(),
    })
}

/// The year or month that is a column's whole name.
fn period_of_name(name: &str) -> Option<String> {
    let (found, rest) = stretches(name);
    let [only] = found.as_slice() else { return None };
    let (from, to) = (only.from.as_deref()?, only.to.as_deref()?);
    let length = match () {
        () if !rest.trim().is_empty() => return None,
        () if from.ends_with("-01-01") && to.ends_with("-12-31") => 4,
        () if from.ends_with("-01") && to.ends_with("-31") => 7,
        () => return None,
    };
    from.get(..length).map(str::to_owned)
}

/// Links runs of words to the columns whose names have the most of them.
pub(super) fn link_columns(cues: &Cues, scope: &Scope<'_>, words: &[Word], links: &mut Links) {
    let matches = Matches {
        scope,
        words,
        by_word: words.iter().map(|word| matches_of(word, cues, scope, links)).collect(),
    };
    let mut at = 0;
    while at < words.len() {
        if matches.of(at).is_empty() {
            at += 1;
            continue;
        }
        let end = matches.run_end(at);
        while at < end {
            let Some((to, mut mention)) = matches.longest_mention(at, end) else {
                at += 1;
                continue;
            };
            at = to;
            if let Some(next) = words.get(to)
                && next.span.start == mention.span.end
                && MEASURE_WORDS.contains(&next.stem.as_str())
                && !cues.is_used(next.span.start)
                && !matches.names_whole(to)
            {
                mention.span.end = next.span.end;
                at += 1;
            }
            links.columns.push(mention);
        }
    }
    links.columns.sort_by_key(|mention| mention.span.start);
    merge_narrowing_mentions(&mut links.columns);
}

/// The columns that a word can name. Words of values and small words name none.
fn matches_of(word: &Word, cues: &Cues, scope: &Scope<'_>, links: &Links) -> Vec<WordOfColumn> {
    let start = word.span.start;
    if links.values.iter().any(|value| value.span.contains(&start)) || is_stop_word(&word.stem) {
        return Vec::new();
    }
    if is_classifier(word, cues) || cues.is_harmless(start) {
        return Vec::new();
    }
    // `maximum` names a column `temp_max`; `highest` names no column `high school`.
    let is_extreme = cues.extremes.iter().any(|extreme| extreme.span.contains(&start));
    let mut found = Vec::new();
    for (place, _, view) in scope.columns() {
        for (at, named) in view.words.iter().enumerate() {
            let is_bound = matches!(named.stem.as_str(), "max" | "min");
            if is_same(word, named) && (!is_extreme || is_bound) {
                found.push((place, at));
            }
        }
    }
    found
}

/// Whether a character is a classifier, as in `哪款` or `几种`. Then it is no part of a name.
fn is_classifier(word: &Word, cues: &Cues) -> bool {
    const CLASSIFIERS: &str = "款种位家个只件项条批份次名台座辆";
    const BEFORE: &str = "哪几一这那";
    let before = word.span.start.checked_sub(1).map(|at| cues.folded(at)).unwrap_or_default();
    word.span.len() == 1
        && CLASSIFIERS.contains(&word.stem)
        && !before.is_empty()
        && BEFORE.contains(before)
}

fn is_same(word: &Word, named: &ColumnWord) -> bool {
    let shares_meaning = || word.meanings.iter().any(|meaning| named.meanings.contains(meaning));
    // `precip` for `precipitation`.
    let is_abbreviation = || {
        LEAST_ABBREVIATION <= named.stem.len()
            && named.stem.len() < word.stem.len()
            && named.stem.chars().all(|c| c.is_ascii_alphabetic())
            && word.stem.starts_with(&named.stem)
    };
    word.stem == named.stem || shares_meaning() || is_abbreviation()
}

/// For each word of a question: the column words that it matches.
struct Matches<'a> {
    scope: &'a Scope<'a>,
    words: &'a [Word],
    by_word: Vec<Vec<WordOfColumn>>,
}

impl Matches<'_> {
    fn of(&self, word: usize) -> &[WordOfColumn] {
        self.by_word.get(word).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a span is one Chinese character that no list knows: `款` of `款数` does not mean `年款`.
    fn is_lone_character(&self, span: Range<usize>) -> bool {
        let words = self.words.get(span).unwrap_or_default();
        matches!(words, [word] if word.meanings.is_empty() && word.stem.chars().all(is_chinese))
    }

    /// Whether a word alone is the name of a column.
    fn names_whole(&self, word: usize) -> bool {
        self.of(word).iter().any(|(place, at)| self.scope.n_needed(*place, &[*at]) == 1)
    }

    /// The matches of words that match something.
    fn of_matching(&self, words: Range<usize>) -> impl Iterator<Item = &Vec<WordOfColumn>> {
        let matches = self.by_word.get(words).unwrap_or_default();
        matches.iter().filter(|matches| !matches.is_empty())
    }

    /// The end of the run of matching words; one small word may be between two of them.
    fn run_end(&self, start: usize) -> usize {
        let mut last = start + 1;
        let mut end = start + 1;
        while let Some(word) = self.words.get(end) {
            let is_linking = LINKING_WORDS.contains(&word.stem.as_str()) && end == last;
            if !self.of(end).is_empty() {
                last = end + 1;
            } else if !is_linking {
                break;
            }
            end += 1;
        }
        last
    }

    /// The mention by the longest beginning of a run that one column covers, and its end.
    fn longest_mention(&self, from: usize, end: usize) -> Option<(usize, ColumnMention)> {
        if self.of(from).is_empty() {
            return None;
        }
        (from + 1..=end).rev().find_map(|to| self.mention(from..to))
    }

    /// The mention of the columns that have all matching words of a span.
    fn mention(&self, span: Range<usize>) -> Option<(usize, ColumnMention)> {
        let to = span.clone().rev().find(|word| !self.of(*word).is_empty())? + 1;
        let mut matched: HashMap<ColumnPlace, Vec<usize>> = HashMap::new();
        for (place, word) in self.of_matching(span.clone()).flatten() {
            let words = matched.entry(*place).or_default();
            if !words.contains(word) {
                words.push(*word);
            }
        }
        matched.retain(|place, _| {
            self.of_matching(span.clone()).all(|of| of.iter().any(|(held, _)| held == place))
        });
        let n_matched = matched.values().map(Vec::len).max()?;
        matched.retain(|_, words| words.len() == n_matched);
        let needed = matched.iter().map(|(place, words)| self.scope.n_needed(*place, words));
        let n_words = needed.min()?;
        if n_matched < n_words && self.is_lone_character(span.clone()) {
            return None;
        }
        let mut columns: Vec<ColumnPlace> = matched
            .into_iter()
            // If the question has only a part of each name, no name is better than another.
            .filter(|(place, words)| {
                n_matched < n_words || self.scope.n_needed(*place, words) == n_words
            })
            .map(|(place, _)| place)
            .collect();
        columns.sort_unstable();
        let start = self.words.get(span.start)?.span.start;
        let span = start..self.words.get(to - 1)?.span.end;
        Some((to, ColumnMention { span, columns, n_matched, n_words, further_spans: Vec::new() }))
    }
}

/// Merges separate mentions that narrow each other: `scheduled` and `departure` for `sched_dep_time`.
fn merge_narrowing_mentions(mentions: &mut Vec<ColumnMention>) {
    let mut merged: Vec<ColumnMention> = Vec::new();
    let mut rest: VecDeque<ColumnMention> = std::mem::take(mentions).into();
    while let Some(mut first) = rest.pop_front() {
        rest.retain(|second| {
            let shared: Vec<ColumnPlace> =
                first.columns.iter().filter(|it| second.columns.contains(it)).copied().collect();
            let narrows = !shared.is_empty()
                && shared.len() < first.columns.len()
                && shared.len() < second.columns.len();
            if narrows {
                first.columns = shared;
                first.n_matched += second.n_matched;
                first.further_spans.push(second.span.clone());
            }
            !narrows
        });
        merged.push(first);
    }
    *mentions = merged;
}
