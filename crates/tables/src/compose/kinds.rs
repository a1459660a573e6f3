//! Composes the past of a question for the value that comes next: how often each value came (PIKE-RAG §5.4, forecasting).

use pikerag_knowledge::data::{ColumnKind, OrderBy, TableOrder, TablePlan};

use super::Composer;
use crate::cues::Cues;
use crate::reading::{Form, Reading, Reckoning};
use crate::scope::Scope;

/// The number of rows of each value of the column that a question asks for; `None` where it asks for no column of kinds.
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
    Some(composer.finish((Reckoning::One(plan), Form::Groups)))
}
