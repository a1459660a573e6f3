//! Counts the cells that are names of periods, codes, or words for yes and no.

use pikerag_language::month_named;

use crate::marks::{Pair, Truth};

/// The cells that mean yes or no.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TruthTally {
    pub cells: u64,
    has_words: bool,
    /// Whether `Y` and whether `N` occur.
    yes_no: (bool, bool),
    /// Whether `T` and whether `F` occur.
    true_false: (bool, bool),
    /// Whether `有` occurs.
    pub has_has: bool,
}

impl TruthTally {
    pub(super) fn add(&mut self, truth: Truth) {
        self.cells += 1;
        let both = match truth.pair {
            Pair::Words => return self.has_words = true,
            Pair::HasNot => return self.has_has |= truth.is_yes,
            Pair::YesNo => &mut self.yes_no,
            Pair::TrueFalse => &mut self.true_false,
        };
        if truth.is_yes { both.0 = true } else { both.1 = true }
    }

    /// Whether the words are hardly codes: `N` without `Y` may be north, `F` without `T` a woman.
    pub(crate) fn is_clear(self) -> bool {
        self.has_words
            || self.has_has
            || self.yes_no == (true, true)
            || self.true_false == (true, true)
    }
}

/// The cells as texts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextTally {
    /// The number of characters of all cells.
    pub length: u64,
    /// The number of cells with a letter.
    pub with_letters: u64,
    /// Whether some cell is not a code of two capital letters or digits.
    has_other_than_codes: bool,
    /// Whether some cell is not the name of a month, weekday or quarter.
    has_other_than_periods: bool,
}

impl TextTally {
    pub(super) fn add(&mut self, cell: &str) {
        self.length += cell.chars().count() as u64;
        self.with_letters += u64::from(cell.chars().any(char::is_alphabetic));
        let is_code_sign = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        self.has_other_than_codes |= cell.len() != 2 || !cell.bytes().all(is_code_sign);
        // Names cost much more than the other checks, so one cell without a name ends their check.
        self.has_other_than_periods = self.has_other_than_periods || !is_period_name(cell);
    }

    /// Whether all cells are codes of two capital letters or digits, as those of countries are.
    pub(crate) fn are_codes(self) -> bool {
        !self.has_other_than_codes
    }

    /// Whether all cells are names of months, weekdays or quarters.
    pub(crate) fn are_periods(self) -> bool {
        !self.has_other_than_periods
    }
}

/// `May`, `Tuesday`, `Q3`, `3月`, `星期二`, `第三季度`
fn is_period_name(cell: &str) -> bool {
    const DAYS: [&str; 14] = [
        "mon",
        "tue",
        "wed",
        "thu",
        "fri",
        "sat",
        "sun",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    if 15 < cell.len() {
        return false;
    }
    let is_quarter = |digits: &str| matches!(digits, "1" | "2" | "3" | "4");
    month_named(cell.trim_end_matches('.')).is_some()
        || DAYS.iter().any(|day| day.eq_ignore_ascii_case(cell))
        || cell.strip_prefix(['Q', 'q']).is_some_and(is_quarter)
        || cell.strip_suffix('月').is_some_and(|month| pikerag_language::number(month).is_some())
        || cell.ends_with("季度") && cell.chars().count() <= 4
        || (cell.starts_with("星期") || cell.starts_with('周')) && cell.chars().count() <= 3
}
