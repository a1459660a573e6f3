//! Answers what will be from typed tables: the figures of the past as a series, carried on by the model that would have erred
//! least (PIKE-RAG §5.4, forecasting).

mod past;

use std::collections::BTreeMap;

use pikerag_knowledge::data::{DataTable, PlanRows, TableMeasure, TablePlan};
use pikerag_knowledge::worked::Forecast;
use pikerag_knowledge::{
    Answer, ChunkId, ClassifiedBy, Event, Level, Question, Reason, Role, Span, StoreError,
    TaskClass, Worked,
};
use pikerag_narrate::{Language, forecast_points, group_forecasts, plan_words, series_rationale};
use pikerag_prompt::Prompt;
use pikerag_records::series::Series;
use pikerag_tables::{Computation, Reading, SeriesReading, series_of};

use self::past::{asked, past};
use super::asked::Try;
use super::lead::with_plan;
use super::{RIVAL, Reader, is_near, names_of_columns, queried};
use crate::pike::cited::computed_answer;
use crate::pike::limit::too_high;
use crate::pike::predict::{carry_on, summary};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

static PROMPT: Prompt =
    Prompt::new(Role::Decompose, include_str!("../../prompts/query_series.md"), 500).with_earlier(
        "methods/query_series",
        &[include_str!("../../prompts/earlier/query_series.1.md")],
    );
/// Groups of which each gets a forecast of its own.
const GROUPS: usize = 20;

/// What came of a question about the time to come.
pub(in crate::pike) enum Foreseen {
    /// The series was carried on.
    Answered(Box<Answer>),
    /// The question was understood, and its series cannot be carried on.
    Lacks(Reason),
}

/// A series that was carried on to what is asked for.
struct Carried {
    forecast: Forecast,
    past: pikerag_narrate::Series,
    /// How many of the last points are asked for.
    wanted: usize,
}

/// All series that were carried on.
struct Forecasts {
    /// By their groups; one without a name where there are none.
    each: BTreeMap<String, Carried>,
    /// Groups whose series cannot be carried on, or that are too many.
    left_out: usize,
}

impl Reader {
    /// Answers a question about the time to come, where rules understand it to its last word: carries on the series that it asks for,
    /// or gives the shares of the kinds that may come next. `None` where rules are not sure, where another class or level is wanted,
    /// and where the tables cover the time that is asked for.
    ///
    /// # Errors
    /// See [`SolveError`].
    pub(in crate::pike) async fn foreseen(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        (class, level): (Option<TaskClass>, Option<Level>),
    ) -> Result<Option<Foreseen>, SolveError> {
        let is_wanted = class.is_none_or(|class| class == TaskClass::Predictive)
            && too_high(level, TaskClass::Predictive).is_none();
        if !is_wanted {
            return Ok(None);
        }
        match self.foreseeing(question) {
            Some(found) => {
                let Some(results) = results(ports, found).await? else { return Ok(None) };
                self.carried_on(ports, run, question, (found, results), ClassifiedBy::Rules).await
            }
            None => self.next_kind(ports, run, question).await,
        }
    }

    /// The series that rules are sure of.
    pub(super) fn foreseeing(&self, question: &Question) -> Option<&SeriesReading> {
        self.sure_of(question, &self.ahead, |found| &found.reading)
    }

    /// The reading that rules are sure of: over a table in the language of the question where one of these is near, and over one
    /// table alone.
    pub(super) fn sure_of<'a, T>(
        &self,
        question: &Question,
        found: &'a [T],
        reading: fn(&T) -> &Reading,
    ) -> Option<&'a T> {
        let language = Some(Language::of(question.query()));
        let is_own = |found: &&T| self.language_of(reading(found)) == language;
        let near = found.iter().filter(|found| is_near(reading(found)));
        let is_any_own = near.clone().any(|found| is_own(&found));
        let mut certain = near
            .filter(|found| reading(found).is_certain())
            .filter(|found| !is_any_own || is_own(found));
        let best = certain.next()?;
        let is_rivalled = certain.any(|other| reading(best).score <= reading(other).score + RIVAL);
        (!is_rivalled).then_some(best)
    }

    /// Whether a table has a series that the question may mean.
    pub(in crate::pike) fn may_foresee(&self) -> bool {
        self.ahead.first().is_some_and(|near| is_near(&near.reading))
    }

    /// Why there is no forecast: the table that fits best, with the words that were not understood, and how the question reads
    /// without them. `None` where no table fits.
    ///
    /// # Errors
    /// The base cannot be read.
    pub(in crate::pike) async fn unclear_ahead(
        &self,
        ports: &Ports,
        question: &Question,
    ) -> Result<Option<Reason>, SolveError> {
        let language = Language::of(question.query());
        let near = self.ahead.iter().find(|near| is_near(&near.reading));
        let Some(near) = near.filter(|near| !near.reading.unused_words.is_empty()) else {
            return Ok(None);
        };
        let tables = self.tables(&near.reading);
        let (Some(table), Computation::One(plan)) = (tables.first(), &near.reading.computation)
        else {
            return Ok(None);
        };
        let (mut readings, mut statements) = (Vec::new(), Vec::new());
        if let Some([figures, _]) = results(ports, near).await? {
            readings.push(plan_words(plan, &tables, language));
            statements.push(figures.sql);
        }
        Ok(Some(Reason::TableUnclear {
            columns: names_of_columns(table),
            table: table.title.clone(),
            words: near.reading.unused_words.clone(),
            readings,
            statements,
        }))
    }

    /// The same as [`Reader::foreseen`] by a model, of a question that is classified as predictive.
    ///
    /// # Errors
    /// See [`SolveError`].
    pub(in crate::pike) async fn foreseen_by_model(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
    ) -> Result<Option<Foreseen>, SolveError> {
        if ports.models.of(Role::Decompose).is_none() || !self.has_tables() {
            return Ok(None);
        }
        let mut tries = self.tries(&PROMPT, question);
        loop {
            let reading = match tries.next(ports, run).await? {
                Try::Reading(reading) => *reading,
                Try::NoTable | Try::Over => return Ok(None),
            };
            let Some(found) = series_of(reading, question.query(), &self.catalog) else {
                tries.refuse("it gives no period with one figure for each");
                continue;
            };
            match results(ports, &found).await? {
                Some(results) => {
                    return self
                        .carried_on(ports, run, question, (&found, results), ClassifiedBy::Model)
                        .await;
                }
                None => tries.refuse("it has no result"),
            }
        }
    }

    /// Carries a reading on; `None` where what is asked for has happened already. `by` names who read the question.
    async fn carried_on(
        &self,
        ports: &Ports,
        run: &mut Run,
        question: &Question,
        (found, [result, counted]): (&SeriesReading, [PlanRows; 2]),
        by: ClassifiedBy,
    ) -> Result<Option<Foreseen>, SolveError> {
        let Computation::One(plan) = &found.reading.computation else { return Ok(None) };
        let tables = self.tables(&found.reading);
        let carried = carried_on(found, plan, &tables, (&result, &counted));
        if !matches!(carried, Ok(None)) && by == ClassifiedBy::Rules {
            let tables = tables.iter().map(|table| table.title.clone()).collect();
            let why = vec![Reason::AsksAboutFuture.into(), Reason::TablesAnswer { tables }.into()];
            run.classified(TaskClass::Predictive, by, why)?;
        }
        match carried {
            Ok(None) => Ok(None),
            Ok(Some(carried)) => {
                let answer = answer(ports, run, question, (plan, &tables), result, carried).await?;
                Ok(Some(Foreseen::Answered(Box::new(answer))))
            }
            Err(why) => Ok(Some(Foreseen::Lacks(why))),
        }
    }
}

/// The figures of each period, and how many rows it has; `None` where there are none, or the table has no such figure.
async fn results(
    ports: &Ports,
    found: &SeriesReading,
) -> Result<Option<[PlanRows; 2]>, StoreError> {
    let Computation::One(plan) = &found.reading.computation else { return Ok(None) };
    let figures = match ports.base.run_plan(plan).await {
        Ok(figures) => figures,
        Err(StoreError::Data(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    // The latest periods are the last rows: without them there is no series.
    if figures.rows.is_empty() || PlanRows::MOST <= figures.rows.len() {
        return Ok(None);
    }
    let count = vec![TableMeasure::default()];
    let counted = match plan.measures == count {
        true => figures.clone(),
        false => ports.base.run_plan(&TablePlan { measures: count, ..plan.clone() }).await?,
    };
    Ok(Some([figures, counted]))
}

/// All series that can be carried on. `Ok(None)` where what is asked for has happened.
///
/// # Errors
/// Why no series can be carried on.
fn carried_on(
    found: &SeriesReading,
    plan: &TablePlan,
    tables: &[DataTable],
    results: (&PlanRows, &PlanRows),
) -> Result<Option<Forecasts>, Reason> {
    let Some(table) = tables.first() else { return Ok(None) };
    let past = past(found, plan, table, results)?;
    let all = &past.series;
    let asked = past.latest().and_then(|latest| asked(latest, &found.target));
    let Some((from, until)) = asked else { return Ok(None) };
    if all.values().any(|series| until <= series.last()) {
        return Ok(None);
    }
    // The longest series first, of those that are as long the first by name.
    let mut ranked: Vec<(&String, &Series)> = all.iter().collect();
    ranked.sort_by_key(|(_, series)| std::cmp::Reverse(series.values.len()));
    let (mut carried, mut why_not) = (BTreeMap::new(), None);
    for (group, series) in ranked.into_iter().take(GROUPS) {
        match carry_on(series, until) {
            Ok(forecast) => {
                let group_name = Some(group.clone()).filter(|group| !group.is_empty());
                let wanted = usize::try_from(until.index - from.index + 1).unwrap_or(1);
                let forecast = Forecast { group: group_name, ..forecast };
                let past = summary(series);
                carried.insert(group.clone(), Carried { forecast, past, wanted });
            }
            Err(why) => why_not = Some(why),
        }
    }
    let left_out = all.len() - carried.len();
    match why_not.filter(|_| carried.is_empty()) {
        Some(why) => Err(why),
        None => Ok(Some(Forecasts { each: carried, left_out })),
    }
}

/// The answer with its trace.
async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    (plan, tables): (&TablePlan, &[DataTable]),
    result: PlanRows,
    Forecasts { each: carried, left_out }: Forecasts,
) -> Result<Answer, SolveError> {
    let language = Language::of(question.query());
    queried(run, tables, &[&result], &[]);
    for of in carried.values() {
        run.push(Event::SeriesForecast { forecast: of.forecast.clone() });
    }
    let points = |of: &Carried| {
        forecast_points(&of.forecast, of.wanted, of.forecast.unit.as_deref(), language)
    };
    let understood = plan_words(plan, tables, language);
    let is_grouped = carried.values().any(|of| of.forecast.group.is_some());
    let (lead, rationale) = match carried.values().next().filter(|_| !is_grouped) {
        Some(only) => (points(only), series_rationale(&only.forecast, &only.past, language)),
        None => {
            let each = carried.iter().map(|(group, of)| (group.as_str(), points(of)));
            (group_forecasts(each, left_out, language), String::new())
        }
    };
    let text = with_plan(&lead, &understood, language);
    // The latest figures matter most.
    let mut seen = std::collections::HashSet::new();
    let places = result.rows.iter().rev().flat_map(|row| &row.origins);
    let places: Vec<(ChunkId, Span)> = places
        .map(|origin| (origin.chunk, origin.span))
        .filter(|place| seen.insert(*place))
        .collect();
    let mut worked = Worked::of(TaskClass::Predictive);
    let mut forecasts: Vec<Forecast> = carried.into_values().map(|of| of.forecast).collect();
    match is_grouped {
        true => worked.forecasts = forecasts,
        false => worked.forecast = forecasts.pop(),
    }
    computed_answer(ports, run, (text, rationale), places, worked).await
}
