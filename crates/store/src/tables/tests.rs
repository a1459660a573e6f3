//! Compares SQLite's results with the definition, evaluated thing by thing.

use std::collections::BTreeMap;

use pikerag_knowledge::records::Quantity;
use pikerag_knowledge::tables::{Column, Condition, Group, Measure, Test, Thing};
use proptest::prelude::*;

use super::*;

const KINDS: [FieldType; 5] =
    [FieldType::Text, FieldType::Date, FieldType::Number, FieldType::Bool, FieldType::Text];

fn frame(things: Vec<[Option<Value>; 5]>) -> Frame {
    let columns = KINDS
        .iter()
        .enumerate()
        .map(|(at, kind)| Column { name: format!("c{at}"), kind: *kind })
        .collect();
    let cell = |value: Value| Cell { folded: value.to_string().to_lowercase(), value, record: 0 };
    let things = things
        .into_iter()
        .enumerate()
        .map(|(at, cells)| Thing {
            cells: cells.into_iter().map(|value| value.map(cell)).collect(),
            records: vec![at],
        })
        .collect();
    Frame { columns, things }
}

/// True, false, or `None` if it cannot be decided.
fn holds(frame: &Frame, thing: usize, condition: &Condition) -> Option<bool> {
    let cell = frame.cell(thing, &condition.field)?;
    match (&condition.test, &cell.value) {
        (Test::Is(words), Value::Text(_)) => Some(cell.folded == *words),
        (Test::Holds(words), Value::Text(_)) => {
            let held: Vec<&str> = cell.folded.split(' ').collect();
            let wanted: Vec<&str> = words.split(' ').collect();
            Some(held.windows(wanted.len()).any(|window| window == wanted))
        }
        (Test::Between { from, to }, Value::Date(date)) => {
            let (first, last) = (first_day(date), last_day(date));
            let from = from.clone().unwrap_or_default();
            let to = to.clone().unwrap_or_else(|| "~".to_owned());
            match (from <= first && last <= to, last < from || to < first) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            }
        }
        (Test::Above(than), Value::Number(number)) => {
            let same = than.unit.is_none() || than.unit == number.unit;
            same.then_some(number.amount > than.amount)
        }
        (Test::IsTrue(wanted), Value::Bool(truth)) => Some(truth == wanted),
        _ => None,
    }
}

fn key(frame: &Frame, thing: usize, group: &Group) -> Option<String> {
    let value = &frame.cell(thing, &group.field)?.value;
    let Value::Date(date) = value else {
        return Some(frame.cell(thing, &group.field)?.folded.clone());
    };
    match group.by {
        By::Value => Some(date.clone()),
        By::Year => Some(date[..4].to_owned()),
        By::Month => date.get(..7).map(str::to_owned),
        By::Quarter => {
            let month: usize = date.get(5..7)?.parse().ok()?;
            Some(format!("{}-Q{}", &date[..4], month.div_ceil(3)))
        }
    }
}

type Keyed = (Vec<Option<String>>, Option<String>);

/// The groups by definition: key and unit → figure and things.
fn twin(frame: &Frame, query: &RecordQuery) -> BTreeMap<Keyed, (f64, Vec<usize>)> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for thing in 0..frame.things.len() {
        if query.conditions.iter().any(|condition| holds(frame, thing, condition) != Some(true)) {
            continue;
        }
        let unit = match query.measure.field().map(|field| frame.cell(thing, field)) {
            Some(None) => continue,
            Some(Some(Cell { value: Value::Number(number), .. }))
                if !matches!(query.measure, Measure::Different(_)) =>
            {
                number.unit.clone()
            }
            _ => None,
        };
        let keys = query.group.iter().map(|group| key(frame, thing, group)).collect();
        groups.entry((keys, unit)).or_default().push(thing);
    }
    let figure = |things: &[usize]| {
        let numbers = || {
            things.iter().filter_map(|thing| {
                match &frame.cell(*thing, query.measure.field()?)?.value {
                    Value::Number(number) => Some(number.amount),
                    _ => None,
                }
            })
        };
        match &query.measure {
            Measure::Count => things.len() as f64,
            Measure::Different(field) => {
                let values: std::collections::BTreeSet<_> = things
                    .iter()
                    .filter_map(|thing| frame.cell(*thing, field).map(|cell| &cell.folded))
                    .collect();
                values.len() as f64
            }
            Measure::Sum(_) => numbers().sum(),
            Measure::Mean(_) => numbers().sum::<f64>() / things.len() as f64,
            Measure::Least(_) => numbers().fold(f64::INFINITY, f64::min),
            Measure::Greatest(_) => numbers().fold(f64::NEG_INFINITY, f64::max),
        }
    };
    groups.into_iter().map(|(key, things)| (key, (figure(&things), things))).collect()
}

fn value(kind: FieldType) -> BoxedStrategy<Option<Value>> {
    let value = match kind {
        FieldType::Text => prop::sample::select(vec!["a", "a b", "b a", "c"])
            .prop_map(|text| Value::Text(text.to_owned()))
            .boxed(),
        FieldType::Date => (2010..2013_u32, 1..13_u32, 1..29_u32, 0..3_u8)
            .prop_map(|(year, month, day, precision)| {
                Value::Date(match precision {
                    0 => format!("{year}"),
                    1 => format!("{year}-{month:02}"),
                    _ => format!("{year}-{month:02}-{day:02}"),
                })
            })
            .boxed(),
        FieldType::Number => (0..20_i32, prop::option::of(Just("kg".to_owned())))
            .prop_map(|(amount, unit)| Value::Number(Quantity { amount: amount.into(), unit }))
            .boxed(),
        FieldType::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
    };
    prop::option::weighted(0.8, value).boxed()
}

fn thing() -> impl Strategy<Value = [Option<Value>; 5]> {
    KINDS.map(value)
}

fn condition() -> impl Strategy<Value = Condition> {
    let at = |at: usize, test: Test| Condition { field: format!("c{at}"), test };
    prop_oneof![
        prop::sample::select(vec!["a", "a b"]).prop_map(move |t| at(0, Test::Is(t.to_owned()))),
        prop::sample::select(vec!["a", "b a"]).prop_map(move |t| at(4, Test::Holds(t.to_owned()))),
        (2010..2013_u32, 1..12_u32).prop_map(move |(year, month)| at(
            1,
            Test::Between {
                from: Some(format!("{year}-{month:02}-01")),
                to: Some(format!("{year}-12-31"))
            }
        )),
        any::<bool>().prop_map(move |truth| at(3, Test::IsTrue(truth))),
        (0..20_i32, prop::option::of(Just("kg".to_owned()))).prop_map(move |(amount, unit)| at(
            2,
            Test::Above(Quantity { amount: amount.into(), unit })
        )),
    ]
}

fn query() -> impl Strategy<Value = RecordQuery> {
    let group = prop_oneof![
        (prop::sample::select(vec![0, 3, 4]))
            .prop_map(|at| Group { field: format!("c{at}"), by: By::Value }),
        prop::sample::select(vec![By::Value, By::Year, By::Quarter, By::Month])
            .prop_map(|by| Group { field: "c1".to_owned(), by }),
    ];
    let measure = prop::sample::select(vec![
        Measure::Count,
        Measure::Different("c4".to_owned()),
        Measure::Sum("c2".to_owned()),
        Measure::Mean("c2".to_owned()),
        Measure::Least("c2".to_owned()),
        Measure::Greatest("c2".to_owned()),
    ]);
    (prop::collection::vec(condition(), 0..3), prop::collection::vec(group, 0..3), measure)
        .prop_map(|(conditions, group, measure)| RecordQuery {
            conditions,
            group,
            measure,
            ..RecordQuery::default()
        })
}

proptest! {
    #[test]
    fn results_equal_the_definition(
        things in prop::collection::vec(thing(), 0..25),
        query in query(),
    ) {
        let frame = frame(things);
        let table = Tables.tabulate(&frame, &query).unwrap();
        let expected = twin(&frame, &query);
        let rows: Vec<&TableRow> = table.rows.iter().filter(|row| !row.things.is_empty()).collect();
        prop_assert_eq!(rows.len(), expected.len());
        for row in rows {
            let keys = query.group.iter().map(|group| key(&frame, row.things[0], group)).collect();
            let (figure, things) = &expected[&(keys, row.unit.clone())];
            prop_assert!((figure - row.value).abs() < 1e-9, "{} {}", figure, row.value);
            prop_assert_eq!(things, &row.things);
        }
        let verdict = |thing: usize| {
            let verdicts: Vec<Option<bool>> =
                query.conditions.iter().map(|condition| holds(&frame, thing, condition)).collect();
            match (verdicts.contains(&Some(false)), verdicts.contains(&None)) {
                (true, _) => Some(false),
                (false, true) => None,
                (false, false) => Some(true),
            }
        };
        let all = 0..frame.things.len();
        prop_assert_eq!(table.matched, all.clone().filter(|thing| verdict(*thing) == Some(true)).count());
        prop_assert_eq!(table.undecided, all.filter(|thing| verdict(*thing).is_none()).count());
    }
}

fn drugs() -> Frame {
    let text = |text: &str| Some(Value::Text(text.to_owned()));
    let row = |name, date: &str, company| {
        [text(name), Some(Value::Date(date.to_owned())), None, None, text(company)]
    };
    frame(vec![
        row("Ada", "2010-03-01", "North"),
        row("Bea", "2011", "South'; DROP TABLE things; --"),
        row("Cea", "2011-12-31", "North"),
        row("Dea", "2012-01-01", "East"),
    ])
}

#[test]
fn a_limit_keeps_rows_equal_to_the_last_one() {
    let query = RecordQuery {
        group: vec![Group { field: "c4".to_owned(), by: By::Value }],
        order: Order::Greatest,
        limit: Some(1),
        ..RecordQuery::default()
    };
    let first = Tables.tabulate(&drugs(), &query).unwrap();
    assert_eq!(first.rows[0].key, ["North"]);
    assert_eq!((first.rows.len(), first.rows[0].things.as_slice()), (1, &[0, 2][..]));
    let two = Tables.tabulate(&drugs(), &RecordQuery { limit: Some(2), ..query }).unwrap();
    assert_eq!(two.rows.len(), 3);
}

#[test]
fn no_match_gives_a_count_of_zero() {
    let nobody = Condition { field: "c4".to_owned(), test: Test::Is("x' OR 1=1".to_owned()) };
    let query = RecordQuery { conditions: vec![nobody], ..RecordQuery::default() };
    let table = Tables.tabulate(&drugs(), &query).unwrap();
    assert_eq!((table.rows.len(), table.rows[0].value, table.matched), (1, 0.0, 0));
}

#[test]
fn errors_name_the_unsuitable_field() {
    let sum = |field: &str| RecordQuery {
        measure: Measure::Sum(field.to_owned()),
        ..RecordQuery::default()
    };
    let error = Tables.tabulate(&drugs(), &sum("c0")).unwrap_err().to_string();
    assert_eq!(error, "`c0` is of type text, and cannot be used in calculations");
    let error = Tables.tabulate(&drugs(), &sum("x")).unwrap_err().to_string();
    assert_eq!(error, "the query names `x`, which is no field of these records");
}
