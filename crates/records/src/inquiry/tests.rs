//! Tests that questions are read in both languages, and that unexplained words are reported.

use std::collections::BTreeSet;
use std::fmt::Write;

use pikerag_knowledge::Value;
use pikerag_knowledge::records::{FieldType, Quantity};
use pikerag_knowledge::tables::{Cell, Column, Order, Thing};
use pikerag_language::fold::folded;

use super::*;

const SCHEMA: &str = r#"{"name": "repair", "description": "a repair of a crane", "key": ["order"], "fields": [
    {"name": "order"}, {"name": "day", "type": "date", "columns": ["date"]}, {"name": "crane"}, {"name": "fault"},
    {"name": "supplier"}, {"name": "downtime", "type": "number"}, {"name": "cost", "type": "number"},
    {"name": "warranty", "type": "bool"}]}"#;

fn frame(schema: &RecordSchema) -> Frame {
    let rows = [
        ["R-1", "2024-01-03", "40-117", "brake wear", "Norrick Steel and Rope", "12.5", "300", ""],
        ["R-2", "2024-02-03", "62-019", "gearbox leak", "Ostrel", "3", "1200", ""],
        ["R-3", "2024-04-09", "澜屿二号", "制动器磨损", "青砚公司", "5", "80", ""],
    ];
    let columns = schema
        .fields
        .iter()
        .map(|field| Column { name: field.name.clone(), kind: field.kind })
        .collect();
    let cell = |field: &pikerag_knowledge::records::Field, raw: &str| {
        let value = match field.kind {
            FieldType::Text => Value::Text(raw.to_owned()),
            FieldType::Date => Value::Date(raw.to_owned()),
            FieldType::Number => Value::Number(Quantity {
                amount: raw.parse().ok()?,
                unit: (field.name == "downtime").then(|| "h".to_owned()),
            }),
            FieldType::Bool => return None,
        };
        Some(Cell { folded: folded(raw), value, record: 0 })
    };
    let things = rows
        .iter()
        .map(|row| Thing {
            cells: schema.fields.iter().zip(row).map(|(field, raw)| cell(field, raw)).collect(),
            records: vec![0],
        })
        .collect();
    Frame { columns, things }
}

fn described(question: &str) -> String {
    let schema: RecordSchema = serde_json::from_str(SCHEMA).unwrap();
    let (frame, titles) = (frame(&schema), BTreeSet::new());
    let source = Source { schema: &schema, frame: &frame, titles: &titles };
    let Some(inquiry) = by_rules(&Cues::of(question), &[source]) else { return "none".to_owned() };
    let query = &inquiry.query;
    let conditions: Vec<String> = query
        .conditions
        .iter()
        .map(|condition| format!("{} {:?}", condition.field, condition.test))
        .collect();
    let groups: Vec<String> =
        query.group.iter().map(|group| format!("{}/{:?}", group.field, group.by)).collect();
    let mut shown = match &inquiry.form {
        Form::Figures => format!("{:?}", query.measure),
        form => format!("{form:?}"),
    };
    if !groups.is_empty() {
        let _ = write!(shown, " by {}", groups.join(", "));
    }
    if query.order != Order::Key {
        let _ = write!(shown, " {:?} {:?}", query.order, query.limit);
    }
    if !conditions.is_empty() {
        let _ = write!(shown, " where {}", conditions.join(" and "));
    }
    if !inquiry.unexplained.is_empty() {
        let _ = write!(shown, " ? {}", inquiry.unexplained.join(", "));
    }
    shown.replace("Some(", "(").replace('"', "")
}

#[test]
fn english() {
    let shown: Vec<String> = [
        "How many repairs were there in 2024?",
        "How many repairs per month?",
        "How many repairs did crane 40-117 have in the first quarter of 2024?",
        "How many different suppliers were involved?",
        "Which crane had the most repairs?",
        "What was the total cost of repairs per crane?",
        "What was the average downtime of crane 62-019?",
        "Which crane had the longest downtime in 2024?",
        "How many hours of downtime were there in all?",
        "How many repairs took more than 4 hours of downtime?",
        "How many repairs took longer than 240 minutes?",
        "How many warranty repairs were there?",
        "How many repairs with brake wear?",
        "How many repairs by Norrick Steel?",
        "How many repairs did Foomatic Ltd do?",
        "Which repairs were done in February 2024?",
        "How many repairs will there be in 2025?",
        "How many repairs are expected next quarter?",
        "Which fault is most likely to occur next?",
        "How many moons does Jupiter have?",
        "Who supervises Hall 3?",
        "When was crane 40-117 repaired?",
    ]
    .map(described)
    .to_vec();
    insta::assert_snapshot!(shown.join("\n"), @r"
    Count where day Between { from: (2024-01-01), to: (2024-12-31) }
    Count by day/Month
    Count where day Between { from: (2024-01-01), to: (2024-03-31) } and crane Is(40 117)
    Different(supplier)
    Count by crane/Value Greatest (1)
    Sum(cost) by crane/Value
    Mean(downtime) where crane Is(62 019)
    Greatest(downtime) by crane/Value Greatest (1) where day Between { from: (2024-01-01), to: (2024-12-31) }
    Sum(downtime)
    Count where downtime Above(Quantity { amount: 4.0, unit: (h) })
    Count where downtime Above(Quantity { amount: 4.0, unit: (h) })
    Count where warranty IsTrue(true)
    Count where fault Is(brake wear)
    Count where supplier Holds(norrick steel)
    Count ? foomatic, ltd
    List where day Between { from: (2024-02-01), to: (2024-02-31) }
    Series { date: day, by: Year, until: (2025-12-31), periods: 1 }
    Series { date: day, by: Quarter, until: None, periods: 1 }
    Kinds { field: fault, date: (day) }
    none
    none
    none
    ");
}

#[test]
fn chinese() {
    let shown: Vec<String> = [
        "2024年有多少次维修？",
        "每个月有多少次维修？",
        "青砚公司做了多少次维修？",
        "2024年第一季度起重机40-117维修了几次？",
        "一共有多少家供应商？",
        "哪台起重机的维修次数最多？",
        "各起重机的维修总费用是多少？",
        "起重机62-019的平均停机时长是多少？",
        "哪台起重机停机最长？",
        "停机超过4小时的维修有多少次？",
        "2024年2月有哪些维修？",
        "2025年预计有多少次维修？",
        "下个季度将有多少次维修？",
        "下一次最可能发生哪种故障？",
        "木星有多少颗卫星？",
        "谁负责三号楼？",
    ]
    .map(described)
    .to_vec();
    insta::assert_snapshot!(shown.join("\n"), @r"
    Count where day Between { from: (2024-01-01), to: (2024-12-31) }
    Count by day/Month
    Count where supplier Is(青 砚 公 司)
    Count where day Between { from: (2024-01-01), to: (2024-03-31) } and crane Is(40 117)
    Different(supplier)
    Count by crane/Value Greatest (1)
    Sum(cost) by crane/Value
    Mean(downtime) where crane Is(62 019)
    Greatest(downtime) by crane/Value Greatest (1)
    Count where downtime Above(Quantity { amount: 4.0, unit: (h) })
    List where day Between { from: (2024-02-01), to: (2024-02-31) }
    Series { date: day, by: Year, until: (2025-12-31), periods: 1 }
    Series { date: day, by: Quarter, until: None, periods: 1 }
    Kinds { field: fault, date: (day) }
    none
    none
    ");
}
