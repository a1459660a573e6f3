//! Answers from the typed tables of the base: rules make a plan of the question, the store works it out, and the answer says
//! how the question was understood (PIKE-RAG §5.4: structuring; §3.2: quantitative questions). A question that is not
//! understood to its last word gets no figure.

use std::collections::BTreeMap;
use std::sync::Arc;

use pikerag_knowledge::data::{
    Aggregate, ColumnRef, DataTable, DataValue, PlanRow, PlanRows, RowOrigin, TablePlan,
};
use pikerag_knowledge::{
    Answer, Check, Chunk, ChunkId, Citation, ClassifiedBy, Context, Event, Level, Note, Question,
    Reason, TaskClass, Worked, WrittenBy,
};
use pikerag_narrate::{Language, TwoFigures, data_rows, plan_words, two_figures};
use pikerag_tables::{Catalog, Form, Reading, Reckoning, readings};

use crate::ports::{Ports, SolveError};
use crate::run::Run;

/// Rows that an answer names.
const NAMED: usize = 100;
/// Rows of tables that are cited.
const CITED: usize = 40;

/// How a question reads over the tables of the base.
pub(super) struct Reader {
    catalog: Arc<Catalog>,
    /// The best first.
    readings: Vec<Reading>,
    /// Whether the question asks for what has not happened yet.
    looks_ahead: bool,
}

/// What came of a plan.
struct Answered {
    text: String,
    origins: Vec<RowOrigin>,
}

/// The class of a question that reads so: what a cell tells is a fact, all else is worked out.
pub(super) fn class_of(reading: &Reading) -> TaskClass {
    match &reading.reckoning {
        Reckoning::One(plan) if plan.measures.is_empty() && plan.order.is_none() => {
            TaskClass::Factual
        }
        _ => TaskClass::Quantitative,
    }
}

impl Reader {
    /// Reads the question.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn of(
        ports: &Ports,
        question: &Question,
        looks_ahead: bool,
    ) -> Result<Self, SolveError> {
        let catalog = ports.tables.catalogs.of(ports.base.as_ref()).await?;
        let readings = readings(question.query(), &catalog);
        Ok(Self { catalog, readings, looks_ahead })
    }

    /// Answers where the question reads over the tables to its last word, and nobody wants another class or level.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(super) async fn solve(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        (class, level): (Option<TaskClass>, Option<Level>),
    ) -> Result<Option<Answer>, SolveError> {
        let certain = self.readings.first().filter(|reading| reading.is_certain());
        let Some(reading) = certain else { return Ok(None) };
        let own = class_of(reading);
        if class.is_some_and(|class| class != own)
            || level.is_some_and(|level| level != own.level())
        {
            return Ok(None);
        }
        self.answer(ports, run, question, reading).await
    }

    /// Why there is no figure: the table that fits best, with the words that were not understood. `None` where none fits.
    pub(super) fn unclear(&self) -> Option<Reason> {
        let reading = self.readings.first().filter(|reading| reading.is_grounded)?;
        let table = self.tables(reading).into_iter().next()?;
        Some(Reason::TableUnclear {
            table: table.title,
            columns: table.columns.into_iter().take(NAMED).map(|column| column.name).collect(),
            words: reading.unused_words.clone(),
        })
    }

    fn tables(&self, reading: &Reading) -> Vec<DataTable> {
        let tables = reading.tables.iter().filter_map(|at| self.catalog.tables.get(*at));
        tables.map(|view| view.table.clone()).collect()
    }

    /// Answers by a reading; `None` where the tables hold no figure for it, more than one where one is asked for, or, for a
    /// question that looks ahead, no row.
    ///
    /// # Errors
    /// The base cannot be read.
    async fn answer(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        reading: &Reading,
    ) -> Result<Option<Answer>, SolveError> {
        let language = Language::of(question.query());
        let tables = self.tables(reading);
        let mut results = Vec::new();
        for plan in reading.reckoning.plans() {
            results.push(ports.base.run_plan(plan).await?);
        }
        // What the tables do not reach yet is a matter of forecasts.
        if self.looks_ahead && results.iter().all(|result| result.matched == 0) {
            return Ok(None);
        }
        let Some(answered) = answered(reading, &tables, &results, language) else {
            return Ok(None);
        };
        let titles: Vec<String> = tables.iter().map(|table| table.title.clone()).collect();
        let why = Reason::TablesAnswer { tables: titles.clone() };
        run.classified(class_of(reading), ClassifiedBy::Rules, vec![why.into()])?;
        run.push(Event::Queried {
            tables: titles,
            sql: results.iter().map(|result| result.sql.clone()).collect(),
            matched: results.iter().map(|result| result.matched).sum(),
            unused: reading.unused_words.clone(),
        });
        if !reading.unused_words.is_empty() {
            run.push(Event::Noted {
                note: Note::WordsUnused { words: reading.unused_words.clone() }.into(),
            });
        }
        let understood: Vec<String> = reading
            .reckoning
            .plans()
            .into_iter()
            .map(|plan| plan_words(plan, &tables, language))
            .collect();
        let (context, citations) = cited(ports, &answered.origins).await?;
        run.push(Event::Answered { answer: answered.text.clone() });
        Ok(Some(Answer {
            text: answered.text,
            rationale: understood.join(language.separator()),
            refused: false,
            missing: Vec::new(),
            written_by: WrittenBy::Reckoning,
            citations,
            context,
            worked: Some(Box::new(Worked::of(class_of(reading)))),
        }))
    }
}

fn answered(
    reading: &Reading,
    tables: &[DataTable],
    results: &[PlanRows],
    language: Language,
) -> Option<Answered> {
    let plans = reading.reckoning.plans();
    let (plan, result) = plans.first().copied().zip(results.first())?;
    let both = || Some((figure(plan, result)?, figure(plans.get(1)?, results.get(1)?)?));
    let understood = plan_words(plan, tables, language);
    let worded = |lead: String| match language {
        Language::English => format!("{lead} ({understood})"),
        Language::Chinese => format!("{lead}（{understood}）"),
    };
    let origins =
        || results.iter().flat_map(|result| &result.rows).flat_map(|row| row.origins.clone());
    let quantitative = |text: String| Some(Answered { text, origins: origins().collect() });
    match &reading.reckoning {
        Reckoning::Difference(..) => {
            let (first, second) = both()?;
            quantitative(worded(two_figures(TwoFigures::Difference, first, second, language)))
        }
        Reckoning::Growth(..) => {
            let (first, second) = both().filter(|(first, _)| *first != 0.0)?;
            quantitative(worded(two_figures(TwoFigures::Growth, first, second, language)))
        }
        Reckoning::Share(..) => {
            let (part, whole) = both().filter(|(_, whole)| *whole != 0.0)?;
            quantitative(worded(two_figures(TwoFigures::Share, part, whole, language)))
        }
        Reckoning::Compare { names, greater, .. } => {
            let (first, second) =
                both().filter(|(first, second)| first.total_cmp(second).is_ne())?;
            let is_first = (first > second) == *greater;
            let [one, other] = names;
            let (won, lost) = if is_first { (one, other) } else { (other, one) };
            let (won_by, lost_by) = if is_first { (first, second) } else { (second, first) };
            let (won_by, lost_by) =
                (pikerag_narrate::number(won_by), pikerag_narrate::number(lost_by));
            let lead = match language {
                Language::English => format!("{won}: {won_by}; {lost}: {lost_by}"),
                Language::Chinese => format!("{won}：{won_by}；{lost}：{lost_by}"),
            };
            quantitative(worded(lead))
        }
        Reckoning::One(_) => one(reading, plan, result, tables, &worded, language),
    }
}

fn one(
    reading: &Reading,
    plan: &TablePlan,
    result: &PlanRows,
    tables: &[DataTable],
    worded: &dyn Fn(String) -> String,
    language: Language,
) -> Option<Answered> {
    let skipped = reading.nth.map_or(0, |nth| nth.saturating_sub(1));
    let rows: Vec<&PlanRow> = result.rows.iter().skip(skipped).collect();
    let units = units(plan, tables);
    let cells = |row: &PlanRow| -> Vec<(DataValue, Option<String>)> {
        let units = units.iter().cloned().chain(std::iter::repeat(None));
        row.cells.iter().map(rounded).zip(units).collect()
    };
    if reading.form == Form::Exists {
        let lead = match (0 < result.matched, language) {
            (true, Language::English) => format!("Yes: {} rows", result.matched),
            (false, Language::English) => "No: there is no such row".to_owned(),
            (true, Language::Chinese) => format!("有：{} 行", result.matched),
            (false, Language::Chinese) => "没有：没有这样的行".to_owned(),
        };
        let origins = rows.iter().flat_map(|row| row.origins.clone()).collect();
        return Some(Answered { text: worded(lead), origins });
    }
    let is_count = plan
        .measures
        .first()
        .is_some_and(|measure| matches!(measure.function, Aggregate::Count | Aggregate::Distinct));
    // A mean or an extreme of nothing is no figure.
    let has_value = rows.iter().any(|row| row.cells.iter().any(|cell| *cell != DataValue::Empty));
    if rows.is_empty() || !has_value || (result.matched == 0 && !is_count) {
        return None;
    }
    let shown: Vec<Vec<(DataValue, Option<String>)>> =
        rows.iter().take(NAMED).map(|row| cells(row)).collect();
    let mut seen = Vec::new();
    for row in shown {
        if !seen.contains(&row) {
            seen.push(row);
        }
    }
    let all = if rows.len() <= NAMED { seen.len() } else { rows.len() };
    let origins = rows.iter().flat_map(|row| row.origins.clone()).collect();
    Some(Answered { text: worded(data_rows(&seen, all, language)), origins })
}

/// The one number that a plan gives.
fn figure(plan: &TablePlan, result: &PlanRows) -> Option<f64> {
    let mut numbers = result.rows.iter().map(|row| row.cells.last().and_then(number));
    let first = numbers.next()??;
    // Several rows with the same value tell one figure, if no measure made one of them.
    let is_one = numbers.all(|other| other == Some(first));
    let is_told = plan.measures.is_empty() || result.rows.len() == 1;
    (is_one && is_told).then_some(first)
}

fn number(value: &DataValue) -> Option<f64> {
    match value {
        DataValue::Integer(whole) => Some(*whole as f64),
        DataValue::Real(real) => Some(*real),
        DataValue::Empty | DataValue::Text(_) => None,
    }
}

/// A figure without the digits that only the reckoning made.
fn rounded(value: &DataValue) -> DataValue {
    let DataValue::Real(real) = value else { return value.clone() };
    let digits = if real.abs() < 0.01 { 1e9 } else { 1e4 };
    let rounded = (real * digits).round() / digits;
    match rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        true => DataValue::Integer(rounded as i64),
        false => DataValue::Real(rounded),
    }
}

/// The unit of each cell of a row, in order.
fn units(plan: &TablePlan, tables: &[DataTable]) -> Vec<Option<String>> {
    let unit = |column: &ColumnRef| {
        let table = tables.iter().find(|table| table.name == column.table)?;
        table.column(&column.column)?.unit.clone()
    };
    let groups = plan.group.iter().map(|group| unit(&group.column));
    let measures = plan.measures.iter().map(|measure| {
        let counts = matches!(measure.function, Aggregate::Count | Aggregate::Distinct);
        measure.column.as_ref().filter(|_| !counts).and_then(&unit)
    });
    let shown = plan.show.iter().map(&unit);
    groups.chain(measures).chain(shown).collect()
}

/// Citations of rows, with the chunks that hold them.
async fn cited(
    ports: &Ports,
    origins: &[RowOrigin],
) -> Result<(Context, Vec<Citation>), SolveError> {
    let mut places: Vec<RowOrigin> = Vec::new();
    for origin in origins {
        if CITED <= places.len() {
            break;
        }
        if !places.contains(origin) {
            places.push(*origin);
        }
    }
    let mut ids: Vec<ChunkId> = Vec::new();
    for place in &places {
        if !ids.contains(&place.chunk) {
            ids.push(place.chunk);
        }
    }
    let chunks: BTreeMap<ChunkId, Chunk> =
        ports.base.chunks(&ids).await?.into_iter().map(|chunk| (chunk.id, chunk)).collect();
    let mut context = Context::default();
    for id in &ids {
        if let Some(chunk) = chunks.get(id) {
            context.add(1, chunk.clone());
        }
    }
    let mut citations = Vec::new();
    for place in &places {
        let Some(chunk) = chunks.get(&place.chunk) else { continue };
        let start = place.span.start.checked_sub(chunk.span.start);
        let end = place.span.end.checked_sub(chunk.span.start);
        let quote = start.zip(end).and_then(|(start, end)| chunk.text.get(start..end));
        let boxes = chunk.boxes.iter().filter_map(|line| line.within(place.span)).collect();
        citations.push(Citation {
            number: citations.len() + 1,
            chunk: place.chunk,
            uri: chunk.uri.clone(),
            title: chunk.full_title(),
            page: chunk.page,
            span: place.span,
            boxes,
            quote: quote.unwrap_or_default().to_owned(),
            check: if quote.is_some() { Check::Verified } else { Check::NotFound },
        });
    }
    pikerag_reason::verify(ports.base.as_ref(), &context, &mut citations).await?;
    Ok((context, citations))
}
