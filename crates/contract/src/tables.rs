//! Evaluates plans over tables by plain loops over rows, following the definition of a plan.

mod values;

use std::cmp::Ordering;

use pikerag_knowledge::tables::By;
use pikerag_knowledge::{
    Aggregate, Arithmetic, ColumnKind, ColumnRef, DataColumn, DataTable, DataValue, OrderBy,
    PlanRows, TableFilter, TableGroup, TableMeasure, TablePlan, TableTerm, TableTest,
};

use values::{compare, day, figure, key, number, order, ranked, readable, stored};

/// A table with its rows in order.
#[derive(Clone, Debug)]
pub struct NaiveTable {
    /// Its names and kinds.
    pub table: DataTable,
    /// The values of each row.
    pub rows: Vec<Vec<DataValue>>,
}

/// The result of a plan; each row with the positions of its source rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NaiveRows {
    /// As [`PlanRows::rows`].
    pub rows: Vec<(Vec<DataValue>, Vec<usize>)>,
    /// As [`PlanRows::matched`].
    pub matched: u64,
    /// As [`PlanRows::unmeasured`].
    pub unmeasured: u64,
}

/// The keys of a group, and its rows with their positions.
type Group<'a, 'b> = (Vec<DataValue>, Vec<&'b (usize, Joined<'a>)>);

/// A row of the first table with its joined rows.
type Joined<'a> = Vec<Option<&'a [DataValue]>>;

/// Evaluates a plan whose tables and columns exist and fit.
pub fn evaluate(tables: &[NaiveTable], plan: &TablePlan) -> NaiveRows {
    let joined = plan.joins.iter().map(|join| &join.to.table);
    let names: Vec<&String> = std::iter::once(&plan.table).chain(joined).collect();
    let of = |name: &String| tables.iter().find(|table| table.table.name == *name).unwrap();
    let naive = Naive { tables: names.into_iter().map(of).collect(), all: tables };
    let mut matching: Vec<(usize, Joined<'_>)> = Vec::new();
    for (place, row) in naive.tables[0].rows.iter().enumerate() {
        let mut row: Joined<'_> = vec![Some(row)];
        for (at, join) in (1..).zip(&plan.joins) {
            let key = naive.value(&row, &join.from);
            let (_, column) = naive.place(&join.to);
            let found = naive.tables[at]
                .rows
                .iter()
                .find(|other| key != DataValue::Empty && order(&other[column], &key).is_eq());
            row.push(found.map(Vec::as_slice));
        }
        if plan.filters.iter().all(|filter| naive.holds(&row, filter)) {
            matching.push((place, row));
        }
    }
    if !plan.measures.is_empty() {
        matching = naive.in_groups(plan, matching);
    }
    let matched = matching.len() as u64;
    if plan.measures.is_empty() {
        return NaiveRows { rows: naive.shown(plan, &matching), matched, unmeasured: 0 };
    }
    let unmeasured =
        match plan.measures.first().and_then(|measure| Some((measure, measure.column.as_ref()?))) {
            None => 0,
            Some((measure, column)) => {
                let is_without = |(_, row): &&(usize, Joined<'_>)| {
                    naive.measured(measure, column, row) == DataValue::Empty
                };
                matching.iter().filter(is_without).count() as u64
            }
        };
    NaiveRows { rows: naive.grouped(plan, &matching), matched, unmeasured }
}

struct Naive<'a> {
    tables: Vec<&'a NaiveTable>,
    all: &'a [NaiveTable],
}

impl Naive<'_> {
    fn place(&self, column: &ColumnRef) -> (usize, usize) {
        let table = self.tables.iter().position(|it| it.table.name == column.table).unwrap();
        let columns = &self.tables[table].table.columns;
        (table, columns.iter().position(|it| it.sql == column.column).unwrap())
    }

    fn column(&self, column: &ColumnRef) -> &DataColumn {
        let (table, place) = self.place(column);
        &self.tables[table].table.columns[place]
    }

    fn value(&self, row: &Joined<'_>, column: &ColumnRef) -> DataValue {
        let (table, place) = self.place(column);
        row[table].map_or(DataValue::Empty, |row| row[place].clone())
    }

    /// The value, if it reads as its column's kind; else none.
    fn read(&self, row: &Joined<'_>, column: &ColumnRef) -> DataValue {
        readable(self.column(column).kind, self.value(row, column))
    }

    fn holds(&self, row: &Joined<'_>, filter: &TableFilter) -> bool {
        let (kind, value) = (self.column(&filter.column).kind, self.value(row, &filter.column));
        let read = self.read(row, &filter.column);
        if let TableTest::AnyOf(filters) = &filter.test {
            return filters.iter().any(|filter| self.holds(row, filter));
        }
        if value == DataValue::Empty {
            return filter.test == TableTest::IsEmpty;
        }
        let same = |other: &DataValue| order(&value, &stored(kind, other)).is_eq();
        match &filter.test {
            TableTest::IsEmpty => false,
            TableTest::IsFilled => true,
            TableTest::Is(values) => values.iter().any(same),
            TableTest::IsNot(values) => !values.iter().any(same),
            TableTest::Contains(words) => {
                value.to_string().to_lowercase().contains(&words.to_lowercase())
            }
            TableTest::Between { from, from_included, to, to_included } => {
                let is_above =
                    |end: &DataValue, is_in: bool| match compare(kind, &read, &stored(kind, end)) {
                        Some(Ordering::Equal) => is_in,
                        found => found == Some(Ordering::Greater),
                    };
                let is_below =
                    |end: &DataValue, is_in: bool| match compare(kind, &read, &stored(kind, end)) {
                        Some(Ordering::Equal) => is_in,
                        found => found == Some(Ordering::Less),
                    };
                from.as_ref().is_none_or(|end| is_above(end, *from_included))
                    && to.as_ref().is_none_or(|end| is_below(end, *to_included))
            }
            TableTest::Within(period) => match kind {
                ColumnKind::Year => value.to_string() == *period,
                _ if period.contains('Q') => {
                    key(By::Quarter, kind, &read) == DataValue::Text(period.clone())
                }
                _ => read != DataValue::Empty && read.to_string().starts_with(period.as_str()),
            },
            TableTest::InMonths(months) => {
                let read = read.to_string();
                months.iter().any(|month| read.get(5..7) == Some(format!("{month:02}").as_str()))
            }
            TableTest::MoreThan(other) => {
                let than = self.read(row, other);
                than != DataValue::Empty && compare(kind, &read, &than) == Some(Ordering::Greater)
            }
            TableTest::Combined { with, range } => self
                .combined(row, &filter.column, with)
                .is_some_and(|number| range.contains(number)),
            TableTest::AnyOf(_) => unreachable!("decided above"),
            TableTest::Among { column, filters, is_in } => {
                let plan = TablePlan {
                    table: column.table.clone(),
                    filters: filters.clone(),
                    show: vec![column.clone()],
                    ..TablePlan::default()
                };
                let others = evaluate(self.all, &plan).rows;
                others.iter().any(|(cells, _)| order(&cells[0], &value).is_eq()) == *is_in
            }
            TableTest::BesideMean { above } => {
                let (table, place) = self.place(&filter.column);
                let numbers: Vec<f64> =
                    self.tables[table].rows.iter().filter_map(|row| number(&row[place])).collect();
                let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
                number(&read).is_some_and(|own| if *above { mean < own } else { own < mean })
            }
        }
    }

    fn shown(
        &self,
        plan: &TablePlan,
        matching: &[(usize, Joined<'_>)],
    ) -> Vec<(Vec<DataValue>, Vec<usize>)> {
        let mut rows: Vec<&(usize, Joined<'_>)> = matching.iter().collect();
        let by = |row: &Joined<'_>| match &plan.order {
            Some(order) => match &order.by {
                OrderBy::Column(column) => self.read(row, column),
                OrderBy::Measure => panic!("rows have no measure"),
            },
            None => DataValue::Empty,
        };
        let is_descending = plan.order.as_ref().is_some_and(|order| order.descending);
        rows.sort_by(|(m, a), (n, b)| ranked(is_descending, &by(a), &by(b)).then(m.cmp(n)));
        let show = |(place, row): &(usize, Joined<'_>)| {
            let cells = plan.show.iter().map(|column| self.value(row, column)).collect();
            (cells, vec![*place], by(row))
        };
        cut(plan, rows.into_iter().map(show).collect(), plan.order.is_some())
    }

    /// The number that two columns of a row make together.
    fn combined(&self, row: &Joined<'_>, column: &ColumnRef, with: &TableTerm) -> Option<f64> {
        let (one, other) = (self.read(row, column), self.read(row, &with.column));
        if with.by == Arithmetic::DaysSince {
            return Some(day(&one)? - day(&other)?);
        }
        let (one, other) = (number(&one)?, number(&other)?);
        match with.by {
            Arithmetic::Plus => Some(one + other),
            Arithmetic::Minus | Arithmetic::DaysSince => Some(one - other),
            Arithmetic::Times => Some(one * other),
            Arithmetic::Over => (other != 0.0).then_some(one / other),
        }
    }

    /// The rows of the groups whose figures fulfil the plan's conditions.
    fn in_groups<'b>(
        &self,
        plan: &TablePlan,
        mut matching: Vec<(usize, Joined<'b>)>,
    ) -> Vec<(usize, Joined<'b>)> {
        if plan.over.is_some() {
            matching.retain(|(_, row)| !self.keys(plan, row).contains(&DataValue::Empty));
        }
        if plan.group.is_empty() {
            return matching;
        }
        for filter in &plan.having {
            let figures: Vec<f64> = matching
                .iter()
                .map(|(_, row)| {
                    let keys = self.keys(plan, row);
                    let same = matching.iter().filter(|(_, other)| self.keys(plan, other) == keys);
                    let rows: Vec<&Joined<'_>> = same.map(|(_, row)| row).collect();
                    number(&self.figure(&filter.measure, &rows)).unwrap_or(f64::NAN)
                })
                .collect();
            let mut figures = figures.into_iter();
            matching.retain(|_| {
                figures.next().is_some_and(|it| !it.is_nan() && filter.range.contains(it))
            });
        }
        matching
    }

    fn keys(&self, plan: &TablePlan, row: &Joined<'_>) -> Vec<DataValue> {
        let key_of = |group: &TableGroup| {
            let kind = self.column(&group.column).kind;
            match group.by {
                By::Value => self.value(row, &group.column),
                by => key(by, kind, &self.read(row, &group.column)),
            }
        };
        plan.group.iter().map(key_of).collect()
    }

    /// The figure of some rows.
    fn figure(&self, measure: &TableMeasure, rows: &[&Joined<'_>]) -> DataValue {
        let of = |rows: &[&Joined<'_>]| {
            figure(measure.function, rows.iter().map(|row| self.value_of(measure, row)).collect())
        };
        let is_in = |row: &&&Joined<'_>| measure.only.iter().all(|filter| self.holds(row, filter));
        let part = of(&rows.iter().filter(is_in).copied().collect::<Vec<_>>());
        if !measure.is_share || measure.only.is_empty() {
            return part;
        }
        match (number(&part), number(&of(rows))) {
            (Some(part), Some(whole)) if whole != 0.0 => {
                DataValue::Real(100.0 * part / whole + 0.0)
            }
            _ => DataValue::Empty,
        }
    }

    /// What a measure counts or computes of a row.
    fn value_of(&self, measure: &TableMeasure, row: &Joined<'_>) -> DataValue {
        match &measure.column {
            None => DataValue::Integer(1),
            Some(column) => self.measured(measure, column, row),
        }
    }

    fn measured(&self, measure: &TableMeasure, column: &ColumnRef, row: &Joined<'_>) -> DataValue {
        if let Some(with) = &measure.with {
            let number = self.combined(row, column, with);
            // -0 is 0 for SQLite.
            return number.map_or(DataValue::Empty, |number| DataValue::Real(number + 0.0));
        }
        match measure.function {
            Aggregate::Count | Aggregate::Distinct => self.value(row, column),
            _ => self.read(row, column),
        }
    }

    fn grouped(
        &self,
        plan: &TablePlan,
        matching: &[(usize, Joined<'_>)],
    ) -> Vec<(Vec<DataValue>, Vec<usize>)> {
        let mut groups: Vec<Group<'_, '_>> = Vec::new();
        for row in matching {
            let keys = self.keys(plan, &row.1);
            match groups.iter_mut().find(|(known, _)| *known == keys) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((keys, vec![row])),
            }
        }
        if groups.is_empty() && plan.group.is_empty() {
            groups.push((Vec::new(), Vec::new()));
        }
        let mut found = Vec::new();
        for (mut cells, rows) in groups {
            for measure in &plan.measures {
                let rows: Vec<&Joined<'_>> = rows.iter().map(|(_, row)| row).collect();
                cells.push(self.figure(measure, &rows));
            }
            found.push((cells, rows.iter().map(|(place, _)| *place).collect::<Vec<usize>>()));
        }
        let width = plan.group.len();
        let by = |cells: &[DataValue]| match plan.order.as_ref().map(|order| &order.by) {
            None => DataValue::Empty,
            Some(OrderBy::Measure) => cells[width].clone(),
            Some(OrderBy::Column(column)) => {
                let place = plan.group.iter().position(|group| group.column == *column).unwrap();
                cells[place].clone()
            }
        };
        let is_descending = plan.order.as_ref().is_some_and(|order| order.descending);
        found.sort_by(|(a, _), (b, _)| {
            let keys = a[..width].iter().zip(&b[..width]);
            let by_key = keys.map(|(a, b)| ranked(false, a, b)).find(|found| found.is_ne());
            ranked(is_descending, &by(a), &by(b)).then(by_key.unwrap_or(Ordering::Equal))
        });
        if let Some(function) = plan.over {
            let figures = found.iter().map(|(cells, _)| cells[width].clone());
            let figures = figures.filter(|cell| number(cell).is_some());
            let cell = match function {
                Aggregate::Count => DataValue::Real(found.len() as f64),
                function => figure(function, figures.collect()),
            };
            let places = found.iter().flat_map(|(_, places)| places.clone());
            return vec![(vec![cell], places.collect())];
        }
        let is_ordered = plan.order.is_some() && !plan.group.is_empty();
        let rows = found.into_iter().map(|(cells, rows)| {
            let by = by(&cells);
            (cells, rows, by)
        });
        cut(plan, rows.collect(), is_ordered)
    }
}

/// The rows within the limit, and those equal to its last row.
fn cut(
    plan: &TablePlan,
    rows: Vec<(Vec<DataValue>, Vec<usize>, DataValue)>,
    is_ordered: bool,
) -> Vec<(Vec<DataValue>, Vec<usize>)> {
    let mut taken = Vec::new();
    let mut last = None;
    for (cells, places, by) in rows {
        if let Some(limit) = plan.limit {
            let is_tie = is_ordered && last.as_ref() == Some(&by);
            if (is_ordered && by == DataValue::Empty) || (limit <= taken.len() && !is_tie) {
                break;
            }
        }
        last = Some(by);
        taken.push((cells, places));
    }
    taken.truncate(PlanRows::MOST);
    taken
}
