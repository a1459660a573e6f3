//! Recognises the marks of a missing value and the words for yes and no.

/// What a mark of a missing value can be besides missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Missing in every column.
    Always,
    /// `NA`: a value among codes of two letters.
    Na,
    /// `无`: "no" beside `有`.
    Nothing,
    /// `-`, `..`, `None`: missing among numbers, dates and booleans, a value among texts.
    Soft,
}

/// The mark that a trimmed cell is.
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
    // Every mark is short: long cells skip the lists.
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

/// The marks that one column takes for missing values, besides [`Mark::Always`].
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
    /// Whether the column takes a cell with this mark for missing.
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
    /// Whether it says yes.
    pub is_yes: bool,
    /// Which pair of words it belongs to.
    pub pair: Pair,
}

/// A pair of words for yes and no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// Words that say nothing else: `yes`, `false`, `是`.
    Words,
    /// `Y` and `N`; one of them alone can be a code.
    YesNo,
    /// `T` and `F`; one of them alone can be a code.
    TrueFalse,
    /// `有` and `无`.
    HasNot,
}

/// The truth that a trimmed cell says; `无` says no in a column with `有` only.
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
