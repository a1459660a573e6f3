//! Counts, sums, ranks and lists the things of all records of a kind; each figure names the records that it rests on
//! (PIKE-RAG §3.2, quantitative questions).

use std::collections::HashMap;

use super::cited::computed_answer;
use crate::collections::Collection;
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use pikerag_knowledge::facts::TabulatedRow;
use pikerag_knowledge::tables::{Measure, Order, RecordQuery, Table, TableRow};
use pikerag_knowledge::worked::{Coverage, Figure, Figures, RecordPlace};
use pikerag_knowledge::{Answer, Event, Question, TaskClass, Value, Worked};
use pikerag_narrate::{Language, coverage, figure_row, listed, number, query};
use pikerag_records::inquiry::{Form, Inquiry};

/// Groups, or things, that an answer tells in words.
const MOST_LISTED: usize = 200;
/// Groups that the trace tells.
const TRACED: usize = 12;

/// Works a query out and tells the trace.
///
/// # Errors
/// There is no engine, or the query makes no sense for the records.
pub(super) fn tabulate(
    ports: &Ports,
    run: &mut Run,
    collection: &Collection,
    query: &RecordQuery,
) -> Result<Table, SolveError> {
    let engine = ports.tables.engine.as_ref().ok_or(SolveError::NoEngine)?;
    let table = engine.tabulate(&collection.unified.frame, query)?;
    let rows = table.rows.iter().take(TRACED).map(|row| {
        let TableRow { key, value, unit, .. } = row.clone();
        TabulatedRow { key, value, unit }.into()
    });
    run.push(Event::Tabulated {
        query: query.clone(),
        matched: table.matched,
        rows: rows.collect(),
    });
    Ok(table)
}

/// The figures of a table, with the places of their records.
pub(super) fn figures(collection: &Collection, query: &RecordQuery, table: &Table) -> Figures {
    let mut places = Places::new(collection);
    let rows = table.rows.iter().map(|row| Figure {
        key: row.key.clone(),
        value: Some(row.value),
        unit: row.unit.clone(),
        things: decisive(collection, query, row).map(|thing| places.of_thing(thing)).collect(),
    });
    let rows = rows.collect();
    Figures {
        schema: collection.schema.name.clone(),
        is_declared: collection.is_declared,
        query: query.clone(),
        rows,
        records: places.records,
        coverage: covered(collection, table),
    }
}

/// The things that a figure rests on: of the greatest and the least those that are it.
fn decisive<'a>(
    collection: &'a Collection,
    query: &'a RecordQuery,
    row: &'a TableRow,
) -> impl Iterator<Item = usize> + 'a {
    let frame = &collection.unified.frame;
    let is_one = move |thing: &usize| match &query.measure {
        Measure::Greatest(field) | Measure::Least(field) => {
            let value = frame.cell(*thing, field).map(|cell| &cell.value);
            matches!(value, Some(Value::Number(number)) if number.amount.total_cmp(&row.value).is_eq())
        }
        _ => true,
    };
    row.things.iter().copied().filter(is_one)
}

pub(super) fn covered(collection: &Collection, table: &Table) -> Coverage {
    Coverage {
        matched: table.matched,
        undecided: table.undecided,
        unmeasured: table.unmeasured,
        ..collection.coverage.clone()
    }
}

/// Records in the order in which figures first name them.
pub(super) struct Places<'a> {
    collection: &'a Collection,
    known: HashMap<usize, usize>,
    pub(super) records: Vec<RecordPlace>,
}

impl<'a> Places<'a> {
    pub(super) fn new(collection: &'a Collection) -> Self {
        Self { collection, known: HashMap::new(), records: Vec::new() }
    }

    /// The record that says something, by its place among [`Places::records`].
    pub(super) fn of_record(&mut self, at: usize) -> Option<usize> {
        let record = self.collection.records.get(at)?;
        let next = self.records.len();
        let place = *self.known.entry(at).or_insert(next);
        if place == next {
            self.records.push(RecordPlace {
                id: record.id,
                chunk: record.chunk,
                uri: record.uri.clone(),
                page: record.page,
                span: record.span,
            });
        }
        Some(place)
    }

    /// The records of a thing, by their places among [`Places::records`].
    pub(super) fn of_thing(&mut self, thing: usize) -> Vec<usize> {
        let Some(thing) = self.collection.unified.frame.things.get(thing) else {
            return Vec::new();
        };
        thing.records.iter().filter_map(|at| self.of_record(*at)).collect()
    }
}

/// Answers with figures, or with the things themselves. `None` where no thing tells anything of what is asked.
///
/// # Errors
/// See [`tabulate`].
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    collection: &Collection,
    inquiry: &Inquiry,
) -> Result<Option<Answer>, SolveError> {
    let language = Language::of(question.query());
    let is_list = inquiry.form == Form::List;
    let table = tabulate(ports, run, collection, &inquiry.query)?;
    if table.rows.is_empty() || (is_list && table.matched == 0) {
        return Ok(None);
    }
    let figures = figures(collection, &inquiry.query, &table);
    let text = match is_list {
        true => things(collection, &table, language),
        false => rows(&inquiry.query, &table, language),
    };
    let rationale = [
        query(&collection.schema.name, &inquiry.query, is_list, language),
        coverage(&figures.coverage, language),
    ];
    let rationale = rationale.join(language.space());
    let mut worked = Worked::of(TaskClass::Quantitative);
    worked.values = match is_list {
        true => Vec::new(),
        false => table.rows.iter().take(MOST_LISTED).map(value).collect(),
    };
    worked.figures = Some(figures);
    answer_from_figures(ports, run, text, rationale, worked).await.map(Some)
}

/// What a row gives: the group that it is about, else its figure.
fn value(row: &TableRow) -> String {
    let key: Vec<&str> = row.key.iter().map(String::as_str).filter(|key| !key.is_empty()).collect();
    if key.is_empty() { number(row.value) } else { key.join(" ") }
}

/// The things by name.
fn things(collection: &Collection, table: &Table, language: Language) -> String {
    let things = table.rows.first().map(|row| row.things.as_slice()).unwrap_or_default();
    let names: Vec<String> =
        things.iter().take(MOST_LISTED).map(|thing| name(collection, *thing)).collect();
    listed(&names, things.len(), language)
}

/// What a thing is called: its key, or the first thing that is said of it.
pub(super) fn name(collection: &Collection, thing: usize) -> String {
    let frame = &collection.unified.frame;
    let cell = |field: &String| frame.cell(thing, field).map(|cell| cell.value.to_string());
    let key: Vec<String> = collection.schema.key.iter().filter_map(cell).collect();
    let first = || collection.schema.fields.iter().find_map(|field| cell(&field.name));
    if key.is_empty() { first().unwrap_or_default() } else { key.join(" ") }
}

/// The groups with their figures.
fn rows(query: &RecordQuery, table: &Table, language: Language) -> String {
    let is_ranked = query.order != Order::Key && query.limit.is_some();
    let row =
        |row: &TableRow| figure_row(&row.key, row.value, row.unit.as_deref(), is_ranked, language);
    let rows: Vec<String> = table.rows.iter().take(MOST_LISTED).map(row).collect();
    listed(&rows, table.rows.len(), language)
}

/// An answer that was worked out: its records are cited, the first ones with their words.
///
/// # Errors
/// The base cannot be read.
pub(super) async fn answer_from_figures(
    ports: &Ports,
    run: &mut Run,
    text: String,
    rationale: String,
    worked: Worked,
) -> Result<Answer, SolveError> {
    let records = worked.figures.iter().flat_map(|figures| &figures.records);
    let places: Vec<_> = records.map(|record| (record.chunk, record.span)).collect();
    computed_answer(ports, run, (text, rationale), places, worked).await
}

/// What was to be carried on, counted: what is asked for lies within the records.
pub(super) fn as_figures(inquiry: &Inquiry) -> Inquiry {
    let mut counted = Inquiry { form: Form::Figures, ..inquiry.clone() };
    if let Form::Series { date, by, until: Some(until), .. } = &inquiry.form {
        let from = match by {
            pikerag_knowledge::tables::By::Month => {
                until.get(..7).map(|month| format!("{month}-01"))
            }
            pikerag_knowledge::tables::By::Quarter => until.get(..7).and_then(quarter_start),
            _ => until.get(..4).map(|year| format!("{year}-01-01")),
        };
        let test = pikerag_knowledge::tables::Test::Between { from, to: Some(until.clone()) };
        counted
            .query
            .conditions
            .push(pikerag_knowledge::tables::Condition { field: date.clone(), test });
    }
    counted
}

/// The first day of the quarter that ends with a month.
fn quarter_start(month: &str) -> Option<String> {
    let (year, month) = month.split_once('-')?;
    let month: u32 = month.parse().ok()?;
    Some(format!("{year}-{:02}-01", month.saturating_sub(1) / 3 * 3 + 1))
}
