//! Reads questions about the time to come over the repairs of these tests, and over series of values.

use super::{plan, table};
use crate::{Catalog, kinds_ahead, readings_ahead};

/// A level that is measured each month.
const GAS: &str = "\
Date:date|CO2 (ppm):real|Station:category
2001-10-01|368.1|Hilo
2001-11-01|369.6|Hilo
2001-12-01|371.1|Hilo";

/// Figures by quarters in a column of their own.
const ECONOMY: &str = "\
year:year|quarter:integer|realgdp:real|unemp:real
2008|4|13000.0|6.9
2009|1|12900.5|8.1
2009|2|12901.5|9.2";

/// A volume of each year.
const RIVER: &str = "\
年份:year|流量:integer
1969|678
1970|740";

fn shown(question: &str) -> String {
    let catalog = Catalog {
        tables: vec![
            table("repairs", "repairs", super::REPAIRS),
            table("gas", "co2 mauna loa", GAS),
            table("economy", "us economy", ECONOMY),
            table("river", "尼罗河", RIVER),
        ],
    };
    let Some(found) = readings_ahead(question, &catalog).into_iter().next() else {
        return "-".to_owned();
    };
    let sure = if found.reading.is_certain() { "" } else { "unsure " };
    let plans: Vec<String> = found.reading.computation.plans().into_iter().map(plan).collect();
    format!("{sure}{} {:?} {:?}", plans.join(" "), found.step, found.target)
}

#[test]
fn the_past_of_what_is_asked_for_ahead_is_read() {
    let questions = [
        "What will the CO2 level be in March 2002?",
        "Forecast CO2 for the next 12 months.",
        "2002年的二氧化碳浓度预计是多少？",
        "How many repairs will there be in 2023?",
        "How many repairs of the press will there be next year?",
        "明年预计会有多少次维修？",
        "What will the repairs cost in the next two quarters?",
        "Forecast the total cost of repairs for each machine next year.",
        "What will real GDP be in the third quarter of 2009?",
        "What will unemployment be next year?",
        "1971年尼罗河的流量会是多少？",
        "未来三年的流量预计是多少？",
        "Forecast monthly downtime for 2023.",
        "What will the average downtime be next quarter?",
        "How many elephants will there be next year?",
        "Which machine will fail next?",
        "What will the CO2 level be tomorrow at noon?",
        "What will the CO2 level be on 3 March 2002?",
        "What will the repairs cost in May?",
    ];
    let shown: Vec<String> =
        questions.iter().map(|question| format!("{question}\n  {}", shown(question))).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn the_kind_that_comes_next_is_counted_so_far() {
    let shown = |question: &str| {
        let found = kinds_ahead(question, &super::catalog()).into_iter().next();
        found.map_or("-".to_owned(), |reading| {
            let sure = if reading.is_certain() { "" } else { "unsure " };
            let plans = reading.computation.plans();
            format!("{sure}{}", plans.into_iter().map(plan).collect::<Vec<_>>().join(" "))
        })
    };
    let questions = [
        "Which fault is most likely to occur next?",
        "Which machine will fail next?",
        "What fault is the press likely to have next time?",
        "接下来最可能发生的故障是什么？",
        "下一次会是哪台设备出故障？",
        "冲压机下一次会出现什么故障？",
        "Which engineer had the most repairs?",
        "What will the repairs cost next year?",
        "Which elephant is most likely to come next?",
    ];
    let shown: Vec<String> =
        questions.iter().map(|question| format!("{question}\n  {}", shown(question))).collect();
    insta::assert_snapshot!(shown.join("\n"));
}
