//! Finds the columns that distinguish tables with the same header: the period of each, or else its file, sheet, section
//! or caption.

use std::collections::BTreeSet;

use pikerag_knowledge::RowPlace;
use pikerag_knowledge::data::{ColumnKind, DataColumn, DataValue};

use super::periods::{Grain, Period, Stated, period_named, stated_in};

/// The most characters of a caption above a table.
const LONGEST: usize = 120;
/// The endings of workbooks, whose sections are sheets.
const WORKBOOKS: [&str; 8] = ["xlsx", "xlsm", "xlsb", "xls", "ods", "fods", "xltx", "numbers"];

/// The place of a table in a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub file: String,
    pub headings: Vec<String>,
    pub caption: String,
}

impl Place {
    pub(crate) fn of(place: RowPlace<'_>) -> Self {
        // The text above the table may repeat its headings; they are no caption.
        let is_heading = |line: &&str| {
            let line = line.trim().trim_matches(['#', '=', '-', '*', ' ']);
            line.is_empty() || place.headings.iter().any(|heading| heading == line)
        };
        let lines: Vec<&str> = place.caption.lines().filter(|line| !is_heading(line)).collect();
        let caption = lines.join("\n");
        let caption = caption.trim();
        let is_caption = caption.chars().count() <= LONGEST;
        Self {
            file: place.file.to_owned(),
            headings: place.headings.to_vec(),
            caption: if is_caption { caption.to_owned() } else { String::new() },
        }
    }

    /// The names around the table, the nearest first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let headings = self.headings.iter().rev().map(String::as_str);
        std::iter::once(self.caption.as_str()).chain(headings).chain([stem(&self.file)])
    }

    /// The period of the table: from its caption, or else from the headings and the file around it.
    pub(crate) fn period(&self) -> Option<Period> {
        let names = self.names().map(stated_in);
        // Names of folders such as `archive of 2019` are too vague.
        let folder = |name| period_named(name).map_or(Stated::Nothing, Stated::One);
        let folders = self.file.rsplit('/').skip(1).map(folder);
        let mut held: Option<Period> = None;
        for stated in names.chain(folders) {
            match (stated, held) {
                (Stated::Nothing, _) => {}
                (Stated::Several, _) => return None,
                (Stated::One(period), None) => held = Some(period),
                // The surrounding name gives the year of a quarter.
                (Stated::One(around), Some(part)) => held = Some(part.in_year(around.year)),
            }
            if held.is_some_and(|period| period.year.is_some()) {
                return held;
            }
        }
        held
    }

    fn is_of_workbook(&self) -> bool {
        let ending = self.file.rsplit_once('.').map_or("", |(_, ending)| ending);
        WORKBOOKS.iter().any(|known| known.eq_ignore_ascii_case(ending))
    }
}

/// The name of a file without its folder and ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// A column that distinguishes places.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    pub column: DataColumn,
    /// The values by place, in the order of the places.
    pub values: Vec<DataValue>,
}

/// The columns that distinguish these places, as few as possible.
///
/// `periods` are the periods of the places. `is_dated` means that rows already hold these periods. `has_year` means
/// that rows have a column of years, which may be different ones.
pub(crate) fn labels(
    places: &[Place],
    periods: &[Option<Period>],
    is_dated: bool,
    has_year: bool,
    is_chinese: bool,
) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    // The values that distinguish places so far, as numbers, by place.
    let mut known: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    if is_dated {
        add(&mut known, &numbered(periods));
    } else if let Some(label) = of_periods(periods, is_chinese).filter(|_| !has_year) {
        add(&mut known, &numbered(periods));
        labels.push(label);
    }
    let files: Vec<String> = places.iter().map(|place| place.file.clone()).collect();
    let sections = sections(places);
    let captions: Vec<String> = places.iter().map(|place| place.caption.clone()).collect();
    let section = match places.iter().all(Place::is_of_workbook) {
        true => "sheet",
        false => "section",
    };
    for (name, values) in [("file", files), (section, sections), ("caption", captions)] {
        let numbers = numbered(&values);
        // A column that splits no group of equal places adds nothing.
        let further: BTreeSet<(&Vec<usize>, usize)> =
            known.iter().zip(numbers.iter().copied()).collect();
        let so_far: BTreeSet<&Vec<usize>> = known.iter().collect();
        if so_far.len() == further.len() {
            continue;
        }
        add(&mut known, &numbers);
        let (name, kind) = (name.to_owned(), ColumnKind::Category);
        let column = DataColumn { name, kind, ..DataColumn::default() };
        let value = |value: String| match value.is_empty() {
            true => DataValue::Empty,
            false => DataValue::Text(value),
        };
        labels.push(Label { column, values: values.into_iter().map(value).collect() });
    }
    labels
}

fn add(known: &mut [Vec<usize>], numbers: &[usize]) {
    for (known, number) in known.iter_mut().zip(numbers) {
        known.push(*number);
    }
}

/// The same number for the same value.
fn numbered<T: Ord>(values: &[T]) -> Vec<usize> {
    let different: BTreeSet<&T> = values.iter().collect();
    let different: Vec<&T> = different.into_iter().collect();
    values.iter().map(|value| different.partition_point(|held| *held < value)).collect()
}

/// A column of the places' periods, if each place has one, all have one length, and they differ.
fn of_periods(periods: &[Option<Period>], is_chinese: bool) -> Option<Label> {
    let periods: Vec<Period> = periods.iter().copied().collect::<Option<_>>()?;
    let grain = periods.first()?.grain;
    let n_years = periods.iter().filter(|period| period.year.is_some()).count();
    let is_alike = periods.iter().all(|period| period.grain == grain);
    let differ = periods.windows(2).any(|pair| pair.first() != pair.last());
    if !is_alike || !differ || (n_years != 0 && n_years != periods.len()) {
        return None;
    }
    let (kind, values) = match (grain, n_years) {
        (Grain::Year, _) => (
            ColumnKind::Year,
            periods
                .iter()
                .map(|it| it.year.map_or(DataValue::Empty, |year| DataValue::Integer(year.into())))
                .collect(),
        ),
        (_, 0) => {
            (ColumnKind::Category, periods.iter().map(|it| text(it.shown(is_chinese))).collect())
        }
        _ => (
            ColumnKind::Date,
            periods.iter().map(|it| it.date().map_or(DataValue::Empty, text)).collect(),
        ),
    };
    let name = grain.name(is_chinese).to_owned();
    Some(Label { column: DataColumn { name, kind, ..DataColumn::default() }, values })
}

fn text(text: String) -> DataValue {
    DataValue::Text(text)
}

/// Each place's headings after those that all places share.
fn sections(places: &[Place]) -> Vec<String> {
    let Some(first) = places.first() else { return Vec::new() };
    let shared = places.iter().fold(first.headings.len(), |shared, place| {
        let alike = first.headings.iter().zip(&place.headings).take_while(|(a, b)| a == b).count();
        shared.min(alike)
    });
    let own = |place: &Place| place.headings.get(shared..).unwrap_or_default().join(" / ");
    places.iter().map(own).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// Places as `file > heading > heading | caption`, and the columns that tell them apart.
    fn shown(places: &[&str]) -> String {
        let place = |text: &&str| {
            let (path, caption) = text.split_once(" | ").unwrap_or((text, ""));
            let mut path = path.split(" > ").map(str::to_owned);
            let file = path.next().unwrap();
            Place { file, headings: path.collect(), caption: caption.to_owned() }
        };
        let places: Vec<Place> = places.iter().map(place).collect();
        let periods: Vec<Option<Period>> = places.iter().map(Place::period).collect();
        let mut shown = String::new();
        for label in labels(&places, &periods, false, false, false) {
            let values: Vec<String> = label.values.iter().map(ToString::to_string).collect();
            let _ = write!(
                shown,
                "{} {}: {}; ",
                label.column.name,
                label.column.kind.as_str(),
                values.join(", ")
            );
        }
        shown
    }

    #[test]
    fn the_period_in_its_name_identifies_a_place() {
        assert_eq!(shown(&["a.xlsx > 2024", "a.xlsx > 2025"]), "year year: 2024, 2025; ");
        assert_eq!(shown(&["sales_2024.csv", "sales_2025.csv"]), "year year: 2024, 2025; ");
        assert_eq!(shown(&["2024/a.csv", "2025/a.csv"]), "year year: 2024, 2025; ");
        assert_eq!(
            shown(&["a.md > Costs | Table 1: 2023", "a.md > Costs | Table 2: 2024"]),
            "year year: 2023, 2024; "
        );
        assert_eq!(
            shown(&["2024.xlsx > Q1", "2024.xlsx > Q2"]),
            "quarter date: 2024-Q1, 2024-Q2; "
        );
        assert_eq!(shown(&["a.xlsx > 1月", "a.xlsx > 2月"]), "month category: January, February; ");
        assert_eq!(
            shown(&["orders_2024_03.csv", "orders_2024_04.csv"]),
            "month date: 2024-03, 2024-04; "
        );
    }

    #[test]
    fn names_identify_places_without_periods() {
        assert_eq!(shown(&["a.csv"]), "");
        assert_eq!(shown(&["north.csv", "south.csv"]), "file category: north.csv, south.csv; ");
        assert_eq!(shown(&["a.xlsx > North", "a.xlsx > South"]), "sheet category: North, South; ");
        assert_eq!(
            shown(&["a.md > Costs > North", "a.md > Costs > South"]),
            "section category: North, South; "
        );
        assert_eq!(
            shown(&["a.xlsx > 2024", "a.xlsx > 2025", "a.xlsx > All"]),
            "sheet category: 2024, 2025, All; "
        );
        assert_eq!(shown(&["a.md | Costs", "a.md | Sales"]), "caption category: Costs, Sales; ");
    }

    #[test]
    fn as_many_columns_as_needed_tell_places_apart() {
        assert_eq!(
            shown(&["north.xlsx > 2024", "north.xlsx > 2025", "south.xlsx > 2024"]),
            "year year: 2024, 2025, 2024; file category: north.xlsx, north.xlsx, south.xlsx; "
        );
        assert_eq!(
            shown(&["a.xlsx > North", "a.xlsx > South", "b.xlsx > North"]),
            "file category: a.xlsx, a.xlsx, b.xlsx; sheet category: North, South, North; "
        );
        // One year for all places distinguishes nothing.
        assert_eq!(shown(&["a_2024.csv", "b_2024.csv"]), "file category: a_2024.csv, b_2024.csv; ");
    }

    #[test]
    fn a_span_of_years_is_no_year() {
        assert_eq!(
            shown(&["a.xlsx > 2023-2024", "a.xlsx > 2024-2025"]),
            "sheet category: 2023-2024, 2024-2025; "
        );
    }
}
