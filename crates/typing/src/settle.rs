//! Decides the kind of a column from its cells, and the rule for reading them.

use pikerag_knowledge::data::ColumnKind;

use super::head::{Header, YearHeader};
use super::marks::{Mark, MissingMarks};
use super::number::{Amount, DecimalMark};
use super::reading::{NumberRule, Reading, UnitName, shown_amount};
use super::tally::{Extremes, NumberReading, Tally, UnitTally};
use super::units::{is_currency, unit_key};

/// The most characters of names and categories, on average.
const LONGEST_NAME: u64 = 60;
/// The fewest digits of a code without leading zeros, unless the header names identifiers.
const SHORTEST_CODE: usize = 11;
/// The whole numbers that are years if the header names a year and some are before 1000.
const YEARS: std::ops::RangeInclusive<i64> = -10_000..=2_200;

/// The marks of missing values in columns of numbers, dates and booleans.
const ALL_MISSING: MissingMarks = MissingMarks { na: true, nothing: true, soft: true };

/// The decision about a column.
pub(super) struct Decision {
    pub kind: ColumnKind,
    pub reading: Reading,
    pub missing: MissingMarks,
    /// The unit of its numbers.
    pub unit: Option<String>,
    /// The number of cells that read as the kind.
    pub read: u64,
    pub least: Option<String>,
    pub greatest: Option<String>,
}

impl Decision {
    /// The number of cells that are kept as texts.
    fn new(kind: ColumnKind, missing: MissingMarks, read: u64) -> Self {
        let reading = Reading::Text;
        Self { kind, reading, missing, unit: None, read, least: None, greatest: None }
    }
}

/// Decides by the first kind that fits: boolean, date, identifier, year, number, text.
pub(super) fn decide(header: &Header, tally: &Tally) -> Decision {
    if tally.filled == 0 {
        return Decision::new(ColumnKind::Text, ALL_MISSING, 0);
    }
    boolean(tally)
        .or_else(|| date(header, tally))
        .or_else(|| identifier(header, tally))
        .or_else(|| year(header, tally))
        .or_else(|| number(header, tally))
        .unwrap_or_else(|| words(tally))
}

/// Whether cells of one kind make a column of that kind: 95 %, and two of them or all.
fn are_enough(cells: u64, tally: &Tally) -> bool {
    let is_most = tally.filled.saturating_mul(95) <= cells.saturating_mul(100);
    is_most && (2 <= cells || cells == tally.filled)
}

fn boolean(tally: &Tally) -> Option<Decision> {
    let truths = tally.truths;
    if truths.cells != tally.filled || !truths.is_clear() {
        return None;
    }
    // `无` means no beside `有`, and is missing beside other words.
    let missing = MissingMarks { nothing: !truths.has_has, ..ALL_MISSING };
    let no = if truths.has_has { tally.marked(Mark::Nothing) } else { 0 };
    let reading = Reading::Boolean;
    let decision = Decision::new(ColumnKind::Boolean, missing, truths.cells + no);
    Some(Decision { reading, ..decision })
}

fn date(header: &Header, tally: &Tally) -> Option<Decision> {
    // `2019-03` in a column of invoices is no month.
    if header.is_identifier {
        return None;
    }
    let dates = &tally.dates;
    let structured = dates.structured();
    let read = structured + dates.years + dates.compact;
    // Plain digits are dates if all of them are: five numbers like 20190305 are hardly anything else.
    let is_compact = dates.compact == tally.filled
        && tally.numbers.lengths.both.is_some_and(|(fewest, most)| fewest == most)
        && (header.is_date || (5 <= tally.values.distinct() && is_long(tally)));
    if !is_compact && (structured.saturating_mul(5) < tally.filled || structured == 0) {
        return None;
    }
    if !are_enough(read, tally) {
        return None;
    }
    let reading = Reading::Date { order: dates.order(), with_time: dates.has_time };
    let shown = |moment| reading.shown_moment(moment);
    let both = dates.extremes().both;
    let (least, greatest) = both.map(|(least, greatest)| (shown(least), shown(greatest))).unzip();
    let decision = Decision::new(ColumnKind::Date, ALL_MISSING, read);
    Some(Decision { reading, least, greatest, ..decision })
}

/// Whether plain digits have the eight digits of a day.
fn is_long(tally: &Tally) -> bool {
    tally.numbers.lengths.both.is_some_and(|(fewest, _)| fewest == 8)
}

/// A column whose header names identifiers, or whose digits are codes: `007`, or long ones of one length.
fn identifier(header: &Header, tally: &Tally) -> Option<Decision> {
    let numbers = &tally.numbers;
    let same_length = numbers.lengths.both.filter(|(fewest, most)| fewest == most);
    let has_zeros = 0 < numbers.leading_zeros
        && (same_length.is_some() || tally.filled <= numbers.leading_zeros.saturating_mul(20));
    let is_long = numbers.plain_digits == tally.filled
        && 2 <= tally.filled
        && same_length.is_some_and(|(length, _)| SHORTEST_CODE <= length);
    // Among digits, a dash is no code.
    let soft = tally.filled <= numbers.plain_digits.saturating_mul(2);
    let missing = MissingMarks { soft, ..text_marks(tally) };
    let code = |kind| Some(Decision::new(kind, missing, kept(tally, missing)));
    if header.is_identifier && !has_units(header, tally) {
        return code(if is_prose(tally) { ColumnKind::Text } else { ColumnKind::Identifier });
    }
    if !has_zeros && !is_long {
        return None;
    }
    code(match tally.values.is_all_different() && 2 <= tally.filled {
        true => ColumnKind::Identifier,
        false => word_kind(tally),
    })
}

/// Whether the cells are amounts: `Code length (mm)` is no code.
fn has_units(header: &Header, tally: &Tally) -> bool {
    let with_unit = tally.numbers.units.iter().map(|unit| unit.reading(DecimalMark::Point).cells);
    header.unit.is_some() || are_enough(with_unit.sum(), tally)
}

fn year(header: &Header, tally: &Tally) -> Option<Decision> {
    let dates = &tally.dates;
    let are_marked = tally.filled <= dates.marked_years.saturating_mul(2);
    if header.year == YearHeader::No && !are_marked {
        return None;
    }
    let decision = Decision::new(ColumnKind::Year, ALL_MISSING, dates.years);
    if are_enough(dates.years, tally) {
        let shown = |moment| Reading::Year.shown_moment(moment);
        let both = dates.year_extremes.both;
        let (least, greatest) =
            both.map(|(least, greatest)| (shown(least), shown(greatest))).unzip();
        return Some(Decision { reading: Reading::Year, least, greatest, ..decision });
    }
    // Some years are before 1000.
    let rule = NumberRule { mark: DecimalMark::Point, unit: None, reads_plain: true };
    let reading = tally.numbers.plain.reading(DecimalMark::Point);
    let are_years = |both: Extremes<Amount>| {
        let Some((Amount::Integer(least), Amount::Integer(greatest))) = both.both else {
            return false;
        };
        YEARS.contains(&least) && YEARS.contains(&greatest)
    };
    let is_year = header.year == YearHeader::Alone
        && tally.filled <= dates.years.saturating_mul(2)
        && reading.whole == reading.cells
        && are_enough(reading.cells, tally)
        && are_years(reading.extremes);
    let (least, greatest) = shown_extremes(reading.extremes);
    let (reading, read) = (Reading::Number(rule), reading.cells);
    is_year.then_some(Decision { reading, read, least, greatest, ..decision })
}

fn number(header: &Header, tally: &Tally) -> Option<Decision> {
    let (rule, reading, unit) = number_rule(header, tally);
    if !are_enough(reading.cells, tally) {
        return None;
    }
    let of_cells = unit.map(|unit| match unit.key.as_str() {
        "%" => "%".to_owned(),
        _ => unit.spelling.clone(),
    });
    // If both name the same unit, the header has the better spelling.
    let is_same =
        |unit: &&String| rule.unit.as_ref().is_none_or(|ours| names_unit(unit, &ours.key));
    let unit = header.unit.as_ref().filter(is_same).cloned().or(of_cells);
    let kind = match reading.whole == reading.cells {
        true => ColumnKind::Integer,
        false => ColumnKind::Real,
    };
    let (least, greatest) = shown_extremes(reading.extremes);
    let decision = Decision::new(kind, ALL_MISSING, reading.cells);
    Some(Decision { reading: Reading::Number(rule), unit, least, greatest, ..decision })
}

/// The rule for the numbers of a column: with its most frequent unit, without one, or both.
fn number_rule<'a>(
    header: &Header,
    tally: &'a Tally,
) -> (NumberRule, NumberReading, Option<&'a UnitTally>) {
    let mark = tally.numbers.decimal_mark();
    let plain = tally.numbers.plain.reading(mark);
    let header_key = header.unit.as_deref().map(unit_key);
    let frequent = tally.numbers.units.iter().max_by_key(|unit| {
        (unit.reading(mark).cells, header_key.as_ref() == Some(&unit.key), &unit.key)
    });
    // A currency sign may be in the first row only. Any other word after few numbers is a remark.
    let is_unit = |unit: &&UnitTally| {
        plain.cells <= unit.reading(mark).cells
            || header_key.as_ref() == Some(&unit.key)
            || is_currency(&unit.key)
    };
    let Some(unit) = frequent.filter(is_unit) else {
        return (NumberRule { mark, unit: None, reads_plain: true }, plain, None);
    };
    // `0.12` beside `12 %` may be a share of 1.
    let reads_plain = unit.key != "%" || header_key.as_deref() == Some("%");
    let reading = unit.reading(mark);
    let reading = if reads_plain { reading.with(plain) } else { reading };
    (
        NumberRule {
            mark,
            unit: Some(UnitName { key: unit.key.clone(), spelling: unit.spelling.clone() }),
            reads_plain,
        },
        reading,
        Some(unit),
    )
}

/// Whether the unit of a header is the one of this key, or a scale of this currency: `$ millions` for `$`.
fn names_unit(header: &str, key: &str) -> bool {
    let unscaled = |word: &str| unit_key(word.trim_start_matches(['十', '百', '千', '万', '亿']));
    unit_key(header) == key
        || (is_currency(key) && header.split_whitespace().any(|word| unscaled(word) == key))
}

fn shown_extremes(extremes: Extremes<Amount>) -> (Option<String>, Option<String>) {
    extremes.both.map(|(least, greatest)| (shown_amount(least), shown_amount(greatest))).unzip()
}

/// A column of texts.
fn words(tally: &Tally) -> Decision {
    let missing = text_marks(tally);
    Decision::new(word_kind(tally), missing, kept(tally, missing))
}

/// The marks of missing values in a column of texts: not `NA` among codes of two signs, not dashes.
fn text_marks(tally: &Tally) -> MissingMarks {
    let has_letters = tally.filled <= tally.texts.with_letters.saturating_mul(2);
    let are_codes = 2 <= tally.filled && tally.texts.are_codes() && has_letters;
    MissingMarks { na: !are_codes, nothing: true, soft: false }
}

/// The number of cells with a value, if these marks are missing values.
fn kept(tally: &Tally, missing: MissingMarks) -> u64 {
    let sorts = [Mark::Na, Mark::Nothing, Mark::Soft];
    let marks: u64 = sorts
        .into_iter()
        .filter(|sort| !missing.include(*sort))
        .map(|sort| tally.marked(sort))
        .sum();
    tally.filled + marks
}

fn word_kind(tally: &Tally) -> ColumnKind {
    let (values, texts) = (&tally.values, &tally.texts);
    if texts.are_periods() {
        return ColumnKind::Category;
    }
    if is_prose(tally) {
        return ColumnKind::Text;
    }
    if values.is_all_different() {
        // Remarks on a few rows are all different too, and so are ranges and times.
        let tells_apart = 2 <= tally.filled
            && tally.rows <= tally.filled.saturating_mul(2)
            && tally.filled <= texts.with_letters.saturating_mul(2);
        return if tells_apart { ColumnKind::Identifier } else { ColumnKind::Text };
    }
    let most = (tally.rows / 5).max(50);
    match !values.is_full() && values.distinct() <= most {
        true => ColumnKind::Category,
        false => ColumnKind::Text,
    }
}

/// Whether texts are too long for names.
fn is_prose(tally: &Tally) -> bool {
    tally.filled.saturating_mul(LONGEST_NAME) < tally.texts.length
}
