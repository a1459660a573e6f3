//! Answers which kind comes next from typed tables: by how often each came, with the uncertainty of a share (PIKE-RAG §5.4,
//! forecasting).

use std::collections::BTreeMap;

use pikerag_knowledge::data::{
    ColumnKind, ColumnRef, DataTable, DataValue, PlanRows, TableGroup, TablePlan,
};
use pikerag_knowledge::tables::By;
use pikerag_knowledge::worked::Outcome;
use pikerag_knowledge::{
    Answer, ChunkId, ClassifiedBy, Question, Reason, Span, StoreError, TaskClass, Worked,
};
use pikerag_narrate::{Language, first_kinds, kinds_rationale, plan_words};
use pikerag_tables::{Computation, Reading};

use super::ahead::Foreseen;
use super::lead::{as_number, with_plan};
use super::{Reader, is_near, queried};
use crate::pike::cited::computed_answer;
use crate::pike::predict::{CASES, Cases, KINDS, outlook};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

impl Reader {
    /// Whether a table has a column of kinds that the question may ask for the next of.
    pub(in crate::pike) fn may_name_a_kind(&self) -> bool {
        self.kinds.first().is_some_and(is_near)
    }

    /// Gives the shares of the kinds that may come next, where rules are sure of the column; `None` where they are not, and where the
    /// table has no row of it.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn next_kind(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
    ) -> Result<Option<Foreseen>, SolveError> {
        let reading = self.sure_of(question, &self.kinds, |reading| reading);
        let Some((reading, plan)) = reading.and_then(|it| Some((it, only_plan(it)?))) else {
            return Ok(None);
        };
        let tables = self.tables(reading);
        let Some(table) = tables.first() else { return Ok(None) };
        let counted = ports.base.run_plan(plan).await?;
        if counted.rows.is_empty() {
            return Ok(None);
        }
        let cases = cases(ports, plan, table, &counted).await?;
        let titles = tables.iter().map(|table| table.title.clone()).collect();
        let why =
            vec![Reason::AsksAboutFuture.into(), Reason::TablesAnswer { tables: titles }.into()];
        run.classified(TaskClass::Predictive, ClassifiedBy::Rules, why)?;
        let n_cases = cases.iter().map(|kind| kind.count).sum();
        if n_cases < CASES {
            return Ok(Some(Foreseen::Lacks(Reason::TooFewCases { least: CASES, known: n_cases })));
        }
        let understood = plan_words(plan, &tables, Language::of(question.query()));
        let outlook = outlook(&cases);
        let answer = answer(ports, run, question, &tables, counted, (understood, outlook)).await?;
        Ok(Some(Foreseen::Answered(Box::new(answer))))
    }
}

fn only_plan(reading: &Reading) -> Option<&TablePlan> {
    match &reading.computation {
        Computation::One(plan) => Some(plan),
        _ => None,
    }
}

/// The cases of each kind, the most frequent first; halved by the table's first column of time, where it has one.
///
/// # Errors
/// The base cannot be read.
async fn cases(
    ports: &Ports,
    plan: &TablePlan,
    table: &DataTable,
    counted: &PlanRows,
) -> Result<Vec<Cases>, StoreError> {
    let later = match time_of(table) {
        Some(time) => later_half(ports, plan, time).await?,
        None => BTreeMap::new(),
    };
    let of_row = |(kind, count): (String, usize)| {
        let [earlier, later] = later.get(&kind).copied().unwrap_or_default();
        (!kind.is_empty()).then_some(Cases { kind, count, earlier, later })
    };
    let rows = counted.rows.iter().filter_map(|row| keyed(&row.cells));
    Ok(rows.filter_map(|(keys, count)| of_row((keys.first()?.to_string(), count))).collect())
}

fn time_of(table: &DataTable) -> Option<ColumnRef> {
    let of_kind = |kind: ColumnKind| table.columns.iter().find(move |column| column.kind == kind);
    let time = of_kind(ColumnKind::Date).or_else(|| of_kind(ColumnKind::Year))?;
    Some(ColumnRef { table: table.name.clone(), column: time.sql.clone() })
}

/// The keys of a row of a grouped count, and the count.
fn keyed(cells: &[DataValue]) -> Option<(&[DataValue], usize)> {
    let (count, keys) = cells.split_last()?;
    Some((keys, as_number(count)? as usize))
}

/// How many cases of each kind are in the earlier half of all dated cases, and in the later half. Empty where there are more
/// different times than a result holds.
async fn later_half(
    ports: &Ports,
    plan: &TablePlan,
    time: ColumnRef,
) -> Result<BTreeMap<String, [usize; 2]>, StoreError> {
    let by_time = TableGroup { column: time, by: By::Value };
    let group = std::iter::once(by_time).chain(plan.group.iter().cloned()).collect();
    let dated = TablePlan { group, order: None, ..plan.clone() };
    let dated = ports.base.run_plan(&dated).await?;
    let mut halves: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    if PlanRows::MOST <= dated.rows.len() {
        return Ok(halves);
    }
    let mut rows: Vec<(String, String, usize)> = dated
        .rows
        .iter()
        .filter_map(|row| match keyed(&row.cells)? {
            ([time, kind], count) => Some((time.to_string(), kind.to_string(), count)),
            _ => None,
        })
        .filter(|(time, kind, _)| !time.is_empty() && !kind.is_empty())
        .collect();
    rows.sort();
    let middle = rows.iter().map(|(.., count)| count).sum::<usize>() / 2;
    let mut n_before = 0;
    for (_, kind, count) in rows {
        let earlier = count.min(middle.saturating_sub(n_before));
        let [first, second] = halves.entry(kind).or_default();
        *first += earlier;
        *second += count - earlier;
        n_before += count;
    }
    Ok(halves)
}

/// The answer with its trace.
async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    tables: &[DataTable],
    counted: PlanRows,
    (understood, outlook): (String, Vec<Outcome>),
) -> Result<Answer, SolveError> {
    let language = Language::of(question.query());
    queried(run, tables, &[&counted], &[]);
    let kinds = first_kinds(&outlook, KINDS, language);
    let text = with_plan(&kinds, &understood, language);
    let trend = outlook.first().map_or(0.0, |outcome| outcome.trend);
    let rationale = kinds_rationale(outlook.iter().map(|it| it.count).sum(), trend, language);
    let origins = counted.rows.iter().flat_map(|row| &row.origins);
    let places: Vec<(ChunkId, Span)> = origins.map(|origin| (origin.chunk, origin.span)).collect();
    let mut worked = Worked::of(TaskClass::Predictive);
    worked.outlook = outlook;
    computed_answer(ports, run, (text, rationale), places, worked).await
}
