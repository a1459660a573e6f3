//! Finds a statement's tables and columns among those that the model was shown.

use pikerag_knowledge::data::{
    ColumnKind, ColumnRef, DataColumn, DataTable, TableFilter, TableJoin, TablePlan, TableTest,
};
use pikerag_language::fold::fold;
use sqlparser::ast::{
    BinaryOperator, Expr, Ident, JoinConstraint, JoinOperator, ObjectName, TableFactor,
    TableWithJoins,
};

use super::fault::{PlanFault, unsupported};
use super::syntax::bare;
use crate::catalog::TableView;

/// The most tables that one plan joins to its first.
const MOST_JOINS: usize = 3;

/// A table that the model was shown, with its place in the catalog.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) at: usize,
    pub(super) view: &'a TableView,
}

/// A column of a table that the model was shown.
pub(super) struct Column<'a> {
    pub(super) table: Seen<'a>,
    pub(super) place: usize,
    pub(super) data: &'a DataColumn,
}

impl Column<'_> {
    pub(super) fn reference(&self) -> ColumnRef {
        ColumnRef { table: self.table.view.table.name.clone(), column: self.data.sql.clone() }
    }

    pub(super) fn is_date(&self) -> bool {
        self.data.kind == ColumnKind::Date
    }

    /// Whether no two rows have the same value.
    fn is_unique(&self) -> bool {
        self.data.filled == self.data.distinct
    }

    /// The column's name as a model writes it.
    fn name(&self) -> String {
        format!("{}.{}", self.table.view.table.name, self.data.sql)
    }
}

/// The tables of a `FROM`. The first one provides the rows.
pub(super) struct Scope<'a> {
    pub(super) tables: Vec<Named<'a>>,
    joins: Vec<TableJoin>,
    /// Conditions of joins without `LEFT`: a joined row must exist.
    required: Vec<TableFilter>,
}

/// A table under the name that the statement gives it.
pub(super) struct Named<'a> {
    pub(super) seen: Seen<'a>,
    alias: String,
}

impl<'a> Scope<'a> {
    /// # Errors
    /// The `FROM` names an unknown table or column, or joins by something other than columns with equal values.
    pub(super) fn of(seen: &[Seen<'a>], from: &[TableWithJoins]) -> Result<Self, PlanFault> {
        const HINT: &str =
            "rows are taken from one table, and other tables joined to it by JOIN … ON a.x = b.y";
        let [first] = from else { return Err(unsupported("FROM", HINT)) };
        let mut scope = Self {
            tables: vec![named(seen, &first.relation)?],
            joins: Vec::new(),
            required: Vec::new(),
        };
        if MOST_JOINS < first.joins.len() {
            return Err(unsupported(first, "at most three tables are joined to the first"));
        }
        for join in &first.joins {
            let (constraint, is_inner) = match &join.join_operator {
                JoinOperator::Join(on) | JoinOperator::Inner(on) => (on, true),
                JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (on, false),
                _ => return Err(unsupported(join, HINT)),
            };
            scope.tables.push(named(seen, &join.relation)?);
            let (from, to) = match constraint {
                JoinConstraint::On(Expr::BinaryOp { left, op: BinaryOperator::Eq, right }) => {
                    (scope.column(bare(left))?, scope.column(bare(right))?)
                }
                JoinConstraint::Using(columns) if columns.len() == 1 => scope.shared(columns)?,
                _ => return Err(unsupported(join, HINT)),
            };
            let joined = scope.joined(from, to, is_inner)?;
            if is_inner {
                let test = TableTest::IsFilled;
                scope.required.push(TableFilter { column: joined.to.clone(), test });
            }
            scope.joins.push(joined);
        }
        Ok(scope)
    }

    /// A plan over all rows of these tables.
    pub(super) fn plan(&self) -> TablePlan {
        let table = self.tables.first().map(|table| table.seen.view.table.name.clone());
        TablePlan {
            table: table.unwrap_or_default(),
            joins: self.joins.clone(),
            ..TablePlan::default()
        }
    }

    /// Adds the conditions of the joins, unless a condition on the joined table implies them.
    pub(super) fn require(&self, plan: &mut TablePlan) {
        for required in &self.required {
            let is_stated = |filter: &TableFilter| {
                filter.column.table == required.column.table && filter.test != TableTest::IsEmpty
            };
            if !plan.filters.iter().any(is_stated) {
                plan.filters.push(required.clone());
            }
        }
    }

    /// Whether a join sets this condition.
    pub(super) fn is_required(&self, filter: &TableFilter) -> bool {
        self.required.contains(filter)
    }

    /// All columns, in order.
    pub(super) fn columns(&self) -> impl Iterator<Item = ColumnRef> {
        let of = |table: &DataTable| {
            let name = table.name.clone();
            let columns = table.columns.iter().map(|column| column.sql.clone());
            columns.map(|column| ColumnRef { table: name.clone(), column }).collect::<Vec<_>>()
        };
        self.tables.iter().flat_map(move |table| of(&table.seen.view.table))
    }

    /// Reads an expression as a column.
    ///
    /// # Errors
    /// The expression is no column, or no table has the column.
    pub(super) fn column(&self, expression: &Expr) -> Result<Column<'a>, PlanFault> {
        match expression {
            Expr::Identifier(name) => self.lookup(None, name),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [.., table, column] => self.lookup(Some(table), column),
                _ => Err(unsupported(expression, "it is no column")),
            },
            _ => Err(unsupported(expression, "a column by its name is expected here")),
        }
    }

    fn lookup(&self, table: Option<&Ident>, name: &Ident) -> Result<Column<'a>, PlanFault> {
        let table = table.map(|table| fold(&table.value));
        let is_of = |named: &&Named<'a>| {
            table.as_ref().is_none_or(|table| {
                *table == named.alias || *table == fold(&named.seen.view.table.name)
            })
        };
        let found =
            self.tables.iter().filter(is_of).find_map(|named| within(named.seen, &name.value));
        found.ok_or_else(|| PlanFault::NoColumn {
            name: name.value.clone(),
            known: self.tables.iter().flat_map(|named| names(&named.seen.view.table)).collect(),
        })
    }

    /// The column of this name in the last table and in an earlier table.
    fn shared(&self, columns: &[ObjectName]) -> Result<(Column<'a>, Column<'a>), PlanFault> {
        let name = columns.iter().map(last_part).collect::<String>();
        let (last, before) =
            self.tables.split_last().map_or((None, [].as_slice()), |(l, b)| (Some(l), b));
        let from = before.iter().find_map(|named| within(named.seen, &name));
        let to = last.and_then(|named| within(named.seen, &name));
        from.zip(to).ok_or_else(|| PlanFault::NoJoin { from: name.clone(), to: name })
    }

    /// Joins the last table to the others, so that each row finds at most one row of it. If the tables are joined in
    /// the opposite direction, the second table provides the rows.
    fn joined(
        &mut self,
        one: Column<'a>,
        other: Column<'a>,
        is_inner: bool,
    ) -> Result<TableJoin, PlanFault> {
        let last = self.tables.last().map(|table| table.seen.at);
        let is_last = |column: &Column<'a>| Some(column.table.at) == last;
        let (mut from, mut to) = match (is_last(&one), is_last(&other)) {
            (false, true) => (one, other),
            (true, false) => (other, one),
            _ => return Err(PlanFault::NoJoin { from: one.name(), to: other.name() }),
        };
        if is_inner && self.tables.len() == 2 && !to.is_unique() && from.is_unique() {
            self.tables.reverse();
            (from, to) = (to, from);
        }
        match to.is_unique() {
            true => Ok(TableJoin { from: from.reference(), to: to.reference() }),
            false => Err(PlanFault::ManyRows { column: to.name() }),
        }
    }
}

/// A table by its SQL name or by its title.
fn named<'a>(seen: &[Seen<'a>], factor: &TableFactor) -> Result<Named<'a>, PlanFault> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else {
        return Err(unsupported(factor, "FROM names tables, no subquery"));
    };
    let name = last_part(name);
    let wanted = fold(&name);
    let by_name = seen.iter().find(|it| fold(&it.view.table.name) == wanted);
    let by_title = || seen.iter().find(|it| fold(&it.view.table.title) == wanted);
    let found = by_name.or_else(by_title).copied().ok_or_else(|| PlanFault::NoTable {
        name,
        known: seen.iter().map(|it| it.view.table.name.clone()).collect(),
    })?;
    Ok(Named { seen: found, alias: alias.as_ref().map_or(wanted, |alias| fold(&alias.name.value)) })
}

/// A column of a table, by its name in SQL or in the header.
fn within<'a>(table: Seen<'a>, name: &str) -> Option<Column<'a>> {
    let (wanted, columns) = (fold(name.trim()), &table.view.table.columns);
    let by_sql = columns.iter().position(|column| fold(&column.sql) == wanted);
    let by_name = || columns.iter().position(|column| fold(&column.name) == wanted);
    let place = by_sql.or_else(by_name)?;
    Some(Column { table, place, data: columns.get(place)? })
}

/// The names of a table's columns, as statements may write them.
fn names(table: &DataTable) -> Vec<String> {
    table.columns.iter().map(|column| format!("{}.{}", table.name, column.sql)).collect()
}

/// A name without its schema.
fn last_part(name: &ObjectName) -> String {
    let part = name.0.last().and_then(|part| part.as_ident());
    part.map(|ident| ident.value.clone()).unwrap_or_default()
}
