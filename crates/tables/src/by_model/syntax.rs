//! Takes statements apart without knowing the tables: the parts of a query, calls, and the wrapping around a column.

use pikerag_knowledge::tables::By;
use pikerag_language::fold::fold;
use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, GroupByExpr, Ident, LimitClause, OrderByKind, Query,
    Select, SelectItem, SetExpr, UnaryOperator, Value, With,
};

use super::fault::{PlanFault, unsupported};

pub(super) const ONE_SELECT: &str = "write one SELECT over the tables, without UNION or window functions; a subquery in FROM, or a WITH, only for one figure over groups";

/// The parts of a query that plans can hold.
pub(super) struct Parts<'q> {
    pub(super) select: &'q Select,
    /// Named subqueries.
    pub(super) with: Option<&'q With>,
    /// The condition on groups.
    pub(super) having: Option<&'q Expr>,
    /// The first expression of the order, and whether the greatest comes first.
    pub(super) order: Option<(&'q Expr, bool)>,
    pub(super) limit: Option<usize>,
    /// The number of rows to skip.
    pub(super) offset: usize,
}

/// The expression of the only column.
pub(super) fn only(items: &[SelectItem]) -> Option<&Expr> {
    match items {
        [
            SelectItem::UnnamedExpr(expression)
            | SelectItem::ExprWithAlias { expr: expression, .. },
        ] => Some(expression),
        _ => None,
    }
}

impl<'q> Parts<'q> {
    /// # Errors
    /// The query has a part that no plan can hold.
    pub(super) fn of(query: &'q Query) -> Result<Self, PlanFault> {
        let no = || unsupported(query, ONE_SELECT);
        let select = match query.body.as_ref() {
            SetExpr::Select(select) => select.as_ref(),
            SetExpr::Query(inner) if query.order_by.is_none() && query.limit_clause.is_none() => {
                return Self::of(inner);
            }
            _ => return Err(no()),
        };
        let has_more = query.fetch.is_some()
            || select.qualify.is_some()
            || select.top.is_some()
            || select.into.is_some();
        if has_more {
            return Err(no());
        }
        let order = match query.order_by.as_ref().map(|order| &order.kind) {
            None => None,
            Some(OrderByKind::Expressions(keys)) => keys.first(),
            Some(OrderByKind::All(_)) => return Err(no()),
        };
        let count = |expression: &Expr| {
            let number = number(expression).filter(|it| 0.0 <= *it && it.fract() == 0.0);
            number.map(|number| number as usize).ok_or_else(no)
        };
        let (limit, offset) = match &query.limit_clause {
            None => (None, None),
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
        };
        Ok(Self {
            select,
            with: query.with.as_ref(),
            having: select.having.as_ref(),
            order: order.map(|key| {
                let written = key.options.to_string();
                (&key.expr, written.to_uppercase().contains("DESC"))
            }),
            limit: limit.map(count).transpose()?.filter(|limit| 0 < *limit),
            offset: offset.map(count).transpose()?.unwrap_or_default(),
        })
    }

    /// Whether the query has neither order nor limit.
    pub(super) fn is_whole(&self) -> bool {
        self.order.is_none() && self.limit.is_none() && self.offset == 0
    }

    pub(super) fn groups(&self) -> Result<&'q [Expr], PlanFault> {
        match &self.select.group_by {
            GroupByExpr::Expressions(keys, modifiers) if modifiers.is_empty() => Ok(keys),
            other => Err(unsupported(other, ONE_SELECT)),
        }
    }

    /// The column expression behind an alias or a column number; for others, the expression itself.
    pub(super) fn resolved<'e>(&self, expression: &'e Expr) -> &'e Expr
    where
        'q: 'e,
    {
        let items = &self.select.projection;
        if let Some(place) = number(expression) {
            let item = (place as usize).checked_sub(1).and_then(|at| items.get(at));
            return item.and_then(|item| only(std::slice::from_ref(item))).unwrap_or(expression);
        }
        let Expr::Identifier(Ident { value, .. }) = peeled(expression) else { return expression };
        let wanted = fold(value);
        let named = items.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if fold(&alias.value) == wanted => Some(expr),
            _ => None,
        });
        named.unwrap_or(expression)
    }
}

/// An expression without brackets and casts.
pub(super) fn peeled(expression: &Expr) -> &Expr {
    let mut inner = expression;
    while let Expr::Nested(next)
    | Expr::Cast { expr: next, .. }
    | Expr::Collate { expr: next, .. } = inner
    {
        inner = next;
    }
    inner
}

/// An expression without parts that change no value as plans compare it: brackets, casts, case, blanks.
pub(super) fn bare(expression: &Expr) -> &Expr {
    let mut inner = peeled(expression);
    loop {
        let next = match inner {
            Expr::Trim { expr, .. } => expr,
            Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } if is_one(right) => left,
            Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } if is_one(left) => right,
            Expr::Function(_) => match Call::of(inner) {
                Some(Call { name, inputs, is_distinct: false, filter: None })
                    if inputs.len() == 1 && is_plain(&name) =>
                {
                    let Some(first) = inputs.first() else { return inner };
                    inner = peeled(first);
                    continue;
                }
                _ => return inner,
            },
            _ => return inner,
        };
        inner = peeled(next);
    }
}

/// Whether a function returns its one input, as far as plans can see.
fn is_plain(name: &str) -> bool {
    matches!(name, "lower" | "upper" | "ltrim" | "rtrim" | "date" | "datetime")
}

/// A figure without the steps after its computation: rounding, and a default for a missing value. Within an aggregate
/// or a condition, both would change the figure.
pub(super) fn unrounded(expression: &Expr) -> &Expr {
    let mut inner = bare(expression);
    while let Some(Call { name, inputs, is_distinct: false, filter: None }) = Call::of(inner)
        && matches!(name.as_str(), "round" | "coalesce" | "ifnull")
        && let Some(first) = inputs.first()
    {
        inner = bare(first);
    }
    inner
}

fn is_one(expression: &Expr) -> bool {
    number(expression) == Some(1.0)
}

/// A written number.
pub(super) fn number(expression: &Expr) -> Option<f64> {
    match peeled(expression) {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.parse().ok(),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => number(expr).map(|it| -it),
        _ => None,
    }
}

/// A function call; `*` counts as no input.
pub(super) struct Call<'e> {
    /// The name in lower case.
    pub(super) name: String,
    pub(super) inputs: Vec<&'e Expr>,
    pub(super) is_distinct: bool,
    /// The condition on the call's rows.
    pub(super) filter: Option<&'e Expr>,
}

impl<'e> Call<'e> {
    /// `None` if the expression is no call, or has parts that no plan can hold, such as a window.
    pub(super) fn of(expression: &'e Expr) -> Option<Self> {
        let Expr::Function(Function { name, args, filter, over: None, within_group, .. }) =
            expression
        else {
            return None;
        };
        let list = match args {
            FunctionArguments::List(list) if within_group.is_empty() => list,
            _ => return None,
        };
        let FunctionArgumentList { duplicate_treatment, args, .. } = list;
        let mut inputs = Vec::new();
        for arg in args {
            match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => inputs.push(expression),
                FunctionArg::Unnamed(
                    FunctionArgExpr::Wildcard | FunctionArgExpr::QualifiedWildcard(_),
                ) => {}
                _ => return None,
            }
        }
        Some(Self {
            name: name.to_string().to_lowercase(),
            inputs,
            is_distinct: *duplicate_treatment == Some(DuplicateTreatment::Distinct),
            filter: filter.as_deref(),
        })
    }
}

/// A part of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatePart {
    Year,
    /// A month of any year.
    Month,
    /// A month of one year: `2013-07`.
    YearAndMonth,
    Day,
}

impl DatePart {
    /// The period of each group; `None` for months of any year.
    pub(super) fn by(self) -> Option<By> {
        match self {
            Self::Year => Some(By::Year),
            Self::YearAndMonth => Some(By::Month),
            Self::Day => Some(By::Value),
            Self::Month => None,
        }
    }

    pub(super) fn of_format(format: &str) -> Option<Self> {
        match format {
            "%Y" => Some(Self::Year),
            "%m" => Some(Self::Month),
            "%Y-%m" => Some(Self::YearAndMonth),
            "%Y-%m-%d" => Some(Self::Day),
            _ => None,
        }
    }

    pub(super) fn of_place(start: Option<f64>, length: Option<f64>) -> Option<Self> {
        match (start? as i64, length? as i64) {
            (0 | 1, 4) => Some(Self::Year),
            (6, 2) => Some(Self::Month),
            (0 | 1, 7) => Some(Self::YearAndMonth),
            (0 | 1, 10) => Some(Self::Day),
            _ => None,
        }
    }
}
