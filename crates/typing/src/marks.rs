//! Recognises the marks of a missing value and the words for yes and no.

/// The other meaning of a mark of a missing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It is missing in every column.
    Always,
    /// `NA`: a value among codes of two letters.
    Na,
    /// `无`: "no" beside `有`.
    Nothing,
    /// `-`, `..`, `None`: missing among numbers, dates and booleans, a value among texts.
    Soft,
}

/// The mark in a trimmed cell; `None` if the cell holds anything else.
pub(super) fn mark(cell: &str) -> Option<Mark> {
    const ALWAYS: [&str; 16] = [
        "",
        "?",
        "？",
        "n/a",
        "N/A",
        "N/a",
        "#N/A",
        "n.a.",
        "N.A.",
        "null",
        "NULL",
        "NaN",
        "nan",
        "<NA>",
        "暂无",
        "无数据",
    ];
    const SOFT: [&str; 17] = [
        "-", "--", "---", "–", "—", "——", "−", "－", ".", "..", "...", "…", "/", "na", "Na",
        "none", "None",
    ];
    // Every mark is short, so long cells need no search in the lists.
    if 12 < cell.len() {
        return None;
    }
    match cell {
        "NA" => Some(Mark::Na),
        "无" => Some(Mark::Nothing),
        cell if ALWAYS.contains(&cell) => Some(Mark::Always),
        cell if SOFT.contains(&cell) => Some(Mark::Soft),
        _ => None,
    }
}

/// Whether a cell holds no number.
pub(crate) fn is_missing(cell: &str) -> bool {
    mark(cell.trim()).is_some()
}

/// The marks that are missing values in one column, besides [`Mark::Always`].
#[derive(Clone, Copy, Debug)]
pub(super) struct MissingMarks {
    /// `NA` is missing.
    pub na: bool,
    /// `无` is missing.
    pub nothing: bool,
    /// Dashes, dots and `None` are missing.
    pub soft: bool,
}

impl MissingMarks {
    /// Whether a cell with this mark is missing in the column.
    pub(super) fn include(self, mark: Mark) -> bool {
        match mark {
            Mark::Always => true,
            Mark::Na => self.na,
            Mark::Nothing => self.nothing,
            Mark::Soft => self.soft,
        }
    }
}

/// A word for yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Truth {
    /// Whether it means yes.
    pub is_yes: bool,
    /// The pair of words that it belongs to.
    pub pair: Pair,
}

/// A pair of words for yes and no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// Words with no other meaning: `yes`, `false`, `是`.
    Words,
    /// `Y` and `N`; one of them alone can be a code.
    YesNo,
    /// `T` and `F`; one of them alone can be a code.
    TrueFalse,
    /// `有` and `无`.
    HasNot,
}

/// The truth value of a trimmed cell; `无` means no only in a column with `有`.
pub(super) fn truth(cell: &str) -> Option<Truth> {
    const YES: [&str; 7] = ["yes", "true", "是", "对", "✓", "✔", "√"];
    const NO: [&str; 7] = ["no", "false", "否", "错", "✗", "✘", "×"];
    if 8 < cell.len() {
        return None;
    }
    let is = |word: &&str| word.eq_ignore_ascii_case(cell);
    let (is_yes, pair) = match cell {
        "Y" | "y" => (true, Pair::YesNo),
        "N" | "n" => (false, Pair::YesNo),
        "T" | "t" => (true, Pair::TrueFalse),
        "F" | "f" => (false, Pair::TrueFalse),
        "有" => (true, Pair::HasNot),
        "无" | "没有" => (false, Pair::HasNot),
        _ if YES.iter().any(is) => (true, Pair::Words),
        _ if NO.iter().any(is) => (false, Pair::Words),
        _ => return None,
    };
    Some(Truth { is_yes, pair })
}
