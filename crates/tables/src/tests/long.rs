//! Makes long tables of wide ones, and reads questions over them.

use std::collections::BTreeSet;

use pikerag_knowledge::data::{DataColumn, DataTable, DataValue};
use pikerag_knowledge::{RowPlace, RowReader};

use crate::{Catalog, TableView, readings};
use pikerag_typing::TypedRows;

/// A table of a document: where it stands, as `file > heading | caption`, its header and its rows.
struct Part<'a>(&'a str, &'a str);

const ELECTRICITY: &str = "\
Plant|Region|Jan|Feb|Mar|Q1|Apr|Total
North|East|10|20|30|60|40|100
South|West|5|0|-|5|7|12
Total||15|20|30|65|47|112";

const CHINESE: &str = "\
工厂|1月|2月|3月|合计
甲厂|100|200|300|600
乙厂|50|60|400|510
合计|150|260|700|1110";

struct Made {
    columns: Vec<DataColumn>,
    rows: Vec<Vec<DataValue>>,
    left_out: u64,
}

fn made(parts: &[Part<'_>]) -> Made {
    let mut reader = TypedRows::default();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect();
    let mut tables: Vec<Vec<Vec<String>>> = Vec::new();
    let mut places: Vec<(&str, Vec<String>, &str)> = Vec::new();
    for Part(place, text) in parts {
        let (path, caption) = place.split_once(" | ").unwrap_or((place, ""));
        let mut path = path.split(" > ");
        let file = path.next().unwrap();
        places.push((file, path.map(str::to_owned).collect(), caption));
        tables.push(text.lines().map(cells).collect());
    }
    reader.begin(&tables[0][0]);
    for ((file, headings, caption), rows) in places.iter().zip(&tables) {
        reader.enter(RowPlace { file, headings, caption });
        rows[1..].iter().for_each(|row| reader.see(row));
    }
    let columns = reader.settle();
    let (mut rows_made, mut left_out) = (Vec::new(), 0);
    for ((file, headings, caption), rows) in places.iter().zip(&tables) {
        reader.enter(RowPlace { file, headings, caption });
        for row in &rows[1..] {
            let mut values = Vec::new();
            left_out += reader.read(row, &mut values);
            assert_eq!(values.len() % columns.len(), 0);
            rows_made.extend(values.chunks(columns.len()).map(<[DataValue]>::to_vec));
        }
    }
    Made { columns, rows: rows_made, left_out }
}

fn shown(parts: &[Part<'_>]) -> String {
    let Made { columns, rows, left_out } = made(parts);
    let column = |column: &DataColumn| {
        let unit = column.unit.as_ref().map(|unit| format!(" ({unit})")).unwrap_or_default();
        format!("{}{unit} {}", column.sql, column.kind.as_str())
    };
    let row =
        |row: &Vec<DataValue>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
    let head = columns.iter().map(column).collect::<Vec<_>>().join(" | ");
    let rows = rows.iter().map(row).collect::<Vec<_>>().join("\n");
    format!("{head}\n{rows}\n{left_out} left out")
}

#[test]
fn months_become_rows_without_their_totals() {
    insta::assert_snapshot!(shown(&[Part("use.xlsx > 2024 | Electricity use by plant, kWh", ELECTRICITY)]), @"
    plant category | region category | month date | electricity_use (kWh) integer
    North | East | 2024-01 | 10
    North | East | 2024-02 | 20
    North | East | 2024-03 | 30
    North | East | 2024-04 | 40
    South | West | 2024-01 | 5
    South | West | 2024-02 | 0
    South | West | 2024-04 | 7
    5 left out
    ");
}

#[test]
fn months_of_no_year_keep_their_names() {
    insta::assert_snapshot!(shown(&[Part("use.csv", "Plant|Jan|Feb|Mar\nA|1|2|3\nB|4|5|")]), @"
    plant category | month category | use integer
    A | Jan | 1
    A | Feb | 2
    A | Mar | 3
    B | Jan | 4
    B | Feb | 5
    0 left out
    ");
    // Of two years.
    insta::assert_snapshot!(shown(&[Part("budget_2024.csv", "Plant|Oct|Nov|Dec|Jan\nA|1|2|3|4")]), @"
    plant category | month category | budget integer
    A | Oct | 1
    A | Nov | 2
    A | Dec | 3
    A | Jan | 4
    0 left out
    ");
}

#[test]
fn years_become_rows() {
    let table = "Country|Code|2019|2020|2021\nChad|TD|1.5|..|2\nMali|ML|3|4|5";
    insta::assert_snapshot!(shown(&[Part("gdp.csv", table)]), @"
    country category | code identifier | year year | gdp real
    Chad | TD | 2019 | 1.5
    Chad | TD | 2021 | 2
    Mali | ML | 2019 | 3
    Mali | ML | 2020 | 4
    Mali | ML | 2021 | 5
    0 left out
    ");
}

#[test]
fn quarters_take_their_year_from_the_title() {
    let table = "Region|Q1|Q2|Q3|Q4|Full year\nNorth|1|2|3|4|10\nSouth|5|6|7|8|26";
    insta::assert_snapshot!(shown(&[Part("report.docx > Results | Table 2: Sales 2023 (EUR)", table)]), @"
    region category | quarter date | sales (EUR) integer
    North | 2023-Q1 | 1
    North | 2023-Q2 | 2
    North | 2023-Q3 | 3
    North | 2023-Q4 | 4
    South | 2023-Q1 | 5
    South | 2023-Q2 | 6
    South | 2023-Q3 | 7
    South | 2023-Q4 | 8
    2 left out
    ");
}

#[test]
fn a_column_of_years_gives_months_their_years() {
    let table = "Year|Jan|Feb|Mar\n1990|25.1|26|27.5\n1991|24|25|26";
    insta::assert_snapshot!(shown(&[Part("sea_temperature.csv", table)]), @"
    year year | month date | sea_temperature real
    1990 | 1990-01 | 25.1
    1990 | 1990-02 | 26
    1990 | 1990-03 | 27.5
    1991 | 1991-01 | 24
    1991 | 1991-02 | 25
    1991 | 1991-03 | 26
    0 left out
    ");
}

#[test]
fn chinese_months_become_rows() {
    insta::assert_snapshot!(shown(&[Part("用电.xlsx > 2024年 | 各厂用电量（千瓦时）", CHINESE)]), @"
    工厂 category | 月份 date | 用电量 (千瓦时) integer
    甲厂 | 2024-01 | 100
    甲厂 | 2024-02 | 200
    甲厂 | 2024-03 | 300
    乙厂 | 2024-01 | 50
    乙厂 | 2024-02 | 60
    乙厂 | 2024-03 | 400
    3 left out
    ");
}

#[test]
fn other_numbers_beside_periods_are_in_no_sum() {
    let table = "Plant|Floor area (m2)|Jan|Feb|Mar\nA|500|1|2|3\nB|700|4|5|6";
    insta::assert_snapshot!(shown(&[Part("a.csv", table)]), @"
    plant category | month category | value integer
    A | Jan | 1
    A | Feb | 2
    A | Mar | 3
    B | Jan | 4
    B | Feb | 5
    B | Mar | 6
    0 left out
    ");
    // As many other numbers as periods.
    let table = "Town|Area|Density|Births|2019|2020|2021\nA|500|1|2|3|4|5\nB|700|4|5|6|7|8";
    assert!(shown(&[Part("a.csv", table)]).starts_with("town identifier | area integer"));
    // Numbers of plants are their names.
    let table = "Plant|Jan|Feb|Mar\n1|1|2|3\n2|4|5|6";
    insta::assert_snapshot!(shown(&[Part("a.csv", table)]), @"
    plant identifier | month category | value integer
    1 | Jan | 1
    1 | Feb | 2
    1 | Mar | 3
    2 | Jan | 4
    2 | Feb | 5
    2 | Mar | 6
    0 left out
    ");
}

#[test]
fn sheets_of_two_years_are_distinguished() {
    let (first, second) = ("Plant|Jan|Feb|Mar\nA|1|2|3", "Plant|Jan|Feb|Mar\nA|4|5|6");
    insta::assert_snapshot!(shown(&[Part("use.xlsx > 2024", first), Part("use.xlsx > 2025", second)]), @"
    plant category | month date | use integer
    A | 2024-01 | 1
    A | 2024-02 | 2
    A | 2024-03 | 3
    A | 2025-01 | 4
    A | 2025-02 | 5
    A | 2025-03 | 6
    0 left out
    ");
    insta::assert_snapshot!(shown(&[Part("use.xlsx > North", first), Part("use.xlsx > South", second)]), @"
    plant category | month category | use integer | sheet category
    A | Jan | 1 | North
    A | Feb | 2 | North
    A | Mar | 3 | North
    A | Jan | 4 | South
    A | Feb | 5 | South
    A | Mar | 6 | South
    0 left out
    ");
    let (first, second) = ("工厂|产量\n甲|1\n乙|2", "工厂|产量\n甲|3\n乙|4");
    insta::assert_snapshot!(shown(&[Part("产量.xlsx > 2024年", first), Part("产量.xlsx > 2025年", second)]), @"
    工厂 category | 产量 integer | 年份 year
    甲 | 1 | 2024
    乙 | 2 | 2024
    甲 | 3 | 2025
    乙 | 4 | 2025
    0 left out
    ");
}

/// The view of a long table that is made of these parts.
fn view(name: &str, title: &str, parts: &[Part<'_>]) -> TableView {
    let Made { mut columns, rows, .. } = made(parts);
    let mut values: Vec<Vec<String>> = Vec::new();
    for (at, column) in columns.iter_mut().enumerate() {
        let filled = rows.iter().map(|row| &row[at]).filter(|value| **value != DataValue::Empty);
        let different: BTreeSet<String> = filled.clone().map(ToString::to_string).collect();
        column.filled = filled.count() as u64;
        column.distinct = different.len() as u64;
        if column.kind.is_time() {
            column.least = different.first().cloned();
            column.greatest = different.last().cloned();
        }
        let is_text = !column.kind.is_time() && !column.kind.is_measure();
        values.push(if is_text { different.into_iter().collect() } else { Vec::new() });
    }
    let (name, title, rows) = (name.to_owned(), title.to_owned(), rows.len() as u64);
    TableView::new(DataTable { name, title, columns, rows, ..DataTable::default() }, values)
}

/// The best reading over one table; `unsure` before one that is not certain.
fn read(question: &str, view: TableView) -> String {
    let best = readings(question, &Catalog { tables: vec![view] }).into_iter().next();
    let Some(reading) = best else { return "-".to_owned() };
    let sure = if reading.is_certain() { "" } else { "unsure " };
    let plans: Vec<String> = reading.computation.plans().into_iter().map(super::plan).collect();
    format!("{sure}{}", plans.join(" | "))
}

fn read_all(questions: &[&str], view: impl Fn() -> TableView) -> String {
    let line = |question: &&str| format!("{question} -> {}", read(question, view()));
    questions.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn questions_over_months_of_a_year_are_read() {
    let place = "use.xlsx > 2024 | Electricity use by plant, kWh";
    let table =
        "Plant|Jan|Feb|Mar|Apr|May|Jun|Jul\nA|1|2|3|4|5|6|7\nB|7|6|5|4|3|2|1\nC|1|1|1|1|1|1|1";
    let questions = [
        "What was the total electricity use in 2024?",
        "total electricity in 2024",
        "What was the total electricity use in Q1?",
        "What was the total electricity use in the first quarter of 2024?",
        "What was the total electricity use in the second quarter?",
        "Which plant used most electricity in March 2024?",
        "Which plant used the most electricity in March?",
        "Which plant used the most electricity in 2024?",
        "Which month was highest for plant B?",
        "Which month had the highest electricity use?",
        "Which quarter had the highest electricity use for plant B?",
        "How much electricity did plant A use in 2024?",
        "What was the electricity use of plant B in May 2024?",
        "How many plants are there?",
        "What was the average electricity use of plant C?",
    ];
    insta::assert_snapshot!(
        read_all(&questions, || view("use", "Electricity use by plant, kWh", &[Part(place, table)])),
        @"
        What was the total electricity use in 2024? -> use [use.month in 2024] sum(use.electricity_use)
        total electricity in 2024 -> use [use.month in 2024] sum(use.electricity_use)
        What was the total electricity use in Q1? -> use [use.month InMonths([1, 2, 3])] sum(use.electricity_use)
        What was the total electricity use in the first quarter of 2024? -> use [use.month in 2024-Q1] sum(use.electricity_use)
        What was the total electricity use in the second quarter? -> use [use.month InMonths([4, 5, 6])] sum(use.electricity_use)
        Which plant used most electricity in March 2024? -> use [use.month in 2024-03] use.plant, use.electricity_use ↓use.electricity_use limit 1
        Which plant used the most electricity in March? -> use [use.month InMonths([3])] use.plant, use.electricity_use ↓use.electricity_use limit 1
        Which plant used the most electricity in 2024? -> use [use.month in 2024] sum(use.electricity_use) per use.plant ↓ limit 1
        Which month was highest for plant B? -> use [use.plant = B] use.month, use.electricity_use ↓use.electricity_use limit 1
        Which month had the highest electricity use? -> use sum(use.electricity_use) per use.month by period ↓ limit 1
        Which quarter had the highest electricity use for plant B? -> unsure use [use.plant = B] sum(use.electricity_use) per use.month by period ↓ limit 1
        How much electricity did plant A use in 2024? -> use [use.month in 2024] [use.plant = A] sum(use.electricity_use)
        What was the electricity use of plant B in May 2024? -> use [use.month in 2024-05] [use.plant = B] use.electricity_use
        How many plants are there? -> use distinct(use.plant)
        What was the average electricity use of plant C? -> use [use.plant = C] mean(use.electricity_use)
        "
    );
}

#[test]
fn chinese_questions_over_months_are_read() {
    let questions = [
        "3月份哪个厂用电最多？",
        "2024年3月哪个工厂的用电量最多？",
        "2024年总用电量是多少？",
        "一季度的总用电量是多少？",
        "乙厂哪个月用电量最高？",
        "2024年哪个工厂用电最多？",
        "甲厂2024年用电量是多少？",
        "有多少个工厂？",
    ];
    insta::assert_snapshot!(
        read_all(&questions, || view("用电", "各厂用电量（千瓦时）", &[Part("用电.xlsx > 2024年 | 各厂用电量（千瓦时）", CHINESE)])),
        @"
        3月份哪个厂用电最多？ -> 用电 [用电.月份 InMonths([3])] 用电.工厂, 用电.用电量 ↓用电.用电量 limit 1
        2024年3月哪个工厂的用电量最多？ -> 用电 [用电.月份 in 2024-03] 用电.工厂, 用电.用电量 ↓用电.用电量 limit 1
        2024年总用电量是多少？ -> 用电 [用电.月份 in 2024] sum(用电.用电量)
        一季度的总用电量是多少？ -> 用电 [用电.月份 InMonths([1, 2, 3])] sum(用电.用电量)
        乙厂哪个月用电量最高？ -> 用电 [用电.工厂 = 乙厂] 用电.月份, 用电.用电量 ↓用电.用电量 limit 1
        2024年哪个工厂用电最多？ -> 用电 [用电.月份 in 2024] sum(用电.用电量) per 用电.工厂 ↓ limit 1
        甲厂2024年用电量是多少？ -> 用电 [用电.月份 in 2024] [用电.工厂 = 甲厂] sum(用电.用电量)
        有多少个工厂？ -> unsure 用电 distinct(用电.工厂)
        "
    );
}

#[test]
fn questions_over_months_of_no_year_are_read() {
    let table = "Plant|Jan|Feb|Mar|Apr\nA|1|2|3|4\nB|7|6|5|4";
    let questions = [
        "What was the total electricity use in March?",
        "Which plant used the most electricity in March?",
        "What was the total electricity use in Q1?",
    ];
    let part = || [Part("electricity_use.csv", table)];
    insta::assert_snapshot!(read_all(&questions, || view("use", "electricity use", &part())), @"
    What was the total electricity use in March? -> use [use.month = Mar] sum(use.electricity_use)
    Which plant used the most electricity in March? -> use [use.month = Mar] use.plant, use.electricity_use ↓use.electricity_use limit 1
    What was the total electricity use in Q1? -> use [use.month = Feb or Jan or Mar] sum(use.electricity_use)
    ");
}
