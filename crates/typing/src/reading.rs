//! Reads the cells of a column whose kind is known.

use pikerag_knowledge::data::{ColumnKind, DataValue};

use super::date::{DateOrder, Moment, WrittenDate, written_date};
use super::marks::truth;
use super::narrow::narrowed;
use super::number::{Amount, DecimalMark, written_number};
use super::units::unit_key;

/// The rule for reading the cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reading {
    /// Cells are kept as they are written.
    Text,
    /// Cells are words for yes and no.
    Boolean,
    /// Cells are years from 1000 to 2100.
    Year,
    /// Cells are dates.
    Date {
        order: DateOrder,
        /// Whether times of day are shown. If not, all of them are midnight, or there are none.
        with_time: bool,
    },
    /// Cells are numbers.
    Number(NumberRule),
}

/// The numbers that are read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumberRule {
    pub mark: DecimalMark,
    /// The unit that cells may have.
    pub unit: Option<UnitName>,
    /// Whether numbers without a unit are read.
    pub reads_plain: bool,
}

/// A unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UnitName {
    /// The key that all its spellings share.
    pub key: String,
    /// One of its spellings. Most cells have it, so they need no key.
    pub spelling: String,
}

impl Reading {
    /// The value of a trimmed cell; `None` if it does not read as this kind.
    pub(super) fn read(&self, kind: ColumnKind, cell: &str) -> Option<DataValue> {
        let narrow = narrowed(cell);
        match self {
            Self::Text => Some(DataValue::Text(cell.to_owned())),
            Self::Boolean => truth(cell).map(|truth| DataValue::Integer(i64::from(truth.is_yes))),
            Self::Year => match written_date(&narrow)? {
                WrittenDate::Year(year) | WrittenDate::MarkedYear(year) => {
                    Some(DataValue::Integer(i64::from(year)))
                }
                _ => None,
            },
            Self::Date { order, .. } => {
                let moment = match written_date(&narrow)? {
                    WrittenDate::Fixed(moment) | WrittenDate::Compact(moment) => moment,
                    WrittenDate::Year(year) | WrittenDate::MarkedYear(year) => {
                        Moment::of_year(year)
                    }
                    WrittenDate::Slashed(date) => date.moment(*order)?,
                };
                Some(DataValue::Text(self.shown_moment(moment)))
            }
            Self::Number(rule) => match (rule.read(&narrow)?, kind) {
                (amount, ColumnKind::Real) => Some(DataValue::Real(amount.real())),
                (Amount::Integer(number), _) => Some(DataValue::Integer(number)),
                (Amount::Real(number), _) => Some(DataValue::Real(number)),
            },
        }
    }

    pub(super) fn shown_moment(&self, moment: Moment) -> String {
        match self {
            Self::Date { with_time: false, .. } => moment.at(None).to_string(),
            _ => moment.to_string(),
        }
    }
}

impl NumberRule {
    fn read(&self, narrow: &str) -> Option<Amount> {
        let number = written_number(narrow)?;
        let is_ours = match (&number.unit, &self.unit) {
            (None, _) => self.reads_plain,
            (Some(unit), Some(ours)) => *unit == ours.spelling || unit_key(unit) == ours.key,
            (Some(_), None) => false,
        };
        if is_ours { number.amount(self.mark) } else { None }
    }
}

/// The text of an amount: all digits, with a point before decimals.
pub(super) fn shown_amount(amount: Amount) -> String {
    match amount {
        Amount::Integer(number) => number.to_string(),
        Amount::Real(number) => shown_real(number),
    }
}

/// The text of a value.
pub(super) fn shown_value(value: DataValue) -> String {
    match value {
        DataValue::Empty => String::new(),
        DataValue::Integer(number) => number.to_string(),
        DataValue::Real(number) => shown_real(number),
        DataValue::Text(text) => text,
    }
}

fn shown_real(number: f64) -> String {
    let size = number.abs();
    match size == 0.0 || (1e-6..1e16).contains(&size) {
        true => number.to_string(),
        // Without an exponent, the least number has 300 zeros.
        false => format!("{number:e}"),
    }
}
