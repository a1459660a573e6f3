//! Unifies records with the same key into one thing, across documents, and lists their contradictions
//! (PIKE-RAG §5.4, knowledge structuring).

use std::collections::{BTreeMap, HashMap};

use pikerag_knowledge::records::{Field, Quantity};
use pikerag_knowledge::tables::{Cell, Column, Frame, Thing};
use pikerag_knowledge::{Record, RecordOrigin, RecordSchema, Value};
use pikerag_language::fold::folded;
use pikerag_language::units::{self, Unit};
use serde::{Deserialize, Serialize};

/// The things of one schema, with their conflicts and unreadable values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unified {
    /// The things; their records are positions in the given list.
    pub frame: Frame,
    /// Contradictions between records of one thing; the first value counts.
    pub conflicts: Vec<Conflict>,
    /// The number of values that could not be read as their field's type, by field. No figure uses
    /// them.
    pub untyped: Vec<(String, usize)>,
}

/// Two records of one thing with different values of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// Name of the field.
    pub field: String,
    /// The record whose value counts, by its position in the list.
    #[serde(rename = "stands")]
    pub kept: usize,
    /// The other record, by its position in the list.
    pub other: usize,
}

/// Unifies the records of one thing. Records come in order of trust: of two that contradict each other,
/// the first counts. Each record is its own thing if the schema has no key, or if the record lacks a
/// field of the key.
///
/// Numbers of one field are converted to the unit that most of them have, if their units are compatible.
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
    let spellings = usual_spellings(schema, records);
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
            let Some(given) = record.field(&field.name) else { continue };
            let Some(value) = &given.value else {
                if let Some(count) = untyped.get_mut(column) {
                    *count += 1;
                }
                continue;
            };
            let value = match value {
                Value::Text(text) => Value::Text(canonical_name(field, text).to_owned()),
                value => {
                    let usual = units.get(column).and_then(Option::as_ref);
                    let value = in_unit(value.clone(), usual, record.origin);
                    in_spelling(value, spellings.get(column))
                }
            };
            let folded = folded(&value.to_string());
            let Some(held) = thing.cells.get_mut(column) else { continue };
            match held {
                None => *held = Some(Cell { value, folded, record: place }),
                Some(held) if agrees(held, &value, &folded) => {
                    // A day is more precise than its year.
                    if let (Value::Date(known), Value::Date(more)) = (&held.value, &value)
                        && known.len() < more.len()
                    {
                        *held = Cell { value, folded, record: place };
                    }
                }
                Some(held) => unified.conflicts.push(Conflict {
                    field: field.name.clone(),
                    kept: held.record,
                    other: place,
                }),
            }
        }
    }
    let names = schema.fields.iter().map(|field| field.name.clone());
    unified.untyped = names.zip(untyped).filter(|(_, count)| 0 < *count).collect();
    unified
}

/// The first of the values declared as the same in this field; `value` itself if it is not among any.
pub fn canonical_name<'a>(field: &'a Field, value: &'a str) -> &'a str {
    let wanted = folded(value);
    let same = field.same.iter().find(|same| same.iter().any(|other| folded(other) == wanted));
    same.and_then(|same| same.first()).map_or(value, String::as_str)
}

fn key(schema: &RecordSchema, record: &Record) -> Option<Vec<String>> {
    let words = |name: &String| {
        let given = record.field(name)?;
        let shown = given.value.as_ref().map_or_else(|| given.raw.clone(), ToString::to_string);
        let shown =
            schema.field(name).map_or(shown.as_str(), |field| canonical_name(field, &shown));
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
        // A longer text that contains the other one does not contradict it.
        (Value::Text(_), Value::Text(_)) => {
            let (a, b) = (format!(" {} ", held.folded), format!(" {folded} "));
            a.contains(&b) || b.contains(&a)
        }
        (a, b) => a == b,
    }
}

/// By field, the unit that most of its numbers have; none if they have no known unit.
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

/// By field, for each unit without its plural, the spelling that most of its numbers have: `hectares` for `hectare`.
fn usual_spellings(schema: &RecordSchema, records: &[Record]) -> Vec<BTreeMap<String, String>> {
    let of_field = |name: &str| {
        let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for record in records {
            let Some(Value::Number(Quantity { unit: Some(unit), .. })) =
                record.field(name).and_then(|field| field.value.as_ref())
            else {
                continue;
            };
            *counts.entry(singular(unit)).or_default().entry(unit.clone()).or_default() += 1;
        }
        let most = |(one, spellings): (String, BTreeMap<String, usize>)| {
            let (spelling, _) = spellings.into_iter().max_by_key(|(_, count)| *count)?;
            Some((one, spelling))
        };
        counts.into_iter().filter_map(most).collect()
    };
    schema.fields.iter().map(|field| of_field(&field.name)).collect()
}

fn singular(unit: &str) -> String {
    let unit = unit.to_lowercase();
    unit.strip_suffix('s').filter(|one| 2 < one.len()).unwrap_or(&unit).to_owned()
}

fn in_spelling(value: Value, spellings: Option<&BTreeMap<String, String>>) -> Value {
    match value {
        Value::Number(Quantity { amount, unit: Some(unit) }) if units::known(&unit).is_none() => {
            let spelling = spellings.and_then(|all| all.get(&singular(&unit))).cloned();
            Value::Number(Quantity { amount, unit: Some(spelling.unwrap_or(unit)) })
        }
        value => value,
    }
}

/// The value in the usual unit of its field. A number of prose without a unit has that unit: *five days, and six the second time*.
fn in_unit(value: Value, usual: Option<&Unit>, origin: RecordOrigin) -> Value {
    match (value, usual) {
        (Value::Number(Quantity { amount, unit: None }), Some(usual))
            if origin == RecordOrigin::Model =>
        {
            Value::Number(Quantity { amount, unit: Some(usual.shown.to_owned()) })
        }
        (Value::Number(Quantity { amount, unit: Some(unit) }), Some(usual)) => {
            let converted = units::known(&unit).and_then(|own| own.amount_in(*usual, amount));
            Value::Number(match converted {
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
        // The more precise date counts; 2 h and 120 min agree.
        assert_eq!(frame.cell(0, "day").unwrap().value, Value::Date("2024-05-06".to_owned()));
        assert_eq!(unified.untyped, [("day".to_owned(), 1)]);
        // The day comes from the second record.
        let conflict = |field: &str, kept| Conflict { field: field.to_owned(), kept, other: 3 };
        assert_eq!(unified.conflicts, [conflict("day", 1), conflict("took", 0)]);
        let took = |thing| frame.cell(thing, "took").unwrap().value.to_string();
        assert_eq!((took(0), took(1)), ("2 h".to_owned(), "1.5 h".to_owned()));
    }

    /// Hectares and one hectare are one unit; a number of prose without a unit has that of the others.
    #[test]
    fn a_unit_counts_once_in_the_singular_and_the_plural() {
        let units = |origin, units: [&str; 3]| -> Vec<String> {
            let mut records = units.map(|unit| record("LB-3", "2024", (2.0, unit)));
            for record in &mut records {
                record.origin = origin;
                if let Some(Value::Number(number)) = &mut record.fields[2].value {
                    number.unit = number.unit.take().filter(|unit| !unit.is_empty());
                }
            }
            let unified = unify(&schema(&[]), &records);
            (0..3).map(|at| unified.frame.cell(at, "took").unwrap().value.to_string()).collect()
        };
        let hectares = units(RecordOrigin::Model, ["hectares", "hectare", "hectares"]);
        assert_eq!(hectares, ["2 hectares", "2 hectares", "2 hectares"]);
        assert_eq!(units(RecordOrigin::Model, ["days", "", "day"]), ["2 days"; 3]);
        assert_eq!(units(RecordOrigin::Table, ["days", "", "days"]), ["2 days", "2", "2 days"]);
    }

    /// Values declared as the same become the first of them, in another language and in the key.
    #[test]
    fn values_declared_as_the_same_are_one() {
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
    fn without_a_key_each_record_is_its_own_thing() {
        let records = [record("LB-3", "2024", (2.0, "h")), record("LB-3", "2024", (2.0, "h"))];
        assert_eq!(unify(&schema(&[]), &records).frame.things.len(), 2);
        assert_eq!(unify(&schema(&["part", "day"]), &records).frame.things.len(), 1);
    }
}
