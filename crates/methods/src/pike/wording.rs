//! How are figures told in words? In the language of the question, English or Chinese; no model has a hand in it.

use std::fmt::Write;

use pikerag_knowledge::records::Quantity;
use pikerag_knowledge::tables::{Condition, Measure, RecordQuery, Test};
use pikerag_knowledge::worked::{Coverage, ForecastModel, NoRecord};
use pikerag_language::{format_number, is_chinese};
use pikerag_records::series::Period;

/// The language that an answer is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    Chinese,
}

impl Tongue {
    /// Chinese where the question has Chinese words.
    pub(super) fn of(question: &str) -> Self {
        if question.chars().any(is_chinese) { Self::Chinese } else { Self::English }
    }

    /// One of the two.
    pub(super) fn say<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// Between the items of a list.
    pub(super) fn comma(self) -> &'static str {
        self.say("; ", "；")
    }
}

/// A number with its unit.
pub(super) fn amount(value: f64, unit: Option<&str>) -> String {
    match unit {
        Some(unit) if unit.starts_with(['%', '‰', '°']) => {
            format!("{}{unit}", format_number(value))
        }
        Some(unit) => format!("{} {unit}", format_number(value)),
        None => format_number(value),
    }
}

/// What was worked out, with its conditions: one sentence.
pub(super) fn query(tongue: Tongue, schema: &str, query: &RecordQuery, is_list: bool) -> String {
    let what = match &query.measure {
        _ if is_list => tongue.say("Listed: things under", "列出：").to_owned(),
        Measure::Count => tongue.say("Counted: things under", "计数：").to_owned(),
        Measure::Different(field) => match tongue {
            Tongue::English => format!("Counted: different values of `{field}` under"),
            Tongue::Chinese => format!("计数：`{field}` 的不同取值，记录类型"),
        },
        measure => {
            let field = measure.field().unwrap_or_default();
            let (english, chinese) = match measure {
                Measure::Sum(_) => ("Added up", "求和"),
                Measure::Mean(_) => ("Averaged", "求平均"),
                Measure::Least(_) => ("The least of", "最小值"),
                _ => ("The greatest of", "最大值"),
            };
            match tongue {
                Tongue::English => format!("{english}: `{field}` under"),
                Tongue::Chinese => format!("{chinese}：`{field}`，记录类型"),
            }
        }
    };
    let conditions: Vec<String> =
        query.conditions.iter().map(|condition| self::condition(tongue, condition)).collect();
    let groups: Vec<String> =
        query.group.iter().map(|group| format!("`{}`", group.field)).collect();
    match tongue {
        Tongue::English => {
            let mut told = format!("{what} `{schema}`");
            if !conditions.is_empty() {
                let _ = write!(told, " where {}", conditions.join(" and "));
            }
            if !groups.is_empty() {
                let _ = write!(told, ", told apart by {}", groups.join(" and "));
            }
            told + "."
        }
        Tongue::Chinese => {
            let mut told = format!("{what} `{schema}`");
            if !conditions.is_empty() {
                let _ = write!(told, "，条件：{}", conditions.join("，且 "));
            }
            if !groups.is_empty() {
                let _ = write!(told, "，按 {} 分组", groups.join("、"));
            }
            told + "。"
        }
    }
}

fn condition(tongue: Tongue, condition: &Condition) -> String {
    let field = &condition.field;
    // Chinese words are folded character by character.
    let words = |words: &str| {
        let is_spaced = words.chars().any(|c| !is_chinese(c) && c != ' ');
        if is_spaced { words.to_owned() } else { words.replace(' ', "") }
    };
    let than = |than: &Quantity| amount(than.amount, than.unit.as_deref());
    match (&condition.test, tongue) {
        (Test::Is(text), Tongue::English) => format!("`{field}` is “{}”", words(text)),
        (Test::Is(text), Tongue::Chinese) => format!("`{field}` 为“{}”", words(text)),
        (Test::Holds(text), Tongue::English) => format!("`{field}` holds “{}”", words(text)),
        (Test::Holds(text), Tongue::Chinese) => format!("`{field}` 含“{}”", words(text)),
        (Test::Between { from, to }, tongue) => {
            let from = from.as_deref().map(|day| (day.trim_end_matches('~'), day.ends_with('~')));
            let to = to.as_deref().map(|day| match day.strip_suffix('~') {
                Some(before) => (next(before), true),
                None => (last_of_month(day), false),
            });
            let mut told = format!("`{field}`");
            if let Some((from, is_after)) = from {
                let (english, chinese) =
                    if is_after { ("is after", "晚于") } else { ("is from", "自") };
                let _ = write!(told, " {} {from}", tongue.say(english, chinese));
            }
            if let Some((to, is_before)) = to {
                let (english, chinese) = match (is_before, told.ends_with('`')) {
                    (true, true) => ("is before", "早于"),
                    (true, false) => ("before", "早于"),
                    (false, true) => ("is up to", "至"),
                    (false, false) => ("to", "至"),
                };
                let _ = write!(told, " {} {to}", tongue.say(english, chinese));
            }
            told
        }
        (Test::AtLeast(number), _) => format!("`{field}` ≥ {}", than(number)),
        (Test::Above(number), _) => format!("`{field}` > {}", than(number)),
        (Test::AtMost(number), _) => format!("`{field}` ≤ {}", than(number)),
        (Test::Below(number), _) => format!("`{field}` < {}", than(number)),
        (Test::IsTrue(truth), Tongue::English) => {
            format!("`{field}` is {}", if *truth { "yes" } else { "no" })
        }
        (Test::IsTrue(truth), Tongue::Chinese) => {
            format!("`{field}` 为{}", if *truth { "是" } else { "否" })
        }
    }
}

/// The day behind `2015-01-00` or `2018-05-10`, as a bound before that day has them.
fn next(before: &str) -> String {
    let mut day = before.to_owned();
    let last = day.pop().and_then(|last| char::from_u32(last as u32 + 1));
    day.extend(last);
    day
}

/// `2024-02-29` for `2024-02-31`: bounds end each month with its 31st.
fn last_of_month(day: &str) -> String {
    let month = day.strip_suffix("-31").and_then(Period::of);
    month.map_or_else(|| day.to_owned(), |month| month.last_day().to_string())
}

/// How much was gone over, and what is in no figure: a sentence each.
pub(super) fn coverage(tongue: Tongue, coverage: &Coverage) -> String {
    let Coverage { documents, with_records, records, things, matched, .. } = coverage;
    let mut told = match tongue {
        Tongue::English => format!(
            "{matched} of {things} things fulfil this; {} {} of them, in {with_records} of {} seen.",
            counted(*records, "record"),
            if *records == 1 { "tells" } else { "tell" },
            counted(*documents, "document"),
        ),
        Tongue::Chinese => format!(
            "{things} 项中有 {matched} 项符合；共 {records} 条记录，来自可见的 {documents} 份文档中的 {with_records} 份。"
        ),
    };
    for (why, count) in &coverage.without {
        let _ = match (tongue, why) {
            (Tongue::English, why) => write!(
                told,
                " {} no such record ({}).",
                if *count == 1 { "1 holds".to_owned() } else { format!("{count} hold") },
                match why {
                    NoRecord::NotPlain =>
                        "no fitting table, line or field, and no model reads texts",
                    NoRecord::NotFound =>
                        "no fitting table, line or field, and a model found none in the text",
                    NoRecord::NoTable =>
                        "no such table; declare `[[records]]` to have texts read too",
                }
            ),
            (Tongue::Chinese, why) => write!(
                told,
                "{count} 份没有此类记录（{}）。",
                match why {
                    NoRecord::NotPlain => "没有符合的表格、行或字段，且没有模型阅读正文",
                    NoRecord::NotFound => "没有符合的表格、行或字段，模型在正文中也未找到",
                    NoRecord::NoTable => "没有这样的表格；声明 `[[records]]` 后也会阅读正文",
                }
            ),
        };
    }
    let left = [
        (
            coverage.undecided,
            "Undecided, and in no figure, for they say nothing of a condition or not precisely enough",
            "未说明某一条件或不够精确而未计入",
        ),
        (
            coverage.unmeasured,
            "Without a value of what is measured, and in no figure",
            "没有所求的数值而未计入",
        ),
        (
            coverage.conflicts,
            "Fields that several records tell differently, the first one standing",
            "多条记录说法不一而以第一条为准的字段",
        ),
    ];
    for (count, english, chinese) in left {
        if 0 < count {
            let _ = match tongue {
                Tongue::English => write!(told, " {english}: {count}."),
                Tongue::Chinese => write!(told, "{chinese}：{count}。"),
            };
        }
    }
    told
}

/// `1 record`, `2 records`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What a model of forecasts is called.
pub(super) fn model(tongue: Tongue, model: ForecastModel) -> &'static str {
    let (english, chinese) = match model {
        ForecastModel::Combination => ("the mean of all models", "各模型的平均"),
        ForecastModel::Naive => ("naive (as the last figure)", "朴素法（同上一期）"),
        ForecastModel::SeasonalNaive => {
            ("seasonal naive (as a year before)", "季节朴素法（同上年同期）")
        }
        ForecastModel::Mean => ("the mean of all figures", "历史均值"),
        ForecastModel::Drift => ("drift (a line from first to last)", "漂移法（首末连线）"),
        ForecastModel::Smoothing => ("exponential smoothing", "指数平滑"),
        ForecastModel::Seasonal => ("seasons by loess, the rest smoothed", "季节分解与平滑"),
    };
    tongue.say(english, chinese)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_told_as_days() {
        let told = |from: Option<&str>, to: Option<&str>| {
            let (from, to) = (from.map(str::to_owned), to.map(str::to_owned));
            let test = Test::Between { from, to };
            condition(Tongue::English, &Condition { field: "day".to_owned(), test })
        };
        assert_eq!(
            told(Some("2024-02-01"), Some("2024-02-31")),
            "`day` is from 2024-02-01 to 2024-02-29"
        );
        assert_eq!(told(None, Some("2015-01-00~")), "`day` is before 2015-01-01");
        assert_eq!(told(Some("2015-12-31~"), None), "`day` is after 2015-12-31");
        assert_eq!(told(None, Some("2015-12-31")), "`day` is up to 2015-12-31");
    }

    #[test]
    fn units_follow_a_space_and_signs_none() {
        assert_eq!(amount(12.0, Some("h")), "12 h");
        assert_eq!(amount(12.5, Some("%")), "12.5%");
    }
}
