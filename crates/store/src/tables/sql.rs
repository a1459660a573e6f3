//! Translates a query to SQL. Column names are our numbers; all values of the query are bound.

use std::fmt::Write;

use pikerag_knowledge::QueryError;
use pikerag_knowledge::records::{FieldType, Quantity};
use pikerag_knowledge::tables::{By, Condition, Frame, Group, Measure, Order, RecordQuery, Test};
use rusqlite::types::Value as Sql;

/// Two statements over `things`, with the same bound values.
pub(super) struct Statement {
    /// One row: matched, undecided, unmeasured.
    pub(super) counts: String,
    /// A row for each group: figure, unit, the things as a JSON list, then the keys.
    pub(super) groups: String,
    pub(super) bound: Vec<Sql>,
}

impl Statement {
    pub(super) fn of(frame: &Frame, query: &RecordQuery) -> Result<Self, QueryError> {
        if RecordQuery::MOST_GROUPS < query.group.len() {
            return Err(QueryError::TooManyGroups);
        }
        let mut bound = Vec::new();
        let mut holds = String::from("TRUE");
        for condition in &query.conditions {
            let _ = write!(holds, " AND ({})", test(frame, condition, &mut bound)?);
        }
        let (figure, unit, measured) = measure(frame, &query.measure)?;
        let mut keys = String::new();
        let mut by = vec![unit.clone()];
        for group in &query.group {
            let key = key(frame, group)?;
            let _ = write!(keys, ", CAST({key} AS TEXT)");
            by.push(key);
        }
        // Things without a value come last; units of one group are adjacent.
        let by_key = by.iter().skip(1).chain(by.first()).fold(String::new(), |mut order, key| {
            let _ = write!(order, "{key} IS NULL, {key}, ");
            order
        });
        let order = match query.order {
            Order::Key => format!("{by_key}1"),
            Order::Greatest => format!("1 DESC, {by_key}1"),
            Order::Least => format!("1, {by_key}1"),
        };
        // Without groups there is one figure even if nothing matches.
        let grouped = match query.group.is_empty() && unit == "NULL" {
            true => String::new(),
            false => format!("GROUP BY {} ORDER BY {order}", by.join(", ")),
        };
        Ok(Self {
            counts: format!(
                "SELECT count(*) FILTER (WHERE {holds}), count(*) FILTER (WHERE ({holds}) IS NULL), \
                 count(*) FILTER (WHERE ({holds}) AND NOT ({measured})) FROM things"
            ),
            groups: format!(
                "SELECT {figure}, {unit}, json_group_array(id ORDER BY id){keys} FROM things \
                 WHERE ({holds}) AND {measured} {grouped}"
            ),
            bound,
        })
    }
}

fn column<'a>(frame: &'a Frame, name: &str) -> Result<(usize, FieldType), QueryError> {
    let place = frame.column(name).ok_or_else(|| QueryError::NoField(name.to_owned()))?;
    let kind = frame.columns.get(place).map(|column: &'a _| column.kind);
    Ok((place, kind.unwrap_or_default()))
}

fn wrong(field: &str, kind: FieldType, wanted: &'static str) -> QueryError {
    QueryError::WrongType { field: field.to_owned(), kind: kind.as_str(), wanted }
}

/// A condition as SQL: true, false, or null if it cannot be decided.
fn test(frame: &Frame, condition: &Condition, bound: &mut Vec<Sql>) -> Result<String, QueryError> {
    let Condition { field, test } = condition;
    let (at, kind) = column(frame, field)?;
    let mut bind = |value: Sql| {
        bound.push(value);
        format!("?{}", bound.len())
    };
    let text = |text: &str| Sql::Text(text.to_owned());
    Ok(match (test, kind) {
        (Test::Is(words), FieldType::Text) => format!("f{at} = {}", bind(text(words))),
        (Test::Holds(words), FieldType::Text) => {
            format!("instr(' ' || f{at} || ' ', ' ' || {} || ' ') > 0", bind(text(words)))
        }
        (Test::Is(_) | Test::Holds(_), kind) => {
            return Err(wrong(field, kind, "compared by words"));
        }
        (Test::Between { from, to }, FieldType::Date) => {
            let from = bind(text(from.as_deref().unwrap_or("")));
            // No day sorts behind this.
            let to = bind(text(to.as_deref().unwrap_or("~")));
            format!(
                "CASE WHEN a{at} >= {from} AND z{at} <= {to} THEN 1 \
                 WHEN z{at} < {from} OR a{at} > {to} THEN 0 END"
            )
        }
        (Test::Between { .. }, kind) => return Err(wrong(field, kind, "compared with days")),
        (Test::IsTrue(truth), FieldType::Bool) => {
            format!("b{at} = {}", bind(Sql::Integer((*truth).into())))
        }
        (Test::IsTrue(_), kind) => return Err(wrong(field, kind, "tested for true or false")),
        (
            Test::AtLeast(than) | Test::Above(than) | Test::AtMost(than) | Test::Below(than),
            FieldType::Number,
        ) => {
            let Quantity { amount, unit } = than;
            let sign = match test {
                Test::AtLeast(_) => ">=",
                Test::Above(_) => ">",
                Test::AtMost(_) => "<=",
                _ => "<",
            };
            let amount = bind(Sql::Real(*amount));
            let compared = format!("n{at} {sign} {amount}");
            match unit {
                // Amounts in other units cannot be compared.
                Some(unit) => {
                    format!("CASE WHEN u{at} = {} THEN {compared} END", bind(text(unit)))
                }
                None => compared,
            }
        }
        (_, kind) => return Err(wrong(field, kind, "compared with a number")),
    })
}

/// SQL for the figure, its unit, and whether a thing has the measured field.
fn measure(frame: &Frame, measure: &Measure) -> Result<(String, String, String), QueryError> {
    let Some(field) = measure.field() else {
        return Ok(("CAST(count(*) AS REAL)".to_owned(), "NULL".to_owned(), "TRUE".to_owned()));
    };
    let (at, kind) = column(frame, field)?;
    if matches!(measure, Measure::Different(_)) {
        let value = value(at, kind);
        let different = format!("CAST(count(DISTINCT {value}) AS REAL)");
        return Ok((different, "NULL".to_owned(), format!("{value} IS NOT NULL")));
    }
    if kind != FieldType::Number {
        return Err(wrong(field, kind, "used in calculations"));
    }
    let function = match measure {
        Measure::Sum(_) => "total",
        Measure::Mean(_) => "avg",
        Measure::Least(_) => "min",
        _ => "max",
    };
    Ok((format!("{function}(n{at})"), format!("u{at}"), format!("n{at} IS NOT NULL")))
}

/// The SQL by which values are distinguished.
fn value(at: usize, kind: FieldType) -> String {
    match kind {
        FieldType::Text => format!("f{at}"),
        FieldType::Number => format!("n{at} || ifnull(' ' || u{at}, '')"),
        FieldType::Date => format!("a{at} || z{at}"),
        FieldType::Bool => format!("b{at}"),
    }
}

fn key(frame: &Frame, group: &Group) -> Result<String, QueryError> {
    let (at, kind) = column(frame, &group.field)?;
    if group.by != By::Value && kind != FieldType::Date {
        return Err(wrong(&group.field, kind, "grouped by time"));
    }
    // A date that is not precise enough belongs to no period.
    let period = |length: usize, shown: &str| {
        format!(
            "CASE WHEN substr(a{at}, 1, {length}) = substr(z{at}, 1, {length}) THEN {shown} END"
        )
    };
    let year = format!("substr(a{at}, 1, 4)");
    let quarter = |of: &str| format!("((CAST(substr({of}{at}, 6, 2) AS INTEGER) + 2) / 3)");
    Ok(match group.by {
        By::Value if kind == FieldType::Number => format!("n{at}"),
        By::Value => value(at, kind),
        By::Year => period(4, &year),
        By::Quarter => format!(
            "CASE WHEN substr(a{at}, 1, 4) = substr(z{at}, 1, 4) AND {} = {} THEN {year} || '-Q' || {} END",
            quarter("a"),
            quarter("z"),
            quarter("a")
        ),
        By::Month => period(7, &format!("substr(a{at}, 1, 7)")),
    })
}
