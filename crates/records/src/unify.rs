//! Which things do records tell of? Records with one key are one thing, whichever documents list it; what they say is
//! put together, and where they contradict each other that is told (PIKE-RAG §5.4, knowledge structuring).

use std::collections::HashMap;

use pikerag_knowledge::records::{Field, Quantity};
use pikerag_knowledge::tables::{Cell, Column, Frame, Thing};
use pikerag_knowledge::{Record, RecordSchema, Value};
use pikerag_language::fold::folded;
use pikerag_language::units::{self, Unit};
use serde::{Deserialize, Serialize};

/// The things of one schema, and what was noticed on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unified {
    /// The things; their records are places in the list that was given.
    pub frame: Frame,
    /// Where records of one thing contradict each other; the first one stands.
    pub conflicts: Vec<Conflict>,
    /// Values that could not be read as their field's type, by field: they are in no figure.
    pub untyped: Vec<(String, usize)>,
}

/// Two records of one thing that say different things of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// Name of the field.
    pub field: String,
    /// The record that stands, by its place in the list.
    pub stands: usize,
    /// The other one.
    pub other: usize,
}

/// Puts records together that tell of one thing. They come in the order in which they are believed: of two that
/// contradict each other the first stands. Without a key in the schema each record is a thing of its own; so is one
/// that says nothing of some field of the key.
///
/// Numbers of one field that are measured in units of one kind are brought to the unit that most of them have.
pub fn unify(schema: &RecordSchema, records: &[Record]) -> Unified {
    let columns: Vec<Column> = schema
        .fields
        .iter()
        .map(|field| Column { name: field.name.clone(), kind: field.kind })
        .collect();
    let mut unified =
        Unified { frame: Frame { columns, things: Vec::new() }, ..Unified::default() };
    let mut things: HashMap<Vec<String>, usize> = HashMap::new();
    let mut untyped = vec![0; schema.fields.len()];
    let units = usual_units(schema, records);
    for (place, record) in records.iter().enumerate() {
        let at = match key(schema, record) {
            Some(key) => *things.entry(key).or_insert(unified.frame.things.len()),
            None => unified.frame.things.len(),
        };
        if at == unified.frame.things.len() {
            let cells = vec![None; schema.fields.len()];
            unified.frame.things.push(Thing { cells, records: Vec::new() });
        }
        let Some(thing) = unified.frame.things.get_mut(at) else { continue };
        thing.records.push(place);
        for (column, field) in schema.fields.iter().enumerate() {
            let Some(said) = record.field(&field.name) else { continue };
            let Some(value) = &said.value else {
                if let Some(count) = untyped.get_mut(column) {
                    *count += 1;
                }
                continue;
            };
            let value = match value {
                Value::Text(said) => Value::Text(one_name(field, said).to_owned()),
                value => in_unit(value.clone(), units.get(column).and_then(Option::as_ref)),
            };
            let folded = folded(&value.to_string());
            let Some(held) = thing.cells.get_mut(column) else { continue };
            match held {
                None => *held = Some(Cell { value, folded, record: place }),
                Some(held) if agrees(held, &value, &folded) => {
                    // A day is more than its year.
                    if let (Value::Date(known), Value::Date(more)) = (&held.value, &value)
                        && known.len() < more.len()
                    {
                        *held = Cell { value, folded, record: place };
                    }
                }
                Some(held) => unified.conflicts.push(Conflict {
                    field: field.name.clone(),
                    stands: held.record,
                    other: place,
                }),
            }
        }
    }
    let names = schema.fields.iter().map(|field| field.name.clone());
    unified.untyped = names.zip(untyped).filter(|(_, count)| 0 < *count).collect();
    unified
}

/// The value that stands for all that mean the same in this field; itself where it is not declared to mean what others do.
pub fn one_name<'a>(field: &'a Field, value: &'a str) -> &'a str {
    let said = folded(value);
    let same = field.same.iter().find(|same| same.iter().any(|other| folded(other) == said));
    same.and_then(|same| same.first()).map_or(value, String::as_str)
}

fn key(schema: &RecordSchema, record: &Record) -> Option<Vec<String>> {
    let words = |name: &String| {
        let said = record.field(name)?;
        let shown = said.value.as_ref().map_or_else(|| said.raw.clone(), ToString::to_string);
        let shown = schema.field(name).map_or(shown.as_str(), |field| one_name(field, &shown));
        Some(folded(shown)).filter(|words| !words.is_empty())
    };
    let key: Option<Vec<String>> = schema.key.iter().map(words).collect();
    key.filter(|key| !key.is_empty())
}

fn agrees(held: &Cell, value: &Value, folded: &str) -> bool {
    match (&held.value, value) {
        (Value::Number(a), Value::Number(b)) => {
            let least = 1e-9 * a.amount.abs().max(b.amount.abs());
            (a.amount - b.amount).abs() <= least
                && (a.unit == b.unit || a.unit.is_none() || b.unit.is_none())
        }
        (Value::Date(a), Value::Date(b)) => a.starts_with(b.as_str()) || b.starts_with(a.as_str()),
        // A longer text about the same thing contradicts nobody who says less in the same words.
        (Value::Text(_), Value::Text(_)) => {
            let (a, b) = (format!(" {} ", held.folded), format!(" {folded} "));
            a.contains(&b) || b.contains(&a)
        }
        (a, b) => a == b,
    }
}

/// By field: the unit that its numbers are told in; none where they have no unit that we know.
fn usual_units(schema: &RecordSchema, records: &[Record]) -> Vec<Option<Unit>> {
    let of_field = |name: &str| {
        let found =
            records.iter().filter_map(|record| match record.field(name)?.value.as_ref()? {
                Value::Number(Quantity { unit: Some(unit), .. }) => units::known(unit),
                _ => None,
            });
        let mut counts: Vec<(Unit, usize)> = Vec::new();
        for unit in found {
            match counts.iter_mut().find(|(held, _)| *held == unit) {
                Some((_, count)) => *count += 1,
                None => counts.push((unit, 1)),
            }
        }
        let most = counts.iter().map(|(_, count)| *count).max()?;
        counts.into_iter().find(|(_, count)| *count == most).map(|(unit, _)| unit)
    };
    schema.fields.iter().map(|field| of_field(&field.name)).collect()
}

fn in_unit(value: Value, usual: Option<&Unit>) -> Value {
    match (value, usual) {
        (Value::Number(Quantity { amount, unit: Some(unit) }), Some(usual)) => {
            let told = units::known(&unit).and_then(|own| own.amount_in(*usual, amount));
            Value::Number(match told {
                Some(amount) => Quantity { amount, unit: Some(usual.shown.to_owned()) },
                None => Quantity { amount, unit: Some(unit) },
            })
        }
        (value, _) => value,
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::records::{Field, FieldType};
    use pikerag_knowledge::{ChunkId, RecordField, RecordId, RecordOrigin, SourceId, Span};

    use super::*;

    fn schema(key: &[&str]) -> RecordSchema {
        let field = |name: &str, kind| Field {
            name: name.to_owned(),
            kind,
            columns: Vec::new(),
            order: pikerag_knowledge::records::DayOrder::default(),
            same: Vec::new(),
        };
        RecordSchema {
            name: "repair".to_owned(),
            description: String::new(),
            fields: vec![
                field("part", FieldType::Text),
                field("day", FieldType::Date),
                field("took", FieldType::Number),
            ],
            key: key.iter().map(|name| (*name).to_owned()).collect(),
            words: Vec::new(),
            model: true,
        }
    }

    fn record(part: &str, day: &str, took: (f64, &str)) -> Record {
        let field = |name: &str, raw: &str, value| RecordField {
            name: name.to_owned(),
            raw: raw.to_owned(),
            value,
        };
        let took = Quantity { amount: took.0, unit: Some(took.1.to_owned()) };
        Record {
            id: RecordId(1),
            schema: "repair".to_owned(),
            chunk: ChunkId(1),
            source: SourceId(1),
            uri: "a.csv".to_owned(),
            page: None,
            span: Span { start: 0, end: 1 },
            origin: RecordOrigin::Table,
            fields: vec![
                field("part", part, Some(Value::Text(part.to_owned()))),
                field("day", day, (day != "soon").then(|| Value::Date(day.to_owned()))),
                field("took", "", Some(Value::Number(took))),
            ],
        }
    }

    #[test]
    fn records_with_one_key_are_one_thing() {
        let records = [
            record("LB-3", "2024", (2.0, "h")),
            record("lb-3", "2024-05-06", (120.0, "min")),
            record("HP-17", "soon", (90.0, "min")),
            record("LB-3", "2023", (3.0, "hours")),
        ];
        let unified = unify(&schema(&["part"]), &records);
        let frame = &unified.frame;
        assert_eq!(frame.things.len(), 2);
        assert_eq!(frame.things[0].records, [0, 1, 3]);
        // More precise, and two hours either way.
        assert_eq!(frame.cell(0, "day").unwrap().value, Value::Date("2024-05-06".to_owned()));
        assert_eq!(unified.untyped, [("day".to_owned(), 1)]);
        // The second one said the day.
        let conflict = |field: &str, stands| Conflict { field: field.to_owned(), stands, other: 3 };
        assert_eq!(unified.conflicts, [conflict("day", 1), conflict("took", 0)]);
        let took = |thing| frame.cell(thing, "took").unwrap().value.to_string();
        assert_eq!((took(0), took(1)), ("2 h".to_owned(), "1.5 h".to_owned()));
    }

    /// In another language, and as the key: told by the first of those that are declared to mean the same.
    #[test]
    fn what_means_the_same_is_one_value() {
        let records =
            [record("brake wear", "2024", (2.0, "h")), record("制动器磨损", "2024", (2.0, "h"))];
        let mut schema = schema(&[]);
        let of = |schema: &RecordSchema, thing| {
            unify(schema, &records).frame.cell(thing, "part").unwrap().value.to_string()
        };
        assert_eq!(of(&schema, 1), "制动器磨损");
        schema.fields[0].same = vec![vec!["Brake wear".to_owned(), "制动器磨损".to_owned()]];
        assert_eq!(
            (of(&schema, 0), of(&schema, 1)),
            ("Brake wear".to_owned(), "Brake wear".to_owned())
        );
        schema.key = vec!["part".to_owned()];
        assert_eq!(unify(&schema, &records).frame.things.len(), 1);
    }

    #[test]
    fn without_a_key_each_is_a_thing_of_its_own() {
        let records = [record("LB-3", "2024", (2.0, "h")), record("LB-3", "2024", (2.0, "h"))];
        assert_eq!(unify(&schema(&[]), &records).frame.things.len(), 2);
        assert_eq!(unify(&schema(&["part", "day"]), &records).frame.things.len(), 1);
    }
}
