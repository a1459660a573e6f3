//! Forecasts from records: continues a series by the model with the smallest past error, or refuses and says
//! what is missing; gives kinds by how often they came (PIKE-RAG §5.4).

mod kinds;

use pikerag_knowledge::tables::{By, Group, Measure, Order, RecordQuery};
use pikerag_knowledge::worked::{Figure, Forecast, ForecastPoint, Known};
use pikerag_knowledge::{Answer, Event, Question, Reason, TaskClass, Value, Worked};
use pikerag_narrate::{
    Language, coverage, forecast_points, query as query_words, series_rationale,
};
use pikerag_records::forecast::{FARTHEST, LEAST, Past, forecast};
use pikerag_records::series::{
    Covered, NoSeries, Period, Series, Step, day, series, without_partial,
};

use self::kinds::kinds;
pub(super) use self::kinds::{CASES, Cases, KINDS, outlook};
use super::figures::{Places, answer_from_figures, figures, tabulate};
use crate::collections::Collection;
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use pikerag_records::inquiry::{Form, Inquiry};

/// The result of a forecast.
pub(super) enum Ahead {
    Answered(Box<Answer>),
    /// There is nothing to continue: what is missing.
    Lacks(Option<Reason>),
    /// The period lies within the records: the answer is a count, and no forecast.
    Happened {
        last: String,
    },
}

/// Forecasts what the inquiry asks for.
///
/// # Errors
/// See [`tabulate`].
pub(super) async fn answer(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    collection: &Collection,
    inquiry: &Inquiry,
) -> Result<Ahead, SolveError> {
    let language = Language::of(question.query());
    match &inquiry.form {
        Form::Series { date, by, until, periods } => {
            let ahead = Asked { date, by: *by, until: until.as_deref(), periods: *periods };
            continue_series(ports, run, language, collection, &inquiry.query, ahead).await
        }
        Form::Kinds { field, date } => {
            kinds(ports, run, language, collection, &inquiry.query, field, date.as_deref()).await
        }
        Form::Figures | Form::List => Ok(Ahead::Lacks(None)),
    }
}

/// The time for which the question wants a forecast.
struct Asked<'a> {
    date: &'a str,
    by: By,
    until: Option<&'a str>,
    periods: usize,
}

pub(super) fn step(by: By) -> Step {
    match by {
        By::Month => Step::Month,
        By::Quarter => Step::Quarter,
        By::Year | By::Value => Step::Year,
    }
}

async fn continue_series(
    ports: &Ports,
    run: &mut Run,
    language: Language,
    collection: &Collection,
    query: &RecordQuery,
    asked: Asked<'_>,
) -> Result<Ahead, SolveError> {
    let step = step(asked.by);
    let group = vec![Group { field: asked.date.to_owned(), by: step.by() }];
    let query = RecordQuery { group, order: Order::Key, limit: None, ..query.clone() };
    let table = tabulate(ports, run, collection, &query)?;
    let is_count = matches!(query.measure, Measure::Count | Measure::Different(_));
    // A sum over no records is 0 too, a mean is unknown.
    let has_zeros = is_count || matches!(query.measure, Measure::Sum(_));
    let found = match series(&table, has_zeros) {
        Ok(found) => Series { is_count, ..found },
        Err(why) => return Ok(Ahead::Lacks(Some(no_series(why, asked.date)))),
    };
    let days: Vec<_> = found
        .things
        .iter()
        .flatten()
        .filter_map(|thing| match &collection.unified.frame.cell(*thing, asked.date)?.value {
            Value::Date(date) => day(date),
            _ => None,
        })
        .collect();
    let covered = Covered::of(&days).map(|covered| Covered {
        by_period: found.things.iter().map(Vec::len).collect(),
        ..covered
    });
    let found = match covered.filter(|_| has_zeros) {
        Some(covered) => without_partial(found, &covered),
        None => found,
    };
    let last = found.last();
    let latest =
        found.partial.iter().copied().filter(|period| last < *period).max().unwrap_or(last);
    let target = match asked.until.and_then(|day| target(step, day)) {
        Some(target) => target,
        None => latest.plus(i32::try_from(asked.periods).unwrap_or(i32::MAX)),
    };
    if target <= last {
        return Ok(Ahead::Happened { last: last.to_string() });
    }
    let forecast_made = match carry_on(&found, target) {
        Ok(forecast_made) => forecast_made,
        Err(why) => return Ok(Ahead::Lacks(Some(why))),
    };
    run.push(Event::SeriesForecast { forecast: forecast_made.clone() });
    let mut own = figures(collection, &query, &table);
    let mut places = Places::new(collection);
    own.rows = found
        .points()
        .zip(&found.things)
        .map(|((period, value), things)| Figure {
            key: vec![period.to_string()],
            value,
            unit: found.unit.clone(),
            things: things.iter().map(|thing| places.of_thing(*thing)).collect(),
        })
        .collect();
    own.records = places.records;
    let wanted = if asked.until.is_some() { 1 } else { asked.periods };
    let text = forecast_points(&forecast_made, wanted, found.unit.as_deref(), language);
    let past = summary(&found);
    let rationale = [
        query_words(&collection.schema.name, &query, false, language),
        series_rationale(&forecast_made, &past, language),
        coverage(&own.coverage, language),
    ];
    let mut worked = Worked::of(TaskClass::Predictive);
    (worked.figures, worked.forecast) = (Some(own), Some(forecast_made));
    let answer =
        answer_from_figures(ports, run, text, rationale.join(language.space()), worked).await?;
    Ok(Ahead::Answered(Box::new(answer)))
}

/// Continues a series to a period after its last one.
///
/// # Errors
/// There are too few figures, or the period is too far ahead.
pub(super) fn carry_on(found: &Series, target: Period) -> Result<Forecast, Reason> {
    let (last, step) = (found.last(), found.first.step);
    let steps = usize::try_from(target.index.saturating_sub(last.index)).unwrap_or(usize::MAX);
    if FARTHEST < steps {
        return Err(Reason::TooFarAhead { last: last.to_string(), steps, farthest: FARTHEST });
    }
    let (values, filled) = filled(found);
    let past = Past { values: &values, season: step.per_year(), is_count: found.is_count };
    let outlook = forecast(past, steps).map_err(|few| Reason::TooFewPeriods {
        least: LEAST,
        known: few.known,
        period: step.by(),
    })?;
    let points = outlook.ahead.iter().enumerate().map(|(at, ahead)| ForecastPoint {
        period: last.plus(i32::try_from(at + 1).unwrap_or(i32::MAX)).to_string(),
        value: ahead.value,
        low: ahead.low,
        high: ahead.high,
    });
    let known = found.points().map(|(period, value)| Known { period: period.to_string(), value });
    Ok(Forecast {
        model: outlook.model,
        points: points.collect(),
        level: outlook.level,
        tried: outlook.tried,
        within: outlook.within,
        partial: found.partial.iter().map(ToString::to_string).collect(),
        filled,
        past: known.collect(),
        unit: found.unit.clone(),
        group: None,
    })
}

/// A series as its rationale names it.
pub(super) fn summary(found: &Series) -> pikerag_narrate::Series {
    pikerag_narrate::Series {
        first: found.first.to_string(),
        last: found.last().to_string(),
        length: found.values.len(),
    }
}

/// The period in which a day lies.
fn target(step: Step, until: &str) -> Option<Period> {
    // `2020-12-31`; a month ends with its 31st, whatever its length.
    let label = until.get(..7)?;
    let month = Period::of(label)?;
    Some(Period::holding(step, month.first_day()))
}

/// The figures without gaps, and the periods that had none: a missing figure is interpolated between its neighbours.
fn filled(series: &Series) -> (Vec<f64>, Vec<String>) {
    let (mut values, mut put): (Vec<f64>, Vec<String>) = (Vec::new(), Vec::new());
    for (place, (period, value)) in series.points().enumerate() {
        let value = value.or_else(|| {
            put.push(period.to_string());
            let before = values.last().copied()?;
            let mut after = series.values.iter().skip(place).enumerate();
            let (gap, after) = after.find_map(|(gap, value)| Some((gap, (*value)?)))?;
            Some(before + (after - before) / (gap + 1) as f64)
        });
        values.push(value.unwrap_or_default());
    }
    (values, put)
}

pub(super) fn no_series(why: NoSeries, field: &str) -> Reason {
    let field = field.to_owned();
    match why {
        NoSeries::Nothing => Reason::NoDates { field },
        NoSeries::Units => Reason::MixedUnits,
        NoSeries::TooLong => Reason::DatesTooFarApart { field },
    }
}
