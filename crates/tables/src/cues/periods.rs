//! Reads the periods of a question: `2013`, `July 2013`, `from 2010 to 2012`, `2013年第三季度`.

use std::ops::Range;
use std::sync::LazyLock;

use pikerag_language::periods::{Stretch, stretches};
use pikerag_language::{Regex, month_named, pattern};

use super::Cues;
use pikerag_typing::period_named;

/// A period: one year, quarter, month or day, or a range of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Period {
    /// `2013`, `2013-07`, `2013-07-05` or `2013-Q3`; `None` if that end is open.
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// Whether the period includes its ends.
    pub(crate) from_included: bool,
    pub(crate) to_included: bool,
    /// Whether the question names two ends, not one period.
    pub(crate) is_range: bool,
    pub(crate) span: Range<usize>,
}

impl Period {
    /// A year, quarter, month or day.
    pub(crate) fn single(period: &str) -> Self {
        Self {
            from: Some(period.to_owned()),
            to: Some(period.to_owned()),
            from_included: true,
            to_included: true,
            is_range: false,
            span: 0..0,
        }
    }

    /// Whether its ends are years, not quarters, months or days.
    pub(crate) fn is_of_years(&self) -> bool {
        // An excluded end is the last day of the year before, or day `00` before the first day of the next year.
        let is_year = |end: &Option<String>, edge: &str| {
            end.as_deref().is_none_or(|end| !end.contains('-') || end.ends_with(edge))
        };
        let from_edge = if self.from_included { "-01-01" } else { "-12-31" };
        let to_edge = if self.to_included { "-12-31" } else { "-01-00" };
        is_year(&self.from, from_edge) && is_year(&self.to, to_edge)
    }
}

const MONTH: &str = "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|\
    Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";

/// Rules for dates that share a year or a month; each date gets its own. `MONTH` stands for [`MONTH`].
const RULES: [(&str, &str); 16] = [
    (r"\b(\d)\.(\d{1,2})\.(\d{4})\b", "0$1.$2.$3"),
    (r"\b(\d{2})\.(\d)\.(\d{4})\b", "$1.0$2.$3"),
    (r"\b(\d{2})\.(0[1-9]|1[0-2])\.(\d{4})\b", "$3-$2-$1"),
    (r"\bthe \d{4}s \((\d{4})\s?[-–]\s?(\d{4})\)", "$1 to $2"),
    (r"\b(?:the )?(\d{2})00s\b", "${1}00 to ${1}99"),
    (r"\b(?:the )?(\d{3})0s\b", "${1}0 to ${1}9"),
    (r"\b(\d{1,2}) and (\d{1,2}) (MONTH) (\d{4})", "$1 $3 $4 and $2 $3 $4"),
    (r"\b(\d{1,2})\s?[-–]\s?(\d{1,2}) (MONTH) (\d{4})", "$1 $3 $4 to $2 $3 $4"),
    (r"\b(\d{4}) \((\d{1,2}) and (\d{1,2}) (MONTH)\)", "$2 $4 $1 and $3 $4 $1"),
    (r"\b(\d{1,2}) (MONTH) (?:to|and) (\d{1,2}) (MONTH) (\d{4})", "$1 $2 $5 to $3 $4 $5"),
    (
        r"\b(MONTH) (\d{1,2}) (?:to|until|through) (MONTH) (\d{1,2}),? (\d{4})",
        "$1 $2, $5 to $3 $4, $5",
    ),
    (r"\b(MONTH) and (MONTH) (\d{4})", "$1 $3 and $2 $3"),
    (r"(\d{4})年(\d{1,2})月(\d{1,2})日?[、和]\s?(\d{1,2})日", "$1年$2月$3日和$1年$2月$4日"),
    (
        r"(\d{4})年(\d{1,2})月(\d{1,2})日(到|至|和|—|-)(\d{1,2})月(\d{1,2})日",
        "$1年$2月$3日$4$1年$5月$6日",
    ),
    (
        r"(\d{4})年([^，。]{0,8}?)[（(](\d{1,2})月(\d{1,2})日和(\d{1,2})日[）)]",
        "$1年$3月$4日和$1年$3月$5日$2",
    ),
    (r"(\d{4})年(\d{1,2})月(到|至|和)(\d{1,2})月", "$1年$2月$3$1年$4月"),
];

/// Completes dates that share a year or a month: `28 and 29 November 2013`, `2013年2月1日到2月3日`.
pub(super) fn with_complete_dates(text: String) -> String {
    static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let compile = |pattern: &str| Regex::new(&pattern.replace("MONTH", MONTH));
        // A test checks that all of them compile.
        RULES.iter().filter_map(|(pattern, to)| Some((compile(pattern).ok()?, *to))).collect()
    });
    let text = with_digits(text);
    PATTERNS.iter().fold(text, |text, (pattern, to)| pattern.replace_all(&text, *to).into_owned())
}

/// Writes the months of Chinese years in digits: `2023年3月` for 2023年三月.
fn with_digits(text: String) -> String {
    // The longer names come first: 十二 ends with 二.
    const MONTHS: [&str; 12] =
        ["十二", "十一", "十", "九", "八", "七", "六", "五", "四", "三", "二", "一"];
    MONTHS.iter().zip((1..=12).rev()).fold(text, |text, (month, number)| {
        match text.contains(&format!("年{month}月")) {
            true => text.replace(&format!("年{month}月"), &format!("年{number}月")),
            false => text,
        }
    })
}

/// Months without a year, with the words around them.
static MONTHS_ALONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let english = format!(r"\b(?:in|during|of|for|each|every)\s+({MONTH})\b");
    let chinese = r"(\d{1,2}|十[一二]?|[一二三四五六七八九])月份?";
    Regex::new(&format!("{english}|{chinese}")).ok()
});

impl Cues {
    /// Reads months of any year: `in May`, 五月. Periods are read first, because their months have a year.
    pub(super) fn read_months(&mut self) {
        let Some(pattern) = MONTHS_ALONE.as_ref() else { return };
        let found: Vec<(u8, Range<usize>)> = pattern
            .captures_iter(&self.text)
            .filter_map(|found| {
                let span = self.span(found.get(0)?.range());
                let month = match (found.get(1), found.get(2)) {
                    (Some(name), _) => month_named(name.as_str())?,
                    (None, digits) => chinese_month(digits?.as_str())?,
                };
                Some((u8::try_from(month).ok()?, span))
            })
            .filter(|(_, span)| span.clone().all(|at| !self.is_used(at)))
            .collect();
        for (month, span) in found {
            self.mark(span);
            self.months.push(month);
        }
    }
}

pattern!(
    QUARTERS_ALONE,
    r"\bq[1-4]\b|\b(?:first|second|third|fourth) quarter\b|第?[一二三四1-4]季度"
);

impl Cues {
    /// Reads quarters of any year: `in Q3`, 三季度.
    pub(super) fn read_quarters(&mut self) {
        let found: Vec<(u8, Range<usize>)> = QUARTERS_ALONE
            .find_iter(&self.text)
            .filter_map(|found| {
                let named = period_named(found.as_str())?;
                Some((named.number, self.span(found.range())))
            })
            .filter(|(_, span)| span.clone().all(|at| !self.is_used(at)))
            .collect();
        for (quarter, span) in found {
            self.mark(span.clone());
            self.quarters.push((quarter, span));
        }
    }
}

fn chinese_month(digits: &str) -> Option<u32> {
    let number = digits
        .parse()
        .ok()
        .or_else(|| u32::try_from(super::numbers::small_number(digits)?).ok())?;
    (1..=12).contains(&number).then_some(number)
}

impl Cues {
    pub(super) fn read_periods(&mut self) {
        let (found, _) = stretches(&self.text);
        let mut from = 0;
        for stretch in found {
            let rest = self.text.get(from..).unwrap_or_default();
            let Some(at) = rest.find(&stretch.shown) else { continue };
            let start = from + at;
            from = start + stretch.shown.len();
            let span = self.span(start..from);
            if !span.is_empty() {
                self.mark(span.clone());
                let before = span.start.saturating_sub(1);
                if ["since", "until", "till"].contains(&self.folded(before)) {
                    self.mark(before..span.start);
                }
                self.periods.push(period(&stretch, span));
            }
        }
    }
}

/// A span of days as the longest possible period: `2013` for all days of 2013.
fn period(stretch: &Stretch, span: Range<usize>) -> Period {
    // A `~` after a day excludes the day.
    let is_included = |day: Option<&String>| !day.is_some_and(|day| day.ends_with('~'));
    let from_included = is_included(stretch.from.as_ref());
    let to_included = is_included(stretch.to.as_ref());
    let from = stretch.from.as_deref().map(|day| day.trim_end_matches('~').to_owned());
    let from = from.as_deref();
    let to = stretch.to.as_deref().map(|day| match day.strip_suffix('~') {
        Some(before) => day_behind(before),
        None => day.to_owned(),
    });
    let to = to.as_deref();
    let is_quarter = stretch.shown.contains(['Q', 'q', '季']) || stretch.shown.contains("quarter");
    let (from, to) = match (from, to) {
        (Some(from), Some(to)) => {
            let grain = match () {
                () if from.ends_with("-01-01") && to.ends_with("-12-31") => Grain::Year,
                () if is_quarter => Grain::Quarter,
                () if from.ends_with("-01") && to.ends_with("-31") => Grain::Month,
                () => Grain::Day,
            };
            (Some(grain.of(from)), Some(grain.of(to)))
        }
        (from, to) => {
            let end = |day: &str, year_edge: &str, month_edge: &str| {
                let grain = match () {
                    () if day.ends_with(year_edge) => Grain::Year,
                    () if is_quarter => Grain::Quarter,
                    () if day.ends_with(month_edge) => Grain::Month,
                    () => Grain::Day,
                };
                grain.of(day)
            };
            let from = from.map(|day| match from_included {
                true => end(day, "-01-01", "-01"),
                // `After the first of a month` does not mean after the month.
                false => day.to_owned(),
            });
            (from, to.map(|day| end(day, "-12-31", "-31")))
        }
    };
    let is_range = from != to;
    Period { from, to, from_included, to_included, is_range, span }
}

/// The excluded day of an end just before it: 2013-07-05 for `2013-07-04~`. Day `00` before the first of a month stays.
fn day_behind(before: &str) -> String {
    let mut day = before.to_owned();
    if !day.ends_with("-00")
        && let Some(next) = day.pop().and_then(|last| char::from_u32(last as u32 + 1))
    {
        day.push(next);
    }
    day
}

/// The length of a period.
#[derive(Clone, Copy)]
enum Grain {
    Year,
    Quarter,
    Month,
    Day,
}

impl Grain {
    /// The period of this length that contains a day.
    fn of(self, day: &str) -> String {
        let year = day.get(..4).unwrap_or(day);
        match self {
            Self::Year => year.to_owned(),
            Self::Quarter => {
                let month: u32 = day.get(5..7).and_then(|month| month.parse().ok()).unwrap_or(1);
                format!("{year}-Q{}", month.div_ceil(3))
            }
            Self::Month => day.get(..7).unwrap_or(day).to_owned(),
            Self::Day => day.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rules_compile() {
        for (pattern, _) in RULES {
            assert!(Regex::new(&pattern.replace("MONTH", MONTH)).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn dates_that_share_a_year_get_their_own() {
        let shown = |text: &str| with_complete_dates(text.to_owned());
        assert_eq!(shown("on 28 and 29 November 2013"), "on 28 November 2013 and 29 November 2013");
        assert_eq!(shown("in the 1990s"), "in 1990 to 1999");
        assert_eq!(shown("4.6.2025 and 14.06.2025"), "2025-06-04 and 2025-06-14");
        assert_eq!(shown("version 14.13.2025"), "version 14.13.2025");
        assert_eq!(shown("2013年2月1日到2月3日"), "2013年2月1日到2013年2月3日");
    }
}
