//! Words queries over records, their figures, and their coverage.

use std::fmt::Write;

use pikerag_knowledge::facts::TabulatedRow;
use pikerag_knowledge::records::Quantity;
use pikerag_knowledge::tables::{Condition, Measure, RecordQuery, Test};
use pikerag_knowledge::worked::{Coverage, PassagesRead};
use pikerag_language::is_chinese;

use crate::language::{InWords, Language, Words};
use crate::numbers::{amount, counted};

impl InWords for TabulatedRow {
    fn words(&self) -> Words {
        let row =
            |language| figure_row(&self.key, self.value, self.unit.as_deref(), false, language);
        Words::new(row(Language::English), row(Language::Chinese))
    }
}

/// A figure with its group: `2016: 45`, or `pumps (45)` in a ranking; without a group, the figure alone.
pub fn figure_row(
    key: &[String],
    value: f64,
    unit: Option<&str>,
    is_ranked: bool,
    language: Language,
) -> String {
    let value = amount(value, unit);
    let unknown = language.either("not stated", "未说明");
    let named = |part: &String| if part.is_empty() { unknown.to_owned() } else { part.clone() };
    let key: Vec<String> = key.iter().map(named).collect();
    let key = key.join(language.either(", ", "，"));
    match (key.is_empty(), is_ranked, language) {
        (true, ..) => value,
        (false, true, Language::English) => format!("{key} ({value})"),
        (false, true, Language::Chinese) => format!("{key}（{value}）"),
        (false, false, Language::English) => format!("{key}: {value}"),
        (false, false, Language::Chinese) => format!("{key}：{value}"),
    }
}

/// The first items of a list that has `all` items.
pub fn listed(items: &[String], all: usize, language: Language) -> String {
    let left = all.saturating_sub(items.len());
    let mut text = items.join(language.separator());
    if 0 < left {
        let _ = match language {
            Language::English => write!(text, "; and {left} more"),
            Language::Chinese => write!(text, "；另有 {left} 项"),
        };
    }
    text
}

/// One sentence on the computation and its conditions.
pub fn query(schema: &str, query: &RecordQuery, is_list: bool, language: Language) -> String {
    let Words { english, chinese } = match &query.measure {
        _ if is_list => Words::new("Listed: things in", "列出："),
        Measure::Count => Words::new("Counted: things in", "计数："),
        Measure::Different(field) => Words::new(
            format!("Counted: different values of `{field}` in"),
            format!("计数：`{field}` 的不同取值，记录类型"),
        ),
        Measure::Sum(field) => measured("Sum", "求和", field),
        Measure::Mean(field) => measured("Mean", "求平均", field),
        Measure::Least(field) => measured("Least value", "最小值", field),
        Measure::Greatest(field) => measured("Greatest value", "最大值", field),
    };
    let conditions = query.conditions.iter().map(|condition| condition_in(condition, language));
    let conditions: Vec<String> = conditions.collect();
    let groups: Vec<String> =
        query.group.iter().map(|group| format!("`{}`", group.field)).collect();
    match language {
        Language::English => {
            let mut text = format!("{english} `{schema}`");
            if !conditions.is_empty() {
                let _ = write!(text, " where {}", conditions.join(" and "));
            }
            if !groups.is_empty() {
                let _ = write!(text, ", grouped by {}", groups.join(" and "));
            }
            text + "."
        }
        Language::Chinese => {
            let mut text = format!("{chinese} `{schema}`");
            if !conditions.is_empty() {
                let _ = write!(text, "，条件：{}", conditions.join("，且 "));
            }
            if !groups.is_empty() {
                let _ = write!(text, "，按 {} 分组", groups.join("、"));
            }
            text + "。"
        }
    }
}

fn measured(english: &str, chinese: &str, field: &str) -> Words {
    Words::new(format!("{english}: `{field}` in"), format!("{chinese}：`{field}`，记录类型"))
}

fn condition_in(condition: &Condition, language: Language) -> String {
    let field = &condition.field;
    // Folding puts spaces between Chinese characters.
    let words = |words: &str| {
        let is_spaced = words.chars().any(|c| !is_chinese(c) && c != ' ');
        if is_spaced { words.to_owned() } else { words.replace(' ', "") }
    };
    let than = |than: &Quantity| amount(than.amount, than.unit.as_deref());
    match &condition.test {
        Test::Is(text) => Words::new(
            format!("`{field}` is “{}”", words(text)),
            format!("`{field}` 为“{}”", words(text)),
        )
        .of(language),
        Test::Holds(text) => Words::new(
            format!("`{field}` contains “{}”", words(text)),
            format!("`{field}` 含“{}”", words(text)),
        )
        .of(language),
        Test::Between { from, to } => between(field, from.as_deref(), to.as_deref(), language),
        Test::AtLeast(number) => format!("`{field}` ≥ {}", than(number)),
        Test::Above(number) => format!("`{field}` > {}", than(number)),
        Test::AtMost(number) => format!("`{field}` ≤ {}", than(number)),
        Test::Below(number) => format!("`{field}` < {}", than(number)),
        Test::IsTrue(true) => {
            Words::new(format!("`{field}` is yes"), format!("`{field}` 为是")).of(language)
        }
        Test::IsTrue(false) => {
            Words::new(format!("`{field}` is no"), format!("`{field}` 为否")).of(language)
        }
    }
}

/// The bounds of a date, as days. A bound that ends with `~` excludes the day.
fn between(field: &str, from: Option<&str>, to: Option<&str>, language: Language) -> String {
    let from = from.map(|day| (day.trim_end_matches('~'), day.ends_with('~')));
    let to = to.map(|day| match day.strip_suffix('~') {
        Some(before) => (next(before), true),
        None => (last_of_month(day), false),
    });
    let mut text = format!("`{field}`");
    if let Some((from, is_after)) = from {
        let (english, chinese) = if is_after { ("is after", "晚于") } else { ("is from", "自") };
        let _ = write!(text, " {} {from}", language.either(english, chinese));
    }
    if let Some((to, is_before)) = to {
        let (english, chinese) = match (is_before, text.ends_with('`')) {
            (true, true) => ("is before", "早于"),
            (true, false) => ("before", "早于"),
            (false, true) => ("is up to", "至"),
            (false, false) => ("to", "至"),
        };
        let _ = write!(text, " {} {to}", language.either(english, chinese));
    }
    text
}

/// The day after `2015-01-00` or `2018-05-10`: bounds that exclude a day give the day before it.
fn next(before: &str) -> String {
    let mut day = before.to_owned();
    let last = day.pop().and_then(|last| char::from_u32(last as u32 + 1));
    day.extend(last);
    day
}

/// `2024-02-29` for `2024-02-31`: bounds end every month with day 31.
fn last_of_month(day: &str) -> String {
    let month = day.strip_suffix("-31").and_then(|month| {
        let (year, number) = month.split_once('-')?;
        Some((month, year.parse::<u32>().ok()?, number.parse::<u32>().ok()?))
    });
    let Some((month, year, number)) = month else { return day.to_owned() };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match number {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    format!("{month}-{last}")
}

/// The field that decided a comparison of records.
pub fn compared_field(schema: &str, field: &str, language: Language) -> String {
    Words::new(
        format!("Compared by `{field}` of the records of `{schema}`."),
        format!("依据记录类型 `{schema}` 的 `{field}` 比较。"),
    )
    .of(language)
}

/// One sentence on the coverage of a figure, and one on each reason why things are left out.
pub fn coverage(coverage: &Coverage, language: Language) -> String {
    let Coverage { documents, with_records, records, things, matched, .. } = coverage;
    let mut text = Words::new(
        format!(
            "{matched} of {things} things match; {} from {with_records} of {}.",
            counted(*records, "record"),
            counted(*documents, "visible document"),
        ),
        format!(
            "{things} 项中有 {matched} 项符合；共 {records} 条记录，来自可见的 {documents} 份文档中的 {with_records} 份。"
        ),
    );
    for (why, count) in &coverage.without {
        let verb = if *count == 1 { "has" } else { "have" };
        let Words { english, chinese } = why.words();
        let _ = write!(text.english, " {count} {verb} no such record ({english}).");
        let _ = write!(text.chinese, "{count} 份没有此类记录（{chinese}）。");
    }
    let left_out = [
        (
            coverage.undecided,
            "Left out, because a condition cannot be decided for them",
            "因无法判断是否符合条件而未计入",
        ),
        (
            coverage.unmeasured,
            "Left out, because they have no value of the measured field",
            "没有所求的数值而未计入",
        ),
        (
            coverage.conflicts,
            "Fields with different values in several records (the first value counts)",
            "多条记录说法不一而以第一条为准的字段",
        ),
    ];
    for (count, english, chinese) in left_out {
        if 0 < count {
            let _ = write!(text.english, " {english}: {count}.");
            let _ = write!(text.chinese, "{chinese}：{count}。");
        }
    }
    if let Some(passages) = &coverage.passages {
        let read = passages_read(passages);
        let _ = write!(text.english, " {}", read.english);
        text.chinese.push_str(&read.chinese);
    }
    text.of(language)
}

/// How many passages were read for a question, and what was dropped.
fn passages_read(passages: &PassagesRead) -> Words {
    let PassagesRead { fit, read, reused, failed, invented, .. } = passages;
    let was = if *read == 1 { "was" } else { "were" };
    let mut text = Words::new(
        format!("{read} of {} {was} read", counted(*fit, "matching passage")),
        format!("相符的 {fit} 个段落中读了 {read} 个"),
    );
    if 0 < *reused {
        let _ = write!(text.english, ", {reused} of them for an earlier question");
        let _ = write!(text.chinese, "（其中 {reused} 个是为先前的问题读的）");
    }
    text.english.push('.');
    text.chinese.push('。');
    let dropped = [
        (*failed, "Passages that could not be read", "未能读取的段落"),
        (
            *invented,
            "Values that were dropped, because their passage does not contain them",
            "因段落中没有而舍去的取值",
        ),
    ];
    for (count, english, chinese) in dropped {
        if 0 < count {
            let _ = write!(text.english, " {english}: {count}.");
            let _ = write!(text.chinese, "{chinese}：{count}。");
        }
    }
    text
}

/// Why a figure over passages may be wrong, a clause for each reason; empty if all of them were read and everything in them
/// was counted, and for figures over other records.
pub fn gaps(coverage: &Coverage, language: Language) -> Vec<String> {
    let Some(PassagesRead { fit, read, incomplete, .. }) = coverage.passages else {
        return Vec::new();
    };
    let was = |count: usize| if count == 1 { "was" } else { "were" };
    let unread = fit.saturating_sub(read);
    let left_out = coverage.undecided + coverage.unmeasured;
    let clauses = [
        (
            unread,
            format!(
                "{unread} of {} {} not read: the figure may be wrong",
                counted(fit, "matching passage"),
                was(unread)
            ),
            format!("相符的 {fit} 个段落中有 {unread} 个没有读：结果可能有误"),
        ),
        (
            incomplete,
            format!(
                "{} {} not counted: nothing in the passage tells such a thing from others",
                counted(incomplete, "reported thing"),
                was(incomplete)
            ),
            format!("有 {incomplete} 项没有计入：段落没有说明如何与其他项区分"),
        ),
        (
            left_out,
            format!(
                "{} {} left out: the passage does not state what the figure needs",
                counted(left_out, "thing"),
                was(left_out)
            ),
            format!("有 {left_out} 项没有计入：段落没有写明计算所需的内容"),
        ),
    ];
    let reported = clauses.into_iter().filter(|(count, ..)| 0 < *count);
    reported.map(|(_, english, chinese)| Words::new(english, chinese).of(language)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_shown_as_days() {
        let shown = |from, to| between("day", from, to, Language::English);
        assert_eq!(
            shown(Some("2024-02-01"), Some("2024-02-31")),
            "`day` is from 2024-02-01 to 2024-02-29"
        );
        assert_eq!(shown(None, Some("2015-01-00~")), "`day` is before 2015-01-01");
        assert_eq!(shown(Some("2015-12-31~"), None), "`day` is after 2015-12-31");
        assert_eq!(shown(None, Some("2015-12-31")), "`day` is up to 2015-12-31");
    }
}
