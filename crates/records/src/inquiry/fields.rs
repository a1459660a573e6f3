//! Finds the fields and values that a question names. Words are compared by stem and by meaning, across
//! English and Chinese; values by their words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pikerag_knowledge::RecordSchema;
use pikerag_knowledge::records::{Field, FieldType};
use pikerag_knowledge::tables::{Condition, Frame, Test};
use pikerag_language::fold::folded;
use pikerag_language::fold::{Token, tokens};
use pikerag_language::lexicon::{concepts, meaning};
use pikerag_language::units;
use pikerag_language::{is_chinese, is_stop_word, stem};

/// The most words of a value that is sought in a question.
const LONGEST_VALUE: usize = 12;

/// How well a field's names fit some words: the number of meanings and stems they share, and its share of
/// the name's own.
fn fit(field: &Field, words: &BTreeSet<String>) -> (usize, f64) {
    let names = std::iter::once(&field.name).chain(&field.columns);
    let fits = names.map(|name| {
        let own = concepts(name);
        let shared = own.intersection(words).count();
        (shared, shared as f64 / own.len().max(1) as f64)
    });
    fits.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).unwrap_or_default()
}

/// The field that words name best, among the fields that `suits` accepts; `None` if they name none.
pub(super) fn named<'a>(
    schema: &'a RecordSchema,
    words: &str,
    suits: impl Fn(FieldType) -> bool,
) -> Option<&'a Field> {
    let words = concepts(words);
    let fits = schema.fields.iter().enumerate().filter(|(_, field)| suits(field.kind));
    fits.map(|(at, field)| (fit(field, &words), at, field))
        .filter(|((shared, _), ..)| 0 < *shared)
        .max_by(|(a, at, _), (b, bt, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(bt.cmp(at)))
        .map(|(.., field)| field)
}

/// The words for the things of a schema, from its name, its description and its key.
pub(super) fn names_of_things(schema: &RecordSchema) -> BTreeSet<String> {
    let mut names = concepts(&schema.name);
    names.extend(concepts(&schema.description));
    for name in &schema.key {
        names.extend(concepts(name));
        names.extend(
            schema
                .field(name)
                .into_iter()
                .flat_map(|field| &field.columns)
                .flat_map(|name| concepts(name)),
        );
    }
    names
}

/// A word of the question.
pub(super) struct Word {
    /// Without case and accents.
    folded: String,
    /// As written.
    raw: String,
    /// Whether a field, value or condition explains it.
    pub(super) is_explained: bool,
    is_first: bool,
}

/// The words of a question; Chinese text is split into characters.
pub(super) fn words_of(rest: &str) -> Vec<Word> {
    let word = |(at, token): (usize, Token<'_>)| Word {
        raw: token.raw.to_owned(),
        folded: token.folded,
        is_explained: false,
        is_first: at == 0,
    };
    tokens(rest).into_iter().enumerate().map(word).collect()
}

/// Conditions from the values of text fields that the question names; marks their words as explained.
/// Longer values come first. Whole values give `Is`, parts of values give `Holds`.
pub(super) fn conditions(
    schema: &RecordSchema,
    frame: &Frame,
    words: &mut [Word],
) -> Vec<Condition> {
    let mut found: Vec<(usize, Condition)> = Vec::new();
    let whole = whole_values(schema, frame);
    for length in (1..=LONGEST_VALUE.min(words.len())).rev() {
        for start in 0..=words.len() - length {
            let Some(run) = words.get(start..start + length) else { continue };
            if run.iter().any(|word| word.is_explained) || !can_be_value(schema, run) {
                continue;
            }
            if let Some((field, value)) = whole.get(&stems(run)) {
                let test = Test::Is(value.clone());
                found.push((start, Condition { field: (*field).to_owned(), test }));
                words.iter_mut().skip(start).take(length).for_each(|word| word.is_explained = true);
            }
        }
    }
    let parts = parts_of_values(schema, frame, words);
    for length in (1..=LONGEST_VALUE.min(words.len())).rev() {
        for start in 0..=words.len() - length {
            let Some(run) = words.get(start..start + length) else { continue };
            if run.iter().any(|word| word.is_explained) || !can_be_value(schema, run) {
                continue;
            }
            if let Some((field, held)) = parts.get(&stems(run)) {
                let test = Test::Holds(held.clone());
                found.push((start, Condition { field: (*field).to_owned(), test }));
                words.iter_mut().skip(start).take(length).for_each(|word| word.is_explained = true);
            }
        }
    }
    found.sort_by_key(|(start, _)| *start);
    found.into_iter().map(|(_, condition)| condition).collect()
}

/// The stems of words, so that `gearbox leaks` in a question matches `gearbox leak` in a record.
fn stems(run: &[Word]) -> String {
    run.iter().map(|word| stem(&word.folded)).collect::<Vec<_>>().join(" ")
}

fn stems_of(folded: &[&str]) -> String {
    folded.iter().map(|word| stem(word)).collect::<Vec<_>>().join(" ")
}

/// Whether words can name a value: they are not too short, and not the words for a field or a thing.
fn can_be_value(schema: &RecordSchema, run: &[Word]) -> bool {
    let edge = |word: Option<&Word>| word.is_some_and(|word| is_stop_word(&word.folded));
    if edge(run.first()) || edge(run.last()) {
        return false;
    }
    let characters: usize = run.iter().map(|word| word.folded.chars().count()).sum();
    let is_chinese = run.iter().all(|word| word.folded.chars().all(is_chinese));
    if characters < 2 {
        return false;
    }
    // `drug` and 药物 are the things counted, but a capitalized name is a value.
    let raw: String = run
        .iter()
        .map(|word| word.raw.as_str())
        .collect::<Vec<_>>()
        .join(if is_chinese { "" } else { " " });
    let is_name = run.iter().all(|word| !word.is_first && word.raw.chars().any(char::is_uppercase));
    let own = concepts(&raw);
    let things = names_of_things(schema);
    let is_term = own.iter().all(|concept| things.contains(concept))
        || schema.fields.iter().any(|field| {
            let names = concepts(&field.name);
            own.iter().all(|concept| names.contains(concept))
        });
    is_name || !is_term
}

/// By stems, a field and the words in the spelling of its values.
type Named<'a> = HashMap<String, (&'a str, String)>;
/// The number of things with these words, by stems, position of the field, and words.
type Counts = BTreeMap<(String, usize, String), usize>;

/// Every value of a text field by its stems, with the field in which most things have it.
fn whole_values<'a>(schema: &'a RecordSchema, frame: &Frame) -> Named<'a> {
    let mut counts = Counts::new();
    for at in text_fields(schema) {
        for thing in &frame.things {
            if let Some(cell) = thing.cells.get(at).and_then(Option::as_ref) {
                let words: Vec<&str> = cell.folded.split(' ').collect();
                *counts.entry((stems_of(&words), at, cell.folded.clone())).or_default() += 1;
            }
        }
        // Values declared as the same name the first of them.
        for same in schema.fields.get(at).map_or(&[][..], |field| &field.same) {
            let Some(name) = same.first().map(|first| folded(first)) else { continue };
            let own = stems_of(&name.split(' ').collect::<Vec<_>>());
            let Some(count) = counts.get(&(own, at, name.clone())).copied() else { continue };
            for other in same.iter().skip(1).map(|other| folded(other)) {
                let stems = stems_of(&other.split(' ').collect::<Vec<_>>());
                counts.insert((stems, at, name.clone()), count);
            }
        }
    }
    most(schema, counts)
}

/// Every run of the question's words that is part of values, with the field in which most things have it.
fn parts_of_values<'a>(schema: &'a RecordSchema, frame: &Frame, words: &[Word]) -> Named<'a> {
    let mut runs: BTreeSet<String> = BTreeSet::new();
    for length in 1..=LONGEST_VALUE.min(words.len()) {
        runs.extend(words.windows(length).map(stems));
    }
    let mut counts = Counts::new();
    for at in text_fields(schema) {
        for thing in &frame.things {
            let Some(cell) = thing.cells.get(at).and_then(Option::as_ref) else { continue };
            let held: Vec<&str> = cell.folded.split(' ').collect();
            let mut own: BTreeSet<(String, String)> = BTreeSet::new();
            for length in 1..=LONGEST_VALUE.min(held.len()) {
                let named = held.windows(length).map(|run| (stems_of(run), run.join(" ")));
                own.extend(named.filter(|(stems, _)| runs.contains(stems)));
            }
            for (stems, run) in own {
                *counts.entry((stems, at, run)).or_default() += 1;
            }
        }
    }
    most(schema, counts)
}

fn text_fields(schema: &RecordSchema) -> impl Iterator<Item = usize> {
    let fields = schema.fields.iter().enumerate();
    fields.filter(|(_, field)| field.kind == FieldType::Text).map(|(at, _)| at)
}

/// By stems, the field and the words with the highest count; the first of equal ones.
fn most(schema: &RecordSchema, counts: Counts) -> Named<'_> {
    let mut best: HashMap<String, (usize, String, usize)> = HashMap::new();
    for ((stems, at, words), count) in counts {
        let held = best.entry(stems).or_insert_with(|| (at, words.clone(), count));
        if held.2 < count {
            *held = (at, words, count);
        }
    }
    let named = |(stems, (at, words, _)): (String, (usize, String, usize))| {
        Some((stems, (schema.fields.get(at)?.name.as_str(), words)))
    };
    best.into_iter().filter_map(named).collect()
}

/// Conditions from yes-or-no fields that the question names: `interchangeable ones`, `not interchangeable`.
/// Marks their words as explained.
pub(super) fn truths(schema: &RecordSchema, words: &mut [Word]) -> Vec<Condition> {
    const NOT: [&str; 7] = ["not", "non", "without", "不", "非", "未", "无"];
    let mut found = Vec::new();
    for field in schema.fields.iter().filter(|field| field.kind == FieldType::Bool) {
        let names = std::iter::once(&field.name).chain(&field.columns);
        for name in names {
            let own: Vec<String> = tokens(&name.replace('_', " "))
                .into_iter()
                .map(|token| stem(&token.folded))
                .collect();
            let place = (0..words.len()).find(|start| {
                let run = words.get(*start..start + own.len());
                run.is_some_and(|run| {
                    run.iter()
                        .zip(&own)
                        .all(|(word, own)| !word.is_explained && stem(&word.folded) == *own)
                })
            });
            let Some(place) = place.filter(|_| !own.is_empty()) else { continue };
            let is_not = place
                .checked_sub(1)
                .and_then(|before| words.get(before))
                .is_some_and(|word| NOT.contains(&word.folded.as_str()));
            words.iter_mut().skip(place).take(own.len()).for_each(|word| word.is_explained = true);
            found.push(Condition { field: field.name.clone(), test: Test::IsTrue(!is_not) });
            break;
        }
    }
    found
}

/// The content words that are neither explained, nor known, nor usual in questions.
pub(super) fn unexplained(known: &BTreeSet<String>, words: &[Word]) -> Vec<String> {
    // Chinese words are longer than a character, so unexplained neighbours are joined.
    let mut found = Vec::new();
    let mut run = String::new();
    let add_unknown = |run: &mut String, found: &mut Vec<String>| {
        let text = std::mem::take(run);
        let words = pikerag_language::content_words(&text);
        let is_known = |word: &str| {
            let stem = stem(word);
            known.contains(&stem)
                || meaning(&stem).is_some_and(|meaning| known.contains(&meaning))
                || USUAL.split_whitespace().any(|usual| usual == stem)
                || units::known(word).is_some()
                || word.chars().count() < 2 && word.chars().all(is_chinese)
        };
        for word in &words {
            // `content_words` lists Chinese words with the shorter ones inside them.
            let is_part =
                |other: &String| other.len() > word.len() && other.contains(word.as_str());
            let is_known =
                is_known(word) || words.iter().any(|other| is_part(other) && is_known(other));
            // Of words inside each other, only the longer one is listed.
            let is_inside = found.iter().any(|listed: &String| listed.contains(word));
            if !is_known && !is_inside {
                found.push(word.clone());
            }
        }
    };
    for word in words {
        if word.is_explained {
            add_unknown(&mut run, &mut found);
            continue;
        }
        let chinese = word.folded.chars().all(is_chinese);
        if !chinese {
            run.push(' ');
        }
        run.push_str(&word.folded);
        if !chinese {
            run.push(' ');
        }
    }
    add_unknown(&mut run, &mut found);
    found
}

/// Stems of words that are usual in questions about figures.
const USUAL: &str = "\
    list give show tell name find count number mani much total all each everi per year month quarter differ \
    distinct record document file accord base data tabl regist got get had have receiv were made happen occur \
    took take place there overal altogeth pleas respect time period any those with kind type one rank order \
    sort first last more most fewest least than go come next expect forecast predict like 统计 列出 请 \
    请问 分别 一共 总共 根据 资料 文件 文档 记录 数据 获得 发生 进行 情况 所有 \
    全部 不同 有过 被 得到 会有 显示 时长 时间 involv did do made 做 做了 发生了 单次 每次 一次 需要 出现 应该 要做 need requir occur will should we \
    due becaus caus 由于 因为 导致 引起";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_either_language() {
        let schema: RecordSchema = serde_json::from_str(
            r#"{"name": "drug_approval", "fields": [
                {"name": "drug"}, {"name": "approved", "type": "date", "columns": ["approval_date"]},
                {"name": "company"}, {"name": "hours_lost", "type": "number"}], "key": ["drug"]}"#,
        )
        .unwrap();
        let of = |words: &str| named(&schema, words, |_| true).map(|field| field.name.as_str());
        assert_eq!(of("companies"), Some("company"));
        assert_eq!(of("公司"), Some("company"));
        assert_eq!(of("药品"), Some("drug"));
        assert_eq!(of("hours"), Some("hours_lost"));
        assert_eq!(of("port"), None);
    }
}
