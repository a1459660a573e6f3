//! What will be? The records as a series, the series carried on by the model that would have erred least, or refused with
//! what is lacking; kinds by how often they came (PIKE-RAG §5.4).

mod kinds;

use std::fmt::Write;

use pikerag_knowledge::tables::{By, Group, Measure, Order, RecordQuery};
use pikerag_knowledge::worked::{Figure, Forecast, Foretold};
use pikerag_knowledge::{Answer, Event, Question, TaskClass, Value, Worked};
use pikerag_language::format_number;
use pikerag_records::forecast::{FARTHEST, LEAST, Past, forecast};
use pikerag_records::series::{NoSeries, Period, Series, Step, day, series, without_partial};

use self::kinds::kinds;
use super::figures::{Places, figures, reckoned, tabulate};
use super::wording::{self, Tongue};
use crate::ports::{Ports, SolveError};
use crate::run::Run;
use crate::structuring::Collection;
use pikerag_records::inquiry::{Form, Inquiry};

/// What came of looking ahead.
pub(super) enum Ahead {
    Answered(Box<Answer>),
    /// There is nothing to carry on: what is lacking.
    Lacks(String),
    /// What is asked for lies within the records: it is a count, and no forecast.
    Happened {
        last: String,
    },
}

/// Carries on what the inquiry asks for.
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
    let tongue = Tongue::of(question.query());
    match &inquiry.form {
        Form::Series { date, by, until, periods } => {
            let ahead = Asked { date, by: *by, until: until.as_deref(), periods: *periods };
            carried_on(ports, run, tongue, collection, &inquiry.query, ahead).await
        }
        Form::Kinds { field, date } => {
            kinds(ports, run, tongue, collection, &inquiry.query, field, date.as_deref()).await
        }
        Form::Figures | Form::List => Ok(Ahead::Lacks(String::new())),
    }
}

/// What is asked for of the time to come.
struct Asked<'a> {
    date: &'a str,
    by: By,
    until: Option<&'a str>,
    periods: usize,
}

fn step(by: By) -> Step {
    match by {
        By::Month => Step::Month,
        By::Quarter => Step::Quarter,
        By::Year | By::Value => Step::Year,
    }
}

async fn carried_on(
    ports: &Ports,
    run: &mut Run,
    tongue: Tongue,
    collection: &Collection,
    query: &RecordQuery,
    asked: Asked<'_>,
) -> Result<Ahead, SolveError> {
    let step = step(asked.by);
    let group = vec![Group { field: asked.date.to_owned(), by: step.by() }];
    let query = RecordQuery { group, order: Order::Key, limit: None, ..query.clone() };
    let table = tabulate(ports, run, collection, &query)?;
    let is_count = matches!(query.measure, Measure::Count | Measure::Different(_));
    // A sum of nothing is 0 too, a mean of nothing is not known.
    let has_zeros = is_count || matches!(query.measure, Measure::Sum(_));
    let found = match series(&table, has_zeros) {
        Ok(found) => Series { is_count, ..found },
        Err(why) => return Ok(Ahead::Lacks(no_series(tongue, why, asked.date))),
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
    let found = if has_zeros { without_partial(found, &days) } else { found };
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
    let steps = usize::try_from(target.index.saturating_sub(last.index)).unwrap_or(usize::MAX);
    if FARTHEST < steps {
        return Ok(Ahead::Lacks(too_far(tongue, last, steps)));
    }
    let (values, filled) = filled(&found);
    let past = Past { values: &values, season: step.per_year(), is_count };
    let outlook = match forecast(past, steps) {
        Ok(outlook) => outlook,
        Err(few) => return Ok(Ahead::Lacks(too_few(tongue, step, few.known))),
    };
    let points = outlook.ahead.iter().enumerate().map(|(at, ahead)| Foretold {
        period: last.plus(i32::try_from(at + 1).unwrap_or(i32::MAX)).to_string(),
        value: ahead.value,
        low: ahead.low,
        high: ahead.high,
    });
    let foretold = Forecast {
        model: outlook.model,
        points: points.collect(),
        level: outlook.level,
        tried: outlook.tried,
        within: outlook.within,
        partial: found.partial.iter().map(ToString::to_string).collect(),
        filled,
    };
    run.push(Event::Foretold { forecast: foretold.clone() });
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
    let text = told(tongue, &foretold, wanted, found.unit.as_deref());
    let rationale = [
        wording::query(tongue, &collection.schema.name, &query, false),
        why(tongue, &foretold, &found),
        wording::coverage(tongue, &own.coverage),
    ];
    let mut worked = Worked::of(TaskClass::Predictive);
    (worked.figures, worked.forecast) = (Some(own), Some(foretold));
    let answer = reckoned(ports, run, text, rationale.join(tongue.say(" ", "")), worked).await?;
    Ok(Ahead::Answered(Box::new(answer)))
}

/// The period in which a day lies.
fn target(step: Step, until: &str) -> Option<Period> {
    // `2020-12-31`; of a month its 31st, whichever month.
    let label = until.get(..7)?;
    let month = Period::of(label)?;
    Some(Period::holding(step, month.first_day()))
}

/// The figures without holes: a missing one lies between its neighbours.
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

fn told(tongue: Tongue, forecast: &Forecast, wanted: usize, unit: Option<&str>) -> String {
    let level = format_number(100.0 * forecast.level);
    let skipped = forecast.points.len().saturating_sub(wanted);
    let points = forecast.points.iter().skip(skipped).map(|point| {
        let value = wording::amount(point.value, unit);
        let (low, high) = (format_number(point.low), format_number(point.high));
        match tongue {
            Tongue::English => {
                format!("{}: {value} ({level} % interval {low} to {high})", point.period)
            }
            Tongue::Chinese => {
                format!("{}：{value}（{level}% 区间 {low} 至 {high}）", point.period)
            }
        }
    });
    points.collect::<Vec<_>>().join(tongue.comma())
}

/// The model and its errors, the assumptions, and what would change the forecast.
fn why(tongue: Tongue, forecast: &Forecast, series: &Series) -> String {
    let best = forecast.tried.first();
    let error = best.map_or_else(String::new, |tried| format_number(tried.mae));
    let scaled = best.and_then(|tried| tried.mase);
    let scaled = scaled.map_or_else(|| "–".to_owned(), |scaled| format!("{scaled:.2}"));
    let (within, all) = forecast.within;
    let (first, last, length) = (series.first, series.last(), series.values.len());
    let name = wording::model(tongue, forecast.model);
    let compared = best.map_or(0, |tried| tried.compared);
    let mut told = match tongue {
        Tongue::English => format!(
            "The series has {length} figures, {first} to {last}. Carried on by {name}, which erred least of {} models in \
             {compared} back-test figures: {error} on average, {scaled} of the naive error.",
            forecast.tried.len()
        ),
        Tongue::Chinese => format!(
            "序列共 {length} 期，{first} 至 {last}。采用{name}：在 {compared} 个回测值中，它在 {} 个模型里误差最小，平均误差 {error}，\
             为朴素法误差的 {scaled}。",
            forecast.tried.len()
        ),
    };
    if 0 < all {
        let _ = match tongue {
            Tongue::English => write!(
                told,
                " {within} of {all} past figures lay within the interval that would have been told."
            ),
            Tongue::Chinese => {
                write!(told, "过去 {all} 个值中有 {within} 个落在当时会给出的区间内。")
            }
        };
    }
    for (periods, english, chinese) in [
        (
            &forecast.partial,
            "left out, because the records cover a part of it only",
            "因记录只覆盖其中一部分而未计入",
        ),
        (
            &forecast.filled,
            "without a figure, and put between its neighbours",
            "没有数值，取相邻两期之间的值",
        ),
    ] {
        if !periods.is_empty() {
            let _ = match tongue {
                Tongue::English => write!(told, " {}: {english}.", periods.join(", ")),
                Tongue::Chinese => write!(told, "{}：{chinese}。", periods.join("、")),
            };
        }
    }
    told.push_str(tongue.say(
        " It assumes that the records are complete and that what shaped the past goes on; a change of rules, of capacity or \
         of what is recorded would change it, and so would documents that are not in the base.",
        "此预测假定记录完整且过去的影响因素不变；规则、能力或记录口径的变化，以及未收入知识库的文档，都会改变结果。",
    ));
    told
}

fn no_series(tongue: Tongue, why: NoSeries, date: &str) -> String {
    match (why, tongue) {
        (NoSeries::Nothing, Tongue::English) => {
            format!(
                "No record that fits has a date under `{date}`, so there is no series to carry on."
            )
        }
        (NoSeries::Nothing, Tongue::Chinese) => {
            format!("符合条件的记录都没有 `{date}` 日期，无法形成可外推的序列。")
        }
        (NoSeries::Units, Tongue::English) => {
            "The figures are measured in different units, which make no one series.".to_owned()
        }
        (NoSeries::Units, Tongue::Chinese) => "数值的单位不一致，无法形成同一序列。".to_owned(),
        (NoSeries::TooLong, Tongue::English) => {
            format!(
                "The dates under `{date}` lie too far apart to be one series; some of them may be wrong."
            )
        }
        (NoSeries::TooLong, Tongue::Chinese) => {
            format!("`{date}` 的日期相距过远，无法形成序列；其中可能有错误。")
        }
    }
}

fn too_few(tongue: Tongue, step: Step, known: usize) -> String {
    let (english, chinese) = match step {
        Step::Year => ("years", "年"),
        Step::Quarter => ("quarters", "个季度"),
        Step::Month => ("months", "个月"),
    };
    match tongue {
        Tongue::English => format!(
            "A forecast takes figures of at least {LEAST} {english}; the records tell of {known}. Add documents that cover \
             more of them, or ask for shorter periods."
        ),
        Tongue::Chinese => format!(
            "预测至少需要 {LEAST} {chinese}的数值，现有记录只覆盖 {known} {chinese}。请补充覆盖更长时间的文档，或改问更短的周期。"
        ),
    }
}

fn too_far(tongue: Tongue, last: Period, steps: usize) -> String {
    match tongue {
        Tongue::English => format!(
            "The records end with {last}, {steps} periods before what is asked for; beyond {FARTHEST} nothing can be told."
        ),
        Tongue::Chinese => {
            format!("记录止于 {last}，距所问时间有 {steps} 期；超过 {FARTHEST} 期无法预测。")
        }
    }
}
