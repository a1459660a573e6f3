//! Reads plans as models write them, over the tables of the other tests.

use serde_json::{Value as Json, json};

use super::{PlanFault, plan_properties, read_plan, shown};
use crate::reading::{Reading, Reckoning};
use crate::tests::catalog;

fn read(reply: &Json) -> Result<Option<Reading>, PlanFault> {
    read_plan(reply, &catalog(), &[0, 1, 2])
}

/// A reading as short text: its plans, as JSON without what is empty.
fn told(reply: &Json) -> String {
    let reading = match read(reply) {
        Ok(None) => return "no table fits".to_owned(),
        Ok(Some(reading)) => reading,
        Err(fault) => return fault.to_string(),
    };
    let kind = match &reading.reckoning {
        Reckoning::One(_) => "one",
        Reckoning::Difference(..) => "difference",
        Reckoning::Growth(..) => "growth",
        Reckoning::Share(..) => "share",
        Reckoning::Compare { .. } => "compare",
    };
    let plans = reading.reckoning.plans().into_iter().map(|plan| {
        let mut plan = serde_json::to_value(plan).unwrap();
        let empty = [json!([]), json!(null)];
        plan.as_object_mut().unwrap().retain(|_, part| !empty.contains(part));
        plan.to_string()
    });
    format!(
        "{kind} {:?} {:?} {}",
        reading.tables,
        reading.nth,
        plans.collect::<Vec<_>>().join(" / ")
    )
}

#[test]
fn plans_are_read_as_they_are_written() {
    let plans = [
        json!({"fits": false}),
        json!({"table": "repairs", "measures": [{"what": "count", "column": ""}],
            "filters": [{"column": "machine", "is": "=", "values": ["press"]}]}),
        json!({"table": "Repairs", "measures": [{"what": "sum", "column": "repairs.Cost"}], "limit": 1, "rank": 2,
            "group": [{"column": "date", "by": "year"}], "order": {"by": "measure", "descending": true}}),
        json!({"table": "repairs", "show": ["date"], "limit": 0, "order": {"by": "", "descending": false},
            "filters": [{"column": "Downtime", "is": ">=", "values": ["7"]}, {"column": "Engineer", "is": "empty", "values": []},
                {"column": "date", "is": "=", "values": ["2022-05"]}, {"column": "date", "is": "=", "values": ["2022-Q2"]}, {"column": "date", "is": "<", "values": ["2022-06-01"]}]}),
        json!({"table": "repairs", "join": [{"from": "repairs.c3", "to": "suppliers.c0"}],
            "measures": [{"what": "mean", "column": "cost"}],
            "filters": [{"column": "suppliers.城市", "is": "!=", "values": ["上海市", "广州市"]}]}),
        json!({"table": "repairs", "measures": [{"what": "count", "column": ""}],
            "filters": [{"column": "machine", "is": "=", "values": ["Press"]}], "beside": {"what": "share", "filters": []}}),
    ];
    let told: Vec<String> = plans.iter().map(told).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_plan_that_names_what_is_not_there_says_so() {
    let count = json!([{"what": "count", "column": ""}]);
    let filter = |column: &str, is: &str, value: &str| json!({"table": "repairs", "measures": count, "filters": [{"column": column, "is": is, "values": [value]}]});
    let plans = [
        json!({"table": "machines"}),
        json!({"table": "repairs"}),
        json!({"table": "repairs", "show": ["price"]}),
        json!({"table": "repairs", "measures": [{"what": "mode", "column": "cost"}]}),
        json!({"table": "repairs", "measures": count, "join": [{"from": "c3", "to": "suppliers.城市"}]}),
        json!({"table": "repairs", "measures": count, "join": [{"from": "c3", "to": "nowhere.c0"}]}),
        filter("machine", "=", "Crane of Hamburg"),
        filter("machine", ">", "Crane"),
        filter("cost", ">", "much"),
        filter("cost", "contains", "4"),
        filter("cost", "like", "4"),
        filter("date", "=", "last year"),
        filter("date", "=", "2021-Q5"),
        filter("date", "month", "13"),
        filter("cost", "=", ""),
    ];
    let told: Vec<String> = plans.iter().map(told).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn tables_are_shown_within_their_room() {
    let catalog = catalog();
    let (whole, n_shown) = shown("How many repairs?", &catalog, &[0, 1, 2], 10_000);
    insta::assert_snapshot!(whole);
    assert_eq!(n_shown, 3);
    let (part, n_shown) = shown("How many repairs?", &catalog, &[0, 1, 2], 450);
    assert!(n_shown < 3 && whole.starts_with(&part), "{part}");
    assert_eq!(shown("How many?", &catalog, &[0], 20).0.len(), 20);
}

/// Whatever a reply holds, it is a plan of tables that were shown, or a fault.
#[test]
fn every_property_of_the_schema_is_read() {
    let properties = plan_properties(|properties| properties);
    let keys: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let mut keys: Vec<&str> = keys.into_iter().map(String::as_str).collect();
    keys.sort_unstable();
    let known = [
        "beside", "filters", "fits", "group", "join", "limit", "measures", "order", "rank", "show",
        "table",
    ];
    assert_eq!(keys, known);
}

proptest::proptest! {
    #[test]
    fn no_reply_breaks_the_reader(words in proptest::collection::vec("[a-z0-9=<>.*\"é价 -]{0,9}", 8)) {
        let word = |at: usize| json!(words[at]);
        let _ = read(&json!({
            "table": "repairs", "join": [{"from": word(0), "to": word(1)}], "show": [word(2), 3],
            "filters": [{"column": "c0", "is": ">", "values": word(3)}, {"column": word(4), "is": word(5), "values": [word(6)]}],
            "group": word(7), "order": word(0), "limit": word(1),
        }));
    }
}
