//! Shows typed tables to a model and reads the model's `SELECT` as a plan (PIKE-RAG §5.4: structuring). Models know SQL
//! better than any format of our own. pikerag never runs the statement. Each table, column and value in it must exist.
//! A part that no plan can hold is a fault, which says what to write instead.

mod aggregates;
mod conditions;
mod expressions;
mod fault;
mod figures;
mod groups;
mod names;
mod over;
mod patterns;
mod query;
mod ranges;
mod shown;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

use pikerag_knowledge::data::TablePlan;
use sqlparser::ast::{Expr, Query, Statement as Sql};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::catalog::Catalog;
use crate::reading::{Computation, Form, Reading};
use conditions::Reader;
use names::{Scope, Seen};
use query::Statement;
use syntax::{Parts, only, peeled};

pub use fault::PlanFault;
pub use shown::{Room, outline, shown};

/// The most bytes of a statement.
const MOST_BYTES: usize = 10_000;
/// The most words, numbers and signs of a statement. An expression is at most half as deep, and the stack holds that.
const MOST_TOKENS: usize = 300;

/// Reads a statement as a plan. `None` if the statement is empty, because no table fits. It uses only the tables that
/// the model was shown.
///
/// # Errors
/// The text is no `SELECT`, names an unknown table, column or value, or contains a part that no plan can hold.
pub fn read_statement(
    statement: &str,
    catalog: &Catalog,
    tables: &[usize],
) -> Result<Option<Reading>, PlanFault> {
    if statement.trim().is_empty() {
        return Ok(None);
    }
    let query = parsed(statement)?;
    let seen =
        tables.iter().filter_map(|at| Some(Seen { at: *at, view: catalog.tables.get(*at)? }));
    Statement { seen: seen.collect() }.reading(&query).map(Some)
}

fn parsed(statement: &str) -> Result<Box<Query>, PlanFault> {
    let too_long = PlanFault::TooLong { most: MOST_TOKENS };
    if MOST_BYTES < statement.len() {
        return Err(too_long);
    }
    let mut tokens = Tokenizer::new(&SQLiteDialect {}, statement)
        .tokenize()
        .map_err(|error| PlanFault::NoSql(error.to_string()))?;
    tokens.retain(|token| !matches!(token, Token::Whitespace(_)));
    if MOST_TOKENS < tokens.len() {
        return Err(too_long);
    }
    let mut parsed = Parser::new(&SQLiteDialect {})
        .with_tokens(tokens)
        .parse_statements()
        .map_err(|error| PlanFault::NoSql(error.to_string()))?;
    match (parsed.pop(), parsed.is_empty()) {
        (Some(Sql::Query(query)), true) => Ok(query),
        _ => Err(PlanFault::NoSql("one SELECT is expected".to_owned())),
    }
}

impl Statement<'_> {
    /// # Errors
    /// The query names an unknown table, column or value, or contains a part that no plan can hold.
    fn reading(&self, query: &Query) -> Result<Reading, PlanFault> {
        let parts = Parts::of(query)?;
        if let Some(Expr::Exists { subquery, negated: false }) =
            only(&parts.select.projection).map(peeled)
        {
            let parts = Parts::of(subquery)?;
            let scope = Scope::of(&self.seen, &parts.select.from)?;
            let reader = Reader { seen: &self.seen, scope: &scope };
            let filters = reader.filters(parts.select.selection.as_ref())?;
            let show = scope.columns().take(1).collect();
            let mut plan = TablePlan { filters, show, ..scope.plan() };
            scope.require(&mut plan);
            return Ok(self.read(Computation::One(plan), Form::Exists, None));
        }
        if let Some(computation) = self.computation(&parts)? {
            return Ok(self.read(computation, Form::Figure, None));
        }
        let (plan, nth, form) = self.plan(&parts)?;
        Ok(self.read(Computation::One(plan), form, nth))
    }

    /// Wraps the computation in a reading with the tables that it uses.
    fn read(&self, computation: Computation, form: Form, nth: Option<usize>) -> Reading {
        let plans = computation.plans();
        let n_used = plans.iter().map(|plan| plan.filters.len()).sum();
        let mut tables: Vec<usize> = Vec::new();
        for plan in &plans {
            let joined = plan.joins.iter().map(|join| &join.to.table);
            for name in std::iter::once(&plan.table).chain(joined).chain(plan.looked_up()) {
                let found = self.seen.iter().find(|seen| seen.view.table.name == *name);
                tables.extend(found.map(|seen| seen.at).filter(|at| !tables.contains(at)));
            }
        }
        Reading {
            computation,
            form,
            unused_words: Vec::new(),
            n_used,
            tables,
            score: 0,
            is_grounded: true,
            nth,
        }
    }
}
