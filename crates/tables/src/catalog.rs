//! Holds the tables of a base with their words and values, ready for lookup.

mod values;

use std::collections::{BTreeSet, HashSet};

use pikerag_knowledge::data::{ColumnKind, ColumnRef, DataColumn, DataTable, DataValue};

use pikerag_language::stem;

use crate::lexicon::{Meaning, known_length, meanings};
use crate::pieces::{Piece, han_run, pieces};
use values::ValueIndex;

/// The tables that a question can be about.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The tables; readings refer to them by their places here.
    pub tables: Vec<TableView>,
}

/// One table with an index of its words and values.
#[derive(Debug)]
pub struct TableView {
    /// The table.
    pub table: DataTable,
    columns: Vec<ColumnView>,
    index: ValueIndex,
    /// Stems of the words in the table's title and topics.
    pub(crate) about: HashSet<String>,
    /// The meanings of the words in `about`.
    pub(crate) about_meanings: BTreeSet<Meaning>,
    /// The same without titles of handbooks and rules: their tables are not about their readers.
    pub(crate) topic_meanings: BTreeSet<Meaning>,
}

/// One column with its words and values.
#[derive(Debug, Default)]
pub(crate) struct ColumnView {
    /// The words of the column's name.
    pub(crate) words: Vec<ColumnWord>,
    /// The column's different texts, the most frequent first.
    pub(crate) values: Vec<String>,
}

/// A word of a column's name.
#[derive(Debug)]
pub(crate) struct ColumnWord {
    pub(crate) stem: String,
    pub(crate) meanings: &'static [Meaning],
}

/// Words in titles of documents that tell their readers what to do.
const RULES: [&str; 11] = [
    "handbook", "manual", "guide", "policy", "rules", "手册", "守则", "制度", "规定", "办法",
    "须知",
];

/// The shortest part of a compound word, in letters.
const LEAST_PART: usize = 3;

/// The lengths of prefixes that names of a table share, in letters, and the fewest names that share one.
const PREFIXES: std::ops::RangeInclusive<usize> = 3..=5;
const ALIKE: usize = 4;

/// Words of names that carry no meaning by themselves.
const EMPTY_WORDS: [&str; 11] =
    ["of", "the", "in", "per", "for", "and", "a", "to", "by", "at", "de"];

impl ColumnWord {
    fn of(stem: String) -> Self {
        Self { meanings: meanings(&stem), stem }
    }
}

impl TableView {
    /// Indexes a table. `values` holds the different values of each column, the most frequent first; columns of numbers
    /// need no values.
    pub fn new(table: DataTable, values: Vec<Vec<String>>) -> Self {
        let values = values.into_iter().chain(std::iter::repeat_with(Vec::new));
        let prefixes = shared_prefixes(&table);
        let columns: Vec<ColumnView> = table
            .columns
            .iter()
            .zip(values)
            .map(|(column, values)| ColumnView { words: words_of(&column.name, &prefixes), values })
            .collect();
        let index = ValueIndex::of(&columns);
        let mut about = HashSet::new();
        let mut about_meanings = BTreeSet::new();
        let mut topic_meanings = BTreeSet::new();
        for text in table.about.iter().chain([&table.title]) {
            let lower = text.to_lowercase();
            let is_of_rules = RULES.iter().any(|word| lower.contains(word));
            for word in words_of(text, &[]) {
                about_meanings.extend(word.meanings);
                if !is_of_rules {
                    topic_meanings.extend(word.meanings);
                }
                about.insert(word.stem);
            }
        }
        Self { table, columns, index, about, about_meanings, topic_meanings }
    }

    /// The columns with their places, in the order of the header.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, &DataColumn, &ColumnView)> {
        self.table
            .columns
            .iter()
            .zip(&self.columns)
            .enumerate()
            .map(|(at, (column, view))| (at, column, view))
    }

    /// The words of a column's name.
    pub(crate) fn words(&self, column: usize) -> &[ColumnWord] {
        self.columns.get(column).map(|view| view.words.as_slice()).unwrap_or_default()
    }

    /// The different texts of a column, the most frequent first; empty for a column of numbers or times.
    pub(crate) fn values(&self, column: usize) -> &[String] {
        self.columns.get(column).map(|view| view.values.as_slice()).unwrap_or_default()
    }

    /// The column, as plans refer to it.
    pub(crate) fn reference(&self, column: usize) -> Option<ColumnRef> {
        let column = self.table.columns.get(column)?;
        Some(ColumnRef { table: self.table.name.clone(), column: column.sql.clone() })
    }

    /// Whether each row has a different value in a column.
    pub(crate) fn is_unique(&self, column: usize) -> bool {
        self.table.columns.get(column).is_some_and(|column| {
            column.distinct == self.table.rows && column.filled == self.table.rows
        })
    }

    /// The column that names the rows: one called `name`, else the first with a different value in each row. Texts come
    /// before times.
    pub(crate) fn name_column(&self) -> Option<usize> {
        let is_text = |kind: ColumnKind| {
            matches!(kind, ColumnKind::Text | ColumnKind::Identifier | ColumnKind::Category)
        };
        // The whole word `名称` means the name of the row; `英文名称` is another name.
        let is_name = |words: &[ColumnWord]| {
            let means_name = |word: &ColumnWord| {
                word.meanings.iter().any(|meaning| meanings("name").contains(meaning))
            };
            words.iter().any(|word| word.stem == "name" || word.stem == "名")
                || (!words.is_empty() && words.iter().all(means_name))
        };
        let named =
            self.columns().find(|(_, column, view)| is_text(column.kind) && is_name(&view.words));
        let unique = |fits: fn(ColumnKind) -> bool| {
            self.columns().find(move |(at, column, _)| fits(column.kind) && self.is_unique(*at))
        };
        named.or_else(|| unique(is_text)).or_else(|| unique(ColumnKind::is_time)).map(|(at, ..)| at)
    }

    /// The least and greatest number of a column.
    pub(crate) fn range(&self, column: usize) -> Option<(f64, f64)> {
        let column = self.table.columns.get(column)?;
        Some((column.least.as_ref()?.parse().ok()?, column.greatest.as_ref()?.parse().ok()?))
    }
}

/// A value as a column of this kind stores it; a text if it is no number.
pub(crate) fn stored_value(kind: ColumnKind, text: &str) -> DataValue {
    let real = || text.parse().ok().map(DataValue::Real);
    let number = match kind {
        ColumnKind::Integer | ColumnKind::Year => {
            text.parse().ok().map(DataValue::Integer).or_else(real)
        }
        ColumnKind::Real => real(),
        _ => None,
    };
    number.unwrap_or_else(|| DataValue::Text(text.to_owned()))
}

/// The stems of the two parts of an unknown compound word: `wind` and `speed` of `windspeed`.
fn compound(word: &Piece) -> Option<[String; 2]> {
    if !word.folded.is_ascii() || !meanings(&word.stem).is_empty() {
        return None;
    }
    let is_part = |part: &&str| LEAST_PART <= part.len() && !meanings(&stem(part)).is_empty();
    (LEAST_PART..word.folded.len())
        .filter_map(|at| word.folded.split_at_checked(at))
        .map(<[&str; 2]>::from)
        .find(|parts| parts.iter().all(is_part))
        .map(|parts| parts.map(stem))
}

/// The prefixes that at least [`ALIKE`] one-word names of a table share: `pop` of `poptotal`, `popwhite`, …; the
/// longest first.
fn shared_prefixes(table: &DataTable) -> Vec<String> {
    let names: Vec<String> = table
        .columns
        .iter()
        .map(|column| column.name.to_lowercase())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase()))
        .collect();
    let sharing = |prefix: &str| {
        let is_longer = |name: &&String| prefix.len() + LEAST_PART <= name.len();
        names.iter().filter(is_longer).filter(|name| name.starts_with(prefix)).count()
    };
    let mut prefixes: Vec<String> = Vec::new();
    for length in PREFIXES.rev() {
        for prefix in names.iter().filter_map(|name| name.get(..length)) {
            let is_known = prefixes.iter().any(|longer| longer.starts_with(prefix));
            if !is_known && ALIKE <= sharing(prefix) {
                prefixes.push(prefix.to_owned());
            }
        }
    }
    prefixes
}

/// The words of a name. The lexicon splits Chinese words; a word with a shared prefix is split in two.
fn words_of(name: &str, prefixes: &[String]) -> Vec<ColumnWord> {
    let pieces = pieces(name);
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        if piece.is_han {
            let run = han_run(pieces.get(at..).unwrap_or_default());
            let length = known_length(&run).max(1);
            words.push(ColumnWord::of(run.iter().take(length).collect()));
            at += length;
            continue;
        }
        at += 1;
        let prefix =
            prefixes.iter().find(|prefix| pieces.len() == 1 && piece.folded.starts_with(*prefix));
        if let Some(prefix) = prefix
            && let Some(rest) =
                piece.folded.get(prefix.len()..).filter(|rest| LEAST_PART <= rest.len())
        {
            words.extend([prefix.as_str(), rest].map(|part| ColumnWord::of(stem(part))));
        } else if let Some(parts) = compound(piece) {
            words.extend(parts.map(ColumnWord::of));
        } else if !EMPTY_WORDS.contains(&piece.folded.as_str()) {
            words.push(ColumnWord::of(piece.stem.clone()));
        }
    }
    words
}
