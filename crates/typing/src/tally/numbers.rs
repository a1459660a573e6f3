//! Counts the cells that are numbers: by unit, and with either decimal mark.

use super::extremes::Extremes;
use crate::number::{Amount, DecimalMark, WrittenNumber};
use crate::units::unit_key;

/// The most units of one column that are counted; cells with further ones are not read.
const MOST_UNITS: usize = 16;

/// The numbers of one unit, read with one decimal mark.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberReading {
    pub cells: u64,
    /// The number of whole numbers among them.
    pub whole: u64,
    pub extremes: Extremes<Amount>,
}

impl NumberReading {
    pub(super) fn add(&mut self, amount: Amount) {
        self.cells += 1;
        self.whole += u64::from(matches!(amount, Amount::Integer(_)));
        self.extremes.add(amount, is_less);
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            cells: self.cells + other.cells,
            whole: self.whole + other.whole,
            extremes: self.extremes.with(other.extremes, is_less),
        }
    }
}

pub(crate) fn is_less(left: Amount, right: Amount) -> bool {
    left.compare(right).is_lt()
}

/// The numbers of one unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitTally {
    pub key: String,
    /// The first spelling in the column.
    pub spelling: String,
    point: NumberReading,
    comma: NumberReading,
}

impl UnitTally {
    pub(crate) fn reading(&self, mark: DecimalMark) -> NumberReading {
        match mark {
            DecimalMark::Point => self.point,
            DecimalMark::Comma => self.comma,
        }
    }
}

/// The cells that are numbers with one decimal mark or the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberTally {
    /// The numbers without a unit.
    pub plain: UnitTally,
    pub units: Vec<UnitTally>,
    /// The number of cells that are numbers only with a decimal point, or only with a decimal comma.
    only_point: u64,
    only_comma: u64,
    /// The number of cells such as `1.234`, which read as thousands and as decimals.
    grouped_by_point: u64,
    /// The number of whole numbers below 1000 without a mark.
    short_whole: u64,
    /// The number of whole numbers from 1000 on without a mark.
    long_whole: u64,
    /// The number of cells of plain digits.
    pub plain_digits: u64,
    /// The number of these with a leading zero: `007`.
    pub leading_zeros: u64,
    /// The fewest and the most digits of a cell of plain digits.
    pub lengths: Extremes<usize>,
}

impl NumberTally {
    pub(super) fn add(&mut self, number: WrittenNumber<'_>) {
        if number.is_plain_digits() {
            self.plain_digits += 1;
            self.leading_zeros += u64::from(number.has_leading_zero());
            self.lengths.add(number.digits.len(), |left, right| left < right);
        }
        let point = number.amount(DecimalMark::Point);
        let comma = number.amount(DecimalMark::Comma);
        let has = |sign| number.digits.contains(sign);
        match (point, comma) {
            (None, None) => return,
            (Some(_), None) => self.only_point += 1,
            (None, Some(_)) => self.only_comma += 1,
            _ if has('.') => self.grouped_by_point += 1,
            _ if number.digits.len() <= 3 => self.short_whole += 1,
            _ if !has(',') && !has(' ') && !has('\'') => self.long_whole += 1,
            _ => {}
        }
        let Some(unit) = self.unit(number.unit) else { return };
        if let Some(amount) = point {
            unit.point.add(amount);
        }
        if let Some(amount) = comma {
            unit.comma.add(amount);
        }
    }

    fn unit(&mut self, unit: Option<String>) -> Option<&mut UnitTally> {
        let Some(unit) = unit else { return Some(&mut self.plain) };
        let known = self.units.iter().position(|known| known.spelling == unit);
        let at = match known {
            Some(at) => at,
            None => {
                let key = unit_key(&unit);
                match self.units.iter().position(|known| known.key == key) {
                    Some(at) => at,
                    None if self.units.len() < MOST_UNITS => {
                        self.units.push(UnitTally { key, spelling: unit, ..UnitTally::default() });
                        self.units.len() - 1
                    }
                    None => return None,
                }
            }
        };
        self.units.get_mut(at)
    }

    /// The decimal mark, from all cells.
    ///
    /// Cells such as `1,234` and `1.234` show none. With such cells only, `1,234` is a thousand, and `1.234` one and a bit,
    /// as in English. But `850`, `1.234`, `12.345` are thousands: decimals would not skip `850.000`.
    pub(crate) fn decimal_mark(&self) -> DecimalMark {
        let by_votes = self.only_point < self.only_comma;
        let has_votes = 0 < self.only_point || 0 < self.only_comma;
        let are_thousands = 3 <= self.grouped_by_point
            && 2 <= self.short_whole
            && self.grouped_by_point <= self.short_whole.saturating_mul(10)
            && self.long_whole == 0;
        if by_votes || (!has_votes && are_thousands) {
            DecimalMark::Comma
        } else {
            DecimalMark::Point
        }
    }
}
