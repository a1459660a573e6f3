//! Shows typed tables to a model, and reads the plan that it writes (PIKE-RAG §5.4: structuring). Whatever the model names has to
//! be there: a table, a column, a value.

mod fault;
mod shown;
#[cfg(test)]
mod tests;
mod value;

use pikerag_knowledge::data::{
    Aggregate, ColumnRef, DataColumn, DataTable, OrderBy, TableFilter, TableGroup, TableJoin,
    TableMeasure, TableOrder, TablePlan,
};
use pikerag_knowledge::tables::By;
use pikerag_language::fold::fold;
use serde_json::{Value as Json, json};

use crate::catalog::{Catalog, TableView};
use crate::reading::{Form, Reading, Reckoning};

pub use fault::PlanFault;
pub use shown::shown;

/// Tables that one plan joins to its first.
const MOST_JOINS: usize = 3;
/// Tests of a filter, as replies name them.
const TESTS: [&str; 12] = [
    "=",
    "!=",
    ">",
    ">=",
    "<",
    "<=",
    "contains",
    "month",
    "empty",
    "filled",
    "above_mean",
    "below_mean",
];
const MEASURES: [(&str, Aggregate); 7] = [
    ("count", Aggregate::Count),
    ("distinct", Aggregate::Distinct),
    ("sum", Aggregate::Sum),
    ("mean", Aggregate::Mean),
    ("median", Aggregate::Median),
    ("least", Aggregate::Least),
    ("greatest", Aggregate::Greatest),
];
const PERIODS: [(&str, By); 4] =
    [("value", By::Value), ("year", By::Year), ("quarter", By::Quarter), ("month", By::Month)];
const BESIDE: [&str; 4] = ["none", "difference", "growth", "share"];

/// The properties of a reply with a plan, as JSON Schema; `object` makes an object of properties.
pub fn plan_properties(object: fn(Json) -> Json) -> Json {
    let text = || json!({"type": "string"});
    let list = |items: Json| json!({"type": "array", "items": items});
    let one_of = |names: &[&str]| json!({"type": "string", "enum": names});
    let measures: Vec<&str> = MEASURES.iter().map(|it| it.0).collect();
    let periods: Vec<&str> = PERIODS.iter().map(|it| it.0).collect();
    let filters =
        || list(object(json!({"column": text(), "is": one_of(&TESTS), "values": list(text())})));
    json!({
        "fits": {"type": "boolean"},
        "table": text(),
        "join": list(object(json!({"from": text(), "to": text()}))),
        "filters": filters(),
        "group": list(object(json!({"column": text(), "by": one_of(&periods)}))),
        "measures": list(object(json!({"what": one_of(&measures), "column": text()}))),
        "show": list(text()),
        "order": object(json!({"by": text(), "descending": {"type": "boolean"}})),
        "limit": {"type": "integer"},
        "rank": {"type": "integer"},
        "beside": object(json!({"what": one_of(&BESIDE), "filters": filters()})),
    })
}

/// Reads a reply: the reading that it stands for, `None` where it says that no table fits. Only the tables that the model was
/// shown are looked at.
///
/// # Errors
/// It names what is not there, or says nothing that can be worked out.
pub fn read_plan(
    reply: &Json,
    catalog: &Catalog,
    tables: &[usize],
) -> Result<Option<Reading>, PlanFault> {
    if reply.get("fits").and_then(Json::as_bool) == Some(false) {
        return Ok(None);
    }
    let seen =
        tables.iter().filter_map(|at| Some(Seen { at: *at, view: catalog.tables.get(*at)? }));
    let mut reader = Reader { seen: seen.collect(), taken: Vec::new() };
    let plan = reader.plan(reply)?;
    let beside = reply.get("beside");
    let what = word(beside.and_then(|it| it.get("what"))).to_lowercase();
    let other = |reader: &Reader<'_>| -> Result<TablePlan, PlanFault> {
        let filters = beside.and_then(|it| it.get("filters"));
        let filters = objects(filters).map(|filter| reader.filter(filter));
        Ok(TablePlan { filters: filters.collect::<Result<_, _>>()?, ..plan.clone() })
    };
    let form = match (plan.measures.is_empty(), plan.group.is_empty()) {
        (true, _) => Form::Things,
        (false, true) => Form::Figure,
        (false, false) => Form::Groups,
    };
    let reckoning = match what.as_str() {
        "difference" => Reckoning::Difference(plan.clone(), other(&reader)?),
        "growth" => Reckoning::Growth(plan.clone(), other(&reader)?),
        "share" => Reckoning::Share(plan.clone(), other(&reader)?),
        _ => Reckoning::One(plan),
    };
    let n_filters = reckoning.plans().iter().map(|plan| plan.filters.len()).sum();
    Ok(Some(Reading {
        reckoning,
        form,
        unused_words: Vec::new(),
        n_used: n_filters,
        tables: reader.taken.iter().map(|table| table.at).collect(),
        score: 0,
        is_grounded: true,
        nth: rank(reply),
    }))
}

/// Reads the parts of one reply.
struct Reader<'a> {
    seen: Vec<Seen<'a>>,
    /// The tables of the plan; the first is the one that rows are taken from.
    taken: Vec<Seen<'a>>,
}

/// A table that the model was shown, with its place in the catalog.
#[derive(Clone, Copy)]
struct Seen<'a> {
    at: usize,
    view: &'a TableView,
}

impl<'a> Reader<'a> {
    fn plan(&mut self, reply: &Json) -> Result<TablePlan, PlanFault> {
        let table = self.table(&word(reply.get("table")))?;
        self.taken.push(table);
        let mut joins = Vec::new();
        for join in objects(reply.get("join")).take(MOST_JOINS) {
            joins.push(self.join(&word(join.get("from")), &word(join.get("to")))?);
        }
        let filters: Vec<TableFilter> =
            objects(reply.get("filters")).map(|it| self.filter(it)).collect::<Result<_, _>>()?;
        let group =
            objects(reply.get("group")).map(|it| self.group(it)).collect::<Result<_, _>>()?;
        let measures: Vec<TableMeasure> =
            objects(reply.get("measures")).map(|it| self.measure(it)).collect::<Result<_, _>>()?;
        let show: Vec<ColumnRef> = items(reply.get("show"))
            .map(|name| Ok(self.column(&word(Some(name)))?.reference()))
            .collect::<Result<_, PlanFault>>()?;
        if measures.is_empty() && show.is_empty() {
            return Err(PlanFault::Nothing);
        }
        let limit = rank(reply).or_else(|| count(reply, "limit"));
        let order = self.order(reply.get("order"), !measures.is_empty())?;
        let show = if measures.is_empty() { show } else { Vec::new() };
        let table = table.view.table.name.clone();
        Ok(TablePlan { table, joins, filters, group, measures, show, order, limit })
    }

    /// A table by its name in SQL, or as people call it.
    fn table(&self, name: &str) -> Result<Seen<'a>, PlanFault> {
        let wanted = fold(name);
        let by_name = self.seen.iter().find(|it| fold(&it.view.table.name) == wanted);
        let by_title = || self.seen.iter().find(|it| fold(&it.view.table.title) == wanted);
        by_name.or_else(by_title).copied().ok_or_else(|| PlanFault::NoTable {
            name: name.to_owned(),
            known: self.seen.iter().map(|it| it.view.table.name.clone()).collect(),
        })
    }

    /// A column of the plan's tables: `column`, or `table.column`.
    fn column(&self, name: &str) -> Result<Column<'a>, PlanFault> {
        column_in(name, &self.taken).ok_or_else(|| PlanFault::NoColumn {
            name: name.to_owned(),
            known: self.taken.iter().flat_map(|seen| names(&seen.view.table)).collect(),
        })
    }

    /// Puts the rows of another table beside those of the plan. Each of them finds at most one.
    fn join(&mut self, from: &str, to: &str) -> Result<TableJoin, PlanFault> {
        let is_taken = |seen: &Seen<'a>| self.taken.iter().any(|taken| taken.at == seen.at);
        let others: Vec<Seen<'a>> =
            self.seen.iter().copied().filter(|seen| !is_taken(seen)).collect();
        // Either end may be the one that is there already.
        for (from, to) in [(from, to), (to, from)] {
            let (Ok(from), Some(to)) = (self.column(from), column_in(to, &others)) else {
                continue;
            };
            if to.told.filled != to.told.distinct {
                return Err(PlanFault::ManyRows { column: to.name() });
            }
            self.taken.push(to.table);
            return Ok(TableJoin { from: from.reference(), to: to.reference() });
        }
        Err(PlanFault::NoJoin { from: from.to_owned(), to: to.to_owned() })
    }

    fn filter(&self, said: &Json) -> Result<TableFilter, PlanFault> {
        let column = self.column(&word(said.get("column")))?;
        let is = word(said.get("is"));
        let values: Vec<String> = match said.get("values") {
            Some(Json::Array(values)) => values.iter().map(|value| word(Some(value))).collect(),
            other => other.into_iter().map(|value| word(Some(value))).collect(),
        };
        let test = value::test(&column, &is, &values)?;
        Ok(TableFilter { column: column.reference(), test })
    }

    fn group(&self, said: &Json) -> Result<TableGroup, PlanFault> {
        let column = self.column(&word(said.get("column")))?;
        let by = word(said.get("by")).to_lowercase();
        let by = PERIODS.iter().find(|it| it.0 == by).map_or(By::Value, |it| it.1);
        let by = if column.told.kind.is_time() { by } else { By::Value };
        Ok(TableGroup { column: column.reference(), by })
    }

    fn measure(&self, said: &Json) -> Result<TableMeasure, PlanFault> {
        let what = word(said.get("what")).to_lowercase();
        let function = MEASURES.iter().find(|it| it.0 == what).map(|it| it.1);
        let known = || MEASURES.iter().map(|it| it.0.to_owned()).collect();
        let function = function.ok_or_else(|| PlanFault::NoWord {
            key: "what",
            word: what,
            known: known(),
        })?;
        let name = word(said.get("column"));
        let column = match name.as_str() {
            "" | "*" if function == Aggregate::Count => None,
            name => Some(self.column(name)?.reference()),
        };
        Ok(TableMeasure { function, column })
    }

    fn order(
        &self,
        said: Option<&Json>,
        is_measured: bool,
    ) -> Result<Option<TableOrder>, PlanFault> {
        let Some(said) = said.filter(|said| said.is_object()) else { return Ok(None) };
        let descending = said.get("descending").and_then(Json::as_bool).unwrap_or_default();
        let by = match word(said.get("by")).as_str() {
            "" | "none" => return Ok(None),
            "measure" if is_measured => OrderBy::Measure,
            name => OrderBy::Column(self.column(name)?.reference()),
        };
        Ok(Some(TableOrder { by, descending }))
    }
}

/// A column of a table that the model was shown.
struct Column<'a> {
    table: Seen<'a>,
    place: usize,
    told: &'a DataColumn,
}

impl Column<'_> {
    fn reference(&self) -> ColumnRef {
        ColumnRef { table: self.table.view.table.name.clone(), column: self.told.sql.clone() }
    }

    /// As a model writes it.
    fn name(&self) -> String {
        format!("{}.{}", self.table.view.table.name, self.told.sql)
    }
}

/// A column of these tables, by its name in SQL or in the header, with its table's name before it or without.
fn column_in<'a>(name: &str, tables: &[Seen<'a>]) -> Option<Column<'a>> {
    let bare = |name: &str| fold(name.trim().trim_matches(['"', '`']));
    let within = |table: &Seen<'a>, name: &str| {
        let (wanted, columns) = (bare(name), &table.view.table.columns);
        let by_sql = columns.iter().position(|column| fold(&column.sql) == wanted);
        let by_name = || columns.iter().position(|column| fold(&column.name) == wanted);
        let place = by_sql.or_else(by_name)?;
        Some(Column { table: *table, place, told: columns.get(place)? })
    };
    let dotted = name.split_once('.').and_then(|(table, column)| {
        let table = bare(table);
        let found = tables.iter().find(|seen| fold(&seen.view.table.name) == table)?;
        within(found, column)
    });
    dotted.or_else(|| tables.iter().find_map(|table| within(table, name)))
}

/// The columns of a table, as plans may name them.
fn names(table: &DataTable) -> Vec<String> {
    table.columns.iter().map(|column| format!("{}.{}", table.name, column.sql)).collect()
}

/// The rank that is asked for: 2 for the second most.
fn rank(reply: &Json) -> Option<usize> {
    count(reply, "rank").filter(|rank| 1 < *rank)
}

/// A number above 0.
fn count(reply: &Json, key: &str) -> Option<usize> {
    let number = reply.get(key).and_then(Json::as_u64)?;
    usize::try_from(number).ok().filter(|number| 0 < *number)
}

/// A text or a number as a text; empty where there is neither.
fn word(value: Option<&Json>) -> String {
    match value {
        Some(Json::String(text)) => text.trim().to_owned(),
        Some(Json::Number(number)) => number.to_string(),
        Some(Json::Bool(truth)) => truth.to_string(),
        _ => String::new(),
    }
}

fn items(list: Option<&Json>) -> impl Iterator<Item = &Json> {
    list.and_then(Json::as_array).into_iter().flatten()
}

fn objects(list: Option<&Json>) -> impl Iterator<Item = &Json> {
    items(list).filter(|item| item.is_object())
}
