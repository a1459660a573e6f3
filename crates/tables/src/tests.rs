//! Reads questions over three small tables: repairs of machines, suppliers, sales by month.

mod ahead;
mod company;
mod doubts;
mod elsewhere;
mod long;
mod survive;

use std::collections::HashMap;

use crate::{Catalog, Computation, Form, Reading, TableView, joins, readings};
use pikerag_knowledge::data::{
    Aggregate, Arithmetic, ColumnKind, ColumnRef, DataColumn, DataTable, DataValue, NumberRange,
    OrderBy, TableFilter, TableMeasure, TablePlan, TableTerm, TableTest,
};
use pikerag_knowledge::tables::By;

/// Repairs with dates and costs, and the codes of their suppliers.
const REPAIRS: &str = "\
Date:date|Machine:category|Fault:category|Supplier code:category|Cost (EUR):integer|Downtime (hours):real|Engineer:category
2021-01-10|Press|Leak|S1|400|3.5|Meyer
2021-03-02|Crane|Motor|S2|1200|12|Brandt
2021-07-19|Press|Motor|S1|900|7|
2022-02-11|Lathe|Leak|S3|250|2|Meyer
2022-05-30|Crane|Cable|S2|1600|20|Brandt
2022-11-08|Press|Leak|S1|350|3|";

/// Suppliers, in Chinese.
const SUPPLIERS: &str = "\
供应商代码:identifier|名称:identifier|城市:category|成立年份:year|员工人数:integer
S1|华东机械|上海市|1995|320
S2|北方重工|沈阳市|1978|1500
S3|南海电缆|广州市|2003|90
S4|西部轴承|上海市|1988|410";

/// Sales of products, with a column for each month.
const SALES: &str = "\
Product:identifier|Sector:category|January 2023:integer|February 2023:integer
Pump|Water|120|150
Valve|Water|80|60
Filter|Air|200|220";

fn kind(name: &str) -> ColumnKind {
    match name {
        "date" => ColumnKind::Date,
        "category" => ColumnKind::Category,
        "identifier" => ColumnKind::Identifier,
        "integer" => ColumnKind::Integer,
        "real" => ColumnKind::Real,
        "year" => ColumnKind::Year,
        "boolean" => ColumnKind::Boolean,
        "text" => ColumnKind::Text,
        other => panic!("no kind of column: {other}"),
    }
}

/// A table whose columns are called as in SQL: `c0`, `c1`, ….
pub(crate) fn table(name: &str, title: &str, text: &str) -> TableView {
    let mut lines = text.lines().map(|line| line.split('|').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (at, head) in header.iter().enumerate() {
        let (name, kind_name) = head.rsplit_once(':').unwrap();
        let (name, unit) = match name.split_once(" (") {
            Some((name, unit)) => (name, Some(unit.trim_end_matches(')').to_owned())),
            None => (name, None),
        };
        let cells: Vec<&str> =
            rows.iter().map(|row| row[at]).filter(|cell| !cell.is_empty()).collect();
        let mut distinct: Vec<String> = Vec::new();
        for cell in &cells {
            if !distinct.iter().any(|held| held == cell) {
                distinct.push((*cell).to_owned());
            }
        }
        let numbers: Vec<f64> = cells.iter().filter_map(|cell| cell.parse().ok()).collect();
        let kind = kind(kind_name);
        let is_number = kind.is_measure() || kind == ColumnKind::Year;
        let end = |number: Option<f64>, text: Option<&&str>| match kind {
            ColumnKind::Date => text.map(|text| (*text).to_owned()),
            _ => number.map(|number| number.to_string()),
        };
        columns.push(DataColumn {
            name: name.to_owned(),
            sql: format!("c{at}"),
            kind,
            unit,
            filled: cells.len() as u64,
            distinct: distinct.len() as u64,
            least: end(numbers.iter().copied().reduce(f64::min), cells.iter().min()),
            greatest: end(numbers.iter().copied().reduce(f64::max), cells.iter().max()),
            ..DataColumn::default()
        });
        values.push(if is_number || kind == ColumnKind::Date { Vec::new() } else { distinct });
    }
    let table = DataTable {
        name: name.to_owned(),
        title: title.to_owned(),
        columns,
        rows: rows.len() as u64,
        ..DataTable::default()
    };
    TableView::new(table, values)
}

pub(crate) fn catalog() -> Catalog {
    Catalog {
        tables: vec![
            table("repairs", "repairs", REPAIRS),
            table("suppliers", "供应商", SUPPLIERS),
            table("sales", "sales", SALES),
        ],
    }
}

fn best(question: &str) -> Option<Reading> {
    readings(question, &catalog()).into_iter().next()
}

/// The best reading in one line: `unsure` before one that is not certain, `-` for none.
fn shown(question: &str) -> String {
    best(question).map_or_else(|| "-".to_owned(), |reading| one_line(&reading, &catalog()))
}

/// A reading in one line, with the names of the catalog.
pub(crate) fn one_line(reading: &Reading, catalog: &Catalog) -> String {
    let sure = if reading.is_certain() { "" } else { "unsure " };
    let plan = |it: &TablePlan| plan_over(it, catalog);
    let plans = match &reading.computation {
        Computation::One(one) => plan(one),
        Computation::Difference(first, second) => format!("{} → {}", plan(first), plan(second)),
        Computation::Growth(first, second) => format!("{} →% {}", plan(first), plan(second)),
        Computation::Share(part, whole) => format!("{} of {}", plan(part), plan(whole)),
        Computation::Ratio(first, second) => format!("{} / {}", plan(first), plan(second)),
        Computation::Compare { names: [first, second], plans, greater } => {
            let sign = if *greater { '>' } else { '<' };
            format!("{first}: {} {sign} {second}: {}", plan(&plans[0]), plan(&plans[1]))
        }
    };
    let nth = reading.nth.map(|nth| format!(" no. {nth}")).unwrap_or_default();
    let form = match reading.form {
        Form::Figure => "",
        Form::Things => " (things)",
        Form::Groups => " (groups)",
        Form::Exists => " (exists)",
    };
    format!("{sure}{plans}{nth}{form}")
}

pub(crate) fn plan(plan: &TablePlan) -> String {
    plan_over(plan, &catalog())
}

fn plan_over(plan: &TablePlan, catalog: &Catalog) -> String {
    let name = |column: &ColumnRef| name_in(column, catalog);
    let mut parts = vec![plan.table.clone()];
    parts.extend(plan.joins.iter().map(|join| format!("+ {}", name(&join.to))));
    parts.extend(plan.filters.iter().map(|filter| format!("[{}]", filter_in(filter, catalog))));
    let measures = plan.measures.iter().map(|measure| measure_in(measure, catalog));
    match plan.over {
        Some(over) => {
            parts.push(format!("{}({})", function(over), measures.collect::<Vec<_>>().join(" ")));
        }
        None => parts.extend(measures),
    }
    if !plan.show.is_empty() {
        parts.push(plan.show.iter().map(name).collect::<Vec<_>>().join(", "));
    }
    for group in &plan.group {
        let by = if group.by == By::Value { "" } else { " by period" };
        parts.push(format!("per {}{by}", name(&group.column)));
    }
    for filter in &plan.having {
        let measure = measure_in(&filter.measure, catalog);
        parts.push(format!("having {measure} {}", range(&filter.range)));
    }
    if let Some(order) = &plan.order {
        let arrow = if order.descending { '↓' } else { '↑' };
        let by = match &order.by {
            OrderBy::Measure => String::new(),
            OrderBy::Column(column) => name(column),
        };
        parts.push(format!("{arrow}{by}"));
    }
    parts.extend(plan.limit.map(|limit| format!("limit {limit}")));
    parts.join(" ")
}

fn function(function: Aggregate) -> &'static str {
    match function {
        Aggregate::Count => "count",
        Aggregate::Distinct => "distinct",
        Aggregate::Sum => "sum",
        Aggregate::Mean => "mean",
        Aggregate::Median => "median",
        Aggregate::Least => "least",
        Aggregate::Greatest => "greatest",
    }
}

fn measure_in(measure: &TableMeasure, catalog: &Catalog) -> String {
    let column = measure.column.as_ref().map(|it| name_in(it, catalog)).unwrap_or_default();
    let with = measure.with.as_ref().map(|with| term_in(with, catalog)).unwrap_or_default();
    let only: Vec<String> =
        measure.only.iter().map(|filter| format!(" [{}]", filter_in(filter, catalog))).collect();
    let share = if measure.is_share { " %" } else { "" };
    format!("{}({column}{with}{}){share}", function(measure.function), only.join(""))
}

fn term_in(term: &TableTerm, catalog: &Catalog) -> String {
    let sign = if term.by == Arithmetic::DaysSince { "days since" } else { term.by.sign() };
    format!(" {sign} {}", name_in(&term.column, catalog))
}

fn filter_in(filter: &TableFilter, catalog: &Catalog) -> String {
    let column = name_in(&filter.column, catalog);
    let all = |filters: &[TableFilter]| -> Vec<String> {
        filters.iter().map(|filter| filter_in(filter, catalog)).collect()
    };
    match &filter.test {
        TableTest::MoreThan(other) => format!("{column} > {}", name_in(other, catalog)),
        TableTest::Combined { with, range: within } => {
            format!("{column}{} {}", term_in(with, catalog), range(within))
        }
        TableTest::AnyOf(filters) => all(filters).join(" or "),
        TableTest::Among { column: other, filters, is_in } => {
            let sign = if *is_in { "in" } else { "not in" };
            let held = std::iter::once(name_in(other, catalog)).chain(all(filters));
            format!("{column} {sign} {}.{}", other.table, held.collect::<Vec<_>>().join(" with "))
        }
        test => format!("{column} {}", condition(test)),
    }
}

fn range(range: &NumberRange) -> String {
    let from = range.from.map(|it| format!("{} {it}", if range.from_included { "≥" } else { ">" }));
    let to = range.to.map(|it| format!("{} {it}", if range.to_included { "≤" } else { "<" }));
    from.into_iter().chain(to).collect::<Vec<_>>().join(" ")
}

/// A column by its name in the header; one of another catalog by its table and its name in SQL.
fn name_in(column: &ColumnRef, catalog: &Catalog) -> String {
    let names: HashMap<String, String> = catalog
        .tables
        .iter()
        .flat_map(|view| {
            let table = view.table.name.clone();
            view.table
                .columns
                .iter()
                .map(move |it| (format!("{table}.{}", it.sql), it.name.clone()))
        })
        .collect();
    let key = format!("{}.{}", column.table, column.column);
    names.get(&key).cloned().unwrap_or(key)
}

fn condition(test: &TableTest) -> String {
    let value = |value: &DataValue| match value {
        DataValue::Empty => "nothing".to_owned(),
        DataValue::Integer(number) => number.to_string(),
        DataValue::Real(number) => format!("{number:?}"),
        DataValue::Text(words) => words.clone(),
    };
    let values = |values: &[DataValue]| values.iter().map(value).collect::<Vec<_>>().join(" or ");
    match test {
        TableTest::Is(held) => format!("= {}", values(held)),
        TableTest::IsNot(held) => format!("≠ {}", values(held)),
        TableTest::Contains(part) => format!("~ {part}"),
        TableTest::Within(period) => format!("in {period}"),
        TableTest::Between { from, from_included, to, to_included } => {
            let (from_sign, to_sign) =
                (if *from_included { "≥" } else { ">" }, if *to_included { "≤" } else { "<" });
            let from = from.as_ref().map(|it| format!("{from_sign} {}", value(it)));
            let to = to.as_ref().map(|it| format!("{to_sign} {}", value(it)));
            from.into_iter().chain(to).collect::<Vec<_>>().join(" ")
        }
        TableTest::IsEmpty => "is empty".to_owned(),
        TableTest::IsFilled => "is filled".to_owned(),
        other => format!("{other:?}"),
    }
}

fn check(cases: &[(&str, &str)]) {
    let found: Vec<(&str, String)> =
        cases.iter().map(|(question, _)| (*question, shown(question))).collect();
    let differs: Vec<String> = found
        .iter()
        .zip(cases)
        .filter(|((_, found), (_, expected))| found != expected)
        .map(|((question, found), (_, expected))| {
            format!("{question}\n  found    {found}\n  expected {expected}")
        })
        .collect();
    assert!(differs.is_empty(), "\n{}", differs.join("\n"));
}

#[test]
fn periods_of_a_date_make_groups() {
    check(&[
        ("How many repairs per month?", "repairs count() per Date by period (groups)"),
        (
            "How many repairs were there in each year?",
            "repairs count() per Date by period (groups)",
        ),
        (
            "How many repairs in each quarter of 2022?",
            "repairs [Date in 2022] count() per Date by period (groups)",
        ),
        (
            "What is the total cost of the repairs per year?",
            "repairs sum(Cost) per Date by period (groups)",
        ),
        (
            "How many repairs of the press per year?",
            "repairs [Machine = Press] count() per Date by period (groups)",
        ),
        ("维修记录里每年有多少次维修？", "repairs count() per Date by period (groups)"),
        ("各成立年份有多少家供应商？", "suppliers count() per 成立年份 (groups)"),
        // A group of another column does not place the period.
        (
            "Which machine had the most repairs per month?",
            "unsure repairs count() per Machine ↓ limit 1 (things)",
        ),
        // The mean of rows and the mean of years differ; suppliers have no months.
        ("What is the average cost of the repairs per year?", "unsure repairs mean(Cost)"),
        ("How many suppliers per month?", "unsure repairs count() per Date by period (groups)"),
    ]);
}

#[test]
fn things_are_chosen_by_their_number_of_rows() {
    check(&[
        (
            "Which machines had more than 2 repairs?",
            "repairs count() per Machine having count() > 2 (groups)",
        ),
        (
            "How many machines had at least 3 repairs?",
            "repairs count(count()) per Machine having count() ≥ 3",
        ),
        (
            "How many machines were repaired more than 2 times in 2021?",
            "repairs [Date in 2021] count(count()) per Machine having count() > 2",
        ),
        (
            "Which machines had exactly 1 repair?",
            "repairs count() per Machine having count() ≥ 1 ≤ 1 (groups)",
        ),
        // A machine without a repair is in no row.
        ("How many machines had fewer than 3 repairs?", "unsure repairs distinct(Machine)"),
        ("哪些设备的维修超过2次？", "repairs count() per Machine having count() > 2 (groups)"),
        ("维修次数超过2次的设备有几台？", "repairs count(count()) per Machine having count() > 2"),
        (
            "Which machine had the most repairs, more than 2 repairs?",
            "unsure repairs count() per Machine ↓ limit 1 (things)",
        ),
    ]);
}

#[test]
fn days_between_two_dates_are_a_measure() {
    let orders = "\
Order no:identifier|Customer:category|Ordered:date|Delivered:date|Amount (EUR):integer
A-1|Brandt|2024-01-03|2024-01-10|100
A-2|Meyer|2024-02-01|2024-02-03|250
A-3|Brandt|2024-02-05|2024-03-20|90";
    let catalog = Catalog { tables: vec![table("orders", "orders", orders)] };
    let found = |question: &str| {
        let best = readings(question, &catalog).into_iter().next();
        format!("{question}\n  {}", best.map_or("-".to_owned(), |best| one_line(&best, &catalog)))
    };
    let all: Vec<String> = [
        "How many days on average from order to delivery?",
        "What is the average number of days between ordering and delivery for Brandt?",
        "How many days were there between delivery and order of A-2?",
        "Which order took the longest from order to delivery, in days?",
        "How many orders took more than 10 days from order to delivery?",
        "How many days were there between order and delivery?",
        "从下单到交货平均用了多少天？",
        "A-3从下单到交货用了几天？",
        "从下单到交货超过10天的订单有多少个？",
        "How many orders were delivered in February 2024?",
    ]
    .map(found)
    .to_vec();
    insta::assert_snapshot!(all.join("\n"));
}

/// Orders with dates whose names are of two words.
#[test]
fn rows_are_counted_with_their_values() {
    let orders = "\
Order no:identifier|Customer:category|Order date:date|Delivery date:date|Amount (EUR):integer|Status:category
A-1|Brandt|2024-01-03|2024-01-10|100|delivered
A-2|Meyer|2024-02-01|2024-02-03|250|delivered
A-3|Brandt|2024-02-05|2024-03-20|90|late
A-4|Keller|2024-02-07||400|open
A-5|Brandt|2024-03-01|2024-03-05|80|delivered";
    let catalog = Catalog { tables: vec![table("orders", "orders", orders)] };
    let found = |question: &str| {
        let best = readings(question, &catalog).into_iter().next();
        format!("{question}\n  {}", best.map_or("-".to_owned(), |best| one_line(&best, &catalog)))
    };
    let all: Vec<String> = [
        "How many customers have at least 3 delivered orders?",
        "How many customers have more than one order?",
        "Which customers placed more than 2 orders?",
        "哪些客户的订单超过2个？",
        "订单超过2笔的客户有几个？",
        "How many orders have more than 2 delivered orders?",
        "How many orders are above 90 EUR?",
        "How many days on average from order to delivery?",
        "What is the average number of days from order to delivery?",
        "How many days does it take on average from order to delivery?",
        "How many orders took more than 20 days from order to delivery?",
        "Which order took the longest from order to delivery in days?",
        "A-3从下单到交货用了几天？",
    ]
    .map(found)
    .to_vec();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn counts_take_all_conditions() {
    check(&[
        (
            "How many repairs of the Press had the fault Leak?",
            "repairs [Machine = Press] [Fault = Leak] count()",
        ),
        (
            "How many repairs of the Crane cost more than 1,500 euros?",
            "repairs [Cost > 1500] [Machine = Crane] count()",
        ),
        ("Press在2021年有多少次维修？", "repairs [Date in 2021] [Machine = Press] count()"),
    ]);
}

#[test]
fn sums_and_means_take_a_period() {
    check(&[
        ("What was the total cost of repairs in 2021?", "repairs [Date in 2021] sum(Cost)"),
        ("What was the average downtime of the Crane?", "repairs [Machine = Crane] mean(Downtime)"),
        ("2022年的维修费用总共是多少？", "repairs [Date in 2022] sum(Cost)"),
        ("上海市供应商的平均员工人数是多少？", "suppliers [城市 = 上海市] mean(员工人数)"),
    ]);
}

#[test]
fn superlatives_ask_for_a_thing_or_a_figure() {
    check(&[
        (
            "Which machine had the most expensive repair?",
            "repairs Machine, Cost ↓Cost limit 1 (things)",
        ),
        ("What was the longest downtime?", "repairs greatest(Downtime)"),
        ("哪家供应商的员工人数最多？", "suppliers 名称, 员工人数 ↓员工人数 limit 1 (things)"),
        ("成立最早的供应商是哪一家？", "suppliers 名称, 成立年份 ↑成立年份 limit 1 (things)"),
    ]);
}

#[test]
fn limits_and_ranks_reach_the_plan() {
    check(&[
        (
            "Which three products had the highest sales in January 2023?",
            "sales Product, January 2023 ↓January 2023 limit 3 (things)",
        ),
        (
            "员工人数最多的前三家供应商是哪些？",
            "suppliers 名称, 员工人数 ↓员工人数 limit 3 (things)",
        ),
        (
            "Which machine had the second most repairs?",
            "repairs count() per Machine ↓ limit 2 no. 2 (things)",
        ),
        (
            "员工人数第二多的供应商是哪家？",
            "suppliers 名称, 员工人数 ↓员工人数 limit 2 no. 2 (things)",
        ),
    ]);
}

#[test]
fn groups_get_a_figure_each() {
    check(&[
        ("How many repairs were there per machine?", "repairs count() per Machine (groups)"),
        ("What is the average cost for each fault?", "repairs mean(Cost) per Fault (groups)"),
        (
            "What is the highest cost for each machine?",
            "repairs greatest(Cost) per Machine (groups)",
        ),
        ("各城市最少的员工人数是多少？", "suppliers least(员工人数) per 城市 (groups)"),
        (
            "What is the highest cost of a repair per year?",
            "repairs greatest(Cost) per Date by period (groups)",
        ),
        ("每个城市有多少家供应商？", "suppliers count() per 城市 (groups)"),
        ("各城市供应商的员工人数加起来是多少？", "suppliers sum(员工人数)"),
    ]);
}

#[test]
fn changes_take_two_plans() {
    check(&[
        (
            "What is the difference in total cost between 2021 and 2022?",
            "repairs [Date in 2021] sum(Cost) → repairs [Date in 2022] sum(Cost)",
        ),
        // The period behind `than` is the one to start from.
        (
            "How much more was the total cost in 2022 than in 2021?",
            "repairs [Date in 2021] sum(Cost) → repairs [Date in 2022] sum(Cost)",
        ),
        (
            "How much less was the total cost in 2021 than in 2022?",
            "repairs [Date in 2021] sum(Cost) → repairs [Date in 2022] sum(Cost)",
        ),
        (
            "维修记录里2022年的费用合计比2021年多多少？",
            "repairs [Date in 2021] sum(Cost) → repairs [Date in 2022] sum(Cost)",
        ),
        (
            "How many more repairs were there in 2022 than in 2021?",
            "repairs [Date in 2021] count() → repairs [Date in 2022] count()",
        ),
        (
            "By what percentage was the total cost higher in 2022 than in 2021?",
            "repairs [Date in 2021] sum(Cost) →% repairs [Date in 2022] sum(Cost)",
        ),
        (
            "By what percentage did the sales of the Pump grow from January 2023 to February 2023?",
            "sales [Product = Pump] January 2023 →% sales [Product = Pump] February 2023",
        ),
        (
            "华东机械和北方重工的员工人数相差多少？",
            "suppliers [名称 = 北方重工] 员工人数 → suppliers [名称 = 华东机械] 员工人数",
        ),
    ]);
}

#[test]
fn shares_divide_counts() {
    check(&[(
        "What percentage of the repairs were of the Press?",
        "repairs [Machine = Press] count() of repairs count()",
    )]);
}

#[test]
fn two_things_are_compared() {
    check(&[
        (
            "Which had more repairs, the Press or the Crane?",
            "Press: repairs [Machine = Press] count() > Crane: repairs [Machine = Crane] count() (things)",
        ),
        (
            "华东机械和西部轴承哪家员工人数更多？",
            "华东机械: suppliers [名称 = 华东机械] 员工人数 > 西部轴承: suppliers [名称 = 西部轴承] 员工人数 (things)",
        ),
    ]);
}

#[test]
fn first_times_are_ordered_by_date() {
    check(&[(
        "When did the cost of a repair first exceed 1000 euros?",
        "repairs [Cost > 1000] Date ↑Date limit 1 (things)",
    )]);
}

#[test]
fn codes_are_looked_up() {
    check(&[
        ("What is the name of supplier code S2?", "suppliers [供应商代码 = S2] 名称 (things)"),
        ("代码为S3的供应商在哪个城市？", "suppliers [供应商代码 = S3] 城市 (things)"),
    ]);
}

#[test]
fn joins_reach_columns_of_the_other_table() {
    check(&[(
        "How many repairs were done by the supplier 北方重工?",
        "repairs + 供应商代码 [名称 = 北方重工] count()",
    )]);
    let found = joins(&catalog());
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn missing_values_and_negations_are_conditions() {
    check(&[
        ("How many repairs have no engineer recorded?", "repairs [Engineer is empty] count()"),
        ("How many repairs were not of the Press?", "repairs [Machine ≠ Press] count()"),
        ("不在上海市的供应商有多少家？", "suppliers [城市 ≠ 上海市] count()"),
    ]);
}

#[test]
fn words_without_a_place_make_a_reading_unsure() {
    check(&[
        (
            "How many painted repairs of the Press had a purple Leak?",
            "unsure repairs [Machine = Press] [Fault = Leak] count()",
        ),
        ("How many repairs did the Press not need?", "unsure repairs [Machine = Press] count()"),
        (
            "Which machine had the highest cost and the lowest downtime?",
            "unsure repairs Machine, Cost ↓Cost limit 1 (things)",
        ),
        (
            "What was the total cost in January 2021 and March 2021?",
            "unsure repairs [Date ≥ 2021-01 ≤ 2021-03] sum(Cost)",
        ),
    ]);
}

#[test]
fn months_need_more_than_a_column_of_years() {
    let catalog = Catalog { tables: vec![table("suppliers", "供应商", SUPPLIERS)] };
    let is_certain =
        |question| readings(question, &catalog).first().is_some_and(Reading::is_certain);
    assert!(is_certain("1988年有多少家供应商？"));
    assert!(!is_certain("1988年7月有多少家供应商？"));
}
