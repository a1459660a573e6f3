//! Forecasts a series with the model of least error in back-tests on it. The interval comes from those
//! errors (PIKE-RAG §5.4, forecasting).

mod backtest;
mod models;
#[cfg(test)]
mod tests;

use pikerag_knowledge::worked::{ForecastModel, Tried};

use self::backtest::Trials;
use self::models::{Forecasts, forecast_all};

/// The fewest figures of a series that is forecast.
pub const LEAST: usize = 5;
/// The share of cases in which the truth should be within the interval.
pub const LEVEL: f64 = 0.8;
/// The most periods ahead.
pub const FARTHEST: usize = 60;
/// The most figures used; of a longer series, the last ones.
const LONGEST: usize = 400;

/// The past of the series to forecast.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// The figures in order, without gaps; finite.
    pub values: &'a [f64],
    /// The number of figures per year; 1 if there are no seasons.
    pub season: usize,
    /// Whether the figures count things.
    pub is_count: bool,
}

/// One forecast figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// The likeliest value; a whole number for a count.
    pub value: f64,
    /// The lower end of the interval; at least 0 for a count.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// A forecast of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The model that made the figures.
    pub model: ForecastModel,
    /// One figure for each step ahead, in order.
    pub ahead: Vec<Ahead>,
    /// The share of cases that should be within the interval.
    pub level: f64,
    /// Every tried model, the best first.
    pub tried: Vec<Tried>,
    /// The number of past figures within the interval that was forecast for them, and the number of
    /// figures compared.
    pub within: (usize, usize),
}

/// Too few figures for a forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// The number of figures.
    pub known: usize,
    /// The number of figures needed.
    pub needed: usize,
}

/// Forecasts `steps` periods of a series, at least 1 and at most [`FARTHEST`].
///
/// # Errors
/// There are fewer than [`LEAST`] figures.
pub fn forecast(past: Past<'_>, steps: usize) -> Result<Outlook, TooFew> {
    if past.values.len() < LEAST {
        return Err(TooFew { known: past.values.len(), needed: LEAST });
    }
    let from = past.values.len().saturating_sub(LONGEST);
    let past = Past { values: past.values.get(from..).unwrap_or_default(), ..past };
    let steps = steps.clamp(1, FARTHEST);
    let trials = Trials::of(past, steps);
    let forecasts = forecast_all(past, steps);
    let chosen = choose(&trials, past, &forecasts);
    // Repeats the whole procedure, with the choice of the model, at each origin.
    let (mut within, mut all) = (0, 0);
    for (origin, forecasts) in trials.origins().filter(|(origin, _)| LEAST <= *origin) {
        let (before, after) = past.values.split_at_checked(*origin).unwrap_or_default();
        let then = choose(&trials, Past { values: before, ..past }, forecasts);
        for (ahead, truth) in then.ahead.iter().zip(after) {
            all += 1;
            within += usize::from(ahead.low <= *truth && *truth <= ahead.high);
        }
    }
    Ok(Outlook { within: (within, all), ..chosen })
}

/// The forecast of the model with the least error so far.
fn choose(trials: &Trials<'_>, past: Past<'_>, forecasts: &Forecasts) -> Outlook {
    let test = trials.until(past.values.len(), forecasts);
    let tried = test.tried();
    let model = tried.first().map_or(ForecastModel::Naive, |best| best.model);
    let own = forecasts.iter().find(|(of, _)| *of == model);
    let points = own.map_or(&[][..], |(_, points)| points);
    let spread = test.spread(model, past, points.len());
    let ahead =
        points.iter().zip(&spread).map(|(point, spread)| with_interval(past, *point, *spread));
    Outlook { model, ahead: ahead.collect(), level: LEVEL, tried, within: (0, 0) }
}

/// A figure with its interval, rounded if the series counts things.
fn with_interval(past: Past<'_>, point: f64, spread: f64) -> Ahead {
    match past.is_count {
        // Whole numbers of at least 0; the interval is rounded outwards.
        true => Ahead {
            value: point.max(0.0).round(),
            low: (point - spread).floor().max(0.0),
            high: (point + spread).ceil().max(0.0),
        },
        false => Ahead { value: point, low: point - spread, high: point + spread },
    }
}
