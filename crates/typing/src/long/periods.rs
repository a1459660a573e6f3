//! Reads the month, quarter or year in the name of a column, a sheet, a section or a file.

use pikerag_language::{chinese_number, month_named, pattern};

use crate::narrowed;

/// The years that are read from digits alone. Other numbers are too often something else.
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2100;
/// Years that a word marks: `1850年`.
const MARKED_YEARS: std::ops::RangeInclusive<i16> = 1000..=2100;
/// The most bytes of a name that can name a period.
const LONGEST: usize = 40;

/// The length of a period, the shortest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grain {
    /// A month.
    Month,
    /// A quarter of a year.
    Quarter,
    /// A year.
    Year,
}

impl Grain {
    /// The usual name of this length.
    pub fn name(self, is_chinese: bool) -> &'static str {
        match (self, is_chinese) {
            (Self::Month, false) => "month",
            (Self::Month, true) => "月份",
            (Self::Quarter, false) => "quarter",
            (Self::Quarter, true) => "季度",
            (Self::Year, false) => "year",
            (Self::Year, true) => "年份",
        }
    }
}

/// A month, a quarter or a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period {
    /// Its length.
    pub grain: Grain,
    /// The year, if the name has one.
    pub year: Option<i16>,
    /// The month from 1 to 12, or the quarter from 1 to 4; 0 for a year.
    pub number: u8,
}

impl Period {
    fn of_year(year: i16) -> Self {
        Self { grain: Grain::Year, year: Some(year), number: 0 }
    }

    /// The same period in this year.
    #[must_use]
    pub fn in_year(self, year: Option<i16>) -> Self {
        Self { year: self.year.or(year), ..self }
    }

    /// The period by ISO 8601, if its year is known: `2024-03`, `2024-Q1`, `2024`.
    pub fn date(self) -> Option<String> {
        let year = self.year?;
        Some(match self.grain {
            Grain::Month => format!("{year:04}-{:02}", self.number),
            Grain::Quarter => format!("{year:04}-Q{}", self.number),
            Grain::Year => format!("{year:04}"),
        })
    }

    /// The usual name: the date, or the name without a year.
    pub fn shown(self, is_chinese: bool) -> String {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        match (self.date(), self.grain, is_chinese) {
            (Some(date), ..) => date,
            (None, Grain::Month, false) => {
                let month = MONTHS.get(usize::from(self.number).saturating_sub(1));
                month.copied().unwrap_or_default().to_owned()
            }
            (None, Grain::Month, true) => format!("{}月", self.number),
            (None, _, false) => format!("Q{}", self.number),
            (None, _, true) => format!("第{}季度", self.number),
        }
    }

    /// Whether this longer period covers that one. A quarter without a year covers its months without a year.
    pub fn covers(self, shorter: Self) -> bool {
        let is_same_year = self.year == shorter.year;
        match (self.grain, shorter.grain) {
            (Grain::Year, Grain::Quarter | Grain::Month) => is_same_year,
            (Grain::Quarter, Grain::Month) => {
                is_same_year && shorter.number.div_ceil(3) == self.number
            }
            _ => false,
        }
    }
}

/// The periods in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    Nothing,
    One(Period),
    /// Several periods, or a span of two years.
    Several,
}

pattern!(YEAR_ALONE, r"^(?:(?:fy|cy|year)\s?)?((?:19|20)\d\d|2100)$");
pattern!(YEAR_FIRST, r"^(?:(?:fy|cy)\s?)?((?:19|20)\d\d)([\s\-_/.,']*)(.+)$");
pattern!(YEAR_LAST, r"^(.+?)([\s\-_/.,']*)(?:(?:fy|cy)\s?)?((?:19|20)\d\d)$");
pattern!(SHORT_YEAR_LAST, r"^(\p{L}+|q[1-4]|[1-4]q)[.]?(?:\s?['’]|-|/|\s?fy\s?)(\d\d)$");
pattern!(SHORT_YEAR_BEFORE_QUARTER, r"^(?:fy)?(\d\d)[\s\-']?(q[1-4])$");
pattern!(QUARTER_AND_SHORT_YEAR, r"^([1-4])q(\d\d)$");
pattern!(SHORT_FISCAL_YEAR, r"^(?:fy|cy)\s?'?(\d\d)$");
pattern!(CHINESE_YEAR, r"^(\d{4})\s?(?:年度?|财年|财政年度)$");
pattern!(CHINESE_YEAR_FIRST, r"^(\d{4})\s?(?:年度?|财年)[\s\-]?(.+)$");
pattern!(FIRST_DAY, r"^((?:19|20)\d\d)-(\d\d)-01(?:[ T]00:00(?::00)?)?$");
pattern!(
    ENGLISH_QUARTER,
    r"^(?:q|qtr\.? ?|quarter )([1-4])$|^([1-4])(?:q|(?:st|nd|rd|th) (?:quarter|qtr))$"
);
pattern!(QUARTER_IN_WORDS, r"^(first|second|third|fourth) (?:quarter|qtr)$");

/// The period of a text that names nothing else.
pub fn period_named(text: &str) -> Option<Period> {
    if LONGEST < text.len() {
        return None;
    }
    let narrow = narrowed(text).to_lowercase();
    let name = narrow.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = name.trim_end_matches([':', '*']).trim_end();
    if let Some(year) = YEAR_ALONE.captures(name).and_then(|found| year_of(found.get(1)?.as_str()))
    {
        return Some(Period::of_year(year));
    }
    part_of_year(name)
        .or_else(|| chinese_year(name))
        .or_else(|| with_long_year(name))
        .or_else(|| with_short_year(name))
}

/// `2019年`, `2019年3月`, `2019年第一季度`
fn chinese_year(name: &str) -> Option<Period> {
    let year_of = |digits: &str| digits.parse().ok().filter(|year| MARKED_YEARS.contains(year));
    if let Some(found) = CHINESE_YEAR.captures(name) {
        return year_of(found.get(1)?.as_str()).map(Period::of_year);
    }
    let found = CHINESE_YEAR_FIRST.captures(name)?;
    let year = year_of(found.get(1)?.as_str())?;
    Some(part_of_year(found.get(2)?.as_str())?.in_year(Some(year)))
}

/// `2024-01`, `Jan 2024`, `2024Q1`, `202401`, `2024-01-01`
fn with_long_year(name: &str) -> Option<Period> {
    if let Some(found) = FIRST_DAY.captures(name) {
        let (year, month) = (found.get(1)?.as_str(), found.get(2)?.as_str());
        return Some(month_of(month)?.in_year(year_of(year)));
    }
    if let Some(found) = YEAR_FIRST.captures(name) {
        let (year, between, rest) =
            (found.get(1)?.as_str(), found.get(2)?.as_str(), found.get(3)?.as_str());
        let is_digits = rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_digit());
        let numbered = || match between {
            "-" | "/" | "." | "_" | "" if is_digits => month_of(rest),
            // `2024/1` is a month; `2024-1` is ambiguous.
            "/" => month_of(rest).filter(|_| rest.len() <= 2),
            _ => None,
        };
        if let Some(part) = part_of_year(rest).or_else(numbered) {
            return Some(part.in_year(year_of(year)));
        }
    }
    let found = YEAR_LAST.captures(name)?;
    let (before, between, year) =
        (found.get(1)?.as_str(), found.get(2)?.as_str(), found.get(3)?.as_str());
    let before = before.strip_suffix(" of").unwrap_or(before);
    let is_digits = before.len() <= 2 && before.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = || match between {
        "/" | "-" | "." if is_digits => month_of(before),
        _ => None,
    };
    let part = part_of_year(before).or_else(numbered)?;
    Some(part.in_year(year_of(year)))
}

/// `Jan-24`, `Q1'24`, `1Q24`, `FY24`
fn with_short_year(name: &str) -> Option<Period> {
    if let Some(found) = SHORT_FISCAL_YEAR.captures(name) {
        return short_year(found.get(1)?.as_str()).map(Period::of_year);
    }
    if let Some(found) = QUARTER_AND_SHORT_YEAR.captures(name) {
        let quarter = found.get(1)?.as_str().parse().ok()?;
        return Some(Period {
            grain: Grain::Quarter,
            year: short_year(found.get(2)?.as_str()),
            number: quarter,
        });
    }
    if let Some(found) = SHORT_YEAR_BEFORE_QUARTER.captures(name) {
        return Some(
            part_of_year(found.get(2)?.as_str())?.in_year(short_year(found.get(1)?.as_str())),
        );
    }
    let found = SHORT_YEAR_LAST.captures(name)?;
    Some(part_of_year(found.get(1)?.as_str())?.in_year(short_year(found.get(2)?.as_str())))
}

/// A month or quarter without a year: `Jan`, `3月`, `Q1`, `一季度`.
fn part_of_year(name: &str) -> Option<Period> {
    let quarter = |number: u8| Period { grain: Grain::Quarter, year: None, number };
    if let Some(found) = ENGLISH_QUARTER.captures(name) {
        let number = found.get(1).or_else(|| found.get(2))?;
        return number.as_str().parse().ok().map(quarter);
    }
    if let Some(found) = QUARTER_IN_WORDS.captures(name) {
        return Some(quarter(match found.get(1)?.as_str() {
            "first" => 1,
            "second" => 2,
            "third" => 3,
            _ => 4,
        }));
    }
    let numbered = |text: &str| match text.len() <= 2 {
        true => text.parse().ok(),
        false => chinese_number(text).and_then(|number| u8::try_from(number).ok()),
    };
    if let Some(rest) = name.strip_suffix("季度").or_else(|| name.strip_suffix('季')) {
        let rest = rest.strip_prefix('第').unwrap_or(rest).trim();
        return numbered(rest).filter(|number| (1..=4).contains(number)).map(quarter);
    }
    if let Some(rest) = name.strip_suffix("月份").or_else(|| name.strip_suffix('月')) {
        return numbered(rest.trim()).and_then(month);
    }
    let word = name.strip_suffix('.').filter(|word| word.len() <= 4).unwrap_or(name);
    month_named(word).and_then(|number| month(u8::try_from(number).ok()?))
}

fn month(number: u8) -> Option<Period> {
    let period = Period { grain: Grain::Month, year: None, number };
    (1..=12).contains(&number).then_some(period)
}

fn month_of(digits: &str) -> Option<Period> {
    digits.parse().ok().and_then(month)
}

fn year_of(digits: &str) -> Option<i16> {
    digits.parse().ok().filter(|year| YEARS.contains(year))
}

/// A year of two digits: 00 to 68 belong to this century.
fn short_year(digits: &str) -> Option<i16> {
    let year: i16 = digits.parse().ok()?;
    Some(if year <= 68 { 2000 + year } else { 1900 + year })
}

pattern!(
    MENTIONED,
    r"(?:(?P<before>[a-z]{3,9}|q[1-4]|[1-4]q)[\s\-_.,/']{0,2})?(?:fy\s?)?(?P<year>(?:19|20)\d\d)(?P<mark>年度?|财年)?(?:[\s\-_./]{0,2}(?P<behind>q[1-4]|第?[一二三四1-4]季度?|\d{1,2}月|[a-z]{3,9}))?"
);
pattern!(IN_DIGITS, r"(?:19|20)\d\d[\-_./](?:\d\d)|(?:19|20)\d{4}");
/// `2023/24`, `2023-2024`
const SEASON_SIGNS: [char; 4] = ['/', '-', '–', '—'];

/// The periods in a title, or in the name of a sheet or file: `Sales 2024`, `2024年3月`, `orders_2024_03`.
pub(crate) fn stated_in(text: &str) -> Stated {
    if let Some(period) = period_named(text) {
        return Stated::One(period);
    }
    let text = narrowed(text).to_lowercase();
    let mut stated = Stated::Nothing;
    let mut from = 0;
    while let Some(found) = MENTIONED.captures_at(&text, from) {
        let Some((year, whole)) = found.name("year").zip(found.get(0)) else { break };
        from = year.end();
        let is_digit = |c: char| c.is_ascii_digit();
        let before = text.get(..year.start()).unwrap_or_default();
        let behind = text.get(year.end()..).unwrap_or_default();
        let in_digits = IN_DIGITS.find(text.get(year.start()..).unwrap_or_default());
        let month = in_digits.filter(|found| found.start() == 0).and_then(|found| {
            let rest = text.get(year.start() + found.end()..)?;
            let period = period_named(found.as_str())?;
            (!rest.starts_with(is_digit)).then_some((period, year.start() + found.end()))
        });
        if before.ends_with(is_digit) || (month.is_none() && behind.starts_with(is_digit)) {
            continue;
        }
        if is_season(year.as_str(), behind) {
            return Stated::Several;
        }
        let Some(year_alone) = year_of(year.as_str()) else { continue };
        let part = ["behind", "before"]
            .into_iter()
            .find_map(|part| part_of_year(found.name(part)?.as_str()))
            .map(|part| (part.in_year(Some(year_alone)), whole.end()));
        let (period, end) = part.or(month).unwrap_or((Period::of_year(year_alone), year.end()));
        from = from.max(end);
        match stated {
            Stated::Nothing => stated = Stated::One(period),
            Stated::One(held) if held == period => {}
            _ => return Stated::Several,
        }
    }
    stated
}

/// Whether two digits after a year mean the next year: `2023/24`. `2011-12` is a month.
fn is_season(year: &str, behind: &str) -> bool {
    let Some(rest) = behind.strip_prefix(SEASON_SIGNS) else { return false };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let next = |year: u16| (year + 1) % 100;
    digits.len() == 2
        && digits.parse().is_ok_and(|short: u16| 12 < short)
        && year.parse().is_ok_and(|year| digits.parse() == Ok(next(year)))
}

/// Whether names such as `2009/10` mean seasons of two years, not months.
pub(crate) fn are_seasons<'a>(names: impl IntoIterator<Item = &'a str>) -> bool {
    let mut names = names.into_iter().peekable();
    let is_one = |name: &str| {
        let name = narrowed(name);
        let Some((year, rest)) = name.split_at_checked(4) else { return false };
        let Some(short) = rest.strip_prefix(SEASON_SIGNS) else { return false };
        let year: Option<u16> = year.parse().ok();
        short.len() == 2 && year.is_some_and(|year| short.parse() == Ok((year + 1) % 100))
    };
    names.peek().is_some() && names.all(is_one)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(period: Option<Period>) -> String {
        let Some(period) = period else { return "-".to_owned() };
        period.date().unwrap_or_else(|| format!("{:?} {}", period.grain, period.number))
    }

    #[test]
    fn periods_are_read_in_customary_spellings() {
        let names = "Jan | January | SEPT. | May | 1月 | 12月份 | 十二月 | 3 月 | Jan-24 | Jan 2024 | 2024 January | Jan'24 | \
            2024-01 | 2024/1 | 2024.03 | 01/2024 | 202403 | 2024-03-01 | 2024年1月 | 2024 年 12 月 | 2024年三月 | ２０２４年３月 | \
            Q1 | Quarter 2 | 3rd quarter | First Quarter | 4Q | 一季度 | 第一季度 | 第2季度 | 2024 Q1 | 2024Q1 | Q1 2024 | Q3-24 | 1Q24 | \
            FY24 Q2 | 2024年第一季度 | 2024 一季度 | 2019 | 2019年 | 2019年度 | FY2021 | FY 2021 | FY21 | 2021财年";
        let lines: Vec<String> = names
            .split(" | ")
            .map(|name| format!("{} -> {}", name.trim(), shown(period_named(name.trim()))))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        Jan -> Month 1
        January -> Month 1
        SEPT. -> Month 9
        May -> Month 5
        1月 -> Month 1
        12月份 -> Month 12
        十二月 -> Month 12
        3 月 -> Month 3
        Jan-24 -> 2024-01
        Jan 2024 -> 2024-01
        2024 January -> 2024-01
        Jan'24 -> 2024-01
        2024-01 -> 2024-01
        2024/1 -> 2024-01
        2024.03 -> 2024-03
        01/2024 -> 2024-01
        202403 -> 2024-03
        2024-03-01 -> 2024-03
        2024年1月 -> 2024-01
        2024 年 12 月 -> 2024-12
        2024年三月 -> 2024-03
        ２０２４年３月 -> 2024-03
        Q1 -> Quarter 1
        Quarter 2 -> Quarter 2
        3rd quarter -> Quarter 3
        First Quarter -> Quarter 1
        4Q -> Quarter 4
        一季度 -> Quarter 1
        第一季度 -> Quarter 1
        第2季度 -> Quarter 2
        2024 Q1 -> 2024-Q1
        2024Q1 -> 2024-Q1
        Q1 2024 -> 2024-Q1
        Q3-24 -> 2024-Q3
        1Q24 -> 2024-Q1
        FY24 Q2 -> 2024-Q2
        2024年第一季度 -> 2024-Q1
        2024 一季度 -> 2024-Q1
        2019 -> 2019
        2019年 -> 2019
        2019年度 -> 2019
        FY2021 -> 2021
        FY 2021 -> 2021
        FY21 -> 2021
        2021财年 -> 2021
        ");
    }

    #[test]
    fn other_names_are_no_periods() {
        for name in [
            "",
            "1",
            "12",
            "13月",
            "Q5",
            "五季度",
            "月",
            "季度",
            "年",
            "1850",
            "3000",
            "20245",
            "Janet",
            "Marc",
            "Jan 24",
            "24-Jan",
            "2024-13",
            "2019-20",
            "Total",
            "合计",
            "1月1日",
            "2024-01-15",
            "Population 2019",
            "Q",
            "M1",
            "H1",
            "2024-1",
            "Mayor",
            "Week 1",
            "2024年13月",
            "0月",
            "第五季度",
            "No. 1",
            "2019 kg",
        ] {
            assert_eq!(period_named(name), None, "{name}");
        }
    }

    #[test]
    fn titles_and_names_of_files_mention_periods() {
        let stated = |text: &str| match stated_in(text) {
            Stated::Nothing => "nothing".to_owned(),
            Stated::One(period) => shown(Some(period)),
            Stated::Several => "several".to_owned(),
        };
        let texts = "Sales 2024 | Sales, March 2024 | orders_2024_03 | orders_202403 | report-2024-Q2 | 2024年3月用电量 | 2024年各厂用电 | \
            第一季度 | Q3 | 2023-2024 | Season 2023/24 | 2023 and 2024 | 2024 budget for 2024 | order 120245 | Plant A | 销售2024 | May 2024 | \
            data_20240131 | Jan";
        let lines: Vec<String> = texts
            .split(" | ")
            .map(|text| format!("{} -> {}", text.trim(), stated(text.trim())))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        Sales 2024 -> 2024
        Sales, March 2024 -> 2024-03
        orders_2024_03 -> 2024-03
        orders_202403 -> 2024-03
        report-2024-Q2 -> 2024-Q2
        2024年3月用电量 -> 2024-03
        2024年各厂用电 -> 2024
        第一季度 -> Quarter 1
        Q3 -> Quarter 3
        2023-2024 -> several
        Season 2023/24 -> several
        2023 and 2024 -> several
        2024 budget for 2024 -> 2024
        order 120245 -> nothing
        Plant A -> nothing
        销售2024 -> 2024
        May 2024 -> 2024-05
        data_20240131 -> nothing
        Jan -> Month 1
        ");
    }

    #[test]
    fn seasons_are_no_months() {
        assert!(are_seasons(["2009/10", "2010/11", "2011/12"]));
        assert!(!are_seasons(["2011-12", "2012-01", "2012-02"]));
        assert!(!are_seasons([]));
    }

    proptest! {
        #[test]
        fn words_are_no_periods(name in "[a-zA-Z]{1,12}( [a-zA-Z]{1,12})?") {
            let is_month = |word: &str| month_named(word).is_some();
            let lower = name.to_lowercase();
            prop_assume!(!is_month(&lower) && QUARTER_IN_WORDS.captures(&lower).is_none());
            prop_assert_eq!(period_named(&name), None);
        }

        #[test]
        fn any_text_is_survived(text in "(\\PC|[0-9QqFY年月季度第一二/ -]){0,40}") {
            let _ = (period_named(&text), stated_in(&text));
        }
    }
}
