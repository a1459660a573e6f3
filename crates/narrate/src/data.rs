//! Words plans over typed tables and their results.

use std::fmt::Write;

use pikerag_knowledge::data::{
    Aggregate, Arithmetic, ColumnRef, DataColumn, DataTable, DataValue, GroupFilter, NumberRange,
    OrderBy, TableFilter, TableMeasure, TableOrder, TablePlan, TableTerm, TableTest,
};
use pikerag_knowledge::tables::By;

use crate::language::Language;
use crate::numbers::{amount, number, with_unit};

/// The most values of one filter that are named; the rest are counted.
const NAMED: usize = 6;

/// A value with the unit of its column.
pub fn data_value(value: &DataValue, unit: Option<&str>, language: Language) -> String {
    match value {
        DataValue::Empty => language.either("no value", "无值").to_owned(),
        DataValue::Integer(whole) => amount(*whole as f64, unit),
        DataValue::Real(real) => with_unit(exact(*real), unit),
        DataValue::Text(text) => text.clone(),
    }
}

/// A number with all its digits.
fn exact(value: f64) -> String {
    let is_plain = value.fract() != 0.0 && (1e-9..1e15).contains(&value.abs());
    if is_plain { value.to_string() } else { number(value) }
}

/// A computed figure, without the digits that come from floating-point error.
pub(crate) fn figure(value: f64) -> String {
    let digits = if value.abs() < 0.01 { 1e9 } else { 1e4 };
    exact((value * digits).round() / digits)
}

/// The computation of a plan in words: `mean of wind in seattle-weather; date in 2014`.
pub fn plan_words(plan: &TablePlan, tables: &[DataTable], language: Language) -> String {
    let mut measured: Vec<String> =
        plan.measures.iter().map(|measure| measure_words(measure, tables, language)).collect();
    if let (Some(function), Some(first)) = (plan.over, measured.first()) {
        measured = vec![over_groups(function, first, language)];
    }
    let shown: Vec<String> = plan.show.iter().map(|column| name(column, tables)).collect();
    let what = if measured.is_empty() { shown.join(", ") } else { measured.join(", ") };
    let title = |table: &str| {
        let found = tables.iter().find(|found| found.name == table);
        found.map_or_else(|| table.to_owned(), |found| found.title.clone())
    };
    let mut text = match language {
        Language::English => format!("{what} in {}", title(&plan.table)),
        Language::Chinese => format!("{}：{what}", title(&plan.table)),
    };
    for join in &plan.joins {
        let joined = title(&join.to.table);
        let _ = match language {
            Language::English => write!(text, " with {joined}"),
            Language::Chinese => write!(text, "，结合 {joined}"),
        };
    }
    for filter in &plan.filters {
        text.push_str(language.either("; ", "；"));
        text.push_str(&filter_words(filter, tables, language));
    }
    let groups: Vec<String> = plan
        .group
        .iter()
        .map(|group| match group.by {
            By::Value => name(&group.column, tables),
            By::Year => with_period(&name(&group.column, tables), "year", "年", language),
            By::Quarter => with_period(&name(&group.column, tables), "quarter", "季度", language),
            By::Month => with_period(&name(&group.column, tables), "month", "月", language),
        })
        .collect();
    if !groups.is_empty() {
        let groups = groups.join(", ");
        let _ = match language {
            Language::English => write!(text, "; for each {groups}"),
            Language::Chinese => write!(text, "；按 {groups} 分组"),
        };
    }
    for filter in &plan.having {
        text.push_str(language.either("; only groups with ", "；只取组："));
        text.push_str(&having_words(filter, tables, language));
    }
    if let Some(order) = &plan.order
        && plan.limit.is_some()
    {
        text.push_str(&order_words(order, tables, language));
    }
    text
}

/// The requested rank in an order, for [`plan_words`]: `; number 2 in this order`. Ranks count from 1.
pub fn rank_words(rank: usize, language: Language) -> String {
    match language {
        Language::English => format!("; number {rank} in this order"),
        Language::Chinese => format!("；取第 {rank} 位"),
    }
}

fn measure_words(measure: &TableMeasure, tables: &[DataTable], language: Language) -> String {
    let column = measure.column.as_ref().map(|column| match &measure.with {
        Some(with) => combined(column, with, tables, language),
        None => name(column, tables),
    });
    let figure = aggregate(measure.function, column.as_deref(), language);
    if measure.only.is_empty() {
        return figure;
    }
    let only: Vec<String> =
        measure.only.iter().map(|filter| filter_words(filter, tables, language)).collect();
    let only = only.join(language.either(" and ", " 且 "));
    match (measure.is_share, language) {
        (false, Language::English) => format!("{figure} where {only}"),
        (false, Language::Chinese) => format!("{figure}（其中 {only}）"),
        (true, Language::English) => format!("percent of the {figure} where {only}"),
        (true, Language::Chinese) => format!("百分比：{figure}（其中 {only}）"),
    }
}

/// Two values of a row that make one.
fn combined(
    column: &ColumnRef,
    with: &TableTerm,
    tables: &[DataTable],
    language: Language,
) -> String {
    let (own, other) = (name(column, tables), name(&with.column, tables));
    match (with.by, language) {
        (Arithmetic::DaysSince, Language::English) => format!("days from {other} to {own}"),
        (Arithmetic::DaysSince, Language::Chinese) => format!("从 {other} 到 {own} 的天数"),
        (by, _) => format!("{own} {} {other}", by.sign()),
    }
}

/// One figure of the figures of all groups.
fn over_groups(function: Aggregate, of_group: &str, language: Language) -> String {
    let (english, chinese) = match function {
        Aggregate::Count => return language.either("number of groups", "组数").to_owned(),
        Aggregate::Distinct => ("number of different values", "不同取值的个数"),
        Aggregate::Sum => ("sum", "总和"),
        Aggregate::Mean => ("mean", "平均值"),
        Aggregate::Median => ("median", "中位数"),
        Aggregate::Least => ("least", "最小值"),
        Aggregate::Greatest => ("greatest", "最大值"),
    };
    match language {
        Language::English => format!("{english} over the groups of ({of_group})"),
        Language::Chinese => format!("各组（{of_group}）的{chinese}"),
    }
}

fn having_words(filter: &GroupFilter, tables: &[DataTable], language: Language) -> String {
    let measure = measure_words(&filter.measure, tables, language);
    range_words(&measure, &filter.range, language)
}

fn range_words(what: &str, range: &NumberRange, language: Language) -> String {
    let from = range.from.map(|from| {
        format!("{what} {} {}", if range.from_included { "≥" } else { ">" }, exact(from))
    });
    let to = range
        .to
        .map(|to| format!("{what} {} {}", if range.to_included { "≤" } else { "<" }, exact(to)));
    let both: Vec<String> = from.into_iter().chain(to).collect();
    both.join(language.either(" and ", " 且 "))
}

/// The order, and its column unless that is the measure, which is already named.
fn order_words(order: &TableOrder, tables: &[DataTable], language: Language) -> String {
    let column = match &order.by {
        OrderBy::Measure => None,
        OrderBy::Column(column) => Some(column),
    };
    let is_time =
        column.and_then(|column| find(column, tables)).is_some_and(|column| column.kind.is_time());
    let (english, chinese) = match (order.descending, is_time) {
        (true, false) => ("the greatest first", "从大到小"),
        (false, false) => ("the least first", "从小到大"),
        (true, true) => ("the latest first", "从晚到早"),
        (false, true) => ("the earliest first", "从早到晚"),
    };
    match (column.map(|column| name(column, tables)), language) {
        (None, Language::English) => format!("; {english}"),
        (None, Language::Chinese) => format!("；{chinese}"),
        (Some(column), Language::English) => format!("; by {column}, {english}"),
        (Some(column), Language::Chinese) => format!("；按 {column} {chinese}"),
    }
}

fn with_period(column: &str, english: &str, chinese: &str, language: Language) -> String {
    match language {
        Language::English => format!("{english} of {column}"),
        Language::Chinese => format!("{column}（{chinese}）"),
    }
}

fn aggregate(function: Aggregate, column: Option<&str>, language: Language) -> String {
    let Some(column) = column else {
        return language.either("number of rows", "行数").to_owned();
    };
    let (english, chinese) = match function {
        Aggregate::Count => ("number of rows with", "有值的行数："),
        Aggregate::Distinct => ("number of different values of", "不同取值的个数："),
        Aggregate::Sum => ("sum of", "总和："),
        Aggregate::Mean => ("mean of", "平均值："),
        Aggregate::Median => ("median of", "中位数："),
        Aggregate::Least => ("least", "最小值："),
        Aggregate::Greatest => ("greatest", "最大值："),
    };
    match language {
        Language::English => format!("{english} {column}"),
        Language::Chinese => format!("{chinese}{column}"),
    }
}

pub(crate) fn filter_words(
    filter: &TableFilter,
    tables: &[DataTable],
    language: Language,
) -> String {
    let column = name(&filter.column, tables);
    let unit = find(&filter.column, tables).and_then(|column| column.unit.as_deref());
    let value = |value: &DataValue| data_value(value, unit, language);
    let title = |column: &ColumnRef| {
        let table = tables.iter().find(|table| table.name == column.table);
        table.map_or_else(|| column.table.clone(), |table| table.title.clone())
    };
    let any = |values: &[DataValue]| {
        let named: Vec<String> = values.iter().take(NAMED).map(value).collect();
        let more = values.len().saturating_sub(NAMED);
        let mut named = named.join(language.either(" or ", " 或 "));
        if 0 < more {
            let _ = write!(named, "{} {more}", language.either(", more:", "，另有"));
        }
        named
    };
    match &filter.test {
        TableTest::Is(values) => format!("{column} = {}", any(values)),
        TableTest::IsNot(values) => format!("{column} ≠ {}", any(values)),
        TableTest::Contains(words) => match language {
            Language::English => format!("{column} contains “{words}”"),
            Language::Chinese => format!("{column} 含“{words}”"),
        },
        TableTest::Between { from, from_included, to, to_included } => {
            let from = from.as_ref().map(|from| {
                format!("{column} {} {}", if *from_included { "≥" } else { ">" }, value(from))
            });
            let to = to.as_ref().map(|to| {
                format!("{column} {} {}", if *to_included { "≤" } else { "<" }, value(to))
            });
            let both: Vec<String> = from.into_iter().chain(to).collect();
            both.join(language.either(" and ", " 且 "))
        }
        TableTest::Within(period) => match language {
            Language::English => format!("{column} in {period}"),
            Language::Chinese => format!("{column} 在 {period}"),
        },
        TableTest::InMonths(months) => {
            let named: Vec<String> = months.iter().map(u8::to_string).collect();
            match language {
                Language::English => format!("month of {column} = {}", named.join(" or ")),
                Language::Chinese => format!("{column} 的月份 = {}", named.join(" 或 ")),
            }
        }
        TableTest::MoreThan(other) => format!("{column} > {}", name(other, tables)),
        TableTest::Combined { with, range } => {
            range_words(&combined(&filter.column, with, tables, language), range, language)
        }
        TableTest::AnyOf(filters) => {
            let each: Vec<String> =
                filters.iter().map(|filter| filter_words(filter, tables, language)).collect();
            each.join(language.either(" or ", " 或 "))
        }
        TableTest::Among { column: other, filters, is_in } => {
            let mut words = match (is_in, language) {
                (true, Language::English) => format!("{column} occurs in {}", title(other)),
                (false, Language::English) => {
                    format!("{column} does not occur in {}", title(other))
                }
                (true, Language::Chinese) => format!("{column} 出现在 {}", title(other)),
                (false, Language::Chinese) => format!("{column} 未出现在 {}", title(other)),
            };
            for filter in filters {
                words.push_str(language.either(" with ", "，且 "));
                words.push_str(&filter_words(filter, tables, language));
            }
            words
        }
        TableTest::BesideMean { above } => match (above, language) {
            (true, Language::English) => format!("{column} above its mean"),
            (false, Language::English) => format!("{column} below its mean"),
            (true, Language::Chinese) => format!("{column} 高于平均值"),
            (false, Language::Chinese) => format!("{column} 低于平均值"),
        },
        TableTest::IsEmpty => format!("{column} {}", language.either("is empty", "为空")),
        TableTest::IsFilled => format!("{column} {}", language.either("is not empty", "不为空")),
    }
}

fn find<'a>(column: &ColumnRef, tables: &'a [DataTable]) -> Option<&'a DataColumn> {
    let table = tables.iter().find(|table| table.name == column.table)?;
    table.columns.iter().find(|found| found.sql == column.column)
}

fn name(column: &ColumnRef, tables: &[DataTable]) -> String {
    find(column, tables).map_or_else(|| column.column.clone(), |found| found.name.clone())
}

/// The rows of a result: the first cell of each, with the other cells in parentheses.
pub fn data_rows(
    rows: &[Vec<(DataValue, Option<String>)>],
    all: usize,
    language: Language,
) -> String {
    let row = |cells: &Vec<(DataValue, Option<String>)>| {
        let mut shown =
            cells.iter().map(|(value, unit)| data_value(value, unit.as_deref(), language));
        let first = shown.next().unwrap_or_default();
        let rest: Vec<String> = shown.collect();
        match (rest.is_empty(), language) {
            (true, _) => first,
            (false, Language::English) => format!("{first} ({})", rest.join(", ")),
            (false, Language::Chinese) => format!("{first}（{}）", rest.join("，")),
        }
    };
    let shown: Vec<String> = rows.iter().map(row).collect();
    crate::figures::listed(&shown, all, language)
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::data::{ColumnKind, TableGroup, TableMeasure};

    use super::*;

    fn repairs() -> DataTable {
        let column = |name: &str, sql: &str, unit: Option<&str>| DataColumn {
            name: name.to_owned(),
            sql: sql.to_owned(),
            unit: unit.map(str::to_owned),
            ..DataColumn::default()
        };
        DataTable {
            name: "repairs".to_owned(),
            title: "repairs 2025".to_owned(),
            columns: vec![
                column("machine", "machine", None),
                column("cost", "cost", Some("€")),
                DataColumn { kind: ColumnKind::Date, ..column("date", "date", None) },
            ],
            ..DataTable::default()
        }
    }

    fn of(column: &str) -> ColumnRef {
        ColumnRef { table: "repairs".to_owned(), column: column.to_owned() }
    }

    #[test]
    fn a_plan_is_worded_in_both_languages() {
        let text = |text: &str| DataValue::Text(text.to_owned());
        let plan = TablePlan {
            table: "repairs".to_owned(),
            filters: vec![
                TableFilter {
                    column: of("machine"),
                    test: TableTest::Is(vec![text("lathe"), text("mill")]),
                },
                TableFilter {
                    column: of("cost"),
                    test: TableTest::Between {
                        from: Some(DataValue::Integer(100)),
                        from_included: false,
                        to: None,
                        to_included: false,
                    },
                },
            ],
            group: vec![TableGroup { column: of("date"), by: By::Year }],
            measures: vec![TableMeasure {
                function: Aggregate::Sum,
                column: Some(of("cost")),
                ..TableMeasure::default()
            }],
            order: Some(TableOrder { by: OrderBy::Measure, descending: true }),
            limit: Some(1),
            ..TablePlan::default()
        };
        let words = |language| plan_words(&plan, &[repairs()], language);
        assert_eq!(
            words(Language::English),
            "sum of cost in repairs 2025; machine = lathe or mill; cost > 100 €; for each year of date; the greatest first"
        );
        assert_eq!(
            words(Language::Chinese),
            "repairs 2025：总和：cost；machine = lathe 或 mill；cost > 100 €；按 date（年） 分组；从大到小"
        );
    }

    #[test]
    fn an_order_names_its_column() {
        let words = |by: &str, descending: bool, language: Language| {
            let plan = TablePlan {
                table: "repairs".to_owned(),
                show: vec![of("machine")],
                order: Some(TableOrder { by: OrderBy::Column(of(by)), descending }),
                limit: Some(1),
                ..TablePlan::default()
            };
            plan_words(&plan, &[repairs()], language)
        };
        for (by, descending, language, expected) in [
            (
                "cost",
                true,
                Language::English,
                "machine in repairs 2025; by cost, the greatest first",
            ),
            (
                "date",
                false,
                Language::English,
                "machine in repairs 2025; by date, the earliest first",
            ),
            ("cost", false, Language::Chinese, "repairs 2025：machine；按 cost 从小到大"),
            ("date", true, Language::Chinese, "repairs 2025：machine；按 date 从晚到早"),
        ] {
            assert_eq!(words(by, descending, language), expected);
        }
    }

    #[test]
    fn rows_are_worded() {
        let row = vec![
            (DataValue::Text("lathe".to_owned()), None),
            (DataValue::Integer(330), Some("€".to_owned())),
        ];
        assert_eq!(
            data_rows(std::slice::from_ref(&row), 3, Language::English),
            "lathe (330 €); and 2 more"
        );
        assert_eq!(data_rows(&[row], 1, Language::Chinese), "lathe（330 €）");
    }
}
