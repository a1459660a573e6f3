//! Looks up the values of a table by the pieces of a question.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::data::ColumnKind;
use pikerag_language::stem;

use super::{ColumnView, TableView};
use crate::lexicon::{chinese_names, english_names, meanings};
use crate::pieces::{Piece, key, pieces};

/// Codes up to this length are also common words, so they match only as they are written.
const SHORT_CODE: usize = 3;

/// The fewest letters that a word shares with a value of which it is another form, and the longest endings of both.
const LEAST_SHARED: usize = 5;
const MOST_ENDING: (usize, usize) = (4, 2);

/// A column with more values holds names; another form of a name is another name.
const MOST_CATEGORIES: usize = 40;

/// The most values of a column of sexes: both, unknown and similar.
const MOST_SEXES: usize = 5;

/// Endings that people omit from Chinese names: `江苏` for `江苏省`, `宁夏` for `宁夏回族自治区`.
const ENDINGS: [&str; 15] = [
    "省",
    "市",
    "自治区",
    "回族自治区",
    "壮族自治区",
    "维吾尔自治区",
    "特别行政区",
    "县",
    "区",
    "节",
    "公司",
    "集团",
    "州",
    "自治州",
    // 还在履行 stands for 履行中.
    "中",
];

/// The place of a value: the places of its column and of the value in that column.
type ValuePlace = (usize, usize);

/// The values of a table, by their pieces.
#[derive(Debug)]
pub(super) struct ValueIndex {
    by_key: HashMap<String, Vec<ValuePlace>>,
    by_piece: HashMap<String, Vec<ValuePlace>>,
}

impl ValueIndex {
    pub(super) fn of(columns: &[ColumnView]) -> Self {
        let mut by_key: HashMap<String, Vec<ValuePlace>> = HashMap::new();
        let mut by_piece: HashMap<String, Vec<ValuePlace>> = HashMap::new();
        for (column, view) in columns.iter().enumerate() {
            for (at, value) in view.values.iter().enumerate() {
                let pieces = pieces(value);
                by_key.entry(key(&pieces)).or_default().push((column, at));
                let different: HashSet<String> =
                    pieces.into_iter().map(|piece| piece.folded).collect();
                for piece in different {
                    by_piece.entry(piece).or_default().push((column, at));
                }
            }
        }
        Self { by_key, by_piece }
    }
}

impl TableView {
    /// The values that consist of exactly these pieces, with their columns. Chinese names also find English values.
    pub(crate) fn equal_values(&self, span: &[Piece]) -> Vec<(usize, String)> {
        let mut found = self.values_of_key(&key(span));
        if found.is_empty() && span.iter().all(|piece| piece.is_han) {
            let chinese: String = span.iter().map(|piece| piece.raw.as_str()).collect();
            for name in english_names(&chinese) {
                found.extend(self.values_of_key(&key(&pieces(name))));
            }
            if found.is_empty() && 2 <= span.len() {
                let full_names = ENDINGS.iter().map(|ending| format!("{chinese}{ending}"));
                found.extend(full_names.flat_map(|name| self.values_of_key(&key(&pieces(&name)))));
            }
        }
        if found.is_empty() && span.iter().all(|piece| !piece.is_han) {
            found.extend(
                chinese_names(&key(span))
                    .iter()
                    .flat_map(|name| self.values_of_key(&key(&pieces(name)))),
            );
        }
        if let ([piece], true) = (span, found.is_empty()) {
            found = self.values_of_adjective(piece);
        }
        if let ([piece], true) = (span, found.is_empty()) {
            found = self.values_of_plural(piece);
        }
        if let ([piece], true) = (span, found.is_empty()) {
            found = self.values_of_relative(piece);
        }
        if let ([piece], true) = (span, found.is_empty()) {
            return self.values_of_sex(piece);
        }
        if let [piece] = span
            && piece.raw.chars().count() <= SHORT_CODE
            && !piece.is_han
        {
            let is_number = piece.raw.chars().all(|c| c.is_ascii_digit());
            found.retain(|(column, value)| {
                *value == piece.raw || (is_number && self.is_identifier(*column))
            });
        }
        found
    }

    /// The values that contain these pieces next to each other, by column.
    pub(crate) fn values_containing(&self, span: &[Piece]) -> HashMap<usize, Vec<String>> {
        let mut found: HashMap<usize, Vec<String>> = HashMap::new();
        let lists = span.iter().map(|piece| {
            self.index.by_piece.get(&piece.folded).map(Vec::as_slice).unwrap_or_default()
        });
        let Some(rarest) = lists.min_by_key(|list| list.len()) else { return found };
        let wanted = format!(" {} ", key(span));
        for (column, at) in rarest {
            let Some(value) = self.value((*column, *at)) else { continue };
            if format!(" {} ", key(&pieces(value))).contains(&wanted) {
                found.entry(*column).or_default().push(value.to_owned());
            }
        }
        found
    }

    fn values_of_key(&self, key: &str) -> Vec<(usize, String)> {
        let places = self.index.by_key.get(key).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| Some((place.0, self.value(*place)?.to_owned()))).collect()
    }

    /// The countries of an adjective, in columns of countries: `France` for `French`.
    fn values_of_adjective(&self, piece: &Piece) -> Vec<(usize, String)> {
        const COUNTRIES: [&str; 3] = ["nationality", "citizenship", "homeland"];
        if piece.is_han || !piece.is_capitalized() {
            return Vec::new();
        }
        let is_of_countries = |(column, _): &(usize, String)| {
            self.words(*column).iter().any(|word| {
                COUNTRIES.iter().any(|it| word.stem == stem(it))
                    || word.meanings.iter().any(|it| meanings("country").contains(it))
            })
        };
        let names = chinese_names(&piece.folded).iter().flat_map(|name| english_names(name));
        let found = names.flat_map(|name| self.values_of_key(&key(&pieces(name))));
        let mut found: Vec<(usize, String)> = found.filter(is_of_countries).collect();
        found.dedup();
        found
    }

    /// The one-word values whose plural is in the question: `township` for `townships`.
    fn values_of_plural(&self, piece: &Piece) -> Vec<(usize, String)> {
        let singulars =
            [("ies", "y"), ("s", ""), ("es", "")].into_iter().filter_map(|(end, with)| {
                let stem = piece.folded.strip_suffix(end).filter(|stem| SHORT_CODE < stem.len())?;
                Some(format!("{stem}{with}"))
            });
        singulars
            .map(|word| self.values_of_key(&word))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    }

    /// The only value of a category that differs from a word just in its ending: `Democratic` for `Democrats`.
    fn values_of_relative(&self, piece: &Piece) -> Vec<(usize, String)> {
        let word = piece.folded.as_str();
        let names_column =
            || self.columns().any(|(_, _, view)| view.words.iter().any(|it| it.stem == piece.stem));
        let is_letters = word.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_letters || !meanings(&piece.stem).is_empty() || names_column() {
            return Vec::new();
        }
        let is_relative = |value: &String| {
            let value = value.to_lowercase();
            let shared =
                word.bytes().zip(value.bytes()).take_while(|(one, other)| one == other).count();
            LEAST_SHARED <= shared
                && word.len() - shared <= MOST_ENDING.0
                && value.len() - shared <= MOST_ENDING.1
        };
        let mut found = Vec::new();
        for (column, data, view) in self.columns() {
            if data.kind == ColumnKind::Category && view.values.len() <= MOST_CATEGORIES {
                let own = view.values.iter().filter(|value| is_relative(value));
                found.extend(own.map(|value| (column, value.clone())));
            }
        }
        if found.len() == 1 { found } else { Vec::new() }
    }

    /// The code of a sex, in a column that has both sexes and few other values: `F` for `females`.
    fn values_of_sex(&self, piece: &Piece) -> Vec<(usize, String)> {
        let of = |words: &[&str]| words.contains(&piece.stem.as_str());
        let [own, other] = match () {
            () if of(&["male", "man", "men", "boy", "雄", "公", "男"]) => ["m", "f"],
            () if of(&["female", "woman", "women", "girl", "雌", "母", "女"]) => ["f", "m"],
            () => return Vec::new(),
        };
        let is_sex = |(column, _): &(usize, String)| {
            let values = self.values(*column);
            values.len() <= MOST_SEXES
                && values.iter().any(|value| value.eq_ignore_ascii_case(other))
        };
        self.values_of_key(own).into_iter().filter(is_sex).collect()
    }

    fn value(&self, (column, at): ValuePlace) -> Option<&str> {
        self.columns.get(column)?.values.get(at).map(String::as_str)
    }

    fn is_identifier(&self, column: usize) -> bool {
        self.table.columns.get(column).is_some_and(|column| column.kind == ColumnKind::Identifier)
    }
}
