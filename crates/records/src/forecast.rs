//! How does a series go on? Several models are tried on its own past, from one origin after the other; the one that
//! erred least carries it on, within an interval as wide as its errors were (PIKE-RAG §5.4, forecasting).

mod backtest;
mod models;
#[cfg(test)]
mod tests;

use pikerag_knowledge::worked::{ForecastModel, Tried};

use self::backtest::Trials;
use self::models::{Said, said_by_all};

/// Figures that a series must have before it is carried on.
pub const LEAST: usize = 5;
/// The share of cases in which the truth should lie within the interval.
pub const LEVEL: f64 = 0.8;
/// Periods ahead, at most.
pub const FARTHEST: usize = 60;
/// Of a long series the last figures are looked at.
const LONGEST: usize = 400;

/// What is carried on.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// The figures in order, without holes; finite.
    pub values: &'a [f64],
    /// Figures of a year; 1 where there are no seasons.
    pub season: usize,
    /// Whether they count things.
    pub is_count: bool,
}

/// One figure to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// The likeliest; a whole number of a count.
    pub value: f64,
    /// Where the interval begins; of a count never below 0.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// A series carried on.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The model whose figures these are.
    pub model: ForecastModel,
    /// One for each step ahead, in order.
    pub ahead: Vec<Ahead>,
    /// The share of cases that should lie within.
    pub level: f64,
    /// Every model that was tried, the best first.
    pub tried: Vec<Tried>,
    /// Of so many figures of the past, so many lay within the interval that would have been told then.
    pub within: (usize, usize),
}

/// Too few figures to foretell any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFew {
    /// How many there are.
    pub known: usize,
    /// How many there must be.
    pub needed: usize,
}

/// Carries a series on for `steps` periods, at most [`FARTHEST`].
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
    let said = said_by_all(past, steps);
    let chosen = choose(&trials, past, &said);
    // The whole procedure, choice of the model included, as it would have gone from one origin after the other.
    let (mut within, mut all) = (0, 0);
    for (origin, said) in trials.origins().filter(|(origin, _)| LEAST <= *origin) {
        let (before, after) = past.values.split_at_checked(*origin).unwrap_or_default();
        let then = choose(&trials, Past { values: before, ..past }, said);
        for (ahead, truth) in then.ahead.iter().zip(after) {
            all += 1;
            within += usize::from(ahead.low <= *truth && *truth <= ahead.high);
        }
    }
    Ok(Outlook { within: (within, all), ..chosen })
}

/// What the model says that has erred least so far.
fn choose(trials: &Trials<'_>, past: Past<'_>, said: &Said) -> Outlook {
    let test = trials.until(past.values.len(), said);
    let tried = test.tried();
    let model = tried.first().map_or(ForecastModel::Naive, |best| best.model);
    let points = said.iter().find(|(of, _)| *of == model).map_or(&[][..], |(_, points)| points);
    let spread = test.spread(model, past, points.len());
    let ahead = points.iter().zip(&spread).map(|(point, spread)| told(past, *point, *spread));
    Outlook { model, ahead: ahead.collect(), level: LEVEL, tried, within: (0, 0) }
}

/// A figure with its interval, as figures of this kind are.
fn told(past: Past<'_>, point: f64, spread: f64) -> Ahead {
    match past.is_count {
        // Whole numbers, and never below none; the interval is rounded outwards.
        true => Ahead {
            value: point.max(0.0).round(),
            low: (point - spread).floor().max(0.0),
            high: (point + spread).ceil().max(0.0),
        },
        false => Ahead { value: point, low: point - spread, high: point + spread },
    }
}
