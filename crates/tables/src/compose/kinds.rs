//! Composes the past for a question about the next value: how often each value occurred (PIKE-RAG §5.4, forecasting).

use pikerag_knowledge::data::{ColumnKind, OrderBy, TableOrder, TablePlan};

use super::Composer;
use crate::cues::Cues;
use crate::reading::{Computation, Form, Reading};
use crate::scope::Scope;

/// The number of rows of each value of the requested column; `None` if the question asks for no column of kinds.
pub(crate) fn compose_kinds(cues: &Cues, scope: &Scope<'_>) -> Option<Reading> {
    let mut composer = Composer::over(cues, scope);
    composer.filter_all();
    let place = composer.take_asked_column()?;
    let is_kind = matches!(scope.kind(place), ColumnKind::Category | ColumnKind::Boolean);
    if !is_kind || scope.is_unique(place) {
        return None;
    }
    let plan = composer.grouped(Composer::counted(composer.plan()), place);
    let order = Some(TableOrder { by: OrderBy::Measure, descending: true });
    let plan = TablePlan { order, ..plan };
    Some(composer.finish((Computation::One(plan), Form::Groups)))
}
