//! Reads questions over tables with names run together, codes, people that are counted, and years in names of columns.

use std::fmt::Write;

use pikerag_knowledge::data::{DataTable, TableTest};

use super::table;
use crate::{Catalog, TableView, readings};

const COUNTIES: &str = "\
county:identifier|state:category|poptotal:integer|popwhite:integer|popasian:integer|popdensity:real
Cook|IL|5105067|3204947|188565|88018
Lake|IL|516418|450666|12588|17214
Monroe|IN|108978|101825|2694|4954";

const DISASTERS: &str = "\
灾害类型:category|年份:year|死亡人数:integer
地震|2010|226733
干旱|2010|20000
地震|2004|227290
洪水|2004|6957";

const CATCHES: &str = "\
record:identifier|species:category|sex:category|weight:integer
1|PB|M|36
2|PB|F|31
3|DM|M|44";

const TOWNS: &str = "\
Municipality:identifier|Type:category|Population 2016:integer|Population 2021:integer
Ottawa|city|934243|1017449
Brant|city|36707|39474
Alnwick|township|6869|7473";

const PRESIDENTS: &str = "\
president:identifier|party:category|days:integer|fur:category
Kennedy|Democratic|1036|short
Nixon|Republican|2027|short
Carter|Democratic|1461|long";

const PLANES: &str = "\
tail:identifier|type:category|engine:category|date:date
N1|wing|jet|2024-01-03
N2|wing|fan|2024-01-04
N3|rotor|jet|2024-02-01";

const VOTES: &str = "\
District:identifier|Ada:integer|Bob:integer|Winner:category
Dunmarsh|412|388|Ada
Wrackness|97|230|Bob";

const VISITS: &str = "\
visit:identifier|clinic:category|fee_eur (EUR):real|weight_kg (kg):real|rebate_pct (%):real
V1|North|45.5|70|5
V2|South|30|82|0
V3|North|40|64|5";

/// The best reading: its tables, conditions and columns, by their places; `unsure` before one that is not certain.
fn shown(question: &str) -> String {
    let tables: Vec<TableView> = vec![
        table("counties", "counties", COUNTIES),
        table("disasters", "自然灾害死亡人数", DISASTERS),
        table("catches", "animals", CATCHES),
        table("towns", "municipalities", TOWNS),
        table("presidents", "presidents", PRESIDENTS),
        table("planes", "planes", PLANES),
        table("votes", "votes", VOTES),
        table("visits", "visits", VISITS),
    ];
    let best = readings(question, &Catalog { tables }).into_iter().next();
    let Some(reading) = best else { return "-".to_owned() };
    let mut line = if reading.is_certain() { String::new() } else { "unsure ".to_owned() };
    for plan in reading.computation.plans() {
        line.push_str(&plan.table);
        for filter in &plan.filters {
            let test = match &filter.test {
                TableTest::Is(values) => {
                    values.iter().map(|value| format!("= {value}")).collect::<Vec<_>>().join(" ")
                }
                TableTest::Between { from: Some(from), to: None, .. } => format!("> {from}"),
                other => format!("{other:?}"),
            };
            let _ = write!(line, " [{} {test}]", filter.column.column);
        }
        for group in &plan.group {
            let _ = write!(line, " by {}", group.column.column);
        }
        for measure in &plan.measures {
            let column = measure.column.as_ref().map_or("rows", |column| &column.column);
            let _ = write!(line, " {:?}({column})", measure.function);
        }
        for column in &plan.show {
            let _ = write!(line, " {}", column.column);
        }
    }
    line
}

#[test]
fn joined_words_of_names_are_separated() {
    assert_eq!(
        shown("How many Asian residents does Cook County, IL have?"),
        "counties [c0 = Cook] [c1 = IL] c4"
    );
    assert_eq!(
        shown("IL州有多少个县的总人口超过60万？"),
        "counties [c2 > 600000] [c1 = IL] Count(rows)"
    );
}

#[test]
fn people_are_counted_by_the_column_that_counts_them() {
    assert_eq!(shown("2010年死于地震的有多少人？"), "disasters [c1 = 2010] [c0 = 地震] Sum(c2)");
    assert_eq!(
        shown("How many people died in earthquakes in 2004?"),
        "disasters [c1 = 2004] [c0 = 地震] Sum(c2)"
    );
    assert_eq!(shown("2004年哪一种灾害死的人最多？"), "disasters [c1 = 2004] c0 c2");
}

/// The table of departments is part of a handbook for employees, and names who manages each.
#[test]
fn departments_are_no_people() {
    let text =
        "部门:identifier|主要职责:category|负责人:category\n销售部|报价|钟梨白\n服务部|维修|陆知远";
    let view = table("departments", "部门与办公地点", text);
    let about = vec!["青砚子公司员工手册".to_owned()];
    let view = TableView::new(DataTable { about, ..view.table }, Vec::new());
    let catalog = Catalog { tables: vec![view] };
    for question in [
        "子公司有多少人？",
        "公司有多少员工？",
        "How many people are there?",
        "How many employees are there?",
    ] {
        let best = readings(question, &catalog).into_iter().next();
        assert!(best.is_none_or(|reading| !reading.is_certain()), "{question}");
    }
}

#[test]
fn codes_plurals_and_years_in_names_are_found() {
    assert_eq!(
        shown("What is the average weight of male PB?"),
        "catches [c2 = M] [c1 = PB] Mean(c3)"
    );
    assert_eq!(shown("How many townships are there?"), "towns [c1 = township] Count(rows)");
    assert_eq!(shown("What was Ottawa's population in 2021?"), "towns [c0 = Ottawa] c3");
}

/// What a plan shows is not what its own condition says.
#[test]
fn a_year_of_rows_of_that_year_is_no_answer() {
    assert!(shown("2010年的年份是多少？").starts_with("unsure"));
}

/// No noun of a question says what its rows are; the value before it does.
#[test]
fn the_noun_behind_a_value_names_the_rows() {
    assert_eq!(
        shown("How many township homesteads are there?"),
        "towns [c1 = township] Count(rows)"
    );
}

#[test]
fn a_form_of_one_value_selects_it() {
    let democrats = "presidents [c1 = Democratic] Count(rows)";
    assert_eq!(shown("How many of the presidents were Democrats?"), democrats);
    // Two values share the beginning of this one, or none does.
    assert!(shown("How many of the presidents were demonstrators?").starts_with("unsure"));
}

#[test]
fn a_value_that_names_a_measure_too_is_not_sure() {
    assert!(shown("How many votes did Ada get in Dunmarsh?").starts_with("unsure"));
}

#[test]
fn a_noun_before_a_chinese_count_is_counted() {
    assert_eq!(shown("死亡人数超过10000的年份有多少个？"), "disasters [c2 > 10000] Count(rows)");
}

#[test]
fn three_of_several_words_are_so_many() {
    assert_eq!(shown("Which three of these presidents had the most days?"), "presidents c0 c2");
}

/// There is a column `type`, too.
#[test]
fn types_of_a_column_are_its_values() {
    let by_engine = "planes by c2 Count(rows)";
    assert_eq!(shown("Which engine type is most common?"), by_engine);
    assert_eq!(shown("哪种发动机类型的飞机最多？"), by_engine);
    assert_eq!(shown("Which type is most common among the planes?"), "planes by c1 Count(rows)");
}

/// The word for a count of days has the word for a date in it.
#[test]
fn days_that_are_counted_are_rows() {
    assert_eq!(shown("出现天数最多的是哪种发动机？"), "planes by c2 Count(rows)");
}

#[test]
fn a_unit_at_the_end_of_a_name_may_be_left_out() {
    assert_eq!(shown("What is the total fee for each clinic?"), "visits by c1 Sum(c2)");
    assert_eq!(
        shown("What is the average weight in the North clinic?"),
        "visits [c1 = North] Mean(c3)"
    );
    assert_eq!(shown("What is the total fee_eur?"), "visits Sum(c2)");
    assert_eq!(shown("Which visit has the highest rebate?"), "visits c0 c4");
}
